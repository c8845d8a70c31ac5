//! Options of a stream: JSON, checked by the option tables of the library.

use super::fields::{Fields, must};
use super::notice_rules::{NoticeRules, OF_INCIDENTS, OF_NOTICES};
use super::problem::Problem;
use super::shape::Shape;
use eigenhedge::options::{OPTIONS, Options, Setup, Type, spelled};
use eigenhedge::{AnyLearner, Choose, Error, Kept, Kind, MONITOR_OPTIONS, MonitorOptions, Standardize};
use eigenhedge_io::{Format, Layout, MaxMemory, TABLE_OPTIONS, hint};
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub enum Learner {
    Model(Box<Setup>),
    Monitor(Box<MonitorOptions>),
}

#[derive(Debug, Clone)]
pub struct StreamOptions {
    pub given: Map<String, Value>,
    pub learner: Learner,
    pub by: Option<String>,
    pub standardize: Standardize,
    pub rules: NoticeRules,
    layout: Layout,
}

pub const OF_ALL: [&str; 16] = [
    "kind",
    "by",
    "k",
    "columns",
    "exclude",
    "copy_columns",
    "time",
    "time_format",
    "timezone",
    "delimiter",
    "decimal",
    "thousands",
    "skip_lines",
    "na_values",
    "na_values_only",
    "on_bad_row",
];
pub const OF_MODEL: [&str; 1] = ["standardize"];
pub const MOST_DIRECTIONS: usize = 1 << 16;
/// Maximum number of directions of an `apex` trial learner, which takes memory for their square.
const MOST_TRIED: usize = 64;
/// Number of columns for which a monitor has no automatic lags. They end above 256 columns.
const WITHOUT_LAGS: usize = 1000;

pub fn spelling(name: &str) -> String {
    name.replace('-', "_")
}

fn own_name(given: &str) -> String {
    let name = spelling(given);
    if name == "group_by" { "by".to_owned() } else { name }
}

fn names(is_monitor: bool) -> Vec<String> {
    let of_kind: Vec<&str> = match is_monitor {
        true => MONITOR_OPTIONS.iter().map(|option| option.name).chain(OF_INCIDENTS).collect(),
        false => OPTIONS.iter().map(|option| option.name).chain(OF_MODEL).collect(),
    };
    OF_ALL.into_iter().chain(OF_NOTICES).chain(of_kind).map(spelling).collect()
}

pub fn of_request(sentence: &str) -> String {
    let mut pieces = sentence.split("--");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|sign: char| !sign.is_ascii_lowercase() && sign != '-').unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        // `--max-*` are options of the program, not of a request.
        if name.is_empty() || name.starts_with("max-") {
            out += &format!("--{piece}");
        } else {
            out += &format!("option {}{rest}", spelling(name));
        }
    }
    out
}

