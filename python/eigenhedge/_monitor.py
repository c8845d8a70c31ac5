"""Scores, alarms, drift, causes and change points for rows of sensors."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _core, _snapshot
from ._alarms import Alarms, answers
from ._sklearn import BaseEstimator, NotFittedError, OutlierMixin, validated
from ._types import Drift, Event, Floats, Path, Table

if TYPE_CHECKING:
    from typing_extensions import Self

Occurrence = TypeVar("Occurrence", Event, Drift)


class Monitor(OutlierMixin, BaseEstimator):
    """Alarms and drift for rows of sensors, with causes, events and change points.

    The first rows are taken as normal: those of :meth:`fit`, or else the first ones of :meth:`update`. They are the reference.
    Every later row has a score: how unlikely are its distance from the directions that normal rows lie along (``q``), its place
    along them (``t2``), and its worst column.

    Every later row also has two verdicts. An **alarm** is a row that is unusual compared with the reference and with the last
    rows: a fault that just began, or a single bad row. **Drift** says that the level of the rows has left the reference and has
    not returned. A fault that lasts gives alarms when it begins and drift until it is repaired. The monitor never takes a drift
    as normal by itself, unless ``rebaseline`` says so; :meth:`accept` does it by hand.

    :meth:`update` is for a stream; it gives the bits of ``eigenhedge monitor`` on the same rows. The methods of scikit-learn's
    outlier detectors compare the rows of a table with the reference alone, and learn nothing.

    Parameters
    ----------
    k : int, default=None
        Directions to keep; None is as many as hold ``share`` of the energy.
    share : float, default=0.85
        Share of the energy of normal rows that the directions hold.
    mode : str, default="adapt"
        ``"adapt"``: the recent level and its limit follow the rows, the reference stays. ``"freeze:ROWS"``: nothing changes after
        the first ROWS rows, or after ``fit``; a row is an alarm by the reference alone.
    limit : str, default="auto:0.01"
        Rule for the limit of alarms: ``"auto:ALPHA"`` (this share of later rows passes), or ``"conformal:P"`` (at most this share
        passes, if rows are exchangeable).
    lags : int or "auto", default=0
        Earlier rows that are appended to each row; auto is about 5 for 10 columns, 2 for 50.
    differences : bool or "auto", default="auto"
        Also compare the differences between rows; auto is where levels are strongly autocorrelated.
    standardize : bool, default=True
        Bring the columns to mean 0 and deviation 1 by the normal rows.
    missing : {"fail", "skip", "fill"}, default="fill"
        Cells that are NaN: an error, pass the row over, or fill the cell in from the others.
    warm_up : int, default=None
        First rows of ``update`` that are taken as normal; None is 400, or 3 for each column and lag if that is more.
    event_gap : int, default=5
        Alarms that are at most this many rows apart are one event.
    change_time : float, default=10000
        Rows between two false reports of a change, on average.
    drift_time : float, default=2000
        Rows between two false reports of drift, on average.
    rebaseline : str, default="never"
        When a drift becomes the reference by itself: ``"never"``, or ``"after:ROWS"`` of drift.

    Attributes
    ----------
    offset_ : float
        Minus the limit of the score by the reference alone: ``decision_function`` is ``score_samples`` minus it.
    totals_ : dict
        Numbers of rows, alarms, events, changes and drifts.
    drift_ : dict or None
        The drift that goes on.
    open_event_ : dict or None
        The event that goes on.
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
    >>> X[700:, 4] += 2.0
    >>> monitor = eigenhedge.Monitor()
    >>> alarms = monitor.update(X)
    >>> bool(alarms.alarm[700:705].any()), bool(alarms.drift[710:].all()), monitor.drift_["causes"][0][0]
    (True, True, 4)
    >>> monitor.accept().drift_ is None
    True
    """

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _monitor: _core.Monitor

    def __init__(
        self,
        k: int | None = None,
        *,
        share: float = 0.85,
        mode: str = "adapt",
        limit: str = "auto:0.01",
        lags: int | Literal["auto"] = 0,
        differences: bool | Literal["auto"] = "auto",
        standardize: bool = True,
        missing: Literal["fail", "skip", "fill"] = "fill",
        warm_up: int | None = None,
        event_gap: int = 5,
        change_time: float = 10_000.0,
        drift_time: float = 2_000.0,
        rebaseline: str = "never",
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
        self.drift_time = drift_time
        self.rebaseline = rebaseline

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
        if not self._monitor.fit(rows):
            warnings.warn(f"rows have no score yet: {self._needed_rows()}, got {len(rows)}", UserWarning, stacklevel=2)
        return self

    def update(self, X: Table, *, contributions: bool = False) -> Alarms:
        """Give the verdicts on rows in order; the recent level follows them. The first call begins a warm-up, unless ``fit`` did.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            The rows. An error names its row; the rows before it have been entered.
        contributions : bool, default=False
            Also give the contribution of every column to ``q``; :func:`eigenhedge.plot.monitor` draws them.

        Returns
        -------
        Alarms
            Scores, limits, alarms, drift, causes, events and changes. No row of the warm-up has a score: if the rows of the first
            call end before the warm-up does, there is a warning.
        """
        is_first = not self.__sklearn_is_fitted__()
        rows = self._begin(X) if is_first else self._prepared(X, reset=False)
        found = self._monitor.update(rows, contributions)
        limit = self._monitor.limit
        if is_first and limit is None and len(rows) > 1:
            wanted = self._monitor.warm_up_rows
            sentence = (
                f"no row has a score yet: the warm-up needs {wanted} rows in update, got {len(rows)}; later calls continue it"
            )
            warnings.warn(sentence, UserWarning, stacklevel=2)
        return answers(found, self._feature_names(), self.n_features_in_, limit)

    def accept(self) -> Self:
        """Accept the present state as normal: the last rows become the reference.

        The rows are those since the drift began, or as many as the warm-up had. There must be 20 of them, besides lags. The drift
        that goes on ends, and later rows are compared with the new reference.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If there are too few rows. Nothing changes then.
        """
        self._fitted().accept()
        return self

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
            The rows of a table of its own. With lags, the first row also stands for the rows before it. Without lags and
            differences, the score of a row does not depend on the other rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Never NaN, except for rows that ``missing`` passes over.

        Raises
        ------
        NotFittedError
            If the warm-up is not over.
        """
        return -self._score(X)[0]

    def decision_function(self, X: Table) -> Floats:
        """Limit minus the scores of rows: negative for an alarm by the reference alone. Learns nothing.

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
            -1 for an alarm, 1 for the others, also for rows that are passed over. Without a reference no row is an alarm: if the
            warm-up is not over, there is a warning, and all are 1.
        """
        scores, limit = self._scores_and_limit(X)
        if limit is None:
            warnings.warn(f"no row is an alarm yet: {self._needed_rows()}", UserWarning, stacklevel=2)
            return np.ones(len(scores), dtype=np.int64)
        return np.where(limit - scores < 0, -1, 1)

    @property
    def offset_(self) -> float:
        """float: minus the limit of the score by the reference alone; NaN during the warm-up."""
        limit = self._fitted().limit
        return math.nan if limit is None else -limit

    @property
    def totals_(self) -> dict[str, int]:
        """dict: rows, warm_up, passed_over, scored, alarms, events (ended), changes, drift_rows, drifts, accepted (states)."""
        return self._fitted().totals

    @property
    def lags_(self) -> int:
        """int: earlier rows that are appended to each row."""
        return self._fitted().lags

    @property
    def n_directions_(self) -> int | None:
        """int: directions that are kept; None during the warm-up."""
        return self._fitted().directions

    @property
    def open_event_(self) -> Event | None:
        """dict: the event that goes on, as in ``Alarms.events``; None if there is none."""
        return self._with_names(self._fitted().open_event)

    @property
    def drift_(self) -> Drift | None:
        """dict: the drift that goes on, with keys since (its first row), reported and causes; None if there is none."""
        return self._with_names(self._fitted().open_drift)

    def save(self, path: Path) -> None:
        """Write a file that :func:`eigenhedge.load` and ``eigenhedge monitor --start-from`` read.

        Parameters
        ----------
        path : path-like
            The file; it is complete or absent.
        """
        _snapshot.save(self, path)

    def _begin(self, X: Table) -> Floats:
        self._check_differences()
        rows = self._prepared(X, reset=True)
        self._monitor = _core.Monitor(rows.shape[1], names=self._feature_names(), **self.get_params(deep=False))
        return rows

    def _check_differences(self) -> None:
        if self.differences not in (True, False, "auto"):
            raise ValueError(f"differences must be True, False or 'auto', got {self.differences!r}")

    def _fresh(self, dim: int, names: list[str] | None) -> _core.Monitor:
        """The monitor that the keys of a fleet begin with: this one if it is fitted, else a new one with its options."""
        inner: _core.Monitor | None = self.__dict__.get("_monitor")
        if inner is None:
            self._check_differences()
            return _core.Monitor(dim, names=names, **self.get_params(deep=False))
        if inner.dim != dim:
            raise ValueError(f"the rows must have {inner.dim} columns like those of the monitor, got {dim}")
        return inner

    def _prepared(self, X: Table, reset: bool) -> Floats:
        advice = "missing='fill' fills missing cells in, missing='skip' passes such rows over" if self.missing == "fail" else None
        prepared: Floats = validated(self, X, advice, reset=reset, dtype=np.float64, order="C")
        return prepared

    def _score(self, X: Table) -> tuple[Floats, float]:
        scores, limit = self._scores_and_limit(X)
        if limit is None:
            raise NotFittedError(f"This Monitor instance has no scores yet: {self._needed_rows()}.")
        return scores, limit

    def _scores_and_limit(self, X: Table) -> tuple[Floats, float | None]:
        return self._fitted().score(self._prepared(X, reset=False))

    def _needed_rows(self) -> str:
        inner = self._fitted()
        return f"the warm-up must have at least {20 + inner.lags} rows in fit, or {inner.warm_up_rows} in update"

    def _fitted(self) -> _core.Monitor:
        inner: _core.Monitor | None = self.__dict__.get("_monitor")
        if inner is None:
            raise NotFittedError("This Monitor instance is not fitted yet: call fit or update first.")
        return inner

    def _with_names(self, occurrence: Occurrence | None) -> Occurrence | None:
        names = self._feature_names()
        if occurrence is not None and names is not None:
            occurrence["causes"] = [(names[place], share) for place, share in occurrence["causes"]]
        return occurrence

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _remembered(self) -> dict[str, Any]:
        """Python's part of a file."""
        return {"class": "Monitor", "parameters": self.get_params(deep=False)}

    @classmethod
    def _restored(cls, inner: _core.Monitor, saved: dict[str, Any]) -> Self:
        """The monitor around a monitor of the core that was saved; its options are those that count."""
        monitor = cls(**inner._options())
        monitor._monitor, monitor.n_features_in_ = inner, inner.dim
        if inner.feature_names is not None:
            monitor.feature_names_in_ = np.asarray(inner.feature_names, dtype=object)
        return monitor

    def __sklearn_is_fitted__(self) -> bool:
        return "_monitor" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "fail"
        return tags
