//! The live page of a run.

use super::model::{Learned, OneModel};
use crate::commands::session::Session;
use crate::live::{PageSource, Shared};
use eigenhedge_pages::run::page_so_far;
use eigenhedge_pages::{Page, file_name};
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct RunPages {
    learned: Arc<Shared<Learned>>,
    source: String,
    columns: Vec<String>,
}

impl RunPages {
    pub fn of(session: &Session<'_, OneModel<'_>>) -> Self {
        let source = file_name(&session.stream.source()).to_owned();
        Self { learned: session.engine.shared(), source, columns: session.stream.columns().to_vec() }
    }
}

impl PageSource for RunPages {
    fn version(&self) -> u64 {
        self.learned.version()
    }

    fn page(&self, _: &BTreeSet<String>) -> Option<(Page, u64)> {
        self.learned.look(|Learned { model, recorder, row }| {
            let page = page_so_far(&self.source, &self.columns, recorder.as_ref()?, model, *row)?;
            Some((page, model.totals().rows))
        })
    }
}
