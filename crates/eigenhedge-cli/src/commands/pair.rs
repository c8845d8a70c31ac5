//! `pair` and `experts`: the asymmetric and the expert setting.

use crate::args::{ExpertsArgs, PairArgs};
use crate::csv_writer::CsvWriter;
use crate::number::readable;
use crate::stdout;
use crate::table;
use anyhow::{Result, anyhow};
use eigenhedge::comparators::BestPair;
use eigenhedge::experts::CappedHedge;
use eigenhedge::{Kind, Mixing, Pair, Random, bounds, trial};
use std::fmt::Write;

/// Two streams side by side: directions of one that go with directions of the other.
pub fn pair(args: &PairArgs) -> Result<()> {
    let (mut left, mut right) = (table::open(&args.left, &args.table)?, table::open(&args.right, &args.table)?);
    let (n, m) = (left.columns().len(), right.columns().len());
    [&left, &right].into_iter().try_for_each(|stream| table::allow_learners(stream, &[Kind::Tracking]))?;
    let mixing = if args.alpha > 0.0 { Mixing::FixedShare { alpha: args.alpha } } else { Mixing::None };
    let mut learner = Pair::new(n, m, args.k, args.eta, mixing)?;
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
    if let Some(best) = best {
        writeln!(out, "best       {} by the best fixed pair of subspaces in hindsight", readable(best.gain(args.k)))?;
    }
    stdout::print(&out)
}

/// Losses of experts, one column each: k of them are kept, the others pay.
pub fn experts(args: &ExpertsArgs) -> Result<()> {
    let mut stream = table::open(&args.losses, &args.table)?;
    let count = stream.columns().len();
    table::allow_learners(&stream, &[Kind::Tracking])?;
    let names = stream.columns().to_vec();
    let mixing = if args.alpha > 0.0 { Mixing::FixedShare { alpha: args.alpha } } else { Mixing::None };
    let mut learner = CappedHedge::new(count, args.k, args.eta)
        .and_then(|learner| learner.with_mixing(mixing))
        .map_err(|error| anyhow!("{}: {error}", stream.source()))?;
    let mut random = Random::seeded(args.seed);
    let mut header = vec!["row".to_owned(), "expected_loss".to_owned(), "loss".to_owned()];
    header.extend(names.iter().map(|name| format!("kept_{name}")));
    let mut sheet = args.out.as_deref().map(|path| CsvWriter::create(Some(path), &header)).transpose()?;
    let (mut expected, mut realised, mut rows) = (0.0, 0.0, 0u64);
    let mut totals = vec![0.0; count];
    while let Some(row) = stream.next_row()? {
        let kept: Vec<f64> = learner.log_dropped().iter().map(|w| -w.exp_m1()).collect();
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
    // The best set keeps those that lose most.
    totals.sort_by(f64::total_cmp);
    let best: f64 = totals[..count - args.k].iter().sum();
    let mut out = String::new();
    writeln!(out, "read       {rows} rows of {count} losses, {} kept", args.k)?;
    writeln!(out, "lost       {} expected, {} by the choices drawn", readable(expected), readable(realised))?;
    writeln!(out, "best       {} by the best fixed set in hindsight", readable(best))?;
    match bounds::capped_hedge(args.eta, best, args.k, count).filter(|_| mixing == Mixing::None) {
        Some(bound) => {
            let verdict = if expected <= bound * (1.0 + 1e-10) { "it holds" } else { "IT DOES NOT HOLD" };
            writeln!(out, "bound      {} on the expected loss (JMLR Theorem 3): {verdict}", readable(bound))?;
        }
        None => writeln!(out, "bound      none: no theorem covers mixing")?,
    }
    stdout::print(&out)
}
