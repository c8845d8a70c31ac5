//! Sensor streams with faults at known rows.

use super::signal_and_noise;
use crate::random::Random;
use std::f64::consts::TAU;
use std::ops::Range;

/// Name, usual value, spread and number of decimals.
const SENSORS: [(&str, f64, f64, i32); 12] = [
    ("FI101", 120.0, 6.0, 1),
    ("FI102", 80.0, 4.0, 1),
    ("TI201", 85.0, 1.5, 1),
    ("TI202", 92.0, 2.0, 1),
    ("TI203", 60.0, 3.0, 1),
    ("PI301", 3.2, 0.08, 3),
    ("PI302", 5.1, 0.12, 3),
    ("LI401", 55.0, 4.0, 1),
    ("QI501", 7.0, 0.1, 2),
    ("TI502", 140.0, 3.0, 1),
    ("AI701", 21.0, 0.4, 2),
    ("SI801", 1480.0, 12.0, 0),
];
/// Rows per day.
const DAY: usize = 288;

/// Fault of a plant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlantFault {
    /// Kind: bias, stuck, drift, spike or dropout.
    pub kind: &'static str,
    /// Index of the faulty column.
    pub column: usize,
    /// Range of the faulty rows.
    pub rows: Range<usize>,
}

/// Rows of a plant, one every five minutes, and its faults.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Plant {
    /// Names of the sensors.
    pub names: Vec<&'static str>,
    /// Generated rows.
    pub rows: Vec<Vec<f64>>,
    /// Faults, in the order of their rows.
    pub faults: Vec<PlantFault>,
}

/// Generates a plant of twelve sensors that follow load, weather and feed. Five faults begin after 44, 58, 67, 87 and
/// 93 % of the rows. TI202 reads 8 too high for half a day. PI301 repeats its value for half a day. AI701 drifts up by
/// 2 over an eighth of the rows and then returns. FI101 has a peak of three rows. LI401 reads 0 for three hours.
///
/// ```
/// let plant = eigenhedge::streams::plant(8640, 1);
/// let stuck = &plant.faults[1];
/// assert!(plant.rows[stuck.rows.clone()].iter().all(|row| row[stuck.column] == plant.rows[stuck.rows.start][stuck.column]));
/// ```
pub fn plant(count: usize, seed: u64) -> Plant {
    let mut random = Random::seeded(seed);
    let mut causes =
        [(0.98, 0.6), (0.995, 1.0), (0.95, 0.0)].map(|(remembered, daily)| (Wander::new(remembered), daily));
    let weights: Vec<[f64; 3]> = (0..SENSORS.len())
        .map(|j| std::array::from_fn(|i| 0.8 * random.normal() + if j % 3 == i { 1.0 } else { 0.0 }))
        .collect();
    let mut noises = SENSORS.map(|_| Wander::new(0.6));
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(count);
    for t in 0..count {
        let daily = (TAU * t as f64 / DAY as f64).sin();
        let now = causes.each_mut().map(|(wander, share)| wander.next(&mut random) + *share * daily);
        let cell = |j: usize, noise: f64| {
            let sum: f64 = weights[j].iter().zip(now).map(|(weight, cause)| weight * cause).sum();
            SENSORS[j].1 + SENSORS[j].2 * (sum + 0.35 * noise)
        };
        rows.push(noises.iter_mut().enumerate().map(|(j, noise)| cell(j, noise.next(&mut random))).collect());
    }
    let lengths =
        [("bias", 3, 44, DAY / 2), ("stuck", 5, 58, DAY / 2), ("drift", 10, 67, count / 8), ("spike", 0, 87, 3)];
    let faults: Vec<PlantFault> = lengths
        .into_iter()
        .chain([("dropout", 7, 93, DAY / 8)])
        .map(|(kind, column, percent, length)| {
            let start = count * percent / 100;
            PlantFault { kind, column, rows: start..(start + length).min(count) }
        })
        .filter(|fault| !fault.rows.is_empty())
        .collect();
    for PlantFault { kind, column, rows: when } in &faults {
        let (spread, first) = (SENSORS[*column].2, rows[when.start][*column]);
        for (i, row) in rows[when.clone()].iter_mut().enumerate() {
            let cell = &mut row[*column];
            *cell = match *kind {
                "bias" => *cell + 4.0 * spread,
                "stuck" => first,
                "drift" => *cell + 5.0 * spread * i as f64 / when.len() as f64,
                "spike" => *cell + 12.0 * spread,
                _ => 0.0,
            };
        }
    }
    for row in &mut rows {
        for (cell, (.., decimals)) in row.iter_mut().zip(SENSORS) {
            let unit = 10f64.powi(decimals);
            *cell = (*cell * unit).round() / unit;
        }
    }
    Plant { names: SENSORS.map(|sensor| sensor.0).to_vec(), rows, faults }
}

/// Autoregressive process with stationary variance 1.
struct Wander {
    remembered: f64,
    now: f64,
}

impl Wander {
    fn new(remembered: f64) -> Self {
        Self { remembered, now: 0.0 }
    }

    fn next(&mut self, random: &mut Random) -> f64 {
        self.now = self.remembered * self.now + (1.0 - self.remembered * self.remembered).sqrt() * random.normal();
        self.now
    }
}

/// Size of a fault in standard deviations.
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
