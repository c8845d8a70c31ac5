//! Online kernel PCA on a noisy cone, with the anchored learner and a polynomial kernel of degree two.

use super::spec;
use crate::curves::{cumulated, expected_losses, last, row_numbers};
use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::batch::{Center, KernelPca, Pca, Solver};
use eigenhedge::bounds::{divergence_by_kept, tuned_rate, tuned_regret};
use eigenhedge::internals::dot;
use eigenhedge::kernel::{VectorKernel, Vectors};
use eigenhedge::{Instance, Kind, Random, Spec};
use eigenhedge_pages::{Chart, Series};

const LENGTH: usize = 20;
const HEIGHT: f64 = 0.6;
/// Standard deviation of the noise in every coordinate. The paper does not state it.
const NOISE: f64 = 0.03;
/// Number of kept directions. The six products of three coordinates satisfy one equation, so they span five directions.
const KEPT: usize = 5;
const KERNEL: VectorKernel = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 0.0 };

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let count = if setting.quick { 300 } else { 500 };
    let rows = cone(count, setting.seed);
    let offline = KernelPca::fit(Vectors::new(KERNEL, LENGTH)?, &rows, KEPT, Center::None, Solver::Dense)?;
    let best = cumulated(&offline.losses);
    let ceiling = last(&best);
    let space = spec(Kind::Anchored, KEPT);
    let space = Spec { kernel: Some(KERNEL), ..space };
    let divergence = divergence_by_kept(KEPT, space.space(LENGTH)).unwrap_or(f64::NAN);
    let eta = tuned_rate(divergence, ceiling, 1.0).unwrap_or(1.0);
    let bound = ceiling + tuned_regret(divergence, ceiling, 1.0);
    progress(0.2);
    let tuned = online(&rows, &Spec { eta, ..space.clone() }, &|done| progress(0.2 + 0.4 * done))?;
    let plain = online(&rows, &Spec { eta: 1.0, ..space }, &|done| progress(0.6 + 0.4 * done))?;
    let regret: Vec<f64> =
        plain.iter().zip(&best).zip(1..).map(|((own, best), t)| (own - best) / f64::from(t)).collect();

    let table = Table::of(
        ["row", "offline", "online_tuned", "online_rate_1", "bound", "average_regret"],
        (0..count).map(|t| [t as f64, best[t], tuned[t], plain[t], bound, regret[t]]),
    );
    let points = rows.iter().enumerate().map(|(t, row)| [t as f64, row[0], row[1], row[2]]);
    let points = Table { suffix: "points", ..Table::of(["row", "x", "y", "z"], points) };
    let energy: f64 = rows.iter().map(|row| dot(row, row).powi(2)).sum();
    let flat = Pca::fit(&rows, 2, Center::None)?.total_loss() / rows.iter().map(|row| dot(row, row)).sum::<f64>();
    let early = regret[count / 10];
    let claims = vec![
        Claim::at_most("loss online, tuned rate", last(&tuned), "the bound (7)", bound),
        Claim::at_most("loss offline", ceiling, "loss online, tuned rate", last(&tuned)),
        Claim::less("average regret at the end", last(&regret), "half of that after a tenth of the rows", 0.5 * early),
        Claim::less(
            "share of energy that kernel PCA loses (5 directions)",
            ceiling / energy,
            "half the share that plain PCA loses (2 directions)",
            0.5 * flat,
        ),
    ];
    let text = vec![
        format!(
            "{count} points of the cone x² + y² = z² with |z| ≤ {HEIGHT}, padded with zeros to {LENGTH} coordinates, with Gaussian \
             noise of standard deviation {NOISE} in all of them (the paper does not say how much; points whose features would \
             be longer than one are drawn again). Features are the products of two coordinates: 210 different ones."
        ),
        format!(
            "{KEPT} directions are kept. The rate tuned by (6) to the loss of the best is {eta:.2} (1.5 in the paper), and anchored (ICML Algorithm 6) \
             loses {:.2} where the best fixed subspace loses {ceiling:.2} and the bound (7) promises at most {bound:.1}. The \
             last picture has the rate 1, as in the paper.",
            last(&tuned)
        ),
    ];
    Ok(Outcome { tables: vec![table, points], charts: charts(&rows, &best, &tuned, bound, &regret), text, claims })
}

/// Generates noisy points of the cone. Points whose features have a norm above 1 are drawn again.
fn cone(count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut point = || {
        let z = HEIGHT * (2.0 * random.uniform() - 1.0);
        let (sin, cos) = (std::f64::consts::TAU * random.uniform()).sin_cos();
        let mut row: Vec<f64> = (0..LENGTH).map(|_| NOISE * random.normal()).collect();
        [z * cos, z * sin, z].iter().zip(&mut row).for_each(|(clean, x)| *x += clean);
        row
    };
    std::iter::repeat_with(&mut point).filter(|row| dot(row, row) <= 1.0).take(count).collect()
}

fn online(rows: &[Vec<f64>], spec: &Spec, progress: &Progress) -> Result<Vec<f64>, LabError> {
    let instances = rows.iter().map(|row| Instance::from(&row[..]));
    Ok(cumulated(&expected_losses(&mut spec.kernel(KERNEL, LENGTH)?, instances, progress)?))
}

fn charts(rows: &[Vec<f64>], best: &[f64], tuned: &[f64], bound: f64, regret: &[f64]) -> Vec<Chart> {
    let shown = &rows[..rows.len().min(600)];
    let coordinate = |i: usize| shown.iter().map(|row| row[i]).collect::<Vec<_>>();
    let t = row_numbers(best.len());
    let ends = [1.0, best.len() as f64];
    vec![
        Chart::new("The cone from the side", "x", "z").with(Series::points("points", &coordinate(0), &coordinate(2))),
        Chart::new("The cone from above", "x", "y").with(Series::points("points", &coordinate(0), &coordinate(1))),
        Chart::new("Total loss, rate tuned by (6)", "rows", "total loss")
            .with(Series::line("online kernel PCA (anchored)", &t, tuned))
            .with(Series::dashed("offline kernel PCA", &t, best))
            .with(Series::dashed("bound (7)", &ends, &[bound, bound])),
        Chart::new("Average regret, rate 1", "rows", "regret per row")
            .with(Series::line("online less offline", &t, regret))
            .with(Series::dashed("zero", &ends, &[0.0, 0.0])),
    ]
}
