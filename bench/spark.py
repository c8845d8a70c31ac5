"""Measure the package on Spark, and compare it with MLlib's PCA and the program.

Run `cargo xtask bench spark [--quick] [--only PART] [--rows N] [--keys N]`. Parts: fit (rows per
second with one and two cores), wide (long rows), batches (loss by the size of a micro-batch,
without Spark), keys (thousands of models, killed and restarted). Each measurement with Spark is a
separate process, because the number of cores of a session cannot be changed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import eigenhedge

K = 5
WIDTH = 64
NAMES = [f"x{i}" for i in range(WIDTH)]


def table(folder: Path, rows: int) -> Path:
    """Write rows with a decaying spectrum around a nonzero mean to eight Parquet files."""
    rng = np.random.default_rng(0)
    scales, turn = 0.9 ** np.arange(WIDTH), np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0]
    place = folder / "rows"
    place.mkdir()
    for part in range(8):
        numbers = (rng.normal(size=(rows // 8, WIDTH)) * scales) @ turn + 3.0
        pq.write_table(pa.table(dict(zip(NAMES, numbers.T))), place / f"{part}.parquet")
    return place


def session(cores: int):
    import eigenhedge.spark as es

    spark = es.session(f"local[{cores}]", {"spark.driver.memory": "4g"})
    spark.sparkContext.setLogLevel("OFF")
    return es, spark


def timed(work, laps: int = 2):
    """Return the shortest time and the last result. The first lap also starts the workers."""
    seconds, found = [], None
    for _ in range(laps):
        start = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


# Measurements in separate processes. The last line of output is a JSON object.


def measure_fit(folder: str, cores: str) -> dict:
    from pyspark.ml.feature import PCA, VectorAssembler

    es, spark = session(int(cores))
    df = spark.read.parquet(folder)
    ours, model = timed(lambda: es.fit(df, K, NAMES))
    assembled = VectorAssembler(inputCols=NAMES, outputCol="v").transform(df).select("v")
    theirs, fitted = timed(lambda: PCA(k=K, inputCol="v", outputCol="z").fit(assembled))
    components, pc = model.components_, fitted.pc.toArray()
    return {
        "ours": ours,
        "mllib": theirs,
        "components": components.tolist(),
        "apart": float(np.abs(components.T @ components - pc @ pc.T).max()),
    }


def measure_wide(width: str, cores: str) -> dict:
    from pyspark.ml.feature import PCA
    from pyspark.ml.functions import array_to_vector

    es, spark = session(int(cores))
    n = int(width)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 8)) @ rng.normal(size=(8, n)) + 0.1 * rng.normal(size=(200, n))
    place = tempfile.mkdtemp()
    rows_arrow = pa.array(list(rows), type=pa.list_(pa.float64()))
    pq.write_table(pa.table({"row": rows_arrow}), os.path.join(place, "rows.parquet"), row_group_size=20)
    df = spark.read.parquet(place)
    found: dict = {}
    seconds, model = timed(lambda: es.fit(df, K, "row"), laps=1)
    found["ours"] = seconds
    exact = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:K]
    found["cosine"] = float(np.linalg.svd(model.components_ @ exact.T)[1].min())
    start = time.perf_counter()
    try:
        PCA(k=K, inputCol="v", outputCol="z").fit(df.select(array_to_vector("row").alias("v")))
        found["mllib"] = time.perf_counter() - start
    except Exception as error:
        found["mllib"] = str(error).strip().splitlines()[0][:120]
    shutil.rmtree(place)
    return found


def measure_keys(folder: str, cores: str) -> dict:
    """Run the query with one model per key on all files. `stopped` may kill this process."""
    es, spark = session(int(cores))
    schema = ", ".join(["machine string", "time long", *(f"{name} double" for name in NAMES[:8])])
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", "1").parquet(f"{folder}/in")
    answers = es.stream_by_key(rows, "machine", 2, NAMES[:8], "time")
    start = time.perf_counter()
    writer = answers.writeStream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    writer.format("parquet").start(f"{folder}/out").awaitTermination()
    return {"seconds": time.perf_counter() - start}


def apart(name: str, *arguments: object) -> dict:
    command = [sys.executable, __file__, "--measure", name, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def fit(options: argparse.Namespace) -> None:
    from sklearn.decomposition import PCA

    with tempfile.TemporaryDirectory() as folder:
        place = table(Path(folder), options.rows)
        rows = pq.read_table(place).to_pandas().to_numpy()
        exact = PCA(K, svd_solver="covariance_eigh").fit(rows).components_
        print(f"fit: {len(rows)} rows x {WIDTH}, k = {K}")
        for cores in (1, 2):
            found = apart("fit", place, cores)
            mine = np.array(found["components"])
            error = np.abs(mine.T @ mine - exact.T @ exact).max()
            ours, theirs = found["ours"], found["mllib"]
            print(f"  {cores} cores: fit {ours:6.2f} s ({len(rows) / ours:,.0f} rows/s), MLlib {theirs:6.2f} s "
                  f"({theirs / ours:.2f} times as long); projector apart from scikit-learn's {error:.1e}")  # fmt: skip
        if options.program:
            for learner in ("leader", "anchored"):
                command = [options.program, "run", *map(str, sorted(place.iterdir())), "-k", str(K)]
                command += ["--learner", learner, "--quiet", "--summary", "json"]
                seconds, _ = timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), laps=1)
                print(
                    f"  program, one thread, every row a trial, {learner}: {seconds:6.2f} s ({len(rows) / seconds:,.0f} rows/s)"
                )


def wide(options: argparse.Namespace) -> None:
    """Fit rows of up to 100,000 columns. The error is printed where MLlib fails."""
    print("wide: 200 rows")
    for width in (1_000, 4_000, 100_000) if options.quick else (1_000, 4_000, 10_000, 65_535, 65_536, 100_000):
        found = apart("wide", width, 2)
        mllib = f"{found['mllib']:.2f} s" if isinstance(found["mllib"], float) else found["mllib"]
        print(
            f"  n = {width}: fit {found['ours']:.2f} s (least cosine with exact directions {found['cosine']:.6f}), MLlib {mllib}"
        )


def batches(options: argparse.Namespace) -> None:
    """Print losses, regrets and bounds by size of micro-batches, with the steps of `learn_stream`."""
    length = 20_000 if options.quick else 100_000
    rng = np.random.default_rng(1)
    n, k = 20, 3

    def plane(rows):
        return rng.normal(size=(rows, k)) @ rng.normal(size=(k, n)) + 0.3 * rng.normal(size=(rows, n))

    streams = {"iid": plane(length), "drift": np.concatenate([plane(length // 10) for _ in range(10)])}
    print(f"batches: {length} rows x {n}, k = {k}, auto; expected loss a row, regret a row, bound a row")
    for name, rows in [*streams.items(), ("adversary", None)]:
        for size in (1, 10, 100, 1000):
            learner = eigenhedge.Model(n, k, center="none")
            steps = len(rows) // size if rows is not None else min(length // size, 2_000)
            for step in range(steps):
                if rows is not None:
                    batch = rows[step * size : (step + 1) * size]
                else:
                    kept = learner.components
                    batch = np.tile(np.linalg.eigh(kept.T @ kept)[1][:, 0], (size, 1))
                learner.step(matrix=batch.T @ batch, rows=len(batch))
            summary, count = learner.summary, steps * size
            regret = summary["regret"] if isinstance(summary["regret"], float) else summary["regret"]["high"]
            cells = [summary["expected_loss"] / count, regret / count, summary["bound"] / count]
            print(
                f"  {name:<10} {size:>5}: " + " ".join(f"{cell:>10.4f}" for cell in cells) + f"  holds: {summary['bound_holds']}"
            )


def keys(options: argparse.Namespace) -> None:
    """Stop a query with many keys three times, and compare its models with single ones."""
    count, each, files = options.keys, 40, 4
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/in")
        numbers = rng.normal(size=(count, each, 2)) @ rng.normal(size=(count, 2, 8)) + 0.1 * rng.normal(size=(count, each, 8))
        for file in range(files):
            part = numbers[:, file * each // files : (file + 1) * each // files]
            frame = pd.DataFrame(part.reshape(-1, 8), columns=NAMES[:8])
            frame["machine"] = np.repeat([f"m{i}" for i in range(count)], part.shape[1])
            frame["time"] = np.tile(np.arange(part.shape[1]) + file * each // files, count)
            frame.sample(frac=1.0, random_state=file).to_parquet(f"{folder}/in/{file}.parquet", index=False)
            os.utime(f"{folder}/in/{file}.parquet", (1_700_000_000 + file,) * 2)
        for batch, how in enumerate([signal.SIGKILL, signal.SIGTERM, signal.SIGTERM]):
            stopped(folder, batch, how)
        found = apart("keys", folder, 2)
        print(f"keys: {count} keys, {each} rows of 8 each; stopped behind each of the first {files - 1} micro-batches, the first "
              f"time by kill -9; the last one took {found['seconds']:.1f} s with two cores")  # fmt: skip
        different, size = compared(folder, numbers)
        print(f"  keys whose answers or model differ from a single learner's: {different}; bytes of state a key: {size:.0f}")


def stopped(folder: str, batch: int, how: signal.Signals) -> None:
    """Start the query, and send the signal `how` after micro-batch `batch` (from 0)."""
    command = [sys.executable, __file__, "--measure", "keys", folder, "2"]
    child = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    commit = Path(folder, "checkpoint", "commits", str(batch))
    while not commit.exists() and child.poll() is None:
        time.sleep(0.05)
    os.killpg(child.pid, how)
    child.wait()


def compared(folder: str, numbers: np.ndarray) -> tuple[int, float]:
    es, spark = session(2)
    answers = pq.read_table(f"{folder}/out").to_pandas().sort_values(["machine", "time"]).set_index("machine")
    models = {row.machine: bytes(row.model) for row in es.models(spark, f"{folder}/checkpoint").collect()}
    different = 0
    for i, rows in enumerate(numbers):
        learner = eigenhedge.Model(8, 2)
        learner._set_feature_names(NAMES[:8])
        expected, losses, _ = learner.step_each(rows)
        told = answers.loc[f"m{i}"]
        same = np.array_equal(told["loss"], losses) and np.array_equal(told["expected_loss"], expected)
        different += not (same and models[f"m{i}"] == learner.to_bytes())
    return different, float(np.mean([len(data) for data in models.values()]))


PARTS = {"fit": fit, "wide": wide, "batches": batches, "keys": keys}
MEASURES = {"fit": measure_fit, "wide": measure_wide, "keys": measure_keys}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(PARTS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--keys", type=int)
    parser.add_argument("--program")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, *arguments = options.measure
        print(json.dumps(MEASURES[name](*arguments)), flush=True)
        return
    options.rows = options.rows or (100_000 if options.quick else 1_000_000)
    options.keys = options.keys or (200 if options.quick else 2_000)
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options)


if __name__ == "__main__":
    main()
