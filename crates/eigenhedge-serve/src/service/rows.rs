//! Rows of a request, read by `eigenhedge-io`, in the form in which they are logged.

use super::memory::Reserved;
use super::options::{StreamOptions, of_request};
use super::problem::Problem;
use super::shape::Shape;
use eigenhedge_io::{Error, Format, MaxMemory, Source, Stream, json_lines};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

const MOST_NUMBERS: usize = 1 << 16;
/// Memory for parsing, per byte of the request.
const COPIES: u64 = 4;
/// Memory limit for decoding, per byte of the request, and its minimum and maximum.
const MEMORY_FACTOR: u64 = 64;
const DECODED: (u64, u64) = (1 << 20, 64 << 20);
const PIECE: usize = 64 << 10;
const OF_TEXT: usize = 48;
const LONGEST_TEXT: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    Json,
    Ndjson,
    Csv,
    Arrow,
}

impl BodyForm {
    pub fn of(content_type: &str) -> Option<Self> {
        let essence = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Some(Self::Json),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Some(Self::Ndjson),
            "text/csv" => Some(Self::Csv),
            "application/vnd.apache.arrow.stream" if cfg!(feature = "parquet") => Some(Self::Arrow),
            _ => None,
        }
    }

    fn format(self) -> Format {
        match self {
            Self::Json | Self::Ndjson => Format::Jsonl,
            Self::Csv => Format::Csv,
            Self::Arrow => Format::Arrow,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    pub shape: Option<Shape>,
    pub width: usize,
    pub cells: Vec<f64>,
    pub texts: Vec<String>,
    /// Seconds since 1970, or NaN. Empty without a time column.
    pub times: Vec<f64>,
    /// Index of each row in the request. Empty unless bad rows were skipped.
    pub numbers: Vec<u64>,
    pub read: u64,
}

impl Rows {
    pub fn count(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    pub fn row(&self, i: usize) -> &[f64] {
        &self.cells[i * self.width..][..self.width]
    }

    pub fn texts(&self, i: usize) -> &[String] {
        let each = self.texts.len() / self.count().max(1);
        &self.texts[i * each..][..each]
    }

    pub fn time(&self, i: usize) -> Option<f64> {
        self.times.get(i).copied().filter(|time| !time.is_nan())
    }

    /// Returns the key and the time of a row as text, or empty strings without such columns.
    pub fn key_and_time(&self, i: usize, shape: &Shape) -> (&str, &str) {
        let text = |place: usize| self.texts(i).get(place).map_or("", String::as_str);
        (shape.key.map_or("", text), if shape.has_time { text(0) } else { "" })
    }

    pub fn number(&self, i: usize) -> u64 {
        self.numbers.get(i).copied().unwrap_or(i as u64)
    }

    /// Returns the rows with the columns of the stream, matched by name if possible.
    pub fn fit(&self, shape: &Shape) -> Result<Cow<'_, Self>, Problem> {
        let Some(own) = self.shape.as_ref().filter(|own| *own != shape) else { return Ok(Cow::Borrowed(self)) };
        let columns = own.places_of(shape)?;
        shape.check(&Shape { width: columns.len(), ..own.clone() })?;
        let cells = (0..self.count()).flat_map(|i| columns.iter().map(move |place| self.row(i)[*place])).collect();
        Ok(Cow::Owned(Self { shape: None, width: shape.width, cells, ..self.clone() }))
    }

    pub fn bytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(|text| text.len() + OF_TEXT).sum();
        8 * (self.cells.len() + self.times.len() + self.numbers.len()) + texts
    }

    /// Reads a body and reserves its memory. Without a shape, the rows are the first of the stream. `last` is the time of
    /// the previous row, which resolves times at the end of summer time.
    pub fn read(
        options: &StreamOptions,
        (shape, last): (Option<&Shape>, Option<f64>),
        (form, body): (BodyForm, &[u8]),
        memory: &mut Reserved,
    ) -> Result<Self, Problem> {
        memory.add(COPIES * body.len() as u64)?;
        let bytes: Arc<[u8]> = if form == BodyForm::Json { lines_of(body)?.into() } else { body.into() };
        let decoded = MaxMemory::of_bytes((MEMORY_FACTOR * bytes.len() as u64).clamp(DECODED.0, DECODED.1));
        let layout = options.layout(form.format(), shape, decoded);
        let source = Source::Bytes("the request".into(), bytes);
        let mut stream = Stream::open(&source, &layout).map_err(|error| refused(&error, None))?;
        if let Some(offset) = shape.and_then(|shape| shape.time_offset) {
            stream.continue_times(offset, last.filter(|_| options.by.is_none()));
        }
        let found = shape_of(&stream, options.by.is_some());
        if found.width > MOST_NUMBERS {
            let sentence = format!("a row must have at most {MOST_NUMBERS} numbers, got {}", found.width);
            return Err(Problem::too_large(sentence));
        }
        if let Some(name) = found.names.iter().flatten().chain(&found.kept).find(|name| name.len() > LONGEST_TEXT) {
            return Err(too_long("the name of a column", name));
        }
        shape.map_or(Ok(()), |shape| shape.check(&found))?;
        let mut rows = Self {
            shape: None,
            width: found.width,
            cells: Vec::new(),
            texts: Vec::new(),
            times: Vec::new(),
            numbers: Vec::new(),
            read: 0,
        };
        let mut grown = 0;
        loop {
            match stream.next_row() {
                Ok(None) => break,
                Err(error) if error.is_all_bad() => break,
                Ok(Some(row)) => rows.cells.extend_from_slice(row),
                Err(error) => return Err(refused(&error, Some(&stream))),
            }
            rows.texts.extend_from_slice(&stream.row().kept);
            rows.times.extend(found.has_time.then(|| stream.row().time.unwrap_or(f64::NAN)));
            rows.numbers.push(stream.row_number());
            if let Some(text) = stream.row().kept.iter().find(|text| text.len() > LONGEST_TEXT) {
                return Err(too_long("a copied cell", text).at(Some(stream.row_number()), None));
            }
            grown +=
                2 * (8 * (found.width + 2) + stream.row().kept.iter().map(|text| text.len() + OF_TEXT).sum::<usize>());
            if grown > PIECE {
                memory.add(std::mem::take(&mut grown) as u64)?;
            }
        }
        rows.read = stream.rows_read();
        if rows.read == rows.numbers.len() as u64 {
            rows.numbers.clear();
        }
        // Without a good row, the columns are left to the next request.
        if shape.is_none_or(|shape| shape.is_open) && rows.count() > 0 {
            let (time_format, time_offset) = (stream.reading().time_format, stream.time_offset());
            rows.shape = Some(Shape { time_format, time_offset, ..found });
        }
        Ok(rows)
    }
}

