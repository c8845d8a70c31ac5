//! Page of a run, built from the recorded data.

use super::{Checkpoint, PROBABILITIES, Recorder, ledger, sentences};
use crate::number::readable;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Model, Standardize, Summary};
use eigenhedge_report::number::{grouped, significant};
use eigenhedge_report::{Best, Curve, Directions, Look, Mark, Placed, RunReport, Tile};

/// Content of the page that is not part of the model.
pub struct Heading<'a> {
    /// Name of the table.
    pub source: &'a str,
    /// Names of the columns.
    pub columns: &'a [String],
    /// True if columns are standardized. Losses are then in squared standard deviations.
    pub standardized: bool,
    /// Summary in sentences.
    pub account: Vec<String>,
}

/// Creates the page of a finished run with this summary.
pub fn page(heading: Heading<'_>, recorder: &Recorder, run: &Model, summary: &Summary) -> RunReport {
    let name = run.spec().learner.entry().name;
    let cuts = summary.partitions.last().into_iter().flat_map(|partition| &partition.cuts);
    let (rows, columns) = (grouped(summary.rows), summary.dim);
    let unit = if heading.standardized { "squared standard deviations" } else { "squared units of the input" };
    RunReport {
        title: heading.source.to_owned(),
        subtitle: format!("eigenhedge run: {rows} rows of {columns} columns, {} directions kept by {name}", summary.k),
        notes: notes(recorder, summary),
        tiles: tiles(run, summary),
        unit: unit.into(),
        kept_share: kept_share(recorder, run),
        loss_per_row: loss_per_row(recorder, run),
        learner: Some(recorder.totals(name)),
        best: best(&recorder.checkpoints),
        no_learning: Some(recorder.no_learning(run)),
        bound: bound(&recorder.checkpoints),
        regret_per_row: regret(&recorder.checkpoints),
        directions: directions(&heading, recorder, run),
        kept: kept(recorder),
        weights: recorder.weights(&summary.members),
        losses: Some(Curve::of("loss", &recorder.losses, 0)),
        largest: recorder.largest.entries().to_vec(),
        rows: if run.spec().kept > 1 { Placed::of(&recorder.plane) } else { Vec::new() },
        marks: cuts.map(|row| Mark { x: *row as f64, label: "new segment".into() }).collect(),
        account: heading.account,
        ledger: ledger::facts(summary),
        members: ledger::members(&summary.members),
        times: recorder.times.as_ref().filter(|_| recorder.is_in_order).map(|times| Curve::of("time", times, 0)),
    }
}

/// Creates the page of an ongoing run after the row with this number. The loss of the best fixed subspace in hindsight
/// is given as an interval. Returns `None` before the first row whose loss counts.
pub fn page_so_far(source: &str, columns: &[String], recorder: &Recorder, run: &Model, row: u64) -> Option<RunReport> {
    if run.totals().charged() == 0 {
        return None;
    }
    let mut recorder = recorder.clone();
    let summary = recorder.interim_summary(run);
    recorder.close(row, run, &summary);
    let standardized = run.columns().standardizer.how() != Standardize::None;
    let account = sentences(&summary, run.spec(), standardized);
    Some(page(Heading { source, columns, standardized, account }, &recorder, run, &summary))
}

/// Returns the share of the energy that random directions would lose.
fn chance(run: &Model) -> f64 {
    match run.spec().space(run.length()) {
        Multiplicity::Finite(dimension) => 1.0 - (run.spec().kept as f64 / dimension as f64).min(1.0),
        Multiplicity::Infinite => 1.0,
    }
}

fn energy(summary: &Summary) -> f64 {
    summary.loss + summary.kept_energy
}

fn percent(part: f64) -> String {
    format!("{} %", significant(100.0 * part, 3))
}

/// Returns the key numbers at the top of the page.
fn tiles(run: &Model, summary: &Summary) -> Vec<Tile> {
    let (lost, energy) = (summary.expected_loss, energy(summary));
    let tile =
        |value: String, label: String, exact: f64| Tile { value, label, exact: exact.to_string(), ..Tile::default() };
    let mut tiles = Vec::new();
    if energy > 0.0 {
        let kept = (1.0 - lost / energy).clamp(0.0, 1.0);
        let directions = if summary.k == 1 { "direction".into() } else { format!("{} directions", summary.k) };
        tiles.push(tile(percent(kept), format!("of the energy kept by the {directions} chosen before each row"), kept));
        let without = chance(run) * energy;
        if without > 0.0 {
            tiles.push(tile(percent(lost / without), "of the loss without learning".into(), lost / without));
        }
    }
    if let Some(best) = summary.best_loss.map(|best| best.high()).filter(|best| *best > 0.0) {
        let ratio = lost / best;
        let label = "the loss of the best fixed directions, chosen with all rows known".into();
        tiles.push(tile(format!("{} \u{d7}", significant(ratio, 3)), label, ratio));
    }
    match (summary.bound, summary.bound_holds) {
        (Some(bound), Some(holds)) if bound > 0.0 => {
            let label = if holds { "of the loss that the bound allows" } else { "of the bound: IT DOES NOT HOLD" };
            tiles.push(tile(percent(lost / bound), label.into(), lost / bound));
        }
        _ => tiles.push(Tile { value: "no bound".into(), label: summary.bound_reason.clone(), ..Tile::default() }),
    }
    tiles
}

