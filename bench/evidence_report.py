"""Tables, verdicts and a plot of the results of evidence.py."""

import json
from statistics import geometric_mean, median

import evidence_streams
import results_io
import verdicts

DEFAULT, CLIPPED = "auto", "auto, clip 10"
#: Loss ratio for 1 % of the rows multiplied by 10, when all members of `auto` shared one center.
ONE_PERCENT_BEFORE = 3.77
CASES_IN_SIGHT = 16
#: Suffix of the name of a whole stream, for totals without the loss of its glitch.
UNCHARGED = ", glitch not charged"
WHOLE_LIMITS = [
    (["ELEC2, scaled"], 1.02),
    (["weather without glitches", "weather without glitches, scaled"], 1.02),
    (["weather" + UNCHARGED, "weather, scaled" + UNCHARGED], 1.02),
    *(([stream], 1.03) for stream in ("SKAB", "TEP", "Yale-B")),
]
CORRUPTION_LIMITS = [
    *((kind, options, most) for kind in ("one row × 100", "one row × 10⁴") for options, most in ((DEFAULT, 1.4), (CLIPPED, 1.1))),
    ("1 % of rows × 10", DEFAULT, ONE_PERCENT_BEFORE),
]
GROUP_TITLES = {"in sight": "Streams in sight", "other real streams": "Other real streams", "made up": "Made-up streams",
                "own": "Your rows"}  # fmt: skip


def arrange(results):
    """Sort the results in the order of the streams. They arrive in the order in which tasks finish."""
    short = [stream for table in evidence_streams.GROUPS.values() for stream in table]
    results["field"].sort(key=lambda case: (short.index(case["stream"]) if case["stream"] in short else 0, case["k"]))
    whole = [name for stream in evidence_streams.WHOLE for name in (stream, stream + UNCHARGED)]
    results["whole"].sort(key=lambda case: (whole.index(case["stream"]), case["k"]))
    results["corruption"].sort(key=lambda case: (short.index(case["stream"]), case["k"]))


def ratios(cases, variant=DEFAULT, field="best"):
    return [case[variant] / case[field][0] for case in cases]


def summary(name, numbers):
    """Return a table row: name, count, geometric mean, median, maximum, share of at most 1.02."""
    within = sum(number <= 1.02 for number in numbers) / len(numbers)
    return [name, len(numbers), *(f"{f(numbers):.3f}" for f in (geometric_mean, median, max)), f"{100 * within:.0f} %"]


def group_of(results, group):
    return [case for case in results["field"] if case["group"] == group]


def setting(best, with_center=False):
    """Return the family and the setting of the best tracker as text, optionally with its center."""
    _, family, value, center = best
    if not with_center:
        return f"{family} {value:g}"
    return f"{family} {value:g}, {center if isinstance(center, str) else f'memory {center:g}'}"


def at_most(claim, number, most, what="times the loss"):
    return {"claim": claim, "number": number, "most": most, "what": what, "spread": None, "holds": bool(number <= most)}


def corruption_mean(results, kind, options):
    """Return the geometric mean of all ratios of a corruption, or None without results."""
    numbers = [case["ratio"] for case in results["corruption"] if (case["kind"], case["options"]) == (kind, options)]
    return geometric_mean(numbers) if numbers else None


def judge(results):
    """Return a verdict for each claim about `auto`, and the claims that this run does not test."""
    found, open_claims = [], []
    cases = group_of(results, "in sight")
    over = "auto over the best tuned tracker, 16 cases"
    if len(cases) == CASES_IN_SIGHT:
        numbers = ratios(cases)
        worst = max(cases, key=lambda case: case[DEFAULT] / case["best"][0])
        found.append(at_most(f"{over}: geometric mean", geometric_mean(numbers), 0.95))
        found.append(at_most(f"{over}: worst", max(numbers), 1.05, f"times the loss, {worst['stream']}, k = {worst['k']}"))
    else:
        open_claims.append(over)
    for streams, most in WHOLE_LIMITS:
        here = [case for case in results["whole"] if case["stream"] in streams]
        claim = f"auto over its best member, whole stream, {'; '.join(streams)}"
        if here:
            worst = max(here, key=lambda case: case["auto"] / case["best"])
            found.append(at_most(claim, worst["auto"] / worst["best"], most, f"times the loss, k = {worst['k']}"))
        else:
            open_claims.append(claim)
    for kind, options, most in CORRUPTION_LIMITS:
        number = corruption_mean(results, kind, options)
        claim = f"{options}, {kind}: loss on other rows over that without, geometric mean"
        if number is not None:
            found.append(at_most(claim, number, most))
        else:
            open_claims.append(claim)
    return found, open_claims


def markdown(results):
    parts = [f"Measured on: {results_io.about(results['machine'])}.\n"]
    if results["field"]:
        parts += ["### In short\n", short_table(results)]
        for group, title in GROUP_TITLES.items():
            if group_of(results, group):
                parts += [f"### {title}\n", field_table(group_of(results, group), results["variants"])]
    if results["whole"]:
        header = ["stream", "rows × n", "k", "auto", "best member", "ratio"]
        rows = [[case["stream"], f"{case['rows']} × {case['n']}", case["k"], f"{case['auto']:.5g}",
                 f"{case['best']:.5g} ({case['member']})", f"{case['auto'] / case['best']:.3f}"]
                for case in results["whole"]]  # fmt: skip
        parts += ["### Whole streams: `auto` over its best member\n", results_io.rows_of(header, rows)]
    if results["corruption"]:
        parts += ["### Corrupted rows: loss on the others, over that without corruption\n", corruption_table(results)]
    if results["skipped"]:
        parts.append(f"Skipped, because their files are missing: {'; '.join(sorted(results['skipped']))}.\n")
    return "\n".join(parts)


