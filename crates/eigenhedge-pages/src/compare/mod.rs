//! Comparison of learners, PCA of the first rows and the best fixed subspace on one stream.

mod contestants;

use crate::chart::{Chart, Curve, Series};
use crate::downsample::{Downsampler, Keep};
use crate::file_name;
use crate::multiples::Multiples;
use crate::number::readable;
use crate::page::{Block, Page, Table};
use contestants::{Contestant, learn_lot};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::comparators::{Best, Hindsight};
use eigenhedge::{Error, Model};
use eigenhedge_io::ScaledStream;
use serde_json::{Value, json};

pub const LEARNERS: &str = "auto,tracking,anchored,leader,forgetting-leader,additive";
/// Default number of first rows to which PCA is fitted.
pub const WARM_UP: usize = 100;

pub struct Comparison {
    contestants: Vec<Contestant>,
    frozen: FrozenPca,
    charged: Charged,
    length: usize,
    k: usize,
    centered: bool,
    rows: u64,
    clock: fn() -> f64,
}

pub struct Ranking<'a> {
    lines: Vec<Line<'a>>,
    best: Best,
    comparison: &'a Comparison,
}

struct FrozenPca {
    rows: Vec<Vec<f64>>,
    wanted: usize,
    pca: Option<Pca>,
    total: f64,
    curve: Downsampler,
}

/// Rows whose losses count: those after the fit of PCA, or all if there are too few for it, without a first row that
/// sets the center.
struct Charged {
    from: u64,
    rows: u64,
    hindsight: Hindsight,
}

const POINTS: usize = 1000;

fn curve() -> Downsampler {
    Downsampler::new(Keep::First, POINTS, 1)
}

#[derive(Default)]
pub struct RowLot {
    pub rows: Vec<Vec<f64>>,
    pub places: Vec<String>,
}

#[derive(PartialEq)]
pub enum Read {
    Full,
    Ended,
}

const LOT_ROWS: usize = 256;
const LOT_NUMBERS: usize = 1 << 16;

impl RowLot {
    pub fn read(&mut self, stream: &mut ScaledStream, comparison: &Comparison) -> Result<Read, eigenhedge_io::Error> {
        self.rows.clear();
        self.places.clear();
        let length = stream.columns().len().max(1);
        let fit = (LOT_NUMBERS / length).clamp(1, LOT_ROWS).min(comparison.rows_to_fit());
        stream.stream().allow("the rows of the warm-up", 32 * (comparison.waiting_rows() * length) as u128)?;
        while self.rows.len() < fit {
            let Some(row) = stream.next_row()? else { return Ok(Read::Ended) };
            self.rows.push(row.to_vec());
            self.places.push(stream.place());
        }
        Ok(Read::Full)
    }
}

impl Comparison {
    /// PCA is fitted to the first `warm_up` rows, at least k + 1. `clock` returns the time in seconds.
    pub fn new(
        models: Vec<Model>,
        (length, k): (usize, usize),
        centered: bool,
        warm_up: usize,
        clock: fn() -> f64,
    ) -> Result<Self, Error> {
        let contestant = |run: Model| {
            let name = run.spec().learner.entry().name.to_owned();
            Contestant { name, run, total: 0.0, curve: curve(), spent: 0.0 }
        };
        let wanted = warm_up.max(k + 1);
        Ok(Self {
            contestants: models.into_iter().map(contestant).collect(),
            frozen: FrozenPca { rows: Vec::new(), wanted, pca: None, total: 0.0, curve: curve() },
            charged: Charged { from: 0, rows: 0, hindsight: Hindsight::new(length, centered, k)? },
            length,
            k,
            centered,
            rows: 0,
            clock,
        })
    }

    /// A batch ends with the fit of PCA, because the losses of all learners restart there.
    fn rows_to_fit(&self) -> usize {
        let missing = (self.frozen.wanted as u64).saturating_sub(self.rows) as usize;
        if missing == 0 { usize::MAX } else { missing }
    }

    fn waiting_rows(&self) -> usize {
        self.frozen.rows.len()
    }

    pub fn learn(&mut self, rows: &[Vec<f64>]) -> Result<(), (usize, Error)> {
        learn_lot(&mut self.contestants, rows, (self.rows, self.centered), self.clock)?;
        rows.iter().enumerate().try_for_each(|(i, row)| self.charge(row).map_err(|error| (i, error)))
    }

