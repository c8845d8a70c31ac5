//! A kernel on text.

use super::Kernel;
use crate::error::{Error, at_least_one};
use serde::{Deserialize, Serialize};

/// The spectrum kernel: how many pairs of equal substrings of p characters two texts have.
///
/// `k(s, t) = Σ_u #u(s) #u(t)` over all strings u of p characters, with `#u(s)` the number of times that u occurs in s.
/// Positive definite: the counts are the features. Normalised, it is divided by `√(k(s,s) k(t,t))`, and is 0 when a
/// text is shorter than p.
///
/// Cost: O((|s| + |t|) log) comparisons of substrings for one value.
///
/// References: Leslie, Eskin & Noble, *The spectrum kernel: a string kernel for SVM protein classification* (2002).
///
/// ```
/// use eigenhedge::kernel::{Dictionary, Items, Spectrum};
///
/// let mut words: Items<_, str> = Items::new(Spectrum::new(2)?);
/// words.push("banana");
/// let mut row = Vec::new();
/// assert_eq!(words.row("nab", &mut row)?, 2.0); // na, ab
/// assert_eq!(row, [2.0]); // na occurs twice in banana, ab never
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spectrum {
    length: usize,
    normalised: bool,
}

impl Spectrum {
    /// Compares substrings of this many characters, at least 1.
    pub fn new(length: usize) -> Result<Self, Error> {
        at_least_one("substring length", length)?;
        Ok(Self { length, normalised: false })
    }

    /// The kernel scaled so that a text has kernel 1 with itself.
    pub fn normalised(self) -> Self {
        Self { normalised: true, ..self }
    }

    /// All substrings of the kernel's length, sorted.
    fn substrings<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let starts = text.char_indices().map(|(at, _)| at);
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).skip(self.length.saturating_sub(1));
        let mut substrings: Vec<&str> = starts.zip(ends).map(|(from, to)| &text[from..to]).collect();
        substrings.sort_unstable();
        substrings
    }
}

impl Kernel<str> for Spectrum {
    fn value(&self, a: &str, b: &str) -> f64 {
        let (a, b) = (self.substrings(a), self.substrings(b));
        let common = pairs(&a, &b);
        if !self.normalised || common == 0.0 {
            return common;
        }
        // Both counts are whole numbers: equal texts give exactly 1 as long as their product is exact.
        common / (pairs(&a, &a) * pairs(&b, &b)).sqrt()
    }
}

/// Number of pairs of equal entries of two sorted lists.
fn pairs(a: &[&str], b: &[&str]) -> f64 {
    let mut rest = b;
    let mut count = 0.0;
    for run in a.chunk_by(|x, y| x == y) {
        rest = &rest[rest.partition_point(|text| *text < run[0])..];
        let equal = rest.partition_point(|text| *text == run[0]);
        count += (run.len() * equal) as f64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(length: usize, a: &str, b: &str) -> f64 {
        let windows = |text: &str| -> Vec<String> {
            let text: Vec<char> = text.chars().collect();
            text.windows(length).map(String::from_iter).collect()
        };
        let (a, b) = (windows(a), windows(b));
        a.iter().map(|x| b.iter().filter(|y| x == *y).count() as f64).sum()
    }

    proptest! {
        #[test]
        fn equals_counting_pairs_one_by_one(length in 1usize..4, a in "[abé]{0,20}", b in "[abé]{0,20}") {
            let kernel = Spectrum::new(length).unwrap();
            prop_assert_eq!(kernel.value(&a, &b), slow(length, &a, &b));
            let own = kernel.normalised().value(&a, &a);
            prop_assert_eq!(own, if a.chars().count() >= length { 1.0 } else { 0.0 });
        }
    }

    #[test]
    fn a_length_of_zero_is_refused() {
        let message = Spectrum::new(0).unwrap_err().to_string();
        assert_eq!(message, "substring length must be at least 1, got 0");
    }
}
