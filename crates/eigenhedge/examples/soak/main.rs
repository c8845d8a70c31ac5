//! Long runs of all learners over streams that change repeatedly, with a check at every row.
//! `soak --rows N --seed S` runs all cases, and `soak --case NAME --rows N --seed S` runs one case
//! once. `soak saved --cases N --seed S` saves and reads random configurations, and
//! `soak saved --only NUMBER --seed S` only one of them. `cargo xtask soak` calls this program.
//!
//! At every row, each loss must be between zero and the energy of the row, and the loss and the kept coordinates must
//! add up to the energy. Orthonormality of the columns is checked at every row of 14 numbers, less often for longer
//! rows, and at every eighth row in feature space. When all cases run, resident memory is measured every 50 ms. It must
//! stay below 500 MB and must not grow by more than 32 MB from the first half to the second.

mod cases;
#[path = "../../tests/common/hard_streams.rs"]
mod hard_streams;
mod life;
mod memory;
mod saved;
#[path = "../../tests/common/saved_states.rs"]
mod saved_states;
#[path = "../../tests/common/soundness.rs"]
mod soundness;

use cases::Case;
use memory::Memory;
use soundness::Soundness;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const THREADS: usize = 2;
/// Minimum number of rows per run, except the last run of a case.
const SHORTEST_LIFE: u64 = 50;
/// Number of halvings of the rows of a case that give the minimum length of its runs.
const LIVES: u64 = 4;

struct Arguments {
    rows: u64,
    seed: u64,
    case: Option<String>,
    /// Range of case numbers to save and read. `None` means that learners run over endless streams.
    saved: Option<std::ops::Range<u64>>,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = Arguments { rows: 500_000, seed: 0, case: None, saved: None };
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == "saved").is_some() {
        given.saved = Some(0..5000);
    }
    while let Some(name) = words.next() {
        let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--rows" => given.rows = number()?,
            "--seed" => given.seed = number()?,
            "--case" => given.case = Some(value),
            "--cases" if given.saved.is_some() => given.saved = Some(0..number()?),
            "--only" if given.saved.is_some() => given.saved = Some(number()?..number()? + 1),
            _ => {
                return Err(format!(
                    "no option {name}; there are --rows, --seed and --case, and with saved --cases and --only"
                ));
            }
        }
    }
    Ok(given)
}

fn main() -> ExitCode {
    let done = arguments().and_then(|given| match &given.case {
        _ if given.saved.is_some() => Ok(saved::run(given.saved.unwrap_or_default(), given.seed)),
        Some(name) => one(name, &given),
        None => all(&given),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("soak: {reason}");
            ExitCode::from(2)
        }
    }
}

/// Runs one case once. Returns true if no law was violated.
fn one(name: &str, given: &Arguments) -> Result<bool, String> {
    let cases = cases::cases();
    let case = cases.iter().find(|case| case.name == name).ok_or_else(|| format!("no case {name}"))?;
    let (mut totals, start) = (Totals::default(), Instant::now());
    let outcome = life::live(case, given.seed, given.rows);
    totals.enter(case, given.seed, given.rows, outcome, start.elapsed());
    totals.print();
    Ok(totals.violations() == 0)
}

struct Life<'a> {
    case: &'a Case,
    seed: u64,
    rows: u64,
}

/// Splits the rows evenly over the cases. Each run takes half of the remaining rows of its case, within limits.
fn lives<'a>(cases: &'a [Case], given: &Arguments) -> Vec<Life<'a>> {
    let share = (given.rows / cases.len() as u64).max(SHORTEST_LIFE);
    let mut lives = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let mut left = share;
        for life in 0.. {
            let rows = (left / 2).max(share >> LIVES).max(SHORTEST_LIFE).min(case.longest_life).min(left);
            if rows == 0 {
                break;
            }
            left -= rows;
            let seed = given.seed.wrapping_mul(1 << 40) + ((index as u64) << 20) + life;
            lives.push(Life { case, seed, rows });
        }
    }
    // Long runs start first, so that threads finish at about the same time.
    lives.sort_by_key(|life| std::cmp::Reverse(life.rows));
    lives
}

