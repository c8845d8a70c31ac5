//! Substitute for live pages in a program without the feature `serve`.

use super::Shared;
use crate::stop::StopSignal;
use anyhow::Result;
use eigenhedge_pages::Page;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

pub fn parse_address(_: &str) -> Result<SocketAddr, String> {
    Err("needs a program with the feature `serve`, which this one was built without".to_owned())
}

#[derive(Debug)]
pub struct Live(Infallible);

impl Live {
    pub fn start(_: Option<SocketAddr>, _: &str) -> Result<Option<Self>> {
        Ok(None)
    }

    pub fn follow<T>(&mut self, state: Arc<Shared<T>>, page: impl Fn(&T, &BTreeSet<String>) -> Option<(Page, u64)>) {
        // Never executed. It prevents a warning about unused methods.
        let _ = (state.version(), page(&state.lock(), &BTreeSet::new()));
        match self.0 {}
    }

    pub fn rest(&mut self) {
        match self.0 {}
    }

    pub fn end(self, _: &Page, _: u64, _: bool, _: &StopSignal) {
        match self.0 {}
    }
}
