//! Reader of numbered lines that skips blank lines, and lines of text, such as a log, as a table with one column, `line`.

use super::peek::Peeked;
use super::{is_missing, number};
use crate::columns::Columns;
use crate::error::{Error, Fault, RowPlace, shown};
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::{Opened, Progress, ReadPosition, Reader, Row};
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
        Ok(Opened { reader: Box::new(LineTable { lines, parser }), columns })
    }
}

impl LineParser for PlainLines {
    fn parse(&mut self, lines: &LineReader, row: &mut Row) -> Result<(), Error> {
        let (cell, numbers) = (lines.line(), row.cleared());
        if self.0.text.is_none() {
            let wrong = || Error::at(lines.place(), Fault::cell(shown(cell), is_missing(cell)));
            numbers.push(number(cell).filter(|value| value.is_finite()).ok_or_else(wrong)?);
        }
        row.kept.extend(self.0.kept.iter().map(|_| text_of(cell).into_owned()));
        Ok(())
    }
}
