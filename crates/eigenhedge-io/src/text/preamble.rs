//! Lines before the header of a CSV table: `sep=;`, and text such as the title of a report. The header is the first
//! line that has as many cells as most later lines, more than half of them filled, with words and no numbers.

use super::cells::CellStyle;
use csv::ByteRecord;

const MOST: usize = 60;

/// Returns the delimiter of a first line such as `sep=;`, and the number of such lines (0 or 1).
pub fn separator_line(head: &[u8]) -> (Option<u8>, u64) {
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [s, e, p, b'=', sign] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") && sign.is_ascii() => (Some(*sign), 1),
        _ => (None, 0),
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

pub fn lines(head: &[u8], delimiter: Option<u8>) -> u64 {
    if head.starts_with(b"#") {
        return 0;
    }
    let mut rest = head;
    let mut lines = Vec::new();
    while !rest.is_empty() && lines.len() < 2 * MOST {
        let next = after(rest, 1);
        lines.push(rest[..rest.len() - next.len()].trim_ascii_end());
        rest = next;
    }
    let tried = delimiter.map_or_else(|| vec![b';', b'\t', b',', b'|'], |delimiter| vec![delimiter]);
    tried.into_iter().filter_map(|delimiter| before_header(&lines, delimiter)).min().unwrap_or(0)
}

fn before_header(lines: &[&[u8]], delimiter: u8) -> Option<u64> {
    // In most tables the first line has all cells, and no parsing is needed.
    let signs = |line: &[u8]| line.iter().filter(|byte| **byte == delimiter).count();
    let (first, last) = (lines.first()?, lines.last()?);
    let has_gap = first.windows(2).any(|pair| pair == [delimiter, delimiter]);
    match (signs(first), signs(last)) {
        (0, _) if lines.iter().all(|line| signs(line) == 0) => return None,
        (one, other) if one > 0 && one == other && !has_gap => return Some(0),
        _ => {}
    }
    let cells = |line: &&[u8]| -> ByteRecord {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).flexible(true).delimiter(delimiter).from_reader(*line);
        reader.into_byte_records().next().and_then(Result::ok).unwrap_or_default()
    };
    let records: Vec<ByteRecord> = lines.iter().map(cells).collect();
    let there: Vec<usize> = records.iter().map(ByteRecord::len).filter(|width| *width > 0).collect();
    let later = &there[there.len() / 2..];
    let width = *later.iter().max_by_key(|width| later.iter().filter(|other| other == width).count())?;
    if width < 2 || records.first().is_none_or(|first| first.len() == width && is_filled(first)) {
        return (width > 1).then_some(0);
    }
    let style = CellStyle::default();
    let has_numbers = |record: &ByteRecord| record.iter().any(|cell| style.looks_numeric(cell));
    let start = records.iter().position(|record| record.len() == width && is_filled(record))?;
    let rest: Vec<&ByteRecord> = records[start..].iter().filter(|record| !record.is_empty()).collect();
    let same = rest.iter().filter(|record| record.len() == width).count();
    let is_header = !has_numbers(&records[start]) && rest.len() > 1 && rest.iter().skip(1).any(|row| has_numbers(row));
    (start <= MOST && same * 10 >= rest.len() * 9 && is_header).then_some(start as u64)
}

fn is_filled(record: &ByteRecord) -> bool {
    2 * record.iter().filter(|cell| !cell.trim_ascii().is_empty()).count() > record.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_before_a_header_are_counted() {
        let cases = [
            ("a,b\n1,2\n3,4\n", 0),
            ("Plant 7\n\na,b\n1,2\n3,4\n", 2),
            ("Plant 7;;;\r\nfrom;2024-01-01;;\r\nt;a;b;c\r\n1;2;3;4\r\n1;2;3;4\r\n", 2),
            ("Report, made by hand\ntime,a,b\n1,2,3\n4,5,6\n", 1),
            ("Exported\n1,2\n3,4\n", 0),
            // A header with too few names is not a preamble.
            ("a,b\n1,2,3\n4,5,6\n", 0),
            ("a\n1\n2\n", 0),
            ("1,2\n3,4\n5,6\n", 0),
            ("a,b,c\n1,,\n,2,\n", 0),
        ];
        for (text, wanted) in cases {
            assert_eq!(lines(text.as_bytes(), None), wanted, "{text:?}");
        }
        assert_eq!(separator_line(b"sep=;\na;b\n"), (Some(b';'), 1));
        assert_eq!(separator_line(b"sepal;b\n"), (None, 0));
        assert_eq!(after(b"a\r\nb\nc", 2), b"c");
    }
}
