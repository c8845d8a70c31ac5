//! Implementation of the commands. A file contains one command or a few related ones.

pub mod batch;
pub mod compare;
pub mod demo;
pub mod make;
pub mod merge;
pub mod model;
pub mod monitor;
pub mod pair;
pub mod reproduce;
pub mod run;
pub mod scree;
#[cfg(feature = "serve")]
pub mod serve;
mod session;
