//! One-line description of how a table was read.

use crate::columns::Columns;
use crate::format::Format;
use crate::layout::Layout;
use crate::reading::{Reading, TwoStates};

const LISTED: usize = 8;

/// Describes the detected properties of a table, or returns `None` for plain comma-separated numbers.
pub(crate) fn read_as(layout: &Layout, reading: &Reading, columns: &Columns) -> Option<String> {
    let signs = reading.signs;
    let is_split = layout.format == Format::Csv && columns.count > 1;
    let has_delimiter = is_split && layout.delimiter.is_none() && signs.delimiter != b',';
    let groups = if signs.decimal == b',' { "points" } else { "commas" };
    let skipped = || format!("the first {} before the header skipped", counted(reading.skipped, "line"));
    let units = || format!("units in line {}", reading.first_line.saturating_sub(reading.unit_lines));
    let has_units = reading.cell_units.iter().any(|unit| !unit.is_empty());
    let parts = [
        reading.sheet.as_ref().filter(|_| layout.sheet.is_none()).map(|sheet| format!("sheet {sheet}")),
        has_delimiter.then(|| format!("delimiter {}", spelled(signs.delimiter))),
        (layout.decimal.is_none() && signs.decimal == b',').then(|| "decimal comma".to_owned()),
        (layout.thousands.is_none() && reading.has_groups).then(|| format!("thousands {groups}")),
        (layout.skip_lines.is_none() && reading.skipped > 0).then(skipped),
        (reading.unit_lines > 0).then(units),
        has_units.then(|| "units in the cells".to_owned()),
        reading.is_recoded.then(|| "Windows-1252".to_owned()),
        layout.pivot.as_ref().map(|pivot| format!("long, a column of each {}", pivot.tag)),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    if let Some(position) = reading.time {
        let format = reading.time_format.as_ref().filter(|_| layout.time_format.is_none());
        let form = format.map_or(String::new(), |format| format!(" ({})", format.words()));
        if layout.time.is_none() || format.is_some_and(|format| !format.is_usual()) {
            let clock = reading.clock.map_or(String::new(), |clock| format!(" and {}", columns.typed(clock)));
            parts.push(format!("time = {}{clock}{form}", columns.typed(position)));
        }
    }
    if parts.is_empty() && reading.left_out.is_empty() && reading.states.is_empty() {
        return None;
    }
    let (count, kind) = (columns.features().len(), if columns.text.is_some() { "text" } else { "number" });
    parts.push(format!("{count} {} of {kind}s", if count == 1 { "column" } else { "columns" }));
    if !reading.states.is_empty() {
        let state =
            |state: &TwoStates| format!("{} ({}, {})", columns.typed(state.position), state.words[0], state.words[1]);
        let shown: Vec<String> = reading.states.iter().take(LISTED).map(state).collect();
        parts.push(format!("{} with words as 0 and 1: {}", reading.states.len(), shown.join(", ")));
    }
    if !reading.left_out.is_empty() {
        parts.push(format!("{} left out: {}", reading.left_out.len(), listed(columns, &reading.left_out)));
    }
    Some(parts.join(", "))
}

fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("{count} {noun}") } else { format!("{count} {noun}s") }
}

fn listed(columns: &Columns, positions: &[usize]) -> String {
    let name = |position: &usize| match columns.typed(*position) {
        none if none.is_empty() => format!("column {position}"),
        name => name,
    };
    let names: Vec<String> = positions.iter().take(LISTED).map(name).collect();
    let more = positions.len() - names.len();
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

pub(crate) fn spelled(sign: u8) -> String {
    if sign == b'\t' { "tab".to_owned() } else { format!("{:?}", char::from(sign).to_string()) }
}
