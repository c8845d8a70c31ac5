//! `compare`: several learners and the batch baselines on one stream.

use crate::args::CompareArgs;
use crate::files::judge_place;
use crate::number::readable;
use crate::plan;
use crate::stdout;
use crate::table::{self, Usage};
use anyhow::{Context, Result, anyhow};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::comparators::{Best, Hindsight};
use eigenhedge::{Kind, Missing, Run};
use eigenhedge_io::write_whole;
use eigenhedge_report::{Block, Chart, Downsampler, Keep, Page, Series, Table, svg};
use std::fmt::{self, Write};
use std::time::{Duration, Instant};

/// One learner at work, and what it was charged.
struct Contestant {
    name: String,
    run: Run,
    total: f64,
    curve: Downsampler,
    spent: Duration,
}

/// PCA of the first rows, then left alone.
struct Frozen {
    rows: Vec<Vec<f64>>,
    wanted: usize,
    pca: Option<Pca>,
    total: f64,
    curve: Downsampler,
}

/// The rows that everybody is charged for: those behind the ones that the PCA is fitted to, or all that can be charged
/// when there are too few for that.
struct Charged {
    from: u64,
    rows: u64,
    hindsight: Hindsight,
}

const POINTS: usize = 1000;

fn curve() -> Downsampler {
    Downsampler::new(Keep::First, POINTS, 1)
}

/// Runs, prints a table, draws a plot.
pub fn compare(args: &CompareArgs) -> Result<()> {
    table::judge_plot(args.plot.as_deref())?;
    [&args.plot, &args.report].into_iter().flatten().try_for_each(|path| judge_place(path))?;
    let setup = plan::setup(&args.options.options(Kind::Auto, args.k))?;
    if setup.spec.missing == Missing::Fill {
        let sentence =
            "--missing must be fail or skip for compare: each learner would fill cells in by itself, got fill";
        return Err(Usage(sentence.into()).into());
    }
    let mut stream = table::open_with_missing(&args.inputs, &args.table, Some(setup.spec.missing))?;
    let length = stream.columns().len();
    table::allow_learners(&stream, &args.learners)?;
    let centered = !args.no_center;
    let fits = |error: eigenhedge::Error| anyhow!("{}: {error}", stream.source());
    let mut contestants = Vec::new();
    for kind in &args.learners {
        let options = args.options.options(*kind, args.k);
        let setup = plan::setup(&if centered { options } else { options.with("center", "none") })?;
        let run = Run::of(&setup, length, false).map_err(fits)?;
        let name = kind.entry().name.to_owned();
        contestants.push(Contestant { name, run, total: 0.0, curve: curve(), spent: Duration::ZERO });
    }
    let begin = || Hindsight::new(length, centered, args.k);
    let mut charged = Charged { from: 0, rows: 0, hindsight: begin().map_err(fits)? };
    let wanted = args.warm_up.max(args.k + 1);
    let mut frozen = Frozen { rows: Vec::new(), wanted, pca: None, total: 0.0, curve: curve() };
    let mut number = 0;
    while let Some(row) = stream.next_row()? {
        let row = row.to_vec();
        // The first row fixes the center of those that center: nobody is charged for it.
        let fixes_center = centered && number == 0;
        for contestant in &mut contestants {
            let start = Instant::now();
            let outcome = contestant.run.step(&row);
            contestant.spent += start.elapsed();
            let loss = outcome.map_err(|error| anyhow!("{}: {error}", stream.place()))?;
            if !fixes_center {
                contestant.total += loss.expected;
                contestant.curve.push(number, &[contestant.total]);
            }
        }
        if fixes_center {
            charged.hindsight.begin_at(&row);
            charged.from = 1;
        } else {
            charged.hindsight.add(&row);
            charged.rows += 1;
        }
        number += 1;
        if frozen.take(&row, args.k, centered, number)? {
            charged = Charged { from: number, rows: 0, hindsight: begin()? };
            for contestant in &mut contestants {
                (contestant.total, contestant.curve) = (0.0, curve());
            }
        }
        if frozen.rows.len().is_power_of_two() {
            stream.allow("the rows of the warm-up", 32 * (frozen.rows.len() * length) as u128)?;
        }
    }
    let best = charged.hindsight.best(args.k).context("no best loss")?;
    report(&contestants, &frozen, best, &charged)?;
    let chart = chart(&contestants, &frozen, best);
    if let Some(path) = &args.plot {
        write_whole(path, svg::chart(&chart).as_bytes())?;
    }
    if let Some(path) = &args.report {
        let page = page(&stream.source(), chart, &contestants, &frozen, best, &charged);
        write_whole(path, page.html().as_bytes())?;
    }
    Ok(())
}

