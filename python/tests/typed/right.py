"""Thirty uses of the package, which mypy accepts and which run."""

import pathlib
import tempfile

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from numpy.typing import NDArray

import eigenhedge
from eigenhedge import (
    Alarms,
    Average,
    CappedHedge,
    Experts,
    Fleet,
    Hedge,
    KernelPCA,
    KernelRidge,
    Model,
    Monitor,
    OnlineKernelPCA,
    OnlinePCA,
    Pair,
    RunResult,
    bounds,
    plot,
    river,
)
from eigenhedge.typing import Event, Incident, LearnerName, Options, Summary, Table

folder = pathlib.Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(150, 5))
frame = pd.DataFrame(X, columns=list("abcde"))

# 1. A table through the default learner.
run: RunResult = eigenhedge.run(X, 2)
# 2. The summary.
lost: float = run.summary["expected_loss"]
best = run.summary["best_loss"]
regret = lost - best if isinstance(best, float) else None
# 3. Losses and coordinates.
worst: int = int(run.expected_losses.argmax())
z: NDArray[np.float64] = run.coordinates[worst]
# 4. As a table and in a notebook.
rows: int = len(run.to_frame())
page: str = run._repr_html_()
# 5. Lists, pandas tables, and options by name.
eigenhedge.run([[1.0, 2.0], [2.0, 1.0]], 1, learner="tracking", eta=2.0, mixing="fixed-share", alpha=0.01)
eigenhedge.run(frame, 2, standardize="running", missing="fill", seed=3)
# 6. Options as a dictionary.
options: Options = {"learner": "tracking", "eta": "auto", "center": False}
eigenhedge.run(X, 2, **options)


# 7. A function with a table as its argument.
def total(table: Table, name: LearnerName = "auto") -> float:
    summary: Summary = eigenhedge.run(table, 1, learner=name).summary
    return summary["loss"]


share: float = total(frame, "anchored") / total(X.tolist())
# 8. Reconstructions.
back = eigenhedge.run(X, 2, reconstructions=True).reconstructions
error: float = 0.0 if back is None else float(((X - back) ** 2).sum())
# 9. Row by row.
learner = Model(5, 2, learner="anchored", hindsight=False)
for row in X:
    trial = learner.step(row)
charged: float = trial.loss + trial.expected_loss
# 10. Many rows at once, with weights.
learner.learn(X, sample_weight=np.ones(len(X)))
expected, realised, coordinates = learner.step_each(X[:3])
# 11. The learned components.
components = learner.components
length: float = 0.0 if components is None else float(np.linalg.norm(components[0]))
# 12. Save and load.
learner.save(folder / "model.eh")
seen: int = eigenhedge.load(folder / "model.eh", Model).rows
# 13. Export to other programs.
eigenhedge.export(learner, folder / "model.json")
# 14. A matrix in place of a row.
Model(3, 2, learner="tracking", mixing="none", center=False, norm_bound=1.0).step(matrix=np.eye(3))
# 15. Texts.
eigenhedge.run(["abab", "baba", "xyxy"], 1, kernel="spectrum", items="chars", substring=2)
# 16. Any objects, with a function as the kernel.
eigenhedge.run([(1, 2), (2, 3), (3, 1)], 1, kernel=lambda a, b: float(a[0] * b[0] + a[1] * b[1]))
# 17. One model for each key.
fleet = Fleet(1, max_groups=10, learner="leader")
fleet.update(["pump", "fan"] * 75, X)
pump: Model = fleet["pump"]
# 18. An estimator that keeps a share of the variance.
pca = OnlinePCA(0.99, learner="auto", whiten=True, random_state=0).fit(X)
features: NDArray[np.float64] = pca.partial_fit(X[:1]).transform(X)
# 19. Methods inherited from scikit-learn.
names = OnlinePCA(2).set_output(transform="pandas").fit(frame).get_feature_names_out()
parameters: dict[str, object] = pca.get_params()
# 20. Variances.
kept: float = float(pca.explained_variance_ratio_.sum()) + pca.noise_variance_
# 21. Online kernel PCA.
kernel_pca = OnlineKernelPCA(2, kernel="rbf", gamma="scale", budget=20).fit(X)
gamma: float = kernel_pca.gamma_
# 22. Batch kernel PCA.
KernelPCA(2, kernel="poly", degree=2, solver="partial").fit_transform(X)
# 23. Kernel ridge regression, with standard deviations.
mean, deviation = KernelRidge(0.1, kernel="rbf").fit(X, X[:, 0]).predict(X, return_std=True)
# 24. Alarms.
monitor = Monitor(lags=1, warm_up=100)
alarms: Alarms = monitor.update(frame, contributions=True)
causes = [(event["start"], event["causes"][0][0]) for event in alarms.events]
changes: list[Event] = [event for event in alarms.changes if event["kind"] == "rise"]
incidents: list[Incident] = [*alarms.incidents, *monitor.accept().open_incidents]
# 25. Outliers.
labels: NDArray[np.int64] = Monitor().fit(X[:100]).predict(X[100:])
# 26. Experts.
hedge: CappedHedge = Hedge(3, eta=0.5)
hedge.step([0.0, 0.5, 1.0])
Experts(4, 2, learner="perturbed-leader").step([0.0, 0.5, 1.0, 0.2])
outcome = eigenhedge.experts([[0.0, 0.5, 1.0]] * 9, 2, eta=0.5).bound
# 27. Pairs of rows.
gain: float = Pair(2, 3, 1, norm_bound="auto").step([0.5, 0.1], [0.2, 0.1, 0.4])[0]
pairs = eigenhedge.pair(X, X[:, :2], 1, alpha=0.0, norm_bound=10.0).gains
# 28. Theorems, averages and combinations of features.
bound: float | None = bounds.uncentered(bounds.Setting(1.0, 2, float("inf")), best=3.0)
average = Average(5)
average.add(Model(5, 2, learner="tracking", center=False))
distance = eigenhedge.mmd(X[:70], X[70:], kernel="rbf", gamma=0.2).unbiased
point = eigenhedge.preimage(X, np.full(len(X), 1 / len(X)), gamma=0.2).converged
# 29. Plots.
ax = plot.biplot(run, X, names=list("abcde"))
ax.set_title("columns and rows")
figure = run.plot()
figure.savefig(folder / "run.svg")
# 30. River.
stream = river.OnlinePCA(2, learner="auto", forget=None)
for record in frame.to_dict("records"):
    stream.learn_one(dict(record))
account = stream.summary
