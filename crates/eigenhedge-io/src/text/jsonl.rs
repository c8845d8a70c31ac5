//! JSON lines. The first line determines whether rows are arrays or objects, and the first lines determine the columns.
//! A key that a later object lacks is a missing cell. A new key makes a bad row, unless columns are selected or given
//! by a model. True and false are 1 and 0. The keys of an object inside an object become columns such as `pump.flow`.

use super::cells::CellStyle;
use super::line_reader::{LineParser, LineReader, LineTable};
use crate::reader::{Columns, Error, Fault, InputSource, Layout, OnBadRow, Opened, Row, allow_columns, quoted, shown};
use crate::time_format::{Found, TimeFormat, names_time};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as _, Deserializer as _};
use std::collections::{HashMap, HashSet};
use std::fmt;

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
                if first.is_object {
                    first.join_later(&head);
                    first.join_absent(layout.model_columns.as_deref().unwrap_or_default());
                }
                allow_columns(input, first.columns.len() as u128)?;
                let names: Option<Vec<String>> =
                    first.is_object.then(|| first.columns.iter().map(|(name, ..)| name.clone()).collect());
                // A column with only texts for missing numbers such as `NaN` in its first lines is a text column.
                let holds_text =
                    |column: usize| matches!(first.columns[column].1, Cell::Text | Cell::Nested | Cell::Sign);
                let is_time = |column: usize| {
                    let (name, _, texts) = &first.columns[column];
                    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                    match TimeFormat::find(&texts) {
                        Found::Format(format) if format.is_number() => {
                            names_time(name) && format.is_clock(&texts, Some(name)) && !layout.is_of_model(name)
                        }
                        found => holds_text(column) && found != Found::Nothing,
                    }
                };
                Columns::choose_with_time(input, layout, names, first.columns.len(), holds_text, is_time)?
            }
        };
        let keys_of = |names: &Vec<String>| names.iter().cloned().zip(0..).collect::<HashMap<String, usize>>();
        let keys = columns.names.as_ref().map(keys_of);
        if let (Some(keys), Some(names)) = (&keys, &columns.names)
            && let Some((name, _)) = names.iter().zip(0..).find(|(name, i)| keys[*name] != *i)
        {
            return Err(Error::at(lines.place(), twice_key(name)));
        }
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
        Ok(Opened::new(LineTable { lines, parser }, columns))
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

#[derive(Default)]
struct Cells {
    values: Vec<Cell>,
    texts: Vec<(usize, String)>,
    fault: Option<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell {
    Number(f64),
    Absent,
    Null,
    /// Text that marks a missing number, such as `NaN`.
    Sign,
    Text,
    Nested,
}

impl Cell {
    fn describe(self) -> String {
        let text = match self {
            Self::Number(value) => return format!("{value}"),
            Self::Absent => "nothing",
            Self::Null => "null",
            Self::Sign => "a sign for a missing number",
            Self::Text => "a text",
            Self::Nested => "an array or object",
        };
        text.to_owned()
    }

    fn is_missing(self) -> bool {
        matches!(self, Self::Absent | Self::Null | Self::Sign)
    }

    fn is_other_type(self) -> bool {
        matches!(self, Self::Text | Self::Nested)
    }
}

impl Cells {
    fn text(&mut self, column: Option<usize>) -> Option<&mut String> {
        self.texts.iter_mut().find(|(kept, _)| Some(*kept) == column).map(|(_, text)| text)
    }
}

fn twice_key(key: &str) -> Fault {
    Fault::Row(format!("the key {} must stand in an object once, not twice", quoted(key)))
}

fn parse<'a>(line: &'a [u8], visitor: impl Visitor<'a, Value = ()>) -> Result<(), Fault> {
    let mut source = serde_json::Deserializer::from_slice(line);
    let outcome = source.deserialize_any(visitor).and_then(|()| source.end());
    outcome.map_err(|error| {
        let text = error.to_string();
        let end = text.find(" at line ").unwrap_or(text.len());
        let reason = format!("{} after {} characters, got {}", &text[..end], error.column(), shown(line));
        Fault::Row(format!("must be a JSON array or object: {reason}"))
    })
}

/// Names, cells and texts of the columns in the first lines. Missing cells have no texts, and arrays no names.
#[derive(Default)]
struct First {
    is_object: bool,
    columns: Vec<(String, Cell, Vec<String>)>,
}

impl First {
    fn push(&mut self, name: String, cell: Cell, text: String) {
        self.columns.push((name, cell, if cell.is_missing() { Vec::new() } else { vec![text] }));
    }

    fn join_later(&mut self, head: &[u8]) {
        let mut places: HashMap<String, usize> = self.columns.iter().map(|(name, ..)| name.clone()).zip(0..).collect();
        let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        for line in lines.skip(1) {
            let mut later = Self::default();
            if parse(line, FirstRow(&mut later, String::new())).is_err() || !later.is_object {
                continue;
            }
            for (name, cell, texts) in later.columns {
                let place = *places.entry(name.clone()).or_insert(self.columns.len());
                match self.columns.get_mut(place) {
                    Some((_, known, all)) => {
                        *known = if known.is_missing() { cell } else { *known };
                        all.extend(texts);
                    }
                    None => self.columns.push((name, cell, texts)),
                }
            }
        }
    }

    /// Adds the columns of a model that are not keys in the first lines, unless none of them is a key.
    fn join_absent(&mut self, model: &[String]) {
        let found: HashSet<String> = self.columns.iter().map(|(name, ..)| name.clone()).collect();
        let absent = model.iter().filter(|name| !found.contains(*name)).cloned();
        if model.iter().any(|name| found.contains(name)) {
            self.columns.extend(absent.map(|name| (name, Cell::Absent, Vec::new())));
        }
    }
}

