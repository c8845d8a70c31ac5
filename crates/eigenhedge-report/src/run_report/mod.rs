//! Page of a run: the share kept, losses and comparators, directions and their change, members, outlying rows, and the
//! complete summary, which is collapsed at first.
//!
//! The input is plain data. Curves of long runs come from [`Downsampler`]. For empty data, there is no plot and no
//! table.

mod charts;
mod directions;

pub use crate::curve::Curve;
pub use directions::{Directions, Look};

use crate::chart::Mark;
use crate::downsample::Downsampler;
use crate::number::significant;
use crate::page::{Block, Folded, Page, Table, Tile};
use crate::svg;
use crate::svg::panel::Panel;
use crate::top_k::Entry;

/// Loss of the best fixed subspace in hindsight, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Best {
    /// Loss up to each row.
    Curve(Curve),
    /// Loss at a few rows.
    Points(Curve),
    /// Lower and upper bound on the loss, over the rows.
    Bracket {
        /// Name in the legend.
        name: String,
        /// Row number of each point of the bounds.
        rows: Vec<f64>,
        /// Lower bound on the loss at each of these rows.
        low: Vec<f64>,
        /// Upper bound on the loss at each of these rows.
        high: Vec<f64>,
    },
}

/// Position of a row in the plane of its first two coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Number of the row.
    pub row: u64,
    /// First coordinate.
    pub x: f64,
    /// Second coordinate.
    pub y: f64,
}

/// Line of the complete summary.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fact {
    /// Name of the value.
    pub key: String,
    /// Rounded value.
    pub value: String,
    /// Value with all digits.
    pub exact: String,
    /// Explanation of the value in words.
    pub explanation: String,
}

/// Content of the page of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunReport {
    /// Heading.
    pub title: String,
    /// Line below the heading. It may be empty.
    pub subtitle: String,
    /// Sentences about facts that need attention.
    pub notes: Vec<String>,
    /// Key numbers at the top.
    pub tiles: Vec<Tile>,
    /// Unit of the losses, in words.
    pub unit: String,
    /// Share of the energy that is kept, in percent. The curve of the learner comes first.
    pub kept_share: Vec<Curve>,
    /// Loss per row in segments of rows. The curve of the learner comes first, then those of the comparators.
    pub loss_per_row: Vec<Curve>,
    /// Total expected loss of the learner up to each row, or `None` for no curve.
    pub learner: Option<Curve>,
    /// Total loss of the best fixed subspace in hindsight, or `None` if unknown.
    pub best: Option<Best>,
    /// Total loss of random directions, without learning. The value is `None` for no curve.
    pub no_learning: Option<Curve>,
    /// Upper bound on the total loss of the learner, or `None` if there is no bound.
    pub bound: Option<Curve>,
    /// Regret per row: one curve, or a lower and an upper bound if it is not known exactly.
    pub regret_per_row: Vec<Curve>,
    /// Kept directions at the end and during the run, or `None` for kernels.
    pub directions: Option<Directions>,
    /// Probability that each direction is kept, as curves over the rows.
    pub kept: Vec<Curve>,
    /// Weight of each member of a portfolio, as curves over the rows.
    pub weights: Vec<Curve>,
    /// Loss of single rows, downsampled so that large losses remain. The value is `None` for no plot.
    pub losses: Option<Curve>,
    /// Rows with the largest losses, in descending order.
    pub largest: Vec<Entry>,
    /// Positions of some rows in the plane of the first two coordinates.
    pub rows: Vec<Placed>,
    /// Marks at the rows where segments start.
    pub marks: Vec<Mark>,
    /// Complete summary in sentences.
    pub account: Vec<String>,
    /// Complete summary as a list of values.
    pub ledger: Vec<Fact>,
    /// Table of the members of a portfolio, or `None` for a single learner.
    pub members: Option<Table>,
    /// Times of some rows in seconds since 1970, in nondecreasing order. The value is `None` if the times are unknown.
    /// If they are known, the horizontal axis shows them.
    pub times: Option<Curve>,
}

impl Placed {
    /// Returns the rows of a recorder whose first two curves are the coordinates.
    pub fn of(curves: &Downsampler) -> Vec<Self> {
        let value = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        curves.points().into_iter().map(|(row, v)| Self { row, x: value(v, 0), y: value(v, 1) }).collect()
    }
}

impl RunReport {
    /// Builds the page from the key numbers, the plots and the collapsed summary.
    pub fn page(&self) -> Page {
        let mut blocks = Vec::new();
        if !self.tiles.is_empty() {
            blocks.push(Block::Tiles(self.tiles.clone()));
        }
        blocks.extend(self.pictures());
        let tables = [self.ledger_table(), self.largest_table(), self.members.clone()];
        let tables: Vec<Table> = tables.into_iter().flatten().filter(|table| !table.rows.is_empty()).collect();
        if !(tables.is_empty() && self.account.is_empty()) {
            blocks.push(Block::Folded(Folded { title: ACCOUNT.into(), text: self.account.clone(), tables }));
        }
        Page { title: self.title.clone(), subtitle: self.subtitle.clone(), summary: self.notes.clone(), blocks }
    }

    /// Returns the page as an HTML file.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// Returns the plots as one SVG file.
    pub fn svg(&self) -> String {
        let pictures = self.pictures();
        let panels: Vec<(&str, Panel)> = pictures
            .iter()
            .filter_map(|block| match block {
                Block::Chart(chart) => Some((chart.title.as_str(), Panel::draw(chart, svg::CELL, true))),
                Block::HeatMap(map) => Some((map.title.as_str(), map.panel(svg::CELL, true))),
                _ => None,
            })
            .collect();
        svg::grid_of(&self.title, &panels, if panels.len() > 1 { 2 } else { 1 })
    }

    fn ledger_table(&self) -> Option<Table> {
        let rows = self.ledger.iter().map(|fact| vec![fact.key.clone(), fact.value.clone(), fact.explanation.clone()]);
        let exact = self.ledger.iter().map(|fact| vec![String::new(), fact.exact.clone()]);
        let columns = ["key", "value", "meaning"].map(String::from).to_vec();
        (!self.ledger.is_empty()).then(|| Table {
            title: "Account".into(),
            columns,
            rows: rows.collect(),
            exact: exact.collect(),
            caption: "Numbers are rounded; point at one to see all its digits.".into(),
            ..Table::default()
        })
    }

    fn largest_table(&self) -> Option<Table> {
        // An empty column is left out.
        let width = if self.largest.iter().all(|entry| entry.label.is_empty()) { 2 } else { 3 };
        let row = |e: &Entry| {
            let cells = [e.row.to_string(), significant(e.value, 4), e.label.clone()];
            cells.into_iter().take(width).collect()
        };
        let columns = ["row", "loss", "label"].map(String::from)[..width].to_vec();
        let exact = self.largest.iter().map(|e| vec![String::new(), e.value.to_string()]).collect();
        let rows = self.largest.iter().map(row).collect();
        Some(Table { title: "Largest losses".into(), columns, rows, exact, ..Table::default() })
    }
}

const ACCOUNT: &str = "The whole account";
