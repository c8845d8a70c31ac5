"""Model files, in the format of the command line.

A model file contains a model, the names and scales of its columns, and a JSON object with data of the calling program.
The data of Python is the value of the key ``"python"``::

    {"python": {"class": "OnlinePCA", "parameters": {...}}}

Other keys belong to other programs. They are kept until a row is learned.
"""

from __future__ import annotations

import copy
import json
import pathlib
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from . import _core
from ._core import Model
from ._optional import needed
from ._types import Path

if TYPE_CHECKING:
    from typing_extensions import Self

    from . import river
    from ._fleet import Fleet
    from ._kernel_pca import OnlineKernelPCA
    from ._monitor import Monitor
    from ._online import Online
    from ._pca import OnlinePCA

    #: Names of the classes that a file can contain.
    Saved: TypeAlias = Model | OnlinePCA | OnlineKernelPCA | Monitor | Fleet[Any, Any] | river.OnlinePCA | river.SubspaceAnomaly

Kind = TypeVar("Kind")

#: Names of the classes based on a monitor, and the kind in bytes 12 to 15 of their files.
OVER_MONITORS = ("Monitor", "river.SubspaceAnomaly")
OF_MONITORS = (2).to_bytes(4, "little")
#: Kinds of files with one model or monitor per key.
MODELS_BY_KEY, MONITORS_BY_KEY = (4).to_bytes(4, "little"), (5).to_bytes(4, "little")


class Copied:
    """Base class of objects with a native model, whose shallow copy would share it. All their copies are deep."""

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


def _around(inner: Model | _core.Monitor) -> dict[str, Any]:
    text = inner._resume_state()
    if not text:
        return {}
    try:
        around = json.loads(text)
    except ValueError:
        return {}
    return around if isinstance(around, dict) else {}


def _saved_by(model: Any) -> Any:
    """Return the native model of an object, or raise a ``TypeError`` with advice."""
    if hasattr(model, "_fitted"):
        return model._fitted()
    if hasattr(model, "steps"):
        way = "; of a Pipeline, pass its last step, pipeline[-1]"
    elif isinstance(getattr(model, "model", None), Model):
        way = "; of a result of run, pass result.model"
    else:
        way = ""
    raise TypeError(f"only a model, a monitor or an online estimator has a model file, got a {type(model).__name__}{way}")


