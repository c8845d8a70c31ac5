//! Sensor data with faults at known rows.

use super::signal_and_noise;

/// Size of a fault, in standard deviations of its column.
const SIZE: f64 = 5.0;

/// Generates the first rows of [`signal_and_noise`] with three faults. The second column is 5 standard deviations too
/// high for 30 rows from the middle on. The third column is constant for 40 rows, from 70 % of the rows on. The fourth
/// column is 5 standard deviations too high in the last tenth. Faults of columns that do not exist are left out.
///
/// ```
/// let rows = eigenhedge::streams::faults(6, 2, 0.3, 1000, 1);
/// assert!((700..740).all(|t| rows[t][2] == rows[700][2]) && rows[740][2] != rows[700][2]);
/// ```
pub fn faults(length: usize, rank: usize, noise: f64, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = signal_and_noise(length, rank, noise, seed).take(count).collect();
    let deviation =
        |rows: &[Vec<f64>], j: usize| (rows.iter().map(|row| row[j] * row[j]).sum::<f64>() / count as f64).sqrt();
    let shifts = [(1, count / 2..(count / 2 + 30).min(count)), (3, count - count / 10..count)];
    for (j, when) in shifts.into_iter().filter(|(j, _)| *j < length) {
        let shift = SIZE * deviation(&rows, j);
        rows[when].iter_mut().for_each(|row| row[j] += shift);
    }
    let (first, last) = (count * 7 / 10, (count * 7 / 10 + 40).min(count));
    if length > 2 && first < last {
        let value = rows[first][2];
        rows[first..last].iter_mut().for_each(|row| row[2] = value);
    }
    rows
}
