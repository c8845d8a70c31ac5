"""Print results, and write them as tables for the book and as plots."""

import json
import os
import platform
from pathlib import Path
from statistics import median

import numpy as np
import scipy
import sklearn
import verdicts

import eigenhedge

OURS = "eigenhedge tracking"


def show_table(rows):
    print(f"{'stream':<18}{'auto':>10}{'best member':>13}{'allowed':>10}{'IncrementalPCA':>16}{'best fixed':>12}  member")
    for name, case in rows.items():
        numbers = [case["auto"], case["best member loss"], case["allowed"], case["IncrementalPCA"], case["best fixed"]]
        cells = "".join(f"{x:>{w}.2f}" for x, w in zip(numbers, (10, 13, 10, 16, 12)))
        print(f"{name:<18}{cells}  {case['best member']}{'' if case['within'] else '   NOT WITHIN'}", flush=True)


def show_case(case):
    print(f"\n{case['stream']}, {case['rows']} rows, n={case['n']}, k={case['k']}: best fixed subspace {case['best']:.4g}")
    for label, seconds in case["seconds"].items():
        laps = verdicts.ratios(case, label, OURS)
        loss = loss_cell(case, label)
        ratio = f"{median(laps):>9.2f} times tracking ({min(laps):.2f} to {max(laps):.2f})"
        print(f"  {label:<34}{1e6 * median(seconds):>10.1f} µs a row {ratio:<42} loss over best {loss}", flush=True)


def loss_cell(case, label):
    """Return the loss divided by the best loss, or the number of rows if the time ran out."""
    loss = case["losses"][label]
    return f"- ({case['used'][label]} rows)" if loss is None else f"{loss / case['best']:.3f}"


def write(results, folder):
    (folder / "peers.json").write_text(json.dumps(results, indent=1))
    (folder / "peers.md").write_text(markdown(results))
    names = ["peers.json", "peers.md"]
    if results.get("linear"):
        names += pictures(results, folder)
    print(f"written to {folder}: {', '.join(names)}; {results['minutes']:.1f} minutes")


def machine(threads):
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
                "scikit-learn": sklearn.__version__, "eigenhedge": eigenhedge.__version__}  # fmt: skip
    model = "unknown"
    if Path("/proc/cpuinfo").exists():
        lines = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return {"processor": model, "cores": os.cpu_count(), "threads of the peers": threads,
            "threads of eigenhedge": 1, **versions}  # fmt: skip


def about(machine):
    return ", ".join(f"{name} {value}" for name, value in machine.items())


