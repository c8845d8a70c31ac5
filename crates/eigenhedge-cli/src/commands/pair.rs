//! `pair`, which learns from pairs of rows, and `experts`, which learns from the losses of experts.

use crate::args::{ExpertsArgs, PairArgs};
use crate::destination::{Destination, judge_outputs, row_cells, row_columns};
use crate::table::{self, Usage};
use anyhow::{Result, anyhow};
use eigenhedge::batch::Center;
use eigenhedge::bounds::{self, Setting};
use eigenhedge::comparators::BestPair;
use eigenhedge::registry::{ExpertKind, ExpertSpec, Experts};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Kind, Mixing, NormBound, Pair, Random, trial};
use eigenhedge_io::{Cell, number_columns};
use eigenhedge_pages::number::readable;
use std::fmt::Write;
use std::slice::from_ref;

pub fn pair(args: &PairArgs) -> Result<()> {
    let outputs = [("--out", &args.out.out), ("--directions", &args.directions)];
    judge_outputs([("the first table", &args.left), ("the second table", &args.right)], &outputs)?;
    let out = args.out.destination()?;
    let directions = Destination::new("--directions", args.directions.as_deref(), None)?;
    let open = |path| table::open(from_ref(path), &args.table, None);
    let (mut left, mut right) = (open(&args.left)?, open(&args.right)?);
    let (n, m) = (left.columns().len(), right.columns().len());
    [&left, &right].into_iter().try_for_each(|stream| table::allow_learners(stream.stream(), &[Kind::Tracking]))?;
    let mixing = if args.alpha == 0.0 { Mixing::None } else { Mixing::FixedShare { alpha: args.alpha } };
    let norm_bound = args.norm_bound.map_or(NormBound::Running, NormBound::Given);
    let mut learner = Pair::new(n, m, args.k, args.eta, mixing)?.with_norm_bound(norm_bound)?;
    if args.center == Center::Mean {
        learner = learner.centered();
    }
    let mut best = BestPair::new(n, m);
    let mut random = Random::seeded(args.seed);
    let mut gains = out.open(row_columns(["expected_gain", "gain"].map(str::to_owned)))?;
    let sides = ["left_", "right_"].into_iter().zip([left.columns(), right.columns()]);
    let names = sides.flat_map(|(side, names)| names.iter().map(move |name| format!("{side}{name}")));
    let names: Vec<String> = std::iter::once("kept".to_owned()).chain(names).collect();
    let mut table = directions.open(number_columns(&names))?;
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
            let (x, y) = learner.last_pair();
            best.add(x, y);
        }
        gains.write(&row_cells(rows, [gain.expected, gain.realised]))?;
        (rows, expected, realised) = (rows + 1, expected + gain.expected, realised + gain.realised);
    }
    gains.finish()?;
    let (first, second, probabilities) = learner.directions();
    for (j, kept) in probabilities.iter().enumerate() {
        let numbers = std::iter::once(kept).chain(first.column(j)).chain(second.column(j));
        table.write(&numbers.copied().map(Cell::Number).collect::<Vec<_>>())?;
    }
    table.finish()?;
    let mut text = String::new();
    writeln!(text, "read       {rows} pairs of {n} and {m} numbers")?;
    writeln!(text, "gained     {} expected, {} by the choices drawn", readable(expected), readable(realised))?;
    let best = best.map(|best| best.gain(args.k));
    if let Some(best) = best {
        writeln!(text, "best       {} by the best fixed pair of subspaces in hindsight", readable(best))?;
    }
    match (best, args.norm_bound) {
        _ if mixing != Mixing::None => {
            writeln!(text, "bound      none: no theorem covers mixing; --alpha 0 mixes nothing")?
        }
        (Some(best), Some(bound)) => {
            let setting = Setting::new(args.eta, args.k, Multiplicity::Finite((n + m) as u64));
            let least = bounds::pair(&Setting { norm_square: bound * bound, ..setting }, best, rows);
            let least = least.unwrap_or(f64::NEG_INFINITY);
            let verdict = verdict(expected >= least - 1e-10 * (1.0 + least.abs()));
            let least = readable(least);
            writeln!(text, "bound      at least {least} for the expected gain (JMLR Theorem 6, section 9): {verdict}")?;
        }
        _ => writeln!(text, "bound      none: the theorem needs --norm-bound")?,
    }
    out.print(&text)
}

fn verdict(holds: bool) -> &'static str {
    if holds { "it holds" } else { "IT DOES NOT HOLD" }
}

pub fn experts(args: &ExpertsArgs) -> Result<()> {
    judge_outputs([("the input", &args.losses)], &[("--out", &args.out.out)])?;
    let out = args.out.destination()?;
    let mut stream = table::open(from_ref(&args.losses), &args.table, None)?;
    let count = stream.columns().len();
    table::allow_learners(stream.stream(), &[Kind::Tracking])?;
    let names = stream.columns().to_vec();
    let kind = args.learner.parse().unwrap_or(ExpertKind::CappedHedge);
    let alpha = args.alpha.unwrap_or(if args.mixing.is_some() { 1e-3 } else { 0.0 });
    let mixing = match args.mixing.as_deref() {
        Some("past-average") => Mixing::PastAverage { alpha },
        Some("none") if alpha != 0.0 && args.alpha.is_some() => {
            return Err(Usage("--alpha has no effect with --mixing none".into()).into());
        }
        Some("none") => Mixing::None,
        _ if alpha == 0.0 => Mixing::None,
        _ => Mixing::FixedShare { alpha },
    };
    let select = args.select.parse().unwrap_or_default();
    let spec = ExpertSpec { kind, experts: count, kept: args.k, eta: args.eta, mixing, select };
    let mut learner = Experts::new(spec).map_err(|error| anyhow!("{}: {error}", stream.source()))?;
    let mut random = Random::seeded(args.seed);
    let mut numbers = ["expected_loss", "loss"].map(str::to_owned).to_vec();
    if learner.kept_probabilities().is_some() {
        numbers.extend(names.iter().map(|name| format!("kept_{name}")));
    }
    let mut table = out.open(row_columns(numbers))?;
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
        let numbers = [loss.expected, loss.realised].into_iter().chain(kept);
        table.write(&row_cells(stream.row_number(), numbers))?;
    }
    table.finish()?;
    // Experts that are not kept are charged, so the best set keeps those with the largest losses.
    totals.sort_by(f64::total_cmp);
    let best: f64 = totals[..count - args.k].iter().sum();
    let mut text = String::new();
    writeln!(text, "read       {rows} rows of {count} losses, {} kept", args.k)?;
    writeln!(text, "lost       {} expected, {} by the choices drawn", readable(expected), readable(realised))?;
    writeln!(text, "best       {} by the best fixed set in hindsight", readable(best))?;
    match learner.bound(best) {
        Some((bound, theorem)) => {
            let verdict = verdict(expected <= bound * (1.0 + 1e-10));
            writeln!(text, "bound      {} on the expected loss ({theorem}): {verdict}", readable(bound))?;
        }
        None => writeln!(text, "bound      none: no theorem covers the learner {}", kind.name())?,
    }
    out.print(&text)
}
