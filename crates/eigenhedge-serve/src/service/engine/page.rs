//! The page of a stream: key figures, curves and tables.

use super::record::Record;
use super::{AnyLearner, Engine, Notice};
use eigenhedge::{Fleet, Model, Monitor, MonitorTotals};
use eigenhedge_report::number::short;
use eigenhedge_report::{Block, Chart, Page, Series, Table, Tile};

/// Maximum numbers of columns, keys and notices on the page.
const COLUMNS: usize = 40;
const KEYS: usize = 50;
const NOTICES: usize = 30;
/// Maximum number of columns for which the page computes the best subspace.
const LONGEST: usize = 128;

impl Engine {
    /// Returns the page of the stream.
    pub fn page(&mut self, name: &str) -> Page {
        let blocks = match &mut self.learner {
            None => vec![Block::Text("No row yet".into(), vec!["Send rows, or drop a CSV file here.".into()])],
            Some(AnyLearner::Model(model)) => of_model(&mut model.0, &self.record),
            Some(AnyLearner::Models(fleet)) => of_models(fleet, &self.record, self.counts.rows),
            Some(AnyLearner::Monitors(fleet)) => {
                let notices: Vec<&Notice> =
                    self.notices.after(self.notices.count.saturating_sub(NOTICES as u64)).collect();
                of_monitors(fleet, &self.record, &notices)
            }
        };
        let rows = self.counts.rows;
        let subtitle = format!("{} of {rows} rows", self.options.kind());
        Page { title: name.to_owned(), subtitle, summary: Vec::new(), blocks }
    }
}

fn tile(value: String, label: &str, tone: &str) -> Tile {
    Tile { value, label: label.to_owned(), exact: String::new(), tone: tone.to_owned() }
}

/// X and y values of a curve.
type Curve = (Vec<f64>, Vec<f64>);

fn curve(title: &str, y: &str, curves: &[(&str, Curve)]) -> Block {
    let chart = Chart::new(title, "row", y);
    Block::Chart(curves.iter().fold(chart, |chart, (name, (x, y))| chart.with(Series::line(*name, x, y))))
}

fn of_model(model: &mut Model, record: &Record) -> Vec<Block> {
    let totals = *model.totals();
    let share = totals.kept_energy / (totals.kept_energy + totals.loss);
    let mut tiles = vec![
        tile(totals.rows.to_string(), "rows", ""),
        tile(format!("{:.1} %", 100.0 * share), "of the energy kept", ""),
        tile(short(totals.expected_loss), "lost", ""),
    ];
    let mut blocks = Vec::new();
    let best = (model.length() <= LONGEST).then(|| model.interim_summary());
    if let Some(best) = best.as_ref().and_then(|summary| summary.best_loss) {
        tiles.push(tile(short(best.low()), "lost by the best fixed subspace", ""));
    }
    blocks.push(Block::Tiles(tiles));
    blocks.push(curve("Loss of a row", "squared units", &[("loss", record.rows.curve(0))]));
    blocks.push(curve("Mean loss so far", "squared units", &[("mean loss", record.totals.curve(0))]));
    blocks.push(curve("Share of the energy kept", "share", &[("kept", record.totals.curve(1))]));
    if let Some(summary) = best.filter(|summary| !summary.members.is_empty()) {
        let rows = summary
            .members
            .iter()
            .map(|member| vec![member.name.clone(), format!("{:.3}", member.weight), short(member.expected_loss)]);
        let columns = ["member", "weight", "lost"].map(str::to_owned).to_vec();
        blocks.push(Block::Table(Table { title: "Members".into(), columns, rows: rows.collect(), ..Table::default() }));
    }
    blocks.extend(loadings(model));
    blocks
}

