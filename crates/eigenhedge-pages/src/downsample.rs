//! Downsampling of curves over streams of any length, in bounded memory.
//!
//! Update: a bucket of 2^s consecutive row numbers keeps one row ([`Keep`]). If there would be too many buckets, s
//! grows by one and neighboring buckets are merged.
//!
//! Guarantee: at most `capacity` rows, in increasing order, with the first, the last and, with [`Keep::Largest`], the
//! largest. The result depends only on the rows, so a restored recorder continues identically.
//!
//! Cost: amortized O(width) per row; memory `capacity × width`; after warm-up, allocations only if buckets are merged.

use crate::chart::Curve;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::mem::{replace, take};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keep {
    /// First row, for values that change slowly, such as totals.
    First,
    /// Row with the largest first value, such as the loss of a row.
    Largest,
    /// Smallest value of each curve of the first half, and largest of each curve of the second half.
    Extremes,
}

/// Recorder of curves over the same rows. A value may be NaN, for a curve that does not exist yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Downsampler {
    keep: Keep,
    capacity: usize,
    width: usize,
    shift: u32,
    rows: Vec<u64>,
    values: Vec<f64>,
    /// Numbers of the first and last recorded row, or `None` before the first.
    ends: Option<(u64, u64)>,
    first: Vec<f64>,
    last: Vec<f64>,
}

const LEAST: usize = 4;
const MOST: usize = 1 << 20;

impl Downsampler {
    /// The capacity is clamped to 4 to 2^20.
    pub fn new(keep: Keep, capacity: usize, width: usize) -> Self {
        let (capacity, width) = (capacity.clamp(LEAST, MOST), width.clamp(1, MOST));
        let (rows, values) = (Vec::new(), Vec::new());
        Self { keep, capacity, width, shift: 0, rows, values, ends: None, first: vec![], last: vec![] }
    }

    pub fn is_like(&self, other: &Self) -> bool {
        (self.keep, self.capacity, self.width) == (other.keep, other.capacity, other.width)
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Missing values become NaN. Rows whose numbers do not increase are ignored.
    pub fn push(&mut self, row: u64, values: &[f64]) {
        let first = match self.ends {
            Some((_, last)) if row <= last => return,
            Some((first, _)) => first,
            None => row,
        };
        if (row - first) >> self.shift >= (self.capacity - 2) as u64 {
            while (row - first) >> self.shift >= (self.capacity - 2) as u64 {
                self.shift += 1;
            }
            let (rows, values) = (Vec::with_capacity(self.capacity), Vec::with_capacity(self.values.capacity()));
            let (rows, values) = (replace(&mut self.rows, rows), replace(&mut self.values, values));
            rows.iter().zip(values.chunks(self.width)).for_each(|(row, values)| self.absorb(first, *row, values));
        }
        self.last.clear();
        self.last.extend(values.iter().copied().chain(std::iter::repeat(f64::NAN)).take(self.width));
        if self.ends.is_none() {
            self.first.clone_from(&self.last);
        }
        self.ends = Some((first, row));
        let last = take(&mut self.last);
        self.absorb(first, row, &last);
        self.last = last;
    }

    /// Adds a row to the last bucket or to a new one. `first` is the number of the first row.
    fn absorb(&mut self, first: u64, row: u64, values: &[f64]) {
        let start = self.values.len().saturating_sub(self.width);
        match self.rows.last_mut() {
            Some(kept) if (*kept - first) >> self.shift == (row - first) >> self.shift => match self.keep {
                Keep::Largest if larger(values[0], self.values[start]) => {
                    *kept = row;
                    self.values[start..].copy_from_slice(values);
                }
                Keep::Extremes => widen(&mut self.values[start..], values),
                _ => (),
            },
            _ => {
                self.rows.push(row);
                self.values.extend_from_slice(values);
            }
        }
    }

    /// [`Keep::First`] needs only such rows and the last.
    pub fn would_keep(&self, row: u64) -> bool {
        let Some((first, last)) = self.ends else { return true };
        let bucket = |row: u64| (row - first) >> self.shift;
        row > last && self.rows.last().is_none_or(|kept| bucket(*kept) < bucket(row))
    }

    pub fn points(&self) -> Vec<(u64, &[f64])> {
        let Some((first, last)) = self.ends else { return vec![] };
        let mut points: Vec<(u64, &[f64])> = self.rows.iter().copied().zip(self.values.chunks(self.width)).collect();
        if points.first().is_none_or(|point| point.0 > first) {
            points.insert(0, (first, &self.first));
        }
        if points.last().is_none_or(|point| point.0 < last) {
            points.push((last, &self.last));
        }
        points
    }

    pub fn curve(&self, name: impl Into<String>, index: usize) -> Curve {
        let value = |values: &[f64]| values.get(index).copied().unwrap_or(f64::NAN);
        let (rows, values) = self.points().into_iter().map(|(row, values)| (row as f64, value(values))).unzip();
        Curve { name: name.into(), rows, values }
    }
}

fn widen(kept: &mut [f64], values: &[f64]) {
    let half = kept.len() / 2;
    for (i, (kept, value)) in kept.iter_mut().zip(values).enumerate() {
        let is_wider = if i < half { larger(-value, -*kept) } else { larger(*value, *kept) };
        if is_wider {
            *kept = *value;
        }
    }
}

fn larger(value: f64, than: f64) -> bool {
    value > than || (than.is_nan() && !value.is_nan())
}

impl Serialize for Downsampler {
    fn serialize<S: Serializer>(&self, target: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, target)
    }
}