    fn charge(&mut self, row: &[f64]) -> Result<(), Error> {
        if self.centered && self.rows == 0 {
            self.charged.hindsight.begin_at(row);
            self.charged.from = 1;
        } else {
            self.charged.hindsight.add(row);
            self.charged.rows += 1;
        }
        self.rows += 1;
        if self.frozen.take(row, self.k, self.centered, self.rows)? {
            let hindsight = Hindsight::new(self.length, self.centered, self.k)?;
            self.charged = Charged { from: self.rows, rows: 0, hindsight };
            for contestant in &mut self.contestants {
                (contestant.total, contestant.curve) = (0.0, curve());
            }
        }
        Ok(())
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn ranking(&self) -> Option<Ranking<'_>> {
        let best = self.charged.hindsight.best(self.k)?;
        Some(Ranking { lines: lines(&self.contestants, &self.frozen, best), best, comparison: self })
    }
}

impl FrozenPca {
    /// Adds the loss of row `number`, from 1, or stores it for the fit. Returns true for the last row of the fit.
    fn take(&mut self, row: &[f64], kept: usize, centered: bool, number: u64) -> Result<bool, Error> {
        if let Some(pca) = &self.pca {
            self.total += pca.loss(row)?;
            self.curve.push(number - 1, &[self.total]);
            return Ok(false);
        }
        self.rows.push(row.to_vec());
        if self.rows.len() < self.wanted {
            return Ok(false);
        }
        let center = if centered { Center::Mean } else { Center::None };
        self.pca = Some(Pca::fit(&self.rows, kept, center)?);
        self.rows = Vec::new();
        Ok(true)
    }

    fn name(&self) -> String {
        format!("PCA of the first {} rows", self.wanted)
    }
}

impl Charged {
    fn sentence(&self, frozen: &FrozenPca) -> String {
        let rows = if self.rows == 1 { "1 row".to_owned() } else { format!("{} rows", self.rows) };
        let from = if self.from == 0 { String::new() } else { format!(", from row {} on", self.from) };
        let why = match (frozen.pca.is_some(), self.from) {
            (true, _) => format!(": the PCA is fitted to the {} before", frozen.wanted),
            (false, 0) => format!("; the PCA needs {} to be fitted to", frozen.wanted),
            (false, _) => format!(": row 0 fixes the center, and the PCA needs {} rows to be fitted to", frozen.wanted),
        };
        format!("charged: {rows}{from}{why}")
    }
}

/// Line of the result table: the best fixed subspace, then PCA, then the learners by increasing loss.
struct Line<'a> {
    name: String,
    loss: f64,
    micros: Option<f64>,
    curve: Option<&'a Downsampler>,
}

fn lines<'a>(contestants: &'a [Contestant], frozen: &'a FrozenPca, best: Best) -> Vec<Line<'a>> {
    let mut lines = vec![Line { name: BEST.into(), loss: best.high(), micros: None, curve: None }];
    if frozen.pca.is_some() {
        lines.push(Line { name: frozen.name(), loss: frozen.total, micros: None, curve: Some(&frozen.curve) });
    }
    let mut ordered: Vec<&Contestant> = contestants.iter().collect();
    ordered.sort_by(|a, b| a.total.total_cmp(&b.total));
    lines.extend(ordered.into_iter().map(|contestant| {
        let micros = 1e6 * contestant.spent / contestant.run.totals().rows.max(1) as f64;
        let (name, loss) = (contestant.name.clone(), contestant.total);
        Line { name, loss, micros: Some(micros), curve: Some(&contestant.curve) }
    }));
    lines
}

