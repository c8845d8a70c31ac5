//! Pre-images among given candidates, for strings, sets, rankings or graphs, at one kernel row per candidate.

use crate::batch::Expansion;
use crate::error::Error;
use crate::kernel::Dictionary;
use std::borrow::Borrow;

/// Criterion by which the best candidate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Criterion {
    /// Least distance `|φ(z) - f|²` between the candidate z and the expansion f.
    Distance,
    /// Least angle between φ(z) and f, whatever their norms. A candidate with φ(z) = 0 has cosine 0.
    Angle,
}

/// Best candidate and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Index of the best candidate (from 0), or of the first one in a tie.
    pub index: usize,
    /// Squared distance or cosine, depending on the criterion.
    pub score: f64,
}

/// Returns the best candidate for a pre-image of `expansion`. Returns `Err` without candidates.
pub fn best_candidate<D, P>(
    dictionary: &mut D,
    expansion: &Expansion,
    candidates: &[P],
    criterion: Criterion,
) -> Result<Candidate, Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    let mut best: Option<Candidate> = None;
    for (index, candidate) in candidates.iter().enumerate() {
        let (value, own) = expansion.look(dictionary, candidate.borrow()).map_err(|error| error.at(index))?;
        let (score, better) = match criterion {
            Criterion::Distance => {
                let score = (expansion.square - 2.0 * value + own).max(0.0);
                (score, best.is_none_or(|best| score < best.score))
            }
            Criterion::Angle => {
                let lengths = (own * expansion.square).sqrt();
                let score = if lengths > 0.0 { value / lengths } else { 0.0 };
                (score, best.is_none_or(|best| score > best.score))
            }
        };
        if better {
            best = Some(Candidate { index, score });
        }
    }
    best.ok_or(Error::Parameter { name: "the number of candidates", rule: "at least 1", value: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Items, Kernel};

    struct Letters;
    impl Kernel<str> for Letters {
        fn value(&self, a: &str, b: &str) -> f64 {
            let count = |text: &str, letter: u8| text.bytes().filter(|c| *c == letter).count() as f64;
            (b'a'..=b'z').map(|letter| count(a, letter) * count(b, letter)).sum()
        }
    }

    fn atoms(words: &[&str]) -> Items<Letters, str> {
        let mut dictionary = Items::new(Letters);
        words.iter().for_each(|word| dictionary.push(word));
        dictionary
    }

    #[test]
    fn candidate_of_a_single_atom_is_that_atom() {
        let mut dictionary = atoms(&["regret"]);
        let f = Expansion::new(&dictionary, vec![1.0]).unwrap();
        let words = ["bound".to_string(), "regret".into(), "tiger".into()];
        for criterion in [Criterion::Distance, Criterion::Angle] {
            assert_eq!(best_candidate(&mut dictionary, &f, &words, criterion).unwrap().index, 1);
        }
        let distance = best_candidate(&mut dictionary, &f, &words, Criterion::Distance).unwrap().score;
        assert_eq!(distance, 0.0);
    }

    #[test]
    fn angle_prefers_the_right_mixture_and_distance_the_right_size() {
        let mut dictionary = atoms(&["ab", "ab", "ac"]);
        let mean = Expansion::mean(&dictionary).unwrap();
        let words = ["aaabbc".to_string(), "ab".into(), "zz".into()];
        assert_eq!(best_candidate(&mut dictionary, &mean, &words, Criterion::Angle).unwrap().index, 0);
        assert_eq!(best_candidate(&mut dictionary, &mean, &words, Criterion::Distance).unwrap().index, 1);
        let none: [String; 0] = [];
        let error = best_candidate(&mut dictionary, &mean, &none, Criterion::Angle).unwrap_err().to_string();
        assert_eq!(error, "the number of candidates must be at least 1, got 0");
    }
}