def rows_of(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def markdown(results):
    parts = [f"Measured on: {about(results['machine'])}.\n"]
    two_threads = results.get("two threads") or {}
    for cases, title in [(results.get("linear"), ""), (two_threads.get("linear"), ", peers with two threads")]:
        if cases:
            for k in sorted({case["k"] for case in made_up(cases)}):
                parts += [f"### Time a row in µs, k = {k}{title}\n", times_table(made_up(cases), k)]
    if results.get("linear"):
        parts += ["### Loss over that of the best fixed subspace\n", losses_table(results["linear"])]
    if "table" in results:
        header = ["stream", "rows × n, k", "auto", "best member", "allowed", "IncrementalPCA", "best fixed subspace"]
        rows = [
            [name, f"{c['rows']} × {c['n']}, {c['k']}", f"{c['auto']:.2f}", f"{c['best member loss']:.2f} ({c['best member']})",
             f"{c['allowed']:.2f}", f"{c['IncrementalPCA']:.2f}", f"{c['best fixed']:.2f}"]
            for name, c in results["table"].items()
        ]  # fmt: skip
        parts += ["### `auto` without tuning\n", rows_of(header, rows)]
    if "kernel" in results:

        def figure(key, value):
            return f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"

        cases = results["kernel"].items()
        rows = [[name, ", ".join(figure(key, value) for key, value in case.items())] for name, case in cases]
        parts += ["### Kernels\n", rows_of(["what", "figures"], rows)]
    parts += ["### Where a peer wins\n", "".join(f"- {line}\n" for line in verdicts.peers_that_win(results))]
    rows = [[verdicts.WORDS[each["holds"]].strip(), verdicts.sentence(each)] for each in results["verdicts"]]
    return "\n".join([*parts, "### Verdicts\n", rows_of(["", "claim"], rows)])


def made_up(cases):
    """Return the cases of synthetic streams. Only names of real streams start with a capital."""
    return [case for case in cases if not case["stream"][0].isupper()]


def times_table(cases, k):
    """Return a table of the median time over laps and streams for each n, and its ratio to tracking."""
    cases = [case for case in cases if case["k"] == k]
    rows_of_size = {case["n"]: case["rows"] for case in cases}
    rows = []
    for label in cases[0]["seconds"]:
        cells = []
        for n in rows_of_size:
            here = [case for case in cases if case["n"] == n]
            time = median(median(case["seconds"][label]) for case in here)
            ratio = median(median(verdicts.ratios(case, label, OURS)) for case in here)
            least = min(case["used"][label] for case in here)
            cells.append(f"{1e6 * time:.1f} ({ratio:.2f})" + (f", {least} rows" if least < rows_of_size[n] else ""))
        rows.append([label, *cells])
    return rows_of(["in brackets: times tracking", *(f"n = {n}, {count} rows" for n, count in rows_of_size.items())], rows)


def losses_table(cases):
    header = ["stream", *cases[0]["losses"]]
    rows = [[f"{c['stream']}, n = {c['n']}, k = {c['k']}", *(loss_cell(c, label) for label in c["losses"])] for c in cases]
    return rows_of(header, rows)


def pictures(results, folder):
    """Plot time against n, and losses as bars. Return the names of the files written to `folder`."""
    try:
        import matplotlib
    except ImportError:
        print("no pictures: matplotlib is not installed")
        return []
    matplotlib.use("Agg")
    from matplotlib import pyplot

    cases = made_up(results["linear"])
    kept = sorted({case["k"] for case in cases})
    figure, panels = pyplot.subplots(1, len(kept), figsize=(7 + 4 * len(kept), 6), sharey=True, squeeze=False)
    for k, axes in zip(kept, panels[0]):
        plot_times(axes, [case for case in cases if case["k"] == k])
        axes.set(xlabel="n, numbers in a row", title=f"Time to learn from a row, k = {k}")
    panels[0][0].set_ylabel("µs a row, median over streams and laps")
    finish(figure, panels[0][-1], results, folder / "peers-time.png")

    cases = [c for c in results["linear"] if (c["n"] == 64 and c["k"] == 10) or c["stream"][0].isupper()]
    figure, axes = pyplot.subplots(figsize=(11, 6))
    labels = list(cases[0]["losses"])
    for i, label in enumerate(labels):
        at = [j + (i - len(labels) / 2) * 0.8 / len(labels) for j in range(len(cases))]
        heights = [(c["losses"][label] or float("nan")) / c["best"] for c in cases]
        axes.bar(at, heights, width=0.8 / len(labels), label=label, hatch=None if label.startswith("eigenhedge") else "//")
    axes.set_yscale("log")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(cases)), [f"{c['stream']}\nn={c['n']}\nk={c['k']}" for c in cases])
    axes.set(ylabel="loss over that of the best fixed subspace", title="Loss: below the line is better than any fixed subspace")
    finish(figure, axes, results, folder / "peers-loss.png")
    return ["peers-time.png", "peers-loss.png"]


def plot_times(axes, cases):
    sizes = sorted({case["n"] for case in cases})
    for label in cases[0]["seconds"]:
        times = [median(median(c["seconds"][label]) for c in cases if c["n"] == n) for n in sizes]
        is_ours = label.startswith("eigenhedge")
        axes.loglog(sizes, [1e6 * t for t in times], marker="o", label=label, linewidth=2.5 if is_ours else 1.2,
                    linestyle="-" if is_ours else "--")  # fmt: skip
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.minorticks_off()
    axes.grid(alpha=0.3)


def finish(figure, axes, results, path):
    from matplotlib import pyplot

    axes.legend(fontsize=8, bbox_to_anchor=(1.01, 1.0), loc="upper left")
    axes.grid(alpha=0.3)
    figure.text(0.01, 0.01, about(results["machine"]), fontsize=6)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
