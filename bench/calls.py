"""Measure the time of every command and every public Python call, compared with alternatives.

Usage: calls.py --program FILE [--quick] [--only NAME]

Each call runs on a table, on one with four times as many rows, and on one with four times as many
columns. The growth is the exponent of the time in the number of rows or columns. Times are
processor times of one thread, the shortest of interleaved laps. Times of `Client` are wall-clock
times, because another process does the work. The script writes calls.json and calls.md to
bench/results. With --only, it measures calls whose names contain NAME and keeps the other results.
With --quick, it runs one lap on small tables and writes nothing. It fails if its list lacks a
command or a public call, or contains another name.
"""

import argparse
import copy
import inspect
import json
import math
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from functools import cached_property
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import river.anomaly  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from sklearn.covariance import EmpiricalCovariance  # noqa: E402
from sklearn.cross_decomposition import PLSSVD  # noqa: E402
from sklearn.decomposition import PCA, IncrementalPCA  # noqa: E402
from sklearn.decomposition import KernelPCA as SklearnKernelPCA  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge  # noqa: E402
from sklearn.metrics.pairwise import rbf_kernel  # noqa: E402

import eigenhedge as eh  # noqa: E402
import eigenhedge.river  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = ROOT / "bench/results/calls.json", ROOT / "bench/results/calls.md"
K = 4
#: Numbers of rows and columns for calls that read rows, and for calls that compare all pairs of rows.
ROWS, PAIRS = [(1000, 32), (4000, 32), (1000, 128)], [(250, 8), (1000, 8), (250, 32)]
QUICK_ROWS, QUICK_PAIRS = [(200, 8)] * 3, [(30, 6)] * 3
#: Seconds after which a call is not repeated.
LONG = 1.0


class Data:
    """Tables of one size, and the models, files and services of calls, created on first use."""

    def __init__(self, rows, columns, folder, program):
        rng = np.random.default_rng(5)
        self.rows, self.columns, self.program = rows, columns, program
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.X = rng.normal(size=(rows, K)) @ rng.normal(size=(K, columns)) + 0.3 * rng.normal(size=(rows, columns))
        self.Y = rng.permuted(self.X, axis=0)
        self.losses = rng.uniform(size=(rows, columns))
        self.keys = [f"key {i % 4}" for i in range(rows)]
        self.dicts = [dict(enumerate(row)) for row in self.X.tolist()[:50]]

    def path(self, name):
        return str(self.folder / name)

    def file(self, name, table):
        path = Path(self.path(name))
        if not path.exists():
            np.save(path, table)
        return str(path)

    def table(self):
        return self.file("X.npy", self.X)

    def half(self, i):
        path = self.path(f"half{i}.model")
        if not Path(path).exists():
            eh.OnlinePCA(K, learner="anchored").fit(self.X[i::2]).save(path)
        return path

    def coordinates(self):
        path = self.path("coordinates.csv")
        if not Path(path).exists():
            self.run_program("transform", self.half(0), self.table(), "--out", path)
        return path

    def run_program(self, *arguments):
        subprocess.run([self.program, *arguments], check=True, capture_output=True, cwd=self.folder)

    def stop(self):
        if "service" in self.__dict__:
            self.service[1].close()
            self.service[0].terminate()
            self.service[0].wait()

    @cached_property
    def service(self):
        return serve(self)

    @cached_property
    def frame(self):
        return pd.DataFrame(self.X, columns=[f"x{j}" for j in range(self.columns)])

    run = cached_property(lambda d: eh.run(d.X, K))
    model = cached_property(lambda d: learned(d.X))
    plain = cached_property(lambda d: learned(d.X, center=False))
    other = cached_property(lambda d: learned(d.Y))
    imputer = cached_property(lambda d: eh.OnlineImputer(K).fit(d.X))
    pca = cached_property(lambda d: eh.OnlinePCA(K).fit(d.X))
    kernel_pca = cached_property(lambda d: eh.KernelPCA(K).fit(d.X))
    online_kernel_pca = cached_property(lambda d: eh.OnlineKernelPCA(K, kernel="rbf").fit(d.X[:100]))
    ridge = cached_property(lambda d: eh.KernelRidge().fit(d.X[:, 1:], d.X[:, 0]))
    moments = cached_property(lambda d: eh.Moments(d.columns, K).update(d.X))
    monitor = cached_property(lambda d: eh.Monitor().fit(d.X))
    alarms = cached_property(lambda d: eh.Monitor(warm_up=40).update(d.X))
    fleet = cached_property(lambda d: fleet(d))
    average = cached_property(lambda d: averaged(d))
    stream = cached_property(lambda d: river_pca(d))
    anomaly = cached_property(lambda d: river_anomaly(d))
    fitted_pca = cached_property(lambda d: PCA(K).fit(d.X))
    fitted_kernel_pca = cached_property(lambda d: SklearnKernelPCA(K, kernel="rbf", fit_inverse_transform=True).fit(d.X))
    fitted_gaussian = cached_property(lambda d: GaussianProcessRegressor(optimizer=None).fit(d.X[:, 1:], d.X[:, 0]))
    fitted_covariance = cached_property(lambda d: EmpiricalCovariance().fit(d.X))
    trees = cached_property(lambda d: each(river.anomaly.HalfSpaceTrees(seed=1), "learn_one", d.dicts))


