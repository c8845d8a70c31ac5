//! Options of a layout by their names on the command line, for pages and requests of the service.

use crate::dates::duration;
use crate::layout::{Layout, OnBadRow, Pivot, Selector};
use crate::time_format::TimeFormat;
use crate::timezone::Timezone;

/// Names of the options that [`Layout::set`] takes. An option comes after those that it needs.
pub const TABLE_OPTIONS: [&str; 19] = [
    "group-by",
    "copy-columns",
    "columns",
    "exclude",
    "time",
    "time-format",
    "timezone",
    "delimiter",
    "decimal",
    "thousands",
    "skip-lines",
    "header",
    "no-header",
    "na-values",
    "na-values-only",
    "on-bad-row",
    "sheet",
    "pivot",
    "every",
];

impl Layout {
    /// Returns true if the option of this name takes several values.
    pub fn takes_list(name: &str) -> bool {
        const LISTS: [&str; 7] = ["copy-columns", "columns", "exclude", "time", "na-values", "na-values-only", "pivot"];
        LISTS.contains(&name)
    }

    /// Sets an option of [`TABLE_OPTIONS`]. If `texts` is invalid, returns the rule for its values as an error.
    pub fn set(&mut self, name: &str, texts: &[String]) -> Result<(), &'static str> {
        let text = texts.first().map_or("", String::as_str);
        let selectors = || texts.iter().map(|text| Selector::from_text(text)).collect::<Vec<_>>();
        let is_one = |selector: &Selector| !matches!(selector, Selector::Pattern(_));
        let point_or_comma = || matches!(text, "." | ",").then(|| text.as_bytes()[0]).ok_or("'.' or ','");
        match name {
            "columns" => self.columns = selectors(),
            "exclude" => self.exclude = selectors(),
            "copy-columns" => self.keep.extend(selectors()),
            "group-by" => {
                self.keep.insert(0, Some(Selector::from_text(text)).filter(is_one).ok_or("one column")?);
                self.has_key = true;
            }
            "time" => {
                let mut columns = selectors().into_iter();
                (self.time, self.clock) = (columns.next().filter(is_one), columns.next().filter(is_one));
                if self.time.is_none() || texts.len() > 2 || texts.len() == 2 && self.clock.is_none() {
                    return Err("a column, or a date and a time of day");
                }
            }
            "time-format" => {
                let rule = "iso, s, ms, us, ns, excel, or a strftime pattern such as %d.%m.%Y %H:%M";
                self.time_format = Some(TimeFormat::from_text(text).ok_or(rule)?);
            }
            "timezone" => {
                self.timezone = Some(Timezone::from_name(text).ok_or("the name of a time zone such as Europe/Berlin")?);
            }
            "delimiter" => {
                self.delimiter = Some(match text.as_bytes() {
                    b"tab" => b'\t',
                    [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => *byte,
                    _ => return Err("one ASCII character or tab"),
                });
            }
            "decimal" => self.decimal = Some(point_or_comma()?),
            "thousands" => self.thousands = Some(point_or_comma()?),
            "skip-lines" => self.skip_lines = Some(text.parse().map_err(|_| "a number of lines")?),
            "header" | "no-header" => {
                let is_set: bool = text.parse().map_err(|_| "true or false")?;
                self.header = Some(is_set == (name == "header"));
            }
            "na-values" => self.na_values.extend_from_slice(texts),
            "na-values-only" => {
                self.na_values.extend_from_slice(texts);
                self.na_values_only = true;
            }
            "on-bad-row" => {
                self.on_bad_row = match text {
                    "fail" => OnBadRow::Fail,
                    "skip" => OnBadRow::Skip,
                    _ => return Err("fail or skip"),
                }
            }
            "sheet" => self.sheet = Some(text.to_owned()),
            "pivot" => {
                let [time, tag, value] = <[Selector; 3]>::try_from(selectors()).map_err(|_| "TIME,TAG,VALUE")?;
                self.pivot = Some(Pivot { time, tag, value, every: None, mean: false });
            }
            "every" => {
                let (length, mean) = match text.strip_suffix(":mean") {
                    Some(length) => (length, true),
                    None => (text.strip_suffix(":last").unwrap_or(text), false),
                };
                let every = duration(length).ok_or("a duration such as 30s, 5min, 2h or 14d, or with :mean")?;
                let pivot = self.pivot.as_mut().ok_or("an option that needs pivot")?;
                (pivot.every, pivot.mean) = (Some(every), mean);
            }
            _ => return Err("an option of tables"),
        }
        Ok(())
    }
}
