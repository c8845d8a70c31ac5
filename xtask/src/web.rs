//! Build and test of the page `eigenhedge.html` and of the JavaScript package, in `target/web`.

use crate::targets::{cargo_for, is_there};
use crate::{cargo, files, run};
use base64::Engine;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
const BUILD: &str = "build --package eigenhedge-web --profile web --target-dir target/web";
const NEEDED: &str = "it needs `rustup target add wasm32-unknown-unknown`, or Debian's packages rustc-web, cargo-web, \
                      rust-web-src and lld";
const LARGEST: usize = 4_000_000;

/// Returns the path of the page, or `None` without a compiler for WebAssembly.
pub fn build(root: &Path) -> Result<Option<PathBuf>, String> {
    let Some(mut compile) = cargo_for(TARGET, BUILD, "-Zbuild-std=std,panic_abort", Some("wasm-ld")) else {
        println!("== web: skipped: {NEEDED}");
        return Ok(None);
    };
    run(&mut compile)?;
    let output = root.join("target/web");
    let module =
        std::fs::read(output.join(TARGET).join("web/eigenhedge_web.wasm")).map_err(|error| error.to_string())?;
    let page = page(root, &module)?;
    files::write(&output.join("eigenhedge.html"), &page)?;
    let package = output.join("package");
    for path in files::entries(&root.join("crates/eigenhedge-web/package"))? {
        files::copy(&path, &package.join(path.file_name().unwrap_or_default()))?;
    }
    files::write(&package.join("eigenhedge.wasm"), &module)?;
    println!("   eigenhedge.wasm {:>9} bytes", module.len());
    println!("   eigenhedge.html {:>9} bytes", page.len());
    if page.len() > LARGEST {
        return Err(format!("the page must have at most {LARGEST} bytes, got {}", page.len()));
    }
    try_package(root, &package)?;
    Ok(Some(output.join("eigenhedge.html")))
}

fn page(root: &Path, module: &[u8]) -> Result<String, String> {
    let read = |name: &str| files::read(&root.join("crates/eigenhedge-web").join(name));
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let packed = packed.write_all(module).and_then(|()| packed.finish()).map_err(|error| error.to_string())?;
    let engine = read("package/engine.js")?.replace("export async function", "async function");
    let worker = format!("{engine}\n{}", read("page/worker.js")?);
    let parts = [
        ("/*STYLE*/", read("page/page.css")?),
        ("/*SCRIPT*/", read("page/page.js")?),
        ("/*WORKER*/", worker),
        ("/*MODULE*/", base64::engine::general_purpose::STANDARD.encode(packed)),
    ];
    Ok(parts.iter().fold(read("page/page.html")?, |page, (place, text)| page.replacen(place, text, 1)))
}

/// Compares the output of the example in the README with the comments in it.
fn try_package(root: &Path, package: &Path) -> Result<(), String> {
    if !is_there("node") {
        println!("== the example of the package: skipped: it needs node");
        return Ok(());
    }
    let readme = files::read(&root.join("crates/eigenhedge-web/package/README.md"))?;
    let example = readme.split("```").nth(1).and_then(|text| text.strip_prefix("js\n")).unwrap_or_default();
    let wanted: Vec<&str> =
        example.lines().filter_map(|line| line.split_once("); // ")).map(|(_, text)| text).collect();
    let path = package.join("example.mjs");
    files::write(&path, example.replace("from \"eigenhedge\"", "from \"./index.js\""))?;
    let printed = files::output(Command::new("node").arg(&path))?;
    if wanted.is_empty() || printed.lines().ne(wanted.iter().copied()) {
        return Err(format!("the example of the package must print {wanted:?}, got {printed:?}"));
    }
    println!("   the example of the package prints {wanted:?}");
    std::fs::remove_file(path).map_err(|error| error.to_string())?;
    if is_there("npm") {
        run(Command::new("npm").args(["pack", "--silent", "--pack-destination", ".."]).current_dir(package))?;
    }
    Ok(())
}

/// Compares the package, and the page in a browser, with the program.
pub fn test(root: &Path, program: Option<&str>) -> Result<(), String> {
    let page = root.join("target/web/eigenhedge.html");
    if !page.is_file() || !is_there("node") || !is_there("chromium") {
        println!("== web: skipped: it needs target/web/eigenhedge.html (cargo xtask web), node and chromium");
        return Ok(());
    }
    let program = match program {
        Some(path) => PathBuf::from(path),
        None => {
            run(&mut cargo("build --package eigenhedge-cli --locked"))?;
            root.join("target/debug/eigenhedge")
        }
    };
    let tests = root.join("crates/eigenhedge-web/tests");
    run(Command::new("node").arg(tests.join("fleet.mjs")).arg(root.join("target/web/package")).arg(&program))?;
    run(Command::new("node").arg(tests.join("page.mjs")).arg(page).arg(program))
}
