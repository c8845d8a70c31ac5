//! Time per row on the paths that users take, compared with the bare learner: `cargo xtask bench doors [--quick]`.
//!
//! The paths ("doors") are the learner, the readers of tables, and the program with several tables and outputs. Times
//! are processor times, medians over interleaved laps. The program with two threads is measured by wall time.

mod doors;
mod measure;
mod tables;
mod verdicts;

use doors::{Case, DOORS};
use measure::median;
use std::process::ExitCode;

const LAPS: usize = 5;

fn main() -> ExitCode {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("doors: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut is_met = true;
    println!("microseconds of processor time a row; in brackets, times the bare learner\n");
    for case in Case::all() {
        let case = case.prepare(folder.path(), is_quick);
        let laps = if is_quick { 1 } else { LAPS };
        let mut times = vec![Vec::new(); DOORS.len()];
        for _ in 0..laps {
            for (door, times) in DOORS.iter().zip(&mut times) {
                times.push(case.time(door));
            }
        }
        let times: Vec<f64> = times.into_iter().map(median).collect();
        print!("n = {:<5} k = {:<3} {:<9}", case.length(), case.kept(), case.learner());
        for (door, time) in DOORS.iter().zip(&times) {
            print!("  {} {:.1} [{:.2}]", door.name, time, time / times[0]);
        }
        println!();
        for verdict in verdicts::of(&case, &times).into_iter().chain(verdicts::with_two_threads(&case, laps)) {
            is_met &= verdict.is_met;
            println!("    {verdict}");
        }
    }
    if is_met || is_quick { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
