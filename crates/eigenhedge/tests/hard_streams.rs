//! Streams for tests: they are what their names say.

use crate::common::hard_streams::{HARD, coins, near_duplicates, oscillations, random_walk, sines, turning_images};

#[test]
fn every_hard_stream_has_finite_rows() {
    for stream in HARD {
        let rows = (stream.rows)(6, 40, 1);
        assert_eq!(rows.len(), 40, "{}", stream.name);
        assert!(rows.iter().flatten().all(|x| x.is_finite()), "{}", stream.name);
    }
}

#[test]
fn near_duplicates_differ_by_their_noise() {
    let rows = near_duplicates(9, 1e-12, 60, 1);
    assert!(rows[1..].iter().any(|row| row != &rows[0] && (row[0] - rows[0][0]).abs() < 1e-10));
}

#[test]
fn coins_are_fair() {
    let ones: f64 = coins(5, 1000, 1).iter().flatten().sum();
    assert!((ones - 2500.0).abs() < 4.0 * 1250f64.sqrt());
}

#[test]
fn smooth_streams_have_the_rows_asked_for_and_small_steps() {
    let rows = random_walk(5, 30, 1);
    assert_eq!((rows.len(), rows[0].len()), (30, 5));
    assert_eq!(oscillations(14, 0.85, 120, 1).len(), 120);
    assert!(turning_images(256, 72, 100, 1).iter().flatten().all(|x| *x >= 0.0));
    let rows = sines(1024, 40, 10, 1);
    let square = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
    let step: Vec<f64> = rows[0].iter().zip(&rows[1]).map(|(a, b)| a - b).collect();
    assert!(square(&step) < 0.01 * square(&rows[0]));
}
