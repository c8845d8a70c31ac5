"""The checks of the book find what they should."""

import importlib
import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("book_page", "book_numbers", "check_book"):
        sys.modules.pop(name, None)


def page(text, file="docs/src/a.md"):
    return importlib.import_module("book_page").Page(file, text)


def check():
    return importlib.import_module("check_book")


def numbers():
    return importlib.import_module("book_numbers")


def problems(text, file="", every=False):
    return [problem for block in numbers().blocks(text) for problem in block.problems(lambda name: file, every)]


def test_prose_has_neither_code_nor_tables_nor_folded_parts():
    text = (
        "# Title\n\nOne `--a` [two](b.md).<!-- from f: k -->\n\n```sh\nrun\n```\n\n| x |\n\n"
        "<details><summary>s</summary>\n\nhid\n\n</details>\n- item"
    )
    assert page(text).paragraphs() == ["One code two. ", "item "]
    assert page(text).file == "a.md"


def test_a_block_is_run_or_has_a_reason():
    assert not check().not_run(page("```sh\nrun\n```\n\n```python\nx = 1\n```\n"))
    assert not check().not_run(page("<!-- not run: a file for systemd -->\n```ini\n```\n"))
    assert len(check().not_run(page("```ini\n```\n\n```rust\n```\n"))) == 2


def test_a_link_to_a_missing_file_or_heading_is_found():
    good = page("[a](tutorial.md) [b](#here) [c](https://x.y)\n# Here\n", "docs/src/install.md")
    assert check().broken_links(good) == ["the link #here leads nowhere"]
    bad = page("[a](gone.md) [b](tutorial.md#gone)", "docs/src/new.md")
    assert len(check().broken_links(bad)) == 3
    assert check().anchors("# A `b`, c-d\n## Two words") == ["a-b-c-d", "two-words"] or check().anchors("# A b")


def test_names_are_read_from_a_list():
    assert check().public_names('x = 1\n__all__ = [\n    "a",\n    "b_c",\n]\n') == ["a", "b_c"]


def test_numbers_and_names_with_digits_are_not_spelled():
    found = check().words_of("PCA of 10 rows, the model's x1 (well-known) end.")
    assert found == ["PCA", "of", "rows", "the", "model", "well", "known", "end"]


@pytest.mark.parametrize(
    "word, count",
    [("row", 1), ("table", 2), ("reconstruction", 4), ("the", 1), ("sensor", 2), ("raised", 1), ("added", 2)],
)
def test_syllables_are_counted_as_in_dictionaries(word, count):
    assert check().count_syllables(word) == count


def test_short_words_are_easier_than_long_ones():
    hard = "Notwithstanding multitudinous considerations, generalisation necessitates differentiation."
    assert check().ease(["The cat sat. It saw a dog."]) > 90 and check().ease([hard]) < 0


def test_a_page_over_the_limit_is_found():
    most = check().MOST_WORDS
    assert not check().too_long(page("word " * most)) and not check().too_long(page("word " * 9000, "docs/src/evidence.md"))
    assert len(check().too_long(page("word " * (most + 1)))) == 1


RESULTS = "a: alarms 0.0138, F1 0.785\nb: alarms 0.0015, F1 0.70\n"


def test_numbers_are_compared_with_their_key():
    source = " <!-- from f.txt: a: / alarms | a: / F1 -->\n"
    assert problems("Alarms on 1.4 % of rows, F1 0.79." + source, RESULTS) == []
    assert len(problems("Alarms on 1.3 % of rows, F1 0.79." + source, RESULTS)) == 2
    assert len(problems("Alarms on 1.4 % of rows, F1 0.70." + source, RESULTS)) == 2


def test_the_least_and_the_most_of_several_lines_are_found():
    assert problems("From 0.15 to 1.4 %. <!-- from f.txt: least : / alarms | most : / alarms -->", RESULTS) == []
    assert len(problems("From 0.15 to 1.4 %.", RESULTS)) == 2


def test_measurements_need_a_source_and_settings_do_not():
    assert len(problems("It takes 5 minutes, F1 0.8.")) == 2
    assert problems("The first 400 rows of `x 5 %` and ELEC2 at 10⁻³, AVX-512.") == []
    assert problems("Stopped after 30 seconds. <!-- given: 30 -->") == []
    assert len(problems("Stopped after 31 seconds. <!-- given: 30 -->")) == 2


def test_rows_of_a_table_are_lines_of_the_file():
    text = "<!-- from f.txt: rows -->\n| n | time |\n|---|---|\n| 64 | {} |\n"
    assert problems(text.format("4.0 µs"), "x\n| 64 | 4.0 µs |\n") == []
    assert len(problems(text.format("4.1 µs"), "x\n| 64 | 4.0 µs |\n")) == 1


def test_a_bar_in_a_comment_of_a_table_is_found():
    text = "| 4 | 5 <!-- from f.txt: a | b --> |\n| 4 | 5 <!-- from f.txt: a --> |\n4 <!-- from f.txt: a | b -->\n"
    assert numbers().split_comments(text) == ["| 4 | 5 <!-- from f.txt: a | b --> |"]


def test_a_digit_that_is_changed_by_hand_is_found():
    """Change the digits in blocks with sources one by one, and count the changes that are found."""
    found = tried = 0
    module = numbers()
    for each in filter(module.is_checked, importlib.import_module("book_page").all_pages()):
        for block in (block for block in module.blocks(each.text) if block.sources):
            plain = module.numbers(module.strip(block.text))
            for at in (at for at, sign in enumerate(block.text) if sign in "0123456789"):
                text = block.text[:at] + ("8" if block.text[at] == "7" else "7") + block.text[at + 1 :]
                # A digit in code or in a name is not part of a number.
                if module.numbers(module.strip(text)) != plain:
                    tried += 1
                    found += bool(module.Block(text, block.sources, block.is_shared).problems(module.read, True))
    assert tried > 500 and found > 0.985 * tried, f"{found} of {tried}"
