//! Columns, header and times of a CSV table, determined from the first lines.
//!
//! **Header.** Without an option, the first line is a header if columns are selected by name, if it contains the column
//! names of a model, or if its selected cells contain a word and neither a number nor a time. Numbers that look like
//! labels, such as years above measurements, are an error.
//!
//! **Text.** If the table has a header, a column is left out if none of its cells in the first rows is a number. A
//! column of two words is read as 0 and 1 instead. Row counters, and the parts of a date such as year and month, are
//! also left out if no option selects, excludes or copies columns, and so are columns without values in at least
//! [`EMPTY_ROWS`] rows. Without a header, text is an error, unless [`Layout::only_numeric`] is set.

use super::cells::{CellStyle, decimal_sign, unquoted};
use super::contents::{Contents, MOST_UNIT_LINES};
use super::sniff::Look;
use crate::columns::{Columns, select};
use crate::error::{Error, Fault};
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reading::TwoStates;
use crate::recode::text_of;
use crate::selectors::free_columns;
use crate::time_format::{Found, TimeFormat};
use csv::ByteRecord;
use std::cmp::Ordering;

pub(super) const LIST: &str = " in the header";
const EMPTY_ROWS: usize = 5;

pub struct Settled {
    pub columns: Columns,
    pub has_header: bool,
    pub time_format: Option<TimeFormat>,
    pub unit_lines: u64,
    pub step: Option<f64>,
    pub wordy: Vec<usize>,
}

pub struct FirstLines<'a> {
    pub input: &'a InputSource,
    pub layout: &'a Layout,
    pub first: &'a ByteRecord,
    pub look: &'a Look,
    pub style: &'a CellStyle,
}

