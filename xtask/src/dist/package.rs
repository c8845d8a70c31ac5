//! Builds of the Python package.

use super::toolchain::{TARGET, Toolchain};
use crate::files::{output, with_ending, write};
use crate::run;
use std::path::Path;

/// Builds a wheel with the licenses of its dependencies, which must support `manylinux_2_17`.
pub fn wheel(toolchain: &Toolchain, licences: &str, folder: &Path) -> Result<(), String> {
    let notice = toolchain.root.join("python/THIRD-PARTY-LICENSES.txt");
    write(&notice, licences)?;
    let mut maturin = toolchain.command("maturin");
    maturin.args(["build", "--release", "--locked", "--zig", "--compatibility", "manylinux2014"]);
    maturin.args(["--target", TARGET, "--out"]).arg(folder).current_dir(toolchain.root.join("python"));
    let built = run(&mut maturin);
    std::fs::remove_file(&notice).map_err(|error| format!("{}: {error}", notice.display()))?;
    built?;
    let wheel = with_ending(folder, ".whl")?;
    let report = output(toolchain.command("auditwheel").arg("show").arg(wheel))?;
    println!("{report}");
    let platform = "manylinux_2_17_x86_64";
    if report.contains(platform) { Ok(()) } else { Err(format!("auditwheel must report {platform}")) }
}

pub fn source_distribution(toolchain: &Toolchain, folder: &Path) -> Result<(), String> {
    let mut maturin = toolchain.command("maturin");
    run(maturin.args(["sdist", "--out"]).arg(folder).current_dir(toolchain.root.join("python")))
}
