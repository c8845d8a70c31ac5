"""One learner over one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _summary
from ._core import Model
from ._items import as_points, takes_items
from ._optional import needed
from ._options import takes_options
from ._rows import column_names
from ._types import Floats, Summary, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

    from ._option_types import Options


@dataclass(frozen=True, repr=False)
class RunResult:
    """The result of :func:`run`.

    Attributes
    ----------
    expected_losses : ndarray of shape (n_rows,)
        What each row lost on average over the choices that could have been drawn.
    losses : ndarray of shape (n_rows,)
        What each row lost by the choice that was drawn. A row that is passed over loses nothing (``missing="skip"``).
    coordinates : ndarray of shape (n_rows, k)
        Each row in the directions that the option ``coordinates`` names: those most surely kept, turned as little as can be
        from row to row, or those that were drawn for it.
    summary : dict
        The summary, with the keys of the command line's summary; what does not exist is None.
    model : Model
        The model, to go on with.
    reconstructions : ndarray of shape (n_rows, n_columns), or None
        The projection of each row on the subspace that was drawn for it, in units of the rows; its squared distance from the row
        is the row's loss, in standard units if columns are standardized. None unless they were asked for.
    """

    expected_losses: Floats
    losses: Floats
    coordinates: Floats
    summary: Summary
    model: Model
    reconstructions: Floats | None = None

    def __repr__(self) -> str:
        return _summary.sentence(self.summary)

    def _repr_html_(self) -> str:
        return _summary.html(self.summary, self.expected_losses)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with the columns of the command line's answers: row, expected_loss, loss, z0, z1, …"""
        pd = needed("pandas", "RunResult.to_frame", "pandas")
        columns: dict[str, Any] = {"row": range(len(self.losses)), "expected_loss": self.expected_losses, "loss": self.losses}
        return pd.DataFrame({**columns, **{f"z{i}": column for i, column in enumerate(self.coordinates.T)}})

    def plot(self) -> Figure:
        """Draw losses, energy over time, and the directions that were learned: :func:`eigenhedge.plot.overview`."""
        from . import plot

        return plot.overview(self)


@takes_options
def run(X: Table, k: int, *, standardize: str = "none", reconstructions: bool = False, **options: Unpack[Options]) -> RunResult:
    """Run one learner over the rows of a table: one trial for each row.

    Before each row the learner commits to a k-dimensional subspace, is charged for what that subspace loses of the row,
    and learns. The same rows, options and seed give the same bits as ``eigenhedge run`` on the command line.

    An option that is None has its default; one that the learner does not read is an error. The names of learners and
    kernels are those of :func:`eigenhedge.learners` and :func:`eigenhedge.kernels`; ``center`` may also be True or False, and
    ``kernel`` a function.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        The rows, in order: an array, a list, a sparse matrix, a table of pandas, polars or Arrow. For kernels of texts and
        sets, a list of texts, sets or lists of items; for a kernel that is a function of two rows, a list of any objects.
    k : int
        Number of directions kept.
    standardize : str, default="none"
        Bring columns to mean 0 and deviation 1: ``"none"``, ``"running"`` (by the rows before) or ``"warmup:ROWS"`` (by the
        first ROWS rows). Losses and coordinates are then in standard units.
    reconstructions : bool, default=False
        Also find the projection of each row; for plain rows and learners over subspaces.
    {options}

    Returns
    -------
    RunResult
        Losses, coordinates, summary, model and, if asked for, reconstructions.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenhedge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1)) @ [[3.0, 4.0, 0.0]] + 0.1 * rng.normal(size=(300, 3))
    >>> run = eigenhedge.run(X, 1)
    >>> run.coordinates.shape
    (300, 1)
    >>> run.summary["rows"], run.summary["learner"]
    (300, 'auto')
    >>> run.losses[200:].mean() < 0.1
    np.True_
    >>> baskets = [{"bread", "milk"}, {"bread", "eggs"}, {"nails", "glue"}, {"glue", "paint"}]
    >>> eigenhedge.run(baskets, 1, kernel="jaccard").coordinates.shape
    (4, 1)
    """
    kernel = options.get("kernel")
    rows, names = as_points(X, kernel), None if takes_items(kernel) else column_names(X)
    model = Model(rows.shape[1], k, standardize=standardize, **options)
    model._set_feature_names(None if names is None else list(names))
    answers, projections = model._step_each(rows, reconstructions)
    return RunResult(*answers, model.summary, model, projections)
