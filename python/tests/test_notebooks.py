"""The notebook pages of the book are equal to the text, code, output and plots of the scripts.

With ``EIGENHEDGE_WRITE=1``, the test writes the pages and plots instead.
"""

import ast
import contextlib
import io
import os
import pathlib
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
BOOK = ROOT / "docs" / "src"
CELL, TEXT = "# %%", "# %% [markdown]"
SCRIPTS = [path for path in sorted((ROOT / "python" / "examples").glob("*.py")) if CELL in path.read_text()]
STYLE = {"svg.hashsalt": "eigenhedge", "svg.fonttype": "none", "figure.max_open_warning": 0, "font.size": 9, "savefig.dpi": 60}
NUMBER, LONG_NUMBER = re.compile(r"-?\d+\.\d+"), re.compile(r"-?\d+\.\d{2,}(?:e-?\d+)?")


def test_there_are_notebooks():
    assert {path.stem for path in SCRIPTS} == {"sensor_drift", "anomalies", "kernel_features"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_page_shows_what_the_script_does(path):
    page, pictures = rendered(path)
    target = BOOK / f"notebook-{path.stem.replace('_', '-')}.md"
    for name, picture in pictures.items():
        assert len(picture) < 60_000, f"{name} has {len(picture)} characters"
    if os.environ.get("EIGENHEDGE_WRITE"):
        target.write_text(page)
        for name, picture in pictures.items():
            (BOOK / name).write_text(picture)
    assert page == target.read_text(), "the page is stale: see CONTRIBUTING.md"
    for name, picture in pictures.items():
        assert same_picture(picture, (BOOK / name).read_text()), f"{name} is stale: see CONTRIBUTING.md"


def rendered(path):
    """Return the page of a script, and its plots by name."""
    lines, pictures, names = [f"<!-- Made from python/examples/{path.name} by its test. -->"], {}, {}
    plt.close("all")
    with matplotlib.rc_context(STYLE):
        for cell in re.split(r"^(?=# %%)", path.read_text(), flags=re.MULTILINE)[1:]:
            head, _, body = cell.partition("\n")
            if head == TEXT:
                lines += ["", *(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())]
                continue
            assert head == CELL, head
            printed = execute(body, names)
            lines += ["", "```python", body.strip(), "```"]
            if printed:
                lines += ["", "```text", printed.rstrip(), "```"]
            for number in plt.get_fignums():
                name = f"figures/notebook-{path.stem.replace('_', '-')}-{len(pictures) + 1}.svg"
                pictures[name] = svg(plt.figure(number))
                lines += ["", f"![Picture of the code above]({name})"]
            plt.close("all")
    return "\n".join(lines) + "\n", pictures


def execute(code, names):
    """Run a cell. Return its output, with the value of its last expression unless it draws."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if value is not None and not plt.get_fignums():
                print(repr(value))
    return printed.getvalue()


def svg(figure):
    """Return the plot as SVG text, with rounded numbers and without redundant attributes."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    lines = "\n".join(line.strip() for line in text.getvalue().splitlines())
    # Group names are unused. The definition of a tick has its style too.
    lines = re.sub(r'<g id="[^"]*"', "<g", lines)
    lines = re.sub(r'(<use [^>]*) style="stroke: #000000; stroke-width: [\d.]+"', r"\1", lines)
    return re.sub(r"<[^>]*>", lambda tag: LONG_NUMBER.sub(rounded, tag[0]), lines) + "\n"


def rounded(number):
    return f"{float(number[0]):.1f}"


def same_picture(a, b):
    """Return True if two plots have equal text, and numbers that differ by at most half a point."""
    a, b = (re.sub(r'base64,[^"]*"', '"', text) for text in (a, b))
    # Names of clip paths and markers are hashes of their numbers, and change with rounding.
    a, b = (re.sub(r"\b[mp][0-9a-f]{10}\b", "", text) for text in (a, b))
    if NUMBER.sub("", a) != NUMBER.sub("", b):
        return False
    return np.allclose(*([float(number) for number in NUMBER.findall(text)] for text in (a, b)), rtol=0, atol=0.5)


def test_pictures_that_differ_are_found():
    assert same_picture('<path d="M 1.00 2.00"/>', '<path d="M 1.01 2.00"/>')
    assert not same_picture('<path d="M 1.00 2.00"/>', '<path d="M 3.00 2.00"/>')
    assert not same_picture('<path d="M 1.00 2.00"/>', '<path d="M 1.00 2.00" fill="red"/>')
