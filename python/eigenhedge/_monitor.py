"""Scores, limits, alarms, causes and change points for rows of sensors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _snapshot
from ._core import Detector
from ._optional import needed
from ._rows import check_numbers
from ._sklearn import BaseEstimator, NotFittedError, OutlierMixin, validate_data
from ._types import Event, Floats, Path, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from typing_extensions import Self


@dataclass(frozen=True, repr=False)
class Alarms:
    """The answers of a :class:`Monitor` to rows: what ``eigenhedge monitor`` writes about them.

    Attributes
    ----------
    row : ndarray of shape (n_rows,)
        Number of each row since the monitor began.
    score : ndarray of shape (n_rows,)
        How unusual the row is. NaN, as the next three are, for rows without a score: those of the warm-up, those that lack
        earlier rows, and those that are passed over.
    q : ndarray of shape (n_rows,)
        Squared distance from the directions.
    t2 : ndarray of shape (n_rows,)
        Hotelling's T² along them.
    limit : ndarray of shape (n_rows,)
        Limit of the score.
    alarm : ndarray of bool of shape (n_rows,)
        True if the score is over its limit, or a column is stuck.
    change : ndarray of int of shape (n_rows,)
        In the row at which a change of the level of the scores was found, the row at which it began; else -1.
    causes : ndarray of shape (n_rows, 3)
        The first causes: names of columns, or positions if they have no names; None or -1 where there is no cause.
    shares : ndarray of shape (n_rows, 3)
        Their shares of ``q``; a column can have a negative one.
    q_limit, t2_limit : ndarray of shape (n_rows,)
        Values of ``q`` and ``t2`` that normal rows pass as often as the limit is passed. Alarms come from the score alone.
    events : list of dict
        Events that ended before one of the rows: alarms that belong together. Keys: kind ("alarms" or "stuck"), start, end,
        peak (row of the largest score), strength (the score there), alarms (their number), causes (pairs of column and
        share).
    changes : list of dict
        Changes that were found, with the same keys: kind is "rise" or "fall", end is the row at which it was found.
    columns : list
        Names of the columns, or their positions.
    contributions : ndarray of shape (n_rows, n_columns), or None
        Contributions of the columns to ``q``, which they sum to; None unless they were asked for.
    """

    row: NDArray[np.uint64]
    score: Floats
    q: Floats
    t2: Floats
    limit: Floats
    alarm: NDArray[np.bool_]
    change: NDArray[np.int64]
    causes: NDArray[Any]
    shares: Floats
    q_limit: Floats
    t2_limit: Floats
    events: list[Event]
    changes: list[Event]
    columns: list[Any]
    contributions: Floats | None = None

    def __len__(self) -> int:
        return len(self.row)

    def __repr__(self) -> str:
        return f"<Alarms: rows {len(self)}, alarms {self.alarm.sum()}, events {len(self.events)}, changes {len(self.changes)}>"

    def plot(self, times: Any = None) -> Figure:
        """Draw scores, limits, events and changes: :func:`eigenhedge.plot.monitor`."""
        from . import plot

        return plot.monitor(self, times)

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with the columns of the command line's answers."""
        pd = needed("pandas", "Alarms.to_frame", "pandas")
        columns: dict[str, Any] = {name: getattr(self, name) for name in ["row", "score", "q", "t2", "limit", "alarm"]}
        columns["change"] = pd.array([None if row < 0 else row for row in self.change.tolist()], dtype="Int64")
        for i in range(self.causes.shape[1]):
            columns[f"cause_{i + 1}"], columns[f"share_{i + 1}"] = self.causes[:, i], self.shares[:, i]
        return pd.DataFrame(columns)


