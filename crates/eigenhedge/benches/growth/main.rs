//! Growth of the time per row with the row length n, the number of directions k and the number t of earlier rows, for
//! every learner, compared with the documented exponents.
//!
//! `cargo bench -p eigenhedge --bench growth` prints one table. `-- NAME` prints only learners whose names contain
//! NAME, with the measured times. The exit status is 1 if a learner grows faster than documented, or if a learner of
//! the registry has no case.
//!
//! An exponent is fitted by least squares between logarithms, over at least three sizes. It may exceed the documented
//! exponent by the effect of a time that is wrong by a factor of [`ERROR`] at one end:
//! `ln(ERROR) / ln(largest size / smallest size)`. Runs on a busy machine differ by that much. A larger exponent is
//! measured again. Documented exponents are upper bounds, so slower growth is accepted. For short rows, work that does
//! not depend on n takes a visible part of the time.

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod measure;

use cases::{Axis, Case};
use eigenhedge::registry::REGISTRY;
use std::process::ExitCode;
use std::time::Instant;

/// Factor by which a time may be wrong.
const ERROR: f64 = 1.35;

/// Seconds of measurement after which an exponent above its bound is final.
const PATIENCE: f64 = 8.0;
/// Seconds below which a measurement is repeated once. A slow phase could otherwise hide growth.
const SHORT: f64 = 0.7;

/// Pairs of a size and the seconds per row.
type Samples = Vec<(f64, f64)>;

struct Grown {
    name: &'static str,
    samples: Samples,
    exponent: f64,
    most: f64,
    tolerance: f64,
}

impl Grown {
    /// Measures until the bound holds or [`PATIENCE`] has passed. For each size, the shortest time counts. A slow phase
    /// of the machine looks like growth, but it does not recur at the same size.
    fn measured(name: &'static str, axis: &Axis, measure: impl Fn() -> Samples) -> Self {
        let (first, last) = (axis.sizes[0], axis.sizes[axis.sizes.len() - 1]);
        let tolerance = ERROR.ln() / (last as f64 / first as f64).ln();
        let began = Instant::now();
        let samples = measure();
        let exponent = common::exponent(&samples);
        let mut grown = Self { name, samples, exponent, most: axis.most, tolerance };
        if began.elapsed().as_secs_f64() < SHORT {
            grown.take_shorter(measure());
        }
        while !grown.holds() && began.elapsed().as_secs_f64() < PATIENCE {
            grown.take_shorter(measure());
        }
        grown
    }

    fn take_shorter(&mut self, again: Samples) {
        self.samples.iter_mut().zip(again).for_each(|(sample, again)| sample.1 = sample.1.min(again.1));
        self.exponent = common::exponent(&self.samples);
    }

    fn holds(&self) -> bool {
        self.exponent <= self.most + self.tolerance
    }

    fn cell(&self) -> String {
        format!("{:.2} ≤ {} + {:.2}", self.exponent, self.most, self.tolerance)
    }

    fn show_times(&self) {
        let times: Vec<String> = self.samples.iter().map(|(size, s)| format!("{size}: {:.1} µs", s * 1e6)).collect();
        println!("    {} = {}", self.name, times.join(", "));
    }
}

/// Measures a case and prints its line. Returns true if every bound holds.
fn line(case: &Case, detailed: bool) -> bool {
    let n = Grown::measured("n", &case.n, || measure::lengths(case));
    let k = case.k.as_ref().map(|axis| Grown::measured("k", axis, || measure::directions(case, axis)));
    let t = Grown::measured("t", &case.t, || measure::trials(case));
    let all = || [Some(&n), k.as_ref(), Some(&t)].into_iter().flatten();
    let holds = all().all(Grown::holds);
    // Oja's rule has one direction, so it has no exponent in k.
    let in_k = k.as_ref().map_or("–".to_owned(), Grown::cell);
    let verdict = if holds { "ok" } else { "FAIL" };
    println!("{:<44} {:<19} {in_k:<19} {:<19} {verdict}", case.name, n.cell(), t.cell());
    if detailed || !holds {
        all().for_each(Grown::show_times);
    }
    holds
}

fn main() -> ExitCode {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let began = Instant::now();
    let all = cases::all();
    let mut missing = REGISTRY.iter().filter(|entry| !all.iter().any(|case| case.kind == Some(entry.kind)));
    if let Some(entry) = missing.next() {
        eprintln!("the learner {} has no line in this bench", entry.name);
        return ExitCode::FAILURE;
    }
    println!("{:<44} {:<19} {:<19} {:<19}", "time for a row: exponent ≤ bound + tolerance", "in n", "in k", "in t");
    let chosen = all.iter().filter(|case| wanted.as_ref().is_none_or(|wanted| case.name.contains(&wanted[..])));
    let failed = chosen.map(|case| line(case, wanted.is_some())).filter(|holds| !holds).count();
    println!("{failed} failed; {:.0} s", began.elapsed().as_secs_f64());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
