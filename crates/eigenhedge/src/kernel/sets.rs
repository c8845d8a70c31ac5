//! Kernels on finite sets.

use super::Kernel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// `|A ∩ B|`. Positive definite: the features are the indicators of the elements.
///
/// Cost: O(|A| + |B|), less when the sizes differ much.
///
/// ```
/// use eigenhedge::kernel::{Dictionary, Intersection, Items};
/// use std::collections::BTreeSet;
///
/// let mut baskets: Items<_, BTreeSet<&str>> = Items::new(Intersection);
/// baskets.push(&BTreeSet::from(["bread", "milk"]));
/// let mut row = Vec::new();
/// assert_eq!(baskets.row(&BTreeSet::from(["bread", "eggs", "tea"]), &mut row)?, 3.0);
/// assert_eq!(row, [1.0]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intersection;

/// `|A ∩ B| / |A ∪ B|`, and 1 for two empty sets. Positive definite (Gower 1971; also as the probability that the
/// smallest elements of both sets agree in a random order).
///
/// Cost: O(|A| + |B|), less when the sizes differ much.
///
/// ```
/// use eigenhedge::kernel::{Dictionary, Items, Jaccard};
/// use std::collections::BTreeSet;
///
/// let mut baskets: Items<_, BTreeSet<&str>> = Items::new(Jaccard);
/// baskets.push(&BTreeSet::from(["bread", "milk"]));
/// let mut row = Vec::new();
/// assert_eq!(baskets.row(&BTreeSet::from(["bread", "eggs", "tea"]), &mut row)?, 1.0);
/// assert_eq!(row, [0.25]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jaccard;

impl<T: Ord> Kernel<BTreeSet<T>> for Intersection {
    fn value(&self, a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
        a.intersection(b).count() as f64
    }
}

impl<T: Ord> Kernel<BTreeSet<T>> for Jaccard {
    fn value(&self, a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
        let common = a.intersection(b).count();
        let all = a.len() + b.len() - common;
        if all == 0 { 1.0 } else { common as f64 / all as f64 }
    }
}