/// Runs all cases. Returns true if no law was violated and memory stayed within its limits.
fn all(given: &Arguments) -> Result<bool, String> {
    let cases = cases::cases();
    let lives = lives(&cases, given);
    let wanted: u64 = lives.iter().map(|life| life.rows).sum();
    println!("{wanted} rows, {} cases, {} lives, seed {}", cases.len(), lives.len(), given.seed);
    // Panics are counted, so one message per panic is enough.
    std::panic::set_hook(Box::new(|info| eprintln!("panic: {info}")));
    let totals = Mutex::new(Totals::default());
    let (next, working, done) = (AtomicUsize::new(0), AtomicUsize::new(THREADS), AtomicU64::new(0));
    let mut memory = Memory::default();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(life) = lives.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let outcome = life::live(life.case, life.seed, life.rows);
                    done.fetch_add(life.rows, Ordering::Relaxed);
                    if let Ok(mut totals) = totals.lock() {
                        totals.enter(life.case, life.seed, life.rows, outcome, start.elapsed());
                    }
                }
                working.fetch_sub(1, Ordering::Relaxed);
            });
        }
        let mut told = Instant::now();
        while working.load(Ordering::Relaxed) > 0 {
            std::thread::sleep(Duration::from_millis(50));
            let done = done.load(Ordering::Relaxed);
            memory.look(done as f64 / wanted as f64);
            if told.elapsed() > Duration::from_secs(10) {
                told = Instant::now();
                let violations = totals.lock().map_or(0, |totals| totals.violations());
                let seconds = began.elapsed().as_secs();
                println!("{seconds} s: {done} of {wanted} rows, {violations} violations, {memory}");
            }
        }
    });
    let totals = totals.into_inner().map_err(|_| "a thread broke off".to_owned())?;
    totals.print();
    println!("{:.1} s, {memory}", began.elapsed().as_secs_f64());
    if let Some(reason) = memory.fault() {
        println!("VIOLATION: {reason}");
        return Ok(false);
    }
    Ok(totals.violations() == 0)
}

#[derive(Default)]
struct Total {
    sound: Soundness,
    healed: Option<u64>,
    busy: Duration,
    broken_lives: usize,
    /// Index of the earliest row with a violation, and the command that reproduces it.
    shortest: Option<(u64, String)>,
}

#[derive(Default)]
struct Totals {
    groups: BTreeMap<String, Total>,
}

impl Totals {
    fn enter(&mut self, case: &Case, seed: u64, rows: u64, outcome: life::Outcome, busy: Duration) {
        let total = self.groups.entry(case.group.clone()).or_default();
        if let Some((row, what)) = &outcome.sound.first {
            total.broken_lives += 1;
            if total.shortest.as_ref().is_none_or(|(least, _)| row < least) {
                let upto = rows.min(row + 1);
                let command = format!("cargo xtask soak --case {} --seed {seed} --rows {upto}", case.name);
                total.shortest = Some((*row, format!("row {row}: {what}\n    {command}")));
            }
        }
        total.sound.join(&outcome.sound);
        total.busy += busy;
        if let Some(healed) = outcome.healed {
            *total.healed.get_or_insert(0) += healed;
        }
    }

    fn violations(&self) -> u64 {
        self.groups.values().map(|total| total.sound.violations).sum()
    }

    fn print(&self) {
        for (name, total) in &self.groups {
            if let Some((_, what)) = &total.shortest {
                println!("VIOLATION: {name}, in {} lives, soonest in {what}", total.broken_lives);
            }
        }
        println!(
            "{:<26} {:>10} {:>10} {:>12} {:>10} {:>10} {:>8} {:>9}",
            "learner", "rows", "violations", "loss/energy", "Pythagoras", "drift", "healed", "rows/s"
        );
        let mut all = Total::default();
        for (name, total) in &self.groups {
            total.print(name);
            all.sound.join(&total.sound);
            all.busy += total.busy;
            if let Some(healed) = total.healed {
                *all.healed.get_or_insert(0) += healed;
            }
        }
        all.print("all");
    }
}

impl Total {
    fn print(&self, name: &str) {
        let Soundness { rows, violations, loss, defect, drift, .. } = &self.sound;
        let healed = self.healed.map_or("-".to_owned(), |healed| healed.to_string());
        let speed = *rows as f64 / self.busy.as_secs_f64();
        println!(
            "{name:<26} {rows:>10} {violations:>10} {loss:>12.9} {defect:>10.1e} {drift:>10.1e} {healed:>8} {speed:>9.0}"
        );
    }
}