impl Ranking<'_> {
    fn cells(&self) -> ([&'static str; 5], Vec<[String; 5]>) {
        let energy = self.energy().unwrap_or(0.0);
        let share = |loss: f64| if energy > 0.0 { format!("{:.2} %", 100.0 * (loss / energy)) } else { "-".into() };
        let row = |line: &Line<'_>| {
            let micros = line.micros.map_or("-".into(), |micros| format!("{micros:.1}"));
            [line.name.clone(), readable(line.loss), share(line.loss), readable(line.loss - self.best.high()), micros]
        };
        (["learner", "expected loss", "of energy", "over best", "µs a row"], self.lines.iter().map(row).collect())
    }

    fn energy(&self) -> Option<f64> {
        self.comparison.charged.hindsight.best(0).map(Best::high)
    }

    pub fn text(&self) -> String {
        let (head, rows) = self.cells();
        let line = |[name, loss, share, over, micros]: [String; 5]| {
            format!("{name:<34}{loss:>14}{share:>11}{over:>14}{micros:>12}\n")
        };
        let lines: String = std::iter::once(head.map(String::from)).chain(rows).map(line).collect();
        lines + &self.comparison.charged.sentence(&self.comparison.frozen) + "\n"
    }

    pub fn json(&self) -> Value {
        let Comparison { charged, frozen, .. } = self.comparison;
        let learner = |Line { name, loss, micros, .. }: &Line<'_>| {
            Some(json!({ "learner": name, "expected_loss": loss, "microseconds_per_row": (*micros)? }))
        };
        let pca = frozen.pca.is_some().then(|| json!({ "fitted_rows": frozen.wanted, "loss": frozen.total }));
        json!({
            "rows": charged.rows,
            "first_row": charged.from,
            "energy": self.energy(),
            "best_loss": self.best,
            "pca": pca,
            "learners": self.lines.iter().filter_map(learner).collect::<Vec<_>>(),
        })
    }

    pub fn page(&self, source: &str) -> Page {
        let (head, rows) = self.cells();
        let exact = self.lines.iter().map(|line| vec![String::new(), line.loss.to_string()]).collect();
        let table = Table {
            title: "Least first".into(),
            columns: head.map(String::from).to_vec(),
            rows: rows.into_iter().map(Vec::from).collect(),
            exact,
            caption: self.comparison.charged.sentence(&self.comparison.frozen) + ".",
            ..Table::default()
        };
        Page {
            title: file_name(source).to_owned(),
            subtitle: "eigenhedge compare: learners beside the best fixed subspace".into(),
            blocks: vec![Block::Table(table), Block::Multiples(self.multiples()), Block::Chart(self.chart())],
            ..Page::default()
        }
    }

    /// Larger losses would flatten the plot.
    fn top(&self) -> f64 {
        const FAR: f64 = 4.0;
        let mut losses: Vec<f64> = self.lines.iter().map(|line| line.loss).collect();
        losses.sort_by(f64::total_cmp);
        let usual = losses[losses.len() / 2];
        losses.into_iter().rfind(|loss| *loss <= FAR * usual).unwrap_or(usual)
    }

    fn multiples(&self) -> Multiples {
        let drawn = || self.lines.iter().filter_map(|line| Some((line, line.curve?.curve(&line.name, 0))));
        let (first, last) = self.ends().unwrap_or_default();
        Multiples {
            title: "What each has lost, row after row".into(),
            caption: "All on the same axes, with the others drawn faintly behind; one that loses far more leaves its picture. Dashed: the \
                      whole loss of the best fixed subspace, chosen with all rows known."
                .into(),
            notes: drawn().map(|(line, _)| format!("lost {}", readable(line.loss))).collect(),
            curves: drawn().map(|(_, curve)| curve).collect(),
            reference: Some(Curve { name: BEST.into(), rows: vec![first, last], values: vec![self.best.high(); 2] }),
            top: 1.05 * self.top(),
            dated: false,
        }
    }

    fn ends(&self) -> Option<(f64, f64)> {
        let rows = self.lines.iter().find_map(|line| line.curve)?.curve("", 0).rows;
        Some((*rows.first()?, *rows.last()?))
    }

    pub fn chart(&self) -> Chart {
        let mut chart = Chart::new("All of them, to zoom into", "row", "loss so far");
        for line in &self.lines {
            if let Some(curve) = line.curve {
                let curve = curve.curve(&line.name, 0);
                chart = chart.with(Series::line(&curve.name, &curve.rows, &curve.values));
            }
        }
        if let Some((first, last)) = self.ends() {
            chart = chart.with(Series::dashed("best fixed subspace, in all", &[first, last], &[self.best.high(); 2]));
        }
        let (top, most) = (self.top(), self.lines.iter().map(|line| line.loss).fold(0.0, f64::max));
        chart.focus_y = (most > top).then_some((0.0, 1.05 * top));
        chart.scale_switch = true;
        chart
    }
}

const BEST: &str = "best fixed subspace in hindsight";
