//! `demo`: all learners on a synthetic stream that changes twice.

mod page;

use crate::args::DemoArgs;
use crate::files::judge_place;
use crate::stdout;
use anyhow::Result;
use eigenhedge::{AnyLearner, Comparators, Instance, Kind, Mixing, Model, Random, Spec, streams, trial};
use eigenhedge_io::{printable_path, write_whole};
use eigenhedge_pages::run::Recorder;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const KEPT: usize = 2;

const AUTO: &str = "auto";
const FOLLOWING: &str = "tracking + fixed share";
const STEADY: &str = "tracking";

const NEXT: &str = "\
Next: eigenhedge run YOUR.csv -k 2 --report report.html runs a learner on your own rows; eigenhedge run --help says how.
";

/// Runs the learners, prints their losses and writes the page.
pub fn demo(args: &DemoArgs) -> Result<()> {
    let path = (!args.no_report).then_some(&args.report);
    path.map_or(Ok(()), |path| judge_place(path))?;
    let stream = streams::three_subspaces(args.seed);
    let curve = page::best_so_far(&stream)?;
    let best = curve.values.last().copied().unwrap_or_default();
    let results: Vec<Outcome> =
        learners().into_iter().map(|(name, spec)| measure(name, &spec, &stream, args)).collect::<Result<_>>()?;
    let text = introduction(args, &stream) + &table(best, &results, args) + &remarks(best, &results, args.draws);
    let text = match path {
        Some(path) => {
            write_whole(path, page::page(&stream, curve, &results, args.seed)?.html().as_bytes())?;
            format!("{text}\nReport: {}; open it in a browser.\n{NEXT}", printable_path(path))
        }
        None => format!("{text}\n{NEXT}"),
    };
    stdout::print(&text)
}

/// Returns the learners by name. They have the defaults of `run`, except that tracking also appears with other mixing
/// rules.
fn learners() -> Vec<(&'static str, Spec)> {
    let spec = |kind| Spec::new(kind, KEPT);
    let tracking = |mixing| Spec { mixing, ..spec(Kind::Tracking) };
    vec![
        (AUTO, spec(Kind::Auto)),
        ("follow the leader", spec(Kind::Leader)),
        ("forgetting leader", spec(Kind::ForgettingLeader)),
        (STEADY, tracking(Mixing::None)),
        (FOLLOWING, spec(Kind::Tracking)),
        ("tracking + past average", tracking(Mixing::PastAverage { alpha: alpha() })),
        ("anchored", spec(Kind::Anchored)),
        ("product sets", spec(Kind::ProductSets)),
        ("perturbed leader", spec(Kind::PerturbedLeader)),
        ("additive", spec(Kind::Additive)),
        ("Hebbian (gha)", spec(Kind::Gha)),
    ]
}

/// Returns the default mixing share of tracking.
fn alpha() -> f64 {
    match Spec::new(Kind::Tracking, KEPT).mixing {
        Mixing::FixedShare { alpha } | Mixing::PastAverage { alpha } => alpha,
        _ => 0.0,
    }
}

/// Result of one learner: its model after the stream, losses and time.
struct Outcome {
    name: &'static str,
    run: Model,
    recorder: Recorder,
    /// Mean and standard deviation of the total realised loss over the draws.
    realised: (f64, f64),
    seconds_per_row: f64,
}

impl Outcome {
    fn expected_loss(&self) -> f64 {
        self.run.totals().expected_loss
    }
}

fn measure(name: &'static str, spec: &Spec, stream: &[Vec<f64>], args: &DemoArgs) -> Result<Outcome> {
    // The learned state does not depend on the draws, so all draws share one learner. The first row sets the center and is not
    // counted.
    let mut learner = AnyLearner::new(spec, stream[0].len())?;
    let (first, charged) = stream.split_at(usize::from(spec.center.is_some()));
    for row in first {
        trial(&mut learner, &Instance::from(&row[..]), &mut Random::seeded(args.seed))?;
    }
    let totals = eigenhedge_lab::totals(learner, charged, (args.seed, args.draws as usize), &|_| {})?;
    let comparators = Comparators::new(false, 0);
    let mut run = Model::with_comparators(spec.clone(), stream[0].len(), args.seed.wrapping_add(1), comparators)?;
    let mut recorder = Recorder::new(&run, false);
    let mut spent = Duration::ZERO;
    for (number, row) in (0..).zip(stream) {
        let start = Instant::now();
        let loss = run.step(row)?;
        spent += start.elapsed();
        recorder.enter(number, None, loss, &run);
    }
    let seconds_per_row = spent.as_secs_f64() / stream.len() as f64;
    Ok(Outcome { name, run, recorder, realised: totals.drawn(), seconds_per_row })
}

