//! Time per row of the learners in feature space, compared with the batch methods in the same run.
//!
//! `cargo bench -p eigenhedge --bench kernel` prints all tables. `-- tracking`, `-- anchored`, `-- budget`,
//! `-- hebbian` or `-- digits` prints one. The digits are read from the folder EIGENHEDGE_DATA.

use eigenhedge::batch::{Center, KernelPca, Solver};
use eigenhedge::hebbian::{FeatureWeights, Hebbian, Params};
use eigenhedge::internals::{Span, symmetric_eigen};
use eigenhedge::kernel::{VectorKernel, Vectors};
use eigenhedge::{Instance, Kind, Matrix, Mixing, Random, Spec, streams, trial};
use std::time::Instant;

const COLUMNS: usize = 20;
const RBF: VectorKernel = VectorKernel::Rbf { gamma: 1.0 };

fn rows(count: usize) -> Vec<Vec<f64>> {
    streams::signal_and_noise(COLUMNS, 5, 0.3, 3).take(count).collect()
}

fn times(spec: &Spec, rows: &[Vec<f64>]) -> Vec<f64> {
    let mut learner = spec.kernel(RBF, COLUMNS).expect("a valid learner");
    let mut random = Random::seeded(2);
    let step = |row: &Vec<f64>| {
        let start = Instant::now();
        trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row");
        start.elapsed().as_secs_f64()
    };
    rows.iter().map(step).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn gram(rows: &[Vec<f64>]) -> Matrix {
    let mut gram = Matrix::zeros(rows.len(), rows.len());
    for (j, a) in rows.iter().enumerate() {
        gram.column_mut(j).iter_mut().zip(rows).for_each(|(g, b)| *g = RBF.value(a, b));
    }
    gram
}

fn tracking() {
    let rows = rows(2000);
    let row = mean(&times(&Spec::bare(Kind::Tracking, 5), &rows)[1900..]);
    let start = Instant::now();
    let dictionary = Vectors::new(RBF, COLUMNS).expect("a valid kernel");
    let batch = KernelPca::fit(dictionary, &rows, 5, Center::None, Solver::Partial).expect("valid rows");
    let refit = start.elapsed().as_secs_f64();
    std::hint::black_box(batch.eigenvalues);
    println!("kernel tracking, RBF, 20 columns, k = 5, rows 1,900 to 2,000: {:.1} µs a row", row * 1e6);
    println!("  one batch kernel PCA of 2,000 points: {:.1} ms, {:.0} times as long", refit * 1e3, refit / row);
}

fn anchored() {
    let rows = rows(1000);
    let row = mean(&times(&Spec::bare(Kind::Anchored, 5), &rows)[900..]);
    let gram = gram(&rows);
    let start = Instant::now();
    std::hint::black_box(symmetric_eigen(&gram));
    let dense = start.elapsed().as_secs_f64();
    println!("kernel anchored, RBF, 20 columns, k = 5, rows 900 to 1,000: {:.3} ms a row", row * 1e3);
    println!("  eigendecomposition of the Gram matrix: {:.1} ms, {:.1} times as long", dense * 1e3, dense / row);
}

fn budget() {
    let rows = rows(10_000);
    for atoms in [100, 300] {
        let mixing = Mixing::FixedShare { alpha: 1e-3 };
        let spec = Spec { budget: Some(atoms), mixing, ..Spec::bare(Kind::Tracking, 5) };
        let times = times(&spec, &rows);
        let (middle, last) = (mean(&times[4500..5500]), mean(&times[9000..]));
        println!(
            "budget of {atoms} atoms, 10,000 rows: {:.1} µs a row in the middle, {:.1} at the end, ratio {:.2}",
            middle * 1e6,
            last * 1e6,
            last / middle
        );
    }
}

/// Prints the time of the simultaneous Hebbian learner for several numbers T of rows. It grows like
/// T², because each row takes one kernel row over all earlier rows.
fn hebbian() {
    let rows = rows(8000);
    let mut last: Option<f64> = None;
    for count in [1000, 2000, 4000, 8000] {
        let weights = FeatureWeights::new(Vectors::new(RBF, COLUMNS).expect("a valid kernel")).expect("no atoms yet");
        let mut learner = Hebbian::new(Params::simultaneous(10, 0.05, 1.0), weights).expect("a valid learner");
        let mut random = Random::seeded(2);
        let start = Instant::now();
        for row in &rows[..count] {
            trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row");
        }
        let seconds = start.elapsed().as_secs_f64();
        let growth = last.map_or(String::new(), |before| format!(", exponent {:.2}", (seconds / before).log2()));
        println!("simultaneous Hebbian learner, 10 components, {count} rows: {seconds:.3} s{growth}");
        last = Some(seconds);
    }
}

/// Returns the digits in the folder EIGENHEDGE_DATA, 256 numbers each, or `None` without them.
fn digits() -> Option<Vec<Vec<f64>>> {
    let path = std::path::Path::new(&std::env::var_os("EIGENHEDGE_DATA")?).join("usps.npz");
    let arrays = ["X_train", "X_test"].map(|name| eigenhedge_io::read_array(&path, Some(name)));
    let all: Vec<f64> = arrays.into_iter().flatten().flat_map(|array| array.numbers).collect();
    (!all.is_empty()).then(|| all.chunks(256).map(<[f64]>::to_vec).collect())
}

fn usps() {
    let Some(mut rows) = digits() else {
        println!("digits: skipped, because EIGENHEDGE_DATA names no folder with usps.npz");
        return;
    };
    let available = rows.len();
    while rows.len() < 10_000 {
        rows.push(rows[rows.len() - available].clone());
    }
    let kernel = VectorKernel::Rbf { gamma: 1.0 / 128.0 };
    let mixing = Mixing::FixedShare { alpha: 1e-3 };
    let mut whole = None;
    for (budget, count) in [(None, 3000), (Some(300), 3000), (Some(300), 10_000)] {
        let spec = Spec { budget, mixing, eta: 4.0, ..Spec::bare(Kind::Tracking, 5) };
        let mut learner = spec.kernel(kernel.clone(), 256).expect("a valid learner");
        let mut random = Random::seeded(2);
        let (mut total, mut seconds) = (0.0, Vec::new());
        for row in &rows[..count] {
            let start = Instant::now();
            total += trial(&mut learner, &Instance::from(&row[..]), &mut random).expect("a valid row").expected;
            seconds.push(start.elapsed().as_secs_f64());
        }
        let name = budget.map_or("no budget".to_owned(), |atoms| format!("{atoms} atoms"));
        let against = whole
            .filter(|_| count == 3000)
            .map_or(String::new(), |w: f64| format!(", {:+.2} % against no budget", 100.0 * (total / w - 1.0)));
        println!("digits, RBF, k = 5, {name}, {count} rows: expected loss {total:.2}{against}");
        if count == 10_000 {
            let (middle, last) = (mean(&seconds[4500..5500]), mean(&seconds[9000..]));
            println!(
                "  {:.0} µs a row in the middle, {:.0} at the end, ratio {:.2}",
                middle * 1e6,
                last * 1e6,
                last / middle
            );
            println!("  accumulated error of the budget in the RKHS norm: {:.2}", learner.span().budget_error());
        }
        whole = whole.or(Some(total));
    }
}

fn main() {
    let part = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let parts: [(&str, fn()); 5] =
        [("tracking", tracking), ("anchored", anchored), ("budget", budget), ("hebbian", hebbian), ("digits", usps)];
    for (name, run) in parts {
        if part.as_deref().is_none_or(|part| part == name) {
            run();
        }
    }
}
