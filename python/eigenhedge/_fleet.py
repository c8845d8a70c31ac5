"""Fleet of models or monitors, one per key."""

from __future__ import annotations

import numbers
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

import numpy as np

from . import _core
from ._alarms import RecentTimes, answers, row_index, row_times
from ._core import Groups, Model
from ._option_types import Options
from ._options import takes_options
from ._rows import as_rows, column_names
from ._saved import MONITORS_BY_KEY, kind_of_file
from ._types import Floats, Path, Table, Unpack

if TYPE_CHECKING:
    from ._alarms import Alarms
    from ._monitor import Monitor

Member = TypeVar("Member")
Answers = TypeVar("Answers")


class Fleet(Generic[Member, Answers]):
    """Models or monitors, one per key, for sensors, machines or customers whose rows arrive in one stream.

    A model gives exactly the results of a separate :class:`Model`. A monitor has its own reference
    once its key has had as many rows as a warm-up. Before that, if there are at least eight keys, it
    uses a shared reference from the first rows of all keys, once this is complete and the key has
    had 20 rows (plus the lags). Charts for :meth:`report` are not copied or pickled.

    Parameters
    ----------
    k : int or Monitor
        Number of directions kept by each model, or a monitor that is copied for each key. If this
        monitor is fitted, every key starts with its reference.
    max_groups : int, optional
        Maximum number of members in memory. The least recently used members are moved to a temporary file.
    standardize, hindsight, **options
        Options of :class:`Model`, for a fleet of models. ``standardize`` is ``"none"`` or ``"running"``.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenhedge
    >>> rng = np.random.default_rng(0)
    >>> fleet = eigenhedge.Fleet(1)
    >>> expected_losses, losses, coordinates = fleet.update(["pump", "fan"] * 50, rng.normal(size=(100, 3)))
    >>> coordinates.shape
    (100, 1)
    >>> list(fleet), fleet["fan"].rows
    (['pump', 'fan'], 50)

    A monitor for each key:

    >>> fleet = eigenhedge.Fleet(eigenhedge.Monitor(warm_up=40))
    >>> alarms = fleet.update(["pump", "fan"] * 100, rng.normal(size=(200, 3)))
    >>> len(alarms), alarms.key[:2], fleet["fan"].totals_["rows"]
    (200, ['pump', 'fan'], 100)
    """

    @overload
    def __init__(
        self: Fleet[Model, tuple[Floats, Floats, Floats]],
        k: int,
        *,
        max_groups: int | None = None,
        standardize: str = "none",
        hindsight: bool = True,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(self: Fleet[Monitor, Alarms], k: Monitor, *, max_groups: int | None = None) -> None: ...

    @takes_options
    def __init__(
        self,
        k: int | Monitor,
        *,
        max_groups: int | None = None,
        standardize: str = "none",
        hindsight: bool = True,
        **options: Unpack[Options],
    ) -> None:
        is_count = isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k >= 1
        if not is_count and not hasattr(k, "_fresh"):
            raise ValueError(f"k must be a whole number, at least 1, or a Monitor, got {k!r}")
        if max_groups is not None and not max_groups >= 1:
            raise ValueError(f"max_groups must be at least 1, got {max_groups}")
        self.k = cast("Any", k)
        self.max_groups = max_groups
        self._given: dict[str, Any] = {"hindsight": hindsight, "standardize": standardize, **options}
        self._fleet: Groups | None = None
        self._recent = RecentTimes()
        if not self._has_monitors():
            _core._check_options(self.k, **options)
            if standardize not in ("none", "running"):
                raise ValueError(f"standardize must be none or running, got {standardize!r}")
        else:
            self.k._check_options()
            given = [name for name, value in self._given.items() if value != {"hindsight": True, "standardize": "none"}.get(name)]
            if given:
                raise ValueError(f"{given[0]} has no effect with a fleet of monitors: options of monitors go to Monitor")

    def _has_monitors(self) -> bool:
        # The class is not imported here, because scikit-learn takes a second to import.
        return hasattr(self.k, "_fresh")

    def update(self, keys: Iterable[object] | str, X: Table) -> Answers:
        """Process each row with the model or monitor of its key.

        Parameters
        ----------
        keys : iterable of n_rows keys, or str
            Keys of the rows, converted by ``str``, or the name of the column of ``X`` that contains the keys.
        X : array-like of shape (n_rows, n_columns)
            Rows, in order. If a row is invalid, the rows before it have been learned.

        Returns
        -------
        expected_losses, losses, coordinates, or Alarms
            Results of models, as for :meth:`Model.step_each`, or of monitors. Row indices count the rows of all keys.
        """
        if isinstance(keys, str):
            keys, X = split_keys(keys, X)
        fleet = self._fleet
        rows = as_rows(X, getattr(self.k, "feature_names_in_", None) if fleet is None else fleet.feature_names)
        if fleet is None:
            names = column_names(X)
            fleet = self._fleet = self._begun(rows.shape[1], None if names is None else list(names))
        texts = key_texts(keys)
        found = fleet.update(texts, rows, row_times(row_index(X)))
        if self._has_monitors():
            found = answers(found, fleet.feature_names, rows.shape[1], texts, index=row_index(X), recent=self._recent)
        return found  # type: ignore[no-any-return]

    def _begun(self, dim: int, names: list[str] | None) -> Groups:
        if self._has_monitors():
            return Groups(self.k._fresh(dim, names), self.max_groups)
        model = Model(dim, self.k, **self._given)
        model._set_feature_names(names)
        return Groups(model, self.max_groups)

    def _monitors(self, method: str) -> Groups:
        if self._fleet is None or not self._has_monitors():
            raise ValueError(f"{method} needs a fleet of monitors that has had rows")
        return self._fleet

    def accept(self, key: object) -> None:
        """Accept the current state of a key as normal, as in :meth:`Monitor.accept`."""
        if not self._monitors("accept").accept(str(key)):
            raise KeyError(key)

    def report(self, path: Path, *, title: str = "Monitors", by: str = "key") -> None:
        """Write the page of ``eigenhedge monitor --group-by --report``, with a line for each key.

        The first 200 keys also have charts. The HTML file is replaced atomically. ``title`` is the
        heading of the page. ``by`` is the name of the key, such as ``"machine"``.
        """
        self._monitors("report").report(path, title, by)

    def keys(self) -> list[str]:
        """Return the keys in the order of their first rows."""
        return [] if self._fleet is None else self._fleet.keys()

    def __getitem__(self, key: object) -> Member:
        """Return a copy of the model or monitor of a key. The copy of a monitor has no charts."""
        found: Any = None if self._fleet is None else self._fleet.get(str(key))
        if found is None:
            raise KeyError(key)
        found = _member(found)
        if self._has_monitors():
            found._is_copy = True
        return found  # type: ignore[no-any-return]

    def __contains__(self, key: object) -> bool:
        return str(key) in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __repr__(self) -> str:
        members = "of monitors" if self._has_monitors() else f"k={self.k}"
        return f"<Fleet {members}, groups={len(self)}>"

    def _merged(self, *others: Fleet[Member, Answers]) -> Fleet[Member, Answers]:
        made: Fleet[Member, Answers] = Fleet.__new__(Fleet)
        vars(made).update({**vars(self), "_fleet": None, "_recent": RecentTimes()})
        for fleet in (self, *others):
            if fleet._fleet is not None:
                made._fleet = made._fleet or Groups(fleet._fleet.fresh, self.max_groups)
                made._fleet.merge(fleet._fleet)
        return made

    def save(self, path: Path) -> None:
        """Write all members to one file, which the command line can read. An existing file is replaced atomically."""
        if self._fleet is None:
            raise ValueError("a fleet must have had a row before it is saved")
        self._fleet.save(path)

    @classmethod
    def load(cls, path: Path, *, max_groups: int | None = None) -> Fleet[Any, Any]:
        """Load a fleet written by :meth:`save` or by the command line with ``--group-by``."""
        loaded: Fleet[Any, Any] = cls.__new__(cls)
        loaded._given, loaded.max_groups, loaded._recent = {}, max_groups, RecentTimes()
        loaded._fleet = Groups.open(path, max_groups, kind_of_file(path) == MONITORS_BY_KEY)
        fresh = _member(loaded._fleet.fresh)
        loaded.k = fresh.k if isinstance(fresh, Model) else fresh
        return loaded

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "_fleet": None}
        if self._fleet is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "fleet.eh")
                self._fleet.save(path)
                with open(path, "rb") as file:
                    state["_fleet"] = file.read()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state["_fleet"]
        vars(self).update({**state, "_fleet": None, "_recent": RecentTimes()})
        if data is not None:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                path = os.path.join(folder, "fleet.eh")
                with open(path, "wb") as file:
                    file.write(data)
                self._fleet = Fleet.load(path, max_groups=self.max_groups)._fleet


