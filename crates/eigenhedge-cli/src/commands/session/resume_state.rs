//! State of a session in a snapshot: positions in the input and the results, and the options, as JSON. A snapshot without
//! it, such as one that another program wrote with the library, cannot be resumed.

use anyhow::{Result, anyhow};
use eigenhedge::kernel::TextItems;
use eigenhedge_io::{
    Layout, OnBadRow, Pivot, Position, Reading, Source, Stream, StreamState, TimeFormat, printable_path,
};
use eigenhedge_pages::number::exact;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;

pub type Options = Map<String, Value>;

#[derive(Debug, Serialize, Deserialize)]
pub struct ResumeState<T> {
    pub stream: StreamState,
    pub answers: Position,
    pub plan: Options,
    pub seconds: f64,
    pub ended: bool,
    #[serde(flatten)]
    pub engine: T,
}

/// Seconds, about thirty thousand years.
const LONGEST: f64 = 1e12;

impl<T> ResumeState<T> {
    pub fn from_bytes(bytes: &[u8], path: &Path, command: &str) -> Result<Self>
    where
        T: DeserializeOwned,
    {
        let name = printable_path(path);
        serde_json::from_slice(bytes).map_err(|_| {
            anyhow!("{name}: must have been saved by `eigenhedge {command}` to be resumed; `inspect` can read it")
        })
    }

    pub fn elapsed(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds.min(LONGEST)).unwrap_or_default()
    }

    pub fn agree(&self, path: &Path, options: &Options) -> Result<()> {
        for (option, now) in options {
            if let Some(then) = self.plan.get(option).filter(|then| *then != now && option != FIRST_ROW) {
                return Err(differs(path, option, then, now));
            }
        }
        Ok(())
    }

    /// Compares the first row. Columns are compared before.
    pub fn agree_on_table(&self, path: &Path, options: &Options) -> Result<()> {
        match (self.plan.get(FIRST_ROW), options.get(FIRST_ROW)) {
            (Some(then), Some(now)) if then != now => {
                Err(anyhow!("the table must be that of {}, but its first row is another one", printable_path(path)))
            }
            _ => Ok(()),
        }
    }
}

pub fn table_options(layout: &Layout) -> Options {
    let Layout { format, header, delimiter, decimal, thousands, skip_lines, na_values, na_values_only, .. } = layout;
    let Layout { pivot, time, clock, timezone, time_format, array, sheet, .. } = layout;
    let sign = |sign: &Option<u8>| sign.map(|sign| char::from(sign).to_string());
    let value = json!({
        "--format": format.name(),
        "--no-header": *header == Some(false),
        "--delimiter": sign(delimiter),
        "--decimal": sign(decimal),
        "--thousands": sign(thousands),
        "--skip-lines": skip_lines,
        "--sheet": sheet,
        "--na-values": (!na_values.is_empty()).then_some(na_values),
        "--na-values-only": na_values_only,
        "--pivot": pivot.as_ref().map(|pivot| format!("{},{},{}", pivot.time, pivot.tag, pivot.value)),
        "--every": pivot.as_ref().and_then(|Pivot { every, mean, .. }| {
            every.map(|seconds| format!("{seconds}s{}", if *mean { ":mean" } else { "" }))
        }),
        "--timezone": timezone.map(|zone| zone.to_string()),
        "--array": array,
        "--time": time.as_ref().map(|time| match clock {
            None => time.to_string(),
            Some(clock) => format!("{time},{clock}"),
        }),
        "--time-format": time_format.as_ref().map(TimeFormat::to_string),
    });
    match value {
        Value::Object(options) => options,
        _ => Map::new(),
    }
}

pub const FIRST_ROW: &str = "first row";

/// Returns a hash of the first row, which identifies the table. `reading` are the detected properties of the table.
pub fn first_row(source: &Source, layout: &Layout, reading: Option<Reading>) -> Option<String> {
    if !source.is_regular() {
        return None;
    }
    // Items are read as characters here, so that the hash depends only on the text.
    let items = layout.items.map(|_| TextItems::Chars);
    let layout = Layout { found: reading, on_bad_row: OnBadRow::Skip, items, ..layout.clone() };
    let mut stream = Stream::open(source, &layout).ok()?;
    let row = stream.next_row().ok()??;
    // FNV-1a over the bits.
    let mix = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = row.iter().flat_map(|x| x.to_bits().to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, mix);
    Some(format!("{sum:016x}"))
}

pub fn differs(path: &Path, option: &str, then: &Value, now: &Value) -> anyhow::Error {
    anyhow!("{option} must be as in {}, {}, got {}", printable_path(path), spoken(then), spoken(now))
}

pub fn spoken(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => exact(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}
