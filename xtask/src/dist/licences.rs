//! Licenses of all software in the binaries, as one text. Each text occurs once, after the names of its packages.

use super::dependencies::Package;
use crate::files::{entries, read};
use std::collections::BTreeMap;
use std::path::Path;

/// Prefixes of the lowercase names of license files, or of a part of such a name after a dot.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

pub fn text(root: &Path, packages: &[Package]) -> Result<String, String> {
    let mut names_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    let mut list = String::new();
    for package in packages.iter().filter(|package| package.checksum.is_some()) {
        let title = format!("{} {}", package.name, package.version);
        list += &format!("{title}: {}\n", package.licence);
        let texts = texts(&package.folder)?;
        if texts.is_empty() {
            without.push(format!("{title}: {}", package.repository.as_deref().unwrap_or("no repository")));
        }
        texts.into_iter().for_each(|text| names_of.entry(text).or_default().push(title.clone()));
    }
    for text in texts(&root.join("crates/eigenhedge-pages/vendor/uplot"))? {
        list += "uPlot: MIT\n";
        names_of.entry(text).or_default().push("uPlot".to_owned());
    }
    list += "Rust standard library: MIT OR Apache-2.0\n";
    let ours = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| read(&root.join(name)));
    let mut all = format!("Licences of the software that is part of eigenhedge\n\n{list}");
    if !without.is_empty() {
        all +=
            "\nThese come without a text; their licences are those of other texts below, and their sources are at:\n";
        without.iter().for_each(|line| all += &format!("{line}\n"));
    }
    for (text, mut names) in names_of {
        names.dedup();
        all += &section(&names.join(", "), &text);
    }
    for text in ours {
        all += &section("Rust standard library, eigenhedge", &text?);
    }
    Ok(all)
}

fn section(names: &str, text: &str) -> String {
    format!("\n{}\n{names}\n{}\n\n{}\n", "=".repeat(80), "-".repeat(80), text.trim_end())
}

fn texts(folder: &Path) -> Result<Vec<String>, String> {
    let is_licence = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start) || name.contains(&format!(".{start}")))
    };
    let mut texts = Vec::new();
    for path in entries(folder)?.into_iter().filter(|path| is_licence(path)) {
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        texts.push(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned());
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::super::dependencies::of_the_program;

    #[test]
    fn every_package_has_a_licence_and_the_vendored_script_has_its_text() {
        let root = crate::root();
        let packages = of_the_program(&root).unwrap();
        let text = super::text(&root, &packages).unwrap();
        for package in packages.iter().filter(|package| package.checksum.is_some()) {
            assert!(text.contains(&format!("{} {}: {}", package.name, package.version, package.licence)));
        }
        assert!(text.contains("Leon Sorokin"), "the licence of uPlot is missing");
    }
}
