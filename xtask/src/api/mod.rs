//! Snapshots of the public Rust interface in `xtask/api`.
//!
//! Sources are parsed, not compiled, because the JSON output of `rustdoc` needs a nightly compiler. A line is one item,
//! field, variant, method or implementation that a user can name. Macro calls between items are listed as they are
//! written. Items under `doc(hidden)` are left out. The snapshot of the Python package is in the same folder. A test of
//! the package writes it.

mod changelog;
mod exports;
mod modules;
mod signatures;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose interface is stable. The other crates are published only because the program needs them.
const CRATES: [&str; 2] = ["eigenhedge", "eigenhedge-io"];

/// Returns an error that lists the differences between sources and snapshots.
pub fn compare(root: &Path) -> Result<(), String> {
    let differences = changes(root)?.iter().map(Change::to_text).collect::<String>();
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the public interface changed:\n{differences}\
         If this is intended: add a line to the section \"Unreleased\" of CHANGELOG.md that names each item, \
         and run `cargo xtask api --write`. docs/src/stability.md says which changes need which version."
    ))
}

/// Updates the snapshots. Returns an error if the changelog does not name every change.
pub fn write(root: &Path) -> Result<(), String> {
    let log = read(&root.join("CHANGELOG.md"))?;
    let changes = changes(root)?;
    let unnamed =
        changelog::unnamed(&log, changes.iter().flat_map(|change| change.added.iter().chain(&change.removed)));
    let first = changes.iter().all(|change| change.removed.is_empty() && !snapshot(root, change.name).is_file());
    if !unnamed.is_empty() && !first {
        return Err(format!("the section \"Unreleased\" of CHANGELOG.md must name: {}", unnamed.join(", ")));
    }
    for change in changes {
        let text: String = change.lines.iter().map(|line| format!("{line}\n")).collect();
        let path = snapshot(root, change.name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}: {} added, {} removed", path.display(), change.added.len(), change.removed.len());
    }
    Ok(())
}

/// Difference between a crate and its snapshot: added and removed lines.
struct Change {
    name: &'static str,
    lines: BTreeSet<String>,
    added: Vec<String>,
    removed: Vec<String>,
}

impl Change {
    fn to_text(&self) -> String {
        let marked = |mark: char, lines: &[String]| -> String {
            lines.iter().map(|line| format!("  {mark} {line}\n")).collect()
        };
        marked('-', &self.removed) + &marked('+', &self.added)
    }
}

/// Returns the differences of the crates that do not match their snapshots.
fn changes(root: &Path) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    for name in CRATES {
        let lines = exports::lines(&name.replace('-', "_"), &root.join("crates").join(name).join("src"))?;
        let saved = fs::read_to_string(snapshot(root, name)).unwrap_or_default();
        let saved: BTreeSet<String> = saved.lines().map(str::to_owned).collect();
        let added: Vec<String> = lines.difference(&saved).cloned().collect();
        let removed: Vec<String> = saved.difference(&lines).cloned().collect();
        if !(added.is_empty() && removed.is_empty()) {
            changes.push(Change { name, lines, added, removed });
        }
    }
    Ok(changes)
}

fn snapshot(root: &Path, name: &str) -> PathBuf {
    root.join("xtask/api").join(format!("{name}.txt"))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_interface_is_that_of_the_snapshots() {
        compare(&crate::root()).unwrap_or_else(|difference| panic!("{difference}"));
    }
}
