"""Checks of the imports of the Rust crates: the order of modules, cycles between files, and the paths of module files.

In the crates of ``ORDERED``, a module may use only modules above it in a table of ``ARCHITECTURE.md``. In no crate may
files import each other in a circle. A name that a ``mod.rs`` exports with ``pub use`` belongs to its original file. The
imports of ``lib.rs`` and ``main.rs``, which declare all modules, and code under ``#[cfg(test)]`` are ignored.
"""

import pathlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).parents[1]
#: Crates whose modules are ordered: section of ``ARCHITECTURE.md``, and column of its table.
ORDERED = {"crates/eigenhedge/src": ("## Layers", 1), "crates/eigenhedge-io/src": ("## Rows in, rows out", 0)}

#: Path of a module from the root of its crate, and a word, ``::`` or single character with its line number.
Module = tuple[str, ...]
Token = tuple[str, int]


@dataclass
class Source:
    """Imports of a source file: paths with line numbers, and names (or ``*``) that it exports from other files."""

    path: str
    uses: list[tuple[list[str], int]] = field(default_factory=list)
    exports: list[tuple[str, list[str], int]] = field(default_factory=list)


def tokens_of(text: str) -> tuple[list[Token], list[str]]:
    """Return the tokens outside comments and test modules, and the names of test modules in files of their own."""
    tokens, tests, lines = [], [], iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if line.strip() == "#[cfg(test)]":
            indent = line[: -len(line.lstrip())]
            end = next((end for _, end in lines if re.match(rf"{indent}[^ #].*[}};,]$|{indent}[}};,]$", end)), "")
            tests += re.findall(r"^\s*mod (\w+);$", end)
            continue
        found = re.findall(r"//.*|\w+|::|\S", line)
        tokens += [(word, number) for word in found if not word.startswith("//")]
    return tokens, tests


def expand(tokens: list[Token], front: list[str]) -> Iterator[tuple[list[str], str]]:
    """Yield the single paths of a path with groups such as ``a::{b, c}``, each with the name that it imports."""
    words = [word for word, _ in tokens]
    path, at = list(front), 0
    while words[at + 1 : at + 2] == ["::"] and words[at] != "{" and words[at + 2 : at + 3] != ["<"]:
        path.append(words[at])
        at += 2
    word = words[at] if at < len(words) else "self"
    if word == "{":
        depth = 0
        for place in range(at, len(words)):
            depth += (words[place] == "{") - (words[place] == "}")
            if depth == 1 and words[place] in ("{", ",") and words[place + 1 : place + 2] != ["}"]:
                yield from expand(tokens[place + 1 :], path)
            if depth == 0:
                return
    elif word == "self":
        yield path, path[-1] if path else ""
    else:
        yield [*path, word], words[at + 2] if words[at + 1 : at + 2] == ["as"] else word


def source_of(path: str, tokens: list[Token]) -> Source:
    source, is_export = Source(path), False
    words = ["", *(word for word, _ in tokens), "", ""]
    begin = {"crate", "super", "self"}
    begin |= {words[at + 1] for at, word in enumerate(words) if word == "mod" and words[at + 2] == ";"}
    for at, (word, number) in enumerate(tokens):
        before = words[at]
        if word == "use":
            is_export = before in ("pub", ")")
        elif word == ";":
            is_export = False
        elif word in begin and before not in ("::", "mod") and words[at + 2] == "::":
            for used, name in expand(tokens[at : at + 2000], []):
                if is_export:
                    source.exports.append((name, used, number))
                else:
                    source.uses.append((used, number))
    return source


def sources_of(files: dict[str, str]) -> dict[Module, Source]:
    """Return the imports of each module, except test modules."""
    parsed = {path: tokens_of(text) for path, text in files.items()}
    tests = {pathlib.PurePath(path).with_name(name) for path, (_, names) in parsed.items() for name in names}
    sources = {}
    for path, (tokens, _) in sorted(parsed.items()):
        module = pathlib.PurePath(path).with_suffix("")
        if tests.isdisjoint([module, *module.parents]):
            is_file_of_folder = module.name in ("mod", "lib", "main")
            source = source_of(path, tokens)
            if path in ("lib.rs", "main.rs"):
                source.uses.clear()
            sources[module.parts[:-1] if is_file_of_folder else module.parts] = source
    return sources


