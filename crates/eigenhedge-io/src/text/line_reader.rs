//! Formats with a row per line: the reader of numbered lines that skips blank lines, lines of text (a table with one column,
//! `line`), and LIBSVM rows: a label, which is ignored, and `INDEX:VALUE` pairs with increasing indices from 1. Cells that are
//! not listed are 0. `qid:N` and everything after `#` are ignored. Without `dim`, the file is read twice.

use super::cells::CellStyle;
use super::first_lines::Peeked;
use crate::reader::{
    Columns, Error, Fault, InputSource, Layout, Opened, Progress, ReadPosition, Reader, Row, RowPlace, allow_columns,
    shown,
};
use crate::recode::text_of;
use std::io::{BufRead, BufReader, Read};

pub struct LineReader {
    input: InputSource,
    source: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    held: bool,
    pub rows: u64,
    lines: u64,
    bytes: u64,
}

impl LineReader {
    pub fn open(input: &InputSource) -> Result<Self, Error> {
        Ok(Self::new(input, input.open()?))
    }

    pub fn open_peeked(input: &InputSource) -> Result<(Self, Vec<u8>), Error> {
        let source = Peeked::new(input, 1)?;
        let lines = source.lines().to_vec();
        Ok((Self::new(input, source.after_lines(0).0), lines))
    }

    fn new(input: &InputSource, source: Box<dyn Read>) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        Self { input: input.clone(), source, line: Vec::new(), held: false, rows: 0, lines: 0, bytes: 0 }
    }

    pub fn hold(&mut self) {
        self.held = true;
    }

    pub fn advance(&mut self) -> Result<bool, Error> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        loop {
            self.line.clear();
            let longest = self.input.memory.line;
            let mut bounded = self.source.by_ref().take(longest.saturating_add(1));
            let read = bounded.read_until(b'\n', &mut self.line).map_err(|error| self.input.unreadable(error))?;
            if read == 0 {
                return Ok(false);
            }
            self.lines += 1;
            if read as u64 > longest {
                return Err(Error::at(self.place(), self.input.memory.long_line()));
            }
            self.bytes += read as u64;
            if self.lines == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            if !self.line.trim_ascii().is_empty() {
                self.rows += 1;
                return Ok(true);
            }
        }
    }

    pub fn line(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    pub fn place(&self) -> RowPlace {
        self.input.line(self.lines)
    }
}

pub trait LineParser {
    fn parse(&mut self, lines: &LineReader, row: &mut Row) -> Result<(), Error>;
}

pub struct LineTable<P> {
    pub lines: LineReader,
    pub parser: P,
}

impl<P: LineParser> Reader for LineTable<P> {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        Ok(self.lines.advance()? && self.parser.parse(&self.lines, row).map(|()| true)?)
    }

    fn place(&self) -> RowPlace {
        self.lines.place()
    }

    fn position(&self) -> ReadPosition {
        let LineReader { held, rows, lines, bytes, .. } = self.lines;
        match held {
            true => ReadPosition::default(),
            false => ReadPosition { rows, lines, bytes: Some(bytes), ..ReadPosition::default() },
        }
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        if position.rows == 0 {
            return Ok(0);
        }
        let lines = &mut self.lines;
        lines.held = false;
        if let Some(bytes) = position.bytes
            && lines.input.size().is_some_and(|size| size >= bytes)
            && let Some(source) = lines.input.open_at(bytes)?
        {
            lines.source = BufReader::with_capacity(1 << 16, source);
            (lines.rows, lines.lines, lines.bytes) = (position.rows, position.lines, bytes);
            return Ok(lines.rows);
        }
        while lines.rows < position.rows && lines.advance()? {}
        Ok(lines.rows)
    }

    fn progress(&self) -> Progress {
        self.lines.input.progress(self.lines.bytes, self.lines.rows)
    }
}

pub struct PlainLines(Columns);

impl PlainLines {
    pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
        let mut lines = LineReader::open(input)?;
        if !lines.advance()? {
            return Err(input.fault(Fault::Empty));
        }
        lines.hold();
        let columns = Columns::choose(input, layout, Some(vec!["line".to_owned()]), 1, |_| false)?;
        let parser = Self(columns.clone());
        Ok(Opened::new(LineTable { lines, parser }, columns))
    }
}

impl LineParser for PlainLines {
    fn parse(&mut self, lines: &LineReader, row: &mut Row) -> Result<(), Error> {
        let (cell, numbers, style) = (lines.line(), row.cleared(), CellStyle::default());
        if self.0.text.is_none() {
            let wrong = || Error::at(lines.place(), Fault::cell(shown(cell), style.is_missing(cell)));
            numbers.push(style.number(cell).filter(|value| value.is_finite()).ok_or_else(wrong)?);
        }
        row.kept.extend(self.0.kept.iter().map(|_| text_of(cell).into_owned()));
        Ok(())
    }
}

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
        Ok(Opened::new(LineTable { lines, parser }, columns))
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
        let (mut before, style) = (0, CellStyle::default());
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
            match style.number(value) {
                Some(value) if value.is_finite() => *cell = value,
                _ if self.fills && style.is_missing(value) => *cell = f64::NAN,
                _ => return Err((Some(column), Fault::cell(shown(value), style.is_missing(value)))),
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
