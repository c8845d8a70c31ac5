//! Files that the inputs of a command name. An input is a file, a folder of tables, or a pattern.

use eigenhedge_io::{Source, matches_pattern};
use std::path::{Path, PathBuf};

const TABLES: [&str; 26] = [
    "csv", "txt", "tsv", "tab", "dat", "asc", "jsonl", "ndjson", "json", "npy", "npz", "parquet", "pq", "arrow",
    "arrows", "ipc", "feather", "ftr", "libsvm", "svmlight", "svm", "xlsx", "xlsm", "xlsb", "xls", "ods",
];
const WORKBOOKS: [&str; 5] = ["xlsx", "xlsm", "xlsb", "xls", "ods"];

pub fn inputs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Usage> {
    let mut all = Vec::new();
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            let found = files(path, |name| has_extension(name, &TABLES))?;
            if found.is_empty() {
                return Err(Usage(format!("{} is a folder without tables", path.display())));
            }
            all.extend(found);
        } else if name.contains(['*', '?']) && !is_dash(path) && !path.exists() {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let found = files(folder, |other| matches_pattern(&name, other))?;
            if found.is_empty() {
                return Err(Usage(format!("no file matches {}", path.display())));
            }
            all.extend(found);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

fn files(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Usage> {
    let entries = std::fs::read_dir(folder).map_err(|error| Usage(format!("{}: {error}", folder.display())))?;
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> =
        entries.filter_map(name).filter(|name| !name.starts_with('.') && is_wanted(name)).collect();
    names.sort_by_cached_key(|name| (key(name), name.clone()));
    let folder = if folder == Path::new(".") { Path::new("") } else { folder };
    Ok(names.into_iter().map(|name| folder.join(name)).filter(|path| path.is_file()).collect())
}

/// Texts and numbers in turn, so that `a_2` comes before `a_10`.
fn key(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    for sign in name.chars() {
        let last = parts.len() - 1;
        match sign.to_digit(10) {
            Some(digit) => parts[last].1 = parts[last].1.saturating_mul(10).saturating_add(digit.into()),
            None if parts[last].1 == 0 => parts[last].0.push(sign),
            None => parts.push((sign.to_string(), 0)),
        }
    }
    parts
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    extensions.iter().any(|end| name.strip_suffix(end).is_some_and(|stem| stem.ends_with('.')))
}

pub fn is_workbook(path: &Path) -> bool {
    has_extension(&path.to_string_lossy(), &WORKBOOKS)
}

pub fn paths_of(source: &Source) -> Vec<&Path> {
    match source {
        Source::File(path) => vec![path],
        Source::Several(parts) => parts.iter().flat_map(paths_of).collect(),
        _ => Vec::new(),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = ["a_10.csv", "b.csv", "a_2.csv", "a_2024-01-02.csv", "a_2024-01-01.csv"];
        names.sort_by_cached_key(|name| (key(name), (*name).to_owned()));
        assert_eq!(names, ["a_2.csv", "a_10.csv", "a_2024-01-01.csv", "a_2024-01-02.csv", "b.csv"]);
        assert!(has_extension("x.CSV.gz", &TABLES) && has_extension("x.parquet", &TABLES));
        assert!(!has_extension("csv", &TABLES) && !has_extension("x.html", &TABLES) && !has_extension("x.eh", &TABLES));
    }
}
