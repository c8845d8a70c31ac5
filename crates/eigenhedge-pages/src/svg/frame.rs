//! Plotting area of a chart.

use crate::axis::Axis;

pub struct PlotFrame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Axis,
    pub y: Axis,
}

impl PlotFrame {
    /// Returns the position of a point in the picture, or `None` if it cannot be drawn.
    pub fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.left + self.x.place(x)? * self.width, self.top + (1.0 - self.y.place(y)?) * self.height))
    }

    /// Returns the position of a point, even if it lies beyond the axes. Returns `None` if it cannot be drawn.
    pub fn place_near(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.place_near(x)?, self.y.place_near(y)?);
        Some((self.left + x * self.width, self.top + (1.0 - y) * self.height))
    }

    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}
