//! Parsing of the cells of a text table: numbers with a decimal point or comma, markers for missing values, and texts.

use crate::reading::Reading;
use crate::recode::text_of;

/// Notation of the cells of a text table.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellStyle {
    has_comma: bool,
    /// True if `1,234` is a whole number with one group of thousands, and not a decimal number.
    has_groups: bool,
    signs: Vec<String>,
    only: bool,
    codes: Vec<f64>,
    units: Vec<String>,
}

const MISSING: [&[&str]; 4] = [
    &["na", "n/a", "#n/a", "null", "none", "-", "--", "---", "?", "n.a."],
    &["bad", "bad input", "no data", "i/o timeout", "comm fail", "calc failed", "scan off", "not connect"],
    &["pt created", "intf shut"],
    &["#value!", "#ref!", "#div/0!", "#name?", "#num!", "1.#qnan"],
];

impl CellStyle {
    /// Creates a style. Cells in `na_values` count as missing, and so do those in [`MISSING`] unless `only` is true.
    pub fn new(reading: &Reading, na_values: &[String], only: bool) -> Self {
        let mut units: Vec<String> = reading.cell_units.iter().filter(|unit| !unit.is_empty()).cloned().collect();
        units.sort_unstable();
        units.dedup();
        let (has_comma, has_groups, signs) = (reading.signs.decimal == b',', reading.has_groups, na_values.to_vec());
        let mut style = Self { has_comma, has_groups, signs, only, units, codes: Vec::new() };
        style.codes = na_values.iter().filter_map(|sign| style.parse(sign)).filter(|x| !x.is_nan()).collect();
        style
    }

    /// Parses a number, including NaN and infinity. Returns `None` for text. A number that counts as missing gives NaN.
    pub fn number(&self, cell: &[u8]) -> Option<f64> {
        self.number_of_text(&text_of(cell))
    }

    #[inline]
    pub fn number_of_text(&self, cell: &str) -> Option<f64> {
        let value = self.parse(cell).or_else(|| self.grouped(cell))?;
        Some(if !self.codes.is_empty() && self.codes.contains(&value) { f64::NAN } else { value })
    }

    fn parse(&self, cell: &str) -> Option<f64> {
        let text = cell.trim_ascii();
        if !self.has_comma {
            return text.parse().ok();
        }
        match text.find(',') {
            _ if text.contains('.') => None,
            None => text.parse().ok(),
            Some(at) => format!("{}.{}", &text[..at], &text[at + 1..]).parse().ok(),
        }
    }

    /// Parses less common notations: digits in groups of three such as `1,234.5` or `1 234,5`, a unit of the table or a
    /// percent sign, which are ignored, a minus sign at the end, and quotes. The other decimal sign gives `None`.
    #[cold]
    fn grouped(&self, cell: &str) -> Option<f64> {
        let text = cell.trim();
        let is_digit = |text: &&str| text.ends_with(|c: char| c.is_ascii_digit());
        let number = self.units.iter().filter_map(|unit| text.strip_suffix(unit.as_str())).map(str::trim_end);
        if let Some(number) = number.clone().find(is_digit) {
            return self.number_of_text(number);
        }
        if let Some(percent) = text.strip_suffix('%').map(str::trim_end).filter(is_digit) {
            return self.number_of_text(percent);
        }
        if let Some(less) = text.strip_suffix('-').filter(is_digit).filter(|less| !less.starts_with('-')) {
            return self.number_of_text(less).map(|number| -number);
        }
        if text.starts_with(['"', '\u{2212}']) {
            // A quote after a space is part of the cell. The minus sign may be U+2212.
            let plain = unquoted(text).replace('\u{2212}', "-");
            return if plain == text { None } else { self.number_of_text(&plain) };
        }
        let decimal = if self.has_comma { ',' } else { '.' };
        let whole = text.split(decimal).next().unwrap_or_default();
        let is_own = |sign: char| sign != decimal && !sign.is_ascii_digit() && !matches!(sign, '+' | '-' | 'e' | 'E');
        let sign = whole.chars().find(|sign| is_own(*sign))?;
        let plain = text.replace(sign, ".");
        let is_group = has_thousands(text.replace(['\u{a0}', '\u{202f}', '\u{2009}'], " ").as_bytes())
            || self.has_groups && has_one_group(plain.as_bytes());
        if !is_group || !matches!(sign, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}') {
            return None;
        }
        self.parse(&text.replace(sign, ""))
    }

    pub fn is_missing(&self, cell: &[u8]) -> bool {
        let cell = cell.trim_ascii();
        let is = |sign: &str| cell.eq_ignore_ascii_case(sign.as_bytes());
        let is_sign = !self.only && MISSING.iter().copied().flatten().any(|sign| is(sign))
            || self.signs.iter().any(|sign| is(sign.trim()));
        cell.is_empty() || is_sign || self.number(cell).is_some_and(f64::is_nan)
    }

    pub fn is_word(&self, cell: &[u8]) -> bool {
        !self.is_missing(cell) && !self.looks_numeric(cell)
    }

    /// Returns true for a number, even with a thousands separator or the other decimal separator.
    pub fn looks_numeric(&self, cell: &[u8]) -> bool {
        match self.number(cell) {
            Some(value) => !value.is_nan(),
            None => has_thousands(cell) || decimal_sign(cell).is_some(),
        }
    }

    pub fn hint(&self, cell: &[u8]) -> &'static str {
        match decimal_sign(cell) {
            Some(b',') if !self.has_comma && has_one_group(cell) => {
                "; --decimal , reads a decimal comma, --thousands , a sign between thousands"
            }
            Some(b'.') if self.has_comma && has_one_group(cell) => {
                "; --decimal . reads a decimal point, --thousands . a sign between thousands"
            }
            Some(b',') if !self.has_comma => "; --decimal , reads decimal commas",
            Some(b'.') if self.has_comma => "; the decimal sign was taken to be a comma, and --decimal . changes that",
            _ => "",
        }
    }
}

