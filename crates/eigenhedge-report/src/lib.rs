//! Plots and HTML pages of runs, from plain data to text.
//!
//! A [`Chart`] is the data of a plot. [`svg`] draws it as a self-contained picture. [`Page`] combines charts, sentences and
//! tables in a self-contained HTML file. [`RunReport`] is the page of a run, [`MonitorReport`] that of a monitor.
//! [`Downsampler`] and [`TopK`] record a stream of any length in bounded memory, so that the page of 10⁸ rows is as large as
//! that of 10⁴.
//!
//! This crate does not depend on learners, files or a clock. Equal data gives equal bytes.
//!
//! Names, labels and titles may contain anything, such as `</script>`: all output passes through [`escape`].

#![forbid(unsafe_code)]

pub mod axis;
mod calendar;
pub mod chart;
mod curve;
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
