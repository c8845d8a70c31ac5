//! Environment, wheel and tests of the Python package. Tests run against the installed wheel, never against the source
//! tree.

use crate::files::{read, with_ending, write};
use crate::{cargo, run};
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn test(root: &Path) -> Result<(), String> {
    prepare(root)?;
    check(root)
}

pub fn prepare(root: &Path) -> Result<(), String> {
    let environment = environment(root)?;
    lint(root, &environment)?;
    install(root, &environment, "dev")?;
    // Builds the program for the Python tests, with the arguments of the Rust tests, so that nothing is compiled twice.
    run(&mut cargo("test --workspace --no-run --locked"))
}

pub fn check(root: &Path) -> Result<(), String> {
    let environment = environment(root)?;
    let stub = "mypy.stubtest --concise --mypy-config-file python/pyproject.toml eigenhedge._core";
    run(module(&environment, stub).current_dir(root))?;
    // In the folder `python`, the sources would hide the installed package.
    let mut pytest = module(&environment, "pytest -q -p no:cacheprovider python/tests");
    run(pytest.current_dir(root).env("EIGENHEDGE_PROGRAM", root.join("target/debug/eigenhedge")))
}

fn lint(root: &Path, environment: &Path) -> Result<(), String> {
    for rules in ["check", "format --check"] {
        let ruff = format!("ruff {rules} --no-cache --config python/pyproject.toml python bench docs xtask");
        run(module(environment, &ruff).current_dir(root))?;
    }
    run(module(environment, "mypy --cache-dir ../target/python/mypy").current_dir(root.join("python")))
}

pub fn wheel(root: &Path) -> Result<(), String> {
    let environment = environment(root)?;
    build(root, &environment, "release", &root.join("target/wheels")).map(drop)
}

pub fn source_distribution(root: &Path) -> Result<(), String> {
    let environment = environment(root)?;
    let folder = empty(&root.join("target/python/source"))?;
    let mut maturin = Command::new(environment.join("bin/maturin"));
    run(maturin.args(["sdist", "--out"]).arg(&folder).current_dir(root.join("python")))?;
    let source = with_ending(&folder, ".gz")?;
    let mut pip = module(&environment, "pip wheel --no-deps --wheel-dir");
    run(pip.arg(&folder).arg(source).current_dir(&folder))
}

pub fn measure(root: &Path, script: &str, arguments: &[&str]) -> Result<(), String> {
    run(&mut measuring(root, &environment(root)?, script, arguments)?)
}

pub fn measuring(root: &Path, environment: &Path, script: &str, arguments: &[&str]) -> Result<Command, String> {
    install(root, environment, "release")?;
    let mut python = interpreter(environment);
    python.arg(root.join(script)).args(arguments).current_dir(root);
    Ok(python)
}

pub fn peers(root: &Path, arguments: &[&str]) -> Result<(), String> {
    run(measuring(root, &environment(root)?, "bench/peers.py", arguments)?
        .env("EIGENHEDGE_RUST_PEERS", rust_peers(root)?))
}

pub fn calls(root: &Path, arguments: &[&str]) -> Result<(), String> {
    run(measuring(root, &environment(root)?, "bench/calls.py", arguments)?.arg("--program").arg(program(root)?))
}

pub fn measure_program(root: &Path, script: &str, arguments: &[&str]) -> Result<(), String> {
    let mut python = interpreter(&environment(root)?);
    python.arg(root.join(script)).arg("--program").arg(program(root)?);
    run(python.args(arguments).current_dir(root))
}

pub fn program(root: &Path) -> Result<PathBuf, String> {
    run(&mut cargo("build --release --locked --package eigenhedge-cli"))?;
    Ok(root.join("target/release/eigenhedge"))
}

/// Builds the program that runs learners of other crates. It is not part of the workspace.
fn rust_peers(root: &Path) -> Result<PathBuf, String> {
    let target = root.join("target/rust-peers");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--quiet", "--manifest-path"]);
    run(cargo.arg(root.join("bench/rust-peers/Cargo.toml")).arg("--target-dir").arg(&target))?;
    Ok(target.join("release/rust-peers"))
}

pub fn install(root: &Path, environment: &Path, profile: &str) -> Result<(), String> {
    let wheels = root.join("target/python/wheels").join(profile);
    let wheel = build(root, &self::environment(root)?, profile, &wheels)?;
    run(module(environment, "pip install --disable-pip-version-check --force-reinstall --no-deps --quiet").arg(wheel))
}

pub fn environment(root: &Path) -> Result<PathBuf, String> {
    environment_with(root.join("target/python/environment"), &root.join("python/requirements-test.txt"))
}

/// Returns the folder of an environment, which is created again when its requirements change.
pub fn environment_with(environment: PathBuf, requirements: &Path) -> Result<PathBuf, String> {
    let wanted = read(requirements)?;
    let stamp = environment.join("requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) {
        return Ok(environment);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    run(module(&environment, "pip install --disable-pip-version-check --no-compile --quiet --requirement")
        .arg(requirements))?;
    write(&stamp, wanted)?;
    Ok(environment)
}

pub fn module(environment: &Path, line: &str) -> Command {
    let mut module = interpreter(environment);
    module.arg("-m").args(line.split(' '));
    module
}

/// Bytecode is written, because tests start hundreds of interpreters, each of which would compile scikit-learn for
/// seconds.
pub fn interpreter(environment: &Path) -> Command {
    let mut python = Command::new(environment.join("bin/python"));
    python.env_remove("PYTHONDONTWRITEBYTECODE");
    python
}

fn build(root: &Path, environment: &Path, profile: &str, folder: &Path) -> Result<PathBuf, String> {
    empty(folder)?;
    let mut maturin = Command::new(environment.join("bin/maturin"));
    maturin.args(["build", "--locked", "--profile", profile, "--interpreter"]);
    maturin.arg(environment.join("bin/python")).arg("--out").arg(folder).current_dir(root.join("python"));
    run(&mut maturin)?;
    with_ending(folder, ".whl")
}

pub fn empty(folder: &Path) -> Result<PathBuf, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(failed)?;
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    Ok(folder.to_path_buf())
}
