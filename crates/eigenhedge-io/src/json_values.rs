//! Conversion of JSON to JSON lines: arrays of rows, also as the first value of an object, or rows over several lines.

use crate::unpack::late;
use std::io::{self, Read};

const LOOK: usize = 1 << 12;

pub(crate) fn is_spread(start: &[u8]) -> bool {
    Layout::of(start) != Layout::Lines
}

/// Converts a JSON row, or an array of rows, to one row per line. An empty array gives no lines.
#[must_use]
pub fn json_lines(text: &[u8]) -> Vec<u8> {
    let text = text.trim_ascii();
    if let [b'[', inner @ .., b']'] = text
        && inner.trim_ascii().is_empty()
    {
        return Vec::new();
    }
    let mut lines = text.to_vec();
    Values::of(Layout::of(&lines)).split(&mut lines);
    lines.trim_ascii().to_vec()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Lines,
    Array,
    /// One object whose first value is an array of rows. Its other values are ignored.
    Wrapped,
    Spread,
    Unknown,
}

impl Layout {
    fn of(start: &[u8]) -> Self {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if MARK.starts_with(start) {
            return Self::Unknown;
        }
        let start = start.strip_prefix(MARK).unwrap_or(start).trim_ascii_start();
        let Some((first, rest)) = start.split_first() else { return Self::Unknown };
        let breaks = || rest.iter().take_while(|byte| byte.is_ascii_whitespace()).any(|byte| b"\r\n".contains(byte));
        match (first, rest.trim_ascii_start().first()) {
            (b'[' | b'{', None) => Self::Unknown,
            (b'{', Some(b'"')) if wraps_rows(rest).is_none() => Self::Unknown,
            (b'{', Some(b'"')) if wraps_rows(rest) == Some(true) => Self::Wrapped,
            (b'[', Some(b'[' | b'{')) => Self::Array,
            (b'[' | b'{', _) if breaks() => Self::Spread,
            _ => Self::Lines,
        }
    }
}

/// Returns true if an object begins with an array of objects, or `None` if more bytes are needed.
fn wraps_rows(inside: &[u8]) -> Option<bool> {
    let name = inside.trim_ascii_start().strip_prefix(b"\"")?;
    let mut is_escaped = false;
    let ends = |byte: &u8| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    };
    let mut rest = &name[name.iter().position(ends)? + 1..];
    for sign in b":[{" {
        rest = rest.trim_ascii_start();
        if rest.first()? != sign {
            return Some(false);
        }
        rest = &rest[1..];
    }
    Some(true)
}

#[derive(Debug, Default)]
struct Values {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// True until the opening bracket of the array of rows, and everything before it, is removed.
    skips_bracket: bool,
    is_wrapped: bool,
    is_array: bool,
    is_over: bool,
}

impl Values {
    fn of(layout: Layout) -> Self {
        let is_wrapped = layout == Layout::Wrapped;
        Self { skips_bracket: is_wrapped || layout == Layout::Array, is_wrapped, ..Self::default() }
    }

    /// Puts each row on one line, without the brackets around the rows.
    fn split(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            let is_head = self.is_wrapped && self.skips_bracket;
            match *byte {
                _ if self.is_over => *byte = b' ',
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_text => self.is_escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'[' if self.skips_bracket => {
                    (self.skips_bracket, self.is_array) = (false, true);
                    *byte = b' ';
                }
                b'{' if is_head => {}
                b'[' | b'{' => self.depth += 1,
                b']' if self.depth == 0 && self.is_array => {
                    (self.is_array, self.is_over) = (false, self.is_wrapped);
                    *byte = b'\n';
                }
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                b',' if self.depth == 0 && self.is_array => *byte = b'\n',
                b'\r' | b'\n' if self.depth > 0 || self.is_array => *byte = b' ',
                _ => {}
            }
            if is_head {
                *byte = b' ';
            }
        }
    }

    fn is_open(&self) -> bool {
        self.is_array || self.depth > 0
    }
}

