"""Anomaly scores next to those of River's detectors, on a stream whose normal state drifts.

Ten sensors share three causes whose wiring turns slowly. One row in fifty breaks the pattern without being larger than
the others, so that its values alone say nothing: only what it leaves of the subspace does.
"""

import numpy as np
from river import anomaly, metrics, preprocessing

from eigenhedge.river import SubspaceAnomaly

rng = np.random.default_rng(2)
wiring = rng.normal(size=(3, 10))
rows = []
for t in range(3000):
    wiring += 0.01 * rng.normal(size=wiring.shape)
    x = rng.normal(size=3) @ wiring + 0.1 * rng.normal(size=10)
    odd = t > 200 and rng.uniform() < 0.02
    if odd:
        x = rng.permutation(x)
    rows.append(({f"s{i}": float(v) for i, v in enumerate(x)}, int(odd)))

detectors = {
    "SubspaceAnomaly": SubspaceAnomaly(n_components=3),
    "HalfSpaceTrees": preprocessing.MinMaxScaler() | anomaly.HalfSpaceTrees(seed=1),
    "OneClassSVM": preprocessing.StandardScaler() | anomaly.OneClassSVM(nu=0.1),
}
areas = {}
for name, detector in detectors.items():
    area = metrics.ROCAUC(n_thresholds=100)
    for x, odd in rows:
        score = detector.score_one(x)
        area.update(odd, min(max(score, 0.0), 1.0))
        detector.learn_one(x)
    areas[name] = area.get()
    print(f"{name:<16} area under the ROC curve {areas[name]:.3f}")

assert areas["SubspaceAnomaly"] > 0.9
assert areas["SubspaceAnomaly"] > max(areas["HalfSpaceTrees"], areas["OneClassSVM"])
