use super::Stream;
use crate::error::{Error, Fault, shown};
use crate::reader::Row;
use crate::time_format::{Found, TimeFormat};
use crate::timezone::Timezone;
use eigenhedge::kernel::{TextItems, item_number};
use serde_json::Value;

/// Time that a user gave: seconds since 1970, on the clock of the table if the text has no time zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    seconds: f64,
    is_local: bool,
}

impl Stream {
    pub(super) fn take_kept(&mut self) -> Result<(), Error> {
        if self.selection.kept.is_empty() {
            return Ok(());
        }
        let kept = &mut self.row.kept;
        if self.selection.clock.is_some()
            && let (Some(clock), Some(time)) = (kept.pop(), kept.first_mut())
        {
            time.push(' ');
            time.push_str(clock.trim());
        }
        if self.has_time() {
            let outcome = self.take_time();
            outcome.map_err(|fault| self.selection.at(self.reader.place(), self.selection.kept[0], fault))?;
        }
        let (Some(items), Some(column)) = (self.layout.items, self.selection.text) else { return Ok(()) };
        let text = std::mem::take(&mut self.row.kept[column.place]);
        let outcome = match append_items(items, &text, self.row.cells_mut()) {
            Ok(()) if self.row.numbers().is_empty() => Err(Fault::NoValue("item, got none")),
            outcome => outcome
                .map_err(|found| Fault::Row(format!("an array must hold texts, numbers or truth values, got {found}"))),
        };
        self.row.kept[column.place] = text;
        self.row.kept.truncate(column.kept);
        outcome.map_err(|fault| self.selection.at(self.reader.place(), column.position, fault))
    }

    fn take_time(&mut self) -> Result<(), Fault> {
        let text = self.row.kept.first().map_or("", String::as_str);
        if self.layout.time_format.is_none() {
            self.layout.time_format = match TimeFormat::find(&[text]) {
                Found::Format(format) => Some(format),
                Found::Ambiguous { cell, readings } => return Err(Fault::ambiguous(&cell, readings)),
                Found::Nothing => None,
            };
        }
        self.row.time = self.layout.time_format.as_ref().and_then(|format| format.seconds(text));
        if let Some(time) = self.row.time {
            let is_local = self.layout.time_format.as_ref().is_some_and(|format| format.is_local(text));
            if let Some(zone) = self.layout.timezone.filter(|_| is_local) {
                self.take_local_time(zone, time);
            }
            return Ok(());
        }
        let rule = self.layout.time_format.as_ref().map_or_else(TimeFormat::usual_rule, TimeFormat::rule);
        Err(Fault::Row(format!("must be {rule}, got {}", shown(text.as_bytes()))))
    }

    /// Parses a time, in the format of the table or as ISO 8601, if the table has a time column.
    pub fn moment(&self, text: &str) -> Option<Moment> {
        let iso = TimeFormat::from_text("iso");
        let formats = [self.layout.time_format.as_ref(), iso.as_ref()];
        let parsed = |format: &TimeFormat| Some((format.seconds(text)?, format.is_local(text)));
        let (seconds, is_local) = formats.into_iter().flatten().find_map(parsed).filter(|_| self.has_time())?;
        Some(Moment { seconds, is_local })
    }

    /// Returns true if a row of this table is at the moment or later.
    pub fn is_reached(&self, moment: Moment, row: &Row) -> bool {
        let Some(time) = row.time else { return false };
        let utc = time - self.state.times.offset.map_or(0.0, f64::from);
        let on_clock = || {
            let text = row.kept.first().map_or("", String::as_str);
            self.layout.time_format.as_ref().and_then(|format| format.clock_seconds(text)).unwrap_or(time)
        };
        let now = match self.layout.timezone.filter(|_| self.state.times.offset.is_some()) {
            _ if !moment.is_local => utc,
            Some(zone) => utc + f64::from(zone.offset(utc)),
            None => on_clock(),
        };
        moment.seconds <= now
    }

    /// Interprets `time` as local time in `zone`. [`Row::time`](crate::Row::time) gets the UTC offset of the first row.
    fn take_local_time(&mut self, zone: Timezone, time: f64) {
        let times = &mut self.state.times;
        let last = times.last(self.row.key(self.key)).zip(times.offset);
        let last = last.map(|(last, offset)| last - f64::from(offset));
        let utc = zone.utc(time, last, times.is_newest_first());
        let offset = *times.offset.get_or_insert_with(|| zone.offset(utc));
        self.row.time = Some(utc + f64::from(offset));
        self.row.kept[0] = zone.text(utc);
    }
}

/// Appends one number per item of a text or JSON array. Nested and null entries are errors.
fn append_items(items: TextItems, text: &str, row: &mut Vec<f64>) -> Result<(), String> {
    let array = text.trim_start().starts_with('[').then(|| serde_json::from_str::<Vec<Value>>(text).ok()).flatten();
    let Some(array) = array else {
        items.append(text, row);
        return Ok(());
    };
    for entry in array {
        row.push(match entry {
            Value::String(text) => item_number(&text),
            Value::Number(_) | Value::Bool(_) => item_number(&entry.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(shown(entry.to_string().as_bytes())),
        });
    }
    Ok(())
}
