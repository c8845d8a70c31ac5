//! Cross compilation with the compilers of rustup or Debian.

use crate::dist::reproducible;
use crate::{cargo, root};
use std::path::Path;
use std::process::Command;

/// Returns a cargo command that compiles for a target with the compiler of rustup or that of Debian. Debian has only
/// the sources of the standard library, which the flag `library` builds. `linker` replaces the default linker of the
/// target.
pub fn cargo_for(target: &str, arguments: &str, library: &str, linker: Option<&str>) -> Option<Command> {
    let line = format!("{arguments} --target {target}");
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output().ok();
    let is_installed =
        installed.is_some_and(|found| String::from_utf8_lossy(&found.stdout).lines().any(|line| line == target));
    let mut command =
        if is_installed { cargo(&format!("{line} --locked")) } else { debian(target, &line, library, linker)? };
    reproducible(&mut command, &root());
    Some(command)
}

fn debian(target: &str, line: &str, library: &str, linker: Option<&str>) -> Option<Command> {
    let needed = ["/usr/bin/cargo", "/usr/bin/rustc", "/usr/lib/rustlib/src/rust/library"];
    if !needed.iter().all(|path| Path::new(path).exists()) || !linker.is_none_or(is_there) {
        return None;
    }
    let mut command = Command::new(needed[0]);
    command.args(line.split(' ')).arg(library).current_dir(root());
    command.env("RUSTC", needed[1]).env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTUP_TOOLCHAIN");
    let variable = format!("CARGO_TARGET_{}_LINKER", target.replace('-', "_").to_uppercase());
    command.envs(linker.map(|linker| (variable, linker)));
    Some(command)
}

pub fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