def learned(X, **options):
    model = eh.Model(X.shape[1], K, learner="anchored", **options)
    model.learn(X)
    return model


def fleet(d):
    fleet = eh.Fleet(eh.Monitor(warm_up=24))
    fleet.update(d.keys, d.X)
    return fleet


def averaged(d):
    average = eh.Average(d.columns)
    average.add(d.plain)
    return average


def each(model, method, rows):
    for row in rows:
        getattr(model, method)(row)
    return model


def river_pca(d):
    return each(eigenhedge.river.OnlinePCA(K), "learn_one", d.dicts)


def river_anomaly(d):
    return each(eigenhedge.river.SubspaceAnomaly(K), "learn_one", d.dicts)


def serve(d):
    command = [d.program, "serve", "--listen", "127.0.0.1:0", "--store", d.path(f"store{time.monotonic_ns()}")]
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=d.folder)
    return service, eh.Client(next(line.split()[-1] for line in service.stderr if "listening on http" in line))


def serve_rows(d):
    service, client = serve(d)
    list(client.create("rows", k=K).learn(d.X.tolist()))
    client.close()
    service.terminate()
    service.wait()


def new_stream(d):
    return d.service[1].create(f"s{time.monotonic_ns()}", k=K)


def on_service(work):
    def call(d):
        return work(d.service[1], d)

    call.is_on_service = True
    return call


def closed(figure):
    pyplot.close("all")
    return figure


