//! Reader of a table in long format, with a time, a tag and a value in each row, as a table with a column per tag.
//!
//! Values with equal times, or with [`Pivot::every`] in an interval, form one row. A cell is the last value (or the
//! mean) of its tag in the interval, or else that of the previous row; without `every`, it is then missing. Values
//! whose row has already been returned are late. They are left out and counted, unless more than a tenth of the values
//! of a file are late: then all values are loaded and sorted by time. The tags of a pipe are those of its first
//! [`FIRST_VALUES`] values. Values of other tags are left out and counted.

use crate::columns::select;
use crate::concatenation;
use crate::dates::iso_time;
use crate::format::Source;
use crate::layout::{Pivot, Selector};
use crate::reader::{Error, Fault, InputSource, Layout, Opened, Progress, ReadPosition, Reader, Row, RowPlace};
use crate::reading::Reading;
use crate::stream::Stream;
use crate::time_format::TimeFormat;
use crate::timezone::Timezone;
use eigenhedge::Missing;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

const FIRST_VALUES: usize = 1000;
const TAG: u128 = 512;

/// Time in seconds since 1970, index of the tag, and value.
type Value = (f64, usize, f64);

enum Values {
    Stream(Box<Stream>, VecDeque<Value>),
    Sorted(std::vec::IntoIter<Value>),
}

#[derive(Clone, Copy)]
struct Clock {
    every: Option<f64>,
    zone: Option<Timezone>,
    /// UTC offset of the times of the values in seconds, if they are local times of the zone.
    offset: Option<i32>,
}

impl Clock {
    fn stamp(self, time: f64) -> f64 {
        match (self.every, self.zone, self.offset) {
            (None, ..) => time,
            (Some(every), Some(zone), Some(offset)) => {
                zone.start_of(time - f64::from(offset), every) + f64::from(offset)
            }
            (Some(every), ..) => (time / every).floor() * every,
        }
    }

    fn text(self, time: f64) -> String {
        match (self.zone, self.offset) {
            (None, _) => iso_time(time),
            (Some(zone), Some(offset)) => zone.clock(time - f64::from(offset)),
            (Some(_), None) => iso_time(time) + "Z",
        }
    }
}

struct PivotReader {
    source: Source,
    layout: Layout,
    pivot: Pivot,
    clock: Clock,
    values: Values,
    name: Arc<str>,
    tags: HashMap<String, usize>,
    selected: Vec<usize>,
    next: Option<Value>,
    time: Option<f64>,
    row: Vec<f64>,
    counts: Vec<u32>,
    time_text: String,
    rows: u64,
    late: u64,
    unknown: u64,
}

fn layout_of_values(layout: &Layout, pivot: &Pivot) -> Layout {
    Layout {
        pivot: None,
        columns: vec![pivot.value.clone()],
        keep: vec![pivot.tag.clone()],
        time: Some(pivot.time.clone()),
        has_key: true,
        exclude: Vec::new(),
        only_numeric: false,
        model_columns: None,
        missing: Some(Missing::Fill),
        found: None,
        ..layout.clone()
    }
}

impl Stream {
    /// Opens a table at its first row.
    pub fn open(source: &Source, layout: &Layout) -> Result<Self, Error> {
        let Some(pivot) = &layout.pivot else { return Self::of(source, layout, concatenation::open(source, layout)?) };
        let input = InputSource::new(source.parts().first().unwrap_or(source), layout)?;
        let opened = PivotReader::open(source, layout, pivot)?;
        Self::of(source, &Layout { time_format: None, ..layout.clone() }, (input, opened))
    }

    fn next_value(&mut self) -> Result<Option<(f64, &String, f64)>, Error> {
        let value = self.next_row()?.map(|row| row[0]);
        Ok(value.map(|value| (self.row().time.unwrap_or(0.0), &self.row().kept[1], value)))
    }
}

