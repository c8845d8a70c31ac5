//! Plots on the page of a run.

use super::{Checkpoint, PROBABILITIES, ROW, Recorder, directions};
use crate::chart::{Annotation, Chart, Curve, Kind, Mark, Series, Tint};
use crate::focus::without_outliers;
use crate::heat_map::{HeatMap, leading};
use crate::number::grouped;
use crate::page::Block;
use crate::palette::TIMES;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Member, Model, Summary};

const LINES: usize = 16;
/// The axis is logarithmic if the largest ordinary loss exceeds this multiple of the median.
const FAR: f64 = 40.0;
/// Minimum mean of a curve in a heat map.
const WORTH: f64 = 0.002;
const STRETCHES: usize = 150;
const BEST: &str = "best fixed directions";

pub(super) fn pictures(
    recorder: &Recorder,
    run: &Model,
    summary: &Summary,
    columns: &[String],
    unit: &str,
) -> Vec<Block> {
    let cuts = summary.partitions.last().into_iter().flat_map(|partition| &partition.cuts);
    let marks: Vec<Mark> = cuts.map(|row| Mark { x: *row as f64, label: "new segment".into() }).collect();
    let chart = |chart: Chart| Block::Chart(Chart { marks: marks.clone(), ..chart });
    let mut blocks = vec![chart(recorder.kept_share(run))];
    blocks.extend([recorder.loss_per_row(run, unit), recorder.row_losses(unit)].map(chart));
    blocks.extend(directions::blocks(columns, recorder, run));
    blocks.extend([recorder.weights(&summary.members), recorder.kept_over_time()].map(Block::HeatMap));
    blocks.extend([recorder.total_loss(run, unit), recorder.regret()].map(chart));
    if run.spec().kept > 1 {
        blocks.push(Block::Chart(recorder.plane()));
    }
    let has_data = |block: &Block| match block {
        Block::Chart(chart) => chart.series.iter().any(|series| chart.shows(series)),
        Block::HeatMap(map) => map.places.len() > 1 && !map.lines.is_empty(),
        _ => true,
    };
    let times = recorder.times.as_ref().filter(|_| recorder.is_in_order).map(|times| times.curve("time", 0));
    let times = times.filter(|times| times.rows.len() > 1);
    blocks.retain(has_data);
    blocks.iter_mut().for_each(|block| times.iter().for_each(|times| show_times(block, times)));
    blocks
}

/// Returns the expected share of the energy that random directions lose.
pub(super) fn chance(run: &Model) -> f64 {
    match run.spec().space(run.length()) {
        Multiplicity::Finite(dimension) => 1.0 - (run.spec().kept as f64 / dimension as f64).min(1.0),
        Multiplicity::Infinite => 1.0,
    }
}

fn show_times(block: &mut Block, times: &Curve) {
    match block {
        Block::Chart(chart) if chart.x_label == ROW => {
            let points = chart.series.iter_mut().flat_map(|series| &mut series.points).map(|point| &mut point.x);
            let marks = chart.marks.iter_mut().map(|mark| &mut mark.x);
            let places = chart.annotations.iter_mut().map(|place| &mut place.x);
            points.chain(marks).chain(places).for_each(|x| *x = times.at(*x));
            (chart.x_label, chart.dated_x) = (times.name.clone(), true);
        }
        Block::HeatMap(map) => {
            map.places.iter_mut().for_each(|x| *x = times.at(*x));
            (map.x_label, map.dated_x) = (times.name.clone(), true);
        }
        _ => {}
    }
}

fn over_rows(title: &str, y_label: &str, caption: impl Into<String>) -> Chart {
    Chart { caption: caption.into(), ..Chart::new(title, ROW, y_label) }
}

impl Recorder {
    fn no_learning(&self, run: &Model) -> Curve {
        self.totals.curve("no learning", 1).map(|energy| energy * chance(run))
    }

