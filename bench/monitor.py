"""Measure `eigenhedge monitor` against its requirements: real sensors with labels, injected faults, simulations.

Run `python bench/monitor.py --program target/release/eigenhedge [NAME ...]` with EIGENHEDGE_DATA
(or --data) set to the folder of real data. Parts without their data are skipped. No monitor sees
labels, and all runs of a data set have the same options. Further parts are in `monitor_field.py`
and `monitor_plants.py`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

import monitor_field
import monitor_plants
import numpy as np
import pandas as pd
from monitor_harness import SETUP, alarmed, bar, data, frame, inside, lacks, monitor, note, reported
from sklearn.metrics import roc_auc_score


def skab() -> None:
    """Measure SKAB by its published protocol: 34 runs, with the first 400 rows of each for training."""
    table = pd.read_csv(data("skab.csv"))
    table = table[table["run"] != "anomaly-free/anomaly-free"].reset_index(drop=True)
    rows = table.drop(columns=["datetime", "label_anomaly", "label_changepoint"])
    after = (table.groupby("run").cumcount() >= 400).to_numpy()
    y = table["label_anomaly"].to_numpy()[after] > 0
    for lags, least in (("5", 0.78), ("0", 0.75)):
        out, _ = monitor(rows, "--group-by", "run", "--warm-up", "400", "--lags", lags)
        found = reported(out)[after]
        f1 = 2 * (y & found).sum() / (y.sum() + found.sum())
        false, missed = found[~y].mean(), (~found)[y].mean()
        auc = roc_auc_score(y, out["score"].to_numpy()[after])
        bar(f"SKAB, lags {lags}: F1 of alarm or incident >= {least}", f"{f1:.3f} (missed {missed:.3f})", f1 >= least)
        if lags == "5":
            bar(f"SKAB, lags {lags}: false alarm or incident <= 0.15", f"{false:.4f}", false <= 0.15)
            bar(f"SKAB, lags {lags}: AUC >= 0.85", f"{auc:.3f}", auc >= 0.85)
        else:
            note(f"SKAB, lags {lags}: false alarm or incident {false:.3f}, AUC {auc:.3f}")


def tep_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the normal training run of TEP and its other runs."""
    table = pd.read_csv(data("tep.csv"))
    is_training = table["run"] == "d00_train"
    return table[is_training].drop(columns=["run", "t", "label_fault"]), table[~is_training].reset_index(drop=True)


def tep() -> None:
    """Measure TEP, trained on the normal run: AUC, fault rows found, and false alarms."""
    train, table = tep_tables()
    rows = table.drop(columns=["t", "label_fault"])
    for alpha in (0.05, 0.01):
        out, _ = monitor(rows, "--group-by", "run", "--lags", "2", "--limit", f"auto:{alpha}", train=train)
        whole = table.assign(score=out["score"], alarm=alarmed(out), found=reported(out)).dropna(subset=["score"])
        false = whole.loc[whole["label_fault"] == 0, ["alarm", "found"]].mean()
        if alpha == 0.05:
            holds = alpha / 1.5 <= false["alarm"] <= 1.5 * alpha
            bar(f"TEP: false alarms at {alpha} within a factor 1.5", f"{false['alarm']:.4f}", holds)
    note(f"TEP: alarm or incident on normal rows {false['found']:.4f}")
    bar("TEP: false alarms at 0.01 <= 0.015", f"{false['alarm']:.4f}", false["alarm"] <= 0.015)
    runs = {run: rows for run, rows in whole.groupby("run") if rows["label_fault"].nunique() > 1}
    auc = {run: roc_auc_score(rows["label_fault"] > 0, rows["score"]) for run, rows in runs.items()}
    found = {run: rows.loc[rows["label_fault"] > 0, "found"].mean() for run, rows in runs.items()}
    delay = [r.loc[(r["label_fault"] > 0) & r["found"], "t"].min() - 160 for r in runs.values()]
    mean, worst = np.mean(list(auc.values())), min(auc, key=auc.get)
    bar("TEP: mean AUC >= 0.99", f"{mean:.4f}", mean >= 0.99)
    bar("TEP: every AUC >= 0.93", f"{auc[worst]:.4f} ({worst}; median delay {np.median(delay)})", auc[worst] >= 0.93)
    mean, worst = np.mean(list(found.values())), min(found, key=found.get)
    bar("TEP: alarm or incident >= 0.97 of fault rows", f"{mean:.4f} (least {found[worst]:.3f}, {worst})", mean >= 0.97)


