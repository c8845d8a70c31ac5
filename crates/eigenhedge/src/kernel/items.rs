//! Items: texts, sets and other lists as rows of numbers of any length, and custom kernels on such rows. Two items
//! collide with a probability of about 10⁻¹⁶. The numbers are the same on every machine.

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

crate::error::by_name!(TextItems, "items", 2, Words => "words", Chars => "chars");

impl TextItems {
    /// Appends the number of each item of `text` to `row`. The number of a word is its [`item_number`].
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

/// Returns the number that represents an item: a 53-bit hash of `text`.
pub fn item_number(text: &str) -> f64 {
    // FNV-1a over the bytes; `mix` spreads the result over all bits.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (mix(hash) >> 11) as f64
}

/// Mixes 64 bits bijectively. Every output bit depends on every input bit (the last steps of SplitMix64).
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Kernel given as a function of two rows, which must be symmetric and positive definite. Two such kernels are equal
/// only if one is a clone of the other. They cannot be saved or combined with other kernels.
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

    pub(super) fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        (self.0)(a, b)
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

#[cfg(test)]
mod tests {
    use super::*;

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
