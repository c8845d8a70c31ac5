//! Plots on the page of a run.

use super::{Best, Curve, Placed, RunReport};
use crate::chart::{Annotation, Chart, Kind, Series, Tint};
use crate::focus::without_outliers;
use crate::heat_map::HeatMap;
use crate::number::grouped;
use crate::page::Block;
use crate::palette::TIMES;

/// Maximum number of lines in a heat map.
const LINES: usize = 16;
/// Largest loss per row for which the axis is linear, as a multiple of the median of the first curve.
const FAR: f64 = 40.0;
/// Minimum mean of a curve that is shown in a heat map.
const WORTH: f64 = 0.002;

impl Curve {
    fn series(&self, kind: Kind) -> Series {
        Series::new(kind, &self.name, &self.rows, &self.values)
    }
}

impl RunReport {
    /// Returns the plots for which there is data, and the tables of directions.
    pub(super) fn pictures(&self) -> Vec<Block> {
        let mut blocks =
            vec![Block::Chart(self.share()), Block::Chart(self.loss_per_row()), Block::Chart(self.row_losses())];
        if let Some(directions) = &self.directions {
            blocks.extend(directions.tables().into_iter().map(Block::Table));
            blocks.push(Block::HeatMap(HeatMap { x_label: ROW.into(), ..directions.columns_over_time() }));
            blocks.push(Block::Chart(directions.turns(ROW)));
        }
        blocks.push(Block::HeatMap(self.members_over_time()));
        blocks.push(Block::HeatMap(self.kept_over_time()));
        blocks.extend([self.total_loss(), self.regret(), self.plane()].map(Block::Chart));
        let has_data = |block: &Block| match block {
            Block::Chart(chart) => chart.series.iter().any(|series| chart.shows(series)),
            Block::HeatMap(map) => map.places.len() > 1 && !map.lines.is_empty(),
            _ => true,
        };
        blocks.into_iter().filter(has_data).map(|block| self.over_time(block)).collect()
    }

    /// Returns the charts among the plots, without tables and heat maps.
    pub fn charts(&self) -> Vec<Chart> {
        self.pictures()
            .into_iter()
            .filter_map(|block| if let Block::Chart(c) = block { Some(c) } else { None })
            .collect()
    }