def simulated(rng: np.random.Generator, rows: int, remembered: float, columns: int = 10, factors: int = 3) -> np.ndarray:
    """Return rows of a factor model. `remembered` is the autocorrelation of factors and noise."""

    def process(width: int) -> np.ndarray:
        steps = np.sqrt(1 - remembered**2) * rng.standard_normal((rows, width))
        state = rng.standard_normal(width)
        for t in range(rows):
            state = remembered * state + steps[t]
            steps[t] = state
        return steps

    made = process(factors) @ rng.standard_normal((factors, columns)) + 0.7 * process(columns)
    return made / made.std(axis=0)


def rates(streams: int = 26, rows: int = 2400) -> None:
    """Measure false alarms on simulated rows, independent and with autocorrelation 0.9."""
    rng = np.random.default_rng(1)
    for remembered in (0.0, 0.9):
        tables = [frame(simulated(rng, rows, remembered)).assign(run=f"r{i}") for i in range(streams)]
        for alpha, factor in ((0.05, 1.5), (0.01, 1.5), (0.001, 2.0)):
            out, _ = monitor(pd.concat(tables), "--group-by", "run", "--limit", f"auto:{alpha}", "--differences", "off")
            # The first rows of a stream have no reference of their own yet, and are excluded.
            is_own = out.groupby("run").cumcount() >= 400
            found, pooled = out.loc[is_own, "alarm"].mean(), out.loc[~is_own & out["score"].notna(), "alarm"].mean()
            name = f"simulated, remembering {remembered}: false alarms at {alpha} within a factor {factor}"
            text = f"{found:.5f} of {is_own.sum()} ({pooled:.5f} by the pooled reference)"
            bar(name, text, alpha / factor <= found <= factor * alpha)


def drift(streams: int = 12) -> None:
    """Measure faults of 4 standard deviations during drifts of 2 and 8 standard deviations."""
    rng = np.random.default_rng(2)
    for size in (2.0, 8.0):
        false, quiet, hit, by_alarm, late, found, faults = [], [], [], [], [], 0, 0
        for _ in range(streams):
            rows = simulated(rng, 4400, 0.0)
            rows[400:] += size * rng.choice([-1.0, 1.0], 10) * (np.arange(4000) / 4000)[:, None]
            y = np.zeros(4400, bool)
            for start in (1200, 2000, 2800, 3600):
                rows[start : start + 100, rng.integers(10)] += 4 * rng.choice([-1.0, 1.0])
                y[start : start + 100] = True
            out, _ = monitor(frame(rows), "--events-detail")
            alarm = alarmed(out)
            false.append(alarm[400:][~y[400:]].mean())
            quiet.append(reported(out)[400:][~y[400:]].mean())
            hit.append(reported(out)[y].mean())
            by_alarm.append(alarm[y].mean())
            for start in (1200, 2000, 2800, 3600):
                first = np.flatnonzero(alarm[start : start + 100])
                faults, found = faults + 1, found + (len(first) > 0 and first[0] < 20)
                late.append(first[0] if len(first) else 100)
        bar(f"drift {size}: false alarms <= 0.015", f"{np.mean(false):.4f}", np.mean(false) <= 0.015)
        bar(f"drift {size}: every fault has an alarm within 20 rows", f"{found} of {faults}, latest {max(late)}", found == faults)
        shares = f"{np.mean(hit):.3f} (by alarm {np.mean(by_alarm):.3f}; {np.mean(quiet):.3f} of other rows)"
        bar(f"drift {size}: alarm or incident >= 0.9 of fault rows", shares, np.mean(hit) >= 0.9)


def plant(rng: np.random.Generator, rows: np.ndarray, kind: str, start: int, length: int) -> tuple[np.ndarray, int]:
    """Return the rows with an injected fault, and the index of the first faulty column."""
    rows, column = rows.copy(), int(rng.integers(rows.shape[1]))
    deviation, part = rows[:, column].std(), slice(start, start + length)
    if kind == "bias":
        rows[part, column] += 10 * deviation * rng.choice([-1, 1])
    elif kind == "spike":
        rows[start, column] += 10 * deviation * rng.choice([-1, 1])
    elif kind == "noise":
        rows[part, column] += 4 * deviation * rng.standard_normal(len(rows[part]))
    elif kind == "stuck":
        rows[part, column] = rows[start, column]
    elif kind == "drift":
        rows[part, column] += 10 * deviation * np.linspace(0, 1, len(rows[part]))
    elif kind == "broken":
        rows[part, column] = rng.permutation(rows[part.start - length : part.start, column])[: len(rows[part])]
    elif kind == "group":
        rows[part, column : column + 5] += 3 * rows.std(axis=0)[column : column + 5]
    return rows, column


KINDS = ("bias", "spike", "noise", "stuck", "drift", "broken", "group")
SINGLE = ("bias", "spike", "noise", "stuck")


