"""Compress a stream of pictures that changes between two people.

Synthetic faces of two people under changing light alternate in stretches of 100 pictures. With the
mixing `past-average`, the learner finds the subspace of a returning person sooner than with
`fixed-share`. Pass the path of an ``.npy`` file of pictures (n, height, width) to use your own.
"""

import sys

import numpy as np

import eigenhedge


def person(seed, side=16):
    """Return 200 pictures of a face with random light, near a subspace of dimension 9."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
    bumps = sum(
        w * np.exp(-((x - a) ** 2 + (y - b) ** 2) / s)
        for w, a, b, s in zip(rng.normal(size=6), rng.uniform(-0.7, 0.7, 6), rng.uniform(-0.7, 0.7, 6), rng.uniform(0.05, 0.3, 6))
    )
    gy, gx = np.gradient(bumps)
    normals = np.dstack([-gx, -gy, np.full_like(gx, 0.3)])
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    lights = rng.normal(size=(200, 3)) * [1, 1, 0.5] + [0, 0, 1]
    return np.maximum(normals.reshape(-1, 3) @ lights.T, 0).T


if len(sys.argv) > 1:
    X = np.load(sys.argv[1]).astype(float)
    X = X.reshape(len(X), -1)
else:
    first, second = person(1), person(2)
    X = np.vstack([first[:100], second[:100], first[100:], second[100:]])

X /= np.linalg.norm(X, axis=1).max()
for mixing in ["none", "fixed-share", "past-average"]:
    alpha = None if mixing == "none" else 1e-2
    run = eigenhedge.run(X, 4, learner="tracking", eta=16.0, mixing=mixing, alpha=alpha, center=False)
    total = run.summary["expected_loss"]
    returns = [run.expected_losses[start : start + 10].sum() for start in (200, 300)] if len(sys.argv) == 1 else []
    print(f"{mixing:<13} total loss {total:8.3f}", *(f"  10 rows after a return {loss:.3f}" for loss in returns))
    if mixing == "fixed-share":
        forgetful = returns
assert len(sys.argv) > 1 or sum(returns) < sum(forgetful), "who remembers pays less when a person returns"