/// Returns sentences about facts that need attention, such as skipped rows.
fn notes(recorder: &Recorder, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let rows = |count: u64| if count == 1 { "1 row was".into() } else { format!("{} rows were", grouped(count)) };
    if summary.bound_holds == Some(false) {
        notes.push("The bound DOES NOT HOLD: the loss is larger than the theorem allows.".into());
    }
    let largest: f64 = recorder.largest.entries().iter().map(|entry| entry.value).sum();
    let (count, charged) = (recorder.largest.entries().len() as u64, recorder.charged());
    if summary.loss > 0.0 && charged >= 100 * count && largest > 0.25 * summary.loss {
        let share = percent((largest / summary.loss).min(1.0));
        notes.push(format!(
            "{count} rows account for {share} of the total loss: see \u{201c}Which rows stand out\u{201d}."
        ));
    }
    if recorder.times.is_some() && !recorder.is_in_order {
        notes.push("The times are not in order, so the charts show row numbers.".into());
    }
    if summary.skipped_rows > 0 {
        notes.push(format!("{} passed over.", rows(summary.skipped_rows)));
    }
    let certificate = &summary.certificate;
    if certificate.clipped_rows > 0 {
        notes.push(format!("{} shortened before learning; the loss counts in full.", rows(certificate.clipped_rows)));
    }
    if certificate.filled_rows > 0 {
        let cells = grouped(certificate.missing_cells);
        notes.push(format!("{} learned with missing cells filled in: {cells} cells.", rows(certificate.filled_rows)));
    }
    if certificate.budget_error > 0.0 {
        notes.push(format!(
            "The budget discarded features with a total norm of {}.",
            readable(certificate.budget_error)
        ));
    }
    notes
}

impl Recorder {
    /// Returns the number of rows whose loss counts, up to the most recent checkpoint.
    fn charged(&self) -> u64 {
        self.checkpoints.last().map_or(0, |checkpoint| checkpoint.rows)
    }

    /// Returns the cumulative loss of random directions.
    fn no_learning(&self, run: &Model) -> Curve {
        let mut curve = Curve::of("no learning", &self.totals, 1);
        curve.values.iter_mut().for_each(|energy| *energy *= chance(run));
        curve
    }
}

/// Maximum number of segments into which a curve is divided.
const STRETCHES: usize = 150;

/// Reduces a curve to the ends of at most [`STRETCHES`] segments.
fn thinned(curve: Curve) -> Curve {
    let step = curve.rows.len().div_ceil(STRETCHES).max(1);
    let some = |values: Vec<f64>| values.into_iter().step_by(step).collect();
    Curve { rows: some(curve.rows), values: some(curve.values), ..curve }
}

/// Returns the increase of a curve between consecutive rows. Each increase is divided by `over`, a function of the two
/// rows.
fn gains(name: &str, curve: &Curve, over: impl Fn(f64, f64) -> f64) -> Curve {
    let pairs = curve.rows.windows(2).zip(curve.values.windows(2));
    let gain = |(rows, values): (&[f64], &[f64])| (values[1] - values[0]) / over(rows[0], rows[1]);
    Curve { name: name.into(), rows: curve.rows[1.min(curve.rows.len())..].to_vec(), values: pairs.map(gain).collect() }
}

/// Returns curves of the loss per row in segments of rows, for the learner, the best fixed directions and random
/// directions.
fn loss_per_row(recorder: &Recorder, run: &Model) -> Vec<Curve> {
    let rows = |from: f64, to: f64| to - from;
    let learner = gains(run.spec().learner.entry().name, &thinned(recorder.totals("")), rows);
    let without = gains("no learning", &thinned(recorder.no_learning(run)), rows);
    let best = curve("", &recorder.checkpoints, |checkpoint| Some(checkpoint.high));
    // Ends of brackets need not increase with the rows.
    let best = is_exact(&recorder.checkpoints).then(|| gains("best fixed directions", &best, rows));
    [Some(learner), best, Some(without)].into_iter().flatten().collect()
}

