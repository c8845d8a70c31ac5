//! Checks before a release, which need more time, tools or network access than those of every change.

use crate::files::read;
use crate::{cargo, python, root, run};
use std::process::Command;

type Check = fn() -> Result<(), String>;

const CHECKS: [(&str, Check); 4] = [
    ("packages", packages),
    ("oldest compiler", oldest_compiler),
    ("source distribution", || python::source_distribution(&root())),
    ("dependencies", dependencies),
];

/// Runs the checks whose names start with one of these words, or all checks.
pub fn check(words: &[&str]) -> Result<(), String> {
    if let Some(word) = words.iter().find(|word| !CHECKS.iter().any(|(name, _)| name.starts_with(*word))) {
        return Err(format!("{word} is not a check; checks are {}", CHECKS.map(|(name, _)| name).join(", ")));
    }
    let asked = |name: &str| words.is_empty() || words.iter().any(|word| name.starts_with(word));
    CHECKS.iter().filter(|(name, _)| asked(name)).try_for_each(|(name, check)| {
        println!("== {name}");
        check().map_err(|reason| format!("{name}: {reason}"))
    })
}

fn skipped(reason: &str) -> Result<(), String> {
    println!("== skipped, because {reason}");
    Ok(())
}

/// The target folder is new, because cargo would reuse an unpacked package of the same version.
fn packages() -> Result<(), String> {
    let folder = root().join(format!("target/packages-{}", std::process::id()));
    let mut publish = cargo("publish --workspace --dry-run --locked --allow-dirty --target-dir");
    let outcome = run(publish.arg(&folder));
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    outcome
}

fn oldest_compiler() -> Result<(), String> {
    let manifest = read(&root().join("Cargo.toml"))?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = version.ok_or("Cargo.toml has no rust-version")?.trim_matches('"');
    if !succeeds(Command::new("rustup").args(["run", version, "cargo", "--version"])) {
        return skipped(&format!("`rustup run {version}` finds no compiler"));
    }
    let mut check = Command::new("rustup");
    check.args(["run", version, "cargo", "check", "--workspace", "--locked", "--target-dir", "target/oldest"]);
    // The newer cargo that runs this program has set these variables.
    run(check.current_dir(root()).env_remove("CARGO").env_remove("RUSTC"))
}

fn dependencies() -> Result<(), String> {
    let deny = |arguments: &[&str]| {
        let mut deny = Command::new("cargo");
        deny.arg("deny").args(arguments).current_dir(root());
        deny
    };
    if !succeeds(&mut deny(&["--version"])) {
        return skipped("cargo-deny is not installed");
    }
    run(&mut deny(&["check", "licenses", "bans", "sources"]))?;
    if !succeeds(&mut deny(&["fetch", "db"])) {
        return skipped("the database of advisories cannot be reached; licences and sources are sound");
    }
    run(&mut deny(&["check", "--disable-fetch", "advisories"]))
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