/// Splits a cell such as `149.3 m3/h` into its number and its unit. Returns `None` for other cells.
pub(crate) fn split_unit(cell: &str) -> Option<(&str, &str)> {
    const LONGEST: usize = 16;
    let cell = cell.trim();
    let is_of_number = |c: char| c.is_ascii_digit() || c.is_whitespace() || ".,'’+-\u{2212}".contains(c);
    let (number, unit) = cell.split_at(cell.find(|c: char| !is_of_number(c))?);
    let number = number.trim_end();
    let is_unit = unit.starts_with(|c: char| c.is_alphabetic() || c == '°')
        && unit.len() <= LONGEST
        && unit.chars().all(|c| c.is_alphabetic() || "°²³23/·*^%()".contains(c));
    let is_number = number.ends_with(|c: char| c.is_ascii_digit());
    (is_unit && is_number && CellStyle::default().looks_numeric(number.as_bytes())).then_some((number, unit))
}

/// Removes enclosing quotes, which the parser of CSV leaves in a cell if a space precedes them.
pub(crate) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Returns true if the digits before the decimal separator are in groups of three. A single group can be decimals.
pub(crate) fn has_thousands(cell: &[u8]) -> bool {
    let cell = unsigned(cell);
    let first = digits(cell);
    let Some(&sign) = cell.get(first).filter(|sign| matches!(sign, b'.' | b',' | b' ' | b'\'' | 0xa0)) else {
        return false;
    };
    let (mut at, mut groups) = (first, 0);
    while cell.get(at) == Some(&sign) && digits(&cell[at + 1..]) == 3 {
        (at, groups) = (at + 4, groups + 1);
    }
    let rest = &cell[at..];
    let has_decimals = matches!(rest, [b'.' | b',', ..] if rest[0] != sign) && 1 + digits(&rest[1..]) == rest.len();
    let is_certain = groups > 1 || has_decimals || !matches!(sign, b'.' | b',');
    (1..=3).contains(&first) && groups > 0 && is_certain && (rest.is_empty() || has_decimals)
}

pub(crate) fn group_sign(cell: &[u8]) -> Option<u8> {
    let sign = unsigned(cell).iter().copied().find(|byte| !byte.is_ascii_digit());
    sign.filter(|_| has_thousands(cell))
}

/// Returns true for one to three digits that do not start with 0, a point or comma, and three digits: `1,234`.
pub(crate) fn has_one_group(cell: &[u8]) -> bool {
    let cell = unsigned(cell);
    let first = digits(cell);
    (1..=3).contains(&first)
        && cell.len() == first + 4
        && matches!(cell[first], b'.' | b',')
        && digits(&cell[first + 1..]) == 3
        && cell[0] != b'0'
}

/// Returns the point or comma in a decimal number such as `1,5`, `-.5` or `1,5e-3`, or `None`.
pub(crate) fn decimal_sign(cell: &[u8]) -> Option<u8> {
    let cell = unsigned(cell);
    let whole = digits(cell);
    let sign = cell.get(whole).copied().filter(|sign| matches!(sign, b'.' | b','))?;
    let fraction = &cell[whole + 1..];
    let decimals = digits(fraction);
    let is_exponent = match &fraction[decimals..] {
        [] => true,
        [b'e' | b'E', exponent @ ..] => {
            let exponent = unsigned(exponent);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        _ => false,
    };
    (is_exponent && decimals > 0).then_some(sign)
}

fn unsigned(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell)
}

