//! The page of one run: what was lost, against what, and where.
//!
//! Plain data in. Curves of long runs come from [`Downsampler`]; what is empty has no chart and no table.

use crate::chart::{Annotation, Chart, Kind, Mark, Series, Tint};
use crate::downsample::Downsampler;
use crate::number::{grouped, significant};
use crate::page::{Block, Page, Table};
use crate::palette::TIMES;
use crate::svg;
use crate::top_k::Entry;

/// A value over the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Row numbers.
    pub rows: Vec<f64>,
    /// Values.
    pub values: Vec<f64>,
}

/// The best in hindsight, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Best {
    /// Its loss up to each row.
    Curve(Curve),
    /// Its loss at a few rows.
    Points(Curve),
    /// Ends between which its loss lies.
    Bracket {
        /// Name in the legend.
        name: String,
        /// Row numbers.
        rows: Vec<f64>,
        /// Lower ends.
        low: Vec<f64>,
        /// Upper ends.
        high: Vec<f64>,
    },
}

/// A row in its first two coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Its number.
    pub row: u64,
    /// First coordinate.
    pub x: f64,
    /// Second coordinate.
    pub y: f64,
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fact {
    /// Name, as in the summary.
    pub key: String,
    /// Value, as it shall be read.
    pub value: String,
    /// Its meaning.
    pub explanation: String,
}

/// The data of the page of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunReport {
    /// Heading.
    pub title: String,
    /// A line below the heading; may be empty.
    pub subtitle: String,
    /// Findings, in sentences.
    pub summary: Vec<String>,
    /// Total expected loss of each learner.
    pub learners: Vec<Curve>,
    /// Loss of the best in hindsight.
    pub best: Option<Best>,
    /// The bound on the loss.
    pub bound: Option<Curve>,
    /// Regret divided by rows, for each learner.
    pub regret_per_row: Vec<Curve>,
    /// Probability with which each direction is kept.
    pub kept: Vec<Curve>,
    /// Weight of each member of a portfolio.
    pub weights: Vec<Curve>,
    /// Loss of single rows; thinned so that large ones stay.
    pub losses: Option<Curve>,
    /// The rows with the largest losses, largest first.
    pub largest: Vec<Entry>,
    /// Rows in the first two coordinates.
    pub rows: Vec<Placed>,
    /// Where segments begin.
    pub marks: Vec<Mark>,
    /// The ledger.
    pub ledger: Vec<Fact>,
    /// Members of a portfolio.
    pub members: Option<Table>,
    /// Time of some of the rows, in seconds since 1970 and not decreasing: the axis of the charts, if it is known.
    pub times: Option<Curve>,
}

impl Curve {
    /// One curve of a recorder.
    pub fn of(name: impl Into<String>, curves: &Downsampler, index: usize) -> Self {
        let (rows, values) = curves.curve(index);
        Self { name: name.into(), rows, values }
    }

    /// The value at a row: between those of the rows around it, which must increase.
    pub(crate) fn at(&self, row: f64) -> f64 {
        let after = self.rows.partition_point(|known| *known < row).clamp(1, self.rows.len().max(2) - 1);
        let (Some(&[x0, x1]), Some(&[y0, y1])) =
            (self.rows[after - 1..].first_chunk::<2>(), self.values[after - 1..].first_chunk::<2>())
        else {
            return f64::NAN;
        };
        y0 + (y1 - y0) * ((row - x0) / (x1 - x0)).clamp(0.0, 1.0)
    }

    fn series(&self, kind: Kind) -> Series {
        Series::new(kind, &self.name, &self.rows, &self.values)
    }
}

impl Placed {
    /// The rows of a recorder, by its first two curves.
    pub fn of(curves: &Downsampler) -> Vec<Self> {
        let value = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        curves.points().into_iter().map(|(row, v)| Self { row, x: value(v, 0), y: value(v, 1) }).collect()
    }
}

impl RunReport {
    /// The charts that there is data for.
    pub fn charts(&self) -> Vec<Chart> {
        let charts = [
            self.total_loss(),
            self.over_rows(&self.regret_per_row, "Regret per row", "regret per row", REGRET),
            self.row_losses(),
            self.over_rows(&self.kept, "Kept probabilities", "probability", KEPT),
            self.over_rows(&self.weights, "Weights of the members", "weight", WEIGHTS),
            self.plane(),
        ];
        let charts = charts.into_iter().filter(|chart| chart.series.iter().any(|series| !series.points.is_empty()));
        charts.map(|chart| self.over_time(chart)).collect()
    }

