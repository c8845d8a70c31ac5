//! Inspection of about the first [`LINES`] lines of a source before they are read. For a pipe, only the bytes that have
//! arrived are inspected, once they contain a row, so that a row never waits for later rows.

use super::cells::CellStyle;
use super::sniff::after;
use crate::error::Error;
use crate::input_source::InputSource;
use crate::recode::text_of;
use crate::time_format::{Found, TimeFormat};
use std::io::{self, Read};

pub(crate) const LINES: usize = 200;
/// Maximum number of bytes inspected, unless the required lines take more bytes.
const BYTES: usize = 1 << 18;
/// Maximum number of bytes inspected to find the required number of lines.
const MOST_BYTES: usize = 1 << 23;
const PIECE: usize = 1 << 16;

pub struct Peeked {
    head: Vec<u8>,
    given: usize,
    inner: Box<dyn Read>,
    is_whole: bool,
    fewest: usize,
}

impl Peeked {
    pub fn new(input: &InputSource, fewest: usize) -> Result<Self, Error> {
        let mut peeked = Self { head: Vec::new(), given: 0, inner: input.open()?, is_whole: false, fewest };
        peeked.look(input).map_err(|error| input.unreadable(error))?;
        Ok(peeked)
    }

    pub fn lines(&self) -> &[u8] {
        if self.is_whole {
            return &self.head;
        }
        let end = self.head.iter().rposition(|byte| is_line_end(*byte));
        &self.head[..end.map_or(0, |end| end + 1)]
    }

    pub fn is_blank(&self) -> bool {
        let start = self.head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&self.head);
        self.is_whole && start.trim_ascii().is_empty()
    }

    /// Skips the first lines, which must have been inspected. Returns the number of skipped bytes.
    pub fn skip_lines(&mut self, lines: u64) -> u64 {
        self.given = self.head.len() - after(&self.head, lines).len();
        self.given as u64
    }

    fn look(&mut self, input: &InputSource) -> io::Result<()> {
        let (mut lines, mut counted) = (0, 0);
        loop {
            let start = self.head.len();
            self.head.resize(start + PIECE, 0);
            let found = read(&mut self.inner, &mut self.head[start..])?;
            self.head.truncate(start + found);
            if found == 0 {
                self.is_whole = true;
                return Ok(());
            }
            for at in counted.max(1)..self.head.len() {
                lines += usize::from(is_line_end(self.head[at]) && !is_line_end(self.head[at - 1]));
            }
            counted = self.head.len();
            let has_row = lines >= self.fewest || lines + 1 == self.fewest && input.is_pipe() && is_row(&self.head);
            // A line of words after the header may hold units. The line after it decides this.
            let has_row = has_row && !(input.is_pipe() && lines == self.fewest && !ends_in_numbers(self.lines()));
            let is_enough = lines > LINES + self.fewest || counted >= BYTES;
            if counted >= MOST_BYTES || has_row && (is_enough || input.is_pipe() && !input.has_more()) {
                return Ok(());
            }
        }
    }
}

impl Read for Peeked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.head.len() {
            return self.inner.read(buffer);
        }
        let count = (self.head.len() - self.given).min(buffer.len());
        buffer[..count].copy_from_slice(&self.head[self.given..self.given + count]);
        self.given += count;
        if self.given == self.head.len() {
            (self.head, self.given) = (Vec::new(), 0);
        }
        Ok(count)
    }
}

fn read(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns true if the last line has a number as a cell, with any delimiter, or is a line of JSON.
fn ends_in_numbers(lines: &[u8]) -> bool {
    let style = CellStyle::default();
    let line = lines.split(|byte| is_line_end(*byte)).rfind(|line| !line.is_empty()).unwrap_or_default();
    let cells = line.split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|'));
    cells.into_iter().any(|cell| style.looks_numeric(cell)) || line.starts_with(b"{") || line.starts_with(b"[")
}

/// Returns true if the first line has no words except times, with any delimiter. It is then a row.
fn is_row(head: &[u8]) -> bool {
    let style = CellStyle::default();
    let line = head.split(|byte| is_line_end(*byte)).find(|line| !line.is_empty()).unwrap_or_default();
    let is_time = |cell: &[u8]| TimeFormat::find(&[&text_of(cell)]) != Found::Nothing;
    line.split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|')).all(|cell| !style.is_word(cell) || is_time(cell))
}
