//! Capped simplex: vectors `v` with N entries in `[0, 1]` and total `d = N - k`.
//!
//! Of N experts or directions, k are kept. Entry `v_i` is the probability that expert or direction i is dropped.
//! Weights are stored as `log v`, because `v` can be far below the smallest positive floating-point number.
//! [`cap_by_sorting`] projects weights onto this set, [`decompose`] writes a point of it as a mixture of sets, and
//! [`Select`] lists the methods to draw a set with given probabilities.

pub(crate) mod cap;
mod corners;
mod keep_largest;
pub(crate) mod sample;
mod spectrum;

pub(crate) use cap::{CapScratch, Complement, cap};
pub use cap::{Capped, Multiplicity, cap_by_selection, cap_by_sorting};
pub use corners::{Corner, Mixture, decompose};
pub(crate) use keep_largest::{LimitScratch, Precision, ShiftScratch, keep_largest, shift_and_clip};
pub use sample::Select;
pub(crate) use sample::{DrawScratch, draw};
pub(crate) use spectrum::{Spectrum, others};