    fn kept_share(&self, run: &Model) -> Chart {
        let (lost, energy) = (self.totals("so far"), self.totals.curve("", 1));
        let recent = gains("lately", &thinned(lost.clone()), |from, to| energy.at(to) - energy.at(from));
        let values = lost.values.iter().zip(&energy.values).map(|(lost, energy)| lost / energy).collect();
        let of_best = |checkpoint: &Checkpoint| Some(checkpoint.high / energy.at(checkpoint.row as f64));
        let best = curve("best fixed directions so far", &self.checkpoints, of_best);
        let rows: Vec<f64> = [energy.rows.first(), energy.rows.last()].into_iter().flatten().copied().collect();
        let without = Curve { name: "no learning".into(), values: vec![chance(run); rows.len()], rows };
        let share = |curve: Curve| curve.map(|lost| 100.0 * (1.0 - lost).clamp(0.0, 1.0));
        let mut chart = over_rows("How much was kept", "per cent of the energy", SHARE);
        chart.series.extend([recent, Curve { values, ..lost }].map(|curve| share(curve).series(Kind::Line)));
        chart.series.extend([best, without].map(|curve| share(curve).series(Kind::Dashed)));
        chart.focus_y = Some((0.0, 100.0));
        chart
    }

    fn loss_per_row(&self, run: &Model, unit: &str) -> Chart {
        let rows = |from: f64, to: f64| to - from;
        let learner = gains(run.spec().learner.entry().name, &thinned(self.totals("")), rows);
        let without = gains("no learning", &thinned(self.no_learning(run)), rows);
        let best = curve("", &self.checkpoints, |checkpoint| Some(checkpoint.high));
        // The bounds of an inexact best loss need not increase with the rows.
        let best = is_exact(&self.checkpoints).then(|| gains(BEST, &best, rows));
        let others = if best.is_some() { BESIDE_BEST } else { BESIDE_RANDOM };
        let caption = format!("Mean loss per row in each segment of rows, in {unit}. {others}");
        let mut chart = over_rows("What was lost", "loss per row", caption);
        chart.series.push(learner.series(Kind::Line));
        chart.series.extend(best.iter().chain([&without]).map(|curve| curve.series(Kind::Dashed)));
        let focus = without_outliers(values(&chart)).map(|(_, high)| (0.0, high));
        let largest = focus.map_or_else(|| values(&chart).fold(0.0, f64::max), |focus| focus.1);
        chart.log_y = largest > FAR * usual(&learner);
        *(if chart.log_y { &mut chart.focus_plain } else { &mut chart.focus_y }) = focus;
        chart.scale_switch = true;
        chart
    }

    /// The linear axis ends at the largest loss, which may hide the bound.
    fn total_loss(&self, run: &Model, unit: &str) -> Chart {
        let caption = format!("Cumulative loss, in {unit}. {TOTAL}");
        let mut chart = over_rows("In all, and the guarantee", "total loss", caption);
        chart.series.push(self.totals(run.spec().learner.entry().name).series(Kind::Line));
        chart.series.extend(best(&self.checkpoints));
        chart.series.push(self.no_learning(run).series(Kind::Dashed));
        let largest = values(&chart).fold(0.0, f64::max);
        let bound = curve("bound", &self.checkpoints, |checkpoint| checkpoint.bound);
        chart.series.extend((!bound.rows.is_empty()).then(|| bound.series(Kind::Dashed)));
        chart.focus_plain = (largest > 0.0).then_some((0.0, largest));
        chart.log_y = true;
        chart
    }

    fn regret(&self) -> Chart {
        let against = |name: &str, best: fn(&Checkpoint) -> f64| {
            let regret = |point: &Checkpoint| Some((point.expected_loss - best(point)) / point.rows as f64);
            curve(name, &self.checkpoints, regret).series(Kind::Line)
        };
        let mut chart = over_rows("Regret per row", "regret per row", REGRET);
        chart.series = match is_exact(&self.checkpoints) {
            true => vec![against("regret per row", |point| point.high)],
            false => vec![against("at least", |point| point.high), against("at most", |point| point.low)],
        };
        chart.focus_y = without_outliers(values(&chart));
        chart
    }

