//! The live page of a run.

use super::session::{Learned, Session};
use crate::files::file_name;
use crate::live::{PageSource, Shared};
use crate::record::{Heading, page};
use crate::summary::sentences;
use eigenhedge::Standardize;
use eigenhedge_report::{Page, RunReport};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Builds the pages of a run.
pub struct RunPages {
    learned: Arc<Shared<Learned>>,
    source: String,
    columns: Vec<String>,
}

impl RunPages {
    /// Returns the source of pages for a session.
    pub fn of(session: &Session<'_>) -> Self {
        let source = file_name(&session.stream.source()).to_owned();
        Self { learned: session.shared(), source, columns: session.stream.columns().to_vec() }
    }

    /// Returns the page after the last row, from a copy of the record. The best loss in hindsight is a bracket.
    fn report(&self, learned: &Learned) -> Option<RunReport> {
        let Learned { model, recorder, row } = learned;
        let mut recorder = recorder.as_ref().filter(|_| model.totals().charged() > 0)?.clone();
        let summary = recorder.interim_summary(model);
        recorder.close(*row, model, &summary);
        let standardized = model.columns().standardizer.how() != Standardize::None;
        let account = sentences(&summary, model.spec(), standardized);
        Some(page(
            Heading { source: &self.source, columns: &self.columns, standardized, account },
            &recorder,
            model,
            &summary,
        ))
    }
}

impl PageSource for RunPages {
    fn version(&self) -> u64 {
        self.learned.version()
    }

    fn page(&self, _: &BTreeSet<String>) -> Option<(Page, u64)> {
        let made = self.learned.look(|_| true, |learned| Some((self.report(learned)?, learned.model.totals().rows)));
        made.flatten().map(|(report, rows)| (report.page(), rows))
    }
}
