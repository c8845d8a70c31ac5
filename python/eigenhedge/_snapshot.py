"""Reading and writing of model files, export of models, and merging of models."""

from __future__ import annotations

import copy
import json
import pathlib
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast, overload

from . import _core
from ._core import Model
from ._fleet import Fleet
from ._optional import later, needed
from ._saved import MODELS_BY_KEY, MONITOR, MONITORS_BY_KEY, data_of, kind_of, kind_of_file
from ._types import Path

if TYPE_CHECKING:
    from . import river
    from ._imputer import OnlineImputer
    from ._kernel_pca import OnlineKernelPCA
    from ._monitor import Monitor
    from ._online import Online
    from ._pca import OnlinePCA

    Contents: TypeAlias = (
        Model | OnlinePCA | OnlineKernelPCA | OnlineImputer | Monitor | Fleet[Any, Any] | river.OnlinePCA | river.SubspaceAnomaly
    )

Kind = TypeVar("Kind")

#: Module of each class that a file can contain. ``OVER_MONITORS`` are those whose native object is a monitor.
CLASSES = {
    "OnlinePCA": "_pca",
    "OnlineImputer": "_imputer",
    "OnlineKernelPCA": "_kernel_pca",
    "Monitor": "_monitor",
    "river.OnlinePCA": "river",
    "river.SubspaceAnomaly": "river",
}
OVER_MONITORS = ("Monitor", "river.SubspaceAnomaly")


def _saved_by(model: Any) -> Any:
    if hasattr(model, "_fitted"):
        return model._fitted()
    if hasattr(model, "steps"):
        way = "; of a Pipeline, pass its last step, pipeline[-1]"
    elif isinstance(getattr(model, "model", None), Model):
        way = "; of a result of run, pass result.model"
    else:
        way = ""
    raise TypeError(f"only a model, a monitor or an online estimator has a model file, got a {type(model).__name__}{way}")


def save(model: Contents | Online, path: Path) -> None:
    """Write a model, a fitted online estimator, a monitor or a fleet to a file, which is replaced atomically.

    Parameters of an estimator that JSON cannot represent, such as a ``RandomState``, are left out.
    """
    if not isinstance(model, (Model, Fleet)):
        _saved_by(model)
    model.save(path)


@overload
def load(path: Path | bytes) -> Contents: ...
@overload
def load(path: Path | bytes, kind: type[Kind]) -> Kind: ...
def load(path: Path | bytes, kind: type[Any] | None = None) -> Any:
    """Read a model file written by Python or the command line.

    Parameters
    ----------
    path : path-like or bytes
        Path of the file, or its contents.
    kind : class, default=None
        Class that the file must contain. :class:`Model` also accepts the file of an estimator with a
        model, and returns this model.

    Returns
    -------
    Model, OnlinePCA, OnlineKernelPCA, Monitor, Fleet, or a class of eigenhedge.river
        Saved object, which can continue learning. A model of the command line becomes an
        :class:`OnlinePCA`, or an :class:`OnlineKernelPCA` if it has a kernel.

    Examples
    --------
    >>> import eigenhedge, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.eh")
    >>> eigenhedge.save(eigenhedge.OnlinePCA(1).fit([[1.0, 2.0], [2.0, 1.0]]), path)
    >>> eigenhedge.load(path).n_samples_seen_, eigenhedge.load(path, eigenhedge.Model).rows
    (2, 2)
    """
    where = "the bytes" if isinstance(path, bytes) else str(path)
    model: Any
    if isinstance(path, bytes):
        model = _read(path, where, kind is Model)
    elif kind is not Model and kind_of_file(path) in (MODELS_BY_KEY, MONITORS_BY_KEY):
        model = Fleet.load(path)
    else:
        model = _read(pathlib.Path(path).read_bytes(), where, kind is Model)
    if kind is not None and not isinstance(model, kind):
        raise ValueError(f"{where}: must hold a {kind.__name__}, got a {type(model).__name__}")
    return model


def _read(data: bytes, where: str, is_bare: bool) -> Contents:
    is_monitor = kind_of(data) == MONITOR
    inner: Model | _core.Monitor
    try:
        inner = _core.Monitor.from_bytes(data) if is_monitor else Model.from_bytes(data)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if is_bare and isinstance(inner, Model):
        return inner
    around = data_of(inner)
    saved = around.get("python")
    restored: Contents
    if isinstance(saved, dict) and isinstance(saved.get("parameters"), dict):
        make = _class(saved.get("class"))
        if make is not None and is_monitor == (saved["class"] in OVER_MONITORS):
            try:
                restored = make._restored(inner, saved)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{where}: is damaged: what Python remembers makes no sense ({error})") from None
            return restored
    if isinstance(inner, _core.Monitor):
        restored = _class("Monitor")._restored(inner, {})
        return restored
    if isinstance(around.get("options"), dict):
        options = around["options"]
        # The command line predicts every row, so the estimator does too when it continues.
        return estimator(inner, options.get("learner", "auto"), losses=True, random_state=options.get("seed"))
    return inner


def _class(name: object) -> Any:
    return later(str(name).removeprefix("river."), CLASSES[str(name)]) if name in CLASSES else None


