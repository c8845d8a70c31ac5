//! Build of the program, with its shell completions, manual pages and licenses.

use super::toolchain::{BUILDER, GLIBC, TARGET, Toolchain};
use crate::files::{copy, entries, output, write};
use crate::{python, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Completion scripts: shell, folder below `usr/share`, and file name.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "bash-completion/completions", "eigenhedge"),
    ("zsh", "zsh/vendor-completions", "_eigenhedge"),
    ("fish", "fish/vendor_completions.d", "eigenhedge.fish"),
];

pub fn build(toolchain: &Toolchain) -> Result<(), String> {
    let mut cargo = toolchain.command(BUILDER);
    cargo.args(["zigbuild", "--release", "--locked", "--package", "eigenhedge-cli"]);
    run(cargo.arg("--target").arg(format!("{TARGET}.{GLIBC}")))
}

/// Writes the files of the program to a folder, at the paths below `/` where they are installed.
pub fn stage(toolchain: &Toolchain, licences: &str, page: Option<&Path>) -> Result<PathBuf, String> {
    let (root, tree) = (&toolchain.root, toolchain.root.join("target/dist-stage"));
    python::empty(&tree)?;
    let program = tree.join("usr/bin/eigenhedge");
    copy(&toolchain.program(), &program)?;
    for (shell, folder, name) in COMPLETIONS {
        let script = output(Command::new(&program).args(["completions", shell]))?;
        write(&tree.join("usr/share").join(folder).join(name), script)?;
    }
    manual_pages(&program, &tree.join("usr/share/man/man1"))?;
    let documents = tree.join("usr/share/doc/eigenhedge");
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root.join(name), &documents.join(name))?;
    }
    page.map_or(Ok(()), |page| copy(page, &documents.join("eigenhedge.html")))?;
    for example in entries(&root.join("deploy"))? {
        copy(&example, &documents.join("deploy").join(example.file_name().unwrap_or_default()))?;
    }
    write(&documents.join("THIRD-PARTY-LICENSES.txt"), licences)?;
    Ok(tree)
}

fn manual_pages(program: &Path, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    output(Command::new(program).args(["man", "--out"]).arg(folder))?;
    run(Command::new("gzip").args(["-9", "--no-name"]).args(entries(folder)?))
}