fn digits(cell: &[u8]) -> usize {
    cell.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Dialect;

    fn style(decimal: u8, has_groups: bool) -> CellStyle {
        let signs = Dialect { delimiter: b';', decimal };
        CellStyle::new(&Reading { signs, has_groups, ..Reading::default() }, &[], false)
    }

    #[test]
    fn numbers_have_one_decimal_sign_and_no_thousands_sign() {
        let (point, comma) = (style(b'.', false), style(b',', false));
        let cases: [(&str, Option<f64>, Option<f64>, bool); 17] = [
            ("1", Some(1.0), Some(1.0), false),
            (" 1.5 ", Some(1.5), None, false),
            ("-1,5e-1", None, Some(-0.15), false),
            ("1,234", None, Some(1.234), false),
            ("1.234,5", None, Some(1234.5), true),
            ("-1,234.5", Some(-1234.5), None, true),
            ("1.234.567", None, Some(1_234_567.0), true),
            ("1 234", Some(1234.0), Some(1234.0), true),
            ("1'234.5", Some(1234.5), None, true),
            ("12.34.56", None, None, false),
            ("1234.567,8", None, None, false),
            ("29.02.2024", None, None, false),
            ("192.168.1.1", None, None, false),
            (" \"1234\"", Some(1234.0), Some(1234.0), false),
            ("\u{2212}12", Some(-12.0), Some(-12.0), false),
            ("\"1", None, None, false),
            ("\"", None, None, false),
        ];
        for (cell, as_point, as_comma, thousands) in cases {
            let cell = cell.as_bytes();
            let found = (point.number(cell), comma.number(cell), has_thousands(cell));
            assert_eq!(found, (as_point, as_comma, thousands), "{}", crate::recode::text_of(cell));
        }
        let long = format!("0.{}1", "3".repeat(700));
        assert_eq!(point.number(long.as_bytes()), Some(1.0 / 3.0));
        assert_eq!(comma.number(long.replace('.', ",").as_bytes()), Some(1.0 / 3.0));
    }

    #[test]
    fn numbers_may_have_a_unit() {
        let cases = [
            ("149.3 m3/h", Some(("149.3", "m3/h"))),
            ("62,1°C", Some(("62,1", "°C"))),
            ("-1 234 kg/cm²", Some(("-1 234", "kg/cm²"))),
            ("m3/h", None),
            ("12", None),
            ("12:00 h", None),
            ("12 of 20", None),
            ("2024-01-08Z", None),
            ("20240108T000000", None),
            ("0x1F", None),
        ];
        cases.into_iter().for_each(|(cell, wanted)| assert_eq!(split_unit(cell), wanted, "{cell}"));
        let cell_units = vec!["°C".to_owned(), String::new()];
        let signs = Dialect { delimiter: b';', decimal: b',' };
        let style = CellStyle::new(&Reading { signs, cell_units, ..Reading::default() }, &[], false);
        assert_eq!(style.number("62,1°C".as_bytes()), Some(62.1));
        assert_eq!(style.number(b"62,1 \xb0C"), Some(62.1));
        assert_eq!(style.number(b"62,1 bar"), None);
        assert_eq!(style.number("°C".as_bytes()), None);
    }

    #[test]
    fn signs_for_missing_numbers_can_be_given() {
        let usual = CellStyle::default();
        for cell in ["", " ", "NA", "n/a", "NaN", "null", "-", "---", "#N/A"] {
            assert!(usual.is_missing(cell.as_bytes()), "{cell}");
        }
        let signs = ["-999".to_owned(), "off".to_owned()];
        for only in [false, true] {
            let own = CellStyle::new(&Reading::default(), &signs, only);
            for (cell, wanted) in [("-999.0", true), ("OFF", true), ("", true), ("NA", !only), ("999", false)] {
                assert_eq!(own.is_missing(cell.as_bytes()), wanted, "{cell}");
            }
        }
        let grouped = style(b'.', true);
        let cases = [
            ("1,234", Some(1234.0)),
            ("1.234", Some(1.234)),
            ("0,234", None),
            ("1,23", None),
            ("1,234,567", Some(1_234_567.0)),
        ];
        cases.into_iter().for_each(|(cell, wanted)| assert_eq!(grouped.number(cell.as_bytes()), wanted, "{cell}"));
    }
}
