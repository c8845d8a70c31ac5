//! The book and the README: generated figures, checks and build.

use crate::files::{output, read, write};
use crate::{cargo, python, run, script};
use std::path::Path;
use std::process::Command;

pub fn pictures(root: &Path) -> Result<(), String> {
    let figures = root.join("docs/src/figures");
    run(cargo("run --package eigenhedge-lab --example ideas --locked --").arg(&figures))?;
    let rows = python::empty(&root.join("target/pictures"))?.join("rows.csv");
    let program = |words: &str| {
        let mut command = cargo("run --package eigenhedge-cli --locked --");
        command.args(words.split(' '));
        command
    };
    run(program("make iid --rows 1000 --dim 10 -k 3 --noise 0.2 --out").arg(&rows))?;
    run(program("scree --share 0.9 --plot").arg(figures.join("scree.svg")).arg(&rows))
}

pub fn check(root: &Path) -> Result<(), String> {
    script(root, "docs/check_book.py", &[])?;
    build(root)
}

/// Builds the book with mdBook, with pages about the Python interface from the docstrings of the installed package.
fn build(root: &Path) -> Result<(), String> {
    if Command::new("mdbook").arg("--version").output().is_err() {
        println!("skipped: mdbook is not installed (cargo install mdbook)");
        return Ok(());
    }
    let copy = root.join("target/book-source");
    run(Command::new("cp").args(["-rLT"]).arg(root.join("docs")).arg(&copy))?;
    let python = root.join("target/python/environment/bin/python");
    if python.is_file() {
        add_python_pages(root, &python, &copy.join("src"))?;
    } else {
        println!("skipped: pages of the Python interface, there is no environment (cargo xtask test python)");
    }
    run(Command::new("mdbook").arg("build").arg(&copy).arg("--dest-dir").arg(root.join("target/book")))
}

fn add_python_pages(root: &Path, python: &Path, pages: &Path) -> Result<(), String> {
    let listed = output(Command::new(python).arg("docs/api_pages.py").arg(pages).current_dir(root))?;
    let (contents, entry) = (pages.join("SUMMARY.md"), "- [Python](python.md)\n");
    write(&contents, read(&contents)?.replace(entry, &format!("{entry}{listed}")))
}
