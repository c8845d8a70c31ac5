//! One file for each command.

mod demo;
mod run;

pub use demo::demo;
pub use run::run;
