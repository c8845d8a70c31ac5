//! Detection of the delimiter and the decimal separator of a CSV table from its first lines.
//!
//! A delimiter other than a comma splits nearly all lines into as many cells as the first line. If a comma does so too,
//! the delimiter with the larger share of numeric cells is chosen. With other delimiters than commas, cells such as
//! `1,5` have a decimal comma. So do such lines below a header without a comma, which are one column. Lines that start
//! with `#` are comments if the first line does, and has another number of cells than the table.

use super::cells::{CellStyle, decimal_sign, group_sign, has_one_group, has_thousands, split_unit};
use super::first_lines::{LINES, Lines, after};
use crate::format::Format;
use crate::layout::Layout;
use crate::reading::{Dialect, Reading};
use crate::recode::text_of;
use csv::ByteRecord;

const DELIMITERS: [u8; 3] = [b'\t', b';', b'|'];
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Maximum number of lines before a table, which prevents an overflow of line numbers.
const MOST_SKIPPED: u64 = 1 << 48;
const AGREEING: f64 = 0.9;

pub struct Look {
    pub reading: Reading,
    pub has_comments: bool,
    pub lines: Vec<ByteRecord>,
}

impl Look {
    pub fn new(head: &[u8], layout: &Layout) -> Self {
        let found = layout.found.as_ref();
        let by_format = (layout.format == Format::Tsv).then_some(b'\t');
        let given = layout.delimiter.or(by_format).or_else(|| found.map(|found| found.signs.delimiter));
        let known = layout.skip_lines.or_else(|| found.map(|found| found.skipped)).map(|lines| lines.min(MOST_SKIPPED));
        let (by_line, first) = separator_line(head);
        let given = given.or(by_line.filter(|_| known.is_none_or(|lines| lines > 0)));
        let skipped = known.unwrap_or_else(|| first + lines_before_header(after(head, first), given));
        let head = after(head, skipped);
        let table = after_comments(head);
        let splits = |head: &[u8]| given.unwrap_or_else(|| delimiter(head, layout.decimal));
        let width = |head: &[u8]| records(head, splits(table)).first().map_or(0, ByteRecord::len);
        let has_comments = table.len() < head.len() && !table.is_empty() && width(head) != width(table);
        let head = if has_comments { table } else { head };
        let delimiter = splits(head);
        let mut lines = records(head, delimiter);
        lines.retain(|line| !(has_comments && line.get(0).is_some_and(|cell| cell.starts_with(b"#"))));
        let cell_units = found.map_or_else(|| cell_units(&lines), |found| found.cell_units.clone());
        if cell_units.iter().any(|unit| !unit.is_empty()) {
            lines = without_units(&lines, &cell_units);
        }
        let decimal = layout.decimal.or_else(|| found.map(|found| found.signs.decimal));
        let by_groups = layout.thousands.map(|sign| if sign == b'.' { b',' } else { b'.' });
        let decimal = decimal.or(by_groups).unwrap_or_else(|| match delimiter {
            b',' => decimal_in_quotes(&lines),
            _ => decimal_of(&lines),
        });
        let has_groups = match (layout.thousands, found) {
            (Some(_), _) => true,
            (None, Some(found)) => found.has_groups,
            (None, None) => has_groups(&lines, decimal),
        };
        let signs = Dialect { delimiter, decimal };
        Self { reading: Reading { signs, has_groups, cell_units, skipped, ..Reading::default() }, has_comments, lines }
    }
}

fn after_comments(head: &[u8]) -> &[u8] {
    let mut rest = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    if !rest.starts_with(b"#") {
        return head;
    }
    while rest.starts_with(b"#") {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        rest = rest[end..].trim_ascii_start();
    }
    rest
}

fn records(head: &[u8], delimiter: u8) -> Vec<ByteRecord> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(Lines::new(head));
    reader.byte_records().map_while(Result::ok).take(LINES + 1).collect()
}

fn delimiter(head: &[u8], decimal: Option<u8>) -> u8 {
    let is_better = |lines: &[ByteRecord]| {
        let with_comma = records(head, b',');
        !agree(&with_comma) || numbers(lines) >= numbers(&with_comma)
    };
    let is_found = |delimiter: &u8| {
        let lines = records(head, *delimiter);
        agree(&lines) && is_better(&lines)
    };
    let found = DELIMITERS.into_iter().filter(|delimiter| head.contains(delimiter)).find(is_found);
    found.unwrap_or_else(|| if is_one_column(head, decimal) { b';' } else { b',' })
}

