//! Lines as they stand, counted; blank ones are passed over.

use crate::error::{Error, Fault};
use crate::input_source::InputSource;
use crate::reader::{Progress, ReadPosition};
use std::io::{BufRead, BufReader, Read};

/// Reads one line after the other into the same buffer.
pub struct LineReader {
    input: InputSource,
    source: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    /// The line has been looked at, but not as a row.
    held: bool,
    rows: u64,
    lines: u64,
    bytes: u64,
}

impl LineReader {
    /// Lines from the start of the source.
    pub fn open(input: &InputSource) -> Result<Self, Error> {
        let source = BufReader::with_capacity(1 << 16, input.open()?);
        Ok(Self { input: input.clone(), source, line: Vec::new(), held: false, rows: 0, lines: 0, bytes: 0 })
    }

    /// The first line, looked at to know the table, will be the next one again.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Reads the next line that is not blank; false at the end.
    pub fn advance(&mut self) -> Result<bool, Error> {
        if std::mem::take(&mut self.held) {
            return Ok(true);
        }
        loop {
            self.line.clear();
            let longest = self.input.memory.line();
            let mut bounded = self.source.by_ref().take(longest.saturating_add(1));
            let read = bounded.read_until(b'\n', &mut self.line).map_err(|error| self.input.unreadable(error))?;
            if read == 0 {
                return Ok(false);
            }
            self.lines += 1;
            if read as u64 > longest {
                return Err(Error::at(self.place(), Fault::LongLine { longest, limit: self.input.memory.to_string() }));
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

    /// The line read last, without the white space around it.
    pub fn line(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    /// Rows read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn place(&self) -> String {
        format!("{}, line {}", self.input.name(), self.lines)
    }

    pub fn position(&self) -> ReadPosition {
        if self.held {
            return ReadPosition::default();
        }
        ReadPosition { rows: self.rows, lines: self.lines, bytes: Some(self.bytes) }
    }

    pub fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        if position.rows == 0 {
            return Ok(0);
        }
        self.held = false;
        if let Some(bytes) = position.bytes
            && self.input.size().is_some_and(|size| size >= bytes)
            && let Some(source) = self.input.open_at(bytes)?
        {
            self.source = BufReader::with_capacity(1 << 16, source);
            (self.rows, self.lines, self.bytes) = (position.rows, position.lines, bytes);
            return Ok(self.rows);
        }
        while self.rows < position.rows && self.advance()? {}
        Ok(self.rows)
    }

    pub fn progress(&self) -> Progress {
        match self.input.size() {
            Some(size) => Progress::Bytes(self.bytes.min(size), size),
            None => Progress::Unknown(self.rows),
        }
    }
}