impl Frozen {
    /// Charges a row, or puts it by for the fit; true when that was the last row of the fit. `number` counts the rows.
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
    /// Which rows were charged, and why those.
    fn sentence(&self, frozen: &Frozen) -> String {
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

fn report(contestants: &[Contestant], frozen: &Frozen, best: Best, charged: &Charged) -> Result<()> {
    let mut out = String::new();
    let energy = charged.hindsight.best(0).map_or(0.0, Best::high);
    let share = |loss: f64| if energy > 0.0 { format!("{:.2} %", 100.0 * (loss / energy)) } else { "-".into() };
    writeln!(out, "{:<34}{:>14}{:>11}{:>14}{:>12}", "learner", "expected loss", "of energy", "over best", "µs a row")?;
    let mut line = |name: &str, loss: f64, micros: String| -> fmt::Result {
        let over = readable(loss - best.high());
        writeln!(out, "{name:<34}{:>14}{:>11}{over:>14}{micros:>12}", readable(loss), share(loss))
    };
    line("best fixed subspace in hindsight", best.high(), "-".into())?;
    if frozen.pca.is_some() {
        line(&frozen.name(), frozen.total, "-".into())?;
    }
    let mut ordered: Vec<&Contestant> = contestants.iter().collect();
    ordered.sort_by(|a, b| a.total.total_cmp(&b.total));
    for contestant in ordered {
        let micros = 1e6 * contestant.spent.as_secs_f64() / contestant.run.totals().rows.max(1) as f64;
        line(&contestant.name, contestant.total, format!("{micros:.1}"))?;
    }
    writeln!(out, "{}", charged.sentence(frozen))?;
    stdout::print(&out)
}

fn page(
    source: &str,
    chart: Chart,
    contestants: &[Contestant],
    frozen: &Frozen,
    best: Best,
    charged: &Charged,
) -> Page {
    let over = |name: &str, loss: f64| vec![name.to_owned(), loss.to_string(), readable(loss - best.high())];
    let mut rows = vec![over("best fixed subspace in hindsight", best.high())];
    rows.extend(frozen.pca.iter().map(|_| over(&frozen.name(), frozen.total)));
    rows.extend(contestants.iter().map(|contestant| over(&contestant.name, contestant.total)));
    let columns = ["learner", "expected loss", "over best"].map(String::from).to_vec();
    let table = Table { title: format!("Losses ({})", charged.sentence(frozen)), columns, rows };
    Page {
        title: format!("eigenhedge compare: {source}"),
        blocks: vec![Block::Chart(chart), Block::Table(table)],
        ..Page::default()
    }
}

fn chart(contestants: &[Contestant], frozen: &Frozen, best: Best) -> Chart {
    let mut chart = Chart::new("Cumulated expected loss", "row", "loss");
    for contestant in contestants {
        let (x, y) = contestant.curve.curve(0);
        chart = chart.with(Series::line(&contestant.name, &x, &y));
    }
    if frozen.pca.is_some() {
        let (x, y) = frozen.curve.curve(0);
        chart = chart.with(Series::line("PCA of the first rows", &x, &y));
    }
    let x = contestants.first().map(|contestant| contestant.curve.curve(0).0).unwrap_or_default();
    if let (Some(first), Some(last)) = (x.first(), x.last()) {
        chart = chart.with(Series::dashed("best fixed subspace, in all", &[*first, *last], &[best.high(); 2]));
    }
    chart
}
