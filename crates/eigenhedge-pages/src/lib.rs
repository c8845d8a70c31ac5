//! Records, plots and HTML pages of models and monitors.
//!
//! [`run::Recorder`] records a model, [`monitor::Journal`] one monitor or one per key, in bounded memory. [`run::page`]
//! and [`monitor::page`] turn records into a [`Page`], a self-contained HTML file. [`svg`] draws a [`Chart`] as a
//! picture.
//!
//! Equal data gives equal bytes, except for the times in a comparison. Names may contain any text, such as
//! `</script>`, because all output passes through [`escape`].

#![forbid(unsafe_code)]
#![allow(missing_docs)]

mod axis;
mod calendar;
mod chart;
pub mod compare;
pub mod directions;
mod downsample;
pub mod escape;
mod focus;
mod heat_map;
#[cfg(test)]
#[path = "../tests/browser/hostile.rs"]
mod hostile;
pub mod monitor;
mod multiples;
pub mod number;
pub mod page;
pub mod palette;
pub mod run;
mod saved;
mod steps;
pub mod svg;
mod tables;
mod text_layout;
mod top_k;

pub use calendar::moment;
pub use chart::{Annotation, Chart, Curve, Kind, Mark, OtherAxis, Point, Series, Tint};
pub use downsample::{Downsampler, Keep};
pub use heat_map::HeatMap;
pub use multiples::Multiples;
pub use number::counted;
pub use page::{Block, Page, Section, Table, Tile};
pub use saved::{from_text, to_text};
pub use steps::Steps;
pub use tables::{check_width, first_rows};

pub fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().unwrap_or(source)
}
