//! The live page of monitors.

use crate::live::{PageSource, Shared};
use eigenhedge_pages::monitor::{Facts, Inside, Journal, page};
use eigenhedge_report::Page;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Shared slot for the journal, with the number of skipped rows and the number of monitors in memory. The session
/// leaves its journal there while it waits for a row.
pub type Counter = Arc<Shared<Option<(Journal, (u64, usize))>>>;

/// Builder of the live pages of a session.
pub struct MonitorPages {
    counter: Counter,
    facts: Facts,
}

impl MonitorPages {
    /// Creates the builder for a session that shares its journal through this counter.
    pub fn new(counter: Counter, facts: Facts) -> Self {
        Self { counter, facts }
    }
}

impl PageSource for MonitorPages {
    fn version(&self) -> u64 {
        self.counter.version()
    }

    fn page(&self, open: &BTreeSet<String>) -> Option<(Page, u64)> {
        let made = self.counter.look(Option::is_some, |lent| {
            let (journal, (skipped, in_memory)) = lent.as_ref()?;
            let facts = Facts { skipped: *skipped, in_memory: *in_memory, ..self.facts.clone() };
            Some((page(journal, &facts, &Inside::Open(open)), journal.rows))
        });
        made.flatten()
    }
}
