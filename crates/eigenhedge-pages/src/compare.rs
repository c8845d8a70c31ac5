//! Comparison of learners, PCA of the first rows and the best fixed subspace on one stream.

use crate::chart::{Chart, Curve, Series};
use crate::downsample::{Downsampler, Keep};
use crate::file_name;
use crate::multiples::Multiples;
use crate::number::{counted, readable};
use crate::page::{Block, Page, Table};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::comparators::{Best, Hindsight};
use eigenhedge::{Error, Model};
use eigenhedge_io::ScaledStream;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

pub const LEARNERS: &str = "auto,tracking,anchored,leader,forgetting-leader,additive";
/// Default number of first rows to which PCA is fitted.
pub const WARM_UP: usize = 100;

pub struct Comparison {
    contestants: Vec<Contestant>,
    /// First rows, until there are `wanted` of them and PCA is fitted.
    waiting: Vec<Vec<f64>>,
    wanted: usize,
    pca: Option<Pca>,
    pca_loss: f64,
    pca_curve: Downsampler,
    /// First row whose loss counts: after the fit, or if there are too few rows for it, after a row that sets the center.
    from: u64,
    charged: u64,
    hindsight: Hindsight,
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

const POINTS: usize = 1000;

fn curve() -> Downsampler {
    Downsampler::new(Keep::First, POINTS, 1)
}

#[derive(Default)]
pub struct RowLot {
    pub rows: Vec<Vec<f64>>,
    pub places: Vec<String>,
}

const LOT_ROWS: usize = 256;
const LOT_NUMBERS: usize = 1 << 16;

impl RowLot {
    /// Returns false after the last row. On an error, the lot has the rows before it.
    pub fn read(&mut self, stream: &mut ScaledStream, comparison: &Comparison) -> Result<bool, eigenhedge_io::Error> {
        self.rows.clear();
        self.places.clear();
        let length = stream.columns().len().max(1);
        let fit = (LOT_NUMBERS / length).clamp(1, LOT_ROWS).min(comparison.rows_to_fit());
        stream.stream().allow("the rows of the warm-up", 32 * (comparison.waiting.len() * length) as u128)?;
        while self.rows.len() < fit {
            let Some(row) = stream.next_row()? else { return Ok(false) };
            self.rows.push(row.to_vec());
            self.places.push(stream.place());
        }
        Ok(true)
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
        let contestant = |run| Contestant { run, total: 0.0, curve: curve(), spent: 0.0, refused: None };
        Ok(Self {
            contestants: models.into_iter().map(contestant).collect(),
            waiting: Vec::new(),
            wanted: warm_up.max(k + 1),
            pca: None,
            pca_loss: 0.0,
            pca_curve: curve(),
            from: 0,
            charged: 0,
            hindsight: Hindsight::new(length, centered, k)?,
            length,
            k,
            centered,
            rows: 0,
            clock,
        })
    }

    /// A batch ends with the fit of PCA, because the losses of all learners restart there.
    fn rows_to_fit(&self) -> usize {
        let missing = (self.wanted as u64).saturating_sub(self.rows) as usize;
        if missing == 0 { usize::MAX } else { missing }
    }

    /// An error has the index of the first refused row.
    pub fn learn(&mut self, rows: &[Vec<f64>]) -> Result<(), (usize, Error)> {
        let lot: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let (begin, clock) = ((self.rows, self.centered), self.clock);
        let count = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(self.contestants.len());
        let waiting = Mutex::new(self.contestants.iter_mut());
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(contestant) = next() {
                contestant.learn(&lot, begin, clock);
            }
        };
        thread::scope(|scope| {
            (1..count).for_each(|_| _ = scope.spawn(work));
            work();
        });
        let refused = self.contestants.iter_mut().filter_map(|contestant| contestant.refused.take());
        refused.min_by_key(|(i, _)| *i).map_or(Ok(()), Err)?;
        rows.iter().enumerate().try_for_each(|(i, row)| self.charge(row).map_err(|error| (i, error)))
    }

