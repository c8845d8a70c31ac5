//! Limits on the times of the doors.

use crate::doors::{Case, DOORS};
use crate::measure::median;
use std::fmt;

/// Result of a comparison with a limit.
pub struct Verdict {
    pub is_met: bool,
    sentence: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", if self.is_met { "met" } else { "NOT MET" }, self.sentence)
    }
}

pub fn of(case: &Case, times: &[f64]) -> Vec<Verdict> {
    let time = |name: &str| DOORS.iter().position(|door| door.name == name).map_or(f64::NAN, |door| times[door]);
    let most = |sentence: String, found: f64, most: f64| Verdict {
        is_met: found <= most,
        sentence: format!("{sentence}: {found:.2}, at most {most:.2}"),
    };
    let ratio = if case.length() > 512 { 1.5 } else { 1.25 };
    let answers = 2.0 + 0.2 * case.kept() as f64;
    vec![
        most("run FILE.npy over the bare learner".to_owned(), time("npy") / time("bare"), ratio),
        most(
            "run FILE.csv over reading and learning".to_owned(),
            time("csv") / (time("read csv") + time("account")),
            ratio,
        ),
        most("--out adds, in µs a row".to_owned(), time("npy --out") - time("npy"), answers),
        most("--report over no page".to_owned(), time("npy --report") / time("npy"), 1.1),
    ]
}

/// Measures the wall time of the program with two threads. A ratio is the median over interleaved
/// laps. `auto` is measured only for rows of 64 and 1024 numbers.
pub fn with_two_threads(case: &Case, laps: usize) -> Vec<Verdict> {
    let ratio = |ratio: &dyn Fn() -> f64| median((0..laps).map(|_| ratio()).collect());
    if case.learner() == "auto" {
        let (least, speed_up) = (1.7, || case.wall_of_program("npy", "1") / case.wall_of_program("npy", "2"));
        let speed_up = if [64, 1024].contains(&case.length()) { ratio(&speed_up) } else { return Vec::new() };
        let sentence = format!("two threads are faster than one by {speed_up:.2}, at least {least}");
        return vec![Verdict { is_met: speed_up >= least, sentence }];
    }
    let found = ratio(&|| {
        let (learning, reading) = (case.wall_of_program("npy", "1"), case.wall_of_reader("csv"));
        case.wall_of_program("csv", "2") / learning.max(reading)
    });
    let most = 1.15;
    let sentence = format!(
        "run FILE.csv with two threads over the longer of reading and learning alone: {found:.2}, at most {most}"
    );
    vec![Verdict { is_met: found <= most, sentence }]
}