def estimator(inner: Model, learner: str, **parameters: Any) -> OnlinePCA | OnlineKernelPCA:
    """Return a new estimator for a model that was not saved by an estimator."""
    changed = inner._changed_options()
    make = _class("OnlineKernelPCA" if "kernel" in changed else "OnlinePCA")
    known = {"n_components": inner.k, "learner": learner, "standardize": inner.standardize, "hindsight": True}
    made: OnlinePCA | OnlineKernelPCA = make._restored(inner, {"parameters": {**known, **changed, **parameters}})
    return made


def export(model: Contents | Online, path: Path) -> None:
    """Export the components, mean, scale and column names of a model for other programs.

    The coordinates of a row ``x``, before whitening, are ``components @ ((x - mean) / scale)``.

    The model must have no kernel. The path must end in ``.json``, ``.csv``, ``.npz`` or ``.onnx``
    (requires the package onnx). An ONNX graph has the input ``rows`` and the outputs ``coordinates``
    and ``loss`` in single precision, and computes in double precision.
    """
    inner = model if isinstance(model, Model) else _saved_by(model)
    if not isinstance(inner, Model):
        raise TypeError(f"only a Model or a transformer can be exported, got a {type(model).__name__}")
    if not isinstance(model, Model):
        inner._set_feature_names(model._feature_names())  # type: ignore[union-attr]
    is_onnx = str(path).lower().endswith(".onnx")
    if not (_export_onnx(inner, path) if is_onnx else inner._export(path)):
        raise ValueError("the model must have no kernel to be exported")


def _export_onnx(inner: Model, path: Path) -> bool:
    import numpy as np

    needed("onnx", "an export to ONNX", "eigenhedge[onnx]")
    from onnx import TensorProto, checker, helper, numpy_helper, save_model

    linear = inner._linear_map()
    if linear is None:
        return False
    components, mean, scale = linear
    constants = {"mean": mean, "scale": scale, "components": components, "directions": components.T}
    one_axis = helper.make_tensor("axes", TensorProto.INT64, [1], [1])
    nodes = [
        helper.make_node("Cast", ["rows"], ["exact"], to=TensorProto.DOUBLE),
        helper.make_node("Sub", ["exact", "mean"], ["centered"]),
        helper.make_node("Div", ["centered", "scale"], ["standard"]),
        helper.make_node("MatMul", ["standard", "directions"], ["z"]),
        helper.make_node("MatMul", ["z", "components"], ["projection"]),
        helper.make_node("Sub", ["standard", "projection"], ["rest"]),
        helper.make_node("Mul", ["rest", "rest"], ["squares"]),
        helper.make_node("ReduceSum", ["squares", "axes"], ["lost"], keepdims=0),
        helper.make_node("Cast", ["z"], ["coordinates"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["lost"], ["loss"], to=TensorProto.FLOAT),
    ]
    table = [("rows", ["n", inner.dim]), ("coordinates", ["n", inner.k]), ("loss", ["n"])]
    rows, *outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in table]
    arrays = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "eigenhedge", [rows], outputs, [*arrays, one_axis])
    model = helper.make_model(graph, producer_name="eigenhedge", opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    if inner.feature_names is not None:
        helper.set_model_props(model, {"columns": json.dumps(inner.feature_names)})
    checker.check_model(model)
    save_model(model, str(path))
    return True


Mergeable = TypeVar("Mergeable", Model, "OnlinePCA", "Fleet[Any, Any]")


def merge(first: Mergeable, *others: Mergeable) -> Mergeable:
    """Merge models that were fitted to parts of a table into a model of all rows.

    The learner must not depend on the order of rows (``"leader"``, ``"anchored"`` or
    ``"product-sets"``). Class, options and columns must match. Merging fleets combines their keys.
    Models of a common key are merged. Monitors of a common key are an error.

    Examples
    --------
    >>> import eigenhedge, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) * [4, 2, 1, 1]
    >>> parts = [eigenhedge.OnlinePCA(1, learner="leader").fit(part) for part in np.array_split(X, 3)]
    >>> merged = eigenhedge.merge(*parts)
    >>> whole = eigenhedge.OnlinePCA(1, learner="leader").fit(X)
    >>> bool(np.allclose(merged.score_samples(X), whole.score_samples(X)))
    True
    """
    models: Any = (first, *others)
    for model in models:
        if type(model) is not type(first):
            raise TypeError(f"all models must be of one class, got a {type(first).__name__} and a {type(model).__name__}")
    if isinstance(first, Fleet):
        merged: Any = Fleet._merged(*models)
    elif isinstance(first, Model):
        merged = first.merge(*others)
    else:
        from ._pca import OnlinePCA

        if not isinstance(first, OnlinePCA):
            raise TypeError(f"a {type(first).__name__} cannot be merged: Model, OnlinePCA and Fleet can")
        inner, *rest = map(_named, models)
        merged = OnlinePCA._restored(inner.merge(*rest), first._remembered())
    return cast("Mergeable", merged)


def _named(model: OnlinePCA) -> Model:
    inner = copy.copy(model._fitted())
    inner._set_feature_names(model._feature_names())
    return inner
