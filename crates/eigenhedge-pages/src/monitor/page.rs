//! HTML pages of one monitor and of a fleet of monitors.

use super::headline::{causes, headline, state};
use super::occurrence::Occurrence;
use super::record::Record;
use super::track::Track;
use super::{Facts, Journal, summary};
use crate::file_name;
use crate::number::counted;
use crate::page::{Block, Page, Section, Table, Tile};
use eigenhedge_io::printable;
use std::cmp::Ordering;
use std::collections::BTreeSet;

const LINES: usize = 300;

pub enum Inside<'a> {
    All,
    /// Contents only of the sections with these anchors, and at most 300 keys.
    Open(&'a BTreeSet<String>),
}

pub fn page(journal: &Journal, facts: &Facts, inside: &Inside<'_>) -> Page {
    let listed = journal.listed_now(&facts.columns);
    let listed: Vec<&Occurrence> = listed.iter().collect();
    let mut blocks = vec![Block::Tiles(tiles(journal, facts))];
    if let Some(column) = &facts.by {
        blocks.extend(fleet(journal, facts, &listed, column, inside));
    } else {
        let record = journal.records.as_ref().and_then(|records| records.get(0));
        let time = facts.time.as_deref();
        blocks.extend(record.into_iter().flat_map(|record| record.blocks(&facts.columns, time, &listed, true)));
        blocks.push(numbers(journal, facts));
    }
    let by = facts.by.as_ref().map_or(String::new(), |column| format!(" by {column}"));
    let mut summary = state(journal, facts, &listed);
    let header = facts.first_line.map_or(String::new(), |line| format!(": row 0 is line {line} of the file"));
    summary.push(format!("Rows are counted from 0{header}."));
    Page {
        title: file_name(&facts.source).to_owned(),
        subtitle: format!("eigenhedge monitor: {}{by}", counted(journal.rows, "row")),
        summary,
        blocks,
    }
}

fn fleet(journal: &Journal, facts: &Facts, all: &[&Occurrence], column: &str, inside: &Inside<'_>) -> Vec<Block> {
    // Keys with the worst open incident come first, then those with the most incidents.
    let mut order: Vec<usize> = (0..journal.tracks.len()).collect();
    let rank = |i: usize| {
        let track = &journal.tracks[i];
        (track.reported().map_or(-1.0, |incident| incident.severity), track.in_table.incidents, track.in_table.alarms)
    };
    order.sort_by(|a, b| rank(*b).partial_cmp(&rank(*a)).unwrap_or(Ordering::Equal));
    if let Inside::Open(_) = inside {
        order.truncate(LINES);
    }
    let columns = [column, "state", "score", "alarms", "incidents", "last causes", "rows"];
    let title = "Keys, those with the worst open incident and the most incidents first".into();
    let mut overview = Table { title, columns: columns.map(str::to_owned).to_vec(), ..Table::default() };
    let mut sections = Vec::new();
    for i in &order {
        let track = &journal.tracks[*i];
        let listed: Vec<&Occurrence> = all.iter().copied().filter(|one| one.key == track.key).collect();
        let last = listed.iter().rev().find(|one| !one.causes.is_empty()).map_or(String::new(), |one| causes(one));
        let [alarms, incidents, rows] =
            [track.in_table.alarms, track.in_table.incidents, track.in_table.rows].map(|count| count.to_string());
        let (name, state) = (printable(&track.key), state_of(track).to_owned());
        overview.rows.push(vec![name.clone(), state, String::new(), alarms, incidents, last, rows]);
        let record = journal.records.as_ref().and_then(|records| records.get(*i));
        overview.sparks.push(record.map(Record::scores).unwrap_or_default());
        overview.links.push(record.map_or(String::new(), |_| format!("key-{i}")));
        if let Some(record) = record {
            let place = format!("key-{i}");
            let blocks = match inside {
                Inside::Open(open) if !open.contains(&place) => Vec::new(),
                _ => record.blocks(&facts.columns, facts.time.as_deref(), &listed, false),
            };
            let title = format!("{name}: {}", headline(facts, track, &listed).join(" "));
            sections.push(Block::Section(Section { place, title, blocks }));
        }
    }
    let (unlisted, without) = (journal.tracks.len() - order.len(), order.len() - sections.len());
    let unlisted = if unlisted > 0 { format!(" {unlisted} more keys are not listed.") } else { String::new() };
    let left_out = if without > 0 { format!(" {without} keys that came later have no charts.") } else { String::new() };
    overview.caption = format!(
        "Click a name to see its charts. The small chart shows the score; red points are alarms.{left_out}{unlisted}"
    );
    std::iter::once(Block::Table(overview)).chain(sections).collect()
}

fn numbers(journal: &Journal, facts: &Facts) -> Block {
    let columns = vec!["what".into(), "value".into()];
    let table = Table { columns, rows: summary::entries(&summary::text(journal, facts)), ..Table::default() };
    let (title, blocks) = ("Summary in numbers".into(), vec![Block::Table(table)]);
    Block::Section(Section { title, blocks, ..Section::default() })
}

fn tiles(journal: &Journal, facts: &Facts) -> Vec<Tile> {
    let totals = &journal.totals;
    let tile = |value: u64, label: String, tone: &'static str| Tile {
        value: value.to_string(),
        label,
        tone: if value > 0 { tone } else { "" },
        ..Tile::default()
    };
    let share = 100.0 * totals.alarms as f64 / totals.scored.max(1) as f64;
    let (asked, events) = (100.0 * facts.limit.rate(), counted(totals.events, "event"));
    vec![
        tile(totals.incidents, if totals.incidents == 1 { "incident" } else { "incidents" }.into(), "drift"),
        tile(totals.alarms, format!("alarms in {events}: {share:.2} % of the rows, {asked} % asked"), "alarm"),
        tile(totals.scored, "rows with a score".into(), ""),
        tile(totals.changes, "changes of the level of the score".into(), ""),
    ]
}

fn state_of(track: &Track) -> &'static str {
    match track {
        Track { is_ready: false, .. } => "too few rows",
        _ if track.reported().is_some() => "incident",
        _ => "normal",
    }
}