/// Returns curves of the kept share of the energy in percent: in segments of rows, cumulative, for the best fixed
/// directions, and for random directions.
fn kept_share(recorder: &Recorder, run: &Model) -> Vec<Curve> {
    let (lost, energy) = (recorder.totals(""), Curve::of("", &recorder.totals, 1));
    let share = |lost: f64| 100.0 * (1.0 - lost).clamp(0.0, 1.0);
    let shares = |name: &str, curve: Curve| Curve {
        name: name.into(),
        values: curve.values.into_iter().map(share).collect(),
        ..curve
    };
    let recent = gains("", &thinned(lost.clone()), |from, to| energy.at(to) - energy.at(from));
    let values = lost.values.iter().zip(&energy.values).map(|(lost, energy)| lost / energy).collect();
    let all = Curve { values, ..lost };
    let of_best = |checkpoint: &Checkpoint| Some(checkpoint.high / energy.at(checkpoint.row as f64));
    let best = curve("", &recorder.checkpoints, of_best);
    let rows: Vec<f64> = [energy.rows.first(), energy.rows.last()].into_iter().flatten().copied().collect();
    let without = Curve { values: vec![chance(run); rows.len()], rows, ..Curve::default() };
    vec![
        shares("lately", recent),
        shares("so far", all),
        shares("best fixed directions so far", best),
        shares("no learning", without),
    ]
}

/// Returns the directions during and at the end of the run, or `None` for kernels.
fn directions(heading: &Heading<'_>, recorder: &Recorder, run: &Model) -> Option<Directions> {
    let kept = run.spec().kept;
    let embedding = run.learner().clone().embedding(kept);
    let matrix = embedding.components()?;
    let shares = run.energies(&embedding).filter(|(_, all)| *all > 0.0);
    let looks = recorder.looks.iter().map(|look| {
        let vectors = look.numbers.chunks(run.length()).map(|vector| vector.iter().map(|x| f64::from(*x)).collect());
        Look { row: look.row as f64, vectors: vectors.collect() }
    });
    Some(Directions {
        columns: heading.columns.to_vec(),
        vectors: (0..kept).map(|j| matrix.column(j).to_vec()).collect(),
        shares: shares.map(|(along, all)| along.iter().map(|x| x / all).collect()).unwrap_or_default(),
        looks: looks.collect(),
    })
}

fn curve(name: &str, checkpoints: &[Checkpoint], value: impl Fn(&Checkpoint) -> Option<f64>) -> Curve {
    let points = checkpoints.iter().filter_map(|checkpoint| Some((checkpoint.row as f64, value(checkpoint)?)));
    let (rows, values) = points.unzip();
    Curve { name: name.into(), rows, values }
}

/// Returns true if the intervals of the best loss are too narrow to be visible in a plot.
fn is_exact(checkpoints: &[Checkpoint]) -> bool {
    const PIXEL: f64 = 2e-3;
    checkpoints.iter().all(|checkpoint| checkpoint.high - checkpoint.low <= PIXEL * checkpoint.high)
}

fn best(checkpoints: &[Checkpoint]) -> Option<Best> {
    const NAME: &str = "best fixed directions";
    match checkpoints {
        [] => None,
        [_] => Some(Best::Points(curve(NAME, checkpoints, |checkpoint| Some(checkpoint.high)))),
        _ if is_exact(checkpoints) => Some(Best::Curve(curve(NAME, checkpoints, |checkpoint| Some(checkpoint.high)))),
        _ => {
            let low = curve(NAME, checkpoints, |checkpoint| Some(checkpoint.low));
            let high = curve(NAME, checkpoints, |checkpoint| Some(checkpoint.high));
            Some(Best::Bracket { name: low.name, rows: low.rows, low: low.values, high: high.values })
        }
    }
}

fn bound(checkpoints: &[Checkpoint]) -> Option<Curve> {
    Some(curve("bound", checkpoints, |checkpoint| checkpoint.bound)).filter(|curve| !curve.rows.is_empty())
}

fn regret(checkpoints: &[Checkpoint]) -> Vec<Curve> {
    let against = |best: fn(&Checkpoint) -> f64| {
        move |checkpoint: &Checkpoint| Some((checkpoint.expected_loss - best(checkpoint)) / checkpoint.rows as f64)
    };
    if is_exact(checkpoints) {
        return vec![curve("regret per row", checkpoints, against(|checkpoint| checkpoint.high))];
    }
    vec![
        curve("at least", checkpoints, against(|checkpoint| checkpoint.high)),
        curve("at most", checkpoints, against(|checkpoint| checkpoint.low)),
    ]
}

/// Returns a curve of the probability of being kept for each recorded direction, most probable first.
fn kept(recorder: &Recorder) -> Vec<Curve> {
    let curves = (0..PROBABILITIES).map(|i| Curve::of(format!("direction {}", i + 1), &recorder.kept, i));
    curves.filter(|curve| curve.values.iter().any(|value| value.is_finite())).collect()
}
