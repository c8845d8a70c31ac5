//! `compare`: several learners and the batch baselines on one stream.

use crate::args::CompareArgs;
use crate::files::{judge_place, write_whole};
use crate::number::readable;
use crate::plan;
use crate::standard;
use crate::table;
use anyhow::{Context, Result, anyhow};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::regret::{Best, Hindsight};
use eigenhedge::{Run, Watch};
use eigenhedge_io::Stream;
use eigenhedge_report::{Block, Chart, Keep, Page, Series, Table, Thin, svg};
use std::fmt::{self, Write};
use std::time::{Duration, Instant};

/// One learner at work.
struct Contestant {
    name: String,
    run: Run,
    curve: Thin,
    spent: Duration,
}

/// PCA of the first rows, then left alone.
struct Frozen {
    rows: Vec<Vec<f64>>,
    wanted: usize,
    pca: Option<Pca>,
    charged: u64,
    total: f64,
    curve: Thin,
}

const POINTS: usize = 1000;

/// Runs, prints a table, draws a plot.
pub fn compare(args: &CompareArgs) -> Result<()> {
    [&args.plot, &args.report].into_iter().flatten().try_for_each(|path| judge_place(path))?;
    let (source, layout) = table::plan(&args.input, &args.table)?;
    let mut stream = Stream::open(&source, &layout)?;
    let length = stream.columns().len();
    table::allow_learners(&stream, &args.learners)?;
    let centered = !args.no_center;
    let fits = |error: eigenhedge::Error| anyhow!("{}: {error}", stream.source());
    let watch = Watch { hindsight: false, segments: 0 };
    let mut contestants = Vec::new();
    for kind in &args.learners {
        let options = plan::with_defaults(*kind, args.k, centered, args.norm_bound)?;
        let run = options.spec(length).and_then(|spec| Run::watching(spec, length, args.seed, watch)).map_err(fits)?;
        let curve = Thin::new(Keep::First, POINTS, 1);
        contestants.push(Contestant { name: kind.entry().name.to_owned(), run, curve, spent: Duration::ZERO });
    }
    let mut hindsight = Hindsight::new(length, centered, args.k).map_err(fits)?;
    let mut frozen = Frozen {
        rows: Vec::new(),
        wanted: args.warm_up.max(args.k + 1),
        pca: None,
        charged: 0,
        total: 0.0,
        curve: Thin::new(Keep::First, POINTS, 1),
    };
    let mut energy = 0.0;
    while let Some(row) = stream.next_row()? {
        let row = row.to_vec();
        for contestant in &mut contestants {
            let start = Instant::now();
            let outcome = contestant.run.step(&row);
            contestant.spent += start.elapsed();
            outcome.map_err(|error| anyhow!("{}: {error}", stream.place()))?;
            let ledger = contestant.run.ledger();
            contestant.curve.push(ledger.rows - 1, &[ledger.expected]);
        }
        hindsight.add(&row);
        frozen.charge(&row, args.k, centered)?;
        if frozen.rows.len().is_power_of_two() {
            stream.allow("the rows of the warm-up", 32 * (frozen.rows.len() * length) as u128)?;
        }
        energy += row.iter().map(|x| x * x).sum::<f64>();
    }
    let best = hindsight.best(args.k).context("no best loss")?;
    report(&contestants, &frozen, best, energy)?;
    let chart = chart(&contestants, &frozen, best);
    if let Some(path) = &args.plot {
        write_whole(path, svg::chart(&chart).as_bytes())?;
    }
    if let Some(path) = &args.report {
        let page = page(&stream.source(), chart, &contestants, &frozen, best);
        write_whole(path, page.html().as_bytes())?;
    }
    Ok(())
}

impl Frozen {
    fn charge(&mut self, row: &[f64], kept: usize, centered: bool) -> Result<()> {
        let loss = match &self.pca {
            Some(pca) => pca.loss(row)?,
            None => row.iter().map(|x| x * x).sum(),
        };
        self.total += loss;
        if self.pca.is_none() {
            self.rows.push(row.to_vec());
            if self.rows.len() == self.wanted {
                let center = if centered { Center::Mean } else { Center::None };
                self.pca = Some(Pca::fit(&self.rows, kept, center)?);
                self.rows = Vec::new();
            }
        }
        self.curve.push(self.charged, &[self.total]);
        self.charged += 1;
        Ok(())
    }
}

fn report(contestants: &[Contestant], frozen: &Frozen, best: Best, energy: f64) -> Result<()> {
    let mut out = String::new();
    let share = |loss: f64| if energy > 0.0 { format!("{:.2} %", 100.0 * loss / energy) } else { "-".into() };
    writeln!(out, "{:<34}{:>14}{:>11}{:>14}{:>12}", "learner", "expected loss", "of energy", "over best", "µs a row")?;
    let mut line = |name: &str, loss: f64, micros: String| -> fmt::Result {
        let over = readable(loss - best.high());
        writeln!(out, "{name:<34}{:>14}{:>11}{over:>14}{micros:>12}", readable(loss), share(loss))
    };
    line("best fixed subspace in hindsight", best.high(), "-".into())?;
    line(&format!("PCA of the first {} rows", frozen.wanted), frozen.total, "-".into())?;
    let mut ordered: Vec<&Contestant> = contestants.iter().collect();
    ordered.sort_by(|a, b| a.run.ledger().expected.total_cmp(&b.run.ledger().expected));
    for contestant in ordered {
        let ledger = contestant.run.ledger();
        let micros = 1e6 * contestant.spent.as_secs_f64() / ledger.rows.max(1) as f64;
        line(&contestant.name, ledger.expected, format!("{micros:.1}"))?;
    }
    standard::print(&out)
}

fn page(source: &str, chart: Chart, contestants: &[Contestant], frozen: &Frozen, best: Best) -> Page {
    let over = |name: &str, loss: f64| vec![name.to_owned(), loss.to_string(), readable(loss - best.high())];
    let mut rows = vec![
        over("best fixed subspace in hindsight", best.high()),
        over(&format!("PCA of the first {} rows", frozen.wanted), frozen.total),
    ];
    rows.extend(contestants.iter().map(|contestant| over(&contestant.name, contestant.run.ledger().expected)));
    let columns = ["learner", "expected loss", "over best"].map(String::from).to_vec();
    let table = Table { title: "Losses".into(), columns, rows };
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
    let (x, y) = frozen.curve.curve(0);
    chart = chart.with(Series::line("PCA of the first rows", &x, &y));
    if let (Some(first), Some(last)) = (x.first(), x.last()) {
        chart = chart.with(Series::dashed("best fixed subspace, in all", &[*first, *last], &[best.high(); 2]));
    }
    chart
}
