//! Sampling of sets with given inclusion probabilities.
//! Setting: `n` probabilities `p_i` in `[0, 1]`. If they sum to an integer `k` (up to rounding), a set has exactly `k`
//! indices. Otherwise, if directions that are not listed have part of the probability, the size is the total rounded
//! down or up.
//! Guarantee: `systematic` and `corners` have exactly the given inclusion probabilities, and expected losses depend
//! only on these, not on joint ones. `top` is deterministic, and the theorems about expected losses do not cover it.
//! Cost: `systematic` takes `O(n)` time, `corners` takes `O(n)` per corner visited, and `top` takes expected `O(n + k
//! log k)`. The first two use one random number each.
//! Numerics: systematic sampling tracks the distance to the next crossing instead of a cumulative sum, so its error
//! does not grow with `k`. An index with probability exactly 0 is never drawn, and one with probability exactly 1
//! always.
//! References: Madow 1949 (systematic); Warmuth & Kuzmin, JMLR 2008, Algorithm 2 (corners).

use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::simplex::corners::{Peel, WHOLE};

/// Method for drawing a set with given inclusion probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Select {
    /// Systematic sampling: an index is taken when the cumulative probability crosses an integer plus a random offset.
    #[default]
    Systematic,
    /// Decomposition of the probabilities into a mixture of sets, one of which is drawn.
    Corners,
    /// The indices with the largest probabilities, without randomness. Ties go to the lower index.
    Top,
}

crate::error::by_name!(Select, "select", 3, Systematic => "systematic", Corners => "corners", Top => "top");

/// Scratch space of [`draw`].
#[derive(Debug, Clone, Default)]
pub struct DrawScratch {
    peel: Peel,
}

/// Draws a set with the given inclusion probabilities, or takes the largest ones. Writes the indices to `members`.
pub fn draw(
    select: Select,
    probabilities: &[f64],
    random: &mut Random,
    members: &mut Vec<usize>,
    scratch: &mut DrawScratch,
) {
    members.clear();
    let total: f64 = probabilities.iter().sum();
    let whole = (total - total.round()).abs() <= WHOLE * total.max(1.0);
    let size = if whole { total.round() } else { total.ceil() } as usize;
    match select {
        Select::Systematic => systematic(probabilities, random.uniform(), whole.then_some(size), members),
        Select::Corners => {
            // An extra index takes the probability that is missing to the next integer.
            let phantom = if whole { 0.0 } else { size as f64 - total };
            scratch.peel.start(probabilities.iter().copied().chain([phantom]), size);
            let mut mass = random.uniform();
            while let Some(coefficient) = scratch.peel.next_corner() {
                mass -= coefficient;
                if mass < 0.0 {
                    break;
                }
            }
            members.extend(scratch.peel.members().iter().copied().filter(|&index| index < probabilities.len()));
        }
        Select::Top => top(probabilities, size, members),
    }
}

fn top(probabilities: &[f64], size: usize, members: &mut Vec<usize>) {
    members.extend(0..probabilities.len());
    if 0 < size && size < members.len() {
        members
            .select_nth_unstable_by(size - 1, |&a, &b| probabilities[b].total_cmp(&probabilities[a]).then(a.cmp(&b)));
    }
    members.truncate(size);
    members.sort_unstable();
}