#: Peers: calls of other libraries for the same purpose, or lower bounds, such as one matrix product.
PEERS = {
    "nothing": lambda d: None,
    "X.sum()": lambda d: d.X.sum(),
    "X.T @ X": lambda d: d.X.T @ d.X,
    "rbf_kernel(X)": lambda d: rbf_kernel(d.X),
    "eigh(X.T @ X)": lambda d: np.linalg.eigh(d.X.T @ d.X),
    "np.sort": lambda d: np.sort(d.losses[0]),
    "losses.cumsum()": lambda d: d.losses.cumsum(axis=0),
    "json.dumps": lambda d: json.dumps(d.X.tolist()),
    "pickle of PCA": lambda d: pickle.dumps(d.fitted_pca),
    "unpickled PCA": lambda d: pickle.loads(pickle.dumps(d.fitted_pca)),
    "copy of the table": lambda d: d.frame.copy(),
    "pyplot.plot": lambda d: closed(pyplot.plot(d.X[:, 0])),
    "PCA.fit": lambda d: PCA(K).fit(d.X),
    "PCA.fit, all": lambda d: PCA().fit(d.X),
    "PCA.transform": lambda d: d.fitted_pca.transform(d.X),
    "PCA.inverse_transform": lambda d: d.fitted_pca.inverse_transform(d.X[:, :K]),
    "PCA.score_samples": lambda d: d.fitted_pca.score_samples(d.X),
    "PCA.get_covariance": lambda d: d.fitted_pca.get_covariance(),
    "PCA.get_precision": lambda d: d.fitted_pca.get_precision(),
    "IncrementalPCA.fit": lambda d: IncrementalPCA(K).fit(d.X),
    "IncrementalPCA.partial_fit": lambda d: IncrementalPCA(K).partial_fit(d.X),
    "KernelPCA.fit": lambda d: SklearnKernelPCA(K, kernel="rbf").fit(d.X),
    "KernelPCA.transform": lambda d: d.fitted_kernel_pca.transform(d.X),
    "KernelPCA.inverse_transform": lambda d: d.fitted_kernel_pca.inverse_transform(d.X[:, :K]),
    "KernelPCA.inverse_transform, 9 rows": lambda d: d.fitted_kernel_pca.inverse_transform(d.X[:9, :K]),
    "KernelRidge.fit": lambda d: SklearnKernelRidge(kernel="rbf").fit(d.X[:, 1:], d.X[:, 0]),
    "GaussianProcessRegressor.predict": lambda d: d.fitted_gaussian.predict(d.X[:, 1:], return_std=True),
    "PLSSVD.fit": lambda d: PLSSVD(K).fit(d.X, d.Y),
    "EmpiricalCovariance.fit": lambda d: EmpiricalCovariance().fit(d.X),
    "EmpiricalCovariance.mahalanobis": lambda d: d.fitted_covariance.mahalanobis(d.X),
    "HalfSpaceTrees.learn_one": lambda d: d.trees.learn_one(d.dicts[0]),
    "HalfSpaceTrees.score_one": lambda d: d.trees.score_one(d.dicts[0]),
    "eigenhedge --version": lambda d: d.run_program("--version"),
}

