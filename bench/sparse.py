"""Compare the time per sparse row of the program with dense rows of equal length and with scikit-learn.

`cargo xtask bench sparse` builds the program and runs this script. Each row has word counts of a
document about one of a few topics. The dense rows are the sparse ones with 1e-120 in the empty
cells, so the losses of both agree up to rounding. Times are processor times of whole runs of the
program, and of `fit` of scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import IncrementalPCA, TruncatedSVD

DUST = 1e-120
TOPICS = 20
CASES = [(10_000, 0.001), (10_000, 0.01), (100_000, 0.001), (100_000, 0.01), (1_000_000, 0.001)]
# Limit of numbers in the dense table, which must fit into memory.
DENSE_NUMBERS = 40_000_000


def counts(rows: int, columns: int, share: float, seed: int = 0) -> sp.csr_matrix:
    """Return rows of word counts. Half of the words of a row are from one topic."""
    random = np.random.default_rng(seed)
    filled = max(1, round(share * columns))
    topics = [random.permutation(columns)[: 4 * filled] for _ in range(TOPICS)]
    lines = []
    for _ in range(rows):
        topic = topics[random.integers(TOPICS)]
        words = np.concatenate([random.choice(topic, filled // 2), random.integers(0, columns, filled - filled // 2)])
        lines.append(np.unique(words))
    indices = np.concatenate(lines)
    starts = np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    values = 1.0 + random.poisson(1.0, len(indices))
    return sp.csr_matrix((values, indices, starts), shape=(rows, columns))


def write_libsvm(table: sp.csr_matrix, path: Path) -> None:
    with path.open("w") as file:
        for row in range(table.shape[0]):
            cells = slice(table.indptr[row], table.indptr[row + 1])
            pairs = zip(table.indices[cells], table.data[cells], strict=True)
            file.write("0 " + " ".join(f"{column + 1}:{value:g}" for column, value in pairs) + "\n")


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program: str, table: Path, dim: int, options: list[str]) -> tuple[float, np.ndarray]:
    answers = table.with_suffix(".answers.csv")
    dimension = ["--dim", str(dim)] if table.suffix == ".libsvm" else []
    command = [program, "run", str(table), *dimension, *options, "--threads", "1", "--quiet", "--out", str(answers)]
    before = processor_seconds()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = processor_seconds() - before
    return seconds, np.genfromtxt(answers, delimiter=",", names=True)["expected_loss"]


def fit_seconds(fit: object) -> float:
    start = time.process_time()
    fit()
    return time.process_time() - start


def measure(program: str, columns: int, share: float, arguments: argparse.Namespace) -> dict[str, float]:
    rows = 500 if arguments.quick else 2000
    table = counts(rows, columns, share)
    k, options = arguments.k, ["--learner", arguments.learner, "-k", str(arguments.k), *arguments.options]
    few = max(8, min(rows, DENSE_NUMBERS // columns))
    result: dict[str, float] = {"n": columns, "filled": share, "rows": rows}
    with tempfile.TemporaryDirectory() as folder:
        sparse, dense, start = (Path(folder) / name for name in ("rows.libsvm", "rows.npy", "start.libsvm"))
        write_libsvm(table, sparse)
        write_libsvm(table[:few], start)
        filled = table[:few].toarray()
        np.save(dense, np.where(filled == 0.0, DUST, filled))
        del filled
        seconds, _ = run(program, sparse, columns, options)
        _, losses = run(program, start, columns, options)
        of_dense, dense_losses = run(program, dense, columns, options)
        result["sparse"], result["dense"] = 1e6 * seconds / rows, 1e6 * of_dense / few
        result["ratio"] = result["dense"] / result["sparse"]
        result["difference"] = float(np.max(np.abs(losses - dense_losses)) / np.max(dense_losses))
    batch = max(2 * k, min(256, DENSE_NUMBERS // columns))
    part = table[: min(rows, 4 * batch)]
    incremental = IncrementalPCA(n_components=k, batch_size=batch)
    result["IncrementalPCA"] = 1e6 * fit_seconds(lambda: incremental.fit(part)) / part.shape[0]
    result["TruncatedSVD"] = 1e6 * fit_seconds(lambda: TruncatedSVD(n_components=k, random_state=0).fit(table)) / rows
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--learner", default="tracking")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--out", type=Path)
    parser.add_argument("options", nargs="*", help="options of `eigenhedge run`, after --")
    arguments = parser.parse_args()
    names = ["sparse", "dense", "ratio", "IncrementalPCA", "TruncatedSVD", "difference"]
    print(f"{arguments.learner}, k = {arguments.k}; processor time in µs per row")
    print(f"{'n':>9}{'filled':>9}" + "".join(f"{name:>16}" for name in names))
    results = []
    for columns, share in CASES[2:3] if arguments.quick else CASES:
        case = measure(arguments.program, columns, share, arguments)
        results.append(case)
        cells = "".join(f"{case[name]:>16.1f}" for name in names[:-1]) + f"{case['difference']:>16.1e}"
        print(f"{columns:>9}{100 * share:>8.1f}%{cells}", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
