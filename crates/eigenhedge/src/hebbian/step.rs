//! One move of all weight vectors: the form that the three rules share.

/// A move of the weight vectors `w_1 … w_P` towards a point.
///
/// The vectors are taken in order. The deflated point d starts as `scale` times the point, and for each vector
///
/// ```text
/// w ← keep·w + push·d,      d ← d - remove·w      (with the w before the move)
/// ```
///
/// The map is linear in (w, d), so that it acts alike on vectors, on coefficients over a dictionary and on a
/// triangular factor.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Factor on the point.
    pub scale: f64,
    /// Factor on each vector.
    pub keep: Vec<f64>,
    /// How much of the deflated point is added.
    pub push: Vec<f64>,
    /// How much of each vector is taken from the point before the later vectors see it.
    pub remove: Vec<f64>,
}

impl Step {
    /// Forgets the last move.
    pub(super) fn clear(&mut self) {
        self.scale = 1.0;
        self.keep.clear();
        self.push.clear();
        self.remove.clear();
    }

    /// True if nothing moves.
    pub(super) fn is_still(&self) -> bool {
        self.push.iter().all(|push| *push == 0.0)
    }

    /// True if later vectors see another point than the first.
    pub(super) fn deflates(&self) -> bool {
        self.remove.iter().rev().skip(1).any(|remove| *remove != 0.0)
    }
}

/// Moves one column and deflates the point by what the column was.
pub(super) fn move_column(column: &mut [f64], point: &mut [f64], keep: f64, push: f64, remove: f64) {
    if remove == 0.0 {
        for (w, d) in column.iter_mut().zip(point) {
            *w = keep * *w + push * *d;
        }
        return;
    }
    for (w, d) in column.iter_mut().zip(point) {
        let before = *w;
        *w = keep * before + push * *d;
        *d -= remove * before;
    }
}
