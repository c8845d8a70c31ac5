//! One file for each command.

mod demo;
mod reproduce;
mod run;

pub use demo::demo;
pub use reproduce::reproduce;
pub use run::run;
