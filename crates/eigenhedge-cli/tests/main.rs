//! All tests of the program in one crate, so that shared code is compiled and linked once.

mod bad_inputs;
mod book;
mod common;
mod demo;
mod every_command;
mod formats;
mod groups;
mod hostile_files;
mod items;
mod kernels;
mod kills;
mod live;
mod merge;
mod messy_tables;
mod mistakes;
mod models;
mod monitor;
mod monitor_pages;
mod plant_cases;
mod plant_tables;
mod refusals;
mod reports;
mod reproduce;
mod run;
mod scree;
#[cfg(feature = "parquet")]
mod several_inputs;
mod signals;
mod snapshots;
#[cfg(feature = "parquet")]
#[path = "../../eigenhedge-io/tests/common/mod.rs"]
mod tables;
mod units;
mod written_files;