/// Returns true for one column of numbers, most with a decimal comma, below a header without one.
fn is_one_column(head: &[u8], decimal: Option<u8>) -> bool {
    let signs = Dialect { delimiter: b';', decimal: b',' };
    let style = CellStyle::new(&Reading { signs, ..Reading::default() }, &[], false);
    let (lines, with_comma) = (records(head, b';'), records(head, b','));
    let (Some(first), Some(header)) = (lines.first().and_then(|line| line.get(0)), with_comma.first()) else {
        return false;
    };
    let rows: Vec<&[u8]> = lines.iter().skip(1).filter_map(|line| line.get(0)).collect();
    let is_decimal = |cell: &[u8]| decimal_sign(cell) == Some(b',');
    let has_header = header.len() == 1 && style.is_word(first);
    let decimals = rows.iter().filter(|cell| is_decimal(cell)).count();
    let is_likely = match decimal {
        Some(b',') => has_header && decimals > 0 || style.looks_numeric(first),
        Some(_) => false,
        None => has_header && 2 * decimals > rows.len(),
    };
    // Words without a comma can be units or bad cells.
    let fits = |cell: &&[u8]| style.looks_numeric(cell) || !cell.contains(&b',');
    is_likely && lines.iter().all(|line| line.len() == 1) && rows.iter().all(fits)
}

fn agree(lines: &[ByteRecord]) -> bool {
    let width = lines.first().map_or(0, ByteRecord::len);
    let same = lines.iter().filter(|line| line.len() == width).count();
    width > 1 && same as f64 >= AGREEING * lines.len() as f64
}

fn numbers(lines: &[ByteRecord]) -> f64 {
    let style = CellStyle::default();
    let cells: usize = lines.iter().map(ByteRecord::len).sum();
    let plain = lines.iter().flatten().filter(|cell| !style.is_word(cell)).count();
    plain as f64 / cells.max(1) as f64
}

/// Returns the unit after the numbers of each column, unless all are equal, as in a name such as `4711A`.
fn cell_units(lines: &[ByteRecord]) -> Vec<String> {
    let style = CellStyle::default();
    let width = lines.first().map_or(0, ByteRecord::len);
    let unit_of = |column: usize| {
        let texts: Vec<_> = lines.iter().skip(1).filter_map(|line| line.get(column)).map(text_of).collect();
        let is_bare = |text: &str| style.is_missing(text.as_bytes()) || style.looks_numeric(text.as_bytes());
        let texts = texts.iter().filter(|text| !is_bare(text)).map(|text| split_unit(text));
        let parts: Vec<(&str, &str)> = texts.collect::<Option<_>>()?;
        let (number, unit) = *parts.first()?;
        let is_unit = parts.iter().all(|part| part.1 == unit) && parts.iter().any(|part| part.0 != number);
        is_unit.then(|| unit.to_owned())
    };
    (0..width).map(|column| unit_of(column).unwrap_or_default()).collect()
}

fn without_units(lines: &[ByteRecord], units: &[String]) -> Vec<ByteRecord> {
    let bare = |(column, cell): (usize, &[u8])| match split_unit(&text_of(cell)) {
        Some((number, unit)) if units.get(column).is_some_and(|own| own == unit) => number.as_bytes().to_vec(),
        _ => cell.to_vec(),
    };
    lines.iter().map(|line| line.iter().enumerate().map(bare).collect()).collect()
}

/// Returns the decimal separator if the other sign must separate thousands, as in `1,500,030`.
fn decimal_by_groups(lines: &[ByteRecord]) -> Option<u8> {
    let groups_by = |sign: u8| {
        let contradicts = |cell: &[u8]| decimal_sign(cell) == Some(sign) && !has_one_group(cell);
        let cells = || lines.iter().flatten();
        cells().any(|cell| group_sign(cell) == Some(sign)) && !cells().any(contradicts)
    };
    match (groups_by(b','), groups_by(b'.')) {
        (true, false) => Some(b'.'),
        (false, true) => Some(b','),
        _ => None,
    }
}

/// Returns the decimal separator that groups of thousands settle, or else the more frequent one.
fn decimal_of(lines: &[ByteRecord]) -> u8 {
    if let Some(sign) = decimal_by_groups(lines) {
        return sign;
    }
    // In a number with groups of digits, the last point or comma is counted.
    let last = |cell: &[u8]| cell.iter().copied().rfind(|byte| matches!(byte, b'.' | b',')).unwrap_or(b'.');
    let sign = |cell: &[u8]| decimal_sign(cell).or_else(|| has_thousands(cell).then(|| last(cell)));
    let signs: Vec<u8> = lines.iter().flatten().filter_map(sign).collect();
    let commas = signs.iter().filter(|sign| **sign == b',').count();
    if 2 * commas > signs.len() { b',' } else { b'.' }
}

/// Returns a comma if some number in quotes must have a decimal comma and no number has a point.
fn decimal_in_quotes(lines: &[ByteRecord]) -> u8 {
    let has =
        |wanted: u8| lines.iter().flatten().any(|cell| decimal_sign(cell) == Some(wanted) && !has_one_group(cell));
    let has_points = lines.iter().flatten().any(|cell| decimal_sign(cell) == Some(b'.'));
    if has(b',') && !has_points { decimal_of(lines) } else { b'.' }
}

