//! Trial of the program for Windows under wine.

use super::program::try_program;
use crate::dist::windows::{COMPILER, NEEDED, build};
use crate::files::{copy, output, with_ending, write};
use crate::targets::is_there;
use crate::{python, run};
use std::path::Path;
use std::process::Command;

/// Library that wine 8 lacks. Its function fills memory with random bytes.
const MISSING: &str = "int __stdcall SystemFunction036(void *place, unsigned long length);\n\
    __declspec(dllexport) int __stdcall ProcessPrng(void *place, unsigned long long length) {\n\
    \x20   return SystemFunction036(place, (unsigned long)length);\n}\n";

pub fn install(root: &Path) -> Result<String, String> {
    let Ok(archive) = with_ending(&root.join("target/dist"), ".zip") else {
        return Ok("   windows: skipped, target/dist has no archive for Windows\n".to_owned());
    };
    let folder = python::empty(&root.join("target/windows/trial"))?;
    run(Command::new("unzip").args(["-q", "-j"]).arg(archive).arg("-d").arg(&folder))?;
    try_in(root, &folder)
}

pub fn test(root: &Path) -> Result<(), String> {
    let Some(program) = is_there("wine").then(|| build(root)).transpose()?.flatten() else {
        println!("== windows: skipped: {NEEDED}, and wine");
        return Ok(());
    };
    let folder = python::empty(&root.join("target/windows/trial"))?;
    copy(&program, &folder.join("eigenhedge.exe"))?;
    try_in(root, &folder).map(|report| print!("{report}"))
}

fn try_in(root: &Path, folder: &Path) -> Result<String, String> {
    if !is_there("wine") || !is_there(COMPILER) {
        return Ok(format!("   windows: skipped, needs wine and {COMPILER}\n"));
    }
    write(&folder.join("missing.c"), MISSING)?;
    let library = ["-shared", "-o", "bcryptprimitives.dll", "missing.c", "-ladvapi32"];
    output(Command::new(COMPILER).args(library).current_dir(folder))?;
    let start = || {
        let mut command = Command::new("wine");
        command.arg(folder.join("eigenhedge.exe")).env("WINEPREFIX", root.join("target/windows/wine"));
        command.env("WINEDEBUG", "-all").env("WINEDLLOVERRIDES", "mscoree,mshtml=");
        // The trial uses file names with letters that the C locale does not have.
        command.env("LC_ALL", "C.UTF-8");
        command
    };
    try_program("windows", &start)
}