fn shape_of(stream: &Stream, by_key: bool) -> Shape {
    Shape {
        names: stream.own_names(),
        width: stream.columns().len(),
        kept: stream.kept_columns(),
        key: stream.first_kept().filter(|_| by_key),
        has_time: stream.has_time(),
        time_format: None,
        time_offset: None,
        is_open: false,
    }
}

fn too_long(what: &str, text: &str) -> Problem {
    Problem::unsound(format!("{what} must have at most {LONGEST_TEXT} bytes, got {}", text.len()))
}

fn refused(error: &Error, stream: Option<&Stream>) -> Problem {
    let row = stream.filter(|_| error.is_row()).map(|stream| stream.rows_read().saturating_sub(1));
    let row = row.or_else(|| error.is_row().then_some(0));
    Problem::unsound(of_request(&format!("{error:#}"))).at(row, error.column())
}

fn lines_of(body: &[u8]) -> Result<Vec<u8>, Problem> {
    serde_json::from_slice::<IgnoredAny>(body)
        .map_err(|error| Problem::malformed(format!("the request must be JSON: {error}")))?;
    Ok(json_lines(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn options() -> StreamOptions {
        StreamOptions::new(&json!({"k": 1, "by": "who"})).unwrap()
    }

    fn memory() -> Reserved {
        crate::service::memory::Memory::new(1 << 30).request()
    }

    #[test]
    fn all_forms_of_a_body_give_the_same_rows() {
        let options = options();
        let read =
            |form, body: &str| Rows::read(&options, (None, None), (form, body.as_bytes()), &mut memory()).unwrap();
        let csv = read(BodyForm::Csv, "who,x,y\na,1,2\nb,3,4.5\n");
        let ndjson = "{\"who\":\"a\",\"x\":1,\"y\":2}\n{\"who\":\"b\",\"x\":3,\"y\":4.5}\n";
        let pretty = "[ {\"who\": \"a\",\n \"x\":1, \"y\":2},\r\n{\"who\":\"b\",\"x\":3,\"y\":4.5} ]";
        for other in [read(BodyForm::Ndjson, ndjson), read(BodyForm::Json, pretty)] {
            assert_eq!((&other.cells, &other.texts), (&csv.cells, &csv.texts));
            assert_eq!(other.shape, csv.shape);
        }
        assert_eq!(csv.row(1), [3.0, 4.5]);
        assert_eq!(csv.texts(1), ["b"]);
        let shape = csv.shape.unwrap();
        let body = b"{\"y\":2,\"extra\":9,\"x\":1,\"who\":\"c\"}";
        let later = Rows::read(&options, (Some(&shape), None), (BodyForm::Json, body), &mut memory()).unwrap();
        assert_eq!((later.row(0), later.texts(0), later.shape.clone()), (&[1.0, 2.0][..], &["c".to_owned()][..], None));
    }

    #[test]
    fn tables_as_plants_export_them_are_read_request_by_request() {
        let given =
            json!({"k": 1, "timezone": "Europe/Berlin", "thousands": ",", "skip_lines": 1, "na_values_only": "off"});
        let options = StreamOptions::new(&given).unwrap();
        let read = |shape: Option<&Shape>, body: &str| {
            Rows::read(&options, (shape, None), (BodyForm::Csv, body.as_bytes()), &mut memory())
        };
        let head = "plant 7\nDate,Time,x,y\n";
        let first = read(None, &format!("{head}28.07.2024,12:00,\"1,234\",2\n29.07.2024,12:10,5.5,6\n")).unwrap();
        // Times are local times of the zone. The text has the offset from UTC.
        assert_eq!((first.row(0), first.times[0]), (&[1234.0, 2.0][..], 1_722_168_000.0));
        assert_eq!(first.texts(0), ["2024-07-28T12:00:00+02:00"]);
        let shape = first.shape.unwrap();
        assert_eq!(shape.kept, ["Date Time"]);
        let later = read(Some(&shape), &format!("{head}30.07.2024,12:00,3,4\n")).unwrap();
        assert_eq!((later.row(0), later.times[0]), (&[3.0, 4.0][..], 1_722_340_800.0));
        assert!(read(Some(&shape), &format!("{head}30.07.2024,12:00,NA,4\n")).is_err());
        let misuse = |given| StreamOptions::new(&given).unwrap_err().detail;
        let sentence = "timezone must be the name of a time zone such as Europe/Berlin, got \"Mars\"";
        assert_eq!(misuse(json!({"k": 1, "timezone": "Mars"})), sentence);
        assert!(misuse(json!({"k": 1, "skip_lines": -1})).contains("skip_lines must be a number of lines"));
    }

    #[test]
    fn times_of_one_row_per_request_pass_the_end_of_summer_time() {
        let options = StreamOptions::new(&json!({"k": 1, "timezone": "Europe/Berlin"})).unwrap();
        let (mut shape, mut last, mut times) = (None::<Shape>, None, Vec::new());
        for clock in ["01:30", "02:00", "02:30", "02:00", "02:30", "03:00", "03:30"] {
            let body = format!("time,x,y\n2024-10-27 {clock},1,2\n");
            let rows =
                Rows::read(&options, (shape.as_ref(), last), (BodyForm::Csv, body.as_bytes()), &mut memory()).unwrap();
            last = rows.time(0);
            times.extend(last);
            shape = shape.or(rows.shape);
        }
        let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(steps, [1800.0; 6]);
    }

    #[test]
    fn a_body_must_be_whole_json() {
        assert_eq!(lines_of(b"[ ]").unwrap(), b"");
        assert_eq!(lines_of(b"[{\"a\":1},{\"a\":2}]").unwrap(), b"{\"a\":1}\n{\"a\":2}");
        assert_eq!(lines_of(b"{\"a\":").unwrap_err().status().as_u16(), 400);
    }

    #[test]
    fn a_bad_cell_is_named_by_row_and_column() {
        let body = b"{\"who\":\"a\",\"x\":1,\"y\":2}\n{\"who\":\"a\",\"x\":\"hot\",\"y\":2}\n";
        let problem = Rows::read(&options(), (None, None), (BodyForm::Ndjson, body), &mut memory()).unwrap_err();
        let wanted = "the request, line 2, column 1 (\"x\"): must be a finite number, got a text";
        assert_eq!(problem, Problem::unsound(wanted).at(Some(1), Some("1 (\"x\")")));
    }
}