impl PivotReader {
    fn open(source: &Source, layout: &Layout, pivot: &Pivot) -> Result<Opened, Error> {
        let values = layout_of_values(layout, pivot);
        let mut stream = Stream::open(source, &values)?;
        let (mut tags, mut names) = (HashMap::new(), vec![stream.kept_columns().swap_remove(0)]);
        let mut first = VecDeque::new();
        let (mut latest, mut late, mut count) = (f64::NEG_INFINITY, 0u64, 0u64);
        let is_regular = source.is_regular();
        let mut clock = Clock { every: pivot.every, zone: layout.timezone, offset: None };
        while is_regular || first.len() < FIRST_VALUES {
            let Some((time, tag, value)) = stream.next_value()? else { break };
            let number = match tags.get(tag) {
                Some(number) => *number,
                None => {
                    let number = tags.len();
                    names.push(tag.clone());
                    tags.insert(tag.clone(), number);
                    stream.allow("the tags", TAG * number as u128)?;
                    number
                }
            };
            clock.offset = stream.time_offset();
            let stamp = clock.stamp(time);
            (late, count) = (late + u64::from(stamp < latest), count + 1);
            latest = latest.max(stamp);
            if !is_regular {
                first.push_back((time, number, value));
            }
        }
        let (width, name, reading) = (names.len(), stream.source().into(), stream.reading());
        let time_format = TimeFormat::from_text("iso");
        let reading = Reading { time_format, step: pivot.every, first_line: 0, ..reading };
        let time = Some(Selector::Position(0));
        let outer = Layout { time, clock: None, keep: Vec::new(), found: None, ..layout.clone() };
        let columns =
            select(Some(names), width, &outer, "", |_| false).map_err(|fault| Error::at(stream.source(), fault))?;
        let values = match is_regular {
            true if 10 * late > count => {
                let size = size_of::<Value>() as u128;
                stream.allow("the values, which are not in the order of time", size * u128::from(count))?;
                sorted(source, &values, &tags)?
            }
            true => Values::Stream(Box::new(Stream::open(source, &values)?), VecDeque::new()),
            false => Values::Stream(Box::new(stream), first),
        };
        let reader = Self {
            source: source.clone(),
            layout: layout.clone(),
            pivot: pivot.clone(),
            clock,
            values,
            name,
            selected: columns.selected.iter().map(|position| position - 1).collect(),
            next: None,
            time: None,
            row: vec![f64::NAN; tags.len()],
            counts: vec![0; tags.len()],
            tags,
            time_text: String::new(),
            rows: 0,
            late: 0,
            unknown: 0,
        };
        Ok(Opened { reading, ..Opened::new(reader, columns) })
    }

    fn next_value(&mut self) -> Result<Option<Value>, Error> {
        if let Some(value) = self.next.take() {
            return Ok(Some(value));
        }
        match &mut self.values {
            Values::Sorted(values) => Ok(values.next()),
            Values::Stream(stream, first) => {
                if let Some(value) = first.pop_front() {
                    return Ok(Some(value));
                }
                while let Some((time, tag, value)) = stream.next_value()? {
                    match self.tags.get(tag) {
                        Some(tag) => return Ok(Some((time, *tag, value))),
                        None => self.unknown += 1,
                    }
                }
                Ok(None)
            }
        }
    }

    fn enter(&mut self, tag: usize, value: f64) {
        let count = if self.pivot.mean { self.counts[tag] } else { 0 };
        let before = if count == 0 { 0.0 } else { self.row[tag] };
        self.row[tag] = before + (value - before) / f64::from(count + 1);
        self.counts[tag] += 1;
    }

    fn end_row(&mut self, time: f64, row: &mut Vec<f64>) {
        row.extend(self.selected.iter().map(|tag| self.row[*tag]));
        self.time_text = self.clock.text(time);
        self.counts.fill(0);
        if self.pivot.every.is_none() {
            self.row.fill(f64::NAN);
        }
        self.rows += 1;
    }
}

