"""Run of a learner over a table."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _summary
from ._alarms import row_index
from ._core import Model, _median_gamma, _read_table
from ._option_types import Options
from ._optional import later, needed
from ._options import OF_KERNELS, takes_options
from ._rows import as_points, column_names, takes_items
from ._types import Floats, Path, Summary, Table, Unpack

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class RunResult:
    """Result of :func:`run`.

    Attributes
    ----------
    expected_losses, losses : ndarray of shape (n_rows,)
        Expected loss of each row over the random choice of the subspace, and loss for the subspace
        that was drawn. Skipped rows have NaN here, in ``coordinates`` and in ``reconstructions``.
    coordinates : ndarray of shape (n_rows, k)
        Coordinates of each row, by default along the directions most likely to be kept, in a basis
        that is aligned from row to row. With ``coordinates="drawn"``, along the directions drawn.
    summary : dict
        Summary with the keys of the command-line summary. Values that do not exist are None.
    model : Model
        Model after the last row, which can continue learning.
    reconstructions : ndarray of shape (n_rows, n_columns), or None
        Projection of each row on the subspace drawn for it, in units of the rows, if requested.
    filled, fill_errors : ndarray of shape (n_rows, n_columns), or None
        If requested: rows with their missing cells filled in before the row was learned (NaN if the
        column had no value so far), and the standard errors of these cells (0 for other cells).
    index : pandas.Index or None
        Index of the rows, if they were a pandas DataFrame.
    """

    expected_losses: Floats
    losses: Floats
    coordinates: Floats
    summary: Summary
    model: Model
    reconstructions: Floats | None = None
    filled: Floats | None = None
    fill_errors: Floats | None = None
    index: Any = None

    def __repr__(self) -> str:
        return _summary.sentence(self.summary)

    def _repr_html_(self) -> str:
        return _summary.html(self.summary, self.expected_losses[~np.isnan(self.expected_losses)])

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with the columns of the command-line output: row, expected_loss, loss, z0, z1, …"""
        pd = needed("pandas", "RunResult.to_frame", "pandas")
        columns: dict[str, Any] = {"row": range(len(self.losses)), "expected_loss": self.expected_losses, "loss": self.losses}
        columns.update({f"z{i}": column for i, column in enumerate(self.coordinates.T)})
        return pd.DataFrame(columns, index=self.index)

    def plot(self) -> Figure:
        """Plot losses, energies over time and learned directions with :func:`eigenhedge.plot.overview`."""
        return cast("Figure", later("overview", "plot")(self))


@takes_options
def run(
    X: Table | Path,
    k: int,
    *,
    standardize: str = "none",
    reconstructions: bool = False,
    filled: bool = False,
    report: Path | None = None,
    **options: Unpack[Options],
) -> RunResult:
    """Run one learner over the rows of a table, one trial per row.

    Before each row, the learner commits to a k-dimensional subspace. The row arrives, its loss is
    recorded, and the learner updates. The results are exactly those of ``eigenhedge run``.

    None means the default of an option. An option that has no effect with the learner is an error.
    ``center`` may also be True or False. ``kernel`` may also be a function of two rows.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns), str or path-like
        Rows, in order: an array, a list, a sparse matrix, a pandas, polars or Arrow table, or the
        path of a file. For kernels of texts and sets, and for a kernel function, a list of objects.
    k : int
        Number of directions kept.
    standardize : str, default="none"
        Standardization of the columns, as for :class:`Model`.
    reconstructions : bool, default=False
        True to also compute the projection of each row. Not possible with kernels, Hebbian learners or ``feature_dim``.
    filled : bool, default=False
        True to also return the rows with their missing cells filled in, and the standard errors of
        these cells. Requires ``missing="fill"``.
    report : str or path-like, default=None
        Path of an HTML file for the page of ``eigenhedge run --report``. None writes no page.
    {options}

    Returns
    -------
    RunResult

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
    names: Any
    if isinstance(X, (str, PathLike)) and not takes_items(kernel):
        names, rows = _read_table(X)
    else:
        rows = as_points(cast("Table", X), kernel)
        names = None if takes_items(kernel) else column_names(X)
    if standardize == "none" and isinstance(kernel, str) and not takes_items(kernel) and options.get("gamma") is None:
        options["gamma"] = _median_gamma(rows, {name: options.get(name) for name in OF_KERNELS - {"budget"}})
    model = Model(rows.shape[1], k, standardize=standardize, **options)
    model._set_feature_names(None if names is None else list(names))
    if filled and options.get("missing") != "fill":
        raise ValueError("filled=True needs missing='fill'")
    answers, projections, fills = model._step_each(rows, reconstructions, filled, report)
    if fills is not None:
        table = np.asarray(rows, dtype=np.float64)
        fills = (np.where(np.isnan(table), fills[0], table), fills[1])
    if options.get("missing") == "skip" and isinstance(rows, np.ndarray):
        skipped = np.isnan(rows).any(axis=1)
        for array in (*answers, projections):
            if array is not None:
                array[skipped] = np.nan
    cells, errors = (None, None) if fills is None else fills
    return RunResult(*answers, model.summary, model, projections, cells, errors, row_index(X))
