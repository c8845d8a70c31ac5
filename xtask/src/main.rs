//! Development commands: `cargo xtask help` lists them.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const HELP: &str = "\
cargo xtask test    run every check; stop at the first that fails
cargo xtask man     write the manual pages to target/man
cargo xtask help    print this";

/// One check: its name, its arguments to cargo, and a variable it needs.
struct Step {
    name: &'static str,
    arguments: &'static str,
    variable: Option<(&'static str, &'static str)>,
}

const fn step(name: &'static str, arguments: &'static str) -> Step {
    Step { name, arguments, variable: None }
}

/// Cheap checks first. Examples are built by `cargo test`; benches are not, so they are checked on their own,
/// without code generation: a release build would cost minutes and prove nothing more.
const CHECKS: &[Step] = &[
    step("format", "fmt --all --check"),
    step("clippy", "clippy --workspace --all-targets --locked -- -D warnings"),
    Step {
        variable: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..step("documentation", "doc --workspace --no-deps --locked")
    },
    step("tests", "test --workspace --locked"),
    step("benches", "check --workspace --benches --locked"),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => test(),
        ["man"] => one(&step("man", "run --package eigenhedge-cli --locked -- man --out target/man")),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("xtask: no such command\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn one(step: &Step) -> ExitCode {
    match run(step) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("== FAILED: {} ({reason})", step.name);
            ExitCode::FAILURE
        }
    }
}

fn test() -> ExitCode {
    let start = Instant::now();
    let mut times = String::new();
    for step in CHECKS {
        println!("== {}: cargo {}", step.name, step.arguments);
        let began = Instant::now();
        if let Err(reason) = run(step) {
            eprintln!("== FAILED: {} ({reason})", step.name);
            return ExitCode::FAILURE;
        }
        let seconds = began.elapsed().as_secs_f64();
        println!("== {}: passed in {seconds:.1} s\n", step.name);
        times += &format!("   {:<14} {seconds:>7.1} s\n", step.name);
    }
    println!("== every check passed in {:.1} s\n{times}", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

fn run(step: &Step) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(step.arguments.split(' ')).current_dir(root).envs(step.variable);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}