#: Calls that read rows or a model, each with the name of its peer.
CALLS = {
    "run": (lambda d: eh.run(d.X, K), "IncrementalPCA.fit"),
    "RunResult.to_frame": (lambda d: d.run.to_frame(), "copy of the table"),
    "RunResult.plot": (lambda d: closed(d.run.plot()), "pyplot.plot"),
    "OnlinePCA.fit": (lambda d: eh.OnlinePCA(K).fit(d.X), "IncrementalPCA.fit"),
    "OnlinePCA.partial_fit": (lambda d: eh.OnlinePCA(K).partial_fit(d.X), "IncrementalPCA.partial_fit"),
    "OnlinePCA.transform": (lambda d: d.pca.transform(d.X), "PCA.transform"),
    "OnlinePCA.inverse_transform": (lambda d: d.pca.inverse_transform(d.X[:, :K]), "PCA.inverse_transform"),
    "OnlinePCA.score_samples": (lambda d: d.pca.score_samples(d.X), "PCA.score_samples"),
    "OnlinePCA.score": (lambda d: d.pca.score(d.X), "PCA.score_samples"),
    "OnlinePCA.get_covariance": (lambda d: d.pca.get_covariance(), "PCA.get_covariance"),
    "OnlinePCA.get_precision": (lambda d: d.pca.get_precision(), "PCA.get_precision"),
    "OnlinePCA.save": (lambda d: d.pca.save(d.path("pca")), "pickle of PCA"),
    "OnlineImputer.fit": (lambda d: eh.OnlineImputer(K).fit(d.X), "IncrementalPCA.fit"),
    "OnlineImputer.partial_fit": (lambda d: eh.OnlineImputer(K).partial_fit(d.X), "IncrementalPCA.partial_fit"),
    "OnlineImputer.transform": (lambda d: d.imputer.transform(d.X), "PCA.transform"),
    "OnlineImputer.standard_errors": (lambda d: d.imputer.standard_errors(d.X), "PCA.score_samples"),
    "OnlineImputer.save": (lambda d: d.imputer.save(d.path("imputer")), "pickle of PCA"),
    "Model.learn": (lambda d: eh.Model(d.columns, K).learn(d.X), "IncrementalPCA.fit"),
    "Model.step": (lambda d: d.model.step(d.X[0]), "nothing"),
    "Model.step_batch": (lambda d: eh.Model(d.columns, K, center=False).step_batch(d.X), "IncrementalPCA.fit"),
    "Model.step_each": (lambda d: eh.Model(d.columns, K).step_each(d.X), "IncrementalPCA.fit"),
    "Model.transform": (lambda d: d.model.transform(d.X), "PCA.transform"),
    "Model.filled": (lambda d: d.model.filled(d.X), "PCA.transform"),
    "Model.losses": (lambda d: d.model.losses(d.X), "PCA.score_samples"),
    "Model.reconstruct": (lambda d: d.model.reconstruct(d.X[:, :K]), "PCA.inverse_transform"),
    "Model.merge": (lambda d: d.model.merge(d.other), "X.T @ X"),
    "Model.to_bytes": (lambda d: d.model.to_bytes(), "pickle of PCA"),
    "Model.from_bytes": (lambda d: eh.Model.from_bytes(d.model.to_bytes()), "unpickled PCA"),
    "Model.save": (lambda d: d.model.save(d.path("model")), "pickle of PCA"),
    "Model.load": (lambda d: (d.model.save(d.path("model")), eh.Model.load(d.path("model"))), "unpickled PCA"),
    "save": (lambda d: eh.save(d.model, d.path("model")), "pickle of PCA"),
    "load": (lambda d: (eh.save(d.model, d.path("model")), eh.load(d.path("model"))), "unpickled PCA"),
    "export": (lambda d: eh.export(d.model, d.path("model.npz")), "pickle of PCA"),
    "merge": (lambda d: eh.merge(d.model, d.other), "X.T @ X"),
    "Moments.update": (lambda d: eh.Moments(d.columns, K).update(d.X), "X.T @ X"),
    "Moments.merge": (lambda d: eh.Moments(d.columns, K).merge(d.moments), "X.T @ X"),
    "Moments.finish": (lambda d: d.moments.finish(), "eigh(X.T @ X)"),
    "Moments.best_loss": (lambda d: d.moments.best_loss(), "eigh(X.T @ X)"),
    "Moments.to_bytes": (lambda d: d.moments.to_bytes(), "X.T @ X"),
    "Moments.from_bytes": (lambda d: eh.Moments.from_bytes(d.moments.to_bytes()), "X.T @ X"),
    "Monitor.fit": (lambda d: eh.Monitor().fit(d.X), "EmpiricalCovariance.fit"),
    "Monitor.update": (lambda d: eh.Monitor(warm_up=40).update(d.X), "EmpiricalCovariance.mahalanobis"),
    "Monitor.partial_fit": (lambda d: eh.Monitor(warm_up=40).partial_fit(d.X), "EmpiricalCovariance.fit"),
    "Monitor.accept": (lambda d: copy.deepcopy(d.monitor).accept(), "EmpiricalCovariance.fit"),
    "Monitor.score_samples": (lambda d: d.monitor.score_samples(d.X), "EmpiricalCovariance.mahalanobis"),
    "Monitor.decision_function": (lambda d: d.monitor.decision_function(d.X), "EmpiricalCovariance.mahalanobis"),
    "Monitor.predict": (lambda d: d.monitor.predict(d.X), "EmpiricalCovariance.mahalanobis"),
    "Monitor.report": (lambda d: d.monitor.report(d.path("report.html")), "pyplot.plot"),
    "Monitor.save": (lambda d: d.monitor.save(d.path("monitor")), "pickle of PCA"),
    "Alarms.to_frame": (lambda d: d.alarms.to_frame(), "copy of the table"),
    "Alarms.incidents_to_frame": (lambda d: d.alarms.incidents_to_frame(), "copy of the table"),
    "Alarms.plot": (lambda d: closed(d.alarms.plot()), "pyplot.plot"),
    "Alarms.of_key": (lambda d: eh.Fleet(eh.Monitor(warm_up=20)).update(d.keys, d.X).of_key("key 0"), "X.T @ X"),
    "Fleet.update": (lambda d: eh.Fleet(K).update(d.keys, d.X), "IncrementalPCA.fit"),
    "Fleet.accept": (lambda d: copy.deepcopy(d.fleet).accept("key 0"), "EmpiricalCovariance.fit"),
    "Fleet.report": (lambda d: d.fleet.report(d.path("fleet.html")), "pyplot.plot"),
    "Fleet.keys": (lambda d: d.fleet.keys(), "nothing"),
    "Fleet.save": (lambda d: d.fleet.save(d.path("fleet")), "pickle of PCA"),
    "Fleet.load": (lambda d: (d.fleet.save(d.path("fleet")), eh.Fleet.load(d.path("fleet"))), "unpickled PCA"),
    "Average.add": (lambda d: eh.Average(d.columns).add(d.plain), "nothing"),
    "Average.loss": (lambda d: d.average.loss(d.X[0]), "nothing"),
    "Average.components": (lambda d: d.average.components(K), "eigh(X.T @ X)"),
    "Hedge": (lambda d: eh.Hedge(d.columns, 1.0), "nothing"),
    "CappedHedge.step": (lambda d: eh.CappedHedge(d.columns, K, 1.0).step(d.losses[0]), "np.sort"),
    "Experts.step": (lambda d: eh.Experts(d.columns, K).step(d.losses[0]), "np.sort"),
    "Experts.bound": (lambda d: eh.Experts(d.columns, K).bound(10.0), "nothing"),
    "experts": (lambda d: eh.experts(d.losses, K), "losses.cumsum()"),
    "capping": (lambda d: eh.capping(d.losses[0], K), "np.sort"),
    "corners": (lambda d: eh.corners(eh.capping(d.losses[0], K), K), "np.sort"),
    "Pair.step": (lambda d: eh.Pair(d.columns, d.columns, 1).step(d.X[0], d.Y[0]), "nothing"),
    "pair": (lambda d: eh.pair(d.X[:250], d.Y[:250], 1), "PLSSVD.fit"),
    "plot.losses": (lambda d: closed(eh.plot.losses(d.run)), "pyplot.plot"),
    "plot.portfolio": (lambda d: closed(eh.plot.portfolio(d.run)), "pyplot.plot"),
    "plot.scree": (lambda d: closed(eh.plot.scree(d.pca)), "pyplot.plot"),
    "plot.loadings": (lambda d: closed(eh.plot.loadings(d.pca)), "pyplot.plot"),
    "plot.biplot": (lambda d: closed(eh.plot.biplot(d.pca, d.X)), "pyplot.plot"),
    "plot.spectrum": (lambda d: closed(eh.plot.spectrum(d.run)), "pyplot.plot"),
    "plot.overview": (lambda d: closed(eh.plot.overview(d.run)), "pyplot.plot"),
    "plot.monitor": (lambda d: closed(eh.plot.monitor(d.alarms)), "pyplot.plot"),
    "kernels": (lambda d: eh.kernels(), "nothing"),
    "learners": (lambda d: eh.learners(), "nothing"),
    "options": (lambda d: eh.options(), "nothing"),
    "set_threads": (lambda d: eh.set_threads(1), "nothing"),
    "river.OnlinePCA.learn_one": (lambda d: d.stream.learn_one(d.dicts[0]), "HalfSpaceTrees.learn_one"),
    "river.OnlinePCA.transform_one": (lambda d: d.stream.transform_one(d.dicts[0]), "HalfSpaceTrees.score_one"),
    "river.OnlinePCA.learn_many": (lambda d: eigenhedge.river.OnlinePCA(K).learn_many(d.frame), "IncrementalPCA.fit"),
    "river.OnlinePCA.transform_many": (lambda d: river_many(d), "PCA.transform"),
    "river.OnlinePCA.save": (lambda d: d.stream.save(d.path("river")), "pickle of PCA"),
    "river.SubspaceAnomaly.learn_one": (lambda d: d.anomaly.learn_one(d.dicts[0]), "HalfSpaceTrees.learn_one"),
    "river.SubspaceAnomaly.score_one": (lambda d: d.anomaly.score_one(d.dicts[0]), "HalfSpaceTrees.score_one"),
    "river.SubspaceAnomaly.save": (lambda d: d.anomaly.save(d.path("anomaly")), "pickle of PCA"),
    "Client.create": (on_service(lambda client, d: new_stream(d)), "nothing"),
    "Client.stream": (on_service(lambda client, d: list(new_stream(d).learn(d.X.tolist()))), "json.dumps"),
    "Client.streams": (on_service(lambda client, d: client.streams()), "nothing"),
    "Client.backup": (on_service(lambda client, d: client.backup()), "nothing"),
    "Client.close": (on_service(lambda client, d: client.close()), "nothing"),
}

