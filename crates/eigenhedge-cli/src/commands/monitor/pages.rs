//! The live page of monitors.

use super::account::{Account, TableFacts};
use super::lending::{Counter, Lent};
use super::page::{Inside, page};
use super::session::Session;
use super::summary;
use crate::args::MonitorArgs;
use crate::live::PageSource;
use eigenhedge::{Limit, Monitor};
use eigenhedge_report::Page;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Builds the pages of a session.
pub struct MonitorPages {
    counter: Counter,
    args: MonitorArgs,
    table: TableFacts,
    limit: Limit,
    /// Number of rows of the warm-up.
    warm_up: u64,
}

impl MonitorPages {
    /// Returns the source of pages for a session, or `None` without a live page.
    pub fn of(session: &Session<'_>, args: &MonitorArgs) -> Option<Self> {
        let fresh: &Monitor = session.fleet.fresh();
        Some(Self {
            counter: Arc::clone(session.counter.as_ref()?),
            args: args.clone(),
            table: TableFacts::of(&session.stream),
            limit: fresh.options().limit,
            warm_up: fresh.options().warm_up_rows(fresh.width()),
        })
    }

    /// Returns the results after the last row, including current events.
    fn account(&self, lent: &Lent) -> Account {
        let Lent { state, latest, .. } = lent;
        let mut listed = state.listed.clone();
        let open = latest.open.iter().flatten();
        listed.extend(open.clone().cloned());
        Account {
            table: TableFacts { skipped: latest.skipped, ..self.table.clone() },
            keys: latest.keys.clone(),
            totals: state.totals,
            rows: state.rows,
            listed,
            open: open.map(|event| (event.key.clone(), event.start)).collect(),
            filled_rows: state.filled_rows,
            limit: self.limit,
            in_memory: latest.in_memory,
            running: Some(self.warm_up),
        }
    }
}

impl PageSource for MonitorPages {
    fn version(&self) -> u64 {
        self.counter.version()
    }

    fn page(&self, open: &BTreeSet<String>) -> Option<(Page, u64)> {
        let made = self.counter.look(Option::is_some, |lent| {
            let lent = lent.as_ref()?;
            let (account, records) = (self.account(lent), lent.records.as_ref()?);
            let text = summary::text(&account, &self.args);
            Some((page(&account, records, &self.args, &text, Inside::Open(open)), account.rows))
        });
        made.flatten()
    }
}