fn sorted(source: &Source, layout: &Layout, tags: &HashMap<String, usize>) -> Result<Values, Error> {
    let mut stream = Stream::open(source, layout)?;
    let mut values = Vec::new();
    while let Some((time, tag, value)) = stream.next_value()? {
        values.extend(tags.get(tag).map(|tag| (time, *tag, value)));
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(Values::Sorted(values.into_iter()))
}

impl Reader for PivotReader {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        let numbers = row.cleared();
        loop {
            let Some((time, tag, value)) = self.next_value()? else {
                let Some(last) = self.time.take() else { return Ok(false) };
                self.end_row(last, numbers);
                break;
            };
            let stamp = self.clock.stamp(time);
            match self.time {
                Some(open) if stamp < open => self.late += 1,
                Some(open) if stamp > open => {
                    self.next = Some((time, tag, value));
                    self.time = None;
                    self.end_row(open, numbers);
                    break;
                }
                _ => {
                    self.time = Some(stamp);
                    self.enter(tag, value);
                }
            }
        }
        let fills = self.layout.fills();
        if !fills && numbers.iter().any(|value| value.is_nan()) {
            return Err(Error::at(self.place(), Fault::cell("no value of some tags".to_owned(), true)));
        }
        row.kept.push(self.time_text.clone());
        Ok(true)
    }

    fn place(&self) -> RowPlace {
        RowPlace { source: Arc::clone(&self.name), unit: "row", number: self.rows.saturating_sub(1) }
    }

    fn position(&self) -> ReadPosition {
        ReadPosition { rows: self.rows, ..ReadPosition::default() }
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        if position.rows < self.rows {
            let layout = layout_of_values(&self.layout, &self.pivot);
            self.values = match self.values {
                Values::Stream(..) => Values::Stream(Box::new(Stream::open(&self.source, &layout)?), VecDeque::new()),
                Values::Sorted(_) => sorted(&self.source, &layout, &self.tags)?,
            };
            (self.rows, self.time, self.next, self.late, self.unknown) = (0, None, None, 0, 0);
            self.row.fill(f64::NAN);
            self.counts.fill(0);
        }
        let mut row = Row::default();
        while self.rows < position.rows {
            match self.read(&mut row) {
                Ok(false) => break,
                Err(error) if !error.is_row() => return Err(error),
                _ => {}
            }
        }
        Ok(self.rows)
    }

    fn progress(&self) -> Progress {
        match &self.values {
            Values::Stream(stream, _) => stream.progress(),
            Values::Sorted(_) => Progress::Unknown(self.rows),
        }
    }

    fn remarks(&self) -> Option<String> {
        let counted = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what} left out"));
        let parts = [counted(self.late, "late values"), counted(self.unknown, "values of later tags")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::format::Format;

    #[test]
    fn a_table_that_must_be_sorted_keeps_its_reading() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("long.csv");
        let line = |i: u32| format!("05.03.2024 08:{:02};{};{},5\n", i % 20, ["a", "b"][(i / 20) as usize], i);
        let by_tag: Vec<String> = (0..40).map(line).collect();
        let by_time: Vec<String> = (0..40).map(|i| line(i / 2 + i % 2 * 20)).collect();
        let [time, tag, value] = ["Zeit", "Messstelle", "Wert"].map(Selector::from_text);
        let pivot = Some(Pivot { time, tag, value, every: None, mean: false });
        let layout = Layout { pivot, ..Layout::new(Format::Csv) };
        let read = |lines: &[String]| {
            std::fs::write(&path, "Zeit;Messstelle;Wert\n".to_owned() + &lines.concat()).unwrap();
            let mut stream = Stream::open(&Source::File(path.clone()), &layout).unwrap();
            let rows: Vec<Vec<f64>> = std::iter::from_fn(|| stream.next_row().unwrap().map(<[f64]>::to_vec)).collect();
            (stream.read_as().map(str::to_owned), stream.reading(), rows)
        };
        let (sorted, plain) = (read(&by_tag), read(&by_time));
        assert_eq!(sorted, plain);
        assert_eq!(sorted.2.len(), 20);
        assert!(sorted.0.unwrap().starts_with("delimiter \";\", decimal comma, "));
    }
}