def planted(
    name: str, rows: np.ndarray, first: int, options: list[str], train: pd.DataFrame | None, bars: dict[str, float]
) -> None:
    """Measure faults injected into real rows, some hundreds of rows apart.

    A fault is found if one of its first 20 rows has an alarm or is inside an incident. An incident
    that was open before counts too, and the share of such faults is printed. For faults in one
    column, the first cause of the alarm with the largest ratio of score to limit must be this
    column. `bars` contains the required shares by kind.
    """
    rng = np.random.default_rng(3)
    clean = monitor(frame(rows), *options, train=train)[0].iloc[first:]
    right, single = 0, 0
    for kind in KINDS:
        found, by_alarm, is_open, faults = 0, 0, 0, 0
        for offset in (0, 1, 2):
            starts = [int(s) for s in np.linspace(first, len(rows) - 60, 12)][offset::3]
            made, columns = rows.copy(), []
            for start in starts:
                made, column = plant(rng, made, kind, start, 40)
                columns.append(column)
            out, _ = monitor(frame(made), *options, train=train)
            for start, column in zip(starts, columns):
                here = out.iloc[start : start + 20]
                found, faults = found + reported(here).any(), faults + 1
                here = here[alarmed(here)]
                by_alarm += len(here) > 0
                is_open += inside(out)[start - 1]
                if kind in SINGLE and len(here) > 0:
                    single += 1
                    worst = (here["score"] / here["limit"]).idxmax()
                    if kind == "stuck":
                        worst = here.index[-1]
                    right += here.loc[worst, "cause_1"] == f"x{column}"
        share = found / faults
        line = f"{name}, {kind}: alarm or incident within 20 rows"
        text = f"{share:.2f} (by alarm {by_alarm / faults:.2f}; in an incident before {is_open / faults:.2f})"
        if kind in bars:
            bar(f"{line} >= {bars[kind]}", text, share >= bars[kind])
        else:
            note(f"{line}: {text}")
    note(f"{name}, without a fault: alarms {alarmed(clean).mean():.4f}, alarm or incident {reported(clean).mean():.4f}")
    if bars:
        bar(f"{name}: first cause right >= 0.9", f"{right} of {single}", right >= 0.9 * single)


def pems() -> None:
    """Measure faults injected into traffic speeds."""
    rows = np.load(data("pems228.npz"))["rows"].astype(float)
    planted("PeMS", rows, 760, [], None, {"bias": 0.9, "spike": 0.9, "noise": 0.9, "stuck": 0.8})


def tep_planted() -> None:
    """Measure faults injected into a normal run of TEP."""
    train, table = tep_tables()
    rows = table[table["run"] == "d00_te"].drop(columns=["run", "t", "label_fault"]).to_numpy()
    named = train.set_axis([f"x{i}" for i in range(train.shape[1])], axis=1)
    planted("TEP", rows, 60, ["--lags", "2"], named, {"bias": 0.9})


def elec2() -> None:
    """Measure faults injected into electricity market data. There is no requirement."""
    rows = pd.read_csv(data("elec2.csv")).drop(columns=["label_class", "period"]).to_numpy()[-6000:]
    rows = rows + 1e-6 * np.random.default_rng(0).standard_normal(rows.shape)
    planted("ELEC2", rows, 800, ["--lags", "auto"], None, {})


def shifts(streams: int = 20) -> None:
    """Measure the detected starts of level shifts, and the time between false reports."""
    rng = np.random.default_rng(4)
    near, found = [], 0
    for _ in range(streams):
        rows = simulated(rng, 1600, 0.0)
        rows[1000:, rng.integers(10)] += 4
        _, events = monitor(frame(rows), "--events-detail")
        kinds = events[events["kind"].isin(["rise", "fall"])] if len(events) else events
        here = [] if len(kinds) == 0 else [abs(s - 1000) for s in kinds["start"] if abs(s - 1000) <= 100]
        found += len(here) > 0
        near += [min(here)] if here else [100]
    bar(
        "level shifts of 4 deviations: located within 10 rows",
        f"{sum(d <= 10 for d in near)} of {streams}, median {np.median(near)}",
        sum(d <= 10 for d in near) >= 0.95 * streams,
    )
    for remembered in (0.0, 0.8):
        tables = [frame(simulated(rng, 8400, remembered)).assign(run=f"r{i}") for i in range(8)]
        _, events = monitor(
            pd.concat(tables), "--group-by", "run", "--change-time", "2000", "--differences", "off", "--events-detail"
        )
        reports = 0 if len(events) == 0 else int(events["kind"].isin(["rise", "fall"]).sum())
        between = 8 * 8000 / max(reports, 1)
        name = f"changes, remembering {remembered}: 2000 rows between false reports within a factor 4"
        bar(name, f"{between:.0f}", 500 <= between <= 8000)