/// Selects an index each time the cumulative probability crosses `offset` plus an integer: exactly `size` if given.
fn systematic(probabilities: &[f64], offset: f64, size: Option<usize>, members: &mut Vec<usize>) {
    let mut to_next = offset;
    for (index, &probability) in probabilities.iter().enumerate() {
        if probability >= 1.0 {
            members.push(index);
            continue;
        }
        to_next -= probability.max(0.0);
        if to_next < 0.0 {
            to_next += 1.0;
            members.push(index);
        }
    }
    // If the offset is within rounding error of 0 or 1, the size can be wrong by one.
    let Some(size) = size else { return };
    let fractional = |index: usize| probabilities[index] > 0.0 && probabilities[index] < 1.0;
    while members.len() > size {
        match members.iter().rposition(|&index| fractional(index)) {
            Some(place) => members.remove(place),
            None => break,
        };
    }
    while members.len() < size {
        match (0..probabilities.len()).rev().find(|&index| fractional(index) && !members.contains(&index)) {
            Some(index) => members.push(index),
            None => break,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 40_000;

    fn assert_marginals(select: Select, probabilities: &[f64]) {
        let (mut random, mut scratch, mut members) = (Random::seeded(7), DrawScratch::default(), Vec::new());
        let total: f64 = probabilities.iter().sum();
        let mut counts = vec![0usize; probabilities.len()];
        for _ in 0..DRAWS {
            draw(select, probabilities, &mut random, &mut members, &mut scratch);
            assert!((members.len() as f64 - total).abs() < 1.0 - WHOLE, "{} of {total}", members.len());
            members.sort_unstable();
            assert!(members.windows(2).all(|pair| pair[0] < pair[1]), "{members:?}");
            members.iter().for_each(|&index| counts[index] += 1);
        }
        for (&count, &probability) in counts.iter().zip(probabilities) {
            let standard_error = (probability * (1.0 - probability) / DRAWS as f64).sqrt();
            let found = count as f64 / DRAWS as f64;
            assert!((found - probability).abs() <= 4.0 * standard_error, "{select:?} {found} {probability}");
        }
    }

    #[test]
    fn marginals_are_the_probabilities() {
        for select in [Select::Systematic, Select::Corners] {
            assert_marginals(select, &[0.0, 1.0, 0.3, 0.7, 0.0, 0.25, 0.75, 1.0]);
            assert_marginals(select, &[0.9, 0.9, 0.1, 0.05, 0.05]);
            assert_marginals(select, &[1.0 / 3.0; 6]);
        }
    }

    #[test]
    fn marginals_survive_a_total_that_is_not_whole() {
        for select in [Select::Systematic, Select::Corners] {
            assert_marginals(select, &[0.2, 0.0, 1.0, 0.7, 0.4]);
            assert_marginals(select, &[0.1, 0.15]);
        }
    }

    #[test]
    fn every_way_draws_exactly_k_when_the_total_is_k_to_rounding() {
        let mut members = Vec::new();
        for error in [-9e-10, 0.0, 9e-10] {
            let probabilities = [0.0, 0.5 + error, 1.0, 0.25, 0.25, 0.0];
            for offset in [0.0, 1e-12, 0.3, 1.0 - 1e-12, 1.0f64.next_down()] {
                members.clear();
                systematic(&probabilities, offset, Some(2), &mut members);
                assert_eq!(members.len(), 2, "{offset} {error}");
                assert!(members.contains(&2));
            }
            for select in Select::ALL {
                draw(select, &probabilities, &mut Random::seeded(3), &mut members, &mut DrawScratch::default());
                assert_eq!(members.len(), 2);
            }
        }
    }

    #[test]
    fn certainty_survives_a_carry_that_rounds_to_one() {
        let mut members = Vec::new();
        systematic(&[2e-20, 1.0, 0.0], 1e-20, None, &mut members);
        assert_eq!(members, [0, 1]);
    }

    #[test]
    fn top_takes_the_largest_with_ties_by_index_and_no_random_number() {
        let (mut random, mut members) = (Random::seeded(5), Vec::new());
        draw(Select::Top, &[0.5, 0.9, 0.5, 0.5, 0.6], &mut random, &mut members, &mut DrawScratch::default());
        assert_eq!(members, [0, 1, 4]);
        assert_eq!(random, Random::seeded(5));
    }

    #[test]
    fn nothing_is_drawn_from_nothing() {
        for select in Select::ALL {
            let mut members = vec![3];
            draw(select, &[], &mut Random::seeded(1), &mut members, &mut DrawScratch::default());
            assert!(members.is_empty());
            draw(select, &[0.0; 3], &mut Random::seeded(1), &mut members, &mut DrawScratch::default());
            assert!(members.is_empty());
        }
    }

    #[test]
    fn names_are_read_back() {
        assert!(Select::ALL.into_iter().all(|select| select.name().parse() == Ok(select)));
        let error = "bottom".parse::<Select>().unwrap_err();
        assert_eq!(error.to_string(), "select must be systematic, corners or top, got 'bottom'");
    }
}
