//! `compare`: several learners and the batch baselines on one stream.

mod contestants;

use crate::args::Directions;
use crate::args::{CenterArg, CompareArgs, SummaryForm};
use crate::destination::{judge_page, judge_plot};
use crate::files::judge_place;
use crate::plan;
use crate::stdout;
use crate::table::{self, Usage};
use crate::working::Working;
use anyhow::{Context, Result, anyhow};
use contestants::{Contestant, Read, RowLot, learn_lot};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::comparators::{Best, Hindsight};
use eigenhedge::{Kind, Missing, Model};
use eigenhedge_io::write_whole;
use eigenhedge_pages::number::{counted, readable};
use eigenhedge_pages::{Block, Chart, Curve, Downsampler, Keep, Multiples, Page, Series, Table, file_name, svg};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// PCA that is fitted to the first rows and then frozen, with its loss curve.
struct FrozenPca {
    rows: Vec<Vec<f64>>,
    wanted: usize,
    pca: Option<Pca>,
    total: f64,
    curve: Downsampler,
}

/// Rows whose losses count: those after the fit of PCA, or all rows if there are too few for the fit.
struct Charged {
    from: u64,
    rows: u64,
    hindsight: Hindsight,
}

const POINTS: usize = 1000;

fn curve() -> Downsampler {
    Downsampler::new(Keep::First, POINTS, 1)
}

pub fn compare(args: &CompareArgs) -> Result<()> {
    judge_page(args.report.as_deref())?;
    judge_plot(args.plot.as_deref())?;
    [&args.plot, &args.report].into_iter().flatten().try_for_each(|path| judge_place(path))?;
    let source = table::source(&args.inputs)?;
    let how = args.table.standardize.unwrap_or_default();
    let k = Directions::choose(args.k, &source, &table::layout(&args.table, &source)?, how, false)?;
    let setup = plan::setup(&args.options.options(Kind::Auto, k))?;
    if setup.spec.missing == Missing::Fill {
        let sentence =
            "--missing must be fail or skip for compare: each learner would fill cells in by itself, got fill";
        return Err(Usage(sentence.into()).into());
    }
    let mut stream = table::open_with_missing(&args.inputs, &args.table, Some(setup.spec.missing))?;
    let length = stream.columns().len();
    table::allow_learners(stream.stream(), &args.learners)?;
    let centered = args.center == CenterArg::Mean;
    let fits = |error: eigenhedge::Error| anyhow!("{}: {error}", stream.source());
    let mut contestants = Vec::new();
    for kind in &args.learners {
        let options = args.options.options(*kind, k);
        let setup = plan::setup(&if centered { options } else { options.with("center", "none") })?;
        let run = Model::of(&setup, length, false).map_err(fits)?;
        let name = kind.entry().name.to_owned();
        contestants.push(Contestant { name, run, total: 0.0, curve: curve(), spent: Duration::ZERO });
    }
    let begin = || Hindsight::new(length, centered, k);
    let mut charged = Charged { from: 0, rows: 0, hindsight: begin().map_err(fits)? };
    let wanted = args.warm_up.max(k + 1);
    let mut frozen = FrozenPca { rows: Vec::new(), wanted, pca: None, total: 0.0, curve: curve() };
    let (mut lot, mut number) = (RowLot::default(), 0);
    let working = Working::start(format!("{} of {length} columns", counted(args.learners.len() as u64, "learner")), 0);
    loop {
        // The losses of all learners start again after the last row of the fit, so a lot ends there.
        let to_fit = (wanted as u64).checked_sub(number).filter(|rows| *rows > 0);
        let read = lot.read(&mut stream, to_fit.map_or(usize::MAX, |rows| rows as usize));
        learn_lot(&mut contestants, &lot.rows, number, centered)
            .map_err(|(i, error)| anyhow!("{}: {error}", lot.places[i]))?;
        working.advance(lot.rows.len() as u64);
        for row in &lot.rows {
            // The first row sets the center of centered learners, so its loss is not counted.
            if centered && number == 0 {
                charged.hindsight.begin_at(row);
                charged.from = 1;
            } else {
                charged.hindsight.add(row);
                charged.rows += 1;
            }
            number += 1;
            if frozen.take(row, k, centered, number)? {
                charged = Charged { from: number, rows: 0, hindsight: begin()? };
                for contestant in &mut contestants {
                    (contestant.total, contestant.curve) = (0.0, curve());
                }
            }
            if frozen.rows.len().is_power_of_two() {
                stream.stream().allow("the rows of the warm-up", 32 * (frozen.rows.len() * length) as u128)?;
            }
        }
        if read? == Read::Ended {
            break;
        }
    }
    let best = charged.hindsight.best(k).context("no best loss")?;
    drop(working);
    let lines = lines(&contestants, &frozen, best);
    match args.summary {
        SummaryForm::Text => report(&lines, &frozen, best, &charged)?,
        SummaryForm::Json => stdout::print(&format!("{}\n", json(&lines, &frozen, best, &charged)))?,
    }
    let chart = chart(&lines, best);
    if let Some(path) = &args.plot {
        write_whole(path, svg::chart(&chart).as_bytes())?;
    }
    if let Some(path) = &args.report {
        let page = page(&stream.source(), chart, &lines, &frozen, best, &charged);
        write_whole(path, page.html().as_bytes())?;
    }
    Ok(())
}

