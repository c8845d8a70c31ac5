//! Lower bound for follow the leader: an adversary for experts, sets of experts and subspaces.

use super::spec;
use crate::curves::{cumulated, expected_losses, last, row_numbers};
use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::bounds::{divergence, tuned_rate, tuned_regret};
use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Instance, Kind, Random, Spec, streams, trial};
use eigenhedge_pages::{Chart, Series};

const N: usize = 10;
const KEPT: usize = 6;
/// Share of `n/(n-k)` times the best loss that the leader must lose.
const ENOUGH: f64 = 0.95;

/// Cumulative losses of the leader and of a learner, the best total loss, and the learner's bound.
struct LossTotals {
    leader: Vec<f64>,
    learner: Vec<f64>,
    best: f64,
    bound: f64,
}

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let count = if setting.quick { 1000 } else { 4000 };
    let rows = streams::leader_trap(N, count);
    let losses: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * x).collect()).collect();
    let mut claims = Vec::new();
    let mut by_kept =
        Table::new("", ["kept", "leader_over_best", "n_over_dropped", "capped_hedge_over_best", "bound_over_best"]);
    for kept in 1..N {
        let totals = experts(&losses, kept)?;
        let [leader, learner, bound] =
            [last(&totals.leader), last(&totals.learner), totals.bound].map(|total| total / totals.best);
        by_kept.push([kept as f64, leader, ratio(kept), learner, bound]);
        if kept == N - 1 || kept == KEPT {
            let what = if kept == N - 1 { "experts" } else { "sets" };
            claims.extend(judge(what, "capped Hedge", kept, &totals));
        }
        progress(0.5 * kept as f64 / N as f64);
    }
    let mut charts = vec![ratios(&by_kept)];
    let tracking = subspaces(&rows, Kind::Tracking)?;
    progress(0.7);
    let anchored = subspaces(&rows, Kind::Anchored)?;
    claims.extend(judge("subspaces", "tracking", KEPT, &tracking));
    claims.extend(judge("subspaces", "anchored", KEPT, &anchored).pop());
    claims.push(adversary(count)?);
    let row = |t: usize| [t as f64, tracking.leader[t], tracking.learner[t], anchored.learner[t]];
    let by_row = Table::of(["row", "leader", "tracking", "anchored"], (0..count).map(row));
    let by_row = Table { suffix: "subspaces", ..by_row };
    charts.push(over_time(&tracking, &anchored));
    let text = vec![
        format!(
            "Unit vectors in turn, after one tiny row along each: the direction that has had least energy so far, which the \
             leader surely drops, is the one that comes next. The leader loses everything, every time. The best {KEPT} of {N} \
             directions in hindsight lose {} of it, so the leader pays n/(n-k) times the best, whatever k. For experts the \
             squares of the entries are the losses.",
            (N - KEPT) as f64 / N as f64
        ),
        "Learners with a theorem are tuned to the loss of the best and stay within their bounds on this stream too, and capped \
         Hedge also on the stream of its own adversary, who always charges the expert that it drops most surely."
            .into(),
    ];
    Ok(Outcome { tables: vec![by_kept, by_row], charts, text, claims })
}

fn ratio(kept: usize) -> f64 {
    N as f64 / (N - kept) as f64
}

/// Returns the total loss of the `N - kept` experts with the smallest losses, which are dropped and charged.
fn best(losses: &[Vec<f64>], kept: usize) -> f64 {
    let mut totals = [0.0; N];
    losses.iter().for_each(|losses| totals.iter_mut().zip(losses).for_each(|(total, loss)| *total += loss));
    totals.sort_by(f64::total_cmp);
    totals[..N - kept].iter().sum()
}

/// Returns the rate tuned to the best loss, and its bound.
fn tuned(best: f64, kept: usize) -> (f64, f64) {
    let divergence = divergence(kept, Multiplicity::Finite(N as u64)).unwrap_or(f64::NAN);
    (tuned_rate(divergence, best, 1.0).unwrap_or(1.0), best + tuned_regret(divergence, best, 1.0))
}

