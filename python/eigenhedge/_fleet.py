"""Fleet of models, one per key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import Groups, Model
from ._options import takes_options
from ._rows import as_rows
from ._types import Floats, Path, Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options


class Fleet:
    """Fleet of models, one per key, for sensors, machines or customers whose rows arrive in one stream.

    All models have the same options. Each learns only from the rows of its key, with exactly the same bits as a separate
    :class:`Model`.

    Parameters
    ----------
    k : int
        Number of directions kept.
    max_groups : int, optional
        Maximum number of models in memory. The least recently used ones are moved to a temporary file and loaded when their
        keys return.
    standardize : str, default="none"
        ``"none"``, or ``"running"``: standardize the columns of each key to mean 0 and deviation 1 by its previous rows.
    hindsight : bool, default=True
        Track the best subspace of each key in hindsight, so that its summary has a regret.
    **options
        Options of :func:`eigenhedge.run`.

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
    """

    @takes_options
    def __init__(
        self,
        k: int,
        *,
        max_groups: int | None = None,
        standardize: str = "none",
        hindsight: bool = True,
        **options: Unpack[Options],
    ) -> None:
        if max_groups is not None and not max_groups >= 1:
            raise ValueError(f"max_groups must be at least 1, got {max_groups}")
        self.k = k
        self.max_groups = max_groups
        self._given: dict[str, Any] = {"hindsight": hindsight, "standardize": standardize, **options}
        self._fleet: Groups | None = None

    def update(self, keys: Iterable[object], X: Table) -> tuple[Floats, Floats, Floats]:
        """Learn from every row with the model of its key.

        Parameters
        ----------
        keys : iterable of n_rows keys
            Keys of the rows, converted by ``str``.
        X : array-like of shape (n_rows, n_columns)
            The rows, in order. On an error the previous rows have been learned.

        Returns
        -------
        expected_losses : ndarray of shape (n_rows,)
        losses : ndarray of shape (n_rows,)
        coordinates : ndarray of shape (n_rows, k)
        """
        names = [str(name) for name in X.columns] if hasattr(X, "columns") and hasattr(X, "to_numpy") else None
        rows = as_rows(X)
        if self._fleet is None:
            self._fleet = Groups(rows.shape[1], self.k, names=names, max_groups=self.max_groups, **self._given)
        known = self._fleet.feature_names
        if names is not None and known is not None and names != known:
            missing = [name for name in known if name not in names]
            if missing:
                raise ValueError(f"the rows must have the columns of the fleet; {missing[0]!r} is missing")
            rows = np.ascontiguousarray(rows[:, [names.index(name) for name in known]])
        return self._fleet.step_each([str(key) for key in keys], rows)

    def keys(self) -> list[str]:
        """Return the keys in the order of their first rows.

        Returns
        -------
        list of str
        """
        return [] if self._fleet is None else self._fleet.keys()

    def __getitem__(self, key: object) -> Model:
        """Return a copy of the model of a key."""
        found = None if self._fleet is None else self._fleet.get(str(key))
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return str(key) in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __repr__(self) -> str:
        return f"<Fleet k={self.k}, groups={len(self)}>"

    def _merged(self, *others: Fleet) -> Fleet:
        """Return a new fleet with the models of all fleets."""
        made = Fleet.__new__(Fleet)
        made.k, made.max_groups, made._given = self.k, self.max_groups, self._given
        made._fleet = None
        for fleet in (self, *others):
            if fleet._fleet is None:
                continue
            if made._fleet is None:
                made._fleet = fleet._fleet.fresh(self.max_groups)
            made._fleet.merge(fleet._fleet)
        return made

    def save(self, path: Path) -> None:
        """Write all models to one file, which the command line also reads. The file is either complete or absent.

        Parameters
        ----------
        path : path-like
            The file.
        """
        if self._fleet is None:
            raise ValueError("a fleet must have learned from a row before it is saved")
        self._fleet.save(path)

    @classmethod
    def load(cls, path: Path, *, max_groups: int | None = None) -> Fleet:
        """Load a fleet written by :meth:`save` or ``eigenhedge run --group-by``.

        Parameters
        ----------
        path : path-like
            The file.
        max_groups : int, optional
            Maximum number of models in memory.

        Returns
        -------
        Fleet
        """
        loaded = cls.__new__(cls)
        loaded._fleet = Groups.open(path, max_groups)
        loaded._given, loaded.max_groups = {}, max_groups
        loaded.k = loaded._fleet.k
        return loaded
