//! The answer of a monitor to a row, with the columns of the command line.

use crate::service::shape::Shape;
use eigenhedge::Verdict;
use eigenhedge_io::{Cell, CellKind, json_cells};

/// Causes in each row of answers.
pub const CAUSES: usize = 3;

/// Columns of the answers of monitors.
pub fn columns(shape: &Shape) -> Vec<(String, CellKind)> {
    let mut columns = vec![("row".to_owned(), CellKind::Whole)];
    columns.extend(shape.kept.iter().map(|name| (name.clone(), CellKind::Text)));
    columns.extend(["score", "q", "t2", "limit"].map(|name| (name.to_owned(), CellKind::Number)));
    columns.push(("alarm".to_owned(), CellKind::Whole));
    columns.push(("state".to_owned(), CellKind::Text));
    columns.extend(["drift_since", "change"].map(|name| (name.to_owned(), CellKind::Whole)));
    let pair = |i| [(format!("cause_{i}"), CellKind::Text), (format!("share_{i}"), CellKind::Number)];
    columns.extend((1..=CAUSES).flat_map(pair));
    columns
}

/// Appends the answer to a row.
pub fn write(columns: &[(String, CellKind)], verdict: &Verdict, texts: &[String], names: &[String], out: &mut Vec<u8>) {
    let mut cells = vec![Cell::Whole(Some(verdict.row))];
    cells.extend(texts.iter().map(|text| Cell::Text(text)));
    cells.extend([verdict.score, verdict.q, verdict.t2, verdict.limit].map(Cell::Number));
    cells.push(Cell::Whole(Some(u64::from(verdict.alarm))));
    cells.push(Cell::Text(verdict.state().name()));
    cells.push(Cell::Whole(verdict.drift_since));
    cells.push(Cell::Whole(verdict.change.map(|change| change.start)));
    for i in 0..CAUSES {
        let cause = verdict.causes.get(i).copied().flatten();
        let name = cause.and_then(|cause| names.get(cause.column)).map_or("", String::as_str);
        cells.extend([Cell::Text(name), Cell::Number(cause.map_or(f64::NAN, |cause| cause.share))]);
    }
    json_cells(columns, &cells, out);
}
