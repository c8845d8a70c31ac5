//! Program for counting the instructions per row: `hot_paths CASE ROWS` learns from `ROWS` rows and
//! prints the loss. Without arguments it lists the cases.
//!
//! A case always generates its whole stream first. `cargo xtask count` runs it with two numbers of
//! rows. The difference is the cost of the additional rows.

use eigenhedge::options::Options;
use eigenhedge::{Kind, Model, streams};
use std::process::ExitCode;

/// Learner for rows of one length. `few` and `many` are the numbers of rows of two runs.
struct Case {
    name: &'static str,
    length: usize,
    rank: usize,
    few: usize,
    many: usize,
    hindsight: bool,
    /// True if the rows are passed as one block.
    together: bool,
    options: Options,
}

fn learner(kind: Kind) -> Options {
    Options::new(kind, 10)
}

fn tracking(kept: usize, mixing: &str) -> Options {
    Options::new(Kind::Tracking, kept).with("eta", 4.0).with("mixing", mixing)
}

fn cases() -> Vec<Case> {
    let case = |name, length, few, many, options| Case {
        name,
        length,
        rank: 10,
        few,
        many,
        hindsight: false,
        together: false,
        options,
    };
    let capped = tracking(10, "fixed-share").with("max-rank", 14_usize);
    let kernel = tracking(5, "fixed-share").with("kernel", "rbf").with("gamma", 0.5).with("budget", 100_usize);
    let kernel = kernel.with("center", "none");
    vec![
        case("tracking-64", 64, 100, 300, tracking(10, "none")),
        case("tracking-fixed-share-64", 64, 100, 300, capped),
        case("tracking-1024", 1024, 40, 120, tracking(10, "none")),
        Case { rank: 50, ..case("tracking-64-k50", 64, 200, 400, Options::new(Kind::Tracking, 50)) },
        Case { rank: 50, ..case("tracking-256-k50", 256, 300, 500, Options::new(Kind::Tracking, 50)) },
        Case { together: true, ..case("tracking-1024-together", 1024, 40, 120, tracking(10, "none")) },
        case("anchored-64", 64, 80, 130, learner(Kind::Anchored)),
        case("auto-64", 64, 30, 60, learner(Kind::Auto)),
        case("gha-64", 64, 200, 800, learner(Kind::Gha)),
        // The budget is full before the counted rows. A few rows would be a biased sample.
        case("kernel-budget-100", 16, 150, 250, kernel),
        Case { hindsight: true, ..case("hindsight-64", 64, 100, 200, tracking(10, "none")) },
    ]
}

impl Case {
    fn run(&self, rows: usize) -> Result<f64, Box<dyn std::error::Error>> {
        let stream: Vec<Vec<f64>> = streams::signal_and_noise(self.length, self.rank, 0.3, 3).take(self.many).collect();
        let best = if self.hindsight { "auto" } else { "none" };
        let setup = self.options.clone().with("best", best).resolve(str::to_owned)?;
        let mut run = Model::of(&setup, self.length)?;
        let stream: Vec<&[f64]> = stream.iter().take(rows).map(|row| &row[..]).collect();
        if self.together {
            run.step_each(&stream, |_, _| ()).map_err(|(_, error)| error)?;
        } else {
            stream.iter().try_for_each(|row| run.step(row).map(drop))?;
        }
        Ok(run.totals().expected_loss)
    }
}

fn main() -> ExitCode {
    let cases = cases();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, rows] = arguments.as_slice() else {
        cases.iter().for_each(|case| println!("{} {} {}", case.name, case.few, case.many));
        return ExitCode::SUCCESS;
    };
    let (Some(case), Ok(rows)) = (cases.iter().find(|case| case.name == name), rows.parse()) else {
        eprintln!("no case {name} with {rows} rows; without arguments the cases are listed");
        return ExitCode::from(2);
    };
    match case.run(rows) {
        Ok(loss) => {
            println!("{loss}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}
