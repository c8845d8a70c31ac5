//! Substitute for live pages in a program without the feature `serve`.

use super::PageSource;
use crate::stop::StopSignal;
use anyhow::Result;
use eigenhedge_pages::Page;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;

pub fn parse_address(_: &str) -> Result<SocketAddr, String> {
    Err("needs a program with the feature `serve`, which this one was built without".to_owned())
}

#[derive(Debug)]
pub struct Live(Infallible);

impl Live {
    pub fn start(_: Option<SocketAddr>, _: &str) -> Result<Option<Self>> {
        Ok(None)
    }

    pub fn follow(&mut self, source: impl PageSource + 'static) {
        // Never executed. It prevents a warning about unused methods of the source.
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
