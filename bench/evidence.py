"""Compare `auto` with tuned trackers and with its members, and measure its loss on corrupted rows.

Usage: evidence.py [--quick] [--only PART] [--data FOLDER] [--rows FILE] [--k K ...] [--processes N] [--out FOLDER]

Parts: field (tuned trackers), whole (members, on whole streams), corruption. The loss of a row is
measured before the row is learned. The first row sets the center and has no loss. Real streams are
read from the folder of --data or EIGENHEDGE_DATA. Missing streams are skipped and listed. With
--rows, only the part "field" runs, on the rows of one .npy file. The script prints a verdict for
each claim. Its status is 1 if a claim fails. It writes evidence.json, evidence.md and evidence.svg
to the folder of --out.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

# NumPy's libraries read these variables when they are loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import evidence_report  # noqa: E402
import evidence_streams  # noqa: E402
import field  # noqa: E402
import numpy as np  # noqa: E402
import results_io  # noqa: E402
import streams  # noqa: E402
import verdicts  # noqa: E402

import eigenhedge  # noqa: E402

#: Options of `auto`, by the name in the results.
VARIANTS = {"auto": {}, "auto, clip 10": {"clip": 10.0}}
if "clip" not in {option["name"] for option in eigenhedge.options()}:
    del VARIANTS["auto, clip 10"]
#: Number of random draws of each corruption.
DRAWS = 4
QUICK_STREAMS, QUICK_ROWS = ("COIL-20", "ELEC2", "three subspaces", "sines"), 300


def losses(rows, k, options):
    return np.asarray(eigenhedge.run(rows, k, **options).expected_losses)[1:]


def beside_field(group, stream, rows, ks):
    """Yield the losses of `auto` and of the best tracker, with a running center and with any center."""
    energy = float((field.centered(rows, ()) ** 2).sum())
    lost = field.tuned(rows, ks)
    for k in ks:
        running = [each for each in lost[k] if each[3] == field.RUNNING]
        families = {family.name: min(each for each in running if each[1] == family.name) for family in field.FAMILIES}
        yield {"group": group, "stream": stream, "rows": len(rows), "n": rows.shape[1], "k": k, "energy": energy,
               **{name: float(losses(rows, k, options).sum()) for name, options in VARIANTS.items()},
               "best": min(running), "best center": min(lost[k]), "families": families}  # fmt: skip


def account(learner):
    """Return the total expected losses of `auto` and of its members so far."""
    summary = learner.summary
    return np.array([summary["expected_loss"], *(member["expected_loss"] for member in summary["members"])])


def beside_members(stream, rows, k):
    """Yield the losses of `auto` and its best member, with and without the loss of a glitch."""
    began = time.perf_counter()
    learner = eigenhedge.Model(rows.shape[1], k)
    glitch = evidence_streams.GLITCHES.get(stream, len(rows))
    learner.learn(rows[:glitch])
    accounts = {stream: account(learner)}
    if glitch < len(rows):
        learner.learn(rows[glitch : glitch + 1])
        charge = account(learner) - accounts[stream]
        learner.learn(rows[glitch + 1 :])
        accounts = {stream: account(learner), stream + evidence_report.UNCHARGED: account(learner) - charge}
    names = [member["name"] for member in learner.summary["members"]]
    for name, lost in accounts.items():
        best = int(np.argmin(lost[1:]))
        yield {"stream": name, "rows": len(rows), "n": rows.shape[1], "k": k, "auto": float(lost[0]),
               "best": float(lost[1 + best]), "member": names[best], "seconds": time.perf_counter() - began}  # fmt: skip


def corrupted(stream, rows, k):
    """Yield the ratio of the losses of the clean rows, with corrupted rows and without."""
    for name, options in VARIANTS.items():
        clean = losses(rows, k, options)
        for kind, corrupt in evidence_streams.CORRUPTIONS.items():
            for draw in range(DRAWS):
                bad, places = corrupt(rows, np.random.default_rng([draw, k]))
                untouched = np.ones(len(rows), dtype=bool)
                untouched[places] = False
                ratio = losses(bad, k, options)[untouched[1:]].sum() / clean[untouched[1:]].sum()
                yield {"stream": stream, "k": k, "options": name, "kind": kind, "draw": draw, "ratio": float(ratio)}


def load(table, stream):
    """Return the rows of a stream, or None if its file is missing."""
    folder = streams.data_folder()
    if folder is None and table is not evidence_streams.MADE:
        return None
    try:
        return np.ascontiguousarray(table[stream](folder))
    except FileNotFoundError:
        return None


def own_rows(file):
    """Return the rows of a .npy file, or of the first array of an .npz file."""
    rows = np.load(file)
    rows = np.ascontiguousarray(rows[rows.files[0]] if hasattr(rows, "files") else rows, dtype=float)
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise ValueError(f"{file} must hold a table of finite numbers with two rows or more")
    return rows


def measure(task):
    """Run a task. Return its part, its stream, and the results, or None for a missing stream."""
    part, (group, stream), ks, limit, file = task
    tables = {"field": evidence_streams.GROUPS.get(group), "whole": evidence_streams.WHOLE,
              "corruption": evidence_streams.IN_SIGHT}  # fmt: skip
    rows = load(tables[part], stream) if file is None else own_rows(file)
    if rows is None:
        return part, stream, None
    rows = rows[:limit]
    ks = [k for k in ks if k < rows.shape[1]]
    if part == "field":
        return part, stream, list(beside_field(group, stream, rows, ks))
    each = {"whole": beside_members, "corruption": corrupted}[part]
    return part, stream, [result for k in ks for result in each(stream, rows, k)]


def tasks(args):
    """Return the tasks: part, group and stream, values of k, maximum number of rows, and file."""
    if args.rows:
        return [("field", ("own", args.rows.stem), args.k, None, args.rows)]
    limit = QUICK_ROWS if args.quick else None

    def wanted(stream):
        return not args.quick or stream in QUICK_STREAMS

    short = [("field", (group, stream), args.k, limit, None)
             for group, table in evidence_streams.GROUPS.items() for stream in table if wanted(stream)]  # fmt: skip
    corruption = [("corruption", ("", stream), [2, 5], limit, None) for stream in evidence_streams.CORRUPTED if wanted(stream)]
    whole = [("whole", ("", stream), [2, 5], limit, None) for stream in evidence_streams.WHOLE if wanted(stream)]
    return [task for task in short + corruption + whole if args.only in (None, task[0])]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"four streams, {QUICK_ROWS} rows; nothing is judged")
    parser.add_argument("--only", choices=["field", "whole", "corruption"])
    parser.add_argument("--data", type=Path, help="folder of the real streams; by default EIGENHEDGE_DATA")
    parser.add_argument("--rows", type=Path, help="a .npy file: the field on these rows and nothing else")
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10], help="directions kept, beside the field")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--out", type=Path, default=Path("target/bench"))
    args = parser.parse_args()
    if args.data is not None:
        if not args.data.is_dir():
            parser.error(f"--data must be a folder, got {args.data}")
        os.environ["EIGENHEDGE_DATA"] = str(args.data)
    if args.rows is not None:
        try:
            n = own_rows(args.rows).shape[1]
        except (OSError, ValueError) as error:
            parser.error(str(error))
        if min(args.k) >= n:
            parser.error(f"--k must be less than {n}, the numbers in a row")
    if min(args.k) < 1:
        parser.error("--k must be at least 1")
    return args


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    results = {"machine": results_io.machine(1), "variants": list(VARIANTS), "skipped": [],
               "field": [], "whole": [], "corruption": []}  # fmt: skip
    print(json.dumps(results["machine"]), flush=True)
    if len(VARIANTS) == 1:
        print("this package has no option clip: nothing is measured with it", flush=True)
    todo = tasks(args)
    with multiprocessing.get_context("spawn").Pool(args.processes) as pool:
        for done, (part, stream, found) in enumerate(pool.imap_unordered(measure, todo), 1):
            minutes = (time.perf_counter() - began) / 60
            print(f"[{done} of {len(todo)}, {minutes:.1f} min] {part}, {stream}", file=sys.stderr, flush=True)
            if found is None:
                results["skipped"].append(f"{part}, {stream}")
            else:
                results[part] += found
    evidence_report.arrange(results)
    judged, results["not judged"] = evidence_report.judge(results)
    results["verdicts"] = [{**each, "holds": None} for each in judged] if args.quick else judged
    results["minutes"] = (time.perf_counter() - began) / 60
    print(evidence_report.markdown(results))
    if not args.rows:
        verdicts.show(results["verdicts"])
        print("".join(f"  not measured: {claim}\n" for claim in results["not judged"]))
    evidence_report.write(results, args.out)
    return 0 if all(verdict["holds"] is not False for verdict in results["verdicts"]) else 1


if __name__ == "__main__":
    sys.exit(main())