#: Calls that compare all pairs of rows, each with the name of its peer.
CALLS_ON_PAIRS = {
    "KernelPCA.fit": (lambda d: eh.KernelPCA(K).fit(d.X), "KernelPCA.fit"),
    "KernelPCA.fit_transform": (lambda d: eh.KernelPCA(K).fit_transform(d.X), "KernelPCA.fit"),
    "KernelPCA.transform": (lambda d: d.kernel_pca.transform(d.X), "KernelPCA.transform"),
    "KernelPCA.inverse_transform": (lambda d: d.kernel_pca.inverse_transform(d.X[:9, :K]), "KernelPCA.inverse_transform, 9 rows"),
    "KernelPCA.score_samples": (lambda d: d.kernel_pca.score_samples(d.X), "KernelPCA.transform"),
    "OnlineKernelPCA.fit": (lambda d: eh.OnlineKernelPCA(K, kernel="rbf").fit(d.X), "KernelPCA.fit"),
    "OnlineKernelPCA.partial_fit": (lambda d: eh.OnlineKernelPCA(K, kernel="rbf").partial_fit(d.X), "KernelPCA.fit"),
    "OnlineKernelPCA.transform": (lambda d: d.online_kernel_pca.transform(d.X), "KernelPCA.transform"),
    "OnlineKernelPCA.inverse_transform": (
        lambda d: d.online_kernel_pca.inverse_transform(d.X[:9, :K]),
        "KernelPCA.inverse_transform, 9 rows",
    ),
    "OnlineKernelPCA.score_samples": (lambda d: d.online_kernel_pca.score_samples(d.X), "KernelPCA.transform"),
    "OnlineKernelPCA.score": (lambda d: d.online_kernel_pca.score(d.X), "KernelPCA.transform"),
    "OnlineKernelPCA.save": (lambda d: d.online_kernel_pca.save(d.path("kernel")), "pickle of PCA"),
    "KernelRidge.fit": (lambda d: eh.KernelRidge().fit(d.X[:, 1:], d.X[:, 0]), "KernelRidge.fit"),
    "KernelRidge.predict": (lambda d: d.ridge.predict(d.X[:, 1:], return_std=True), "GaussianProcessRegressor.predict"),
    "kernel_mean": (lambda d: eh.kernel_mean(d.X), "rbf_kernel(X)"),
    "mmd": (lambda d: eh.mmd(d.X, d.Y), "rbf_kernel(X)"),
    "preimage": (lambda d: eh.preimage(d.X, np.full(d.rows, 1 / d.rows)), "KernelPCA.inverse_transform, 9 rows"),
}

