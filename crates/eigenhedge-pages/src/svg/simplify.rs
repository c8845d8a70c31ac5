//! Simplification of lines without visible change: each half pixel keeps its first, lowest, highest and last point,
//! then the Ramer–Douglas–Peucker algorithm removes points within a quarter of a pixel of the line.

const TOLERANCE: f64 = 0.25;

pub fn simplify(line: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let line = one_per_column(line);
    let Some(end) = line.len().checked_sub(1) else { return line };
    let mut keep = vec![false; line.len()];
    (keep[0], keep[end]) = (true, true);
    let mut open = vec![(0, end)];
    while let Some((from, to)) = open.pop() {
        let inner = (from + 1..to).map(|i| (i, distance(line[i], line[from], line[to])));
        if let Some((far, most)) = inner.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|&(_, most)| most > TOLERANCE) {
            debug_assert!(most > 0.0);
            keep[far] = true;
            open.extend([(from, far), (far, to)]);
        }
    }
    line.into_iter().zip(keep).filter_map(|(point, keep)| keep.then_some(point)).collect()
}

fn one_per_column(line: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let column = |point: &(f64, f64)| (point.0 * 2.0).floor() as i64;
    let mut kept = Vec::new();
    for run in line.chunk_by(|a, b| column(a) == column(b)) {
        if run.len() <= 4 {
            kept.extend_from_slice(run);
            continue;
        }
        let by_height = |&a: &usize, &b: &usize| run[a].1.total_cmp(&run[b].1);
        let low = (0..run.len()).min_by(by_height).unwrap_or(0);
        let high = (0..run.len()).max_by(by_height).unwrap_or(0);
        let mut stay = [0, low, high, run.len() - 1];
        stay.sort_unstable();
        kept.extend(stay.iter().map(|&i| run[i]));
    }
    kept
}

fn distance(point: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { ((point.0 - from.0) * dx + (point.1 - from.1) * dy) / square } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    (point.0 - from.0 - along * dx).hypot(point.1 - from.1 - along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_point_stays_near_the_simpler_line(heights in prop::collection::vec(0.0f64..300.0, 1..200), step in 0.01f64..4.0) {
            let line: Vec<(f64, f64)> = heights.iter().enumerate().map(|(i, &y)| (i as f64 * step, y)).collect();
            let simple = simplify(&line);
            prop_assert_eq!((simple[0], simple[simple.len() - 1]), (line[0], line[line.len() - 1]));
            for &point in &line {
                let near = simple.windows(2).map(|pair| distance(point, pair[0], pair[1]));
                let near = near.fold((point.0 - simple[0].0).hypot(point.1 - simple[0].1), f64::min);
                prop_assert!(near <= TOLERANCE + 0.5, "{point:?} is {near} away");
            }
            let top = |line: &[(f64, f64)]| line.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            prop_assert!((top(&simple) - top(&line)).abs() <= TOLERANCE);
        }
    }

    #[test]
    fn a_straight_line_needs_two_points() {
        let line: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i), f64::from(i) / 3.0)).collect();
        assert_eq!(simplify(&line).len(), 2);
    }
}
