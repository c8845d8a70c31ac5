//! Pictures and build of the book.

use crate::{run, step};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Draws the pictures of the book that the library and the program generate.
pub fn pictures(root: &Path) -> Result<(), String> {
    let figures = root.join("docs/src/figures");
    let draw = "run --package eigenhedge-lab --example ideas --locked --";
    run(step("pictures", draw).command().arg(&figures))?;
    let folder = root.join("target/pictures");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let rows = folder.join("rows.csv");
    let program = |words: &str| {
        let mut command = step("pictures", "run --package eigenhedge-cli --locked --").command();
        command.args(words.split(' '));
        command
    };
    run(program("make iid --rows 1000 --dim 10 -k 3 --noise 0.2 --out").arg(&rows))?;
    run(program("scree --share 0.9 --plot").arg(figures.join("scree.svg")).arg(&rows))
}

/// Builds the book with mdBook, if it is installed.
pub fn build(root: &Path) -> Result<(), String> {
    if Command::new("mdbook").arg("--version").output().is_err() {
        println!("skipped: mdbook is not installed (cargo install mdbook)");
        return Ok(());
    }
    run(Command::new("mdbook").arg("build").arg(root.join("docs")).arg("--dest-dir").arg(root.join("target/book")))
}
