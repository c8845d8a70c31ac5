//! Comparison of the instruction counts of hot paths with those in a file.
//! Each case runs under valgrind with few and with many rows. The difference of the counts, divided by the number of
//! additional rows, is the cost per row without startup. The programs are built as by `cargo test`, so counts can only
//! be compared with each other.

use crate::files::{output, read, write as write_file};
use crate::{cargo, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum relative increase over the count in the file.
const TOLERANCE: f64 = 0.10;
const FILE: &str = "bench/instructions.json";
const PROGRAMS: [&str; 2] = ["hot_paths", "read_rows"];
/// The options are those of the tests, so that nothing is compiled again.
const BUILD: &str = "build --profile test --workspace --locked";

/// Measured code path, which runs with two numbers of rows.
struct Case {
    program: PathBuf,
    name: String,
    few: u64,
    many: u64,
}

#[derive(Default)]
struct CountTable {
    compiler: String,
    processor: String,
    rows: BTreeMap<String, u64>,
}

pub fn compare(root: &Path) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: valgrind is not installed, so no instructions are counted");
        return Ok(());
    }
    let kept = CountTable::parse(&read(&root.join(FILE))?).map_err(|reason| format!("{FILE}: {reason}"))?;
    judge(&kept, &CountTable::taken(root)?)
}

pub fn write(root: &Path) -> Result<(), String> {
    let text = CountTable::taken(root)?.text();
    print!("{text}");
    write_file(&root.join(FILE), text)
}

/// Returns an error if a case is new or missing, or if a case is too expensive and the file is from the same compiler
/// and processor.
fn judge(kept: &CountTable, now: &CountTable) -> Result<(), String> {
    let same = kept.compiler == now.compiler && kept.processor == now.processor;
    let mut dearer = Vec::new();
    println!("{:<26} {:>12} {:>12} {:>9}", "instructions a row", "in the file", "now", "change");
    for (name, &count) in &now.rows {
        let Some(&before) = kept.rows.get(name) else {
            return Err(format!("{FILE}: has no case {name}; `cargo xtask count --write` adds it"));
        };
        let change = count as f64 / before as f64 - 1.0;
        let remark = match change {
            change if change > TOLERANCE => "  dearer",
            change if change < -TOLERANCE => "  cheaper: renew the file with `cargo xtask count --write`",
            _ => "",
        };
        println!("{name:<26} {before:>12} {count:>12} {:>+8.1}%{remark}", 100.0 * change);
        if change > TOLERANCE {
            dearer.push(format!("{name} takes {count} instructions a row, {before} in the file"));
        }
    }
    if let Some(gone) = kept.rows.keys().find(|name| !now.rows.contains_key(*name)) {
        return Err(format!(
            "{FILE}: the case {gone} is not counted any more; renew it with `cargo xtask count --write`"
        ));
    }
    if dearer.is_empty() {
        return Ok(());
    }
    let reason = format!("{} (at most {:.0} % more is allowed)", dearer.join("; "), 100.0 * TOLERANCE);
    if same {
        return Err(format!("{reason}; if it must be, `cargo xtask count --write` renews {FILE}"));
    }
    let of = |counts: &CountTable| format!("{} and {}", counts.compiler, counts.processor);
    println!("no failure, because the file is of {}, and this is {}: {reason}", of(kept), of(now));
    Ok(())
}

impl CountTable {
    fn taken(root: &Path) -> Result<Self, String> {
        let mut rows = BTreeMap::new();
        for case in cases(root)? {
            rows.insert(case.name.clone(), case.instructions()?);
        }
        Ok(Self { compiler: compiler()?, processor: processor().to_owned(), rows })
    }

