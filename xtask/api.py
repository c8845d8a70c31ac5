"""Comparison of the public Rust interface with its snapshots in ``xtask/api``; ``--write`` renews them.

The lines are extracted from the HTML pages of rustdoc, because its JSON output requires a nightly compiler.
"""

import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[1]
#: Crates whose interface is stable.
CRATES = ("eigenhedge", "eigenhedge-io")
ADVICE = """If this is intended: add a line to the section "Unreleased" of CHANGELOG.md that names each item, and run
`cargo xtask api --write`. docs/src/stability.md says which changes need which version."""


def documented(folder: pathlib.Path) -> set[str]:
    """Return the lines of a crate. Pages that ``all.html`` does not list may be left from an older build."""
    lines, modules, name = set(), {""}, folder.name
    listed = (folder / "all.html").read_text("utf-8").partition('id="main-content"')[2]
    for link in re.findall(r'<a href="([^"]*\.html)"', listed):
        module, file = re.fullmatch("(.*/)?(.*)", link).groups("")
        path = f"{name}::{module.replace('/', '::')}{file.split('.')[1]}"
        lines |= {f"{path}: {member}" for member in members((folder / link).read_text("utf-8"))}
        modules.add(module)
    for module in modules:
        path = f"{name}/{module}".rstrip("/").replace("/", "::")
        page = (folder / module / "index.html").read_text("utf-8")
        lines |= {f"{path}: pub use {plain(text)}" for text in re.findall("<code>pub use (.*?)</code>", page, re.DOTALL)}
    return lines


def members(page: str) -> list[str]:
    # The rest of the page lists auto traits and blanket implementations.
    page = page.partition('id="synthetic-implementations"')[0]
    declaration = re.search(r'<pre class="rust item-decl"><code>(.*?)</code></pre>', page, re.DOTALL)
    found = map(plain, declaration[1].splitlines() if declaration else [])
    methods = re.findall('<h4 class="code-header">(.*?)</h4>', page, re.DOTALL)
    traits = page.partition('id="trait-implementations-list"')[2]
    shown = [line for line in [*found, *map(plain, methods)] if len(line) > 1]
    shown = [line for line in shown if not line.startswith(("fn ", "type ", "//", "where"))]
    return shown + [plain(text) for text in re.findall('<h3 class="code-header">(.*?)</h3>', traits, re.DOTALL)]


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", "", text)).split())


def unnamed(changelog: str, changed: set[str]) -> list[str]:
    """Return the names of changed items that do not occur in the section "Unreleased" of the changelog."""
    section = changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]
    return sorted({name_of(line) for line in changed} - set(re.findall(r"\w+", section)))


def name_of(line: str) -> str:
    """Return the name of the item, field, variant or method in a line, or of the type for a trait implementation."""
    path, _, member = line.partition(": ")
    if member.startswith("pub use "):
        return re.split("[: ]", member)[-1].rstrip(";")
    keywords = "pub|fn|const|unsafe|struct|enum|trait|type|static|non_exhaustive"
    name = re.search(rf"\b(?!(?:{keywords})\b)\w+", member)
    return name[0] if name and name[0] != "impl" else path.rsplit("::")[-1]


def main(is_writing: bool) -> None:
    """Compare the snapshots with the documentation, or renew them if the changelog names every change."""
    differences = []
    for crate in CRATES:
        snapshot = ROOT / "xtask" / "api" / f"{crate}.txt"
        saved = set(snapshot.read_text("utf-8").splitlines()) if snapshot.is_file() else set()
        lines = documented(ROOT / "target" / "doc" / crate.replace("-", "_"))
        lacking = unnamed((ROOT / "CHANGELOG.md").read_text("utf-8"), lines ^ saved) if saved else []
        if not is_writing:
            differences += [f"  - {line}" for line in sorted(saved - lines)] + [f"  + {line}" for line in sorted(lines - saved)]
        elif lacking:
            sys.exit(f'the section "Unreleased" of CHANGELOG.md must name: {", ".join(lacking)}')
        else:
            snapshot.write_text("".join(f"{line}\n" for line in sorted(lines)), "utf-8")
            print(f"{snapshot}: {len(lines - saved)} added, {len(saved - lines)} removed")
    if differences:
        sys.exit("\n".join(["the public interface changed:", *differences, ADVICE]))


if __name__ == "__main__":
    main("--write" in sys.argv[1:])
