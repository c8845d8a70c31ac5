//! Live pages of running streams, and an HTTP service that holds models and monitors.
#![deny(unsafe_code)]
// Items whose names say it all need no comment here: the crate is no part of the stable interface.
#![allow(missing_docs)]

pub mod live;
pub mod service;
