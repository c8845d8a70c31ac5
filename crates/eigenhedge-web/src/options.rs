//! Options by name, with the names and texts of the command line.

use eigenhedge::options::spelled;
use eigenhedge::{Error, MONITOR_OPTIONS, MonitorOption, MonitorOptions};
use eigenhedge_io::{Layout, OnBadRow, Pivot, Selector, Source, Stream, TimeFormat, Timezone, duration};
use eigenhedge_pages::monitor::{in_rows, usual_step};
use serde_json::Value;

/// Returns the options of a JSON object as texts. Null means the default.
pub fn texts(options: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let options = options.as_object().into_iter().flatten();
    options.filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}

/// Returns an option as it is typed, with its leading hyphens.
fn typed(name: &str) -> String {
    if name == "k" { "-k".into() } else { format!("--{name}") }
}

/// Returns the message of an error in an option.
pub fn misfit(error: &Error) -> String {
    match error {
        Error::Parameter { name, .. } | Error::Name { what: name, .. } if MonitorOption::find(name).is_some() => {
            spelled(error, typed)
        }
        other => other.to_string(),
    }
}

/// Options of a table and its monitors.
pub struct TableOptions {
    pub layout: Layout,
    pub monitor: MonitorOptions,
    /// Name of the key column.
    pub by: Option<String>,
}

impl TableOptions {
    pub fn new(source: &Source, options: &Value) -> Result<Self, String> {
        let texts = texts(options);
        let mut layout = Layout { find_time: true, ..Layout::new(source.format()?) };
        let mut by = None;
        for (name, text) in &texts {
            set(&mut layout, &mut by, name, text)?;
        }
        let every = texts.iter().find(|(name, _)| name == "every").and_then(|(_, text)| duration(text));
        layout.pivot.iter_mut().for_each(|pivot| pivot.every = every);
        layout.has_key = by.is_some();
        let mut monitor = MonitorOptions::default();
        // A table of options has an order: a number of directions replaces a share.
        for option in MONITOR_OPTIONS {
            let Some((name, text)) = texts.iter().find(|(name, _)| name == option.name) else { continue };
            let mut value = text.clone();
            if in_rows(option, text, 1.0).is_some() {
                let layout = Layout { on_bad_row: OnBadRow::Skip, missing: Some(monitor.missing), ..layout.clone() };
                let stream = Stream::open(source, &layout).map_err(|error| format!("{error:#}"))?;
                let step = usual_step(stream, name).map_err(|error| format!("{error:#}"))?;
                value = in_rows(option, text, step).unwrap_or(value);
            }
            option.set(&mut monitor, &value).map_err(|error| misfit(&error))?;
        }
        layout.missing = Some(monitor.missing);
        Ok(Self { layout, monitor, by })
    }
}

/// Sets an option of the table. Options of monitors are left for later.
fn set(layout: &mut Layout, by: &mut Option<String>, name: &str, text: &str) -> Result<(), String> {
    let list = || text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let selectors = || list().map(Selector::from_text).collect::<Vec<_>>();
    let wrong = |rule: &str| format!("--{name} must be {rule}, got {text}");
    let sign = |rule: &str| match text.as_bytes() {
        [byte] => Ok(Some(*byte)),
        _ if text == "tab" => Ok(Some(b'\t')),
        _ => Err(wrong(rule)),
    };
    match name {
        "time" => {
            let mut columns = selectors().into_iter();
            (layout.time, layout.clock) = (columns.next(), columns.next());
        }
        "exclude" => layout.exclude = selectors(),
        "columns" => layout.columns = selectors(),
        "group-by" => {
            layout.keep = vec![Selector::from_text(text)];
            *by = Some(text.to_owned());
        }
        "on-bad-row" if text == "skip" => layout.on_bad_row = OnBadRow::Skip,
        "on-bad-row" => layout.on_bad_row = OnBadRow::Fail,
        "header" => layout.header = Some(true),
        "no-header" => layout.header = Some(false),
        "delimiter" => layout.delimiter = sign("one sign")?,
        "decimal" => layout.decimal = sign("one sign")?,
        "thousands" => layout.thousands = sign("one sign")?,
        "skip-lines" => layout.skip_lines = Some(text.parse().map_err(|_| wrong("a number of lines"))?),
        "na-values" => layout.na_values = list().map(str::to_owned).collect(),
        "sheet" => layout.sheet = Some(text.to_owned()),
        "time-format" => {
            let format = TimeFormat::from_text(text);
            layout.time_format = Some(format.ok_or_else(|| wrong("a format such as iso or %d.%m.%Y %H:%M"))?);
        }
        "timezone" => {
            layout.timezone = Some(Timezone::from_name(text).ok_or_else(|| wrong("a name such as Europe/Berlin"))?);
        }
        "pivot" => match selectors().as_slice() {
            [time, tag, value] => {
                let [time, tag, value] = [time, tag, value].map(Clone::clone);
                layout.pivot = Some(Pivot { time, tag, value, every: None, mean: false });
            }
            _ => return Err(wrong("TIME,TAG,VALUE")),
        },
        "every" if duration(text).is_none() => return Err(wrong("a duration such as 30s, 5min, 2h or 14d")),
        "every" => {}
        _ if MonitorOption::find(name).is_some() => {}
        _ => return Err(format!("there is no option --{name}")),
    }
    Ok(())
}