/// Returns a heat map of the loadings.
fn loadings(model: &mut Model) -> Option<Block> {
    let names = model.columns().names.clone();
    let map = model.embedding().linear_map(names.as_deref())?;
    let width = map.mean.len().min(COLUMNS);
    let name = |j: usize| map.columns.as_ref().map_or_else(|| j.to_string(), |names| names[j].clone());
    let mut columns = vec!["column".to_owned()];
    columns.extend((0..map.components.len()).map(|i| format!("direction {i}")));
    let cells = |j: usize| map.components.iter().map(move |component| component[j]);
    let rows = (0..width).map(|j| std::iter::once(name(j)).chain(cells(j).map(|x| format!("{x:.3}"))).collect());
    let shades = (0..width).map(|j| std::iter::once(f64::NAN).chain(cells(j)).collect());
    let caption = "Entries of the directions that are most surely kept now.".to_owned();
    let table = Table {
        title: "Loadings".into(),
        columns,
        rows: rows.collect(),
        shades: shades.collect(),
        caption,
        exact: vec![],
    };
    Some(Block::Table(table))
}

fn of_models(fleet: &mut Fleet<Model>, record: &Record, rows: u64) -> Vec<Block> {
    let keys: Vec<String> = fleet.keys().take(KEYS).map(str::to_owned).collect();
    let mut table = Vec::new();
    for key in keys {
        let totals = fleet.with(&key, |model| Ok(*model.totals()));
        let Ok(totals) = totals else { continue };
        let share = totals.kept_energy / (totals.kept_energy + totals.loss);
        table.push(vec![key, totals.rows.to_string(), short(totals.expected_loss), format!("{:.1} %", 100.0 * share)]);
    }
    let columns = ["key", "rows", "lost", "energy kept"].map(str::to_owned).to_vec();
    vec![
        Block::Tiles(vec![tile(rows.to_string(), "rows", ""), tile(fleet.keys().len().to_string(), "keys", "")]),
        curve("Loss of a row", "squared units", &[("loss", record.rows.curve(0))]),
        Block::Table(Table { title: "Keys".into(), columns, rows: table, ..Table::default() }),
    ]
}

fn of_monitors(fleet: &mut Fleet<Monitor>, record: &Record, notices: &[&Notice]) -> Vec<Block> {
    let keys: Vec<String> = fleet.keys().map(str::to_owned).collect();
    let mut totals = MonitorTotals::default();
    let (mut in_drift, mut table, mut limit) = (0, Vec::new(), None);
    for key in &keys {
        let _ = fleet.with(key, |monitor| {
            totals.add_since(&MonitorTotals::default(), &monitor.totals());
            in_drift += usize::from(monitor.open_drift().is_some());
            limit = limit.or(monitor.limit());
            if !key.is_empty() && table.len() < KEYS {
                let since = monitor.open_drift().map_or(String::new(), |drift| drift.since.to_string());
                table.push(vec![
                    key.clone(),
                    monitor.totals().rows.to_string(),
                    monitor.totals().alarms.to_string(),
                    since,
                ]);
            }
            Ok(())
        });
    }
    let state = if totals.scored == 0 {
        "warming up"
    } else if in_drift > 0 {
        "drift"
    } else {
        "normal"
    };
    let mut blocks = vec![
        Block::Tiles(vec![
            tile(state.to_owned(), "state", if in_drift > 0 { "drift" } else { "" }),
            tile(totals.rows.to_string(), "rows", ""),
            tile(totals.alarms.to_string(), "alarms", if totals.alarms > 0 { "alarm" } else { "" }),
            tile(totals.drifts.to_string(), "drifts", ""),
            tile(totals.changes.to_string(), "changes", ""),
        ]),
        curve("Score of a row", "score", &[("score", record.rows.curve(0)), ("limit", record.rows.curve(1))]),
    ];
    if keys.len() > 1 {
        let columns = ["key", "rows", "alarms", "in drift since"].map(str::to_owned).to_vec();
        blocks.push(Block::Table(Table { title: "Keys".into(), columns, rows: table, ..Table::default() }));
    }
    let columns = ["row", "time", "what", "key", "score", "causes"].map(str::to_owned).to_vec();
    let rows = notices.iter().rev().map(|notice| {
        let causes: Vec<String> =
            notice.causes.iter().map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
        let score = notice.score.map_or(String::new(), short);
        vec![
            notice.row.to_string(),
            notice.time.clone(),
            notice.kind.clone(),
            notice.key.clone(),
            score,
            causes.join(", "),
        ]
    });
    blocks.push(Block::Table(Table { title: "Events".into(), columns, rows: rows.collect(), ..Table::default() }));
    blocks
}
