//! Curves over the rows of a run.

use crate::chart::{Kind, Series};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    pub name: String,
    pub rows: Vec<f64>,
    pub values: Vec<f64>,
}

impl Curve {
    /// Interpolates the value at a row, or NaN for fewer than two rows. The row numbers must increase.
    pub fn at(&self, row: f64) -> f64 {
        let after = self.rows.partition_point(|known| *known < row).clamp(1, self.rows.len().max(2) - 1);
        let (Some(&[x0, x1]), Some(&[y0, y1])) =
            (self.rows[after - 1..].first_chunk::<2>(), self.values[after - 1..].first_chunk::<2>())
        else {
            return f64::NAN;
        };
        y0 + (y1 - y0) * ((row - x0) / (x1 - x0)).clamp(0.0, 1.0)
    }

    pub(crate) fn map(mut self, function: impl Fn(f64) -> f64) -> Self {
        self.values.iter_mut().for_each(|value| *value = function(*value));
        self
    }

    pub(crate) fn series(&self, kind: Kind) -> Series {
        Series::new(kind, &self.name, &self.rows, &self.values)
    }
}
