//! Items: texts, sets and other lists as rows of numbers, and kernels on such rows.
//!
//! Setting: a row is a list of *items* of any length, and each item is a number. [`TextItems`] splits a text into
//! items. [`item_number`] returns the number of any other item: 53 bits of a hash of its text, so that two items
//! collide with a probability of about 10⁻¹⁶. The numbers only identify items. They are the same on every machine.
//!
//! Kernels: let `#u(a)` be the number of times that u occurs in a. [`VectorKernel::Spectrum`] is the cosine of the
//! counts of substrings, `Σ_u #u(a) #u(b) / √(Σ #u(a)² Σ #u(b)²)`, and 0 if a row is shorter than a substring. Sets
//! ignore repetitions: [`VectorKernel::Intersection`] is `|A ∩ B|`, and [`VectorKernel::Jaccard`] is
//! `|A ∩ B| / |A ∪ B|`, or 1 for two empty sets. All are positive definite, because counts and indicators are features.
//! For Jaccard see Gower (1971). A [`Function`] is a custom kernel.
//!
//! Cost: O(|a| log |a|) once per row and atom, O(|a| + |b|) per kernel value.
//!
//! References: Leslie, Eskin & Noble, *The spectrum kernel: a string kernel for SVM protein classification* (2002).

use super::VectorKernel;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Kind of items into which a text is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextItems {
    /// Words: maximal sequences of letters, digits and underscores.
    Words,
    /// Single characters.
    Chars,
}

crate::error::by_name!(TextItems, "items");

impl TextItems {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Self; 2] = [Self::Words, Self::Chars];

    /// Returns the name of the kind in settings and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Chars => "chars",
        }
    }

    /// Appends the numbers of the items of a text to a row.
    ///
    /// ```
    /// use eigenhedge::kernel::{TextItems, item_number};
    ///
    /// let mut row = Vec::new();
    /// TextItems::Words.append("disk full: /dev/sda1", &mut row);
    /// assert_eq!(row, ["disk", "full", "dev", "sda1"].map(item_number));
    /// ```
    pub fn append(self, text: &str, row: &mut Vec<f64>) {
        match self {
            Self::Words => {
                let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                row.extend(words.filter(|word| !word.is_empty()).map(item_number));
            }
            Self::Chars => row.extend(text.chars().map(|c| f64::from(u32::from(c)))),
        }
    }
}

/// Returns the number that represents an item: a 53-bit hash of its text.
pub fn item_number(text: &str) -> f64 {
    // FNV-1a over the bytes; `mix` spreads the result over all bits.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (mix(hash) >> 11) as f64
}

/// Mixes 64 bits bijectively. Every output bit depends on every input bit (the last steps of SplitMix64).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Kernel given as a function of two rows. The function must be symmetric and positive definite, which is not checked.
/// A non-finite value is reported as an error. Two such kernels are equal only if one is a clone of the other. They
/// cannot be saved.
///
/// ```
/// use eigenhedge::kernel::{Function, VectorKernel};
///
/// let shorter = VectorKernel::Function(Function::new(|a, b| a.len().min(b.len()) as f64));
/// assert_eq!(shorter.value(&[1.0, 2.0], &[3.0]), 1.0);
/// ```
#[derive(Clone)]
pub struct Function(Arc<Value>);

type Value = dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync;

impl Function {
    /// Creates a kernel from a function.
    pub fn new(value: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(value))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Function")
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Row of items with precomputed counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ItemRow {
    numbers: Vec<f64>,
    /// Sorted keys of the items or substrings, with their counts.
    counts: Vec<(u64, f64)>,
    /// Sum of the squared counts.
    square: f64,
}

impl ItemRow {
    /// Creates a row and counts the items or substrings that the kernel compares.
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

    /// Returns the item numbers of the row.
    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Returns `Σ_u #u(a) #u(b)`, where `#u` is the number of occurrences of u.
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

/// Returns a 64-bit hash of a substring.
fn key(numbers: &[f64]) -> u64 {
    // Zero has two signs; adding 0 makes them equal.
    numbers.iter().fold(0, |key, number| mix(key ^ (number + 0.0).to_bits()).wrapping_add(0x9e37_79b9_7f4a_7c15))
}

impl VectorKernel {
    /// Returns true if rows may have any length: for kernels on items and for [`Function`].
    pub fn takes_items(&self) -> bool {
        self.text_items().is_some() || matches!(self, Self::Function(_))
    }

    /// Returns the kind of items into which a text is divided, or `None` if the kernel does not accept texts.
    pub fn text_items(&self) -> Option<TextItems> {
        match self {
            Self::Spectrum { items, .. } | Self::Intersection { items } | Self::Jaccard { items } => Some(*items),
            _ => None,
        }
    }

    /// Returns the kernel value of two rows of items, or zero if the kernel does not accept items.
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
            Self::Function(function) => (function.0)(&a.numbers, &b.numbers),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(items: TextItems, text: &str) -> Vec<f64> {
        let mut row = Vec::new();
        items.append(text, &mut row);
        row
    }

    /// Computes the spectrum kernel by comparing all pairs of substrings.
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

    #[test]
    fn numbers_of_items_stay_what_they_are_because_they_are_saved() {
        assert_eq!(
            ["", "a", "bread"].map(item_number),
            [8_625_955_362_125_501.0, 96_858_892_993_156.0, 1_623_209_607_010_264.0]
        );
        let mut many: Vec<u64> = (0..100_000).map(|i| item_number(&i.to_string()) as u64).collect();
        many.sort_unstable();
        many.dedup();
        assert_eq!(many.len(), 100_000);
    }
}