#: Arguments of each command, and the name of its peer.
COMMANDS = {
    "run": (lambda d: [d.table(), "-k", str(K)], "IncrementalPCA.fit"),
    "monitor": (lambda d: [d.table(), "--warm-up", "40"], "EmpiricalCovariance.fit"),
    "compare": (lambda d: [d.table(), "-k", str(K)], "IncrementalPCA.fit"),
    "scree": (lambda d: [d.table()], "PCA.fit, all"),
    "transform": (lambda d: [d.half(0), d.table(), "--out", d.path("out.csv")], "PCA.transform"),
    "reconstruct": (lambda d: [d.half(0), d.coordinates(), "--out", d.path("out.csv")], "PCA.inverse_transform"),
    "inspect": (lambda d: [d.half(0)], "eigenhedge --version"),
    "merge": (lambda d: [d.half(0), d.half(1), "--out", d.path("merged")], "X.T @ X"),
    "export": (lambda d: [d.half(0), "--out", d.path("model.npz")], "eigenhedge --version"),
    "make": (
        lambda d: ["iid", "--rows", str(d.rows), "--dim", str(d.columns), "--out", d.path("made.csv")],
        "eigenhedge --version",
    ),
    "pair": (lambda d: [d.file("few.npy", d.X[:250]), d.file("few2.npy", d.Y[:250]), "-k", "1"], "PLSSVD.fit"),
    "experts": (lambda d: [d.file("losses.npy", d.losses), "-k", str(K)], "losses.cumsum()"),
    "pca": (lambda d: [d.table(), "-k", str(K)], "PCA.fit"),
    "completions": (lambda d: ["bash"], "eigenhedge --version"),
    "reproduce": (lambda d: ["list"], "eigenhedge --version"),
    "demo": (lambda d: ["--no-report", "--draws", "1"], "eigenhedge --version"),
    "serve": (None, "IncrementalPCA.fit"),
}
COMMANDS_ON_PAIRS = {
    "kernel-pca": (lambda d: [d.table(), "-k", str(K)], "KernelPCA.fit"),
    "kernel-ridge": (lambda d: [d.table(), "--target", "0"], "KernelRidge.fit"),
    "preimage": (lambda d: [d.table(), "-k", str(K)], "KernelPCA.inverse_transform"),
    "mmd": (lambda d: [d.table(), d.file("Y.npy", d.Y)], "rbf_kernel(X)"),
}