def split_keys(name: str, X: Any) -> tuple[Iterable[object], Any]:
    """Return the keys in the column ``name`` of a table, and the table without this column."""
    names = column_names(X)
    if names is None and len(name) == len(X):
        # The string has one letter per row, so each letter is the key of a row.
        return name, X
    if names is None or name not in list(names):
        raise ValueError(f"keys must be a key for each row, or the name of a column of the table, got {name!r}")
    keys = X[name].to_list() if hasattr(X[name], "to_list") else X[name].to_pylist()
    return keys, X.drop(columns=name) if hasattr(X, "iloc") else X.drop(name)


def key_texts(keys: Iterable[object]) -> list[str]:
    """Return the keys as strings. Raise a ``ValueError`` for a missing key."""
    listed = list(keys)
    for row, key in enumerate(listed):
        # A missing value does not equal itself, or has no truth value.
        if key is None or type(key).__name__ in ("NAType", "NaTType") or (isinstance(key, numbers.Real) and key != key):
            raise ValueError(f"row {row}: the key is missing, got {key!r}; fill it in, or leave out the row")
    return [str(key) for key in listed]


def _member(inner: Any) -> Any:
    if not isinstance(inner, _core.Monitor):
        return inner
    from ._monitor import Monitor

    return Monitor._restored(inner, {})