/// Returns a reader that converts JSON in any layout to JSON lines. Text that has one row per line passes unchanged.
pub(crate) fn json_values<'a>(mut source: impl Read + 'a) -> Box<dyn Read + 'a> {
    late(move || {
        let mut start = Vec::new();
        while Layout::of(&start) == Layout::Unknown && start.len() < LOOK {
            if source.by_ref().take(1).read_to_end(&mut start)? == 0 {
                break;
            }
        }
        let layout = Layout::of(&start);
        let inner = io::Cursor::new(start).chain(source);
        match layout {
            Layout::Lines | Layout::Unknown => Ok(Box::new(inner)),
            layout => Ok(Box::new(JsonValues { inner, values: Values::of(layout) })),
        }
    })
}

struct JsonValues<R> {
    inner: R,
    values: Values,
}

impl<R: Read> Read for JsonValues<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.values.is_open() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its JSON ends before the last bracket"));
        }
        self.values.split(&mut buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpack::tests::Drops;

    #[test]
    fn every_layout_gives_the_same_rows_however_the_bytes_arrive() {
        let rows = ["{\"a\":\"},{\\\"\",\"b\":[1,2]}", "{\"a\":\"x\",\"b\":3}"];
        let texts = [
            rows.join("\n"),
            format!("[{}]", rows.join(",")),
            format!("\u{feff} [\r\n  {}\r\n]\n", rows.join(" ,\n  ").replace(":[", ":\n[\n")),
            format!("{}\n", rows.join("\n").replace("{\"a", "{\n  \"a").replace("}\n", "\n}\n")),
            format!("{{\"ro\\\"ws[\" : [{}], \"next\": [{{\"a\":1}}]}}\n", rows.join(",")),
        ];
        let values = |text: &str| -> Vec<serde_json::Value> {
            let text = text.trim_start_matches('\u{feff}');
            text.lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| serde_json::from_str(line).unwrap())
                .collect()
        };
        for text in &texts {
            for size in [1, 2, 3, 7, 1000] {
                let mut read = String::new();
                json_values(Drops(text.as_bytes(), size)).read_to_string(&mut read).unwrap();
                assert_eq!(values(&read), values(&texts[0]), "{text}");
            }
        }
        assert!(
            !is_spread(b"[1,2]\n[3,4]") && !is_spread(b"{\"a\":1}") && is_spread(b"[") && is_spread(b"[[1,2],[3,4]]")
        );
    }

    #[test]
    fn a_cut_array_is_an_error_and_lines_pass_unchanged() {
        for text in ["[{\"a\":1},{\"a\":2}", "[{\"a\":1},{\"a\"", "{\n\"a\": 1"] {
            let error = json_values(text.as_bytes()).read_to_end(&mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), "its JSON ends before the last bracket", "{text}");
        }
        for text in ["", "[1,2]\n[3,4]\n", "{\"a\":1}\n", "x,y\n1,2\n", "\n\n{\"a\":1", "[", "\""] {
            let mut read = String::new();
            json_values(text.as_bytes()).read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn a_value_in_memory_becomes_lines() {
        let lines = |text: &str| String::from_utf8(json_lines(text.as_bytes())).unwrap();
        assert_eq!(lines(r#"[{"a":"},{\"","b":[1,2]},{"a":"x"}]"#), "{\"a\":\"},{\\\"\",\"b\":[1,2]}\n{\"a\":\"x\"}");
        assert_eq!(lines("{\n\"data\": [\n{\"a\":1},\n{\"a\":2}], \"n\": 2}"), "{\"a\":1}\n {\"a\":2}");
        assert_eq!(lines("{\"a\":[{}"), "{}");
        assert_eq!(lines("[1,\n2]"), "[1, 2]");
        assert_eq!(lines("[[1,2],[3,4]]"), "[1,2]\n[3,4]");
        assert_eq!(lines(" {\"a\":\n1} "), "{\"a\": 1}");
        assert_eq!(lines(" [ ]\n"), "");
    }
}
