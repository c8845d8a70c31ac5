//! Kernel ridge regression and its interpretation as a Gaussian process.

use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::batch::KernelRidge;
use eigenhedge::internals::{dot, symmetric_eigen};
use eigenhedge::kernel::{VectorKernel, Vectors};
use eigenhedge::{Matrix, Random};
use eigenhedge_pages::{Chart, Series, Tint};

const POINTS: usize = 40;
const NOISE: f64 = 0.2;
const KERNEL: VectorKernel = VectorKernel::Rbf { gamma: 0.5 };
/// Half the length of the plotted interval, whose middle and ends contain no points.
const REACH: f64 = 6.0;
const GRID: usize = 241;
/// Number of random functions near the solution that are compared with it.
const RIVALS: usize = 200;

fn truth(x: f64) -> f64 {
    (1.2 * x).sin() * (-0.05 * x * x).exp()
}

pub fn run(setting: &Setting, _: &Progress) -> Result<Outcome, LabError> {
    let mut random = Random::seeded(setting.seed);
    let (points, targets) = points(&mut random);
    let rho = NOISE * NOISE;
    let mut ridge = KernelRidge::fit(Vectors::new(KERNEL, 1)?, &points, &targets, rho)?;
    let process = Process::new(&points, &targets, rho);
    let mut table = Table::new("", ["x", "truth", "mean", "deviation", "process_mean", "process_deviation"]);
    let (mut apart, mut inside): (f64, usize) = (0.0, 0);
    let mut columns: [Vec<f64>; 5] = Default::default();
    let grid: Vec<[f64; 1]> = (0..GRID).map(|i| [REACH * (2.0 * i as f64 / (GRID - 1) as f64 - 1.0)]).collect();
    let posterior = ridge.posterior(&grid)?;
    for (i, [x]) in grid.into_iter().enumerate() {
        let (mean, variance) = (posterior.means.column(0)[i], posterior.variances[i]);
        let deviation = variance.sqrt();
        let (process_mean, process_variance) = process.posterior(x);
        apart = apart.max((mean - process_mean).abs()).max((variance - process_variance).abs());
        inside += usize::from((truth(x) - mean).abs() <= 2.0 * deviation);
        table.push([x, truth(x), mean, deviation, process_mean, process_variance.max(0.0).sqrt()]);
        let values = [x, truth(x), mean, mean - 2.0 * deviation, mean + 2.0 * deviation];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let mut claims = vec![
        Claim::at_most("distance of ridge regression from the Gaussian process, mean and variance", apart, "", 1e-9),
        Claim::at_least("share of the true curve within two standard deviations", inside as f64 / GRID as f64, "", 0.9),
    ];
    claims.push(least(&ridge, &process, &mut random));
    claims.extend(fit(&mut ridge, &points, &targets)?);
    let [x, truth, mean, low, high] = &columns;
    let position: Vec<f64> = points.iter().map(|point| point[0]).collect();
    let chart = Chart::new("Kernel ridge regression, read as a Gaussian process", "x", "f(x)")
        .with(Series::line("ridge regression = posterior mean", x, mean).with_tint(Tint::Slot(0)))
        .with(Series::dashed("true curve", x, truth).with_tint(Tint::Slot(1)))
        .with(Series::points("points", &position, &targets).with_tint(Tint::Slot(2)))
        .with(Series::band("mean ± 2 standard deviations", x, low, high).with_tint(Tint::Slot(0)));
    let text = vec![format!(
        "{POINTS} points of a curve with noise of standard deviation {NOISE}, none of them in the middle or at the ends. Ridge \
         regression with ρ = {rho:.2} by a Cholesky factor, and the posterior of a Gaussian process with noise of variance ρ by an \
         eigendecomposition of the kernel matrix, are the same function. Where there are no points the band is wide."
    )];
    Ok(Outcome { tables: vec![table], charts: vec![chart], text, claims })
}

fn points(random: &mut Random) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut place =
        || if random.uniform() < 0.6 { -4.5 + 4.0 * random.uniform() } else { 1.5 + 3.0 * random.uniform() };
    let points: Vec<Vec<f64>> = (0..POINTS).map(|_| vec![place()]).collect();
    let targets = points.iter().map(|x| truth(x[0]) + NOISE * random.normal()).collect();
    (points, targets)
}

fn least(ridge: &KernelRidge<Vectors>, process: &Process, random: &mut Random) -> Claim {
    let solution = ridge.coefficients.column(0);
    let mut rival = || process.objective(&solution.iter().map(|a| a + 0.05 * random.normal()).collect::<Vec<_>>());
    let rival = (0..RIVALS).map(|_| rival()).fold(f64::INFINITY, f64::min);
    let than = format!("the least of {RIVALS} functions near it");
    Claim::less("objective of the solution", process.objective(solution), &than, rival)
}

fn fit(ridge: &mut KernelRidge<Vectors>, points: &[Vec<f64>], targets: &[f64]) -> Result<[Claim; 2], LabError> {
    let (mut error, mut noise) = (0.0, 0.0);
    for ((x, y), found) in points.iter().zip(targets).zip(ridge.predict(points)?.column(0)) {
        error += (found - truth(x[0])).powi(2);
        noise += (y - truth(x[0])).powi(2);
    }
    let variances = ridge.posterior(&[vec![REACH], points[0].clone()])?.variances;
    let (far, near) = (variances[0].sqrt(), variances[1].sqrt());
    Ok([
        Claim::less("squared error of the fit at the points", error, "half that of the noisy targets", 0.5 * noise),
        Claim::less("standard deviation at a point", near, "a third of that far from all points", far / 3.0),
    ])
}

/// Gaussian process by an eigendecomposition of the kernel matrix.
struct Process {
    points: Vec<Vec<f64>>,
    targets: Vec<f64>,
    rho: f64,
    gram: Matrix,
    values: Vec<f64>,
    vectors: Matrix,
}

impl Process {
    fn new(points: &[Vec<f64>], targets: &[f64], rho: f64) -> Self {
        let mut gram = Matrix::zeros(POINTS, POINTS);
        for (j, b) in points.iter().enumerate() {
            gram.column_mut(j).iter_mut().zip(points).for_each(|(k, a)| *k = KERNEL.value(a, b));
        }
        let eigen = symmetric_eigen(&gram);
        let (points, targets) = (points.to_vec(), targets.to_vec());
        Self { points, targets, rho, gram, values: eigen.values, vectors: eigen.vectors }
    }

    fn posterior(&self, x: f64) -> (f64, f64) {
        let row: Vec<f64> = self.points.iter().map(|point| KERNEL.value(point, &[x])).collect();
        let mut moments = (0.0, KERNEL.value(&[x], &[x]));
        for (j, value) in self.values.iter().enumerate() {
            let direction = self.vectors.column(j);
            let along = dot(direction, &row);
            moments.0 += along * dot(direction, &self.targets) / (value + self.rho);
            moments.1 -= along * along / (value + self.rho);
        }
        moments
    }

    /// Returns the objective `Σ (y - f(x))² + ρ |f|²` of the function with these coefficients.
    fn objective(&self, coefficients: &[f64]) -> f64 {
        let mut fitted = Vec::new();
        self.gram.transpose_times(coefficients, &mut fitted);
        let errors: f64 = self.targets.iter().zip(&fitted).map(|(y, f)| (y - f) * (y - f)).sum();
        errors + self.rho * dot(coefficients, &fitted)
    }
}
