//! Trial of the Debian package: apt installs it, the program runs, and apt removes it.

use super::program::try_program;
use crate::files::{output, with_ending};
use crate::run;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "/usr/bin/eigenhedge";

pub fn install(root: &Path) -> Result<String, String> {
    let package = with_ending(&root.join("target/dist"), ".deb")?;
    if output(Command::new("id").arg("-u"))?.trim() != "0" || Command::new("apt-get").arg("--version").output().is_err()
    {
        return Ok("   deb: skipped, needs root and apt-get\n".to_owned());
    }
    if Path::new(PROGRAM).exists() {
        return Err(format!(
            "{PROGRAM} exists: another package is installed; remove it with `apt-get remove eigenhedge`"
        ));
    }
    let apt = |words: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.args(["-qq", "-y"]).args(words).env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    run(apt(&["install", "--no-install-recommends"]).arg(&package))?;
    let outcome = use_program();
    run(&mut apt(&["purge", "eigenhedge"]))?;
    let report = outcome?;
    if Path::new(PROGRAM).exists() || Path::new("/usr/share/doc/eigenhedge").exists() {
        return Err("files are left after the removal".to_owned());
    }
    Ok(report + "   deb, removed: nothing is left\n")
}

fn use_program() -> Result<String, String> {
    for file in ["man/man1/eigenhedge.1.gz", "bash-completion/completions/eigenhedge"] {
        let path = Path::new("/usr/share").join(file);
        if !path.is_file() {
            return Err(format!("{} is missing", path.display()));
        }
    }
    try_program("deb", &|| Command::new(PROGRAM))
}
