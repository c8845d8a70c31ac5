//! What several test files share.
#![allow(dead_code, clippy::unwrap_used)]

use eigenhedge::spec::REGISTRY;
use eigenhedge::{Mixing, Spec};

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