class Monitor(OutlierMixin, BaseEstimator):
    """Alarms for rows of sensors: scores with limits, causes, events and change points.

    Rows that are taken as normal come first: those of :meth:`fit`, or else the first ones of :meth:`update`. Every row behind
    them has a score: how unlikely its distance from the directions that normal rows lie along (``q``), its place along them
    (``t2``), and its worst column are. :meth:`update` is for a stream; it gives the bits of ``eigenhedge monitor`` on the same
    rows. The methods of scikit-learn's outlier detectors judge rows of a table and learn nothing.

    Parameters
    ----------
    k : int, default=None
        Directions to keep; None is as many as hold ``share`` of the energy.
    share : float, default=0.85
        Share of the energy of normal rows that the directions hold.
    mode : str, default="gated"
        Rows that teach the model: ``"learn"`` (all), ``"gated"`` (those that look normal), or ``"freeze:ROWS"`` (none behind
        the first ROWS; after ``fit``, none at all).
    limit : str, default="auto:0.01"
        Limit of the score: ``"auto:ALPHA"`` (passed by this share of normal rows), ``"conformal:P"`` (the same from ranks
        alone), ``"quantile:Q"`` (of recent scores), or ``"spot:Q"`` (by the tail over a threshold).
    lags : int or "auto", default=0
        Rows before each row that are put beside it; auto is about 5 for 10 columns, 2 for 50.
    differences : bool or "auto", default="auto"
        A second score, of the differences between rows; auto is where levels are strongly autocorrelated.
    standardize : bool, default=True
        Bring the columns to mean 0 and deviation 1 by the normal rows.
    missing : {"fail", "skip", "fill"}, default="fail"
        Cells that are NaN: an error, pass the row over, or fill the cell in from the others.
    warm_up : int, default=None
        First rows of ``update`` that are taken as normal; None is 400, or 3 for each column and lag if that is more.
    event_gap : int, default=5
        Alarms with at most so many rows between them are one event.
    change_time : float, default=10000
        Rows between two false reports of a change, on average.

    Attributes
    ----------
    offset_ : float
        Minus the limit of the score: ``decision_function`` is ``score_samples`` minus it.
    totals_ : dict
        Numbers of rows, alarms, events and changes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of columns, if the first rows had some.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenhedge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(1000, 6))
    >>> X[700:720, 4] += 2.0
    >>> monitor = eigenhedge.Monitor()
    >>> alarms = monitor.update(X)
    >>> strongest = max(alarms.events, key=lambda event: event["strength"])
    >>> 700 <= strongest["start"] <= 702, strongest["causes"][0][0]
    (True, 4)
    """

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _detector: Detector

    def __init__(
        self,
        k: int | None = None,
        *,
        share: float = 0.85,
        mode: str = "gated",
        limit: str = "auto:0.01",
        lags: int | Literal["auto"] = 0,
        differences: bool | Literal["auto"] = "auto",
        standardize: bool = True,
        missing: Literal["fail", "skip", "fill"] = "fail",
        warm_up: int | None = None,
        event_gap: int = 5,
        change_time: float = 10_000.0,
    ) -> None:
        self.k = k
        self.share = share
        self.mode = mode
        self.limit = limit
        self.lags = lags
        self.differences = differences
        self.standardize = standardize
        self.missing = missing
        self.warm_up = warm_up
        self.event_gap = event_gap
        self.change_time = change_time

    def fit(self, X: Table, y: object = None) -> Self:
        """Forget everything, and take all rows of ``X`` as normal.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, in order. At least 20 besides the lags; if there are fewer, there is a warning, no row has a score, and
            ``update`` goes on with the warm-up.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        rows = self._begin(X)
        if not self._detector.fit(rows):
            warnings.warn(
                f"rows have no score yet: there must be at least {20 + self._detector.lags} normal rows, got {len(rows)}",
                UserWarning,
                stacklevel=2,
            )
        return self

    def update(self, X: Table, *, contributions: bool = False) -> Alarms:
        """Look at rows in order, and learn from those that the mode lets teach; the first call begins, unless ``fit`` did.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows. On an error, which names the row, those before it have been looked at.
        contributions : bool, default=False
            Also give the contribution of every column to ``q``; :func:`eigenhedge.plot.monitor` draws them.

        Returns
        -------
        Alarms
            Scores, limits, alarms, causes, events and changes.
        """
        rows = self._prepared(X, reset=False) if self.__sklearn_is_fitted__() else self._begin(X)
        found = self._detector.update(rows, contributions)
        names = self._feature_names()
        columns: Sequence[Any] = range(self.n_features_in_) if names is None else names
        causes = found.pop("causes").reshape(-1, 3)
        if names is not None:
            # -1 is the last.
            causes = np.array([*names, None], dtype=object)[causes]
        limits = found.pop("statistic_limits")
        for occurrence in [*found["events"], *found["changes"]]:
            occurrence["causes"] = [(columns[place], share) for place, share in occurrence["causes"]]
        return Alarms(causes=causes, q_limit=limits[:, 0], t2_limit=limits[:, 1], columns=list(columns), **found)

    def partial_fit(self, X: Table, y: object = None) -> Self:
        """Do what :meth:`update` does, and give no answers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self.update(X)
        return self

    def score_samples(self, X: Table) -> Floats:
        """Minus the scores of rows: higher is more normal. Learns nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows of a table of its own: no row comes before the first, so that with lags the first ones have no score, NaN.
            Each row is judged for itself, as long as there are neither lags nor differences.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return -self._score(X)[0]

    def decision_function(self, X: Table) -> Floats:
        """Minus the scores of rows, plus the limit: negative for an alarm. Learns nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, as for :meth:`score_samples`.

        Returns
        -------
        decisions : ndarray of shape (n_samples,)
        """
        score, limit = self._score(X)
        return limit - score

    def predict(self, X: Table) -> NDArray[np.int64]:
        """Tell rows whose score is over the limit. Learns nothing; sensors that are stuck show in :meth:`update` only.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, as for :meth:`score_samples`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 for an alarm, 1 for the others, also for rows without a score.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def offset_(self) -> float:
        """float: minus the limit of the score; NaN during the warm-up."""
        limit = self._fitted().limit
        return math.nan if limit is None else -limit

    @property
    def totals_(self) -> dict[str, int]:
        """dict: rows, warm_up, passed_over, alarms, events (that have ended), changes and renewals."""
        return self._fitted().totals

    @property
    def lags_(self) -> int:
        """int: rows that are put beside each row."""
        return self._fitted().lags

    @property
    def n_directions_(self) -> int | None:
        """int: directions that are kept; None during the warm-up."""
        return self._fitted().directions

    @property
    def open_event_(self) -> Event | None:
        """dict: the event that goes on, as in ``Alarms.events``; None if there is none."""
        event = self._fitted().open_event
        names = self._feature_names()
        if event is not None and names is not None:
            event["causes"] = [(names[place], share) for place, share in event["causes"]]
        return event

    def save(self, path: Path) -> None:
        """Write a file that :func:`eigenhedge.load` and ``eigenhedge monitor --start-from`` read.

        Parameters
        ----------
        path : path-like
            The file; it is complete or absent.
        """
        _snapshot.save(self, path)

    def _begin(self, X: Table) -> Floats:
        if self.differences not in (True, False, "auto"):
            raise ValueError(f"differences must be True, False or 'auto', got {self.differences!r}")
        rows = self._prepared(X, reset=True)
        self._detector = Detector(rows.shape[1], names=self._feature_names(), **self.get_params(deep=False))
        return rows

    def _prepared(self, X: Table, reset: bool) -> Floats:
        check_numbers(X)
        finite: Any = True if self.missing == "fail" else "allow-nan"
        prepared: Floats = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=finite)
        return prepared

    def _score(self, X: Table) -> tuple[Floats, float]:
        detector = self._fitted()
        scores, limit = detector.score(self._prepared(X, reset=False))
        return scores, math.nan if limit is None else limit

    def _fitted(self) -> Detector:
        detector: Detector | None = self.__dict__.get("_detector")
        if detector is None:
            raise NotFittedError("This Monitor instance is not fitted yet: call fit or update first.")
        return detector

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _remembered(self) -> dict[str, Any]:
        """Python's part of a file."""
        return {"class": "Monitor", "parameters": self.get_params(deep=False)}

    @classmethod
    def _restored(cls, detector: Detector, saved: dict[str, Any]) -> Self:
        """The monitor around a detector that was saved; its options are those that count."""
        monitor = cls(**detector._options())
        monitor._detector, monitor.n_features_in_ = detector, detector.dim
        if detector.feature_names is not None:
            monitor.feature_names_in_ = np.asarray(detector.feature_names, dtype=object)
        return monitor

    def __sklearn_is_fitted__(self) -> bool:
        return "_detector" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "fail"
        return tags
