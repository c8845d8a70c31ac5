//! Variance minimizer: tracking with k = n - 1 on covariance matrices.
//!
//! Each trial has a covariance matrix with eigenvalues in [0, 1]. Before the matrix is revealed, the learner commits to
//! one unit vector (the dropped direction). Its loss is the variance along that vector. The best vector in hindsight is
//! the eigenvector of the smallest eigenvalue of the sum of all matrices.
//!
//! Run it with `cargo run --release -p eigenhedge --example variance_minimiser`.

use eigenhedge::bounds::{Setting, uncentered};
use eigenhedge::internals::symmetric_eigen;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Error, Instance, Kind, Matrix, NormBound, Random, Spec, Symmetric, trial};

const N: usize = 6;
const DAYS: usize = 400;

/// Generates a noisy covariance matrix. All of them have the same low-variance direction.
fn day(random: &mut Random) -> Matrix {
    let mut covariance = Matrix::zeros(N, N);
    for _ in 0..3 {
        // Factors are nearly orthogonal to the direction (1, 1, …, 1).
        let mut factor: Vec<f64> = (0..N).map(|_| random.normal()).collect();
        let mean = 0.95 * factor.iter().sum::<f64>() / N as f64;
        factor.iter_mut().for_each(|x| *x -= mean);
        let size: f64 = factor.iter().map(|x| x * x).sum();
        for j in 0..N {
            for i in 0..N {
                covariance.column_mut(j)[i] += factor[i] * factor[j] / (3.0 * size);
            }
        }
    }
    covariance
}

fn main() -> Result<(), Error> {
    let eta = 2.0;
    let spec = Spec { eta, norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::Tracking, N - 1) };
    let mut learner = spec.plain(N)?;
    let mut random = Random::seeded(1);
    let mut total = Matrix::zeros(N, N);
    let (mut expected, mut realised) = (0.0, 0.0);
    for _ in 0..DAYS {
        let covariance = day(&mut random);
        let instance = Symmetric::new(&covariance)?;
        let loss = trial(&mut learner, &Instance::Dyads(&instance.dyads()), &mut random)?;
        expected += loss.expected;
        realised += loss.realised;
        for j in 0..N {
            total.column_mut(j).iter_mut().zip(covariance.column(j)).for_each(|(t, c)| *t += c);
        }
    }
    let best = symmetric_eigen(&total).values[0];
    let bound = uncentered(&Setting::new(eta, N - 1, Multiplicity::Finite(N as u64)), best).unwrap_or(f64::INFINITY);
    println!("{DAYS} covariance matrices in {N} dimensions; variance along the chosen direction, summed:");
    println!("  expected                     {expected:8.3}");
    println!("  of the directions drawn      {realised:8.3}");
    println!("  best direction in hindsight  {best:8.3}");
    println!("  bound on the expected one    {bound:8.3}");
    assert!(expected <= bound, "the theorem holds");
    Ok(())
}