fn experts(losses: &[Vec<f64>], kept: usize) -> Result<LossTotals, LabError> {
    let best = best(losses, kept);
    let (eta, bound) = tuned(best, kept);
    let rows = || losses.iter().map(Vec::as_slice);
    let made = |kind, eta| Experts::new(ExpertSpec::new(kind, N, kept, eta));
    let leader = cumulated(&expected_losses(&mut made(ExpertKind::Leader, 1.0)?, rows(), &|_| {})?);
    let learner = cumulated(&expected_losses(&mut made(ExpertKind::CappedHedge, eta)?, rows(), &|_| {})?);
    Ok(LossTotals { leader, learner, best, bound })
}

fn subspaces(rows: &[Vec<f64>], kind: Kind) -> Result<LossTotals, LabError> {
    let losses: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * x).collect()).collect();
    let best = best(&losses, KEPT);
    let (eta, bound) = tuned(best, KEPT);
    let follow = |spec: Spec| -> Result<Vec<f64>, LabError> {
        let instances = rows.iter().map(|row| Instance::from(&row[..]));
        Ok(cumulated(&expected_losses(&mut spec.plain(N)?, instances, &|_| {})?))
    };
    let leader = follow(spec(Kind::Leader, KEPT))?;
    let learner = follow(Spec { eta, ..spec(kind, KEPT) })?;
    Ok(LossTotals { leader, learner, best, bound })
}

fn judge(what: &str, learner: &str, kept: usize, totals: &LossTotals) -> Vec<Claim> {
    let enough = ENOUGH * ratio(kept) * totals.best;
    let than = format!("{ENOUGH} × n/(n-k) × the best, n = {N}, k = {kept}");
    vec![
        Claim::at_least(&format!("{what}: loss of the leader"), last(&totals.leader), &than, enough),
        Claim::at_most(&format!("{what}: loss of {learner}"), last(&totals.learner), "its bound", totals.bound),
    ]
}

fn adversary(count: usize) -> Result<Claim, LabError> {
    // All experts are charged equally in the end, so the best loss is known in advance.
    let (eta, _) = tuned((count * (N - KEPT)) as f64 / N as f64, KEPT);
    let mut learner = Experts::new(ExpertSpec::new(ExpertKind::CappedHedge, N, KEPT, eta))?;
    let (mut random, mut total, mut all) = (Random::seeded(0), 0.0, Vec::new());
    for _ in 0..count {
        let dropped: Vec<f64> = learner.weights().iter().map(|log| log.exp()).collect();
        let losses = streams::charge_surest(&dropped);
        total += trial(&mut learner, &losses[..], &mut random)?.expected;
        all.push(losses);
    }
    let bound = eigenhedge::bounds::capped_hedge(eta, best(&all, KEPT), KEPT, N).unwrap_or(f64::NAN);
    Ok(Claim::at_most("sets: loss of capped Hedge to its own adversary", total, "its bound", bound))
}

fn ratios(table: &Table) -> Chart {
    let column = |j: usize| table.rows.iter().map(|row| row[j].parse().unwrap_or(f64::NAN)).collect::<Vec<f64>>();
    let kept = column(0);
    Chart::new("Loss as a multiple of the best (sets of experts)", "experts kept, of 10", "loss over the best")
        .with(Series::points("follow the leader", &kept, &column(1)))
        .with(Series::points("capped Hedge", &kept, &column(3)))
        .with(Series::dashed("n/(n-k)", &kept, &column(2)))
        .with(Series::dashed("bound of capped Hedge", &kept, &column(4)))
}

fn over_time(tracking: &LossTotals, anchored: &LossTotals) -> Chart {
    let rows = row_numbers(tracking.leader.len());
    let best: Vec<f64> = rows.iter().map(|row| tracking.best * row / rows.len() as f64).collect();
    let level = vec![tracking.bound; 2];
    let ends = [1.0, rows.len() as f64];
    Chart::new("Total loss over subspaces, 6 of 10 directions kept", "rows", "total loss")
        .with(Series::line("follow the leader", &rows, &tracking.leader))
        .with(Series::line("tracking", &rows, &tracking.learner))
        .with(Series::line("anchored", &rows, &anchored.learner))
        .with(Series::dashed("best fixed subspace", &rows, &best))
        .with(Series::dashed("bound of the learners", &ends, &level))
}
