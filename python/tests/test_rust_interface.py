"""The snapshots of the Rust interface have the public items of the documentation."""

import importlib.util
import pathlib

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "xtask" / "api.py"


@pytest.fixture(scope="module")
def api():
    spec = importlib.util.spec_from_file_location("rust_interface", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_changed_name_must_occur_in_the_newest_section(api):
    log = "# Log\n\n## [Unreleased]\n- `Model::step` takes a weight.\n\n## [1.0.0]\n- `Fleet::merge`.\n"
    lines = {
        "a::Model: pub fn step(&mut self, row: &[f64])",
        "a::Fleet: pub fn merge(&mut self)",
        "a::Spec: pub eta: f64,",
        "a::Fleet: impl<T: Clone> Clone for Fleet<T>",
        "a: pub use b::{X as Y};",
    }
    assert api.unnamed(log, lines - {"a: pub use b::{X as Y};"}) == ["Fleet", "eta", "merge"]
    assert api.name_of("a: pub use b::c::X;") == "X"


PAGE = """<pre class="rust item-decl"><code>pub struct A&lt;T&gt; {
    pub x: <a href="b">f64</a>,
    <span>// private</span>
}</code></pre><h4 class="code-header">pub fn <a>new</a>(x: &amp;T)
 -&gt; Self</h4><div id="trait-implementations-list"><h3 class="code-header">impl Clone for A</h3>
<h4 class="code-header">fn clone(&amp;self) -&gt; Self</h4></div>
<h2 id="synthetic-implementations"><h3 class="code-header">impl Send for A</h3>"""


def test_a_page_has_its_declaration_its_public_methods_and_its_traits(api):
    assert api.members(PAGE) == ["pub struct A<T> {", "pub x: f64,", "pub fn new(x: &T) -> Self", "impl Clone for A"]


def test_only_listed_pages_are_read(api, tmp_path):
    folder = tmp_path / "a"
    (folder / "m").mkdir(parents=True)
    (folder / "all.html").write_text('<section id="main-content"><a href="m/struct.A.html">')
    (folder / "index.html").write_text("<code>pub use m::A;</code>")
    (folder / "m" / "index.html").write_text("")
    (folder / "m" / "struct.A.html").write_text(PAGE)
    (folder / "m" / "struct.Old.html").write_text(PAGE)
    lines = api.documented(folder)
    assert "a: pub use m::A;" in lines and "a::m::A: pub x: f64," in lines and len(lines) == 5
