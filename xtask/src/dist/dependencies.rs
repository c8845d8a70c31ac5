//! Packages that are compiled into the program or the Python module, according to `cargo metadata`.

use super::toolchain::TARGET;
use super::windows;
use crate::files::{output, read};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Package {
    id: String,
    pub name: String,
    pub version: String,
    pub licence: String,
    pub repository: Option<String>,
    pub folder: PathBuf,
    /// SHA-256 checksum in the registry, or `None` for packages of this workspace.
    pub checksum: Option<String>,
    pub uses: Vec<usize>,
}

/// Returns the packages of the program, which comes first, and of the Python module. Packages of build scripts and
/// procedural macros are included, because their output is compiled into the binaries.
pub fn of_the_program(root: &Path) -> Result<Vec<Package>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked"]);
    cargo.args(["--filter-platform", TARGET, "--filter-platform", windows::TARGET]);
    let text = output(cargo.current_dir(root))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let edges = edges(&metadata);
    let list = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let is_root = |package: &&Value| ["eigenhedge-cli", "eigenhedge-python"].contains(&word(package, "name").as_str());
    let mut open: Vec<String> = list.iter().filter(is_root).map(|package| word(package, "id")).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if reached.insert(id.clone()) {
            open.extend(edges.get(&id).into_iter().flatten().cloned());
        }
    }
    let checksums = checksums(&read(&root.join("Cargo.lock"))?);
    let kept = list.iter().filter(|package| reached.contains(&word(package, "id")));
    let mut packages: Vec<Package> = kept.map(|package| Package::new(package, &checksums)).collect();
    packages.sort_by_key(|package| (package.name != "eigenhedge-cli", package.name.clone(), package.version.clone()));
    let positions: BTreeMap<String, usize> = packages.iter().map(|package| package.id.clone()).zip(0..).collect();
    for package in &mut packages {
        let used = edges.get(&package.id).into_iter().flatten();
        package.uses = used.filter_map(|id| positions.get(id).copied()).collect();
        package.uses.sort_unstable();
    }
    Ok(packages)
}

impl Package {
    fn new(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Self {
        let (name, version) = (word(package, "name"), word(package, "version"));
        let manifest = PathBuf::from(word(package, "manifest_path"));
        Self {
            id: word(package, "id"),
            licence: word(package, "license").replace('/', " OR "),
            repository: package["repository"].as_str().map(str::to_owned),
            folder: manifest.parent().unwrap_or(&manifest).to_owned(),
            checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
            uses: Vec::new(),
            name,
            version,
        }
    }
}

fn word(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn edges(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let needed = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
        kinds.map(|kind| kind["kind"].as_str()).any(|kind| kind != Some("dev"))
    };
    let of = |node: &Value| {
        let dependencies = node["deps"].as_array().into_iter().flatten().filter(needed);
        dependencies.map(|dependency| word(dependency, "pkg")).collect()
    };
    nodes.map(|node| (word(node, "id"), of(node))).collect()
}

fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        line.map(|text| text.trim_matches('"').to_owned())
    };
    let entry = |block: &str| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?));
    lock.split("[[package]]").filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_its_dependencies_and_no_tools() {
        let packages = of_the_program(&crate::root()).unwrap();
        let has = |name: &str| packages.iter().any(|package| package.name == name);
        assert_eq!(packages[0].name, "eigenhedge-cli");
        assert!(has("faer") && has("axum") && has("pyo3") && !has("proptest") && !has("xtask"));
        for package in &packages {
            assert!(!package.licence.is_empty(), "{} has no licence", package.name);
            assert_eq!(package.checksum.is_none(), package.name.starts_with("eigenhedge"), "{}", package.name);
        }
    }
}
