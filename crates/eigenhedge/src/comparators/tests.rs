//! Tests of partitions.

use super::BestSubspace;
use super::partition::Blocks;
use crate::Random;

/// Returns the total loss of the best subspaces of the segments between ascending cuts.
pub(super) fn between<R: AsRef<[f64]>>(rows: &[R], cuts: &[usize], kept: usize, centered: bool) -> Option<f64> {
    let mut total = 0.0;
    let ends = cuts.iter().copied().chain([rows.len()]);
    let mut start = 0;
    for end in ends {
        assert!(start <= end && end <= rows.len(), "cuts ascend and lie within the rows");
        if let Some(first) = rows[start..end].first() {
            let mut best = BestSubspace::new(first.as_ref().len(), centered)?;
            rows[start..end].iter().for_each(|row| best.add(row.as_ref()));
            total += best.loss(kept);
        }
        start = end;
    }
    Some(total)
}

fn rows(length: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut scale = vec![1.0; length];
    (0..count)
        .map(|t| {
            if t % 7 == 0 {
                scale = (0..length).map(|_| random.uniform() * 2.0).collect();
            }
            scale.iter().map(|s| 0.5 + s * random.normal()).collect()
        })
        .collect()
}

fn placements(positions: &[usize], cuts: usize) -> Vec<Vec<usize>> {
    if cuts == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, position) in positions.iter().enumerate() {
        for mut rest in placements(&positions[i + 1..], cuts - 1) {
            rest.insert(0, *position);
            all.push(rest);
        }
    }
    all
}

#[test]
fn the_best_partition_is_that_of_trying_all_of_them() {
    for seed in 0..6 {
        for centered in [false, true] {
            let (length, each, kept) = (4, 3, 1 + seed as usize % 3);
            let rows = rows(length, 25, seed);
            let mut blocks = Blocks::new(length, each, centered).unwrap();
            rows.iter().for_each(|row| blocks.add(row));
            let grid: Vec<usize> = (each..rows.len()).step_by(each).collect();
            let found = blocks.best(kept, 4);
            assert_eq!(found.len(), 4);
            for (cuts, found) in found.iter().enumerate() {
                let least = placements(&grid, cuts)
                    .iter()
                    .map(|cuts| between(&rows, cuts, kept, centered).unwrap())
                    .fold(f64::INFINITY, f64::min);
                assert!((found.loss - least).abs() <= 1e-12 * rows.len() as f64, "{} {least}", found.loss);
                let again = between(&rows, &found.cuts, kept, centered).unwrap();
                assert!((again - least).abs() <= 1e-12 * rows.len() as f64, "{again} {least}");
                assert_eq!(found.cuts.len(), cuts);
            }
        }
    }
}

#[test]
fn more_segments_than_blocks_are_not_made() {
    let mut blocks = Blocks::new(3, 4, false).unwrap();
    assert!(blocks.best(1, 5).is_empty());
    rows(3, 9, 1).iter().for_each(|row| blocks.add(row));
    assert_eq!((blocks.count(), blocks.best(1, 50).len()), (3, 3));
    assert!(Blocks::new(3, 0, false).is_err());
}
