//! Ranges of values without outliers, which would flatten the rest of a plot.

/// Maximum share of outliers at each end, rounded up.
const TAIL: f64 = 0.01;
/// Distance of an outlier from the other values, as a multiple of their range.
const FAR: f64 = 2.0;
const FEWEST: usize = 20;

/// Returns `None` if there are no outliers, or if the values without the tails are all equal.
pub fn without_outliers(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    if count < FEWEST {
        return None;
    }
    let tail = ((count as f64 * TAIL).ceil() as usize).min(count / 4);
    let (least, most) = (sorted[tail], sorted[count - 1 - tail]);
    let spread = most - least;
    let (low, high) = (least - FAR * spread, most + FAR * spread);
    if spread <= 0.0 || (sorted[0] >= low && sorted[count - 1] <= high) {
        return None;
    }
    let first = sorted.iter().find(|value| **value >= low)?;
    let last = sorted.iter().rfind(|value| **value <= high)?;
    Some((*first, *last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_far_away_are_left_out_and_nothing_else() {
        let even = |count: u32| (0..count).map(f64::from);
        assert_eq!(without_outliers(even(400)), None);
        assert_eq!(without_outliers(even(400).chain([1e6, 2e6])), Some((0.0, 399.0)));
        assert_eq!(without_outliers(even(400).chain([-1e6, f64::NAN])), Some((0.0, 399.0)));
        // Too many far values, too few values, no spread among the other values, no values.
        assert_eq!(without_outliers(even(400).chain([1e6; 40])), None);
        assert_eq!(without_outliers(even(10).chain([1e6])), None);
        assert_eq!(without_outliers([3.0; 100].into_iter().chain([9.0])), None);
        assert_eq!(without_outliers([]), None);
    }

    #[test]
    fn a_sum_that_begins_with_a_jump_is_shown_behind_it() {
        let sum = (0..700).map(|i| if i < 4 { 0.0 } else { 1e6 + f64::from(i) });
        assert_eq!(without_outliers(sum), Some((1e6 + 4.0, 1e6 + 699.0)));
    }
}