impl FrozenPca {
    /// Adds the loss of row `number`, counted from 1, or stores the row. Returns true after the last row of the fit.
    fn take(&mut self, row: &[f64], kept: usize, centered: bool, number: u64) -> Result<bool> {
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

/// Line of the result table. The best fixed subspace comes first, then PCA, then the learners by increasing loss.
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
        let micros = 1e6 * contestant.spent.as_secs_f64() / contestant.run.totals().rows.max(1) as f64;
        let (name, loss) = (contestant.name.clone(), contestant.total);
        Line { name, loss, micros: Some(micros), curve: Some(&contestant.curve) }
    }));
    lines
}

fn cells(lines: &[Line<'_>], best: Best, charged: &Charged) -> ([&'static str; 5], Vec<[String; 5]>) {
    let energy = charged.hindsight.best(0).map_or(0.0, Best::high);
    let share = |loss: f64| if energy > 0.0 { format!("{:.2} %", 100.0 * (loss / energy)) } else { "-".into() };
    let row = |line: &Line<'_>| {
        let micros = line.micros.map_or("-".into(), |micros| format!("{micros:.1}"));
        [line.name.clone(), readable(line.loss), share(line.loss), readable(line.loss - best.high()), micros]
    };
    (["learner", "expected loss", "of energy", "over best", "µs a row"], lines.iter().map(row).collect())
}

fn report(lines: &[Line<'_>], frozen: &FrozenPca, best: Best, charged: &Charged) -> Result<()> {
    let (head, rows) = cells(lines, best, charged);
    let mut out = String::new();
    for [name, loss, share, over, micros] in std::iter::once(head.map(String::from)).chain(rows) {
        writeln!(out, "{name:<34}{loss:>14}{share:>11}{over:>14}{micros:>12}")?;
    }
    writeln!(out, "{}", charged.sentence(frozen))?;
    stdout::print(&out)
}

fn json(lines: &[Line<'_>], frozen: &FrozenPca, best: Best, charged: &Charged) -> Value {
    let learners: Vec<Value> = lines
        .iter()
        .filter_map(|Line { name, loss, micros, .. }| {
            Some(json!({ "learner": name, "expected_loss": loss, "microseconds_per_row": (*micros)? }))
        })
        .collect();
    json!({
        "rows": charged.rows,
        "first_row": charged.from,
        "energy": charged.hindsight.best(0).map(Best::high),
        "best_loss": best,
        "pca": frozen.pca.is_some().then(|| json!({ "fitted_rows": frozen.wanted, "loss": frozen.total })),
        "learners": learners,
    })
}

fn page(source: &str, chart: Chart, lines: &[Line<'_>], frozen: &FrozenPca, best: Best, charged: &Charged) -> Page {
    let (head, rows) = cells(lines, best, charged);
    let exact = lines.iter().map(|line| vec![String::new(), line.loss.to_string()]).collect();
    let table = Table {
        title: "Least first".into(),
        columns: head.map(String::from).to_vec(),
        rows: rows.into_iter().map(Vec::from).collect(),
        exact,
        caption: charged.sentence(frozen) + ".",
        ..Table::default()
    };
    Page {
        title: file_name(source).to_owned(),
        subtitle: "eigenhedge compare: learners beside the best fixed subspace".into(),
        blocks: vec![Block::Table(table), Block::Multiples(multiples(lines, best)), Block::Chart(chart)],
        ..Page::default()
    }
}

/// Returns the largest loss of at most four times the median, so that one outlier does not hide the rest of the plot.
fn top(lines: &[Line<'_>]) -> f64 {
    const FAR: f64 = 4.0;
    let mut losses: Vec<f64> = lines.iter().map(|line| line.loss).collect();
    losses.sort_by(f64::total_cmp);
    let usual = losses[losses.len() / 2];
    losses.into_iter().rfind(|loss| *loss <= FAR * usual).unwrap_or(usual)
}

fn multiples(lines: &[Line<'_>], best: Best) -> Multiples {
    let drawn = || lines.iter().filter_map(|line| Some((line, line.curve?.curve(&line.name, 0))));
    let (first, last) = ends(lines).unwrap_or_default();
    Multiples {
        title: "What each has lost, row after row".into(),
        caption: "All on the same axes, with the others drawn faintly behind; one that loses far more leaves its picture. Dashed: the \
                  whole loss of the best fixed subspace, chosen with all rows known."
            .into(),
        notes: drawn().map(|(line, _)| format!("lost {}", readable(line.loss))).collect(),
        curves: drawn().map(|(_, curve)| curve).collect(),
        reference: Some(Curve { name: BEST.into(), rows: vec![first, last], values: vec![best.high(); 2] }),
        top: 1.05 * top(lines),
        dated: false,
    }
}

fn ends(lines: &[Line<'_>]) -> Option<(f64, f64)> {
    let rows = lines.iter().find_map(|line| line.curve)?.curve("", 0).rows;
    Some((*rows.first()?, *rows.last()?))
}

fn chart(lines: &[Line<'_>], best: Best) -> Chart {
    let mut chart = Chart::new("All of them, to zoom into", "row", "loss so far");
    for line in lines {
        if let Some(curve) = line.curve {
            let curve = curve.curve(&line.name, 0);
            chart = chart.with(Series::line(&curve.name, &curve.rows, &curve.values));
        }
    }
    if let Some((first, last)) = ends(lines) {
        chart = chart.with(Series::dashed("best fixed subspace, in all", &[first, last], &[best.high(); 2]));
    }
    let (top, most) = (top(lines), lines.iter().map(|line| line.loss).fold(0.0, f64::max));
    chart.focus_y = (most > top).then_some((0.0, 1.05 * top));
    chart.scale_switch = true;
    chart
}

const BEST: &str = "best fixed subspace in hindsight";
