//! Fuzzing of readers and snapshots: every case must end with an error or with a finite result of the right shape.
//!
//! `fuzz --seconds N | --cases N [--seed S] [--only TARGET] [--out FOLDER]` mutates valid tables and snapshots, and
//! reads the result. The checksums of most mutated snapshots are repaired. A panic, an abort, a timeout, too much
//! memory or a non-finite number is a failure. The input of a failure is saved in the folder.
//!
//! The seed determines every case. A child process works through the cases and prints one line per case. The parent
//! reads these lines and starts a new child after a case that crashed or timed out.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/common/mod.rs"]
mod common;
mod files;
mod limit;
mod mutate;
mod snapshots;

use eigenhedge::Random;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Timeout of a case.
const PATIENCE: Duration = Duration::from_secs(20);
/// Timeout of a child's first case, before which it builds all targets.
const START: Duration = Duration::from_secs(300);
/// Number of failures after which the run stops.
const ENOUGH: u64 = 200;

/// Successful result of a case.
pub enum Outcome {
    /// The input was rejected with an error.
    Refused,
    /// The input was read.
    Accepted,
}

/// A kind of input to mutate and read.
pub trait Target {
    /// Returns the name shown in the table.
    fn name(&self) -> String;
    /// Returns a mutated input.
    fn input(&self, random: &mut Random) -> Vec<u8>;
    /// Reads an input. Returns an error if the result is invalid.
    fn try_input(&self, input: &[u8], folder: &Path, random: &mut Random) -> Result<Outcome, String>;
}

/// Options from the command line.
#[derive(Debug, Clone)]
struct Plan {
    seed: u64,
    cases: u64,
    seconds: Option<f64>,
    only: Option<String>,
    out: PathBuf,
    /// First case of a child process.
    child: Option<u64>,
}

impl Plan {
    fn of(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let out = PathBuf::from("target/fuzz");
        let mut plan = Self { seed: 0, cases: u64::MAX, seconds: None, only: None, out, child: None };
        let mut words = arguments.peekable();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} must be followed by a value"))?;
            let wrong = || format!("{word} must be a number, got {value}");
            match word.as_str() {
                "--seed" => plan.seed = value.parse().map_err(|_| wrong())?,
                "--cases" => plan.cases = value.parse().map_err(|_| wrong())?,
                "--seconds" => plan.seconds = Some(value.parse().map_err(|_| wrong())?),
                "--only" => plan.only = Some(value),
                "--out" => plan.out = value.into(),
                "--child" => plan.child = Some(value.parse().map_err(|_| wrong())?),
                _ => return Err(format!("no such option: {word}")),
            }
        }
        if plan.cases == u64::MAX && plan.seconds.is_none() {
            plan.seconds = Some(60.0);
        }
        Ok(plan)
    }

    fn targets(&self) -> Vec<Box<dyn Target>> {
        let mut targets = files::targets();
        targets.extend(snapshots::targets());
        targets.retain(|target| self.only.as_ref().is_none_or(|only| target.name() == *only));
        targets
    }

    /// Returns the random generator of a case, which determines the mutation and the way the input is read.
    fn random(&self, case: u64) -> Random {
        Random::seeded(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(case))
    }
}

fn main() -> ExitCode {
    let plan = match Plan::of(std::env::args().skip(1)) {
        Ok(plan) => plan,
        Err(reason) => {
            eprintln!("fuzz: {reason}");
            return ExitCode::from(2);
        }
    };
    let targets = plan.targets();
    if targets.is_empty() {
        eprintln!("fuzz: no such target");
        return ExitCode::from(2);
    }
    match plan.child {
        Some(first) => {
            work(&plan, &targets, first);
            ExitCode::SUCCESS
        }
        None => lead(&plan, &targets),
    }
}

