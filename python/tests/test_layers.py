"""The checks of the imports of the Rust crates find what they should."""

import importlib.util
import pathlib

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "xtask" / "layers.py"
ARCHITECTURE = """
## Layers

Text.

| layer | where | what |
|---|---|---|
| ground | `low` `next` | `other` words |
| middle | `mid/` | |
| files | `crates/other` | |
| package | `python/` | |
"""


@pytest.fixture(scope="module")
def layers():
    spec = importlib.util.spec_from_file_location("layers", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def faults(layers, path="lib.rs", text="pub mod mid; use crate::mid::part;"):
    """Return the messages about a valid crate with three modules, after one file is replaced."""
    files = {
        "lib.rs": "pub mod mid; use crate::mid::part;",
        "low.rs": "//! See [`crate::mid`].\nfn low() {} // crate::mid",
        "next.rs": "use crate::low::low;\n#[cfg(test)]\nmod tests {\n    use crate::mid;\n    fn f() {\n    }\n}",
        "mid/mod.rs": "mod part;\n#[cfg(test)]\nmod laws;\nuse part::X;",
        "mid/part.rs": "use super::super::low;\nfn f(low: crate::low::Low<'_>) {}",
        "mid/laws.rs": "use crate::anything;",
        path: text,
    }
    return layers.misplaced(files) + layers.out_of_order(layers.table_of(ARCHITECTURE, "## Layers", 1), files)


def test_a_crate_in_order_passes(layers):
    assert layers.table_of(ARCHITECTURE, "## Layers", 1) == ["low", "next", "mid"]
    assert faults(layers) == [] == faults(layers, "lib.rs", "")


@pytest.mark.parametrize(
    "text",
    [
        "\nuse crate::mid::part;",
        "\nuse crate::{low::{self, low}, mid};",
        "\nfn f<'a>(x: &'a crate::mid::part::X) {}",
        "\nuse super::mid;",
        "\nuse super::{low, mid::part};",
        '\n#[serde(with = "crate::mid::part")]',
    ],
)
def test_an_import_that_goes_up_the_table_fails_however_it_is_written(layers, text):
    assert faults(layers, "next.rs", text) == ["next.rs:2 uses mid, which stands below next"]


def test_a_module_that_is_not_in_the_table_or_not_in_the_crate_fails(layers):
    assert faults(layers, "new.rs", "") == ["module new is not in the table"]
    assert layers.out_of_order(["low"], {}) == ["the table names low, which is no module"]


def test_a_path_that_hides_its_module_fails(layers):
    [fault] = faults(layers, "mid/part.rs", "use crate::Error;")
    assert fault == "mid/part.rs:1 uses crate::Error: name the module that it comes from"


def test_a_module_file_beside_its_folder_fails(layers):
    assert faults(layers, "mid.rs", "")[0] == "mid.rs must be mid/mod.rs"


@pytest.mark.parametrize(
    "back", ["use crate::a::b::X;", "use super::b::{Y, X};", "fn f(x: super::X) {}", "use crate::{a::{self, X}, e};"]
)
def test_files_that_use_each_other_are_found_however_the_path_is_written(layers, back):
    files = {
        "lib.rs": "mod a; mod c; use a::X;",
        "a/mod.rs": "mod b;\nmod d;\npub use b::X;",
        "a/b.rs": "use super::d::f;",
        "a/d.rs": back,
        "c.rs": "use crate::a::X;",
    }
    assert layers.circles(files) == ["files in a circle: a/b.rs uses a/d.rs, a/d.rs uses a/b.rs"]


def test_exports_tests_and_the_root_make_no_circle(layers):
    tests = "#[cfg(test)]\nmod tests {\n    use super::b::X;\n}"
    files = {
        "lib.rs": "mod a;\nuse a::X;\npub struct Root;",
        "a/mod.rs": f"mod b;\npub use b::X;\npub struct Y;\n{tests}",
        "a/b.rs": "use super::Y;\nuse crate::Root;",
    }
    assert layers.circles(files) == []
    files = {"a/mod.rs": "mod b;\nuse b::X;\npub struct Y;", "a/b.rs": "use super::Y;"}
    assert layers.circles(files) == ["files in a circle: a/b.rs uses a/mod.rs, a/mod.rs uses a/b.rs"]