def save(model: Saved | Online | river.Stream, path: Path) -> None:
    """Write a model, a fitted online estimator, a monitor or a fleet to a file.

    Parameters
    ----------
    model : Model, OnlinePCA, OnlineKernelPCA, Monitor, Fleet, or a class of eigenhedge.river
        Object to write. Parameters of an estimator that JSON cannot represent (a ``RandomState``) are left out.
    path : path-like
        Path of the file, which is replaced atomically.

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
    from ._fleet import Fleet

    if isinstance(model, (Model, Fleet)):
        model.save(path)
        return
    inner = _saved_by(model)
    around = {**_around(inner), "python": model._remembered()}
    inner._set_feature_names(model._feature_names())
    inner._set_resume_state(json.dumps(around).encode())
    inner.save(path)


@overload
def load(path: Path | bytes) -> Saved: ...
@overload
def load(path: Path | bytes, kind: type[Kind]) -> Kind: ...
def load(path: Path | bytes, kind: type[Any] | None = None) -> Any:
    """Read a model file written by Python or the command line.

    Parameters
    ----------
    path : path-like or bytes
        Path of the file, or its contents: the bytes of ``Model.to_bytes``, or of a column ``model`` of
        :mod:`eigenhedge.spark`.
    kind : class, default=None
        Class that the file must contain. :class:`Model` returns the underlying model of any estimator except a monitor.

    Returns
    -------
    Model, OnlinePCA, OnlineKernelPCA, Monitor, Fleet, or a class of eigenhedge.river
        Saved object, which can continue learning. A model of the command line becomes an :class:`OnlinePCA`, or an
        :class:`OnlineKernelPCA` if it has a kernel, with the names and scales of its columns.

    Examples
    --------
    >>> import eigenhedge, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.eh")
    >>> eigenhedge.run([[1.0, 2.0], [2.0, 1.0]], 1).model.save(path)
    >>> eigenhedge.load(path, eigenhedge.Model).rows
    2

    Raises
    ------
    ValueError
        If the file is damaged, truncated, of a newer version, or contains something else.
    """
    where = "the bytes" if isinstance(path, bytes) else str(path)
    by_key = None if isinstance(path, bytes) or kind is Model else _fleet(path)
    if by_key is None:
        data = path if isinstance(path, bytes) else pathlib.Path(path).read_bytes()
        model: Any = _read(data, where, kind is Model)
    else:
        model = by_key
    if kind is not None and not isinstance(model, kind):
        raise ValueError(f"{where}: must hold a {kind.__name__}, got a {type(model).__name__}")
    return model


def _fleet(path: Path) -> Fleet[Any, Any] | None:
    """Return the fleet in a file, or None for other files."""
    from ._fleet import Fleet

    with open(path, "rb") as file:
        kind = file.read(16)[12:]
    return Fleet.load(path) if kind in (MODELS_BY_KEY, MONITORS_BY_KEY) else None


def _read(data: bytes, where: str, is_bare: bool) -> Saved:
    is_monitor = data[12:16] == OF_MONITORS
    inner: Model | _core.Monitor
    try:
        inner = _core.Monitor.from_bytes(data) if is_monitor else Model.from_bytes(data)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if is_bare and isinstance(inner, Model):
        return inner
    around = _around(inner)
    saved = around.get("python")
    if isinstance(saved, dict) and isinstance(saved.get("parameters"), dict):
        make = _class(saved.get("class"))
        if make is not None and is_monitor == (saved["class"] in OVER_MONITORS):
            try:
                restored: Saved = make._restored(inner, saved)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{where}: is damaged: what Python remembers makes no sense ({error})") from None
            return restored
    if isinstance(inner, _core.Monitor):
        from ._monitor import Monitor

        return Monitor._restored(inner, {})
    if isinstance(around.get("options"), dict):
        return _of_command_line(inner, around["options"])
    return inner


def _class(name: object) -> Any:
    import eigenhedge

    if name in ("OnlinePCA", "OnlineKernelPCA", "Monitor"):
        return getattr(eigenhedge, str(name))
    if name in ("river.OnlinePCA", "river.SubspaceAnomaly"):
        from . import river

        return getattr(river, str(name).removeprefix("river."))
    return None


def _of_command_line(inner: Model, options: dict[str, Any]) -> OnlinePCA | OnlineKernelPCA:
    import eigenhedge

    changed = inner._changed_options()
    make = eigenhedge.OnlineKernelPCA if "kernel" in changed else eigenhedge.OnlinePCA
    name = options.get("learner", "auto")
    parameters = {"n_components": inner.k, "learner": name, "standardize": inner.standardize, "hindsight": True}
    # The command line predicts every row, and so does the estimator that continues.
    parameters["losses"] = True
    return make._restored(inner, {"parameters": {**parameters, **changed, "random_state": options.get("seed")}})


def export(model: Saved | Online | river.Stream, path: Path) -> None:
    """Export components, mean, scale and column names for other programs.

    The coordinates of a row ``x`` are ``components @ ((x - mean) / scale)``.

    Parameters
    ----------
    model : Model, OnlinePCA, or eigenhedge.river.OnlinePCA
        Model without a kernel.
    path : path-like
        Path of the file, which ends in ``.json``, ``.csv``, ``.npz`` or ``.onnx``. ONNX requires the package onnx. Its
        graph has the input ``rows`` and the outputs ``coordinates`` and ``loss`` in single precision, and computes in
        double precision.

    Examples
    --------
    >>> import eigenhedge, numpy as np, os, tempfile
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> pca = eigenhedge.OnlinePCA(2).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> eigenhedge.export(pca, path)
    >>> arrays = np.load(path)
    >>> bool(np.allclose(arrays["components"] @ ((X[0] - arrays["mean"]) / arrays["scale"]), pca.transform(X[:1])[0]))
    True
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
    """Write the linear map as an ONNX graph. Return False for a model with a kernel."""
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


def is_plain(value: object) -> bool:
    """Return True if JSON can represent the value."""
    return value is None or isinstance(value, (bool, int, float, str))
