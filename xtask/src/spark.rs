//! Environment, tests and measurements of the package on Spark. Without PySpark or Java, the tests are skipped, unless
//! `EIGENHEDGE_SPARK` is `required`.

use crate::python::{environment_with, install, measuring, module, program};
use crate::run;
use std::path::{Path, PathBuf};
use std::process::Command;

const OLDEST_JAVA: u32 = 17;

pub fn test(root: &Path) -> Result<(), String> {
    match prepare(root)? {
        Some(environment) => run(&mut tests(root, &environment)),
        None => Ok(()),
    }
}

/// Runs the quick Spark tests in parallel with `work`.
pub fn test_beside(root: &Path, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let Some(environment) = prepare(root)? else { return work() };
    let mut quick = tests(root, &environment);
    quick.args(["-m", "not thorough"]);
    let (worked, told) = std::thread::scope(|scope| {
        let spark = scope.spawn(|| quick.output());
        (work(), spark.join())
    });
    let told = told.map_err(|_| "the thread of Spark's tests has panicked")?.map_err(|error| error.to_string())?;
    println!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    worked?;
    if told.status.success() { Ok(()) } else { Err(format!("the tests of Spark: {}", told.status)) }
}

fn prepare(root: &Path) -> Result<Option<PathBuf>, String> {
    match environment(root) {
        Ok(environment) => install(root, &environment, "dev").map(|()| Some(environment)),
        Err(reason) if std::env::var_os("EIGENHEDGE_SPARK").is_some_and(|value| value == "required") => Err(reason),
        Err(reason) => {
            println!("tests of Spark are skipped: {reason}");
            Ok(None)
        }
    }
}

fn tests(root: &Path, environment: &Path) -> Command {
    let line = "pytest -q -p no:cacheprovider -p no:warnings --durations=5 python/tests_spark";
    let mut tests = module(environment, line);
    tests.current_dir(root);
    tests
}

pub fn bench(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut python = measuring(root, &environment(root)?, "bench/spark.py", arguments)?;
    run(python.arg("--program").arg(program(root)?))
}

pub fn environment(root: &Path) -> Result<PathBuf, String> {
    match java_version() {
        Some(found) if found >= OLDEST_JAVA => {}
        Some(found) => return Err(format!("Java must be {OLDEST_JAVA} or later, got {found}")),
        None => return Err(format!("there must be a Java {OLDEST_JAVA} or later, and none was found")),
    }
    let made = environment_with(root.join("target/spark/environment"), &root.join("python/requirements-spark.txt"));
    made.map_err(|reason| format!("PySpark could not be installed ({reason})"))
}

fn java_version() -> Option<u32> {
    let program = std::env::var_os("JAVA_HOME").map_or("java".into(), |home| PathBuf::from(home).join("bin/java"));
    let told = Command::new(program).arg("-version").output().ok()?;
    major(&String::from_utf8_lossy(&told.stderr))
}

/// Parses the major version of Java, which is the second number before Java 9.
fn major(text: &str) -> Option<u32> {
    let version = text.split_once("version \"")?.1;
    let digits = version.strip_prefix("1.").unwrap_or(version);
    digits[..digits.find(|c: char| !c.is_ascii_digit())?].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_java_are_read_in_both_spellings() {
        assert_eq!(major("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime"), Some(17));
        assert_eq!(major("java version \"1.8.0_402\""), Some(8));
        assert_eq!(major("openjdk version \"21\" 2023-09-19"), Some(21));
        assert_eq!(major("command not found"), None);
    }
}
