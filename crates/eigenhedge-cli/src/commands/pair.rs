//! `pair`, which learns from pairs of rows, and `experts`, which learns from losses of experts.

use crate::args::{ExpertsArgs, PairArgs};
use crate::csv_writer::CsvWriter;
use crate::stdout;
use crate::table;
use anyhow::{Result, anyhow};
use eigenhedge::bounds::{self, Setting};
use eigenhedge::comparators::BestPair;
use eigenhedge::registry::{AnyExperts, ExpertKind, ExpertSpec};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Kind, Mixing, NormBound, Pair, Random, trial};
use eigenhedge_pages::number::readable;
use std::fmt::Write;
use std::path::Path;

/// Runs the learner over pairs of rows of two tables, and compares its gain with the best fixed pair of subspaces.
pub fn pair(args: &PairArgs) -> Result<()> {
    let (mut left, mut right) = (table::open(&args.left, &args.table)?, table::open(&args.right, &args.table)?);
    let (n, m) = (left.columns().len(), right.columns().len());
    [&left, &right].into_iter().try_for_each(|stream| table::allow_learners(stream.stream(), &[Kind::Tracking]))?;
    let mixing = if args.alpha > 0.0 { Mixing::FixedShare { alpha: args.alpha } } else { Mixing::None };
    let norm_bound = args.norm_bound.map_or(NormBound::Running, NormBound::Given);
    let mut learner = Pair::new(n, m, args.k, args.eta, mixing)?.with_norm_bound(norm_bound)?;
    let mut best = BestPair::new(n, m);
    let mut random = Random::seeded(args.seed);
    let header = ["row", "expected_gain", "gain"].map(str::to_owned);
    let mut sheet = args.out.as_deref().map(|path| CsvWriter::create(Some(path), &header)).transpose()?;
    let (mut rows, mut expected, mut realised) = (0u64, 0.0, 0.0);
    loop {
        let (x, y) = match (left.next_row()?, right.next_row()?) {
            (Some(x), Some(y)) => (x, y),
            (None, None) => break,
            (more, _) => {
                let shorter = if more.is_some() { right.source() } else { left.source() };
                return Err(anyhow!("{shorter}: must have as many rows as the other, got {rows}"));
            }
        };
        let gain = learner.step(x, y, &mut random).map_err(|error| anyhow!("row {rows}: {error}"))?;
        if let Some(best) = &mut best {
            best.add(x, y);
        }
        if let Some(sheet) = &mut sheet {
            sheet.line(&format!("{rows},{:?},{:?}", gain.expected, gain.realised))?;
        }
        (rows, expected, realised) = (rows + 1, expected + gain.expected, realised + gain.realised);
    }
    if let Some(sheet) = sheet {
        sheet.finish()?;
    }
    let mut out = String::new();
    writeln!(out, "read       {rows} pairs of {n} and {m} numbers")?;
    writeln!(out, "gained     {} expected, {} by the choices drawn", readable(expected), readable(realised))?;
    let best = best.map(|best| best.gain(args.k));
    if let Some(best) = best {
        writeln!(out, "best       {} by the best fixed pair of subspaces in hindsight", readable(best))?;
    }
    match (best, args.norm_bound) {
        _ if mixing != Mixing::None => {
            writeln!(out, "bound      none: no theorem covers mixing; --alpha 0 mixes nothing")?
        }
        (Some(best), Some(bound)) => {
            let setting = Setting::new(args.eta, args.k, Multiplicity::Finite((n + m) as u64));
            let least = bounds::pair(&Setting { norm_square: bound * bound, ..setting }, best, rows);
            let least = least.unwrap_or(f64::NEG_INFINITY);
            let verdict = verdict(expected >= least - 1e-10 * (1.0 + least.abs()));
            let least = readable(least);
            writeln!(out, "bound      at least {least} for the expected gain (JMLR Theorem 6, section 9): {verdict}")?;
        }
        _ => writeln!(out, "bound      none: the theorem needs --norm-bound")?,
    }
    if let Some(path) = &args.directions {
        write_directions(&mut learner, path, [left.columns(), right.columns()])?;
    }
    stdout::print(&out)
}