/// Returns true if `1,234` is 1234: other numbers show the decimal separator, and all such groups have three digits.
fn has_groups(lines: &[ByteRecord], decimal: u8) -> bool {
    let cells = || lines.iter().skip(1).flatten();
    let other = if decimal == b',' { b'.' } else { b',' };
    let has_other = |cell: &&[u8]| decimal_sign(cell) == Some(other);
    cells().any(|cell| decimal_sign(cell) == Some(decimal) || has_thousands(cell))
        && cells().any(|cell| has_one_group(cell) && has_other(&cell) || has_thousands(cell) && cell.contains(&other))
        && cells().filter(has_other).all(has_one_group)
}

const MOST: usize = 60;

/// Returns the delimiter of a first line such as `sep=;`, and the number of such lines (0 or 1).
fn separator_line(head: &[u8]) -> (Option<u8>, u64) {
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head);
    let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [s, e, p, b'=', sign] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") && sign.is_ascii() => (Some(*sign), 1),
        _ => (None, 0),
    }
}

fn lines_before_header(head: &[u8], delimiter: Option<u8>) -> u64 {
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
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn delimiters_and_decimal_signs_are_found() {
        let cases = [
            ("a,b\n1,2\n", ',', '.'),
            ("a;b\n1,5;2,5\n", ';', ','),
            ("1,5;2,5\n1,5;2,25\n", ';', ','),
            ("a;b\n1.5;2.5\n", ';', '.'),
            ("a;b\n1;2\n", ';', '.'),
            ("a\tb\n1,5\t2\n", '\t', ','),
            ("a|b\n1.5|2\n", '|', '.'),
            ("a,b,note\n1,2,x;y\n3,4,z\n", ',', '.'),
            ("a,b,note\n1,2,x;y\n3,4,z;w\n", ',', '.'),
            ("1,2,3;4\n1,2,3;4\n", ',', '.'),
            ("a;b;note\n1,5;2;\"x;y\"\n", ';', ','),
            ("when;a;b\n29.02.2024 12:00;1,5;2\n", ';', ','),
            ("a;b\n1.234,5;2\n", ';', ','),
            ("a;b\n1,500,030;2\n999,500;3\n999,400;4\n", ';', '.'),
            ("a;b\n1.500.030;2\n999.500;3\n999.400;4\n", ';', ','),
            ("a;b\n192.168.100.101;1.5\n", ';', '.'),
            ("a;b\n1 234,5;999.500\n", ';', '.'),
            ("a,b\n\"1,5\",2\n", ',', ','),
            ("a,b\n\"1,234\",2\n", ',', '.'),
            ("sep=;\na;b\n1,5;2\n", ';', ','),
            ("x\n1\n", ',', '.'),
            ("x\n7,02\n7,13\n", ';', ','),
            ("\"x, left\"\nbar\n7,02\n-7\n7,13\n7,14\n", ';', ','),
            ("7,02\n7,13\n", ',', '.'),
            ("x\n7,02,1\n7,13,2\n", ',', '.'),
            ("x\n7\n8\n9,1\n", ',', '.'),
            ("", ',', '.'),
        ];
        for (text, delimiter, decimal) in cases {
            let look = Look::new(text.as_bytes(), &Layout::new(Format::Csv));
            let signs = look.reading.signs;
            let found = (char::from(signs.delimiter), char::from(signs.decimal));
            assert_eq!(found, (delimiter, decimal), "{text:?}");
        }
        let one = [
            ("7,02\n7,13\n", ';'),
            ("a\n7,02\n7\n8\n", ';'),
            ("a,b\n7,02\n", ','),
            ("1,2,3\n4,5,6\n", ','),
            ("a\tb\n1\t2\n", '\t'),
        ];
        for (text, delimiter) in one {
            let layout = Layout { decimal: Some(b','), ..Layout::new(Format::Csv) };
            assert_eq!(char::from(Look::new(text.as_bytes(), &layout).reading.signs.delimiter), delimiter, "{text:?}");
        }
        for text in ["a;b\n1,500,030;2\n999,500;3\n", "a;b\n1.500.030;2\n999.500;3\n"] {
            assert!(Look::new(text.as_bytes(), &Layout::new(Format::Csv)).reading.has_groups, "{text:?}");
        }
    }

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
            assert_eq!(lines_before_header(text.as_bytes(), None), wanted, "{text:?}");
        }
        assert_eq!(separator_line(b"sep=;\na;b\n"), (Some(b';'), 1));
        assert_eq!(separator_line(b"sepal;b\n"), (None, 0));
        assert_eq!(after(b"a\r\nb\nc", 2), b"c");
    }
}
