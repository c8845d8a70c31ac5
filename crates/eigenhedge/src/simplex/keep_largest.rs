//! Limit of capped exponential weights for an infinite learning rate: the k largest values are kept.
//!
//! Directions tied at the boundary share the remaining places: follow the leader, for experts and eigenvalues.

use super::cap::{Complement, Multiplicity};

#[derive(Debug, Clone, Default)]
pub struct LimitScratch {
    ranking: Vec<f64>,
}

/// Precision of values: two are tied if they differ by at most `relative` times the k-th largest, or `absolute`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Precision {
    pub relative: f64,
    pub absolute: f64,
}

/// Writes the log-weights `log v` for which the `kept` directions with the largest values are kept. Values are
/// nonnegative, and those of the complement are 0. Values that equal the k-th largest one up to `precision` are tied.
pub fn keep_largest(
    values: &[f64],
    complement: &mut Complement,
    kept: usize,
    precision: Precision,
    log_weights: &mut Vec<f64>,
    scratch: &mut LimitScratch,
) {
    let ranking = &mut scratch.ranking;
    values.clone_into(ranking);
    let boundary =
        if kept <= ranking.len() { *ranking.select_nth_unstable_by(kept - 1, |a, b| b.total_cmp(a)).1 } else { 0.0 };
    let tolerance = precision.absolute.max(precision.relative * boundary);
    let above = values.iter().filter(|v| **v > boundary + tolerance).count();
    let mut tied = values.iter().filter(|v| (**v - boundary).abs() <= tolerance).count() as f64;
    let complement_tied = boundary <= tolerance;
    if complement_tied {
        tied += match complement.multiplicity {
            Multiplicity::Finite(directions) => directions as f64,
            Multiplicity::Infinite => f64::INFINITY,
        };
    }
    let shared = (-((kept - above) as f64 / tied).min(1.0)).ln_1p();
    log_weights.clear();
    log_weights.extend(values.iter().map(|v| {
        if *v > boundary + tolerance {
            f64::NEG_INFINITY
        } else if *v >= boundary - tolerance {
            shared
        } else {
            0.0
        }
    }));
    complement.log_weight = if complement_tied { shared } else { 0.0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_what_is_left() {
        let (mut log_weights, mut rest) = (Vec::new(), Complement::finite(0.0, 0));
        keep_largest(
            &[5.0, 2.0, 2.0, 1.0],
            &mut rest,
            2,
            Precision::default(),
            &mut log_weights,
            &mut LimitScratch::default(),
        );
        let kept: Vec<f64> = log_weights.iter().map(|l: &f64| 1.0 - l.exp()).collect();
        assert_eq!(kept, [1.0, 0.5, 0.5, 0.0]);
    }
}