def absolute(module: Module, path: list[str]) -> Module | None:
    """Convert a path in a module to a path from the root of the crate, or return None if it leads above the root."""
    found = list(module)
    for name in path:
        if name == "crate":
            found = []
        elif name == "super" and not found:
            return None
        elif name == "super":
            found.pop()
        elif name != "self":
            found.append(name)
    return tuple(found)


def resolve(sources: dict[Module, Source], module: Module, path: list[str], depth: int = 0) -> Module | None:
    """Return the module whose file contains the item of a path. Exports are followed."""
    whole = absolute(module, path)
    found: Module = ()
    for name in whole or ():
        if (*found, name) in sources:
            found = (*found, name)
            continue
        for export, target, _ in sources[found].exports if found in sources and depth < 8 else ():
            if export in (name, "*"):
                leads = resolve(sources, found, [*target[:-1], name] if export == "*" else target, depth + 1)
                if leads is not None and leads != found:
                    return leads
        break
    return None if whole is None or found not in sources else found


def circles(files: dict[str, str]) -> list[str]:
    sources = sources_of(files)
    edges: dict[str, set[str]] = {}
    for module, source in sources.items():
        used = {resolve(sources, module, path) for path, _ in source.uses} - {None, module, ()}
        edges[source.path] = {sources[target].path for target in used if target is not None}
    reached = {file: reachable(edges, file) for file in edges}
    groups = {frozenset(other for other in reached[file] if file in reached[other]) for file in edges if file in reached[file]}
    said = []
    for group in sorted(map(sorted, groups)):
        uses = (f"{file} uses {' and '.join(sorted(edges[file] & set(group)))}" for file in group)
        said.append(f"files in a circle: {', '.join(uses)}")
    return said


def reachable(edges: dict[str, set[str]], start: str) -> set[str]:
    """Return the files that a file uses directly or indirectly."""
    seen: set[str] = set()
    todo = [start]
    while todo:
        new = edges.get(todo.pop(), set()) - seen
        seen |= new
        todo += new
    return seen


def misplaced(files: dict[str, str]) -> list[str]:
    """Return a message for each module with child modules whose own file is not ``mod.rs``."""
    folders = [path.removesuffix(".rs") for path in sorted(files)]
    return [f"{name}.rs must be {name}/mod.rs" for name in folders if any(path.startswith(f"{name}/") for path in files)]


def table_of(text: str, section: str, column: int) -> list[str]:
    """Return the names in a column of the first table of a section, up to a row that names a folder in ``crates/``."""
    names: list[str] = []
    rows = text.partition(f"\n{section}\n")[2].partition("\n|")[2].split("\n\n")[0].splitlines()
    for row in rows:
        cell = f"|{row.lstrip('|')}".split("|")[column + 1]
        if "`crates/" in cell:
            break
        names += (name.rstrip("/") for name in re.findall("`([^`]*)`", cell))
    return names


def out_of_order(table: list[str], files: dict[str, str]) -> list[str]:
    """Return a message for each use of a lower module, and for each difference between a crate and its table."""
    uses, modules = {}, set()
    for module, source in sources_of(files).items():
        for path, line in [*source.uses, *((path, line) for _, path, line in source.exports)] if module else []:
            used = absolute(module, path)
            if used and used[0] != module[0]:
                uses.setdefault((module[0], used[0]), f"{source.path}:{line}")
        modules |= set(module[:1])
    faults = [f"module {name} is not in the table" for name in sorted(modules - set(table))]
    faults += [f"the table names {name}, which is no module" for name in table if name not in modules]
    for (module, used), place in sorted(uses.items()):
        if used not in modules:
            faults.append(f"{place} uses crate::{used}: name the module that it comes from")
        elif module in table and used in table and table.index(used) > table.index(module):
            faults.append(f"{place} uses {used}, which stands below {module}")
    return faults


def files_of(folder: pathlib.Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.rs")}


def main() -> None:
    faults = []
    for package in [*sorted((ROOT / "crates").iterdir()), ROOT / "python", ROOT / "xtask"]:
        files = files_of(package / "src")
        faults += [f"{package.relative_to(ROOT)}/src: {fault}" for fault in misplaced(files) + circles(files)]
    architecture = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    for folder, (section, column) in ORDERED.items():
        found = out_of_order(table_of(architecture, section, column), files_of(ROOT / folder))
        faults += [f"{folder}: {fault}" for fault in found]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