def river_many(d):
    if "river_model" not in d.__dict__:
        d.river_model = eigenhedge.river.OnlinePCA(K)
        d.river_model.learn_many(d.frame)
    return d.river_model.transform_many(d.frame)


def command(name, arguments):
    """Return a call that runs a command of the program."""
    return serve_rows if arguments is None else lambda d: d.run_program(name, *arguments(d))


def bound(function):
    """Return a call of a function of ``eigenhedge.bounds``."""
    numbers = {"eta": 1.0, "best": 10.0, "k": K, "experts": 32, "rows": 1000, "alpha": 0.01, "changes": 3, "squares_norm": 10.0,
               "prior": 1.0, "offset": 1.0, "first_square": 1.0, "divergence": 5.0, "ceiling": 100.0, "scale": 1.0,
               "setting": eh.bounds.Setting(1.0, K, 32), "dimension": 32}  # fmt: skip
    arguments = [numbers[name] for name in inspect.signature(function).parameters]
    return lambda d: function(*arguments)


def all_calls():
    """Return the calls by name, with the name of the peer, and True for a comparison of all pairs."""
    lists = [(CALLS, False), (CALLS_ON_PAIRS, True)]
    found = {name: (call, peer, on_pairs) for calls, on_pairs in lists for name, (call, peer) in calls.items()}
    for name in eh.bounds.__all__:
        if name != "Setting":
            found[f"bounds.{name}"] = (bound(getattr(eh.bounds, name)), "nothing", False)
    for commands, on_pairs in [(COMMANDS, False), (COMMANDS_ON_PAIRS, True)]:
        found |= {f"eigenhedge {name}": (command(name, one), peer, on_pairs) for name, (one, peer) in commands.items()}
    return found


def public_calls(name, value):
    """Yield the names of the public calls of a module, class or function."""
    if inspect.ismodule(value):
        for inner in value.__all__:
            yield from public_calls(f"{name}.{inner}" if name else inner, getattr(value, inner))
    elif inspect.isclass(value):
        for method in dir(value):
            owner = next((one for one in value.__mro__ if method in vars(one)), object)
            is_ours = owner.__module__.startswith("eigenhedge") and not method.startswith("_")
            # scikit-learn adds methods such as `set_predict_request`.
            if is_ours and not method.endswith("_request") and callable(getattr(value, method)):
                yield f"{name}.{method}"
    elif callable(value):
        yield name


def commands_of(program):
    lines = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout.splitlines()
    start = lines.index("Commands:") + 1
    # Lines that continue a description are indented further.
    names = [line.split()[0] for line in lines[start : lines.index("", start)] if line[2] != " "]
    return [name for name in names if name != "help"]


