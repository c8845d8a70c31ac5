//! The capped simplex: vectors `v` with entries in `[0, 1]` and total `d = N - k`.
//!
//! An entry says how surely an expert or a direction is dropped, `p = 1 - v` how surely it is kept. Weights are
//! stored as `log v`, because the entries of what is surely kept sink far below the smallest ordinary number.
//!
//! [`cap`](mod@cap) projects weights onto this set, [`corners`] writes a point of it as a mixture of sets, and
//! [`sample`] draws a set with given probabilities;
//! [`keep_largest`](mod@keep_largest) is what capping tends to as the learning rate grows.

pub mod cap;
mod cap_scale;
pub mod corners;
pub mod keep_largest;
pub mod sample;
pub mod shift_and_clip;
mod spectrum;

pub use cap::{CapScratch, Capped, Complement, Multiplicity, cap, cap_by_selection, cap_by_sorting};
pub use corners::{Corner, Mixture, decompose};
pub use keep_largest::{LimitScratch, keep_largest};
pub use sample::{DrawScratch, Select, draw};
pub use shift_and_clip::{ShiftScratch, shift_and_clip};
pub(crate) use spectrum::{Spectrum, others};