    /// The same chart over the times of the rows, if they are known and it is one over rows.
    fn over_time(&self, mut chart: Chart) -> Chart {
        let Some(times) = self.times.as_ref().filter(|times| times.rows.len() > 1 && chart.x_label == ROW) else {
            return chart;
        };
        let points = chart.series.iter_mut().flat_map(|series| &mut series.points).map(|point| &mut point.x);
        let marks = chart.marks.iter_mut().map(|mark| &mut mark.x);
        let places = chart.annotations.iter_mut().map(|place| &mut place.x);
        points.chain(marks).chain(places).for_each(|x| *x = times.at(*x));
        chart.x_label.clone_from(&times.name);
        chart.dated_x = true;
        chart
    }

    /// The page.
    pub fn page(&self) -> Page {
        let tables = [self.ledger_table(), self.largest_table(), self.members.clone()];
        let mut tables = tables.into_iter().flatten().filter(|table| !table.rows.is_empty()).map(Block::Table);
        let ledger = if self.ledger.is_empty() { None } else { tables.next() };
        let charts = self.charts().into_iter().map(Block::Chart);
        let blocks = ledger.into_iter().chain(charts).chain(tables).collect();
        Page { title: self.title.clone(), subtitle: self.subtitle.clone(), summary: self.summary.clone(), blocks }
    }

    /// The page as an HTML file.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// The charts as one SVG file.
    pub fn svg(&self) -> String {
        let charts = self.charts();
        svg::grid(&self.title, &charts, if charts.len() > 1 { 2 } else { 1 })
    }

    fn total_loss(&self) -> Chart {
        let mut chart = self.over_rows(&self.learners, "Total expected loss", "total loss", TOTAL);
        match &self.best {
            Some(Best::Curve(curve)) => chart.series.push(curve.series(Kind::Dashed)),
            Some(Best::Points(curve)) => chart.series.push(curve.series(Kind::Points)),
            Some(Best::Bracket { name, rows, low, high }) => chart.series.push(Series::band(name, rows, low, high)),
            None => {}
        }
        chart.series.extend(self.bound.iter().map(|curve| curve.series(Kind::Dashed)));
        chart
    }

    fn over_rows(&self, curves: &[Curve], title: &str, y_label: &str, caption: &str) -> Chart {
        let mut chart = Chart::new(title, ROW, y_label);
        chart.caption = caption.into();
        chart.marks.clone_from(&self.marks);
        chart.series.extend(curves.iter().map(|curve| curve.series(Kind::Line)));
        chart
    }

    fn row_losses(&self) -> Chart {
        let mut chart = self.over_rows(&[], "Loss per row", "loss", LOSSES);
        chart.series.extend(self.losses.iter().map(|curve| curve.series(Kind::Points)));
        let named = self.largest.iter().map(|entry| {
            let label = if entry.label.is_empty() { String::new() } else { format!(" {}", entry.label) };
            Annotation { x: entry.row as f64, y: entry.value, label: format!("{}{label}", grouped(entry.row)) }
        });
        chart.annotations.extend(named);
        chart
    }

    /// One series for each fifth of the rows.
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
        chart
    }

    fn ledger_table(&self) -> Option<Table> {
        let rows = self.ledger.iter().map(|fact| vec![fact.key.clone(), fact.value.clone(), fact.explanation.clone()]);
        let columns = ["key", "value", "meaning"].map(String::from).to_vec();
        (!self.ledger.is_empty()).then(|| Table { title: "Ledger".into(), columns, rows: rows.collect() })
    }

    fn largest_table(&self) -> Option<Table> {
        // A column of nothing says nothing.
        let width = if self.largest.iter().all(|entry| entry.label.is_empty()) { 2 } else { 3 };
        let row = |e: &Entry| {
            let cells = [e.row.to_string(), significant(e.value, 7), e.label.clone()];
            cells.into_iter().take(width).collect()
        };
        let columns = ["row", "loss", "label"].map(String::from)[..width].to_vec();
        Some(Table { title: "Largest losses".into(), columns, rows: self.largest.iter().map(row).collect() })
    }
}

/// Label of the axis of charts over rows.
const ROW: &str = "row";

const TOTAL: &str = "What was lost up to each row, in squared units of the input.";
const REGRET: &str = "Loss beyond that of the best in hindsight, divided by the number of rows.";
const KEPT: &str = "How surely each direction is kept, from the surest.";
const WEIGHTS: &str = "How much of the portfolio each member is.";
const LOSSES: &str = "What each row lost; where many rows share a pixel, the largest is shown.";
