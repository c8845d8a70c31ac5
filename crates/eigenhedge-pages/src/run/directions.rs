//! Loadings of the kept directions, and their change over time.

use super::{ROW, Recorder};
use crate::chart::{Chart, Series};
use crate::heat_map::{HeatMap, leading};
use crate::page::{Block, Table};
use eigenhedge::Model;

const COLUMNS: usize = 30;
const SHOWN: usize = 10;
const NAMED: usize = 4;
const SMALL: f64 = 0.1;
/// Minimum share within the directions for a line in the table.
const LEAST: f64 = 0.005;
/// The same for the heat map, where shares up to a sixteenth have no shade.
const SHADE: f64 = 0.07;
const ENERGY: &str = "The directions at the end of the run, in descending order of probability. Of the energy of all rows, around their mean, a \
                      share lies along each; directions that follow a change fit the last rows better than all rows.";
const FEWEST: usize = 12;

#[derive(Default)]
struct KeptDirections<'a> {
    columns: &'a [String],
    /// In descending order of their probability of being kept.
    vectors: Vec<Vec<f64>>,
    /// Share of the energy along each direction, or empty.
    shares: Vec<f64>,
    /// Rows with the directions at that row.
    looks: Vec<(f64, Vec<Vec<f64>>)>,
}

/// Kernel models have no blocks.
pub(super) fn blocks(columns: &[String], recorder: &Recorder, run: &Model) -> Vec<Block> {
    let kept = run.spec().kept;
    let embedding = run.learner().clone().embedding(kept);
    let Some(matrix) = embedding.components() else { return Vec::new() };
    let shares = run.energies(&embedding).filter(|(_, all)| *all > 0.0);
    let looks = recorder.looks.iter().map(|look| {
        let vectors = look.numbers.chunks(run.length()).map(|vector| vector.iter().map(|x| f64::from(*x)).collect());
        (look.row as f64, vectors.collect())
    });
    let directions = KeptDirections {
        columns,
        vectors: (0..kept).map(|j| matrix.column(j).to_vec()).collect(),
        shares: shares.map(|(along, all)| along.iter().map(|x| x / all).collect()).unwrap_or_default(),
        looks: looks.collect(),
    };
    let mut blocks = Vec::new();
    if !(directions.vectors.is_empty() || columns.is_empty()) {
        blocks.extend([directions.in_words(), directions.loadings()].map(Block::Table));
    }
    blocks.extend([Block::HeatMap(directions.columns_over_time()), Block::Chart(directions.turns())]);
    blocks
}

impl KeptDirections<'_> {
    fn in_words(&self) -> Table {
        let has_shares = self.shares.len() >= self.vectors.len();
        let row = |(i, vector): (usize, &Vec<f64>)| {
            let mut order: Vec<usize> = (0..vector.len().min(self.columns.len())).collect();
            order.sort_by(|a, b| vector[*b].abs().total_cmp(&vector[*a].abs()));
            let worth = order.iter().filter(|j| vector[**j].abs() >= SMALL).take(NAMED);
            let mut named: Vec<String> = worth.map(|j| format!("{} ({})", self.name(*j), signed(vector[*j]))).collect();
            if named.is_empty() {
                named.push("many columns with small loadings".into());
            }
            let share = has_shares.then(|| format!("{:.1} %", 100.0 * self.shares[i]));
            [Some((i + 1).to_string()), share, Some(named.join(", "))].into_iter().flatten().collect()
        };
        let columns = ["direction", "of all energy", "made of"];
        let kept = columns.iter().filter(|name| has_shares || **name != "of all energy");
        let others = more(self.vectors.len(), SHOWN, "direction");
        Table {
            title: "What the directions are".into(),
            columns: kept.map(|name| (*name).to_owned()).collect(),
            rows: self.vectors.iter().take(SHOWN).enumerate().map(row).collect(),
            caption: if has_shares { format!("{ENERGY} {others}") } else { others },
            ..Table::default()
        }
    }

    fn loadings(&self) -> Table {
        let vectors = &self.vectors[..self.vectors.len().min(SHOWN)];
        let shown = self.most(LEAST, |column| within(&self.vectors, column));
        let heads = (1..=vectors.len()).map(|i| format!("direction {i}"));
        let others = more(self.columns.len(), shown.len(), "column");
        let mut table = Table {
            columns: std::iter::once("loadings".to_owned()).chain(heads).collect(),
            caption: format!(
                "The part of each column in each direction, at the end of the run: blue and orange have opposite signs. {others}"
            ),
            ..Table::default()
        };
        for column in shown {
            let values = || vectors.iter().map(|vector| vector.get(column).copied().unwrap_or(0.0));
            table.rows.push(std::iter::once(self.name(column)).chain(values().map(signed)).collect());
            table.exact.push(std::iter::once(String::new()).chain(values().map(|value| value.to_string())).collect());
            table.shades.push(std::iter::once(f64::NAN).chain(values()).collect());
        }
        table
    }

    fn columns_over_time(&self) -> HeatMap {
        let over_time = |column: usize| self.looks.iter().map(move |(_, vectors)| within(vectors, column));
        let shown = self.most(SHADE, |column| over_time(column).fold(0.0, f64::max));
        let others = more(self.columns.len(), shown.len(), "column");
        HeatMap {
            title: "How the directions changed".into(),
            x_label: ROW.into(),
            places: self.looks.iter().map(|(row, _)| *row).collect(),
            lines: shown.into_iter().map(|i| (self.name(i), over_time(i).collect())).collect(),
            range: (0.0, 1.0),
            linear: true,
            caption: format!(
                "How much of each column lies within the kept directions: nothing, the faintest, to all of it. {others}"
            ),
            ..HeatMap::default()
        }
    }

    fn turns(&self) -> Chart {
        let mut chart = Chart::new("How much they turned", ROW, "in common");
        chart.caption =
            "1: the same directions; 0: nothing in common. The second line dips when the directions change.".into();
        chart.focus_y = Some((0.0, 1.0));
        let (rows, last): (Vec<f64>, Vec<f64>) =
            self.looks.iter().map(|(row, vectors)| (*row, in_common(vectors, &self.vectors))).unzip();
        let before: Vec<f64> = self.looks.windows(2).map(|pair| in_common(&pair[0].1, &pair[1].1)).collect();
        chart.series.push(Series::line("with the directions at the end", &rows, &last));
        chart.with(Series::line("with those a while before", rows.get(1..).unwrap_or_default(), &before))
    }

    /// A name that is a number gets the prefix `column`.
    fn name(&self, column: usize) -> String {
        let name = &self.columns[column];
        if name.parse::<f64>().is_ok() { format!("column {name}") } else { name.clone() }
    }

    /// Returns the columns with the largest values, in table order. Beyond [`FEWEST`], values must be at least `least`.
    fn most(&self, least: f64, value: impl Fn(usize) -> f64) -> Vec<usize> {
        let values: Vec<(usize, f64)> = (0..self.columns.len()).map(|i| (i, value(i))).collect();
        let worth = values.iter().filter(|(_, value)| *value >= least).count();
        leading(values, worth.clamp(FEWEST, COLUMNS))
    }
}

