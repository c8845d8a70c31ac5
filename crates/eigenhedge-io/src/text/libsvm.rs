//! Reader of LIBSVM rows: a label, which is ignored, and `INDEX:VALUE` pairs with increasing indices from 1. Cells that
//! are not listed are 0. `qid:N` and everything after `#` are ignored. Without `dim`, the file is read twice.

use super::line_reader::{LineParser, LineReader, LineTable};
use super::{is_missing, number};
use crate::columns::{Columns, allow_columns};
use crate::error::{Error, Fault, shown};
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::{Opened, Row};

pub struct Libsvm {
    columns: Columns,
    dense: Vec<f64>,
    set: Vec<usize>,
    fills: bool,
    takes_all: bool,
}

/// Minimum number of cells per listed cell in a sparse row.
const SPARSITY: usize = 16;

impl Libsvm {
    pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
        let dim = match layout.dim {
            Some(dim) => dim,
            None if input.is_pipe() => {
                let reason = "the number of columns must be given with --dim when LIBSVM rows come through a pipe";
                return Err(input.fault(Fault::Table(reason.to_owned())));
            }
            None => largest_index(input)?,
        };
        allow_columns(input, dim as u128)?;
        let mut lines = LineReader::open(input)?;
        if !lines.advance()? {
            return Err(input.fault(Fault::Empty));
        }
        let columns = Columns::choose(input, layout, None, dim, |_| false)?;
        lines.hold();
        let takes_all = columns.selected.iter().copied().eq(0..dim) && u32::try_from(dim).is_ok();
        let (dense, set, fills) = (vec![0.0; dim], Vec::new(), layout.fills());
        let parser = Self { columns: columns.clone(), dense, set, fills, takes_all };
        Ok(Opened { reader: Box::new(LineTable { lines, parser }), columns })
    }

    fn fill(&mut self, line: &[u8]) -> Result<(), (Option<usize>, Fault)> {
        for index in self.set.drain(..) {
            self.dense[index] = 0.0;
        }
        let line = &line[..line.iter().position(|byte| *byte == b'#').unwrap_or(line.len())];
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        match words.next() {
            Some(label) if !label.contains(&b':') => {}
            other => return Err((None, not_pair(other.unwrap_or_default()))),
        }
        let mut before = 0;
        for word in words.filter(|word| !word.starts_with(b"qid:")) {
            let (index, value) = pair(word).map_err(|fault| (None, fault))?;
            if index <= before {
                return Err((None, Fault::Row(format!("indices must increase, got {index} after {before}"))));
            }
            before = index;
            let column = index as usize - 1;
            let Some(cell) = self.dense.get_mut(column) else {
                let dim = self.dense.len();
                let reason = format!("an index must not exceed the number of columns, {dim}, got {index}");
                return Err((None, Fault::Row(reason)));
            };
            match number(value) {
                Some(value) if value.is_finite() => *cell = value,
                _ if self.fills && is_missing(value) => *cell = f64::NAN,
                _ => return Err((Some(column), Fault::cell(shown(value), is_missing(value)))),
            }
            self.set.push(column);
        }
        Ok(())
    }
}

impl LineParser for Libsvm {
    fn parse(&mut self, lines: &LineReader, row: &mut Row) -> Result<(), Error> {
        self.fill(lines.line()).map_err(|(column, fault)| match column {
            Some(column) => self.columns.at(lines.place(), column, fault),
            None => Error::at(lines.place(), fault),
        })?;
        if self.takes_all && self.set.len() <= self.dense.len() / SPARSITY {
            let cells = self.set.iter().map(|i| (*i as u32, self.dense[*i]));
            row.set_sparse(self.dense.len(), cells.filter(|(_, value)| *value != 0.0));
        } else {
            row.cleared().extend(self.columns.selected.iter().map(|column| self.dense[*column]));
        }
        Ok(())
    }
}

fn not_pair(word: &[u8]) -> Fault {
    Fault::Row(format!("must be a label and then INDEX:VALUE, got {}", shown(word)))
}

fn pair(word: &[u8]) -> Result<(u64, &[u8]), Fault> {
    let Some(colon) = word.iter().position(|byte| *byte == b':') else {
        return Err(not_pair(word));
    };
    let index = std::str::from_utf8(&word[..colon]).ok().and_then(|text| text.parse::<u64>().ok());
    match index {
        Some(index @ 1..) => Ok((index, &word[colon + 1..])),
        _ => Err(Fault::Row(format!("an index must be a whole number from 1, got {}", shown(&word[..colon])))),
    }
}

fn largest_index(input: &InputSource) -> Result<usize, Error> {
    let mut lines = LineReader::open(input)?;
    let mut largest = 0;
    while lines.advance()? {
        let words = lines.line().split(u8::is_ascii_whitespace).take_while(|word| !word.starts_with(b"#"));
        // Indices increase, but the last word may not be a pair.
        let indices = words.skip(1).filter_map(|word| pair(word).ok()).map(|(index, _)| index);
        largest = indices.fold(largest, u64::max);
        // A mistyped index must not exhaust the memory.
        allow_columns(input, largest.into()).map_err(|error| error.moved_to(lines.place().to_string()))?;
    }
    match (lines.rows, largest) {
        (0, _) => Err(input.fault(Fault::Empty)),
        (_, 0) => Err(input.fault(Fault::ZeroColumns)),
        _ => Ok(largest as usize),
    }
}