def short_table(results):
    rows = []

    def add(name, cases, variant):
        rows.append(summary(name, ratios(cases, variant)))
        rows.append(summary(f"{name}; trackers with their best center", ratios(cases, variant, "best center")))

    for group, title in GROUP_TITLES.items():
        cases = group_of(results, group)
        for variant in results["variants"] if cases else ():
            add(title + variant.removeprefix(DEFAULT), cases, variant)
    real = [case for case in results["field"] if case["group"] in ("in sight", "other real streams")]
    if real:
        add("All real streams", real, DEFAULT)
    return results_io.rows_of(["`auto` over the best tuned", "cases", "geometric mean", "median", "worst", "within 2 %"], rows)


def field_table(cases, variants):
    """Return a table of losses, relative to the energy around the running mean."""
    ratios_of = ["ratio" + variant.removeprefix(DEFAULT) for variant in variants]
    header = ["stream", "rows × n", "k", "auto", "best tuned", *ratios_of, "best with its center", "ratio"]
    rows = []
    for case in cases:
        best, free = case["best"], case["best center"]
        energy = case["energy"]
        rows.append([
            case["stream"], f"{case['rows']} × {case['n']}", case["k"], f"{case[DEFAULT] / energy:.4g}",
            f"{best[0] / energy:.4g} ({setting(best)})", *(f"{case[variant] / best[0]:.3f}" for variant in variants),
            f"{free[0] / energy:.4g} ({setting(free, with_center=True)})", f"{case[DEFAULT] / free[0]:.3f}",
        ])  # fmt: skip
    return results_io.rows_of(header, rows)


def corruption_table(results):
    streams = list(dict.fromkeys(case["stream"] for case in results["corruption"]))
    rows = []
    for kind in evidence_streams.CORRUPTIONS:
        for options in results["variants"]:
            here = [case for case in results["corruption"] if (case["kind"], case["options"]) == (kind, options)]
            each = [geometric_mean(case["ratio"] for case in here if case["stream"] == stream) for stream in streams]
            numbers = [geometric_mean(each), max(case["ratio"] for case in here), *each]
            rows.append([kind, options, *(f"{number:.3f}" for number in numbers)])
    return results_io.rows_of(["corruption", "options", "geometric mean", "worst", *streams], rows)


def write(results, folder):
    (folder / "evidence.json").write_text(json.dumps(results, indent=1))
    rows = [[verdicts.WORDS[each["holds"]].strip(), verdicts.sentence(each)] for each in results["verdicts"]]
    closing = ["### Verdicts\n", results_io.rows_of(["", "claim"], rows)] if rows else []
    (folder / "evidence.md").write_text("\n".join([markdown(results), *closing]))
    names = ["evidence.json", "evidence.md"]
    if results["field"]:
        picture(results, folder / "evidence.svg")
        names.append("evidence.svg")
    print(f"written to {folder}: {', '.join(names)}; {results['minutes']:.1f} minutes")


def picture(results, path):
    """Plot the ratio of the loss of `auto` to that of the best tuned tracker, for each case and both kinds of center."""
    import matplotlib
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "evidence", "svg.fonttype": "none", "font.family": "sans-serif"})
    groups = [(title, group_of(results, group)) for group, title in GROUP_TITLES.items() if group_of(results, group)]
    count = len(results["field"])
    figure, panels = pyplot.subplots(len(groups), 1, figsize=(7.5, 1.6 + 0.22 * count + 0.4 * len(groups)), sharex=True,
                                     squeeze=False, height_ratios=[len(cases) + 1 for _, cases in groups])  # fmt: skip
    for axes, (title, cases) in zip(panels[:, 0], groups):
        heights = list(range(len(cases), 0, -1))
        running, free = ratios(cases), ratios(cases, field="best center")
        axes.hlines(heights, running, free, color="0.75", linewidth=1.2, zorder=1)
        axes.scatter(running, heights, s=30, color="#1f5fa8", zorder=3, label="trackers centered by the running mean")
        axes.scatter(
            free, heights, s=30, facecolor="white", edgecolor="#c1440e", zorder=2, label="trackers with their best center"
        )
        axes.axvline(1.0, color="black", linewidth=0.9)
        axes.set_yticks(heights, [f"{case['stream']}, k = {case['k']}" for case in cases], fontsize=8)
        axes.set_ylim(0.3, len(cases) + 0.7)
        axes.set_xscale("log")
        axes.grid(axis="x", alpha=0.3)
        axes.set_title(title, fontsize=9, loc="left")
    last = panels[-1, 0]
    everything = ratios(results["field"]) + ratios(results["field"], field="best center")
    marks = [mark for mark in (0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
             if 0.8 * min(everything) <= mark <= 1.25 * max(everything)]  # fmt: skip
    last.minorticks_off()
    last.set_xticks(marks, [f"{mark:g}" for mark in marks])
    last.set_xlabel("loss of auto divided by that of the best tuned tracker")
    figure.legend(*last.get_legend_handles_labels(), loc="upper center", ncols=2, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.35 / figure.get_figheight()))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
