//! `demo`: the main learners on a synthetic stream that changes twice.

mod learners;
mod page;

use crate::args::DemoArgs;
use crate::destination::judge_page;
use crate::files::judge_place;
use crate::stdout;
use anyhow::Result;
use eigenhedge::streams;
use eigenhedge_io::{printable_path, write_whole};
use learners::{AUTO, FOLLOWING, KEPT, Outcome, STEADY, alpha, learners, measure};
use std::fmt::Write as _;
use std::path::PathBuf;

const NEXT: &str = "\
Next: eigenhedge run YOUR.csv -k 2 --report report.html runs a learner on your own rows; eigenhedge run --help says how.
";

pub fn demo(args: &DemoArgs) -> Result<()> {
    let path = (!args.no_report).then_some(&args.report);
    judge_page(path.map(PathBuf::as_path))?;
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

fn least_of_the_others(results: &[Outcome]) -> Option<(&'static str, f64)> {
    let others =
        results.iter().filter(|result| result.name != AUTO).map(|result| (result.name, result.expected_loss()));
    others.min_by(|a, b| a.1.total_cmp(&b.1))
}
