# %% [markdown]
# # Faults among normal rows
#
# Eight sensors follow two causes. One is off for 30 rows, one is stuck for 40, and one changes its level for good. The monitor is
# told nothing of them: it learns from a thousand normal rows what belongs together, and looks at the others one by one.

# %%
import numpy as np
import pandas as pd
from river import anomaly, metrics, preprocessing

import eigenhedge
from eigenhedge.river import SubspaceAnomaly

rng = np.random.default_rng(0)
X = 20.0 + rng.normal(size=(1400, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(1400, 8))
X[1080:1110, 1] += 3.0
X[1200:1240, 2] = X[1200, 2]
X[1320:, 3] += 3.0
sensors = pd.DataFrame(X, columns=[f"s{i}" for i in range(8)])

# %%
monitor = eigenhedge.Monitor().fit(sensors[:1000])
alarms = monitor.update(sensors[1000:], contributions=True)
alarms

# %% [markdown]
# Scores, Q and T² with their limits; events are shaded, and a dotted line is a moment at which the level of the scores changed.
# Below, the contribution of each column to Q tells which sensor it was. Rows count from the first row of `update`.

# %%
alarms.plot()

# %% [markdown]
# The events with most alarms, with their first cause, and the changes. The event that goes on at the end is `open_event_`.

# %%
strongest = sorted(alarms.events, key=lambda event: -event["alarms"])[:2]
for event in strongest:
    print(
        f"rows {event['start']} to {event['end']}: {event['kind']}, {event['alarms']} rows, first cause {event['causes'][0][0]}"
    )
ongoing = monitor.open_event_
print(f"from row {ongoing['start']} on: {ongoing['alarms']} rows, first cause {ongoing['causes'][0][0]}")
for change in alarms.changes:
    print(f"{change['kind']} at row {change['start']}, found at row {change['end']}")
assert {event["causes"][0][0] for event in strongest} == {"s1", "s2"}
assert any(change["kind"] == "rise" and abs(change["start"] - 320) < 10 for change in alarms.changes)

# %% [markdown]
# Each row has its answer, as from the command line.

# %%
print(alarms.to_frame()[["row", "score", "limit", "alarm", "cause_1", "share_1"]][78:83].round(2).to_string(index=False))

# %% [markdown]
# ## Beside River's detectors
#
# Ten sensors share three causes whose wiring turns slowly. One row in fifty has its values shuffled: none is larger than others,
# so that values alone say nothing; only the distance from the subspace does.

# %%
rng = np.random.default_rng(2)
wiring = rng.normal(size=(3, 10))
rows = []
for t in range(2000):
    wiring += 0.01 * rng.normal(size=wiring.shape)
    x = rng.normal(size=3) @ wiring + 0.1 * rng.normal(size=10)
    odd = t > 400 and rng.uniform() < 0.02
    rows.append((dict(enumerate((rng.permutation(x) if odd else x).tolist())), int(odd)))

detectors = {
    "SubspaceAnomaly": SubspaceAnomaly(n_components=3),
    "HalfSpaceTrees": preprocessing.MinMaxScaler() | anomaly.HalfSpaceTrees(seed=1),
    "OneClassSVM": preprocessing.StandardScaler() | anomaly.OneClassSVM(nu=0.1),
}
areas = {}
for name, detector in detectors.items():
    area = metrics.ROCAUC(n_thresholds=100)
    for x, odd in rows:
        area.update(odd, min(max(detector.score_one(x), 0.0), 1.0))
        detector.learn_one(x)
    areas[name] = area.get()
    print(f"{name:<16} area under the ROC curve {areas[name]:.2f}")
assert areas["SubspaceAnomaly"] > 0.9 > 0.7 > max(areas["HalfSpaceTrees"], areas["OneClassSVM"])
