//! JSON lines. The first line determines whether rows are arrays or objects, and the first lines determine the columns.
//! A key that a later object lacks is a missing cell. A new key makes a bad row, unless columns are selected or given
//! by a model. True and false are 1 and 0. The keys of an object inside an object become columns such as `pump.flow`.

use super::json_row::{Cell, Cells, First, FirstRow, RowCells, parse, twice_key};
use super::line_reader::{LineParser, LineReader, LineTable};
use crate::columns::{Columns, allow_columns};
use crate::error::{Error, Fault};
use crate::input_source::InputSource;
use crate::layout::{Layout, OnBadRow};
use crate::reader::{Opened, Row};
use crate::time_format::{Found, TimeFormat, names_time};
use std::collections::HashMap;

pub struct Jsonl {
    columns: Columns,
    cells: Cells,
    keys: Option<HashMap<String, usize>>,
    lenient: bool,
    judges_columns: bool,
    fills: bool,
}

impl Jsonl {
    pub fn open(input: &InputSource, layout: &Layout, like: Option<&Columns>) -> Result<Opened, Error> {
        let (mut lines, head) = LineReader::open_peeked(input)?;
        if !lines.advance()? {
            return Err(input.fault(Fault::Empty));
        }
        let columns = match like {
            Some(like) => like.clone(),
            None => {
                let mut first = First::default();
                let parsed = parse(lines.line(), FirstRow(&mut first, String::new()));
                parsed.map_err(|fault| Error::at(lines.place(), fault))?;
                if first.names.is_some() {
                    first.join_later(&head);
                    first.join_absent(layout.model_columns.as_deref().unwrap_or_default());
                }
                allow_columns(input, first.cells.len() as u128)?;
                // A column with only texts for missing numbers such as `NaN` in its first lines is a text column.
                let holds_text =
                    |column: usize| first.cells[column].is_other_type() || first.cells[column] == Cell::Sign;
                let is_time = |column: usize| {
                    let texts: Vec<&str> = first.texts[column].iter().map(String::as_str).collect();
                    let name = first.names.as_ref().map(|names| names[column].as_str());
                    match TimeFormat::find(&texts) {
                        Found::Format(format) if format.is_number() => {
                            let is_of_model = layout.model_columns.as_ref().zip(name);
                            let is_of_model =
                                is_of_model.is_some_and(|(model, name)| model.iter().any(|one| one == name));
                            name.is_some_and(names_time) && format.is_clock(&texts, name) && !is_of_model
                        }
                        found => holds_text(column) && found != Found::Nothing,
                    }
                };
                Columns::choose_with_time(input, layout, first.names.clone(), first.cells.len(), holds_text, is_time)?
            }
        };
        let keys = match &columns.names {
            None => None,
            Some(names) => {
                let keys: HashMap<String, usize> = names.iter().cloned().zip(0..).collect();
                if keys.len() < names.len() {
                    let twice = (0..names.len()).find(|i| keys[&names[*i]] != *i).map_or("", |i| &names[i]);
                    return Err(Error::at(lines.place(), twice_key(twice)));
                }
                Some(keys)
            }
        };
        lines.hold();
        let parser = Self {
            columns: columns.clone(),
            cells: Cells {
                values: vec![Cell::Absent; columns.count],
                texts: columns.kept.iter().map(|column| (*column, String::new())).collect(),
                fault: None,
            },
            keys,
            lenient: !layout.columns.is_empty() || layout.model_columns.is_some(),
            judges_columns: layout.on_bad_row == OnBadRow::Fail,
            fills: layout.fills(),
        };
        Ok(Opened { reader: Box::new(LineTable { lines, parser }), columns })
    }

    fn bad_cell(&self, lines: &LineReader, column: usize) -> Error {
        let cells = &self.cells.values;
        if lines.rows == 1 && self.judges_columns && cells[column].is_other_type() {
            let others = self.columns.selected.iter().filter(|column| cells[**column].is_other_type());
            let bad: Vec<(usize, String)> = others.map(|column| (*column, cells[*column].describe())).collect();
            return self.columns.not_numeric(&lines.place().to_string(), &bad, (false, false), None, "");
        }
        let fault = Fault::cell(cells[column].describe(), cells[column].is_missing());
        self.columns.at(lines.place(), column, fault)
    }
}

impl LineParser for Jsonl {
    fn parse(&mut self, lines: &LineReader, row: &mut Row) -> Result<(), Error> {
        let numbers = row.cleared();
        self.cells.values.fill(Cell::Absent);
        self.cells.texts.iter_mut().for_each(|(_, text)| text.clear());
        self.cells.fault = None;
        let (keys, lenient) = (self.keys.as_ref(), self.lenient);
        let visitor = RowCells { cells: &mut self.cells, keys, lenient, outer: String::new() };
        parse(lines.line(), visitor).map_err(|fault| Error::at(lines.place(), fault))?;
        if let Some(fault) = self.cells.fault.take() {
            return Err(Error::at(lines.place(), fault));
        }
        for &column in &self.columns.selected {
            match self.cells.values[column] {
                Cell::Number(value) if value.is_finite() => numbers.push(value),
                cell if self.fills && cell.is_missing() => numbers.push(f64::NAN),
                _ => return Err(self.bad_cell(lines, column)),
            }
        }
        row.kept.extend(self.cells.texts.iter().map(|(_, text)| text.clone()));
        Ok(())
    }
}
