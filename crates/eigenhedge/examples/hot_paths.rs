//! The paths that every row takes, for counting instructions: `hot_paths CASE ROWS` learns from that many rows and prints
//! the loss; without arguments it lists the cases.
//!
//! A case always makes its whole stream first, however few of the rows it learns from. So the difference between two
//! numbers of rows is what the rows in between cost, and nothing else. `cargo xtask count` runs it that way.

use eigenhedge::kernel::KernelParameters;
use eigenhedge::options::{MixingRule, Options, Rate};
use eigenhedge::{Comparators, Kind, Run, streams};
use std::process::ExitCode;

/// A learner over rows of this length; it first learns from `few` rows, which are not counted, then from the rest of `many`.
struct Case {
    name: &'static str,
    length: usize,
    few: usize,
    many: usize,
    hindsight: bool,
    /// True if all rows are at hand.
    together: bool,
    options: Options,
}

fn learner(kind: Kind) -> Options {
    Options::new(kind, 10)
}

fn tracking(mixing: MixingRule) -> Options {
    Options { eta: Some(Rate::Given(4.0)), mixing: Some(mixing), ..learner(Kind::Tracking) }
}

fn cases() -> Vec<Case> {
    let case =
        |name, length, few, many, options| Case { name, length, few, many, hindsight: false, together: false, options };
    let capped = Options { max_rank: Some(14), ..tracking(MixingRule::FixedShare) };
    let kernel = Options {
        kept: 5,
        kernel: Some("rbf"),
        parameters: KernelParameters { gamma: Some(0.5), ..KernelParameters::default() },
        budget: Some(100),
        center: Some(false),
        ..tracking(MixingRule::FixedShare)
    };
    vec![
        case("tracking-64", 64, 100, 300, tracking(MixingRule::None)),
        case("tracking-fixed-share-64", 64, 100, 300, capped),
        case("tracking-1024", 1024, 40, 120, tracking(MixingRule::None)),
        Case { together: true, ..case("tracking-1024-together", 1024, 40, 120, tracking(MixingRule::None)) },
        case("anchored-64", 64, 80, 130, learner(Kind::Anchored)),
        case("auto-64", 64, 30, 60, learner(Kind::Auto)),
        case("gha-64", 64, 200, 800, learner(Kind::Gha)),
        // The budget is full from the start; atoms leave in batches, so that a few rows would not be a fair sample.
        case("kernel-budget-100", 16, 150, 250, kernel),
        Case { hindsight: true, ..case("hindsight-64", 64, 100, 200, tracking(MixingRule::None)) },
    ]
}

impl Case {
    fn run(&self, rows: usize) -> Result<f64, Box<dyn std::error::Error>> {
        let stream: Vec<Vec<f64>> = streams::signal_and_noise(self.length, 10, 0.3, 3).take(self.many).collect();
        let spec = self.options.checked(str::to_owned)?.spec(self.length)?;
        let mut run =
            Run::with_comparators(spec, self.length, 0, Comparators { hindsight: self.hindsight, segments: 0 })?;
        let stream: Vec<&[f64]> = stream.iter().take(rows).map(|row| &row[..]).collect();
        if self.together {
            run.step_each(&stream, |_, _| ()).map_err(|(_, error)| error)?;
        } else {
            stream.iter().try_for_each(|row| run.step(row).map(drop))?;
        }
        Ok(run.ledger().expected)
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
