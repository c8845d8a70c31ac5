//! Page of a stream: key figures, curves and tables.

use super::models::ModelsByKey;
use super::monitors::Monitors;
use super::{AnyLearner, Engine};
use eigenhedge_pages::monitor::{Facts, Inside, page, sentence};
use eigenhedge_pages::number::short;
use eigenhedge_pages::run::page_so_far;
use eigenhedge_pages::{Block, Chart, Page, Series, Table, Tile};
use std::collections::BTreeSet;

const KEYS: usize = 50;

impl Engine {
    pub fn page(&mut self, name: &str, open: &BTreeSet<String>) -> Page {
        let (rows, columns) = (self.counts.rows, self.names());
        let facts = self.facts(name, columns.clone());
        let made = match &mut self.learner {
            None => None,
            Some(AnyLearner::Model(one)) => {
                let row = rows.saturating_sub(1);
                page_so_far(name, &columns, &one.recorder, &one.model, row)
            }
            Some(AnyLearner::Models(models)) => Some(of_models(models, name, rows)),
            Some(AnyLearner::Monitors(monitors)) => {
                facts.map(|facts| page(&monitors.journal, &facts, &Inside::Open(open)))
            }
        };
        let mut page = made.unwrap_or_else(|| Page {
            title: name.to_owned(),
            subtitle: format!("{} of {rows} rows", self.options.kind()),
            blocks: vec![Block::Text("No row yet".into(), vec!["Send rows, or drop a CSV file here.".into()])],
            ..Page::default()
        });
        let silent: Vec<String> = self.notices.silences.open.values().take(KEYS).map(sentence).collect();
        if !silent.is_empty() {
            page.summary.insert(0, format!("Silent: {}.", silent.join("; ")));
        }
        page
    }

    fn facts(&self, name: &str, columns: Vec<String>) -> Option<Facts> {
        let Some(AnyLearner::Monitors(Monitors { fleet, .. })) = &self.learner else { return None };
        let shape = self.shape.as_ref().filter(|shape| shape.has_time);
        Some(Facts {
            columns,
            time: shape.and_then(|shape| shape.kept.first().cloned()),
            skipped: self.counts.skipped,
            in_memory: fleet.in_memory(),
            ..Facts::of_stream(name.to_owned(), self.options.by.clone(), fleet.fresh())
        })
    }
}

fn of_models(models: &mut ModelsByKey, name: &str, rows: u64) -> Page {
    let ModelsByKey { fleet, record } = models;
    let keys: Vec<String> = fleet.keys().take(KEYS).map(str::to_owned).collect();
    let mut table = Vec::new();
    for key in keys {
        let totals = fleet.with(&key, |model| Ok(*model.totals()));
        let Ok(totals) = totals else { continue };
        let share = totals.kept_energy / (totals.kept_energy + totals.loss);
        table.push(vec![key, totals.rows.to_string(), short(totals.expected_loss), format!("{:.1} %", 100.0 * share)]);
    }
    let tile = |value: String, label: &str| Tile { value, label: label.to_owned(), ..Tile::default() };
    let loss = record.curve("loss", 0);
    let chart = Chart::new("Loss of a row", "row", "squared units");
    let chart = chart.with(Series::line(&loss.name, &loss.rows, &loss.values));
    let columns = ["key", "rows", "lost", "energy kept"].map(str::to_owned).to_vec();
    let caption = match fleet.keys().len().saturating_sub(KEYS) {
        0 => String::new(),
        more => format!("{more} more keys are not listed."),
    };
    Page {
        title: name.to_owned(),
        subtitle: format!("model of {rows} rows"),
        summary: Vec::new(),
        blocks: vec![
            Block::Tiles(vec![tile(rows.to_string(), "rows"), tile(fleet.keys().len().to_string(), "keys")]),
            Block::Chart(chart),
            Block::Table(Table { title: "Keys".into(), columns, rows: table, caption, ..Table::default() }),
        ],
    }
}
