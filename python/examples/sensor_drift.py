# %% [markdown]
# # Sensors whose wiring changes
#
# Two hidden factors drive twelve sensors. At rows 600 and 1200, the weights that link factors and sensors change. Before each
# row, a learner chooses a plane. This notebook shows the loss of the learner, and how soon it finds the new plane.

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
# One call runs the default learner, `auto`, over all rows. In a notebook, the result displays its summary.

# %%
run = eigenhedge.run(sensors, 2)
run

# %% [markdown]
# The best fixed plane is chosen with all rows known, but its loss is more than 16 times that of `auto`, because it is a
# compromise between three planes. The bound covers the worst case and is far from tight here. `plot` draws the losses, the
# energy along the final directions, the kept and lost energy over the rows, and the loadings. The final directions contain
# only 41 % of the total energy, because they fit only the rows after the last change.

# %%
run.plot()

# %% [markdown]
# The curve of the total loss of `auto` has two steps, one after each change. The next cell prints the mean loss per row after
# each change, and the mean loss per row due to noise outside the true plane.

# %%
for change in (600, 1200):
    parts = [run.expected_losses[change + start : change + stop].mean() for start, stop in [(0, 5), (5, 20), (20, 100)]]
    print(f"after row {change:4}: rows 0-4 lose {parts[0]:5.2f}, rows 5-19 {parts[1]:5.2f}, rows 20-99 {parts[2]:5.2f}")
print(f"the noise outside of the true plane: {0.2**2 * 10:.2f}")

# %% [markdown]
# Some learners follow changes, and others average over them. `anchored`, the default of `OnlinePCA`, prefers the directions of
# PCA of all rows so far, in whatever order these came. It suits a fixed set of rows, but not a stream that changes.

# %%
pca = PCA(2).fit(X)
totals = {"PCA of all rows, in hindsight": ((X - pca.inverse_transform(pca.transform(X))) ** 2).sum()}
for learner in ["auto", "tracking", "anchored"]:
    totals[learner] = eigenhedge.run(X, 2, learner=learner).summary["expected_loss"]
for name, total in totals.items():
    print(f"{name:<30} {total:7.0f}")
assert totals["auto"] < 0.5 * totals["PCA of all rows, in hindsight"]

# %% [markdown]
# The loadings before the first change, and 100 rows after it, show which sensors move together.

# %%
model = eigenhedge.Model(12, 2)
figure, axes = plt.subplots(2, 1, figsize=(7, 3.4), layout="constrained")
for ax, rows in zip(axes, (sensors[:600], sensors[600:700]), strict=True):
    model.learn(rows)
    eigenhedge.plot.loadings(model, names=list(sensors.columns), ax=ax)
    ax.set_title(f"after {model.rows} rows")
