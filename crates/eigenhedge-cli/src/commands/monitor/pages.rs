//! The live page of monitors.

use super::monitors::{Monitors, Watched};
use crate::commands::session::Session;
use crate::live::{PageSource, Shared};
use eigenhedge_pages::Page;
use eigenhedge_pages::monitor::{Facts, Inside, page};
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct MonitorPages {
    watched: Arc<Shared<Watched>>,
    facts: Facts,
}

impl MonitorPages {
    pub fn of(session: &Session<'_, Monitors<'_>>) -> Self {
        Self { watched: session.engine.shared(), facts: session.engine.facts_so_far(&session.stream) }
    }
}

impl PageSource for MonitorPages {
    fn version(&self) -> u64 {
        self.watched.version()
    }

    fn page(&self, open: &BTreeSet<String>) -> Option<(Page, u64)> {
        Some(self.watched.look(|Watched { journal, skipped, in_memory }| {
            let facts = Facts { skipped: *skipped, in_memory: *in_memory, ..self.facts.clone() };
            (page(journal, &facts, &Inside::Open(open)), journal.rows)
        }))
    }
}
