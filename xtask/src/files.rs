//! Functions for files, folders and commands. Errors contain the path or the name of the command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}

pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    write(to, "")?;
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let read = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = read.map_err(|error| format!("{}: {error}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

/// Returns the only entry of a folder whose name ends with `ending`.
pub fn with_ending(folder: &Path, ending: &str) -> Result<PathBuf, String> {
    let found: Vec<PathBuf> =
        entries(folder)?.into_iter().filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    match found.as_slice() {
        [path] => Ok(path.clone()),
        _ => Err(format!("{}: must hold one file *{ending}, has {}", folder.display(), found.len())),
    }
}

pub fn listing(folder: &Path) -> Result<String, String> {
    let mut text = String::new();
    for path in entries(folder)? {
        let size = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        text += &format!("   {name:<60} {size:>12} bytes\n");
    }
    Ok(text)
}

pub fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} could not be started: {error}"))?;
    if !output.status.success() {
        // Tests print their failures to standard output.
        let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        let lines: Vec<&str> = texts.lines().collect();
        return Err(format!("{name}:\n{}", lines[lines.len().saturating_sub(60)..].join("\n")));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{name}: {error}"))
}