impl FirstLines<'_> {
    pub fn settle(&self, like: Option<&Columns>) -> Result<Settled, Error> {
        let names: Vec<String> = self.first.iter().map(|cell| unquoted(&text_of(cell)).to_owned()).collect();
        match like {
            Some(like) => self.settle_later(names, like),
            None => FirstLines { layout: &self.with_clock(&names), ..*self }.settle_first(names),
        }
    }

    fn settle_later(&self, names: Vec<String>, like: &Columns) -> Result<Settled, Error> {
        let fault = |fault| self.input.fault(fault);
        let count = names.len();
        let is_named = like.names.as_ref().is_some_and(|first| names.iter().all(|name| first.contains(name)));
        let is_wordy = |column: &usize| self.first.get(*column).is_some_and(|cell| self.style.is_word(cell));
        let is_number = |column: &usize| self.first.get(*column).is_some_and(|cell| self.has_number(cell));
        let is_header = || like.selected.iter().any(is_wordy) && !like.selected.iter().any(is_number);
        let has_header = self.layout.header.unwrap_or_else(|| is_named || is_header());
        let columns = if has_header {
            if like.names.is_none() {
                return Err(fault(Fault::Table("must have no header, like the first file".to_owned())));
            }
            like.of_later(names, self.layout, LIST).map_err(fault)?
        } else if like.count != count {
            return Err(fault(Fault::OtherWidth { expected: like.count, found: count }));
        } else {
            like.clone()
        };
        let unit_lines = if has_header { self.unit_lines() as u64 } else { 0 };
        Ok(Settled { columns, has_header, time_format: None, unit_lines, step: None, wordy: Vec::new() })
    }

    fn contents(&self, first: usize) -> Contents<'_> {
        Contents { rows: self.look.lines.get(first..).unwrap_or_default(), style: self.style }
    }

    fn unit_lines(&self) -> usize {
        self.contents(1).unit_lines(|cell| self.form(&[&text_of(cell)]) != Found::Nothing)
    }

    fn settle_first(&self, names: Vec<String>) -> Result<Settled, Error> {
        let Self { input, layout, style, .. } = self;
        let fault = |fault| input.fault(fault);
        let (count, found) = (names.len(), layout.found.as_ref());
        let free = free_columns(Some(&names), count, layout, LIST).map_err(fault)?;
        let has_header = match (layout.header, found) {
            (Some(has_header), _) => has_header,
            (None, Some(found)) => found.has_header,
            (None, None) => self.has_header(&names, free.first().copied())?,
        };
        let unit_lines = match found {
            Some(found) => found.unit_lines.min(MOST_UNIT_LINES as u64) as usize,
            None if has_header => self.unit_lines(),
            None => 0,
        };
        let contents = self.contents(usize::from(has_header) + unit_lines);
        let rows = contents.rows;
        let is_used = layout.keep.len() + layout.columns.len() + layout.exclude.len() > 0;
        // The key alone does not say which other columns are meant.
        let beside_key = layout.keep.len().saturating_sub(usize::from(layout.has_key));
        let is_selected = beside_key + layout.columns.len() + layout.exclude.len() > 0;
        let is_counter = |column: &usize| {
            found.is_none()
                && has_header
                && !is_selected
                && self.is_own(&names[*column])
                && contents.is_counter(*column, &names[*column])
        };
        let mut counters: Vec<usize> = (0..count).filter(is_counter).collect();
        if found.is_none() && has_header && !is_selected && layout.time.is_none() {
            let parts = contents.date_parts(&names);
            counters.extend(parts.into_iter().filter(|column| self.is_own(&names[*column])));
        }
        let free: Vec<usize> = free.into_iter().filter(|column| !counters.contains(column)).collect();
        let known = has_header.then_some(names);
        let times = self.time_column(rows, known.as_deref(), &free)?;
        let has_numbers =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).any(|cell| style.looks_numeric(cell));
        if let (true, None, Some(names), Some(time)) = (layout.leaves_out() && !is_used, found, &known, times.position)
        {
            let free = |column: &usize| *column != time && Some(*column) != times.clock && !counters.contains(column);
            let (values, texts): (Vec<usize>, Vec<usize>) =
                (0..count).filter(free).partition(|column| has_numbers(*column));
            let tagged = texts.iter().find_map(|tag| Some((*tag, contents.tags(time, *tag)?)));
            if let ([value], Some((tag, tags))) = (values.as_slice(), tagged) {
                let [time, tag, value] = [time, tag, *value].map(|column| names[column].clone());
                return Err(fault(Fault::Table(format!(
                    "is a long table: {tags} tags in the column {tag} and one value in each row; --pivot \
                     {time},{tag},{value} makes a column of each tag, --columns {value} reads the rows as they are"
                ))));
            }
        }
        let state = |column: usize| Some(TwoStates { position: column, words: contents.two_states(column)? });
        let states = match found {
            Some(found) => found.states.clone(),
            None if has_header => (0..count).filter(|column| !has_numbers(*column)).filter_map(state).collect(),
            None => Vec::new(),
        };
        let is_state = |column: usize| states.iter().any(|state| state.position == column);
        let holds_text = |column: usize| match found {
            Some(found) => found.left_out.contains(&column),
            None if counters.contains(&column) || times.left_out == Some(column) => true,
            None => {
                let mut cells = rows.iter().filter_map(|row| row.get(column));
                match cells.all(|cell| style.is_missing(cell)) {
                    true => rows.len() >= EMPTY_ROWS,
                    false => !has_numbers(column) && !is_state(column) && (has_header || layout.only_numeric),
                }
            }
        };
        let mut columns = select(known, count, &times.layout, LIST, holds_text).map_err(fault)?;
        let wordy = columns.selected.iter().copied().filter(|column| !has_numbers(*column)).collect();
        columns.states = states.into_iter().filter(|state| columns.selected.contains(&state.position)).collect();
        // The shortest of these lines contains the units.
        let lines = &self.look.lines[usize::from(has_header).min(self.look.lines.len())..];
        let units = lines.iter().take(unit_lines).min_by_key(|line| line.as_slice().len());
        let units = units.map(|line| line.iter().map(|cell| text_of(cell.trim_ascii()).into_owned()).collect());
        let own = || self.look.cell_units.iter().any(|unit| !unit.is_empty()).then(|| self.look.cell_units.clone());
        columns.units = units.or_else(own);
        Ok(Settled {
            columns,
            has_header,
            time_format: times.format,
            unit_lines: unit_lines as u64,
            step: times.step,
            wordy,
        })
    }

    pub(super) fn is_own(&self, name: &str) -> bool {
        !self.layout.model_columns.as_ref().is_some_and(|columns| columns.iter().any(|column| column == name))
    }

    fn has_header(&self, names: &[String], free: Option<usize>) -> Result<bool, Error> {
        let layout = self.layout;
        // All columns are examined, because the text columns are not known yet.
        let every =
            Layout { only_numeric: false, keeps_text: true, model_columns: None, items: None, ..layout.clone() };
        let selected = select(Some(names.to_vec()), names.len(), &every, LIST, |_| false);
        let selected = selected.map_err(|fault| self.input.fault(fault))?.selected;
        // The columns of a model may have numbers as names.
        let model = layout.model_columns.as_ref();
        let of_model = model.is_some_and(|wanted| wanted.iter().all(|name| names.contains(name)));
        if layout.names_columns() || of_model {
            return Ok(true);
        }
        let (words, others): (Vec<usize>, Vec<usize>) =
            selected.into_iter().partition(|column| self.style.is_word(&self.first[*column]));
        let is_time = |column: &usize| Some(*column) == free && self.form(&[&names[*column]]) != Found::Nothing;
        let numbers: Vec<usize> = others.into_iter().filter(|column| self.has_number(&self.first[*column])).collect();
        if model.is_none() && self.are_labels(&numbers) {
            let few: Vec<&str> = numbers.iter().take(3).map(|column| names[*column].as_str()).collect();
            return Err(self.input.fault(Fault::Table(format!(
                "line 1 may be a header or a row: its numbers, {}, …, are unlike those below; --header or \
                 --no-header settles it",
                few.join(", ")
            ))));
        }
        Ok(!words.is_empty() && numbers.is_empty() && !words.iter().any(is_time))
    }

    /// Returns true if a cell contains a number with digits. Words such as `inf` do not count.
    fn has_number(&self, cell: &[u8]) -> bool {
        self.style.looks_numeric(cell) && cell.iter().any(u8::is_ascii_digit)
    }

    /// Returns true if the numbers ascend or descend, and each is whole above fractions or far outside the range below
    /// it.
    fn are_labels(&self, columns: &[usize]) -> bool {
        const FEWEST_ROWS: usize = 3;
        const FAR: f64 = 20.0;
        let rows = self.look.lines.get(1..).unwrap_or_default();
        let labels: Vec<f64> = columns.iter().filter_map(|column| self.style.number(&self.first[*column])).collect();
        let is_ordered = |order: Ordering| labels.windows(2).all(|pair| pair[0].partial_cmp(&pair[1]) == Some(order));
        let differs = |(column, label): (&usize, &f64)| {
            let cells: Vec<&[u8]> = rows.iter().filter_map(|row| row.get(*column)).collect();
            let below: Vec<f64> = cells.iter().filter_map(|cell| self.style.number(cell)).collect();
            let least = below.iter().copied().fold(f64::INFINITY, f64::min);
            let most = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let is_whole = decimal_sign(&self.first[*column]).is_none();
            let is_other_type = is_whole && cells.iter().all(|cell| decimal_sign(cell).is_some());
            let is_far = most > least && (label - least).abs().min((label - most).abs()) > FAR * (most - least);
            below.len() >= FEWEST_ROWS && (is_other_type || is_far)
        };
        labels.len() > 1
            && labels.len() == columns.len()
            && (is_ordered(Ordering::Less) || is_ordered(Ordering::Greater))
            && columns.iter().zip(&labels).all(differs)
    }

    /// Returns the time format of these cells: that of the layout if all cells match it, or a detected one.
    pub(super) fn form(&self, cells: &[&str]) -> Found {
        match &self.layout.time_format {
            None => TimeFormat::find(cells),
            Some(format) if !cells.is_empty() && cells.iter().all(|cell| format.seconds(cell).is_some()) => {
                Found::Format(format.clone())
            }
            Some(_) => Found::Nothing,
        }
    }
}
