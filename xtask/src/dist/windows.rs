//! Build of the program for Windows, with a cross compiler.

use crate::files::{copy, write};
use crate::targets::{cargo_for, is_there};
use crate::{python, run};
use std::path::{Path, PathBuf};
use std::process::Command;

pub const TARGET: &str = "x86_64-pc-windows-gnu";
const BUILD: &str = "build --package eigenhedge-cli --release --target-dir target/windows";
pub const COMPILER: &str = "x86_64-w64-mingw32-gcc";
pub const NEEDED: &str = "it needs `rustup target add x86_64-pc-windows-gnu` or Debian's packages rustc-web, cargo-web and \
                          rust-web-src, with gcc-mingw-w64-x86-64";

pub fn build(root: &Path) -> Result<Option<PathBuf>, String> {
    let Some(mut cargo) = is_there(COMPILER).then(|| cargo_for(TARGET, BUILD, "-Zbuild-std", None)).flatten() else {
        return Ok(None);
    };
    run(&mut cargo)?;
    Ok(Some(root.join("target/windows").join(TARGET).join("release/eigenhedge.exe")))
}

pub fn archive(root: &Path, version: &str, epoch: &str, licences: &str, page: Option<&Path>) -> Result<(), String> {
    let program = build(root)?.filter(|_| is_there("zip"));
    let Some(program) = program else {
        println!("== Windows: skipped: {NEEDED}, and zip");
        return Ok(());
    };
    let name = format!("eigenhedge-{version}-x86_64-windows");
    let stage = python::empty(&root.join("target/windows/stage"))?;
    let folder = stage.join(&name);
    let documents = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"].map(|name| root.join(name));
    for path in documents.iter().map(PathBuf::as_path).chain([program.as_path()]).chain(page) {
        copy(path, &folder.join(path.file_name().unwrap_or_default()))?;
    }
    run(Command::new("x86_64-w64-mingw32-strip").arg(folder.join("eigenhedge.exe")))?;
    write(&folder.join("THIRD-PARTY-LICENSES.txt"), licences)?;
    let files = crate::files::entries(&folder)?;
    run(Command::new("touch").arg(format!("--date=@{epoch}")).args(&files))?;
    // Names are sorted, times are in UTC, and owners are left out.
    let names = files.iter().filter_map(|path| path.strip_prefix(&stage).ok());
    let archive = root.join("target/dist").join(format!("{name}.zip"));
    run(Command::new("zip").args(["-9", "-X", "-q"]).arg(archive).args(names).current_dir(&stage).env("TZ", "UTC"))
}
