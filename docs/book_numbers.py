"""Comparison of the numbers in the book with result files.

A block is a paragraph, a list item or a row of a table. A comment in a block, or on the line above it, names the sources
of its numbers:

    <!-- from bench/results/monitor.txt: TEP: mean AUC / 0.99: | most normal, auto:0.01 / alarms -->
    <!-- given: 400, 10 -->

Keys are separated by `` | ``, and their two parts by `` / ``. A key selects the lines of the file that contain its first
part, and in the rest of these lines the first number after its second part, or all numbers without a second part. The
words ``least``, ``most``, ``mean`` and ``count`` reduce these numbers to one. ``from FILE: rows``, above a table, requires
that each row of the table is a line of the file. ``given`` lists settings and sizes.

A number without a source is an error if its block has sources, if it has the form of a measurement, or on a page of
``EVIDENCE``. A source that no number uses is an error too, unless it is above a table.
"""

import re
from dataclasses import dataclass, field
from functools import cache

from book_page import ROOT, Page, strip

#: Pages on which each number must have a source.
EVIDENCE = ("README.md", "evidence.md", "monitor-evidence.md", "benchmarks.md", "learners.md")
#: Pages without measurements of this project, or with generated tables. Python tests check notebooks.
ELSEWHERE = ("references.md", "options.md")
#: Words after or before a number that make it a measurement.
UNITS = """%|µs|ms|s|seconds|second|minutes|hours|bytes|kB|MB|GB|TB|KB|MiB|GiB|times|rows per second|core-hours|core-seconds\
|cycles|GFLOP/s|as fast|as long""".split("|")
MEASURES = ("F1", "AUC", "loses", "lost", "loss is", "bound is", "bound", "ratio is")
REDUCED = {"least": min, "most": max, "mean": lambda values: sum(values) / len(values), "count": len}

#: File and key of a result, or ``"given"`` and a number as written on the page.
Source = tuple[str, str]


@dataclass
class Number:
    text: str
    is_percent: bool
    is_measured: bool

    def rounds(self, value: float) -> bool:
        """Return True if the value, or 100 times the value for a percentage, rounds to this number."""
        written = value_of(self.text)
        half = 0.5 * 10.0 ** -len(self.text.partition(".")[2]) * (1 + 1e-9)
        return written is not None and any(abs(written - value * scale) <= half for scale in (1, 100)[: 1 + self.is_percent])


@dataclass
class Block:
    """Text with its sources. Those above a table are shared by its rows, and a row need not use all of them."""

    text: str = ""
    sources: list[Source] = field(default_factory=list)
    is_shared: bool = False

    def problems(self, read, every: bool) -> list[str]:
        """Return the numbers without a source and the sources without a number. ``read`` returns the text of a file."""
        text = " ".join(self.text.split())
        verbatim = [file for file, key in self.sources if key == "rows" and file != "given"]
        if self.is_shared and text.startswith("|") and verbatim:
            is_head = not text.strip("|-: ") or not re.search("[0-9]", text)
            is_row = any(cells(line) == cells(text) for file in verbatim for line in read(file).splitlines())
            return [] if is_head or is_row else [f"no result has the row {text!r}"]
        text = strip(text)
        problems, used = [], set()
        for number in numbers(text):
            found = {source for source in self.sources if has(source, number, read)}
            used |= found
            if not found and (every or number.is_measured or self.sources):
                problems.append(f'no source has {number.text} in "{text.strip()[:60]}…"')
        unused = [] if self.is_shared else [source for source in self.sources if source not in used]
        return problems + [f"no number uses {source}" for source in unused]


def has(source: Source, number: Number, read) -> bool:
    file, key = source
    return key == number.text if file == "given" else any(map(number.rounds, selected(read(file), key)))


def selected(text: str, key: str) -> list[float]:
    """Return the numbers that a key selects in a result file."""
    word, _, rest = key.partition(" ")
    key = rest if word in REDUCED else key
    line, _, after = key.partition(" / ")
    values = []
    for rest in (each.partition(line)[2] for each in text.splitlines() if line in each):
        found = re.findall("[0-9.,:_]+", rest.partition(after)[2] if after else rest)
        known = [value for value in (value_of(part.strip(".,:_")) for part in found) if value is not None]
        values += known[:1] if after else known
    return [REDUCED[word](values)] if values and word in REDUCED else values


