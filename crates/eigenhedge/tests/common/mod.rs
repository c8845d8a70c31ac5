//! What several test files share.
#![allow(dead_code, clippy::unwrap_used)]

use eigenhedge::simplex::Multiplicity;
use eigenhedge::spec::REGISTRY;
use eigenhedge::{Kind, Mixing, Spec};

/// Every entry of the registry, with the variants that have rules of their own.
pub fn specs(kept: usize) -> Vec<Spec> {
    let mut specs = Vec::new();
    for entry in REGISTRY {
        let spec = Spec { eta: 3.0, ..Spec::new(entry.kind, kept) };
        for center in [None, Some(0.0), Some(2.5)] {
            specs.push(Spec { center, ..spec.clone() });
        }
        if entry.reads.mixing {
            for mixing in [Mixing::FixedShare { alpha: 0.01 }, Mixing::PastAverage { alpha: 0.01 }] {
                specs.push(Spec { mixing, ..spec.clone() });
            }
        }
    }
    specs
}

/// The same for kernels whose space has no finite dimension. Product sets would keep nothing there: they get one.
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