fn introduction(args: &DemoArgs, stream: &[Vec<f64>]) -> String {
    format!(
        "{} rows of {} numbers. Each lies in a plane, and the plane changes after 500 and after 1000 rows (seed {}).\n\
         Before each row a learner commits to a plane, then loses the squared distance of the row from it.\n\n",
        stream.len(),
        stream[0].len(),
        args.seed
    )
}

fn table(best: f64, results: &[Outcome], args: &DemoArgs) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 6]| {
        let [name, expected, realised, over, time, directions] = cells;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<32}{expected:>10}{realised:>22}{over:>11}{time:>10}{directions:>14}");
    };
    line(["", "expected", "realised, mean ± sd", "", "time per", "directions u"]);
    line(["learner", "loss", &format!("of {} draws", args.draws), "over best", "row (µs)", "(mean)"]);
    line(["best fixed subspace in hindsight", &format!("{best:.2}"), "-", "-", "-", &KEPT.to_string()]);
    for result in results {
        let (mean, deviation) = result.realised;
        line([
            result.name,
            &format!("{:.2}", result.expected_loss()),
            &format!("{mean:.2} ± {deviation:.2}"),
            &format!("{:+.2}", result.expected_loss() - best),
            &format!("{:.1}", result.seconds_per_row * 1e6),
            &format!("{:.1}", result.run.totals().rank_mean()),
        ]);
    }
    text + "\n"
}

/// Describes the results in sentences. Each sentence is included only if the numbers support it.
fn remarks(best: f64, results: &[Outcome], draws: u32) -> String {
    let mut text = String::from("What to notice\n");
    let expected = |name| results.iter().find(|r| r.name == name).map(|r| r.expected_loss());
    let mut say = |sentence: String| {
        let _ = writeln!(text, "  {sentence}");
    };
    let ahead: Vec<&str> = results.iter().filter(|r| r.expected_loss() < best).map(|r| r.name).collect();
    match ahead.as_slice() {
        [] => say("No learner lost less than the best fixed plane, which was chosen with all rows known.".into()),
        names => {
            let count = format!("{} of {} learners lost less than the best fixed plane", names.len(), results.len());
            say(format!("{count}, which was chosen with all rows known:"));
            say(format!("{}.", names.join(", ")));
        }
    }
    if let (Some(auto), Some((name, least))) = (expected(AUTO), least_of_the_others(results)) {
        let ratio = auto / least;
        say(format!("auto, with nothing to tune, lost {ratio:.2} times what the best single learner did ({name})."));
    }
    if let (Some(steady), Some(following)) = (expected(STEADY), expected(FOLLOWING)) {
        let (ratio, verb) =
            if steady > following { (steady / following, "saved") } else { (following / steady, "cost") };
        say(format!("Mixing in a share of {} {verb} tracking a factor of {ratio:.1} in loss.", alpha()));
    }
    let agree = results.iter().all(|result| {
        let (mean, deviation) = result.realised;
        (mean - result.expected_loss()).abs() <= 4.0 * deviation / f64::from(draws).sqrt() + 1e-9 * mean
    });
    if agree {
        say("Realised losses scatter around the expected ones, as they should: the draws are fair.".into());
    }
    text
}

/// Returns the name and the loss of the best learner other than `auto`.
fn least_of_the_others(results: &[Outcome]) -> Option<(&'static str, f64)> {
    let others =
        results.iter().filter(|result| result.name != AUTO).map(|result| (result.name, result.expected_loss()));
    others.min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_draws_equal_separate_runs_bit_for_bit() {
        let stream: Vec<Vec<f64>> = streams::switching(8, 2, 3, 40, 5);
        for (name, spec) in learners() {
            let learner = AnyLearner::new(&spec, 8).unwrap();
            let shared = eigenhedge_lab::totals(learner.clone(), &stream, (0, 4), &|_| {}).unwrap();
            let separate = (1..=4).map(|seed| {
                let (mut learner, mut random) = (learner.clone(), Random::seeded(seed));
                let mut step = |row: &Vec<f64>| trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
                stream.iter().map(|row| step(row).realised).fold(0.0, |total, loss| total + loss)
            });
            assert_eq!(shared.drawn().0, separate.sum::<f64>() / 4.0, "{name}");
        }
    }
}