def differences(program):
    """Return names that are public but not in the list, or in the list but not public, sorted."""
    public = {*public_calls("", eh), *public_calls("river", eigenhedge.river)}
    public |= {f"eigenhedge {name}" for name in commands_of(program)}
    return sorted(public ^ all_calls().keys())


def seconds(call, d, repeats):
    """Return the seconds per call: processor time with children, or clock time for `Client`."""
    if getattr(call, "is_on_service", False):
        clock = time.perf_counter
    else:

        def clock():
            used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
            return sum(one.ru_utime + one.ru_stime for one in used)

    start = clock()
    for _ in range(repeats):
        call(d)
    return (clock() - start) / repeats


def measure(call, peer, d, laps):
    for one in (call, peer):
        one(d)
    least = [seconds(one, d, 1) for one in (call, peer)]
    repeats = [max(1, int(0.01 / max(time, 1e-6))) for time in least]
    for _ in range(laps if least[0] < LONG else 0):
        least = [min(had, seconds(one, d, count)) for one, count, had in zip((call, peer), repeats, least)]
    return least


def growth(few, many):
    return math.log(max(many, 1e-9) / max(few, 1e-9)) / math.log(4.0)


def shown(time):
    unit, scale = next((unit, scale) for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if time >= scale or unit == "µs")
    return f"{time / scale:.3g} {unit}"


def table(results):
    """Return the page of the book as Markdown."""
    sizes = [", ".join(f"{rows:,} × {columns}" for rows, columns in sizes) for sizes in (ROWS, PAIRS)]
    lines = [
        "# Every call",
        "",
        "This page lists the processor time of every command and of every public call of the Python package, with one thread.",
        "`cargo xtask bench calls` measures them and writes the page.",
        "",
        f"The three sizes (rows × columns) are {sizes[0]}. Calls on all pairs of rows (kernels) have {sizes[1]}.",
        "The *growth* in rows and in columns is the exponent of the time between the first size and four times as many. The",
        "ratio is the time of the call divided by that of the peer, at each size. The peer is what people would call instead,",
        "from scikit-learn, River, NumPy or Matplotlib, or a lower bound such as one product. A command also starts the program",
        "and reads a file, and its peer does not. Times of `Client` are times of the clock.",
        "",
        "| call | time | growth in rows | in columns | peer | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name, one in sorted(results.items(), key=lambda item: (item[0].startswith("eigenhedge "), item[0])):
        times, peers = one["seconds"], one["peer_seconds"]
        ratios = "–" if one["peer"] == "nothing" else ", ".join(f"{a / max(b, 1e-9):.2g}" for a, b in zip(times, peers))
        cells = [f"`{name}`", ", ".join(shown(time) for time in times), f"{growth(times[0], times[1]):.1f}",
                 f"{growth(times[0], times[2]):.1f}", f"`{one['peer']}`", ratios]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    program = str(Path(args.program).resolve())
    if wrong := differences(program):
        sys.exit(f"bench/calls.py must list exactly the public calls and commands; it differs in {', '.join(wrong)}")
    eh.set_threads(1)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results = {name: one for name, one in results.items() if name in all_calls()}
    with tempfile.TemporaryDirectory() as folder:
        sizes = (QUICK_ROWS, QUICK_PAIRS) if args.quick else (ROWS, PAIRS)
        tables = [[Data(*size, folder, program) for size in some] for some in sizes]
        try:
            for name, (call, peer, on_pairs) in all_calls().items():
                if args.only in name:
                    found = [measure(call, PEERS[peer], d, 1 if args.quick else 3) for d in tables[on_pairs]]
                    results[name] = {"seconds": [a for a, _ in found], "peer": peer, "peer_seconds": [b for _, b in found]}
                    print(f"{name:36}", *(f"{shown(a):>10} ({a / max(b, 1e-9):8.2g})" for a, b in found), peer, flush=True)
        finally:
            [d.stop() for some in tables for d in some]
    if not args.quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        PAGE.write_text(table(results))


if __name__ == "__main__":
    main()
