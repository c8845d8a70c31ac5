# %% [markdown]
# # Faults among normal rows
#
# Two factors drive eight sensors. One sensor reads too high for 30 rows, one is stuck for 40 rows, and one changes its level
# permanently. The reference of the monitor is the first 1,000 rows, which are normal. An *alarm* marks a row that is unusual
# compared with the reference and with the most recent rows. An *incident* is a stretch of rows in which something is probably
# wrong.

# %%
import numpy as np
import pandas as pd
from river import anomaly, metrics, preprocessing

import eigenhedge
from eigenhedge.river import SubspaceAnomaly

rng = np.random.default_rng(0)
X = 20.0 + rng.normal(size=(1760, 2)) @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(1760, 8))
X[1060:1090, 1] += 3.0
X[1160:1200, 2] = X[1160, 2]
X[1280:, 3] += 3.0
sensors = pd.DataFrame(X, columns=[f"s{i}" for i in range(8)])

# %%
monitor = eigenhedge.Monitor().fit(sensors[:1000])
alarms = monitor.update(sensors[1000:1360], contributions=True)
alarms

# %% [markdown]
# The plot shows the score, Q (squared distance from the subspace) and T² (squared distance within it, in standard deviations),
# with their limits. Points are alarms, shaded areas are incidents, and dotted lines are changes in the level of the scores. The
# heat map shows the contribution of each column to Q, relative to the limit of Q. Row 0 is the first row of `update`.

# %%
alarms.plot()

# %% [markdown]
# The next cell prints the three incidents, the most severe first, then the changes. The incident of `s3` has not ended, so
# `open_incidents` contains it.

# %%
worst = sorted(alarms.incidents, key=lambda one: -one["severity"])[:3]
for one in worst:
    rows = f"since row {one['start']}" if one["end"] is None else f"rows {one['start']} to {one['end']}"
    print(f"{rows}: {' '.join(one['signs'])}, {one['grade']}, first cause {one['causes'][0][0]}")
for change in alarms.changes:
    print(f"{change['kind']} at row {change['start']}, found at row {change['end']}")
assert {one["causes"][0][0] for one in worst} == {"s1", "s2", "s3"}
assert any(change["kind"] == "rise" and abs(change["start"] - 280) < 10 for change in alarms.changes)
assert abs(monitor.open_incidents[0]["start"] - 280) < 20

# %% [markdown]
# If the new level of `s3` is correct, call `accept`: the rows since the start of the incident become the reference.

# %%
later = sensors[1360:]
shares = [(monitor.predict(later) < 0).mean(), (monitor.accept().predict(later) < 0).mean()]
print("rows over the limit of the reference: {:.0%}; after accept {:.0%}".format(*shares))
monitor.update(later)

# %% [markdown]
# `to_frame` returns the same columns as the output file of the command line.

# %%
print(alarms.to_frame()[["row", "score", "limit", "state", "cause_1", "share_1"]][58:63].round(2).to_string(index=False))

# %% [markdown]
# ## Compared with River's detectors
#
# Three factors drive ten sensors, and the weights that link the factors to the sensors change slowly. With
# `rebaseline="after:200"`, the rows of an incident become the reference once it has lasted 200 rows. After row 400, the values
# of about one row in fifty are shuffled. Shuffling does not change the norm of a row, but moves the row away from the subspace.

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
    "SubspaceAnomaly": SubspaceAnomaly(n_components=3, rebaseline="after:200"),
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
