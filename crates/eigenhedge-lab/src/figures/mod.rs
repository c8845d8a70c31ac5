//! Reproductions: one file per figure, or for a few related figures.

pub mod cone;
pub mod example_6;
pub mod figure_3;
pub mod figure_4;
pub mod figure_5;
pub mod figure_6;
pub mod kashima;
pub mod kernel_pca;
pub mod leader;
pub mod preimage;
pub mod ridge;

use eigenhedge::{Kind, Mixing, NormBound, Spec};

const KEPT: usize = 2;
const ALPHA: f64 = 1e-3;

/// Rate 1, for rows of norm at most 1.
fn spec(kind: Kind, kept: usize) -> Spec {
    Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(kind, kept) }
}

fn tracking(mixing: Mixing, kept: usize) -> Spec {
    Spec { mixing, ..spec(Kind::Tracking, kept) }
}