    fn charge(&mut self, row: &[f64]) -> Result<(), Error> {
        if self.centered && self.rows == 0 {
            self.hindsight.begin_at(row);
            self.from = 1;
        } else {
            self.hindsight.add(row);
            self.charged += 1;
        }
        self.rows += 1;
        if let Some(pca) = &self.pca {
            self.pca_loss += pca.loss(row)?;
            self.pca_curve.push(self.rows - 1, &[self.pca_loss]);
            return Ok(());
        }
        self.waiting.push(row.to_vec());
        if self.waiting.len() == self.wanted {
            let center = if self.centered { Center::Mean } else { Center::None };
            self.pca = Some(Pca::fit(&std::mem::take(&mut self.waiting), self.k, center)?);
            self.hindsight = Hindsight::new(self.length, self.centered, self.k)?;
            (self.from, self.charged) = (self.rows, 0);
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
        let best = self.hindsight.best(self.k)?;
        let mut lines = vec![Line { name: BEST.into(), loss: best.high(), micros: None, curve: None }];
        if self.pca.is_some() {
            let name = format!("PCA of the first {} rows", self.wanted);
            lines.push(Line { name, loss: self.pca_loss, micros: None, curve: Some(&self.pca_curve) });
        }
        let mut ordered: Vec<&Contestant> = self.contestants.iter().collect();
        ordered.sort_by(|a, b| a.total.total_cmp(&b.total));
        lines.extend(ordered.into_iter().map(|contestant| {
            let micros = 1e6 * contestant.spent / contestant.run.totals().rows.max(1) as f64;
            let name = contestant.run.spec().learner.entry().name.to_owned();
            Line { name, loss: contestant.total, micros: Some(micros), curve: Some(&contestant.curve) }
        }));
        Some(Ranking { lines, best, comparison: self })
    }

    fn charged_rows(&self) -> String {
        let rows = counted(self.charged, "row");
        let from = if self.from == 0 { String::new() } else { format!(", from row {} on", self.from) };
        let why = match (self.pca.is_some(), self.from) {
            (true, _) => format!(": the PCA is fitted to the {} before", self.wanted),
            (false, 0) => format!("; the PCA needs {} to be fitted to", self.wanted),
            (false, _) => format!(": row 0 fixes the center, and the PCA needs {} rows to be fitted to", self.wanted),
        };
        format!("charged: {rows}{from}{why}")
    }
}

struct Contestant {
    run: Model,
    total: f64,
    curve: Downsampler,
    spent: f64,
    refused: Option<(usize, Error)>,
}

impl Contestant {
    fn learn(&mut self, rows: &[&[f64]], (first, centered): (u64, bool), clock: fn() -> f64) {
        let (start, mut number) = (clock(), first);
        let Self { run, total, curve, spent, refused } = self;
        let outcome = run.step_each(rows, |_, loss| {
            if !(centered && number == 0) {
                *total += loss.expected;
                curve.push(number, &[*total]);
            }
            number += 1;
        });
        *spent += clock() - start;
        *refused = outcome.err();
    }
}

/// Line of the result table: the best fixed subspace, then PCA, then the learners by increasing loss.
struct Line<'a> {
    name: String,
    loss: f64,
    micros: Option<f64>,
    curve: Option<&'a Downsampler>,
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
        self.comparison.hindsight.best(0).map(Best::high)
    }

    pub fn text(&self) -> String {
        let (head, rows) = self.cells();
        let line = |[name, loss, share, over, micros]: [String; 5]| {
            format!("{name:<34}{loss:>14}{share:>11}{over:>14}{micros:>12}\n")
        };
        let lines: String = std::iter::once(head.map(String::from)).chain(rows).map(line).collect();
        lines + &self.comparison.charged_rows() + "\n"
    }

    pub fn json(&self) -> Value {
        let Comparison { from, charged, pca, pca_loss, wanted, .. } = self.comparison;
        let learner = |Line { name, loss, micros, .. }: &Line<'_>| {
            Some(json!({ "learner": name, "expected_loss": loss, "microseconds_per_row": (*micros)? }))
        };
        let pca = pca.is_some().then(|| json!({ "fitted_rows": wanted, "loss": pca_loss }));
        json!({
            "rows": charged,
            "first_row": from,
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
            caption: self.comparison.charged_rows() + ".",
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
        let drawn = self
            .lines
            .iter()
            .filter_map(|line| Some(line.curve?.curve(format!("{}: lost {}", line.name, readable(line.loss)), 0)));
        let (first, last) = self.ends().unwrap_or_default();
        let best = Curve { name: BEST.into(), rows: vec![first, last], values: vec![self.best.high(); 2] };
        Multiples {
            title: "What each has lost, row after row".into(),
            charts: Multiples::of_curves(&drawn.collect::<Vec<_>>(), Some(&best), 1.05 * self.top()),
            caption: "All on the same axes, with the others drawn faintly behind; one that loses far more leaves its picture. Dashed: the \
                      whole loss of the best fixed subspace, chosen with all rows known."
                .into(),
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