impl StreamOptions {
    pub fn new(given: &Value) -> Result<Self, Problem> {
        let Value::Object(given) = given else {
            return Err(Problem::malformed("the options of a stream must be a JSON object"));
        };
        let typed: Vec<&String> = given.keys().collect();
        let given: Map<String, Value> =
            given.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (own_name(k), v.clone())).collect();
        let fields = Fields(&given);
        let is_monitor = match fields.text("kind")?.as_deref() {
            Some("model") | None => false,
            Some("monitor") => true,
            Some(other) => return Err(must("kind", "model or monitor", other)),
        };
        let known = names(is_monitor);
        if let Some(name) = typed.into_iter().find(|name| !known.contains(&own_name(name))) {
            let (kind, near) = (if is_monitor { "monitor" } else { "model" }, hint(&own_name(name), &known));
            return Err(Problem::unsound(format!("there is no option {name:?} of a {kind}{near}")));
        }
        let learner = match is_monitor {
            true => Learner::Monitor(Box::new(monitor(&fields)?)),
            false => Learner::Model(Box::new(model(&fields)?)),
        };
        // The `standardize` option of monitors is in their option table.
        let of_model = if is_monitor { None } else { fields.text("standardize")? };
        let standardize = match of_model.as_deref() {
            None | Some("none") => Standardize::None,
            Some("running") => Standardize::Running,
            Some(other) => return Err(must("standardize", "none or running in a service", other)),
        };
        let by = fields.text("by")?;
        let rules = NoticeRules::new(&fields)?;
        let layout = layout(&fields, &learner)?;
        Ok(Self { given, learner, by, standardize, rules, layout })
    }

    /// Returns the table layout for a request, with the columns of the stream from `shape`.
    pub fn layout(&self, format: Format, shape: Option<&Shape>, max_memory: MaxMemory) -> Layout {
        let is_text = matches!(format, Format::Csv | Format::Tsv);
        let plain = self.layout.clone();
        let layout = Layout {
            format,
            max_memory,
            delimiter: plain.delimiter.filter(|_| is_text),
            decimal: plain.decimal.filter(|_| is_text),
            thousands: plain.thousands.filter(|_| is_text),
            skip_lines: plain.skip_lines.filter(|_| is_text),
            na_values: if is_text { plain.na_values.clone() } else { Vec::new() },
            ..plain
        };
        let Some(shape) = shape else { return layout };
        let time = layout.time.clone().or_else(|| shape.time());
        Layout {
            model_columns: shape.names.clone(),
            find_time: false,
            time_format: layout.time_format.clone().or_else(|| shape.time_format.clone()).filter(|_| time.is_some()),
            time,
            ..layout
        }
    }

    /// Returns the shape for a model that is uploaded before the first row, which settles it.
    pub fn shape(&self, names: Option<Vec<String>>, width: usize) -> Shape {
        let beside = self.layout.time.iter().chain(&self.layout.keep);
        Shape {
            names,
            width,
            kept: beside.map(ToString::to_string).collect(),
            key: self.by.as_ref().map(|_| usize::from(self.layout.time.is_some())),
            has_time: self.layout.time.is_some(),
            time_format: self.layout.time_format.clone(),
            time_offset: None,
            is_open: true,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self.learner {
            Learner::Model(_) => "model",
            Learner::Monitor(_) => "monitor",
        }
    }
}

fn model(fields: &Fields<'_>) -> Result<Setup, Problem> {
    let k: usize = fields.read("k", "a whole number")?.ok_or_else(|| {
        Problem::unsound("k, the number of directions to keep, must be given; eigenhedge scree finds one for a table")
    })?;
    if k > MOST_DIRECTIONS {
        return Err(must("k", &format!("at most {MOST_DIRECTIONS}, the number of cells in a row"), &k.to_string()));
    }
    let mut options = Options::new(Kind::Auto, k);
    for option in OPTIONS {
        let name = spelling(option.name);
        let text = match fields.0.get(&name) {
            None => continue,
            Some(Value::Array(_)) if matches!(option.values, Type::Numbers) => fields.texts(&name)?.join(","),
            Some(_) => fields.text_or_flag(&name)?.unwrap_or_default(),
        };
        let wanted = || must(&name, &option.values.description(), &text);
        options = options.with(option.name, option.values.parse(&text).ok_or_else(wanted)?);
    }
    let setup = options.resolve(spelling).map_err(|misuse| Problem::unsound(misuse.to_string()))?;
    try_out(&setup).map_err(|error| match error {
        Error::Kept { kept, dimension } => {
            Problem::unsound(format!("k must be less than feature_dim {dimension}, got {kept}"))
        }
        error => Problem::unsound(spelled(&error, spelling)),
    })?;
    if setup.text_items().is_some() {
        return Err(Problem::unsound("a stream takes rows of numbers: kernels of texts and sets have no effect here"));
    }
    Ok(setup)
}

