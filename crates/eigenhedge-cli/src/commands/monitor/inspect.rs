//! `inspect` for files that contain monitors.

use crate::files::{kind_of, read_monitor};
use anyhow::Result;
use eigenhedge::{Monitor, SavedKind};
use eigenhedge_io::{open_fleet, printable};
use eigenhedge_pages::counted;
use eigenhedge_pages::monitor::{Track, limit_in_words, monitor_json};
use eigenhedge_pages::number::readable;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

pub fn inspect(path: &Path, as_json: bool) -> Result<String> {
    let mut tracks = Vec::new();
    let first = if kind_of(path)? == SavedKind::Monitors {
        let (mut fleet, _) = open_fleet::<Monitor>(path, usize::MAX)?;
        let keys: Vec<String> = fleet.keys().map(str::to_owned).collect();
        for key in &keys {
            tracks.extend(fleet.get(key)?.map(|monitor| Track::of(key, &monitor)));
        }
        fleet.fresh().clone()
    } else {
        let monitor = read_monitor(path)?;
        tracks.push(Track::of("", &monitor));
        monitor
    };
    let names = first.columns().names.as_deref().unwrap_or_default();
    if as_json {
        let monitors: Vec<Value> = tracks.iter().map(monitor_json).collect();
        let object = json!({ "monitors": monitors, "options": first.options(), "columns": names });
        return Ok(serde_json::to_string_pretty(&object)? + "\n");
    }
    let mut text = String::new();
    for Track { key, totals, directions, limit, .. } in &tracks {
        let key = if key.is_empty() { "monitor".to_owned() } else { printable(key) };
        let state = match (directions, limit) {
            (Some(directions), Some(limit)) => {
                format!("{}, limit {}", counted(*directions as u64, "direction"), readable(*limit))
            }
            _ => "still warming up".to_owned(),
        };
        let rows = counted(totals.rows, "row");
        let (alarms, events) = (counted(totals.alarms, "alarm"), counted(totals.events, "event"));
        let changes = counted(totals.changes, "change");
        writeln!(text, "{key:<11}{rows}; {state}; {alarms} in {events}, {changes}")?;
    }
    let limit = first.options().limit;
    writeln!(text, "{:<11}{} ({limit})", "limit", limit_in_words(limit))?;
    if !names.is_empty() {
        writeln!(text, "{:<11}{}", "columns", printable(&names.join(", ")))?;
    }
    Ok(text)
}
