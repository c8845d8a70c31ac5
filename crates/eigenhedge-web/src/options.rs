//! Options by name, with the names and texts of the command line.

use eigenhedge::options::spelled;
use eigenhedge::{Error, MONITOR_OPTIONS, MonitorOption, MonitorOptions};
use eigenhedge_io::{Layout, OnBadRow, Source, Stream, TABLE_OPTIONS};
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
        let is_known = |name: &str| TABLE_OPTIONS.contains(&name) || MonitorOption::find(name).is_some();
        if let Some((name, _)) = texts.iter().find(|(name, _)| !is_known(name)) {
            return Err(format!("there is no option --{name}"));
        }
        let given = |wanted: &str| texts.iter().find(|(name, _)| name == wanted).map(|(_, text)| text.clone());
        for name in TABLE_OPTIONS {
            let Some(text) = given(name) else { continue };
            let list = || text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
            let values: Vec<String> = if Layout::takes_list(name) { list() } else { vec![text.clone()] };
            layout.set(name, &values).map_err(|rule| format!("--{name} must be {rule}, got {text}"))?;
        }
        let by = given("group-by");
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
