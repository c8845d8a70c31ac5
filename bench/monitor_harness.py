"""Functions for the parts of `monitor.py`: calls of the program, data, and the list of requirements."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass
class Setup:
    """Path of the program, folder of real data, and requirements: name, value, True if met."""

    program: str = "target/release/eigenhedge"
    data: Path | None = None
    bars: list[tuple[str, str, bool]] = field(default_factory=list)


SETUP = Setup()


def data(name: str) -> Path:
    """Return the path of a file or folder of real data. It exists if the part lists it in `NEEDS`."""
    if SETUP.data is None:
        raise ValueError("EIGENHEDGE_DATA names no folder")
    return SETUP.data / name


def lacks(names: tuple[str, ...]) -> str | None:
    """Return the reason for skipping a part that needs these files, or None if all exist."""
    if names and SETUP.data is None:
        return "EIGENHEDGE_DATA names no folder"
    missing = [name for name in names if not data(name).exists()]
    return f"{SETUP.data} has no {', '.join(missing)}" if missing else None


def bar(name: str, found: str, holds: bool) -> None:
    SETUP.bars.append((name, found, bool(holds)))
    print(f"{'met   ' if holds else 'MISSED'}  {name}: {found}", flush=True)


def note(text: str) -> None:
    print(f"        {text}", flush=True)


def monitor(rows: pd.DataFrame | Path, *options: str, train: pd.DataFrame | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run the program on a table or a file. Return the results of the rows, and the events."""
    with tempfile.TemporaryDirectory() as folder:
        table, out, events = (Path(folder) / name for name in ("rows.csv", "out.csv", "events.csv"))
        if isinstance(rows, Path):
            table = rows
        else:
            rows.to_csv(table, index=False)
        command = [SETUP.program, "monitor", str(table), "--out", str(out), "--events", str(events), "--quiet", *options]
        if train is not None:
            train.to_csv(Path(folder) / "train.csv", index=False)
            command += ["--train", str(Path(folder) / "train.csv")]
        subprocess.run(command, check=True)
        has_events = events.exists() and events.stat().st_size > 0
        return pd.read_csv(out), pd.read_csv(events) if has_events else pd.DataFrame()


def frame(rows: np.ndarray) -> pd.DataFrame:
    """Return the rows as a DataFrame with columns named x0, x1, ..."""
    return pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])


def alarmed(out: pd.DataFrame) -> np.ndarray:
    return out["alarm"].to_numpy() > 0


def inside(out: pd.DataFrame) -> np.ndarray:
    """Return True for each row inside an incident. The column `state` is "alarm" for a row with both."""
    return out["incident"].notna().to_numpy()


def reported(out: pd.DataFrame) -> np.ndarray:
    """Return True for each row with an alarm or inside an incident."""
    return alarmed(out) | inside(out)
