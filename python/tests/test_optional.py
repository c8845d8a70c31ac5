"""Optional packages are imported only by the functions that use them."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

from eigenhedge import Monitor

ABSENT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {packages}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def without(packages, script):
    """Return the lines that a script prints if `packages` cannot be imported."""
    code = ABSENT.format(packages=packages) + textwrap.dedent(script)
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.splitlines()


OTHERS = ["sklearn", "scipy", "pandas", "matplotlib", "river", "typing_extensions"]


def test_numpy_is_enough_for_learners_and_the_monitor():
    printed = without(
        OTHERS,
        """
        import numpy as np, pickle, os, tempfile
        import eigenhedge
        from eigenhedge import Model, Monitor, plot
        X = np.random.default_rng(0).normal(size=(600, 2)) @ [[1, 2, 0, 1], [0, 1, 1, 3]] + 0.1
        X += 0.1 * np.random.default_rng(1).normal(size=X.shape)
        X[500:520, 2] += 3
        run = eigenhedge.run(X, 2, kernel="rbf", budget=10)
        learner = Model(4, 2)
        learner.learn(X)
        monitor = Monitor(k=2)
        alarms = monitor.update(X)
        print(run.summary["rows"], learner.rows, alarms.in_incident[500:520].sum() > 15)
        print(monitor, Monitor().set_params(lags=2).get_params()["lags"])
        print((Monitor().fit(X[:400]).predict(X[500:520]) == -1).sum() > 15)
        path = os.path.join(tempfile.mkdtemp(), "model.eh")
        monitor.save(path)
        same = eigenhedge.load(path).score_samples(X) == pickle.loads(pickle.dumps(monitor)).score_samples(X)
        print(same.all(), eigenhedge.mmd(X, X).biased < 1e-12)
        learner.save(path)
        print(eigenhedge.load(path).rows)
        """,
    )
    assert printed == ["600 600 True", "Monitor(k=2) 2", "True", "True True", "600"]


@pytest.mark.parametrize(
    "use, sentence",
    [
        ("eigenhedge.OnlinePCA(2)", "eigenhedge.OnlinePCA needs scikit-learn: pip install eigenhedge[sklearn]"),
        ("from eigenhedge import KernelRidge", "eigenhedge.KernelRidge needs scikit-learn: pip install eigenhedge[sklearn]"),
        ("import eigenhedge.river", "eigenhedge.river needs river: pip install eigenhedge[river]"),
        ("eigenhedge.SubspaceAnomaly", "eigenhedge.river needs river: pip install eigenhedge[river]"),
        ("run.plot()", "eigenhedge.plot needs matplotlib: pip install eigenhedge[plot]"),
        ("run.to_frame()", "RunResult.to_frame needs pandas: pip install pandas"),
        ("eigenhedge.export(run.model, 'm.onnx')", "an export to ONNX needs onnx: pip install eigenhedge[onnx]"),
    ],
)
def test_what_is_missing_is_named(use, sentence):
    script = f"""
    import eigenhedge
    run = eigenhedge.run([[1.0, 2.0], [2.0, 1.0]], 1)
    try:
        {use}
    except (ImportError, AttributeError) as error:
        print(error)
    """
    assert without([*OTHERS, "onnx"], script) == [sentence]


def test_names_whose_package_is_missing_are_no_attributes():
    script = """
    import contextlib, inspect, io
    import eigenhedge
    print(hasattr(eigenhedge, "SubspaceAnomaly"), hasattr(eigenhedge, "OnlinePCA"), hasattr(eigenhedge, "Monitor"))
    print("OnlinePCA" in dict(inspect.getmembers(eigenhedge)))
    with contextlib.redirect_stdout(io.StringIO()) as text:
        help(eigenhedge)
    print("one model or monitor per key" in text.getvalue())
    """
    assert without(OTHERS, script) == ["False False True", "False", "True"]


def test_importing_the_package_imports_none_of_them():
    script = f"import eigenhedge; print([name for name in {OTHERS} if name in sys.modules])"
    assert without([], script) == ["[]"]
    assert without([], "import eigenhedge; print({'OnlinePCA', 'SubspaceAnomaly', 'run'} <= set(dir(eigenhedge)))") == ["True"]
    script = "from eigenhedge import SubspaceAnomaly, river; print(SubspaceAnomaly is river.SubspaceAnomaly)"
    assert without([], script) == ["True"]


def test_the_monitor_refuses_other_columns_with_and_without_scikit_learn():
    script = """
    import numpy as np
    from eigenhedge import Monitor
    X = np.random.default_rng(0).normal(size=(100, 3))
    for rows in (X[:, :2], X[:0], X[0]):
        try:
            Monitor().fit(X).predict(rows)
        except ValueError:
            print("refused")
    try:
        Monitor().predict(X)
    except ValueError as error:
        print(error)
    class Frame:
        def __init__(self, columns): self.columns = columns
        def to_numpy(self): return X
    monitor = Monitor().fit(Frame(["a", "b", "c"]))
    print(list(monitor.feature_names_in_), len(monitor.predict(X)))
    try:
        monitor.predict(Frame(["a", "c", "b"]))
    except ValueError as error:
        print(error)
    """
    assert without(OTHERS, script) == [
        *["refused"] * 3,
        "This Monitor instance is not fitted yet: call fit or update first.",
        "['a', 'b', 'c'] 100",
        "the columns must be ['a', 'b', 'c'], in this order, got ['a', 'c', 'b']",
    ]
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 3)), columns=list("abc"))
    with pytest.raises(ValueError, match="order"):
        Monitor().fit(X).predict(X[list("acb")])