/// Rejects a state that no recorder can have.
impl<'de> Deserialize<'de> for Downsampler {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let saved = Self::deserialize(source)?;
        saved.check().map_err(|rule| D::Error::custom(format!("a saved curve must have {rule}")))?;
        Ok(saved)
    }
}

impl Downsampler {
    fn check(&self) -> Result<(), &'static str> {
        let Self { capacity, width, shift, ref rows, ref values, ends, ref first, ref last, .. } = *self;
        let require = |rule, holds| if holds { Ok(()) } else { Err(rule) };
        require("a capacity from 4 to 2^20", (LEAST..=MOST).contains(&capacity))?;
        require("a width from 1 to 2^20", (1..=MOST).contains(&width))?;
        require("buckets of at most 2^63 rows", shift < 64)?;
        require("no more points than its capacity", rows.len() <= capacity - 2)?;
        require("a value for each row and curve", rows.len().checked_mul(width) == Some(values.len()))?;
        let end_width = if ends.is_some() { width } else { 0 };
        require("values for its first and last row", first.len() == end_width && last.len() == end_width)?;
        require("rows exactly if it has ends", ends.is_some() != rows.is_empty())?;
        let Some((low, high)) = ends else { return Ok(()) };
        require("its rows between its ends", rows.iter().all(|row| (low..=high).contains(row)))?;
        let bucket = |row: &u64| (row - low) >> shift;
        require("one row in each bucket", rows.is_sorted_by(|a, b| bucket(a) < bucket(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(keep: Keep, capacity: usize, rows: &[(u64, f64)]) -> Downsampler {
        let mut curve = Downsampler::new(keep, capacity, 2);
        rows.iter().for_each(|&(row, value)| curve.push(row, &[value, -value]));
        curve
    }

    /// Generates rows with gaps, and values with ties and NaN.
    fn stream() -> impl Strategy<Value = Vec<(u64, f64)>> {
        let value = prop_oneof![8 => -5.0f64..5.0, 2 => Just(1.0), 1 => Just(f64::NAN)];
        prop::collection::vec((1u64..9, value), 0..400).prop_map(|steps| {
            steps
                .into_iter()
                .scan(0, |row, (step, value)| {
                    *row += step;
                    Some((*row, value))
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn bounds_and_order_are_kept(rows in stream(), capacity in 0usize..40, largest: bool) {
            let keep = if largest { Keep::Largest } else { Keep::First };
            let curve = recorded(keep, capacity, &rows);
            let points = curve.points();
            prop_assert!(points.len() <= capacity.max(LEAST));
            prop_assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert_eq!(points.first().map(|point| point.0), rows.first().map(|row| row.0));
            prop_assert_eq!(points.last().map(|point| point.0), rows.last().map(|row| row.0));
            for (row, values) in &points {
                let given = rows.iter().find(|given| given.0 == *row).unwrap().1;
                prop_assert!((values[0].to_bits(), values[1].to_bits()) == (given.to_bits(), (-given).to_bits()));
            }
            if largest {
                let most = |values: Vec<f64>| values.into_iter().fold(f64::NEG_INFINITY, f64::max);
                let kept = most(points.iter().map(|point| point.1[0]).collect());
                prop_assert_eq!(kept, most(rows.iter().map(|row| row.1).collect()));
            }
        }

        #[test]
        fn the_largest_of_each_bucket_is_kept(rows in stream(), capacity in 4usize..40) {
            let curve = recorded(Keep::Largest, capacity, &rows);
            let Some((first, _)) = curve.ends else { return Ok(()) };
            let mut slow: std::collections::BTreeMap<u64, (u64, f64)> = Default::default();
            for &(row, value) in &rows {
                let kept = slow.entry((row - first) >> curve.shift).or_insert((row, value));
                if larger(value, kept.1) { *kept = (row, value); }
            }
            prop_assert_eq!(&curve.rows, &slow.values().map(|kept| kept.0).collect::<Vec<_>>());
        }

        #[test]
        fn the_extremes_of_each_bucket_are_kept(rows in stream(), capacity in 4usize..40) {
            let mut curve = Downsampler::new(Keep::Extremes, capacity, 2);
            rows.iter().for_each(|&(row, value)| curve.push(row, &[value, value]));
            let Some((first, _)) = curve.ends else { return Ok(()) };
            let mut slow: std::collections::BTreeMap<u64, (u64, f64, f64)> = Default::default();
            for &(row, value) in &rows {
                let kept = slow.entry((row - first) >> curve.shift).or_insert((row, value, value));
                (kept.1, kept.2) = (kept.1.min(value), kept.2.max(value));
            }
            prop_assert_eq!(&curve.rows, &slow.values().map(|kept| kept.0).collect::<Vec<_>>());
            let bits = |x: f64| if x.is_nan() { None } else { Some(x.to_bits()) };
            let kept: Vec<_> = curve.values.chunks(2).map(|pair| (bits(pair[0]), bits(pair[1]))).collect();
            prop_assert_eq!(kept, slow.values().map(|kept| (bits(kept.1), bits(kept.2))).collect::<Vec<_>>());
        }

        #[test]
        fn saving_and_restoring_changes_nothing(rows in stream(), cut in 0usize..400, largest: bool) {
            let keep = if largest { Keep::Largest } else { Keep::First };
            let cut = cut.min(rows.len());
            let through = recorded(keep, 16, &rows);
            let bytes = postcard::to_allocvec(&recorded(keep, 16, &rows[..cut])).unwrap();
            let mut resumed: Downsampler = postcard::from_bytes(&bytes).unwrap();
            rows[cut..].iter().for_each(|&(row, value)| resumed.push(row, &[value, -value]));
            prop_assert_eq!(postcard::to_allocvec(&through).unwrap(), postcard::to_allocvec(&resumed).unwrap());
        }

        #[test]
        fn damaged_bytes_are_refused_or_harmless(rows in stream(), place: prop::sample::Index, byte: u8) {
            let mut bytes = postcard::to_allocvec(&recorded(Keep::Largest, 16, &rows)).unwrap();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            if let Ok(mut curve) = postcard::from_bytes::<Downsampler>(&bytes) {
                for row in [1, 1000, u64::MAX - 1, u64::MAX] { curve.push(row, &[1.0]); }
                prop_assert!(curve.points().len() <= curve.capacity);
            }
        }
    }

    #[test]
    fn what_no_recorder_could_have_saved_is_refused() {
        let rows: Vec<(u64, f64)> = (1..=100).map(|row| (row, row as f64)).collect();
        let sound = serde_json::to_value(recorded(Keep::First, 16, &rows)).unwrap();
        assert!(serde_json::from_value::<Downsampler>(sound.clone()).is_ok());
        let many: Vec<u64> = (1..=20).collect();
        let changes = [
            ("capacity", serde_json::json!(3), "capacity"),
            ("capacity", serde_json::json!(1 << 30), "capacity"),
            ("capacity", serde_json::json!(8), "no more points"),
            ("width", serde_json::json!(0), "width"),
            ("width", serde_json::json!(3), "a value for each"),
            ("shift", serde_json::json!(64), "buckets"),
            ("shift", serde_json::json!(5), "one row in each bucket"),
            ("rows", serde_json::json!(many), "no more points"),
            ("ends", serde_json::json!([1, 50]), "between its ends"),
            ("ends", serde_json::Value::Null, "first and last row"),
            ("last", serde_json::json!([1.0]), "first and last row"),
        ];
        for (field, value, rule) in changes {
            let mut changed = sound.clone();
            changed[field] = value.clone();
            let error = serde_json::from_value::<Downsampler>(changed).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(rule), "{field} {value}: {error}");
        }
    }

    #[test]
    fn pushing_only_what_would_be_kept_gives_the_same_curve_but_for_its_end() {
        let rows: Vec<(u64, f64)> = (3..=5000).map(|row| (row, row as f64)).collect();
        let all = recorded(Keep::First, 40, &rows);
        let (mut some, mut pushed) = (Downsampler::new(Keep::First, 40, 2), 0);
        for (row, value) in rows {
            if some.would_keep(row) || row == 5000 {
                some.push(row, &[value, -value]);
                pushed += 1;
            }
        }
        assert_eq!(some, all);
        assert!(pushed < 200, "{pushed}");
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        let rows: Vec<(u64, f64)> = (1..=14).map(|row| (row, row as f64)).collect();
        assert_eq!(recorded(Keep::First, 16, &rows).curve("", 0).values.len(), 14);
    }

    #[test]
    fn a_long_stream_fills_at_least_half_of_the_capacity() {
        let rows: Vec<(u64, f64)> = (1..=100_000).map(|row| (row, row as f64)).collect();
        for keep in [Keep::First, Keep::Largest] {
            let length = recorded(keep, 200, &rows).points().len();
            assert!((99..=200).contains(&length), "{length}");
        }
    }

    #[test]
    fn a_row_that_does_not_follow_is_ignored() {
        let mut curve = recorded(Keep::First, 16, &[(5, 1.0), (9, 2.0)]);
        let before = curve.clone();
        curve.push(9, &[7.0, 7.0]);
        curve.push(1, &[7.0, 7.0]);
        assert_eq!(curve, before);
    }
}
