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
const MOST_BYTES: usize = 1 << 23;
const PIECE: usize = 1 << 16;

pub struct Peeked {
    head: Vec<u8>,
    inner: Box<dyn Read>,
    is_whole: bool,
}

impl Peeked {
    /// Opens the source and reads its first lines, if possible at least `fewest` of them.
    pub fn new(input: &InputSource, fewest: usize) -> Result<Self, Error> {
        let mut peeked = Self { head: Vec::new(), inner: input.open()?, is_whole: false };
        peeked.look(input, fewest).map_err(|error| input.unreadable(error))?;
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

    pub fn after_lines(self, lines: u64) -> (Box<dyn Read>, u64) {
        let skipped = (self.head.len() - after(&self.head, lines).len()) as u64;
        let mut head = io::Cursor::new(self.head);
        head.set_position(skipped);
        (Box::new(head.chain(self.inner)), skipped)
    }

    fn look(&mut self, input: &InputSource, fewest: usize) -> io::Result<()> {
        let (mut lines, mut counted) = (0, 0);
        loop {
            let start = self.head.len();
            self.head.resize(start + PIECE, 0);
            let read = self.inner.read(&mut self.head[start..]);
            self.head.truncate(start + read.as_ref().map_or(0, |found| *found));
            let found = match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                outcome => outcome?,
            };
            if found == 0 {
                self.is_whole = true;
                return Ok(());
            }
            for at in counted.max(1)..self.head.len() {
                lines += usize::from(is_line_end(self.head[at]) && !is_line_end(self.head[at - 1]));
            }
            counted = self.head.len();
            let has_row = lines >= fewest || lines + 1 == fewest && input.is_pipe() && is_row(&self.head);
            // A line of words after the header may hold units. The line after it decides this.
            let has_row = has_row && !(input.is_pipe() && lines == fewest && !ends_in_numbers(self.lines()));
            let is_enough = lines > LINES + fewest || counted >= BYTES;
            if counted >= MOST_BYTES || has_row && (is_enough || input.is_pipe() && !input.has_more()) {
                return Ok(());
            }
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
