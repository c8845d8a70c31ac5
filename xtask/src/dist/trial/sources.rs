//! Trials of the published sources: a wheel built from the source distribution, and each crate built from its package.

use crate::files::{listing, with_ending};
use crate::{python, release, run};
use std::path::Path;
use std::process::Command;

/// Builds a wheel from the source distribution, in a new environment and a folder outside the repository.
pub fn sdist(root: &Path) -> Result<String, String> {
    // The archive of the program also ends in `.tar.gz`.
    let name = format!("eigenhedge-{}.tar.gz", env!("CARGO_PKG_VERSION"));
    let source = with_ending(&root.join("target/dist"), &name)?;
    let folder = std::env::temp_dir().join(format!("eigenhedge-sdist-{}", std::process::id()));
    python::empty(&folder)?;
    let built = run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("environment"))).and_then(|()| {
        let mut pip = python::module(&folder.join("environment"), "pip wheel --no-deps --quiet --wheel-dir");
        run(pip.arg(folder.join("wheel")).arg(source).current_dir(&folder))
    });
    let listed = built.and_then(|()| listing(&folder.join("wheel")));
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(format!("   sdist, built alone:\n{}", listed?))
}

/// Builds every crate from its package.
pub fn crates(_: &Path) -> Result<String, String> {
    release::packages()?;
    Ok("   crates, each built from its package: passed\n".to_owned())
}
