//! Curves over the rows of a run.

use crate::downsample::Downsampler;

/// Curve over the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Row number of each point of the curve.
    pub rows: Vec<f64>,
    /// Value of each point of the curve.
    pub values: Vec<f64>,
}

impl Curve {
    /// Creates a curve from the curve with this index in a recorder.
    pub fn of(name: impl Into<String>, curves: &Downsampler, index: usize) -> Self {
        let (rows, values) = curves.curve(index);
        Self { name: name.into(), rows, values }
    }

    /// Returns the value at a row by linear interpolation, or NaN for fewer than two rows. The row numbers must
    /// increase.
    pub fn at(&self, row: f64) -> f64 {
        let after = self.rows.partition_point(|known| *known < row).clamp(1, self.rows.len().max(2) - 1);
        let (Some(&[x0, x1]), Some(&[y0, y1])) =
            (self.rows[after - 1..].first_chunk::<2>(), self.values[after - 1..].first_chunk::<2>())
        else {
            return f64::NAN;
        };
        y0 + (y1 - y0) * ((row - x0) / (x1 - x0)).clamp(0.0, 1.0)
    }
}