/// Tries a learner. The size of the real one is checked with the first rows.
fn try_out(setup: &Setup) -> Result<(), Error> {
    let mut trial = setup.clone();
    if trial.spec.learner == Kind::Apex {
        trial.spec.kept = trial.spec.kept.min(MOST_TRIED);
    }
    AnyLearner::try_out(&trial)
}

fn monitor(fields: &Fields<'_>) -> Result<MonitorOptions, Problem> {
    let mut options = MonitorOptions::default();
    for option in MONITOR_OPTIONS {
        if let Some(text) = fields.text_or_flag(&spelling(option.name))? {
            option.read(&mut options, &text).map_err(|error| Problem::unsound(spelled(&error, spelling)))?;
        }
    }
    // Here, the number of columns is assumed to be just large enough for k, and too large for automatic lags.
    let k = if let Kept::Count(k) = options.kept { k } else { 1 };
    let columns = match options.lags {
        Choose::Fixed(lags) => (k / lags.saturating_add(1)).clamp(0, 4095) + 1,
        Choose::Auto => k.clamp(WITHOUT_LAGS, 4095) + 1,
    };
    options.check(columns).map_err(|error| Problem::unsound(spelled(&error, spelling)))?;
    Ok(options)
}

fn layout(fields: &Fields<'_>, learner: &Learner) -> Result<Layout, Problem> {
    let missing = match learner {
        Learner::Model(setup) => setup.spec.missing,
        Learner::Monitor(options) => options.missing,
    };
    let mut layout = Layout { find_time: true, missing: Some(missing), ..Layout::new(Format::Jsonl) };
    for name in TABLE_OPTIONS {
        let own = own_name(name);
        if OF_ALL.contains(&own.as_str()) && fields.has(&own) {
            let texts = if Layout::takes_list(name) {
                fields.texts(&own)?
            } else {
                fields.text_or_flag(&own)?.into_iter().collect()
            };
            layout.set(name, &texts).map_err(|rule| must(&own, rule, &format!("{:?}", texts.join(", "))))?;
        }
    }
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sentence(given: Value) -> String {
        StreamOptions::new(&given).map(|_| String::new()).unwrap_or_else(|problem| problem.detail)
    }

    #[test]
    fn options_are_judged_by_the_table_of_the_library() {
        let good = json!({"kind": "model", "k": 3, "learner": "tracking", "mixing": "fixed-share", "by": "machine"});
        assert_eq!(StreamOptions::new(&good).unwrap().kind(), "model");
        let hyphens = json!({"k": 3, "learner": "leader", "max-rank": 7});
        assert!(StreamOptions::new(&hyphens).unwrap().given.contains_key("max_rank"));
        assert_eq!(
            sentence(json!({"k": 2, "learner": "tracking", "forget": 0.9})),
            "forget has no effect with the learner tracking"
        );
        assert_eq!(sentence(json!({"k": 0})), "k must be at least 1, got 0");
        assert_eq!(sentence(json!({"k": 2, "lags": 3})), "there is no option \"lags\" of a model");
        assert_eq!(sentence(json!({"kind": "monitor", "lags": 3000})), "lags must be at most 100, got 3000");
        assert_eq!(sentence(json!({"kind": "band", "k": 2})), "kind must be model or monitor, got band");
        assert!(sentence(json!({"kind": "monitor", "limit": "auto:2"})).contains("auto:ALPHA"));
        assert_eq!(sentence(json!({"k": 2.0, "columns": [3.0]})), "");
        assert_eq!(sentence(json!({"k": 2, "lags": null})), "there is no option \"lags\" of a model");
        assert_eq!(sentence(json!({"k": 2, "time": false})), "time must be a text or a number, got false");
        assert_eq!(
            sentence(json!({"k": 2, "learner": ["leader"]})),
            "learner must be a text or a number, got [\"leader\"]"
        );
        // The assumed number of columns is large enough for 60 directions.
        assert_eq!(sentence(json!({"kind": "monitor", "k": 60, "lags": 100})), "");
    }
}
