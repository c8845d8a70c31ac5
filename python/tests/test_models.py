"""Tests of models with column names and scales, in Python and in the program."""

import json
import subprocess
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import PROGRAM, low_rank, needs_program
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigenhedge
from eigenhedge import Model, OnlineKernelPCA, OnlinePCA, river

NAMES = list("abcdefgh")


@pytest.fixture
def X(rng):
    return low_rank(rng, rows=80) * 10.0 ** np.arange(-3, 5) + np.arange(8)


@pytest.fixture
def frame(X):
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture
def program(tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)

    def call(arguments):
        return subprocess.run([PROGRAM, *arguments.split()], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    return call


def pipeline_rows(X, k=2):
    return (pipe := make_pipeline(StandardScaler(), PCA(k)).fit(X)).inverse_transform(pipe.transform(X))


@pytest.mark.parametrize("learner", ["leader", "anchored"])
def test_rows_come_back_as_from_a_pipeline_of_scikit_learn(X, learner):
    pca = OnlinePCA(2, learner=learner, standardize="warmup:1000").fit(X)
    back = pca.inverse_transform(pca.transform(X))
    assert np.abs((back - pipeline_rows(X)) / X.std(axis=0)).max() < 1e-6
    standard = (X - pca.mean_) / pca.scale_
    assert np.allclose(standard @ pca.components_.T, pca.transform(X))
    assert np.allclose(-pca.score_samples(X), ((standard - pca.transform(X) @ pca.components_) ** 2).sum(axis=1))


@needs_program
@pytest.mark.parametrize("learner", ["leader", "anchored"])
def test_rows_come_back_from_the_program_as_from_a_pipeline(tmp_path, program, X, learner):
    program(f"run t.csv -k 2 --learner {learner} --standardize warmup:80 --snapshot m.snap --quiet")
    program("transform m.snap t.csv --out z.csv")
    program("reconstruct m.snap z.csv --out back.csv")
    back = pd.read_csv(tmp_path / "back.csv", float_precision="round_trip")
    assert list(back.columns) == NAMES
    assert np.abs((back.to_numpy() - pipeline_rows(X)) / X.std(axis=0)).max() < 1e-6


@needs_program
@pytest.mark.parametrize(
    "options",
    [
        "--standardize running",
        "--standardize warmup:30 --learner tracking --eta 2 --seed 5",
        "--learner leader --center none --standardize running",
        "--learner oja -k 1 --eta 0.01 --standardize warmup:80",
        "--kernel rbf --gamma 0.1 --budget 20 --standardize running",
        "--kernel polynomial --learner anchored --degree 3",
        "",
    ],
)
def test_a_model_of_the_program_is_an_estimator_with_names_and_scale(tmp_path, program, frame, options):
    k = "" if "-k " in options else "-k 2"
    program(f"run t.csv {k} {options} --out answers.csv --snapshot m.snap --quiet")
    model = eigenhedge.load(tmp_path / "m.snap")
    assert type(model) is (OnlineKernelPCA if "--kernel" in options else OnlinePCA)
    assert list(model.feature_names_in_) == NAMES
    assert len(model.get_feature_names_out()) == model.n_components_
    program("transform m.snap t.csv --out z.csv")
    answers = pd.read_csv(tmp_path / "z.csv", float_precision="round_trip").to_numpy()
    # The program computes one row at a time, and Python blocks of rows. Their rounding differs.
    close = partial(np.allclose, rtol=1e-9, atol=1e-9)
    assert close(model.transform(frame), answers[:, 2:])
    assert close(-model.score_samples(frame), answers[:, 1])
    # The parameters of the estimator are those of the run, so refitting gives an equal model.
    again = clone(model).fit(frame)
    assert close(again.transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[NAMES[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"c": "C"}))
    # Learning more rows has the same result as in the program.
    program("run t.csv --start-from m.snap --snapshot end.snap --quiet")
    end = eigenhedge.load(tmp_path / "end.snap")
    assert close(model.partial_fit(frame).transform(frame), end.transform(frame))
    assert model.summary_["rows"] == end.summary_["rows"] == 160
    model.save(tmp_path / "python.snap")
    # The program must not resume from a model that has learned other rows.
    with pytest.raises(subprocess.CalledProcessError):
        program(f"run t.csv {k} {options} --out answers.csv --resume python.snap")


@needs_program
def test_a_model_of_python_is_used_by_name_in_the_program(tmp_path, program, frame):
    pca = OnlinePCA(3, standardize="running", random_state=0).fit(frame)
    pca.save(tmp_path / "m.snap")
    frame[NAMES[::-1]].assign(note="x").to_csv(tmp_path / "other.csv", index=False)
    program("transform m.snap other.csv --out z.csv")
    z = pd.read_csv(tmp_path / "z.csv", float_precision="round_trip").to_numpy()[:, 2:]
    assert np.allclose(z, pca.transform(frame), rtol=1e-9, atol=1e-12)
    program("reconstruct m.snap z.csv --out back.csv")
    back = pd.read_csv(tmp_path / "back.csv", float_precision="round_trip")
    assert list(back.columns) == NAMES
    assert np.allclose(back.to_numpy(), pca.inverse_transform(z), rtol=1e-12)
    program("run other.csv --start-from m.snap --snapshot end.snap --quiet")
    assert (eigenhedge.load(tmp_path / "end.snap").components_ == pca.partial_fit(frame).components_).all()
    shown = json.loads(program("inspect m.snap --summary json"))
    assert shown["columns"] == NAMES and shown["standardize"] == "running"


@needs_program
@pytest.mark.parametrize("how", ["none", "running", "warmup:30", "warmup:500"])
def test_run_standardizes_as_the_program_does(tmp_path, program, X, how):
    program(f"run t.csv -k 2 --standardize {how} --out answers.csv --quiet")
    answers = pd.read_csv(tmp_path / "answers.csv", float_precision="round_trip").to_numpy()
    run = eigenhedge.run(X, 2, standardize=how)
    assert (run.expected_losses == answers[:, 1]).all() and (run.losses == answers[:, 2]).all()


def test_a_warm_up_needs_a_table(X):
    learner = Model(8, 2, standardize="warmup:30")
    with pytest.raises(ValueError, match="a warm-up needs many rows at once"):
        learner.step(X[0])
    bad = X.copy()
    bad[5, 2] = np.nan
    with pytest.raises(ValueError, match="row 5: entry 2 of the row must be finite"):
        learner.learn(bad)
    learner.learn(X)
    assert np.allclose(learner.scale, X[:30].std(axis=0))
    assert learner.step(X[0]).expected_loss >= 0
    with pytest.raises(ValueError, match="standardize must be none, running or warmup:ROWS, got 'minmax'"):
        Model(8, 2, standardize="minmax")


@pytest.mark.parametrize("value", [True, None, 3, "bad"])
def test_a_wrong_standardization_is_named(X, value):
    calls = [
        lambda: eigenhedge.run(X, 2, standardize=value),
        lambda: Model(8, 2, standardize=value),
        lambda: OnlinePCA(2, standardize=value).fit(X),
        lambda: eigenhedge.OnlineImputer(2, standardize=value).fit(X),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"standardize must be none, running or warmup:ROWS, got {value!r}"):
            call()


def test_a_warm_up_sees_a_sparse_table_as_a_whole(X, monkeypatch):
    from scipy import sparse

    monkeypatch.setattr("eigenhedge._rows.BLOCK", 8 * 10)
    dense = OnlinePCA(2, standardize="warmup:50").fit(X)
    assert (OnlinePCA(2, standardize="warmup:50").fit(sparse.csr_array(X)).scale_ == dense.scale_).all()


def test_a_kernel_without_a_name_has_no_scale(X):
    with pytest.raises(ValueError, match="standardize must be 'none' with a kernel that has no name, got 'running'"):
        OnlineKernelPCA(2, kernel=lambda a, b: float(a @ b), standardize="running").fit(X)


def test_models_of_river_come_back_and_go_on(tmp_path, frame):
    rows = frame.to_dict("records")
    for make, parameters in [(river.OnlinePCA, {"learner": "tracking", "seed": 4}), (river.SubspaceAnomaly, {"warm_up": 25})]:
        model = make(n_components=2, **parameters)
        with pytest.raises(ValueError, match="a row must have been learned from first"):
            model.save(tmp_path / "m.snap")
        for x in rows[:40]:
            model.learn_one(x)
        model.save(tmp_path / "m.snap")
        back = eigenhedge.load(tmp_path / "m.snap")
        assert type(back) is make and back._get_params() == model._get_params()
        assert back._fitted().feature_names == NAMES
        for x in rows[40:]:
            back.learn_one(x)
            model.learn_one(x)
        use = "transform_one" if make is river.OnlinePCA else "score_one"
        assert getattr(back, use)(rows[0]) == getattr(model, use)(rows[0])
        assert back._fitted().to_bytes()[100:] == model._fitted().to_bytes()[100:]
    model = river.OnlinePCA(1, max_features=5)
    model.learn_one({1: 2.0, 7: 1.0, 3: 0.0})
    model.save(tmp_path / "m.snap")
    back = eigenhedge.load(tmp_path / "m.snap")
    assert back._places == model._places and back._model.feature_names is None


@pytest.mark.parametrize(
    "remembered",
    [
        {"class": "river.OnlinePCA", "parameters": {"etta": 1}, "names": []},
        {"class": "river.OnlinePCA", "parameters": {}, "names": ["a", "b", "c"]},
        {"class": "river.OnlinePCA", "parameters": {}, "names": ["a", "a"]},
        {"class": "river.OnlinePCA", "parameters": {}},
    ],
)
def test_what_makes_no_sense_is_refused_by_load(tmp_path, remembered):
    learner = Model(2, 1)
    learner._set_resume_state(json.dumps({"python": remembered}).encode())
    learner.save(tmp_path / "m.snap")
    with pytest.raises(ValueError, match="m.snap: is damaged: what Python remembers makes no sense"):
        eigenhedge.load(tmp_path / "m.snap")


@pytest.mark.parametrize("how", ["none", "running"])
def test_plain_numbers_give_the_coordinates(tmp_path, frame, X, how):
    pca = OnlinePCA(2, standardize=how).fit(frame)
    for end in ["npz", "json", "csv"]:
        eigenhedge.export(pca, tmp_path / f"m.{end}")
    arrays = np.load(tmp_path / "m.npz")
    assert list(arrays["columns"]) == NAMES
    assert np.allclose(((X - arrays["mean"]) / arrays["scale"]) @ arrays["components"].T, pca.transform(frame))
    exported = json.loads((tmp_path / "m.json").read_text())
    assert (np.array(exported["components"]) == arrays["components"]).all()
    table = pd.read_csv(tmp_path / "m.csv", index_col="column", float_precision="round_trip")
    assert (arrays["components"] == table[["z0", "z1"]].to_numpy().T).all()
    assert list(table.index) == NAMES
    with pytest.raises(ValueError, match="the model must have no kernel"):
        eigenhedge.export(OnlineKernelPCA(2, kernel="rbf").fit(frame), tmp_path / "m.json")
    with pytest.raises(OSError, match="must end in .json, .csv or .npz"):
        eigenhedge.export(pca, tmp_path / "m.txt")


@pytest.mark.parametrize("how", ["none", "running", "warmup:40"])
def test_an_onnx_graph_gives_the_coordinates(tmp_path, rng, how):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = pd.DataFrame(low_rank(rng, rows=80), columns=NAMES)
    pca = OnlinePCA(2, standardize=how).fit(X)
    eigenhedge.export(pca, tmp_path / "m.onnx")
    session = runtime.InferenceSession(tmp_path / "m.onnx")
    coordinates, losses = session.run(None, {"rows": X.to_numpy(np.float32)})
    assert np.abs(coordinates - pca.transform(X)).max() < 1e-5
    assert np.abs(losses + pca.score_samples(X)).max() < 1e-5
    assert json.loads(session.get_modelmeta().custom_metadata_map["columns"]) == NAMES


def test_the_class_of_a_file_can_be_asked_for(tmp_path, X):
    pca, path = OnlinePCA(2).fit(X), tmp_path / "model.eh"
    pca.save(path)
    assert (eigenhedge.load(path, OnlinePCA).components_ == pca.components_).all()
    learner = eigenhedge.load(path, Model)
    assert isinstance(learner, Model) and learner.rows == len(X)
    with pytest.raises(ValueError, match="must hold a Monitor, got a OnlinePCA"):
        eigenhedge.load(path, eigenhedge.Monitor)
    eigenhedge.Monitor().fit(X).save(path)
    with pytest.raises(ValueError, match="must hold a Model, got a Monitor"):
        eigenhedge.load(path, Model)


@pytest.mark.parametrize("write", [eigenhedge.save, eigenhedge.export])
def test_what_has_no_model_file_is_named(tmp_path, X, write):
    pipeline = make_pipeline(StandardScaler(), OnlinePCA(2)).fit(X)
    for thing, way in [
        (pipeline, r"pass its last step, pipeline\[-1\]"),
        (eigenhedge.run(X, 2), "pass result.model"),
        (X, "got a ndarray"),
    ]:
        with pytest.raises(TypeError, match=way):
            write(thing, tmp_path / "model.json")
