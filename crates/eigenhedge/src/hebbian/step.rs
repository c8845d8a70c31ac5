//! An update of all weight vectors, in the form common to the three rules.

/// An update of the weight vectors `w_1 … w_P` towards a point.
///
/// The vectors are processed in order. The deflated point d starts as `scale` times the point. For each vector:
///
/// ```text
/// w ← keep·w + push·d,      d ← d - remove·w      (with the w before the update)
/// ```
///
/// The map is linear in (w, d), so it applies equally to vectors, to coefficients over a dictionary and to a triangular factor.
#[derive(Debug, Clone, Default)]
pub struct VectorStep {
    /// Factor by which the point is multiplied.
    pub scale: f64,
    pub keep: Vec<f64>,
    /// Multiple of the deflated point that is added to each vector.
    pub push: Vec<f64>,
    /// Multiple of each vector that is subtracted from the point before later vectors are updated.
    pub remove: Vec<f64>,
}

impl VectorStep {
    pub(super) fn clear(&mut self) {
        self.scale = 1.0;
        self.keep.clear();
        self.push.clear();
        self.remove.clear();
    }

    pub(super) fn is_still(&self) -> bool {
        self.push.iter().all(|push| *push == 0.0)
    }

    pub(super) fn deflates(&self) -> bool {
        self.remove.iter().rev().skip(1).any(|remove| *remove != 0.0)
    }
}

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
