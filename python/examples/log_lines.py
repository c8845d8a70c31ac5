"""Learn log lines with the spectrum kernel, print the times, and plot two coordinates.

python log_lines.py 100000 picture.png
"""

import sys
import time

import numpy as np

from eigenhedge import Model

KINDS = [
    "accepted connection from 10.0.{}.{} port {}",
    "user u{} logged in from 10.1.{}.{}",
    "disk sd{}: write error at sector {}, retry {}",
    "GET /api/v1/items/{} 200 {} bytes in {} ms",
    "job {} finished after {} s with status {}",
]


def lines(rng, count):
    """Return lines of five kinds. The last two kinds are only in the second half."""
    kinds = [rng.integers(3 if i < count // 2 else 5) for i in range(count)]
    return [KINDS[kind].format(*rng.integers(1000, size=3)) for kind in kinds], np.array(kinds)


def main(rows=1000, picture="log_lines.png"):
    rng = np.random.default_rng(0)
    model = Model(None, 2, kernel="spectrum", budget=300, learner="anchored", max_rank=10, hindsight=False)
    for _ in range(10):
        block, _ = lines(rng, rows // 10)
        before = time.process_time()
        model.learn(block)
        print(f"{model.rows:>7} rows  {time.process_time() - before:6.1f} s", flush=True)
    block, kinds = lines(rng, 1000)
    coordinates = model.transform(block)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for kind, text in enumerate(KINDS):
        plt.scatter(*coordinates[kinds == kind].T, s=8, label=text)
    plt.legend(fontsize=7)
    plt.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*(int(argument) if argument.isdigit() else argument for argument in sys.argv[1:]))
