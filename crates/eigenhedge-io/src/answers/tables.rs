//! Output columns and cells for the result of a learner and for the verdict of a monitor on a row.

use super::{Cell, CellKind, Column, number_columns};
use eigenhedge::{Loss, Verdict};

/// Returns the output columns of a learner that keeps `k` directions, with the `copied` columns.
pub fn answer_columns(copied: &[String], k: usize) -> Vec<Column> {
    let numbers = ["expected_loss", "loss"].map(str::to_owned).into_iter().chain((0..k).map(|i| format!("z{i}")));
    let texts = copied.iter().map(|name| (name.clone(), CellKind::Text));
    let row = ("row".to_owned(), CellKind::Whole);
    std::iter::once(row).chain(texts).chain(numbers.map(|name| (name, CellKind::Number))).collect()
}

/// Returns the cells for the loss and the coordinates of the row with index `row`. `texts` contains its copied cells.
pub fn answer_cells<'a>(row: u64, texts: &'a [String], loss: Loss, coordinates: &[f64]) -> Vec<Cell<'a>> {
    let numbers = [loss.expected, loss.realised].into_iter().chain(coordinates.iter().copied());
    let texts = texts.iter().map(|text| Cell::Text(text));
    std::iter::once(Cell::Whole(Some(row))).chain(texts).chain(numbers.map(Cell::Number)).collect()
}

/// Returns the columns of a table with filled-in cells. The last one names the columns that were filled in.
pub fn filled_columns(copied: &[String], columns: &[String]) -> Vec<Column> {
    let texts = copied.iter().map(|name| (name.clone(), CellKind::Text));
    texts.chain(number_columns(columns)).chain([("filled".to_owned(), CellKind::Text)]).collect()
}

/// Returns the names of the columns in which the row is NaN, separated by spaces.
pub fn filled_names(row: &[f64], columns: &[String]) -> String {
    let missing = row.iter().zip(columns).filter(|(x, _)| x.is_nan()).map(|(_, name)| name.as_str());
    missing.collect::<Vec<_>>().join(" ")
}

/// Returns the cells of a filled row. `texts` contains its copied cells, and `names` the names of the filled columns.
pub fn filled_cells<'a>(texts: &'a [String], row: &[f64], names: &'a str) -> Vec<Cell<'a>> {
    let texts = texts.iter().map(|text| Cell::Text(text));
    texts.chain(row.iter().copied().map(Cell::Number)).chain([Cell::Text(names)]).collect()
}

/// Number of causes per verdict: input columns with their shares of the squared deviations.
pub const CAUSES: usize = 3;

/// Returns the columns for the causes: the name of each cause and its share.
pub fn cause_columns() -> impl Iterator<Item = Column> {
    (1..=CAUSES).flat_map(|i| [(format!("cause_{i}"), CellKind::Text), (format!("share_{i}"), CellKind::Number)])
}

/// Returns the output columns of a monitor. `kept` contains the names of the copied columns.
pub fn verdict_columns(kept: &[String]) -> Vec<Column> {
    let mut columns = vec![("row".to_owned(), CellKind::Whole)];
    columns.extend(kept.iter().map(|name| (name.clone(), CellKind::Text)));
    columns.extend(["score", "q", "t2", "limit"].map(|name| (name.to_owned(), CellKind::Number)));
    columns.push(("alarm".to_owned(), CellKind::Whole));
    columns.push(("state".to_owned(), CellKind::Text));
    columns.extend(["incident", "change"].map(|name| (name.to_owned(), CellKind::Whole)));
    columns.extend(cause_columns());
    columns
}

/// Returns the cells for a verdict. `texts` are the copied cells of the row, and `names` those of the input columns.
pub fn verdict_cells<'a>(verdict: &Verdict, texts: &'a [String], names: &'a [String]) -> Vec<Cell<'a>> {
    let mut cells = vec![Cell::Whole(Some(verdict.row))];
    cells.extend(texts.iter().map(|text| Cell::Text(text)));
    cells.extend([verdict.score, verdict.q, verdict.t2, verdict.limit].map(Cell::Number));
    cells.push(Cell::Whole(Some(u64::from(verdict.alarm))));
    cells.push(Cell::Text(verdict.state().name()));
    cells.push(Cell::Whole(verdict.incident));
    cells.push(Cell::Whole(verdict.change.as_ref().map(|change| change.start)));
    for i in 0..CAUSES {
        let cause = verdict.causes.get(i).copied().flatten();
        let name = cause.and_then(|cause| names.get(cause.column)).map_or("", String::as_str);
        cells.extend([Cell::Text(name), Cell::Number(cause.map_or(f64::NAN, |cause| cause.share))]);
    }
    cells
}
