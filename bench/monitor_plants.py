"""Part of `monitor.py` on plants: a water network, oil wells, seasonal rows, and a fleet.

Rows without a fault give the share of alarms, the share of rows inside incidents, and the number of
incidents per 1,000 rows. A fault is found if an incident is reported within it. Faults found by
chance are those that the rate of false incidents alone would find.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from monitor_harness import alarmed, bar, data, inside, monitor, note, reported

YEAR = 8760
WARM_UP = 400
ROWS = {"bias": 60, "stuck": 100, "ramp": 200, "spike": 1}


def watched(rows: pd.DataFrame, *options: str, train: pd.DataFrame | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run the monitor. Return the results by row, and the incidents."""
    out, events = monitor(rows, *options, train=train)
    incidents = events[events["kind"] == "incident"] if len(events) else pd.DataFrame({"reported": [], "cause_1": []})
    return out.set_index("row").reindex(range(len(rows))), incidents


def judged(out: pd.DataFrame, at: np.ndarray, normal: np.ndarray, faults: list[tuple[int, int]]) -> dict[str, float]:
    """Return rates on normal rows, and the numbers of faults found and expected by chance."""
    rate = normal[at].sum() / normal.sum()
    found = sum(((at >= first) & (at <= last)).any() for first, last in faults)
    chance = sum(1 - np.exp(-rate * (last - first + 1)) for first, last in faults)
    rates = {"alarms": alarmed(out)[normal].mean(), "inside": inside(out)[normal].mean(), "false": 1000 * rate}
    return {**rates, "found": found, "chance": chance}


def water() -> None:
    """Measure seven attacks on a water network, with a normal year as the reference."""
    train, rows = (pd.read_csv(data(f"plants/water/{name}.csv.gz")) for name in ("year", "attacked"))
    label = rows.pop("label_attack").to_numpy()
    train, rows = train[rows.columns].iloc[:, 1:], rows.iloc[:, 1:]
    faults = [tuple(np.flatnonzero(label == i)[[0, -1]]) for i in range(1, label.max() + 1)]
    for name, digits in (("as exported", 12), ("rounded to 2 decimals", 2)):
        out, incidents = watched(rows.round(digits), train=train.round(digits))
        of = judged(out, incidents["reported"].to_numpy(int), label == 0, faults)
        told, is_fault = reported(out), label > 0
        spans = [told[first : last + 1] for first, last in faults]
        delay = np.mean([np.argmax(span) / len(span) if span.any() else 1 for span in spans])
        score = 0.5 * (1 - delay) + 0.25 * (told[is_fault].mean() + 1 - told[~is_fault].mean())
        f1 = 2 * (told & is_fault).sum() / (told.sum() + is_fault.sum())
        bar(f"water, {name}: alarms 0.3 to 3 %", f"{100 * of['alarms']:.2f} %", 0.003 <= of["alarms"] <= 0.03)
        bar(f"water, {name}: false incidents per 1,000 rows <= 3", f"{of['false']:.2f}", of["false"] <= 3)
        bar(f"water, {name}: score of the competition >= 0.88", f"{score:.3f}", score >= 0.88)
        bar(f"water, {name}: F1 >= 0.80", f"{f1:.3f}", f1 >= 0.80)


def wells() -> None:
    """Measure wells that fail. A failure is found if it is reported within ten minutes."""
    each, held = [], []
    for file in sorted(data("plants/wells").glob("*.csv.gz")):
        table = pd.read_csv(file)
        label = table.pop("label_class").to_numpy()
        first, onset = int(np.argmax(label != 0)), int(np.argmax(label > 0))
        if first < WARM_UP + 100:
            continue
        out, incidents = watched(table.drop(columns="timestamp"))
        rows = np.arange(len(table))
        faults = [(first, min(len(table) - 1, onset + 599))]
        each.append(judged(out, incidents["reported"].to_numpy(int), (rows >= WARM_UP) & (rows < first), faults))
        held.append(reported(out)[-100:].mean() > 0.5)
    mean = {name: np.mean([of[name] for of in each]) for name in each[0]}
    beyond = sum(of["found"] - of["chance"] for of in each)
    bar("wells: alarms <= 3 %", f"{100 * mean['alarms']:.2f} %", mean["alarms"] <= 0.03)
    bar("wells: normal rows inside incidents <= 18 %", f"{100 * mean['inside']:.1f} %", mean["inside"] <= 0.18)
    bar("wells: false incidents per 1,000 rows <= 3", f"{mean['false']:.2f}", mean["false"] <= 3)
    bar("wells: found beyond chance >= 3", f"{beyond:.1f} ({sum(of['found'] for of in each)} found)", beyond >= 3)
    bar("wells: held to the end in all", f"{sum(held)} of {len(held)}", all(held))


