//! One-line description of how a table was read.

use crate::columns::Columns;
use crate::format::Format;
use crate::layout::Layout;
use crate::reading::{Reading, TwoStates};

const LISTED: usize = 8;

/// Describes the detected properties of a table, or returns `None` for plain comma-separated numbers.
pub(crate) fn read_as(layout: &Layout, reading: &Reading, columns: &Columns) -> Option<String> {
    let mut parts = Vec::new();
    let is_split = layout.format == Format::Csv && columns.count > 1;
    if is_split && layout.delimiter.is_none() && reading.signs.delimiter != b',' {
        parts.push(format!("delimiter {}", spelled(reading.signs.delimiter)));
    }
    if layout.decimal.is_none() && reading.signs.decimal == b',' {
        parts.push("decimal comma".to_owned());
    }
    if let (None, Some(sheet)) = (&layout.sheet, &reading.sheet) {
        parts.insert(0, format!("sheet {sheet}"));
    }
    if layout.thousands.is_none() && reading.has_groups {
        parts.push(format!("thousands {}", if reading.signs.decimal == b',' { "points" } else { "commas" }));
    }
    if layout.skip_lines.is_none() && reading.skipped > 0 {
        parts.push(format!("the first {} before the header skipped", counted(reading.skipped, "line")));
    }
    if reading.unit_lines > 0 {
        let line = reading.first_line.saturating_sub(reading.unit_lines);
        parts.push(format!("units in line {line}"));
    }
    if reading.cell_units.iter().any(|unit| !unit.is_empty()) {
        parts.push("units in the cells".to_owned());
    }
    if reading.is_recoded {
        parts.push("Windows-1252".to_owned());
    }
    if let Some(pivot) = &layout.pivot {
        parts.push(format!("long, a column of each {}", pivot.tag));
    }
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
