"""Shared by the parts of `monitor.py`: the program and its results, the data, and the table of requirements."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass
class Setup:
    """The measured program, the folder of real data, and the requirements so far."""

    program: str = "target/release/eigenhedge"
    data: Path | None = None
    bars: list[tuple[str, str, bool]] = field(default_factory=list)


SETUP = Setup()


def data(name: str) -> Path:
    """Path of a file or folder of real data. It exists if the part lists it among its needs."""
    if SETUP.data is None:
        raise ValueError("EIGENHEDGE_DATA names no folder")
    return SETUP.data / name


def lacks(names: tuple[str, ...]) -> str | None:
    """Reason for skipping a part that needs these files; None if all exist."""
    if names and SETUP.data is None:
        return "EIGENHEDGE_DATA names no folder"
    missing = [name for name in names if not data(name).exists()]
    return f"{SETUP.data} has no {', '.join(missing)}" if missing else None


def bar(name: str, found: str, holds: bool) -> None:
    """Add a line to the table."""
    SETUP.bars.append((name, found, bool(holds)))
    print(f"{'met   ' if holds else 'MISSED'}  {name}: {found}", flush=True)


def note(text: str) -> None:
    """Print a figure without a requirement."""
    print(f"        {text}", flush=True)


def monitor(rows: pd.DataFrame | Path, *options: str, train: pd.DataFrame | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Results and events of the program for a table or a file."""
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
    """Rows with columns named x0, x1, ..."""
    return pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])


def alarmed(out: pd.DataFrame) -> np.ndarray:
    """True for rows with an alarm."""
    return out["alarm"].to_numpy() > 0


def inside(out: pd.DataFrame) -> np.ndarray:
    """True for rows inside an incident. `state` is not enough: it is "alarm" if a row has both."""
    return out["incident"].notna().to_numpy()


def reported(out: pd.DataFrame) -> np.ndarray:
    """True for rows with an alarm or inside an incident."""
    return alarmed(out) | inside(out)
