//! A program that was built without the feature `serve`.

use super::PageSource;
use crate::stop::StopSignal;
use anyhow::Result;
use eigenhedge_report::Page;
use std::collections::BTreeSet;
use std::convert::Infallible;

/// No address.
pub type LiveAddress = Infallible;

/// Says how to get a program with pages.
pub fn parse_address(_: &str) -> Result<LiveAddress, String> {
    Err("needs a program with the feature `serve`: cargo install eigenhedge-cli --features serve".to_owned())
}

/// No page.
#[derive(Debug)]
pub struct Live(Infallible);

impl Live {
    pub fn start(address: Option<LiveAddress>, _: &str) -> Result<Option<Self>> {
        match address {
            Some(address) => match address {},
            None => Ok(None),
        }
    }

    pub fn follow(&mut self, source: impl PageSource + 'static) {
        // Never reached; the compiler sees what pages would need.
        let _ = (source.version(), source.page(&BTreeSet::new()));
        match self.0 {}
    }

    pub fn rest(&mut self) {
        match self.0 {}
    }

    pub fn end(self, _: &Page, _: u64, _: bool, _: &StopSignal) {
        match self.0 {}
    }
}