/// Runs the child process: works through the cases and prints one line per case.
fn work(plan: &Plan, targets: &[Box<dyn Target>], first: u64) {
    std::panic::set_hook(Box::new(|_| {}));
    let folder = plan.out.join(format!("work-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut lines = std::io::stdout().lock();
    for case in first..plan.cases {
        let target = &targets[(case % targets.len() as u64) as usize];
        let mut random = plan.random(case);
        let input = target.input(&mut random);
        limit::begin();
        let tried =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.try_input(&input, &folder, &mut random)));
        let line = match tried {
            Ok(Ok(Outcome::Refused)) => "refused".to_owned(),
            Ok(Ok(Outcome::Accepted)) => "accepted".to_owned(),
            Ok(Err(reason)) => format!("failed {reason}"),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                format!("failed panic: {}", text.unwrap_or_default().replace('\n', " "))
            }
        };
        if writeln!(lines, "{case} {line}").and_then(|()| lines.flush()).is_err() {
            break;
        }
    }
    drop(std::fs::remove_dir_all(folder));
}

/// Counts of one target.
#[derive(Debug, Clone, Default)]
struct Counts {
    tries: u64,
    refused: u64,
    accepted: u64,
    failed: u64,
}

/// Runs the parent process: starts children, counts their results, and prints the table.
fn lead(plan: &Plan, targets: &[Box<dyn Target>]) -> ExitCode {
    let mut counts = vec![Counts::default(); targets.len()];
    let start = Instant::now();
    let over = || plan.seconds.is_some_and(|seconds| start.elapsed().as_secs_f64() >= seconds);
    let mut next = 0;
    let mut failures = 0;
    while next < plan.cases && !over() && failures < ENOUGH {
        let (mut child, lines) = spawn(plan, next);
        let first = next;
        loop {
            let line = lines.recv_timeout(if next == first { START } else { PATIENCE });
            let told = match &line {
                Ok(line) => line.split_once(' ').map_or(line.as_str(), |(_, told)| told),
                Err(RecvTimeoutError::Timeout) => "failed: it took too long",
                Err(RecvTimeoutError::Disconnected) if next >= plan.cases => break,
                Err(RecvTimeoutError::Disconnected) => "failed: the process ended (memory limit, stack or abort)",
            };
            let at = (next % targets.len() as u64) as usize;
            counts[at].tries += 1;
            match told {
                "refused" => counts[at].refused += 1,
                "accepted" => counts[at].accepted += 1,
                reason => {
                    counts[at].failed += 1;
                    failures += 1;
                    keep(plan, targets[at].as_ref(), next, reason);
                }
            }
            next += 1;
            if line.is_err() || next >= plan.cases || over() || failures >= ENOUGH {
                break;
            }
        }
        let id = child.id();
        drop(child.kill());
        drop(child.wait());
        drop(std::fs::remove_dir_all(plan.out.join(format!("work-{id}"))));
    }
    table(plan, targets, &counts, start.elapsed());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Starts a child process at case `first`; returns the process and its output lines.
fn spawn(plan: &Plan, first: u64) -> (Child, Receiver<String>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--seed", &plan.seed.to_string(), "--cases", &plan.cases.to_string(), "--child", &first.to_string()]);
    command.arg("--out").arg(&plan.out);
    if let Some(only) = &plan.only {
        command.args(["--only", only]);
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (sender, receiver) = mpsc::sync_channel(64);
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    (child, receiver)
}

/// Saves the input of a failed case and reports it.
fn keep(plan: &Plan, target: &dyn Target, case: u64, reason: &str) {
    let input = target.input(&mut plan.random(case));
    let path = plan.out.join(format!("{}-{}-{case}", target.name(), plan.seed));
    std::fs::create_dir_all(&plan.out).unwrap();
    std::fs::write(&path, input).unwrap();
    println!("{}: case {case} of seed {}: {reason}", path.display(), plan.seed);
}

fn table(plan: &Plan, targets: &[Box<dyn Target>], counts: &[Counts], time: Duration) {
    let line = |name: &str, counts: &Counts| {
        let Counts { tries, refused, accepted, failed } = counts;
        println!("{name:<24} {tries:>9} {refused:>9} {accepted:>9} {failed:>9}");
    };
    println!("{:<24} {:>9} {:>9} {:>9} {:>9}", "target", "tries", "refused", "accepted", "failed");
    let mut total = Counts::default();
    for (target, counts) in targets.iter().zip(counts) {
        line(&target.name(), counts);
        total.tries += counts.tries;
        total.refused += counts.refused;
        total.accepted += counts.accepted;
        total.failed += counts.failed;
    }
    line("all", &total);
    println!("seed {}, {:.1} s, at most {} MB at a time", plan.seed, time.as_secs_f64(), limit::LARGEST >> 20);
}