def causes(streams: int = 12) -> None:
    """Measure the first causes of alarms for faults of 30 rows in one of ten columns."""
    rng = np.random.default_rng(7)
    for independent in (0, 2):
        for lags in ("0", "2"):
            for size in (3.0, 5.0, 10.0):
                right = alarms = 0
                for _ in range(streams):
                    rows = simulated(rng, 1600, 0.0)
                    rows[:, 10 - independent :] = rng.standard_normal((1600, independent))
                    columns = {start: rng.integers(10) for start in range(600, 1600, 200)}
                    for start, column in columns.items():
                        rows[start : start + 30, column] += size * rng.choice([-1.0, 1.0])
                    out, _ = monitor(frame(rows), "--lags", lags)
                    for start, column in columns.items():
                        here = out.iloc[start : start + 30]
                        here = here[alarmed(here)]
                        alarms, right = alarms + len(here), right + (here["cause_1"] == f"x{column}").sum()
                name = f"causes, faults of {size:.0f} deviations, {independent} columns independent, lags {lags}: >= 0.98 right"
                bar(name, f"{right / alarms:.4f} of {alarms} alarms", right >= 0.98 * alarms)


def taught() -> None:
    """Check that a fault of 300 rows does not change the Q and T² of later rows."""
    rng = np.random.default_rng(5)
    rows = simulated(rng, 1500, 0.0)
    faulty = np.vstack([rows[:900], rows[:300] + 6 * np.eye(10)[4], rows[900:]])
    clean, spoiled = monitor(frame(rows))[0], monitor(frame(faulty))[0]
    for column in ("q", "t2"):
        a, b = clean[column].to_numpy()[900:], spoiled[column].to_numpy()[1200:]
        apart = (a != b).sum()
        bar(f"a fault of 300 rows: {column} of later rows equal", f"{apart} of {len(a)} rows differ", apart == 0)


def cost(rows: int = 6000) -> None:
    """Measure the time per row for 64 columns, compared with `run` with a forgetting leader."""
    table = frame(simulated(np.random.default_rng(6), rows, 0.0, 64, 8))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        table.to_csv(path, index=False)
        times = {}
        learner = ["-k", "8", "--learner", "forgetting-leader", "--forget", "0.998", "--standardize", "warmup:400"]
        for name, command in (("run", ["run", str(path), *learner]), ("monitor", ["monitor", str(path), "-k", "8"])):
            best = np.inf
            for _ in range(3):
                start = time.perf_counter()
                subprocess.run([SETUP.program, *command, "--quiet", "--out", str(Path(folder) / "out.csv")], check=True)
                best = min(best, time.perf_counter() - start)
            times[name] = best
    ratio = times["monitor"] / times["run"]
    bar("cost at 64 columns at most 1.5 x run", f"{ratio:.2f} ({1e6 * times['monitor'] / rows:.0f} us a row)", ratio <= 1.5)


#: Files and folders that each part needs from the folder of real data.
NEEDS = {
    "skab": ("skab.csv",),
    "tep": ("tep.csv",),
    "pems": ("pems228.npz",),
    "tep_planted": ("tep.csv",),
    "elec2": ("elec2.csv",),
    "tables": ("monitoring/adbench",),
    "series": ("monitoring/nab",),
    "engines": ("monitoring/cmapss_fd001.csv",),
    "plants": ("plants",),
}
PARTS = {
    "skab": skab,
    "tep": tep,
    "pems": pems,
    "tep_planted": tep_planted,
    "elec2": elec2,
    "normal": monitor_field.normal,
    "tables": monitor_field.tables,
    "series": monitor_field.series,
    "engines": monitor_field.engines,
    "plants": monitor_plants.plants,
    "long": monitor_field.long,
    "warmup": monitor_field.warmup,
    "rates": rates,
    "drift": drift,
    "shifts": shifts,
    "causes": causes,
    "taught": taught,
    "cost": cost,
}


def main() -> None:
    """Measure the named parts, or all parts. Print the requirements that are not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PARTS, []], metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--program", default=SETUP.program)
    parser.add_argument("--data", default=os.environ.get("EIGENHEDGE_DATA"))
    args = parser.parse_args()
    SETUP.program, SETUP.data = args.program, Path(args.data) if args.data else None
    for name, measure in PARTS.items():
        if args.names and name not in args.names:
            continue
        reason = lacks(NEEDS.get(name, ()))
        if reason is not None:
            print(f"skipped {name}: {reason}")
            continue
        start = time.time()
        measure()
        note(f"({name}: {time.time() - start:.0f} s)")
    missed = [name for name, _, holds in SETUP.bars if not holds]
    print(f"{len(SETUP.bars) - len(missed)} of {len(SETUP.bars)} bars met" + "".join(f"\n  missed: {name}" for name in missed))


if __name__ == "__main__":
    main()
