"""Every Python block in the book runs. The blocks of a page share their variables."""

import contextlib
import io
import pathlib
import re

import matplotlib
import numpy as np
import pandas as pd
import pytest

import eigenhedge

BOOK = pathlib.Path(__file__).parents[2] / "docs" / "src"
BLOCKS = {page: re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL) for page in BOOK.glob("*.md")}
# test_notebooks.py runs the notebooks, and tests_spark runs the page about Spark.
ELSEWHERE = ("notebook-", "cluster")
PAGES = sorted(page for page, blocks in BLOCKS.items() if blocks and not page.stem.startswith(ELSEWHERE))


def test_the_book_has_python():
    assert len(PAGES) >= 3, BOOK


def names():
    """Return the variables that the book uses without defining them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 64)) * np.linspace(1.0, 3.0, 64)
    sensors = rng.standard_normal((700, 3)) @ rng.standard_normal((3, 6)) + 0.3 * rng.standard_normal((700, 6))
    sensors[600:, 2] += 8.0
    frame = pd.DataFrame(sensors, columns=list("abcdef"), index=pd.date_range("2026-01-01", periods=700, freq="min"))
    unit = X[:, :4] / (2.0 * np.linalg.norm(X[:, :4], axis=1, keepdims=True))
    lines = [f"job {i % 3} ended with {'error' if i % 5 else 'success'}" for i in range(20)]
    return {
        "np": np,
        "eigenhedge": eigenhedge,
        "OnlineKernelPCA": eigenhedge.OnlineKernelPCA,
        "X": X,
        "x": X[0],
        "frame": frame,
        "normal": frame[:500],
        "n": 4,
        "k": 2,
        "rows": unit,
        "new_row": unit[0],
        "days": [np.outer(row, row) for row in unit],
        "lines": lines,
        "lines_of_monday": lines[:10],
        "lines_of_tuesday": lines[10:],
        "atoms": lines[:3],
        "weights": np.array([0.5, 0.3, 0.2]),
        "baskets": [{"tea", "milk"}, {"tea"}, {"bread", "milk"}, {"bread"}],
        "similarity": lambda a, b: float(a == b),
        "anything": object(),
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    shared = names()
    for block in BLOCKS[page]:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block, str(page), "exec"), shared)