def planted(rows: pd.DataFrame, kind: str) -> tuple[pd.DataFrame, list[tuple[int, int, str]]]:
    """Inject faults into the second year. Return the rows, and (first row, last row, column) of each."""
    rng = np.random.default_rng(1)
    cells = rows.to_numpy(float).copy()
    spread, faults = np.nanstd(cells[:YEAR], axis=0), []
    columns = [j for j in range(cells.shape[1]) if len(np.unique(cells[:YEAR, j])) > 20]
    for i, start in enumerate(range(YEAR + 300, len(cells) - 350, 400)):
        start += int(rng.integers(0, 100))
        j, sign, length = columns[i % len(columns)], rng.choice([-1, 1]), ROWS[kind]
        part = cells[start : start + length, j]
        if kind == "stuck":
            part[:] = cells[start - 1, j] if np.isfinite(cells[start - 1, j]) else np.nanmedian(cells[start - 50 : start, j])
        else:
            size = {"bias": np.full(length, 3.0), "ramp": np.linspace(0, 4, length), "spike": np.full(length, 8.0)}[kind]
            part += sign * spread[j] * size
        faults.append((start, start + max(length, 3) - 1, rows.columns[j]))
    return pd.DataFrame(cells, columns=rows.columns), faults


def seasons() -> None:
    """Measure faults injected into hourly rows. The reference is a year, or 400 rows."""
    for file in sorted(data("plants/seasons").glob("*.csv.gz")):
        rows = pd.read_csv(file).iloc[: 2 * YEAR, 1:]
        rows.columns = [f"c{i}" for i in range(rows.shape[1])]
        for way, skipped in (("year", YEAR), ("400 rows", 0)):

            def watch(table: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
                out, incidents = watched(
                    table.iloc[skipped:].reset_index(drop=True), train=table.iloc[:skipped] if skipped else None
                )
                return out, incidents["reported"].to_numpy(int) + skipped, incidents["cause_1"].to_numpy()

            out, clean, _ = watch(rows)
            normal = np.arange(len(out)) >= (0 if skipped else WARM_UP)
            of = judged(out, clean - skipped, normal, [])
            found, right = {}, {}
            for kind in ROWS:
                table, faults = planted(rows, kind)
                _, at, causes = watch(table)
                hits = [np.flatnonzero((at >= first) & (at <= last)) for first, last, _ in faults]
                by_chance = [((clean >= first) & (clean <= last)).any() for first, last, _ in faults]
                found[kind] = np.mean([len(hit) > 0 for hit in hits]) - np.mean(by_chance)
                right[kind] = np.mean([causes[hit[0]] == fault[2] for hit, fault in zip(hits, faults) if len(hit)] or [0.0])
            name, total = f"{file.name[:-7]}, {way}", sum(found.values())
            bar(f"{name}: alarms <= 3 %", f"{100 * of['alarms']:.2f} %", of["alarms"] <= 0.03)
            most = 2 if skipped else 3
            bar(f"{name}: incidents per 1,000 rows <= {most}", f"{of['false']:.2f}", of["false"] <= most)
            if skipped:
                bar(f"{name}: found beyond chance >= 2.6 of 4", f"{total:.2f}", total >= 2.6)
                for kind, least in (("bias", 0.8), ("stuck", 0.8), ("spike", 0.8), ("ramp", 0.6)):
                    bar(f"{name}: first cause of {kind} >= {least}", f"{right[kind]:.2f}", right[kind] >= least)
            else:
                bar(f"{name}: rows inside incidents <= 12 %", f"{100 * of['inside']:.1f} %", of["inside"] <= 0.12)
                bar(f"{name}: bias found beyond chance >= 0.4", f"{found['bias']:.2f}", found["bias"] >= 0.4)
            note(f"{name}: found beyond chance: {', '.join(f'{kind} {share:.2f}' for kind, share in found.items())}")


def fleet() -> None:
    """Measure fifty machines with different levels, whose rows alternate. Six have a fault of 60 rows."""
    rng = np.random.default_rng(1)
    tables, faults = [], {}
    for machine in range(50):
        rows = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(1000, 5))
        rows = rows * np.exp(0.5 * rng.normal(size=5)) + 20 * rng.normal(size=5)
        if machine % 8 == 7:
            start, j = int(rng.integers(500, 900)), int(rng.integers(5))
            rows[start : start + 60, j] += 3 * rows[:500, j].std()
            faults[machine] = (start, start + 59)
        tables.append(pd.DataFrame(rows, columns=[f"c{i}" for i in range(5)]).assign(machine=f"M{machine:02d}"))
    # Row t of machine m is row 50 t + m of the table.
    table = pd.concat(tables).sort_index(kind="stable").reset_index(drop=True)
    _, incidents = watched(table, "--group-by", "machine")
    at = incidents["reported"].to_numpy(int)
    time, machine = np.divmod(np.arange(len(table)), 50)
    is_fault = np.array([m in faults and faults[m][0] <= t <= faults[m][1] for t, m in zip(time, machine)])
    late = (time >= WARM_UP) & ~is_fault
    early = 1000 * (time[at] < WARM_UP).sum() / (time < WARM_UP).sum()
    false = 1000 * late[at].sum() / late.sum()
    found = sum(((machine[at] == m) & (time[at] >= first) & (time[at] <= last)).any() for m, (first, last) in faults.items())
    bar("fleet: incidents per 1,000 of the first 400 rows of a key <= 1", f"{early:.2f}", early <= 1)
    bar("fleet: false incidents per 1,000 later rows <= 2", f"{false:.2f}", false <= 2)
    bar("fleet: all six found", f"{found} of {len(faults)}", found == len(faults))


def plants() -> None:
    for part in (water, wells, seasons, fleet):
        part()
