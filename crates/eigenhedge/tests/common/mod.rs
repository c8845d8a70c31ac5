//! Functions shared by several test files.
#![allow(dead_code, clippy::unwrap_used)]

pub mod dense;
pub mod hard_streams;
pub mod saved_states;
pub mod soundness;

use eigenhedge::internals::dot;
use eigenhedge::registry::{Entry, Family, REGISTRY};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::streams::leader_trap;
use eigenhedge::{Kind, Matrix, Mixing, Random, RunningCenter, Spec, streams};

pub fn subspace_learners() -> impl Iterator<Item = &'static Entry> {
    REGISTRY.iter().filter(|entry| entry.family == Family::Subspace)
}

pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut product = Matrix::zeros(a.rows(), b.columns());
    for j in 0..b.columns() {
        for (k, factor) in b.column(j).iter().enumerate() {
            product.column_mut(j).iter_mut().zip(a.column(k)).for_each(|(entry, x)| *entry += factor * x);
        }
    }
    product
}

pub fn specs(kept: usize) -> Vec<Spec> {
    let mut specs = Vec::new();
    for entry in subspace_learners() {
        let spec = Spec { eta: 3.0, ..Spec::bare(entry.kind, kept) };
        for center in
            [None, Some(RunningCenter::MEAN), Some(RunningCenter { prior: 2.5, ..RunningCenter::forgetting(0.9) })]
        {
            specs.push(Spec { center, ..spec.clone() });
        }
        if entry.kind.reads("mixing") {
            for mixing in [Mixing::FixedShare { alpha: 0.01 }, Mixing::PastAverage { alpha: 0.01 }] {
                specs.push(Spec { mixing, ..spec.clone() });
            }
        }
    }
    specs
}

/// Returns [`specs`] for kernels with an infinite-dimensional space. Product sets would keep no
/// direction there, so their dimension is finite.
pub fn infinite_specs(kept: usize) -> Vec<Spec> {
    let finite = |spec: &mut Spec| {
        if spec.learner == Kind::ProductSets {
            spec.dimension = Some(Multiplicity::Finite(1000));
        }
    };
    let mut specs = specs(kept);
    specs.iter_mut().for_each(finite);
    specs
}

/// Scales weights so that their capped sum is N - k, by trying every number of capped entries.
pub fn cap(log_weights: &mut [f64], kept: usize) {
    let n = log_weights.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| log_weights[*b].total_cmp(&log_weights[*a]));
    for capped in 0..n - kept {
        let rest: Vec<f64> = order[capped..].iter().map(|i| log_weights[*i]).collect();
        let largest = rest[0];
        let sum: f64 = rest.iter().rev().map(|g| (g - largest).exp()).sum();
        let shift = ((n - kept - capped) as f64 / sum).ln() - largest;
        if largest + shift <= 0.0 {
            for (place, i) in order.iter().enumerate() {
                log_weights[*i] = if place < capped { 0.0 } else { (log_weights[*i] + shift).min(0.0) };
            }
            return;
        }
    }
    for (place, i) in order.iter().enumerate() {
        log_weights[*i] = if place < n - kept { 0.0 } else { f64::NEG_INFINITY };
    }
}

/// Returns streams with rows of norm at most one, some of them degenerate.
pub fn bounded_rows(n: usize, seed: u64) -> Vec<(&'static str, Vec<Vec<f64>>)> {
    let mut random = Random::seeded(seed);
    let mut still: Vec<Vec<f64>> = streams::iid(n, 2, 0.4, 240, seed).rows;
    let repeated = (0..150).map(|t| still[t % 3].clone()).collect();
    // Every fifth row becomes a row of zeros or of norm one.
    for row in still.iter_mut().step_by(5) {
        let norm = dot(row, row).sqrt();
        let size = if random.uniform() < 0.3 { 0.0 } else { 1.0 / norm };
        row.iter_mut().for_each(|x| *x *= size);
    }
    vec![
        ("iid", still),
        ("repeated", repeated),
        ("switching", streams::switching(n, 2, 3, 80, seed)),
        ("rank one", streams::switching(n, 1, 1, 100, seed)),
        ("recurring", streams::recurring(n, 2, &[1, 2, 1, 3, 2, 1], 40, seed).rows),
        ("drifting", streams::drifting(n, 2, 0.01, 240, seed).rows),
        ("starvation", streams::starvation(n, 40, 200, 0.6, seed).rows),
        ("leader trap", leader_trap(n, 30 * n)),
    ]
}
