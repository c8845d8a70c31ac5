//! Rows with the largest values in a stream. One comparison for most rows; earlier rows win ties.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub row: u64,
    pub value: f64,
    pub label: String,
}

/// In descending order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopK {
    pub capacity: usize,
    pub entries: Vec<Entry>,
}

impl TopK {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, entries: vec![] }
    }

    /// Returns false for a damaged list.
    pub fn is_sound(&self) -> bool {
        self.entries.len() <= self.capacity && self.entries.is_sorted_by(|a, b| a.value >= b.value)
    }

    /// `label` is called only for a row that is kept. Ignores NaN.
    pub fn offer(&mut self, row: u64, value: f64, label: impl FnOnce() -> String) {
        let full = self.entries.len() >= self.capacity;
        if value.is_nan() || (full && self.entries.last().is_none_or(|least| value <= least.value)) {
            return;
        }
        let place = self.entries.partition_point(|entry| entry.value >= value);
        self.entries.insert(place, Entry { row, value, label: label() });
        self.entries.truncate(self.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_equal_those_of_a_sort(values in prop::collection::vec(prop_oneof![-3.0f64..3.0, Just(1.0), Just(f64::NAN)], 0..60), capacity in 0usize..12) {
            let mut largest = TopK::new(capacity);
            values.iter().zip(1..).for_each(|(&value, row)| largest.offer(row, value, || format!("row {row}")));
            let mut sorted: Vec<(u64, f64)> = (1..).zip(values).filter(|(_, value)| !value.is_nan()).collect();
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
            sorted.truncate(capacity);
            let kept: Vec<(u64, f64)> = largest.entries.iter().map(|entry| (entry.row, entry.value)).collect();
            prop_assert_eq!(kept, sorted);
            let labelled = |entry: &Entry| entry.label == format!("row {}", entry.row);
            prop_assert!(largest.entries.iter().all(labelled));
        }
    }
}
