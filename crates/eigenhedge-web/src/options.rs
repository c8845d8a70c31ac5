//! Options by name, with names and values as on the command line.

use crate::reply::read;
use eigenhedge::options::{OPTIONS, Options, Setup, Spelling, spelled};
use eigenhedge::{AnyLearner, Error, Kind, MONITOR_OPTIONS, MonitorOption, MonitorOptions, Standardize};
use eigenhedge_io::{Layout, OnBadRow, Source, Stream, TABLE_OPTIONS};
use eigenhedge_pages::directions::Directions;
use eigenhedge_pages::monitor::{in_rows, usual_step};
use serde_json::Value;
use std::collections::BTreeMap;

/// Options by name, without nulls.
pub type Texts = BTreeMap<String, String>;

pub fn texts(options: &Value) -> Texts {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let given = options.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| (name.clone(), text(value))).collect()
}

pub fn typed(name: &str) -> String {
    if name == "k" { "-k".into() } else { format!("--{name}") }
}

pub fn misfit(error: &Error) -> String {
    match error {
        Error::Parameter { name, .. } | Error::Name { what: name, .. } if MonitorOption::find(name).is_some() => {
            spelled(error, typed)
        }
        other => other.to_string(),
    }
}

/// `is_own` returns true for valid options of other kinds.
fn layout(source: &Source, texts: &Texts, is_own: impl Fn(&str) -> bool) -> Result<Layout, String> {
    let mut layout = Layout { find_time: true, ..Layout::new(source.format()?) };
    if let Some(name) = texts.keys().find(|name| !TABLE_OPTIONS.contains(&name.as_str()) && !is_own(name)) {
        return Err(format!("there is no option {}", typed(name)));
    }
    for name in TABLE_OPTIONS {
        let Some(text) = texts.get(name) else { continue };
        let list = || text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
        let values: Vec<String> = if Layout::takes_list(name) { list() } else { vec![text.clone()] };
        layout.set(name, &values).map_err(|rule| format!("--{name} must be {rule}, got {text}"))?;
    }
    Ok(layout)
}

pub struct LearnerOptions {
    pub layout: Layout,
    pub k: Option<Directions>,
    pub standardize: Standardize,
    texts: Texts,
}

impl LearnerOptions {
    /// `is_own` returns true for valid options that are not read here.
    pub fn new(source: &Source, options: &Value, is_own: impl Fn(&str) -> bool) -> Result<Self, String> {
        let texts = texts(options);
        let known = |name: &str| is_own(name) || ["k", "standardize"].contains(&name);
        let options = Self { layout: layout(source, &texts, known)?, k: None, standardize: Standardize::None, texts };
        if options.text("group-by").is_some() {
            return Err("--group-by needs the program: here one model learns all rows".into());
        }
        let k =
            options.text("k").map(|text| Directions::from_text(text).map_err(|rule| format!("-k {rule}, got {text}")));
        let how = options.text("standardize").map_or(Ok(Standardize::None), str::parse);
        let standardize = how.map_err(|error| spelled(&error, typed))?;
        Ok(Self { k: k.transpose()?, standardize, ..options })
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    pub fn of_learner(&self) -> impl Iterator<Item = String> {
        self.texts.keys().filter(|name| !TABLE_OPTIONS.contains(&name.as_str())).map(|name| typed(name))
    }

    pub fn of(&self, learner: Kind, k: usize) -> Result<Options, String> {
        given_options(Options::new(learner, k), &self.texts, |name| name.into(), typed)
    }
}

/// `spelling` returns the names in `texts`, and `typed` the names in messages.
pub fn given_options(options: Options, texts: &Texts, spelling: Spelling, typed: Spelling) -> Result<Options, String> {
    OPTIONS.iter().try_fold(options, |chosen, option| {
        let Some(text) = texts.get(&spelling(option.name)) else { return Ok(chosen) };
        let wrong = || format!("{} must be {}, got {text}", typed(option.name), option.values.description());
        Ok(chosen.with(option.name, option.values.parse(text).ok_or_else(wrong)?))
    })
}

pub fn setup(options: &Options) -> Result<Setup, String> {
    let setup = read(options.resolve(typed))?;
    AnyLearner::try_out(&setup).map_err(|error| spelled(&error, typed))?;
    Ok(setup)
}

pub struct TableOptions {
    pub layout: Layout,
    pub monitor: MonitorOptions,
    pub by: Option<String>,
}

impl TableOptions {
    pub fn new(source: &Source, options: &Value) -> Result<Self, String> {
        let texts = texts(options);
        let mut layout = layout(source, &texts, |name| MonitorOption::find(name).is_some())?;
        let by = texts.get("group-by").cloned();
        let mut monitor = MonitorOptions::default();
        // The order of the option table matters: a number of directions replaces a share.
        for option in MONITOR_OPTIONS {
            let Some(text) = texts.get(option.name) else { continue };
            let mut value = text.clone();
            if in_rows(option, text, 1.0).is_some() {
                let layout = Layout { on_bad_row: OnBadRow::Skip, missing: Some(monitor.missing), ..layout.clone() };
                let stream = Stream::open(source, &layout).map_err(|error| format!("{error:#}"))?;
                let step = usual_step(stream, option.name).map_err(|error| format!("{error:#}"))?;
                value = in_rows(option, text, step).unwrap_or(value);
            }
            option.read(&mut monitor, &value).map_err(|error| misfit(&error))?;
        }
        layout.missing = Some(monitor.missing);
        Ok(Self { layout, monitor, by })
    }
}