    fn text(&self) -> String {
        let about = "Instructions a row, counted by valgrind in programs built with the profile `test`; written by \
                     `cargo xtask count --write`";
        let Self { compiler, processor, rows } = self;
        format!("{:#}\n", json!({ "about": about, "compiler": compiler, "processor": processor, "rows": rows }))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let word = |key: &str| file[key].as_str().unwrap_or_default().to_owned();
        let count = |(name, count): (&String, &Value)| {
            let count = count.as_u64().filter(|count| *count > 0);
            Ok((name.clone(), count.ok_or_else(|| format!("{name} must be a positive whole number"))?))
        };
        let rows = file["rows"].as_object().into_iter().flatten().map(count).collect::<Result<_, String>>()?;
        Ok(Self { compiler: word("compiler"), processor: word("processor"), rows })
    }
}

pub fn build(root: &Path, programs: &[&str]) -> Result<Vec<PathBuf>, String> {
    run(cargo(BUILD).args(programs.iter().flat_map(|program| ["--example", program])))?;
    Ok(programs.iter().map(|program| root.join("target/debug/examples").join(program)).collect())
}

fn cases(root: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for program in build(root, &PROGRAMS)? {
        for line in output(&mut Command::new(&program))?.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, few, many] = words[..] else {
                return Err(format!("{}: not a case: {line}", program.display()));
            };
            let number = |word: &str| word.parse::<u64>().map_err(|error| format!("{line}: {error}"));
            cases.push(Case {
                program: program.clone(),
                name: name.to_owned(),
                few: number(few)?,
                many: number(many)?,
            });
        }
    }
    Ok(cases)
}

impl Case {
    fn instructions(&self) -> Result<u64, String> {
        let (few, many) = std::thread::scope(|scope| {
            let few = scope.spawn(|| self.total(self.few));
            let many = self.total(self.many);
            (few.join(), many)
        });
        let few = few.map_err(|_| format!("{}: counting broke off", self.name))??;
        let rows = self.many.saturating_sub(self.few).max(1);
        Ok(many?.saturating_sub(few).max(1) / rows)
    }

    fn total(&self, rows: u64) -> Result<u64, String> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]);
        let report = output(valgrind.arg(&self.program).arg(&self.name).arg(rows.to_string()))?;
        let collected = report.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim());
        collected
            .and_then(|count| count.parse().ok())
            .ok_or_else(|| format!("{}: valgrind gave no count: {report}", self.name))
    }
}

fn compiler() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Ok(output(Command::new(rustc).arg("--version"))?.trim().to_owned())
}

/// AVX-512 makes no difference, because valgrind does not support it.
fn processor() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        return "x86_64 with AVX2";
    }
    std::env::consts::ARCH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(compiler: &str, count: u64) -> CountTable {
        let rows = BTreeMap::from([("tracking-64".to_owned(), count)]);
        CountTable { compiler: compiler.to_owned(), processor: "any".to_owned(), rows }
    }

    #[test]
    fn a_count_fails_only_above_the_tolerance_and_with_the_same_compiler() {
        let kept = counts("rustc 1", 1000);
        for (compiler, count, passes) in
            [("rustc 1", 1099, true), ("rustc 1", 1101, false), ("rustc 2", 1101, true), ("rustc 1", 1, true)]
        {
            assert_eq!(judge(&kept, &counts(compiler, count)).is_ok(), passes, "{compiler} {count}");
        }
    }

    #[test]
    fn a_case_that_is_new_or_gone_fails() {
        let (one, none) = (counts("rustc 1", 1000), CountTable::default());
        assert!(judge(&none, &one).unwrap_err().contains("has no case tracking-64"));
        assert!(judge(&one, &none).unwrap_err().contains("tracking-64 is not counted any more"));
    }

    #[test]
    fn what_is_written_can_be_read() {
        let kept = counts("rustc 1.95.0 (59807616e 2026-04-14)", 1000);
        let read = CountTable::parse(&kept.text()).unwrap();
        assert_eq!((read.compiler, read.processor, read.rows), (kept.compiler, kept.processor, kept.rows));
        assert!(
            CountTable::parse(r#"{"rows": {"tracking-64": "many"}}"#).is_err()
                && CountTable::parse("tracking-64").is_err()
        );
    }
}
