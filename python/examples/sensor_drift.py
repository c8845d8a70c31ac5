# %% [markdown]
# # Sensors whose wiring changes
#
# Twelve sensors move with two hidden causes. At rows 600 and 1200 the wiring between causes and sensors changes. What does a
# learner lose that commits to a plane before it sees each row, and how soon does it find the new one?

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

import eigenhedge

rng = np.random.default_rng(1)
wirings = [np.linalg.qr(rng.normal(size=(12, 2)))[0].T for _ in range(3)]
X = np.vstack([3 * rng.normal(size=(600, 2)) @ wiring for wiring in wirings]) + 0.2 * rng.normal(size=(1800, 12))
sensors = pd.DataFrame(X, columns=[f"s{i}" for i in range(12)])

# %% [markdown]
# One call runs the default learner, `auto`, over all rows. The result shows its summary.

# %%
run = eigenhedge.run(sensors, 2)
run

# %% [markdown]
# The best fixed plane knows all rows in advance, and still loses far more: it is a compromise between three wirings. `plot` shows
# the losses, the share of all rows' energy along the directions that were kept at the end (little, because they fit the last
# wiring only), what was kept and lost over time, and the part of each sensor in these directions.

# %%
run.plot()

# %% [markdown]
# The losses show two steps, and the orange strips two short stretches in which much is lost. In numbers: the mean loss of the
# rows behind each change, beside that of the noise that no plane can keep.

# %%
for change in (600, 1200):
    parts = [run.expected_losses[change + start : change + stop].mean() for start, stop in [(0, 5), (5, 20), (20, 100)]]
    print(f"behind row {change:4}: rows 0-4 lose {parts[0]:5.2f}, rows 5-19 {parts[1]:5.2f}, rows 20-99 {parts[2]:5.2f}")
print(f"the noise outside of the true plane: {0.2**2 * 10:.2f}")

# %% [markdown]
# Some learners follow changes and others average them. `anchored` is the default of the estimators: its directions are those of
# a PCA of all rows so far, whatever their order. That is right for a set of rows, and wrong for a stream that changes.

# %%
pca = PCA(2).fit(X)
totals = {"PCA of all rows, in hindsight": ((X - pca.inverse_transform(pca.transform(X))) ** 2).sum()}
for learner in ["auto", "tracking", "anchored"]:
    totals[learner] = eigenhedge.run(X, 2, learner=learner).summary["expected_loss"]
for name, total in totals.items():
    print(f"{name:<30} {total:7.0f}")
assert totals["auto"] < 0.5 * totals["PCA of all rows, in hindsight"]

# %% [markdown]
# The directions themselves, before and behind the first change: which sensors move together?

# %%
model = eigenhedge.Model(12, 2)
figure, axes = plt.subplots(2, 1, figsize=(7, 3.4), layout="constrained")
for ax, rows in zip(axes, (sensors[:600], sensors[600:700]), strict=True):
    model.learn(rows)
    eigenhedge.plot.loadings(model, names=list(sensors.columns), ax=ax)
    ax.set_title(f"after {model.rows} rows")