/// Visitor of the first row, or of an object in it whose keys have a prefix such as `pump.`.
struct FirstRow<'a>(&'a mut First, String);

impl<'de> Visitor<'de> for FirstRow<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<(), A::Error> {
        let mut text = String::new();
        while let Some(cell) = cells.next_element_seed(AnyCell(Some(&mut text), None::<Self>))? {
            self.0.push(String::new(), cell, std::mem::take(&mut text));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut cells: A) -> Result<(), A::Error> {
        self.0.is_object = true;
        while let Some(name) = cells.next_key::<String>()? {
            let name = self.1.clone() + &name;
            let mut text = String::new();
            let inner = FirstRow(self.0, name.clone() + ".");
            let cell = cells.next_value_seed(AnyCell(Some(&mut text), Some(inner)))?;
            if cell != Cell::Absent {
                self.0.push(name, cell, text);
            }
        }
        Ok(())
    }
}

struct RowCells<'a> {
    cells: &'a mut Cells,
    keys: Option<&'a HashMap<String, usize>>,
    lenient: bool,
    outer: String,
}

impl<'de> Visitor<'de> for RowCells<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<(), A::Error> {
        if self.keys.is_some() {
            self.cells.fault = Some(Fault::Row("must be an object like the first row, got an array".to_owned()));
        }
        let mut found = 0;
        while let Some(cell) = cells.next_element_seed(AnyCell(self.cells.text(Some(found)), None::<RowCells<'_>>))? {
            if let Some(value) = self.cells.values.get_mut(found) {
                *value = cell;
            }
            found += 1;
        }
        let expected = self.cells.values.len();
        if found != expected {
            let reason = format!("must have {expected} cells like the first row, got {found}");
            self.cells.fault.get_or_insert(Fault::Row(reason));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut cells: A) -> Result<(), A::Error> {
        if self.keys.is_none() {
            self.cells.fault = Some(Fault::Row("must be an array like the first row, got an object".to_owned()));
        }
        while let Some(position) = cells.next_key_seed(Key(self.keys, &self.outer))? {
            match position {
                Ok(position) => {
                    let cell = cells.next_value_seed(AnyCell(self.cells.text(Some(position)), None::<RowCells<'_>>))?;
                    if self.cells.values[position] != Cell::Absent {
                        let key = self.keys.and_then(|keys| keys.iter().find(|(_, at)| **at == position));
                        self.cells.fault.get_or_insert(twice_key(key.map_or("", |(key, _)| key)));
                    }
                    self.cells.values[position] = cell;
                }
                Err(key) => {
                    let (keys, lenient) = (self.keys, self.lenient);
                    let inner = RowCells { cells: &mut *self.cells, keys, lenient, outer: key.clone() + "." };
                    let cell = cells.next_value_seed(AnyCell(None, Some(inner)))?;
                    if cell != Cell::Absent && !lenient {
                        let rest = "must be in one of the first rows too; --columns would leave it out";
                        self.cells.fault.get_or_insert(Fault::Row(format!("the key {} {rest}", quoted(&key))));
                    }
                }
            }
        }
        Ok(())
    }
}

struct Key<'a>(Option<&'a HashMap<String, usize>>, &'a str);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Result<usize, String>;

    fn deserialize<D: de::Deserializer<'de>>(self, source: D) -> Result<Self::Value, D::Error> {
        source.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Result<usize, String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        let find = |key: &str| self.0.and_then(|keys| keys.get(key)).copied().ok_or_else(|| key.to_owned());
        Ok(if self.1.is_empty() { find(key) } else { find(&format!("{}{key}", self.1)) })
    }
}

/// Deserializer of a cell, and of its text if the column is copied. The visitor, if any, reads keys as columns.
struct AnyCell<'a, V>(Option<&'a mut String>, Option<V>);

impl<V> AnyCell<'_, V> {
    fn write(self, text: impl fmt::Display) {
        if let Some(out) = self.0 {
            *out = text.to_string();
        }
    }
}

impl<'de, V: Visitor<'de, Value = ()>> DeserializeSeed<'de> for AnyCell<'_, V> {
    type Value = Cell;

    fn deserialize<D: de::Deserializer<'de>>(self, source: D) -> Result<Cell, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de, V: Visitor<'de, Value = ()>> Visitor<'de> for AnyCell<'_, V> {
    type Value = Cell;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Cell, E> {
        self.write(format_args!("{value:?}"));
        Ok(Cell::Number(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Cell, E> {
        self.write(value);
        Ok(Cell::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Cell, E> {
        self.write(value);
        Ok(Cell::Number(value as f64))
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Cell, E> {
        self.write(value);
        Ok(Cell::Number(f64::from(u8::from(value))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cell, E> {
        self.write(text);
        let style = CellStyle::default();
        Ok(match style.number_of_text(text) {
            Some(number) if number.is_finite() => Cell::Number(number),
            _ if style.is_missing(text.as_bytes()) => Cell::Sign,
            _ => Cell::Text,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<Cell, A::Error> {
        if self.0.is_some() {
            let items = Vec::<serde_json::Value>::deserialize(SeqAccessDeserializer::new(cells))?;
            self.write(serde_json::Value::Array(items));
        } else {
            while cells.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(Cell::Nested)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut cells: A) -> Result<Cell, A::Error> {
        if let Some(columns) = self.1 {
            return columns.visit_map(cells).map(|()| Cell::Absent);
        }
        while cells.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cell::Nested)
    }
}
