//! Pictures and pages of runs: plain data in, text out.
//!
//! A [`Chart`] is what is to be seen. [`svg`] draws it as a picture that stands alone; [`Page`] puts charts, sentences and
//! tables into one HTML file that needs no network; [`RunReport`] is the page of one run, [`MonitorReport`] that of a monitor. [`Downsampler`] and [`TopK`]
//! record a stream of any length in bounded memory, so that a run of 10⁸ rows has a page of the same size as one of 10⁴.
//!
//! Nothing here knows a learner, reads a file or looks at a clock. The same data gives the same bytes.
//!
//! Names, labels and titles may be anything, also `</script>`: whatever is written passes through [`escape`].

#![forbid(unsafe_code)]

pub mod axis;
mod calendar;
pub mod chart;
pub mod downsample;
pub mod escape;
pub mod fleet_report;
pub mod focus;
pub mod heat_map;
pub mod monitor_report;
pub mod multiples;
pub mod number;
pub mod page;
pub mod palette;
pub mod run_report;
pub mod steps;
pub mod svg;
mod text_layout;
pub mod top_k;

pub use chart::{Annotation, Chart, Kind, Mark, OtherAxis, Point, Series, Tint};
pub use downsample::{Downsampler, Keep};
pub use fleet_report::FleetReport;
pub use heat_map::HeatMap;
pub use monitor_report::{Moment, MonitorReport, Watched};
pub use multiples::Multiples;
pub use page::{Block, Folded, Overview, OverviewLine, Page, Section, Table, Tile};
pub use run_report::{Best, Curve, Directions, Fact, Look, Placed, RunReport};
pub use steps::Steps;
pub use top_k::{Entry, TopK};