fn verdict(holds: bool) -> &'static str {
    if holds { "it holds" } else { "IT DOES NOT HOLD" }
}

/// Writes a line for each direction: probability of being kept, left part and right part.
fn write_directions(learner: &mut Pair, path: &Path, columns: [&[String]; 2]) -> Result<()> {
    let sides = ["left_", "right_"].into_iter().zip(columns);
    let names = sides.flat_map(|(side, names)| names.iter().map(move |name| format!("{side}{name}")));
    let header: Vec<String> = std::iter::once("kept".to_owned()).chain(names).collect();
    let mut sheet = CsvWriter::create(Some(path), &header)?;
    let (left, right, probabilities) = learner.directions();
    for (j, kept) in probabilities.iter().enumerate() {
        let parts = left.column(j).iter().chain(right.column(j));
        sheet.row(std::iter::once(kept).chain(parts).copied())?;
    }
    sheet.finish()
}

/// Runs an expert learner over a table of losses with one column per expert, and prints its loss.
pub fn experts(args: &ExpertsArgs) -> Result<()> {
    let mut stream = table::open(&args.losses, &args.table)?;
    let count = stream.columns().len();
    table::allow_learners(stream.stream(), &[Kind::Tracking])?;
    let names = stream.columns().to_vec();
    let kind = args.learner.parse().unwrap_or(ExpertKind::CappedHedge);
    let alpha = args.alpha.unwrap_or(if args.mixing.is_some() { 1e-3 } else { 0.0 });
    let mixing = match args.mixing.as_deref() {
        Some("past-average") => Mixing::PastAverage { alpha },
        Some("none") => Mixing::None,
        _ if alpha > 0.0 => Mixing::FixedShare { alpha },
        _ => Mixing::None,
    };
    let select = args.select.parse().unwrap_or_default();
    let spec = ExpertSpec { kind, experts: count, kept: args.k, eta: args.eta, mixing, select };
    let mut learner = AnyExperts::new(spec).map_err(|error| anyhow!("{}: {error}", stream.source()))?;
    let mut random = Random::seeded(args.seed);
    let mut header = vec!["row".to_owned(), "expected_loss".to_owned(), "loss".to_owned()];
    if learner.kept_probabilities().is_some() {
        header.extend(names.iter().map(|name| format!("kept_{name}")));
    }
    let mut sheet = args.out.as_deref().map(|path| CsvWriter::create(Some(path), &header)).transpose()?;
    let (mut expected, mut realised, mut rows) = (0.0, 0.0, 0u64);
    let mut totals = vec![0.0; count];
    while let Some(row) = stream.next_row()? {
        let kept = learner.kept_probabilities().unwrap_or_default();
        let loss = match trial(&mut learner, row, &mut random) {
            Ok(loss) => loss,
            Err(error) => {
                stream.refuse(error.to_string())?;
                continue;
            }
        };
        totals.iter_mut().zip(row).for_each(|(total, loss)| *total += loss);
        (expected, realised, rows) = (expected + loss.expected, realised + loss.realised, rows + 1);
        if let Some(sheet) = &mut sheet {
            let mut line = format!("{},{:?},{:?}", stream.row_number(), loss.expected, loss.realised);
            kept.iter().for_each(|p| line += &format!(",{p:?}"));
            sheet.line(&line)?;
        }
    }
    if let Some(sheet) = sheet {
        sheet.finish()?;
    }
    // The experts that are not kept are charged, so the best set keeps those with the largest losses.
    totals.sort_by(f64::total_cmp);
    let best: f64 = totals[..count - args.k].iter().sum();
    let mut out = String::new();
    writeln!(out, "read       {rows} rows of {count} losses, {} kept", args.k)?;
    writeln!(out, "lost       {} expected, {} by the choices drawn", readable(expected), readable(realised))?;
    writeln!(out, "best       {} by the best fixed set in hindsight", readable(best))?;
    match learner.bound(best) {
        Some((bound, theorem)) => {
            let verdict = verdict(expected <= bound * (1.0 + 1e-10));
            writeln!(out, "bound      {} on the expected loss ({theorem}): {verdict}", readable(bound))?;
        }
        None => writeln!(out, "bound      none: no theorem covers the learner {}", kind.name())?,
    }
    stdout::print(&out)
}
