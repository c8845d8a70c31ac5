//! Rows of items with counts, and kernels on such rows.
//! Let `#u(a)` be the number of times that u occurs in a. [`VectorKernel::Spectrum`] is the cosine of the counts of
//! substrings, `Σ_u #u(a) #u(b) / √(Σ #u(a)² Σ #u(b)²)`, and 0 if a row is shorter than a substring.
//! [`VectorKernel::Intersection`] is `|A ∩ B|`, and [`VectorKernel::Jaccard`] is `|A ∩ B| / |A ∪ B|`, or 1 for two
//! empty sets. All are positive definite (Gower 1971 for `Jaccard`).
//! Cost: O(|a| log |a|) once per row and atom, O(|a| + |b|) per kernel value.
//! References: Leslie, Eskin & Noble, *The spectrum kernel* (2002); Gower, *A general coefficient of similarity and
//! some of its properties* (1971).

use super::VectorKernel;
use super::items::mix;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ItemRow {
    numbers: Vec<f64>,
    counts: Vec<(u64, f64)>,
    square: f64,
}

impl ItemRow {
    pub(super) fn new(kernel: &VectorKernel, numbers: &[f64]) -> Self {
        let mut keys: Vec<u64> = match kernel {
            VectorKernel::Spectrum { substring, .. } => numbers.windows((*substring).max(1)).map(key).collect(),
            VectorKernel::Function(_) => Vec::new(),
            _ => numbers.chunks(1).map(key).collect(),
        };
        keys.sort_unstable();
        let is_set = !matches!(kernel, VectorKernel::Spectrum { .. });
        let count = |run: &[u64]| (run[0], if is_set { 1.0 } else { run.len() as f64 });
        let counts: Vec<(u64, f64)> = keys.chunk_by(|a, b| a == b).map(count).collect();
        let square = counts.iter().map(|(_, count)| count * count).sum();
        Self { numbers: numbers.to_vec(), counts, square }
    }

    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    fn common(&self, other: &Self) -> f64 {
        let (a, b) = (&self.counts, &other.counts);
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        // The loop is branch-free, because the order of the keys is unpredictable.
        while let (Some((x, m)), Some((y, n))) = (a.get(i), b.get(j)) {
            sum += if x == y { m * n } else { 0.0 };
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        sum
    }
}

fn key(numbers: &[f64]) -> u64 {
    // Adding 0 turns -0 into +0.
    numbers.iter().fold(0, |key, number| mix(key ^ (number + 0.0).to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15))
}

impl VectorKernel {
    pub(super) fn of_items(&self, a: &ItemRow, b: &ItemRow) -> f64 {
        match self {
            Self::Spectrum { .. } => {
                let common = a.common(b);
                // Counts are integers, so equal rows give exactly 1 as long as the product is exact.
                if common == 0.0 { 0.0 } else { common / (a.square * b.square).sqrt() }
            }
            Self::Intersection { .. } => a.common(b),
            Self::Jaccard { .. } => {
                let common = a.common(b);
                let all = a.square + b.square - common;
                if all == 0.0 { 1.0 } else { common / all }
            }
            Self::Function(function) => function.value(&a.numbers, &b.numbers),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::TextItems;
    use proptest::prelude::*;

    fn row(items: TextItems, text: &str) -> Vec<f64> {
        let mut row = Vec::new();
        items.append(text, &mut row);
        row
    }

    fn slow(substring: usize, a: &str, b: &str) -> f64 {
        let windows = |text: &str| -> Vec<String> {
            let text: Vec<char> = text.chars().collect();
            text.windows(substring).map(String::from_iter).collect()
        };
        let (a, b) = (windows(a), windows(b));
        a.iter().map(|x| b.iter().filter(|y| x == *y).count() as f64).sum()
    }

    proptest! {
        #[test]
        fn the_spectrum_kernel_counts_pairs_of_substrings(p in 1usize..4, a in "[abé]{0,20}", b in "[abé]{0,20}") {
            let kernel = VectorKernel::Spectrum { items: TextItems::Chars, substring: p };
            let value = kernel.value(&row(TextItems::Chars, &a), &row(TextItems::Chars, &b));
            let (own, other) = (slow(p, &a, &a), slow(p, &b, &b));
            let wanted = if own * other == 0.0 { 0.0 } else { slow(p, &a, &b) / (own * other).sqrt() };
            prop_assert!((value - wanted).abs() < 1e-14, "{} {}", value, wanted);
        }
    }

    #[test]
    fn sets_do_not_count_twice_and_order_does_not_matter() {
        let [a, b] = ["bread milk bread", "tea, bread; eggs"].map(|text| row(TextItems::Words, text));
        let (items, empty) = (TextItems::Words, Vec::new());
        assert_eq!(VectorKernel::Intersection { items }.value(&a, &b), 1.0);
        assert_eq!(VectorKernel::Jaccard { items }.value(&a, &b), 0.25);
        assert_eq!(VectorKernel::Jaccard { items }.value(&a, &empty), 0.0);
        assert_eq!(VectorKernel::Jaccard { items }.value(&empty, &empty), 1.0);
    }
}
