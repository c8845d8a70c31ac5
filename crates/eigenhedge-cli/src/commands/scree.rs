//! `scree`: the loss for every number of directions, to choose k. In one pass, one leader with the largest k and [`MORE`]
//! directions gives the online loss of all k: that of the k leading directions of the previous rows.

use crate::args::ScreeArgs;
use crate::destination::judge_plot;
use crate::files::judge_place;
use crate::plan;
use crate::stdout;
use crate::table;
use crate::working::Working;
use anyhow::{Context, Result, anyhow};
use eigenhedge::comparators::{BestMethod, Hindsight};
use eigenhedge::options::Options;
use eigenhedge::{Kind, Model, Spec};
use eigenhedge_io::write_whole;
use eigenhedge_pages::number::readable;
use eigenhedge_pages::{Chart, Series, svg};
use std::fmt::Write;

const USUAL: usize = 20;
const MORE: usize = 8;

struct Losses {
    online_energy: f64,
    energy: f64,
    online: Vec<f64>,
    /// At index k - 1, as `online`.
    hindsight: Vec<f64>,
    rows: u64,
}

pub fn scree(args: &ScreeArgs) -> Result<()> {
    judge_plot(args.plot.as_deref())?;
    args.plot.iter().try_for_each(|path| judge_place(path))?;
    let losses = measure(args)?;
    let mut out = String::new();
    let share = |loss: f64, energy: f64| if energy > 0.0 { 1.0 - (loss / energy).min(1.0) } else { 1.0 };
    writeln!(out, "{:>4}{:>16}{:>9}{:>16}{:>9}", "k", "lost online", "kept", "in hindsight", "kept")?;
    let kept: Vec<(f64, f64)> = losses
        .online
        .iter()
        .zip(&losses.hindsight)
        .map(|(online, best)| (share(*online, losses.online_energy), share(*best, losses.energy)))
        .collect();
    for (i, (online, best)) in kept.iter().enumerate() {
        let (lost, least) = (readable(losses.online[i]), readable(losses.hindsight[i]));
        writeln!(out, "{:>4}{lost:>16}{:>7.2} %{least:>16}{:>7.2} %", i + 1, 100.0 * online, 100.0 * best)?;
    }
    out += &suggestion(args.share, &kept, losses.rows);
    if let Some(path) = &args.plot {
        write_whole(path, svg::chart(&chart(&kept)).as_bytes())?;
    }
    stdout::print(&out)
}

fn measure(args: &ScreeArgs) -> Result<Losses> {
    let mut stream = table::open(&args.inputs, &args.table, None)?;
    let length = stream.columns().len();
    let source = stream.source();
    let fits = |error: eigenhedge::Error| anyhow!("{source}: {error}");
    let most = args.max_k.unwrap_or(USUAL).min(length.saturating_sub(1)).max(1);
    let setup = plan::setup(&Options::new(Kind::Leader, most))?;
    let max_rank = Some(most + MORE).filter(|rank| *rank < length);
    let spec = Spec { max_rank, ..setup.for_rows(length)?.spec };
    let mut run = Model::with_comparators(spec, length, 0, BestMethod::None, 0).map_err(fits)?;
    let mut hindsight = Hindsight::new(length, true, most).map_err(fits)?;
    let mut losses =
        Losses { online_energy: 0.0, energy: 0.0, online: vec![0.0; most], hindsight: Vec::new(), rows: 0 };
    let mut coordinates = Vec::new();
    let working = Working::start(format!("{most} directions of {length} columns"), 0);
    while let Some(row) = stream.next_row()? {
        // The first row sets the center, so its loss does not count.
        if losses.rows == 0 {
            hindsight.begin_at(row)
        } else {
            hindsight.add(row)
        }
        // The embedding completes the directions while the rows span fewer.
        let is_complete = run.totals().rank_max > most;
        let mut lost = if is_complete { 0.0 } else { run.embedding().transform(row, &mut coordinates)? };
        let loss = run.step(row).map_err(|error| anyhow!("{}: {error}", stream.place()))?;
        if is_complete {
            lost = loss.realised;
            coordinates.clear();
            // The directions of a leader are in the order of increasing energy.
            coordinates.extend(run.coordinates().iter().rev());
        }
        if losses.rows > 0 {
            for (total, coordinate) in losses.online.iter_mut().zip(&coordinates).rev() {
                *total += lost;
                lost += coordinate * coordinate;
            }
            losses.online_energy += lost;
        }
        losses.rows += 1;
        working.advance(1);
    }
    let best = hindsight.best_up_to(most).context("no best loss")?;
    losses.energy = best[0].high();
    losses.hindsight = best[1..].iter().map(|best| best.high()).collect();
    Ok(losses)
}

fn suggestion(share: f64, kept: &[(f64, f64)], rows: u64) -> String {
    let wanted = format!("{:.4}", 100.0 * share);
    let wanted = wanted.trim_end_matches('0').trim_end_matches('.');
    match kept.iter().position(|(online, _)| *online >= share) {
        Some(i) => {
            let k = i + 1;
            let also = kept.iter().position(|(_, best)| *best >= share).map_or(k, |i| i + 1);
            let hindsight = if also < k { format!("; in hindsight {also} would have done") } else { String::new() };
            format!(
                "try -k {k}: the fewest directions that keep {wanted} % of the energy of rows not seen before{hindsight}\n"
            )
        }
        None => {
            let most = kept.len();
            let (last, _) = kept.last().copied().unwrap_or_default();
            format!(
                "no k up to {most} keeps {wanted} % of the energy: {most} keep {:.2} %, over {rows} rows; try --max-k or a \
                 smaller --share\n",
                100.0 * last
            )
        }
    }
}

fn chart(kept: &[(f64, f64)]) -> Chart {
    let x: Vec<f64> = (1..=kept.len()).map(|k| k as f64).collect();
    let online: Vec<f64> = kept.iter().map(|(online, _)| 100.0 * online).collect();
    let best: Vec<f64> = kept.iter().map(|(_, best)| 100.0 * best).collect();
    Chart::new("Energy kept by k directions", "k", "per cent of the energy")
        .with(Series::line("online, rows not seen before", &x, &online))
        .with(Series::line("in hindsight", &x, &best))
}
