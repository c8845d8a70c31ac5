//! Kernels on rankings of the same items.
//!
//! Both count *discordant* pairs: pairs of items that two rankings put in opposite order.
//!
//! Cost: O(n²) for one value of n items, without allocation.
//!
//! References: Jiao & Vert, *The Kendall and Mallows kernels for permutations* (2015).

use super::Kernel;
use crate::error::{Error, positive};
use crate::simplex::Multiplicity;
use serde::{Deserialize, Serialize};

/// The place of each item: `0` for the first, every place taken once.
///
/// ```
/// use eigenhedge::kernel::Ranking;
///
/// assert!(Ranking::new(vec![2, 0, 1]).is_ok());
/// assert!(Ranking::new(vec![2, 0, 2]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct Ranking(Vec<usize>);

impl Ranking {
    /// Item `i` has place `places[i]`.
    pub fn new(places: Vec<usize>) -> Result<Self, Error> {
        let mut taken = vec![false; places.len()];
        for (index, place) in places.iter().enumerate() {
            match taken.get_mut(*place) {
                Some(taken) if !*taken => *taken = true,
                _ => {
                    let rule = "a place from 0 to one less than the number of items that no other entry has";
                    return Err(Error::Entry { what: "ranking", index, rule, value: *place as f64 });
                }
            }
        }
        Ok(Self(places))
    }

    /// The place of each item.
    pub fn places(&self) -> &[usize] {
        &self.0
    }
}

impl TryFrom<Vec<usize>> for Ranking {
    type Error = Error;

    fn try_from(places: Vec<usize>) -> Result<Self, Error> {
        Self::new(places)
    }
}

impl From<Ranking> for Vec<usize> {
    fn from(ranking: Ranking) -> Self {
        ranking.0
    }
}

/// The Kendall correlation `(concordant - discordant) / C(n, 2)`.
///
/// Positive definite: the features are the orders of the `C(n, 2)` pairs.
///
/// ```
/// use eigenhedge::kernel::{Dictionary, Items, Kendall, Ranking};
///
/// let mut votes: Items<_, Ranking> = Items::new(Kendall::new(3)?);
/// votes.push(&Ranking::new(vec![0, 1, 2])?);
/// let mut row = Vec::new();
/// assert_eq!(votes.row(&Ranking::new(vec![2, 1, 0])?, &mut row)?, 1.0);
/// assert_eq!(row, [-1.0]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kendall {
    items: usize,
}

impl Kendall {
    /// For rankings of this many items, at least 2.
    pub fn new(items: usize) -> Result<Self, Error> {
        check_items(items)?;
        Ok(Self { items })
    }

    fn pairs(&self) -> u64 {
        let n = self.items as u64;
        n * n.saturating_sub(1) / 2
    }
}

impl Kernel<Ranking> for Kendall {
    fn value(&self, a: &Ranking, b: &Ranking) -> f64 {
        let pairs = self.pairs() as f64;
        (pairs - 2.0 * discordant(a, b) as f64) / pairs
    }

    fn dimension(&self) -> Multiplicity {
        Multiplicity::Finite(self.pairs())
    }

    fn check(&self, point: &Ranking) -> Result<(), Error> {
        check_length(point, self.items)
    }
}

/// `exp(-λ · discordant)`. Positive definite, of dimension `n!`.
///
/// ```
/// use eigenhedge::kernel::{Dictionary, Items, Mallows, Ranking};
///
/// let mut votes: Items<_, Ranking> = Items::new(Mallows::new(3, 0.5)?);
/// votes.push(&Ranking::new(vec![0, 1, 2])?);
/// let mut row = Vec::new();
/// assert_eq!(votes.row(&Ranking::new(vec![1, 0, 2])?, &mut row)?, 1.0);
/// assert_eq!(row, [(-0.5f64).exp()]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mallows {
    items: usize,
    lambda: f64,
}

impl Mallows {
    /// For rankings of this many items, at least 2; λ is positive.
    pub fn new(items: usize, lambda: f64) -> Result<Self, Error> {
        check_items(items)?;
        Ok(Self { items, lambda: positive("lambda", lambda)? })
    }
}

impl Kernel<Ranking> for Mallows {
    fn value(&self, a: &Ranking, b: &Ranking) -> f64 {
        (-self.lambda * discordant(a, b) as f64).exp()
    }

    fn dimension(&self) -> Multiplicity {
        let factorial = (1..=self.items as u64).try_fold(1u64, u64::checked_mul);
        factorial.map_or(Multiplicity::Infinite, Multiplicity::Finite)
    }

    fn check(&self, point: &Ranking) -> Result<(), Error> {
        check_length(point, self.items)
    }
}

/// Pairs of items in opposite order.
fn discordant(a: &Ranking, b: &Ranking) -> u64 {
    assert_eq!(a.0.len(), b.0.len(), "rankings of the same items");
    let mut count = 0;
    for (i, (a_i, b_i)) in a.0.iter().zip(&b.0).enumerate() {
        let later = a.0[i + 1..].iter().zip(&b.0[i + 1..]);
        count += later.map(|(a_j, b_j)| u64::from((a_i < a_j) != (b_i < b_j))).sum::<u64>();
    }
    count
}

fn check_items(items: usize) -> Result<(), Error> {
    if items >= 2 {
        Ok(())
    } else {
        Err(Error::Parameter { name: "number of ranked items", rule: "at least 2", value: items as f64 })
    }
}

fn check_length(ranking: &Ranking, items: usize) -> Result<(), Error> {
    match ranking.0.len() {
        found if found == items => Ok(()),
        found => Err(Error::Length { what: "ranking", expected: items, found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_rankings_and_parameters_are_refused_by_name() {
        let message = Ranking::new(vec![0, 3, 1]).unwrap_err().to_string();
        let rule = "a place from 0 to one less than the number of items that no other entry has";
        assert_eq!(message, format!("entry 1 of the ranking must be {rule}, got 3"));
        let message = Kendall::new(1).unwrap_err().to_string();
        assert_eq!(message, "number of ranked items must be at least 2, got 1");
        let message = Mallows::new(3, -1.0).unwrap_err().to_string();
        assert_eq!(message, "lambda must be positive and finite, got -1");
        let message = Kendall::new(3).unwrap().check(&Ranking(vec![0, 1])).unwrap_err().to_string();
        assert_eq!(message, "ranking must have 3 entries, got 2");
    }

    #[test]
    fn a_saved_ranking_that_is_none_is_refused() {
        assert!(serde_json::from_str::<Ranking>("[1,0]").is_ok());
        assert!(serde_json::from_str::<Ranking>("[1,1]").is_err());
    }
}
