//! Inspection of about the first [`LINES`] lines of a source before they are read. For a pipe, only the bytes that have
//! arrived are inspected, once they contain a row, so that a row never waits for later rows.
//! Line ends are normalized to `\n`, so that lines can be counted.

use super::cells::CellStyle;
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

pub fn after(head: &[u8], lines: u64) -> &[u8] {
    let mut rest = head;
    for _ in 0..lines.min(head.len() as u64) {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        rest = match end.map(|end| rest.split_at(end)) {
            Some((_, [b'\r', b'\n', rest @ ..] | [_, rest @ ..])) => rest,
            _ => &[],
        };
    }
    rest
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

pub struct Lines<R> {
    inner: R,
    last: u8,
    /// True if the most recently read byte was `\r`. A following `\n` belongs to the same line end.
    after_return: bool,
    /// True if no `\r` has been read, so that byte offsets are those of the source.
    exact: bool,
    last_inside: u8,
    given: u64,
    is_over: bool,
    left: u64,
    /// Delimiter, if cells are counted. Each adds [`CELL`] bytes to a line longer than [`LONG`].
    delimiter: Option<u8>,
    since_allowed: u64,
}

const LONG: u64 = 1 << 20;
const CELL: u64 = 8;

impl<R: Read> Lines<R> {
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            last: b'\n',
            after_return: false,
            exact: true,
            last_inside: 0,
            given: 0,
            is_over: false,
            left: u64::MAX,
            delimiter: None,
            since_allowed: 0,
        }
    }

    pub fn of_cells(self, delimiter: u8) -> Self {
        Self { delimiter: Some(delimiter), ..self }
    }

    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns true if `position` is the end of the source and the last line ends without a quote.
    pub fn ends_openly(&self, position: u64) -> bool {
        self.is_over && position == self.given && self.last_inside != b'"'
    }

    pub fn allow(&mut self, bytes: u64) {
        (self.left, self.since_allowed) = (bytes, 0);
    }

    fn change(&mut self, bytes: &mut [u8]) -> usize {
        if !self.after_return && !bytes.contains(&b'\r') {
            return bytes.len();
        }
        self.exact = false;
        let mut kept = 0;
        for i in 0..bytes.len() {
            let byte = bytes[i];
            if byte == b'\n' && self.after_return {
                self.after_return = false;
                continue;
            }
            self.after_return = byte == b'\r';
            bytes[kept] = if byte == b'\r' { b'\n' } else { byte };
            kept += 1;
        }
        kept
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        loop {
            let found = self.inner.read(buffer)?;
            if found == 0 {
                if self.last == b'\n' || buffer.is_empty() {
                    self.is_over |= !buffer.is_empty();
                    return Ok(0);
                }
                (buffer[0], self.last) = (b'\n', b'\n');
                self.given += 1;
                return Ok(1);
            }
            // An empty result is not the end of the source: the `\n` of a `\r\n` may arrive alone.
            if let kept @ 1.. = self.change(&mut buffer[..found]) {
                self.last = buffer[kept - 1];
                self.since_allowed += kept as u64;
                let cells = match self.delimiter {
                    Some(delimiter) if self.since_allowed > LONG => {
                        buffer[..kept].iter().filter(|byte| **byte == delimiter).count()
                    }
                    _ => 0,
                };
                self.left = self.left.saturating_sub(kept as u64 + CELL * cells as u64);
                self.given += kept as u64;
                if let Some(byte) = buffer[..kept].iter().rfind(|byte| **byte != b'\n') {
                    self.last_inside = *byte;
                }
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpack::tests::Drops;

    #[test]
    fn every_line_ends_in_a_newline_however_the_bytes_arrive() {
        let cases =
            [("", ""), ("a", "a\n"), ("a\r\n\r\nb\n\rc\rd", "a\n\nb\n\nc\nd\n"), ("a\r", "a\n"), ("a\r\n", "a\n")];
        for (text, wanted) in cases {
            for size in 1..=text.len().max(1) {
                let mut read = String::new();
                Lines::new(Drops(text.as_bytes(), size)).read_to_string(&mut read).unwrap();
                assert_eq!(read, wanted, "{text:?} by {size}");
            }
        }
    }
}
