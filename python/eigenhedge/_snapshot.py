"""Snapshots: the same files as those of the command line.

A snapshot holds a run, and a JSON object with what the program around it has to remember. Python's part of that object is
the value of the key ``"python"``::

    {"python": {"class": "OnlinePCA", "parameters": {...}, "feature_names": [...] or null}}

Other keys belong to other programs; they are kept.
"""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import Learner
from ._types import Path

if TYPE_CHECKING:
    from ._kernel_pca import OnlineKernelPCA
    from ._online import Online
    from ._pca import OnlinePCA


def _around(learner: Learner) -> dict[str, Any]:
    text = learner._resume_state()
    if not text:
        return {}
    try:
        around = json.loads(text)
    except ValueError:
        return {}
    return around if isinstance(around, dict) else {}


def save(model: Learner | Online, path: Path) -> None:
    """Write a learner or a fitted online estimator to a file.

    Parameters
    ----------
    model : Learner, OnlinePCA or OnlineKernelPCA
        What to write. Parameters of an estimator that JSON cannot hold (a ``RandomState``) are left out.
    path : path-like
        The file. It is complete or absent.

    Examples
    --------
    >>> import eigenhedge, numpy as np, os, tempfile
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> pca = eigenhedge.OnlinePCA(2).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.eh")
    >>> eigenhedge.save(pca, path)
    >>> bool((eigenhedge.load(path).components_ == pca.components_).all())
    True
    """
    if isinstance(model, Learner):
        model.save(path)
        return
    learner = model._fitted()
    names = getattr(model, "feature_names_in_", None)
    around = _around(learner)
    around["python"] = {
        "class": type(model).__name__,
        "parameters": {name: value for name, value in model.get_params(deep=False).items() if _is_plain(value)},
        "feature_names": None if names is None else list(names),
    }
    if names is not None:
        # Where the command line looks for them.
        around["columns"] = list(names)
    learner._set_resume_state(json.dumps(around).encode())
    learner.save(path)


def load(path: Path) -> Learner | OnlinePCA | OnlineKernelPCA:
    """Read a snapshot that Python or the command line has written.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Learner, OnlinePCA or OnlineKernelPCA
        What was saved; a :class:`Learner` when the command line saved it.

    Raises
    ------
    ValueError
        When the file is damaged, cut short, of a newer version, or something else.
    """
    import eigenhedge

    try:
        learner = Learner.from_bytes(pathlib.Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    saved = _around(learner).get("python")
    if not isinstance(saved, dict) or saved.get("class") not in ("OnlinePCA", "OnlineKernelPCA"):
        return learner
    model: OnlinePCA | OnlineKernelPCA = getattr(eigenhedge, saved["class"])()
    known = model.get_params(deep=False)
    model.set_params(**{name: value for name, value in saved.get("parameters", {}).items() if name in known})
    model._learner, model.n_components_, model.n_features_in_ = learner, learner.k, learner.dim
    if saved.get("feature_names") is not None:
        model.feature_names_in_ = np.asarray(saved["feature_names"], dtype=object)
    return model


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))