    fn row_losses(&self, unit: &str) -> Chart {
        let caption = format!("Loss of each row, in {unit}. {LOSSES}");
        let mut chart = over_rows("Which rows stand out", "loss of the row", caption);
        chart.series.push(self.losses.curve("loss", 0).series(Kind::Points));
        chart.focus_y = without_outliers(values(&chart)).map(|(_, high)| (0.0, high));
        chart.scale_switch = true;
        let named = self.largest.entries.iter().map(|entry| {
            let label = if entry.label.is_empty() { String::new() } else { format!(" {}", entry.label) };
            Annotation { x: entry.row as f64, y: entry.value, label: format!("{}{label}", grouped(entry.row)) }
        });
        chart.annotations.extend(named);
        chart
    }

    fn plane(&self) -> Chart {
        let mut chart = Chart::new("Rows in the first two coordinates", "first coordinate", "second coordinate");
        chart.caption = "Each point is a row; colours go from early to late.".into();
        let points = self.plane.points();
        let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) else { return chart };
        let steps = TIMES.len() as u128;
        let step = |row: u64| (u128::from(row - first) * steps / (u128::from(last - first) + 1)) as usize;
        for of_time in points.chunk_by(|a, b| step(a.0) == step(b.0)) {
            let (from, to) = (of_time[0].0, of_time[of_time.len() - 1].0);
            let name = format!("rows {} to {}", grouped(from), grouped(to));
            let (x, y): (Vec<f64>, Vec<f64>) = of_time.iter().map(|(_, values)| (values[0], values[1])).unzip();
            chart.series.push(Series::points(name, &x, &y).with_tint(Tint::Time(step(from))));
        }
        chart.focus_x = without_outliers(points.iter().map(|(_, values)| values[0]));
        chart.focus_y = without_outliers(points.iter().map(|(_, values)| values[1]));
        chart
    }

    pub fn weights(&self, members: &[Member]) -> HeatMap {
        let weights = self.weights.as_ref();
        let curves = (0..).zip(members).filter_map(|(i, member)| Some(weights?.curve(&member.name, i)));
        shares("Which member led when", MEMBERS, &curves.collect::<Vec<_>>())
    }

    fn kept_over_time(&self) -> HeatMap {
        let curves = (0..PROBABILITIES).map(|i| self.kept.curve(format!("direction {}", i + 1), i));
        let mut curves: Vec<Curve> =
            curves.filter(|curve| curve.values.iter().any(|value| value.is_finite())).collect();
        if !curves.iter().any(|curve| curve.values.iter().any(|p| *p > 0.02 && *p < 0.98)) {
            curves.clear();
        }
        shares("How surely each direction is kept", KEPT, &curves)
    }
}

/// Curves with only small values are left out.
fn shares(title: &str, caption: &str, curves: &[Curve]) -> HeatMap {
    let largest = |curve: &Curve| curve.values.iter().copied().fold(0.0, f64::max);
    let known = |curve: &Curve| curve.values.iter().copied().filter(|value| value.is_finite()).sum::<f64>();
    let worth = |curve: &Curve| largest(curve) >= 0.07 && known(curve) >= WORTH * curve.values.len() as f64;
    let order = curves.iter().enumerate().filter(|(_, curve)| worth(curve));
    let order = leading(order.map(|(i, curve)| (i, largest(curve))).collect(), LINES);
    let others = match curves.len() - order.len() {
        0 => String::new(),
        1 => " One with only small values is left out.".into(),
        count => format!(" {count} with only small values are left out."),
    };
    // A suffix that all names share is left out.
    let ending = |curve: &Curve| curve.name.rfind(", ").map(|at| curve.name[at..].to_owned());
    let common = curves.first().and_then(ending).filter(|common| curves.iter().all(|c| c.name.ends_with(common)));
    let end = |i: usize| curves[i].name.len() - common.as_ref().map_or(0, String::len);
    HeatMap {
        title: title.into(),
        x_label: ROW.into(),
        places: curves.first().map(|curve| curve.rows.clone()).unwrap_or_default(),
        lines: order.into_iter().map(|i| (curves[i].name[..end(i)].to_owned(), curves[i].values.clone())).collect(),
        range: (0.0, 1.0),
        linear: true,
        caption: format!("{caption}{others}"),
        ..HeatMap::default()
    }
}