    /// Replaces row numbers on the horizontal axis by times, if times are known.
    fn over_time(&self, mut block: Block) -> Block {
        let Some(times) = self.times.as_ref().filter(|times| times.rows.len() > 1) else { return block };
        match &mut block {
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
        block
    }

    fn over_rows(&self, title: &str, y_label: &str, caption: &str) -> Chart {
        let mut chart = Chart::new(title, ROW, y_label);
        chart.caption = caption.into();
        chart.marks.clone_from(&self.marks);
        chart
    }

    fn share(&self) -> Chart {
        let mut chart = self.over_rows("How much was kept", "per cent of the energy", SHARE);
        for (i, curve) in self.kept_share.iter().enumerate() {
            chart.series.push(curve.series(if i < 2 { Kind::Line } else { Kind::Dashed }));
        }
        chart.focus_y = Some((0.0, 100.0));
        chart
    }

    fn loss_per_row(&self) -> Chart {
        let mut chart = self.over_rows("What was lost", "loss per row", "");
        let others = match self.loss_per_row.len() {
            0 | 1 => "",
            2 => BESIDE_RANDOM,
            _ => BESIDE_BEST,
        };
        chart.caption = format!("Mean loss per row in each segment of rows, in {}. {others}", self.unit);
        for (i, curve) in self.loss_per_row.iter().enumerate() {
            chart.series.push(curve.series(if i == 0 { Kind::Line } else { Kind::Dashed }));
        }
        let focus = without_outliers(values(&chart)).map(|(_, high)| (0.0, high));
        let largest = |curve: &Curve| curve.values.iter().copied().fold(0.0, f64::max);
        let others = focus.map_or_else(|| self.loss_per_row.iter().map(largest).fold(0.0, f64::max), |focus| focus.1);
        chart.log_y = self.loss_per_row.first().is_some_and(|curve| others > FAR * usual(curve));
        *(if chart.log_y { &mut chart.focus_plain } else { &mut chart.focus_y }) = focus;
        chart.scale_switch = true;
        chart
    }

    /// Plots cumulative losses with the bound. The axis is logarithmic, because the bound may be far above the losses.
    /// On a linear axis, the bound is left out.
    fn total_loss(&self) -> Chart {
        let mut chart = self.over_rows("In all, and the guarantee", "total loss", "");
        chart.caption = format!("Cumulative loss, in {}. {TOTAL}", self.unit);
        chart.series.extend(self.learner.iter().map(|curve| curve.series(Kind::Line)));
        chart.series.extend(self.best_series());
        chart.series.extend(self.no_learning.iter().map(|curve| curve.series(Kind::Dashed)));
        let largest = values(&chart).fold(0.0, f64::max);
        chart.series.extend(self.bound.iter().map(|curve| curve.series(Kind::Dashed)));
        chart.focus_plain = (largest > 0.0).then_some((0.0, largest));
        chart.log_y = true;
        chart
    }

    fn best_series(&self) -> Option<Series> {
        Some(match self.best.as_ref()? {
            Best::Curve(curve) => curve.series(Kind::Dashed),
            Best::Points(curve) => curve.series(Kind::Points),
            Best::Bracket { name, rows, low, high } => Series::band(name, rows, low, high),
        })
    }

    fn regret(&self) -> Chart {
        let mut chart = self.over_rows("Regret per row", "regret per row", REGRET);
        chart.series.extend(self.regret_per_row.iter().map(|curve| curve.series(Kind::Line)));
        chart.focus_y = without_outliers(values(&chart));
        chart
    }

    fn row_losses(&self) -> Chart {
        let mut chart = self.over_rows("Which rows stand out", "loss of the row", "");
        chart.caption = format!("Loss of each row, in {}. {LOSSES}", self.unit);
        chart.series.extend(self.losses.iter().map(|curve| curve.series(Kind::Points)));
        chart.focus_y = without_outliers(values(&chart)).map(|(_, high)| (0.0, high));
        chart.scale_switch = true;
        let named = self.largest.iter().map(|entry| {
            let label = if entry.label.is_empty() { String::new() } else { format!(" {}", entry.label) };
            Annotation { x: entry.row as f64, y: entry.value, label: format!("{}{label}", grouped(entry.row)) }
        });
        chart.annotations.extend(named);
        chart
    }

    /// Plots the first two coordinates of rows, with one series for each fifth of the rows.
    fn plane(&self) -> Chart {
        let mut chart = Chart::new("Rows in the first two coordinates", "first coordinate", "second coordinate");
        chart.caption = "Each point is a row; colours go from early to late.".into();
        let (Some(first), Some(last)) = (self.rows.iter().map(|p| p.row).min(), self.rows.iter().map(|p| p.row).max())
        else {
            return chart;
        };
        let steps = TIMES.len() as u64;
        let step = |row: u64| (u128::from(row - first) * u128::from(steps) / (u128::from(last - first) + 1)) as usize;
        for time in 0..TIMES.len() {
            let of_time: Vec<&Placed> = self.rows.iter().filter(|placed| step(placed.row) == time).collect();
            let (Some(from), Some(to)) = (of_time.first(), of_time.last()) else { continue };
            let name = format!("rows {} to {}", grouped(from.row), grouped(to.row));
            let (x, y): (Vec<f64>, Vec<f64>) = of_time.iter().map(|placed| (placed.x, placed.y)).unzip();
            chart.series.push(Series::points(name, &x, &y).with_tint(Tint::Time(time)));
        }
        chart.focus_x = without_outliers(self.rows.iter().map(|placed| placed.x));
        chart.focus_y = without_outliers(self.rows.iter().map(|placed| placed.y));
        chart
    }

    fn members_over_time(&self) -> HeatMap {
        shares("Which member led when", MEMBERS, &self.weights)
    }

    fn kept_over_time(&self) -> HeatMap {
        // Directions that are always kept with certainty are not plotted.
        let open = self.kept.iter().any(|curve| curve.values.iter().any(|p| *p > 0.02 && *p < 0.98));
        shares("How surely each direction is kept", KEPT, if open { &self.kept } else { &[] })
    }
}

/// Plots curves between 0 and 1 as a heat map. Only curves with a notable value are shown, in their original order.
fn shares(title: &str, caption: &str, curves: &[Curve]) -> HeatMap {
    let largest = |curve: &Curve| curve.values.iter().copied().fold(0.0, f64::max);
    let known = |curve: &Curve| curve.values.iter().copied().filter(|value| value.is_finite()).sum::<f64>();
    let worth = |curve: &Curve| largest(curve) >= 0.07 && known(curve) >= WORTH * curve.values.len() as f64;
    let mut order: Vec<usize> = (0..curves.len()).filter(|i| worth(&curves[*i])).collect();
    order.sort_by(|a, b| largest(&curves[*b]).total_cmp(&largest(&curves[*a])));
    order.truncate(LINES);
    order.sort_unstable();
    let left_out = curves.len() - order.len();
    let others = match left_out {
        0 => String::new(),
        1 => " One with only small values is left out.".into(),
        count => format!(" {count} with only small values are left out."),
    };
    // A common suffix of all names does not distinguish them.
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

/// Returns the median of the finite values of a curve, or infinity if there are none.
fn usual(curve: &Curve) -> f64 {
    let mut known: Vec<f64> = curve.values.iter().copied().filter(|value| value.is_finite()).collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// Returns the values of all series of a chart.
fn values(chart: &Chart) -> impl Iterator<Item = f64> {
    chart.series.iter().flat_map(|series| series.points.iter().map(|point| point.y))
}

/// Label of the axis of plots over rows.
const ROW: &str = "row";

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