/// Returns the share of a column within the span, from 0 to 1.
fn within(vectors: &[Vec<f64>], column: usize) -> f64 {
    vectors.iter().filter_map(|vector| vector.get(column)).map(|x| x * x).sum::<f64>().min(1.0)
}

/// Returns the mean squared cosine of the principal angles.
fn in_common(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let inner = |u: &[f64], v: &[f64]| u.iter().zip(v).map(|(x, y)| x * y).sum::<f64>();
    let sum: f64 = a.iter().flat_map(|u| b.iter().map(move |v| inner(u, v).powi(2))).sum();
    (sum / a.len().max(1) as f64).clamp(0.0, 1.0)
}

fn signed(value: f64) -> String {
    let text = format!("{value:.2}");
    match text.strip_prefix('-') {
        Some("0.00") => "0.00".into(),
        Some(size) => format!("\u{2212}{size}"),
        None => text,
    }
}

fn more(all: usize, shown: usize, what: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        1 => format!("One more {what} is not shown."),
        count => format!("{count} more {what}s are not shown."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(angle: f64) -> Vec<Vec<f64>> {
        vec![vec![angle.cos(), angle.sin(), 0.0]]
    }

    #[test]
    fn directions_are_told_by_their_largest_columns_and_their_turns() {
        let looks = [0.0, 0.0, std::f64::consts::FRAC_PI_2].map(turned);
        let looks = (0..).map(f64::from).zip(looks).collect();
        let directions = KeptDirections {
            columns: &["a", "b", "c"].map(String::from),
            vectors: vec![vec![0.0, -1.0, 0.05]],
            shares: vec![0.756],
            looks,
        };
        let (words, loadings) = (directions.in_words(), directions.loadings());
        assert_eq!(words.rows, [["1", "75.6 %", "b (\u{2212}1.00)"]]);
        assert_eq!(loadings.rows[1], ["b", "\u{2212}1.00"]);
        assert_eq!((loadings.exact[2][1].as_str(), loadings.shades[1][1]), ("0.05", -1.0));
        let map = directions.columns_over_time();
        let rounded = |values: &[f64]| values.iter().map(|x| x.round()).collect::<Vec<_>>();
        assert_eq!(
            map.lines.iter().map(|line| rounded(&line.1)).collect::<Vec<_>>(),
            [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]]
        );
        let turns = directions.turns();
        let line = |i: usize| turns.series[i].points.iter().map(|point| point.y.round()).collect::<Vec<_>>();
        assert_eq!((line(0), line(1)), (vec![0.0, 0.0, 1.0], vec![1.0, 0.0]));
        let numbered = KeptDirections { columns: &["7", "8", "9"].map(String::from), ..directions };
        assert_eq!(numbered.in_words().rows[0][2], "column 8 (\u{2212}1.00)");
    }

    #[test]
    fn of_many_columns_those_that_matter_are_shown() {
        let mut vector = vec![0.09; 100];
        vector[99] = 0.9;
        let columns: Vec<String> = (0..100).map(|i| format!("c{i}")).collect();
        let directions = KeptDirections { columns: &columns, vectors: vec![vector], ..KeptDirections::default() };
        let loadings = directions.loadings();
        assert_eq!((loadings.rows.len(), loadings.rows[COLUMNS - 1][0].as_str()), (COLUMNS, "c99"));
        let few = KeptDirections { vectors: vec![vec![0.01; 100]], ..directions };
        assert_eq!(few.loadings().rows.len(), FEWEST);
        assert!(loadings.caption.contains("70 more columns are not shown."), "{}", loadings.caption);
    }
}