fn usual(curve: &Curve) -> f64 {
    let mut known: Vec<f64> = curve.values.iter().copied().filter(|value| value.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len() / 2).copied().unwrap_or(f64::INFINITY)
}

fn values(chart: &Chart) -> impl Iterator<Item = f64> {
    chart.series.iter().flat_map(|series| series.points.iter().map(|point| point.y))
}

fn thinned(curve: Curve) -> Curve {
    let step = curve.rows.len().div_ceil(STRETCHES).max(1);
    let some = |values: Vec<f64>| values.into_iter().step_by(step).collect();
    Curve { rows: some(curve.rows), values: some(curve.values), ..curve }
}

/// Returns increases between points, divided by `over(row, next row)`.
fn gains(name: &str, curve: &Curve, over: impl Fn(f64, f64) -> f64) -> Curve {
    let pairs = curve.rows.windows(2).zip(curve.values.windows(2));
    let gain = |(rows, values): (&[f64], &[f64])| (values[1] - values[0]) / over(rows[0], rows[1]);
    Curve { name: name.into(), rows: curve.rows[1.min(curve.rows.len())..].to_vec(), values: pairs.map(gain).collect() }
}

fn curve(name: &str, checkpoints: &[Checkpoint], value: impl Fn(&Checkpoint) -> Option<f64>) -> Curve {
    let points = checkpoints.iter().filter_map(|checkpoint| Some((checkpoint.row as f64, value(checkpoint)?)));
    let (rows, values) = points.unzip();
    Curve { name: name.into(), rows, values }
}

fn is_exact(checkpoints: &[Checkpoint]) -> bool {
    const PIXEL: f64 = 2e-3;
    checkpoints.iter().all(|checkpoint| checkpoint.high - checkpoint.low <= PIXEL * checkpoint.high)
}

fn best(checkpoints: &[Checkpoint]) -> Option<Series> {
    let high = curve(BEST, checkpoints, |checkpoint| Some(checkpoint.high));
    let low = curve(BEST, checkpoints, |checkpoint| Some(checkpoint.low));
    Some(match checkpoints {
        [] => return None,
        [_] => high.series(Kind::Points),
        _ if is_exact(checkpoints) => high.series(Kind::Dashed),
        _ => Series::band(BEST, &low.rows, &low.values, &high.values),
    })
}

const SHARE: &str = "The share of the sum of squares that lies in the directions chosen before each row was seen. The dashed \
                     lines are for comparison: the best fixed directions are chosen with all rows up to that point known.";
const BESIDE_BEST: &str = "For comparison: the increase of the loss of the best fixed directions, chosen with all rows up to that \
                           point known, and the loss of random directions, which do not learn.";
const BESIDE_RANDOM: &str = "For comparison: the loss of random directions, which do not learn.";
const TOTAL: &str = "The bound is the largest loss that the theorem allows for any rows.";
const REGRET: &str = "Loss beyond that of the best fixed directions, divided by the number of rows. Below zero, the learner \
                      was better, because it followed changes that fixed directions cannot follow.";
const KEPT: &str =
    "The learner draws its directions at random. Each line is the probability of a direction, highest first.";
const MEMBERS: &str =
    "Several learners run in parallel. Those with smaller losses get more weight. The weights add up to one.";
const LOSSES: &str =
    "If many rows share a pixel, the largest is shown. The ten largest are labeled with their row numbers.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_drawn_as_what_is_known_of_it() {
        let point = |row: u64, low: f64| Checkpoint { row, rows: row, expected_loss: 2.0, low, high: 1.0, bound: None };
        let kind = |checkpoints: &[Checkpoint]| best(checkpoints).map(|series| series.kind);
        assert_eq!(kind(&[]), None);
        assert_eq!(kind(&[point(1, 1.0)]), Some(Kind::Points));
        assert_eq!(kind(&[point(1, 1.0), point(2, 0.9999)]), Some(Kind::Dashed));
        assert_eq!(kind(&[point(1, 1.0), point(2, 0.5)]), Some(Kind::Band));
    }
}
