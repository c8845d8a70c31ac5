//! Check of the order of modules: a module may use only modules above it in the tables of
//! `ARCHITECTURE.md`.
//!
//! Sources are read, not compiled. Code under `#[cfg(test)]` may use any module, and so may
//! `lib.rs`, which declares all modules. The tables define a total order, so modules in order have
//! no import cycle.

use crate::circles::{self, File};
use crate::files::{entries, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Crate whose modules are ordered: its sources, the section of `ARCHITECTURE.md` with the table,
/// and the index (from 0) of the table column with the names of modules.
struct Ordered {
    sources: &'static str,
    section: &'static str,
    column: usize,
}

const ORDERED: &[Ordered] = &[
    Ordered { sources: "crates/eigenhedge/src", section: "## Layers", column: 1 },
    Ordered { sources: "crates/eigenhedge-io/src", section: "## Rows in, rows out", column: 0 },
];

/// Checks the order of modules in the crates of [`ORDERED`]. In all packages, checks the paths of
/// module files and that there are no import cycles.
pub fn check(root: &Path) -> Result<(), String> {
    let mut faults = Vec::new();
    let mut report = |sources: &str, found: Vec<String>| {
        faults.extend(found.into_iter().map(|fault| format!("{sources}: {fault}")));
    };
    for package in entries(&root.join("crates"))?.into_iter().chain([root.join("python"), root.join("xtask")]) {
        let sources = package.join("src");
        let (name, files) = (sources.strip_prefix(root).unwrap_or(&sources).to_string_lossy(), files(&sources)?);
        report(&name, misplaced_files(&files));
        report(&name, circles::faults(&files));
    }
    let architecture = read(&root.join("ARCHITECTURE.md"))?;
    for Ordered { sources, section, column } in ORDERED {
        report(sources, out_of_order(&table(&architecture, section, *column), &files(&root.join(sources))?));
    }
    if faults.is_empty() { Ok(()) } else { Err(format!("\n{}", faults.join("\n"))) }
}

pub fn files(sources: &Path) -> Result<Vec<File>, String> {
    let (mut files, mut folders) = (Vec::new(), vec![sources.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push((path.strip_prefix(sources).unwrap_or(&path).to_owned(), read(&path)?));
            }
        }
    }
    Ok(files)
}

/// Returns the names in backquotes in a column of the first table of a section. Stops at a row that
/// names a folder in `crates/`.
fn table(text: &str, section: &str, column: usize) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != section).skip_while(|line| !line.starts_with('|'));
    let cells =
        lines.take_while(|line| line.starts_with('|')).map(|line| line.split('|').nth(column + 1).unwrap_or(""));
    let rows = cells.take_while(|cell| !cell.contains("`crates/"));
    rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(|name| name.trim_end_matches('/').to_owned()).collect()
}

/// Returns a message for each module that has child modules but whose own file is not `mod.rs`.
fn misplaced_files(files: &[File]) -> Vec<String> {
    let is_folder = |folder: &Path| files.iter().any(|(path, _)| path.starts_with(folder));
    let misplaced = files.iter().filter(|(path, _)| is_folder(&path.with_extension("")));
    misplaced.map(|(path, _)| format!("{0}.rs must be {0}/mod.rs", path.with_extension("").display())).collect()
}

/// Returns a message for each use of a lower module, and for each difference between the modules of
/// a crate and its table.
fn out_of_order(table: &[String], files: &[File]) -> Vec<String> {
    let position = |name: &str| table.iter().position(|module| module == name);
    let (mut modules, mut uses) = (BTreeSet::new(), BTreeMap::new());
    for (module, source) in circles::sources(files) {
        let Some(top) = module.first().cloned() else { continue };
        for (path, line) in source.uses.iter().chain(source.exports.iter().map(|(_, used)| used)) {
            let used = circles::absolute(&module, path).and_then(|path| path.into_iter().next());
            if let Some(used) = used.filter(|used| *used != top) {
                uses.entry((top.clone(), used)).or_insert_with(|| format!("{}:{line}", source.path));
            }
        }
        modules.insert(top);
    }
    let missing = modules.iter().filter(|module| position(module).is_none());
    let mut faults: Vec<String> = missing.map(|module| format!("module {module} is not in the table")).collect();
    let gone = table.iter().filter(|name| !modules.contains(*name));
    faults.extend(gone.map(|name| format!("the table names {name}, which is no module")));
    for ((module, other), place) in &uses {
        if !modules.contains(other) {
            faults.push(format!("{place} uses crate::{other}: name the module that it comes from"));
        } else if position(module).is_some_and(|here| position(other) > Some(here)) {
            faults.push(format!("{place} uses {other}, which stands below {module}"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARCHITECTURE: &str = "\
## Layers

Text.

| layer | where | what |
|---|---|---|
| ground | `low` `next` | `other` words |
| middle | `mid/` | |
| files | `crates/other` | |
| package | `python/` | |
";

    /// Returns the messages about a valid crate with three modules, after one file is replaced.
    fn faults(path: &str, text: &str) -> Vec<String> {
        let mut files = BTreeMap::from([
            ("lib.rs", "pub mod mid; use crate::mid::part;"),
            ("low.rs", "//! See [`crate::mid`].\nfn low() {} // crate::mid"),
            ("next.rs", "use crate::low::low;\n#[cfg(test)]\nmod tests {\n    use crate::mid;\n    fn f() {\n    }\n}"),
            ("mid/mod.rs", "mod part;\n#[cfg(test)]\nmod laws;\nuse part::X;"),
            ("mid/part.rs", "use super::super::low;\nfn f(low: crate::low::Low<'_>) {}"),
            ("mid/laws.rs", "use crate::anything;"),
        ]);
        files.insert(path, text);
        let files: Vec<File> = files.iter().map(|(path, text)| (path.into(), text.to_string())).collect();
        let mut faults = misplaced_files(&files);
        faults.extend(out_of_order(&table(ARCHITECTURE, "## Layers", 1), &files));
        faults
    }

    #[test]
    fn a_crate_in_order_passes() {
        assert_eq!(table(ARCHITECTURE, "## Layers", 1), ["low", "next", "mid"]);
        assert_eq!(faults("lib.rs", ""), [""; 0]);
    }

    #[test]
    fn an_import_that_goes_up_the_table_fails_however_it_is_written() {
        for text in [
            "\nuse crate::mid::part;",
            "\nuse crate::{low::{self, low}, mid};",
            "\nfn f<'a>(x: &'a crate::mid::part::X) {}",
            "\nuse super::mid;",
            "\nuse super::{low, mid::part};",
            "\n#[serde(with = \"crate::mid::part\")]",
        ] {
            assert_eq!(faults("next.rs", text), ["next.rs:2 uses mid, which stands below next"], "{text}");
        }
    }

    #[test]
    fn a_module_that_is_not_in_the_table_or_not_in_the_crate_fails() {
        assert_eq!(faults("new.rs", ""), ["module new is not in the table"]);
        let gone = out_of_order(&["low".into()], &[]);
        assert_eq!(gone, ["the table names low, which is no module"]);
    }

    #[test]
    fn a_path_that_hides_its_module_fails() {
        let fault = faults("mid/part.rs", "use crate::Error;");
        assert_eq!(fault, ["mid/part.rs:1 uses crate::Error: name the module that it comes from"]);
    }

    #[test]
    fn a_module_file_beside_its_folder_fails() {
        assert_eq!(faults("mid.rs", ""), ["mid.rs must be mid/mod.rs"]);
    }
}