def value_of(text: str) -> float | None:
    """Return the value of a number. Times such as 1:02:03 (hours) or 2:03 (minutes) are in seconds."""
    total = 0.0
    for part in re.sub("[,_]", "", text).split(":"):
        if not re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", part):
            return None
        total = 60 * total + float(part)
    return total


def numbers(text: str) -> list[Number]:
    """Return the numbers in a text without markup, except those that are part of a name or a power."""
    found: list[Number] = []
    for match in re.finditer(r"[0-9]([0-9]|[.,:](?=[0-9]))*", text):
        before, after = text[max(0, match.start() - 12) : match.start()] or " ", text[match.end() : match.end() + 20]
        is_name = before[-1].isalnum() or before[-1] in "_^" or (before[-1] == "-" and before[-2:-1].isalnum())
        if is_name or after[:1].isalpha() or (after and after[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"):
            continue
        unit, before_it = after.lstrip(), before.rstrip()
        has_unit = any(unit.startswith(word) and (word == "%" or not unit[len(word) :][:1].isalnum()) for word in UNITS)
        is_percent, has_measure = unit.startswith("%"), before[-1] == " " and before_it.endswith(MEASURES)
        # In "5 to 7 %", the unit belongs to both numbers.
        if has_unit and found and before_it.endswith(("to", " and", ",")):
            found[-1].is_percent |= is_percent
            found[-1].is_measured = True
        found.append(Number(match[0], is_percent, has_unit or has_measure or "." in match[0]))
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def blocks(page: str) -> list[Block]:
    """Split a page, without its code, into blocks with their sources."""
    found, last = [], Block()
    above: list[Source] = []
    of_table: list[Source] = []
    is_code = False
    for line in map(str.strip, page.splitlines()):
        is_fence = line.startswith("```")
        is_code ^= is_fence
        if is_code or is_fence:
            continue
        text, sources = without_comments(line)
        if line and not text and last.text:
            last.sources += sources
            continue
        is_row, is_text = text.startswith("|"), text[:1] not in ("", "#")
        if (is_row or not is_text or re.match(r"- |\+?[0-9]+\. ", text)) and last.text:
            found.append(last)
            last = Block()
        if not is_text:
            above += sources
            of_table = of_table if line else []
        elif is_row:
            of_table, above = of_table + above, []
            found.append(Block(text, of_table + sources, bool(of_table)))
        else:
            last.text += text + " "
            last.sources += above + sources
            above = []
    return [*found, last]


def without_comments(line: str) -> tuple[str, list[Source]]:
    sources: list[Source] = []
    for comment in re.findall("<!--(.*?)(?:-->|$)", line):
        if given := re.match(r"\s*given: (.*)", comment):
            sources += [("given", item.strip()) for item in given[1].split(", ")]
        elif of_file := re.match(r"\s*from (.*?): (.*)", comment):
            sources += [(of_file[1], key.strip()) for key in of_file[2].split(" | ")]
    return re.sub("<!--.*?(-->|$)", "", line).strip(), sources


def split_comments(page: str) -> list[str]:
    """Return the rows of tables with a bar in a comment, which ends the cell, so that the comment becomes visible."""
    rows = [line for line in page.splitlines() if line.lstrip().startswith("|")]
    return [row for row in rows if any("|" in part.split("-->")[0] for part in row.split("<!--")[1:])]


def is_checked(page: Page) -> bool:
    return page.file not in ELSEWHERE and not page.file.startswith("notebook-")


@cache
def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def wrong(pages: list[Page]) -> list[str]:
    """Return a message for each number without a source, and for each source without a number."""
    problems = []
    for page in filter(is_checked, pages):
        found = [f"a bar in a comment splits {row!r}" for row in split_comments(page.text)]
        found += [problem for block in blocks(page.text) for problem in block.problems(read, page.file in EVIDENCE)]
        problems += [f"{page.name}: {problem}" for problem in found]
    return problems
