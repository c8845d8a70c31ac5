//! Normalization of line ends to `\n`, so that lines can be counted.

use std::io::{self, Read};

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
