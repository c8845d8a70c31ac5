//! Monitors and models for JavaScript. Rows are arrays of numbers.

use crate::options::{Texts, given_options, texts};
use crate::reply::{Reply, read};
use eigenhedge::options::{OPTIONS, Options};
use eigenhedge::{Error, Kind, MONITOR_OPTIONS, Model, Monitor, MonitorOption, MonitorOptions, Verdict, checked_bytes};
use eigenhedge_pages::monitor::{Facts, Inside, Journal, RowAt, column_names, incident_json, page};
use serde_json::{Value, json};

fn spelling(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| name + &part[..1].to_uppercase() + &part[1..])
}

/// The input has `float64` numbers in little-endian order.
pub fn rows(input: &[u8], width: usize) -> Result<Vec<Vec<f64>>, String> {
    let numbers: Vec<f64> =
        input.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
    if width == 0 || !numbers.len().is_multiple_of(width) {
        return Err(format!("rows must have {width} numbers each, got {} numbers", numbers.len()));
    }
    Ok(numbers.chunks(width).map(<[f64]>::to_vec).collect())
}

pub fn columns(columns: &[Vec<f64>]) -> Vec<u8> {
    columns.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()
}

fn whole(options: &Value, name: &str) -> Result<usize, String> {
    let value = &options[name];
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number > 0).ok_or_else(|| format!("{name} must be at least 1, got {value}"))
}

/// `own` are valid names outside the tables.
fn check_names(texts: &Texts, own: &[&str], names: impl Iterator<Item = &'static str>) -> Result<(), String> {
    let known: Vec<String> = names.map(spelling).collect();
    let unknown = texts.keys().find(|name| !own.contains(&name.as_str()) && !known.contains(name));
    unknown.map_or(Ok(()), |name| Err(format!("there is no option {name}")))
}

/// Returns the score, the limit, the alarm and the number of the incident (NaN for none).
pub fn verdict_numbers(verdict: &Verdict) -> [f64; 4] {
    let incident = verdict.incident.map_or(f64::NAN, |number| number as f64);
    [verdict.score, verdict.limit, f64::from(u8::from(verdict.alarm)), incident]
}

pub fn page_of(journal: &Journal, monitor: &Monitor, source: String, by: Option<String>) -> Vec<u8> {
    let facts = Facts { in_memory: journal.tracks.len(), ..Facts::of_stream(source, by, monitor) };
    page(journal, &facts, &Inside::All).html().into_bytes()
}

pub struct Watcher {
    monitor: Monitor,
    journal: Journal,
    names: Vec<String>,
}

impl Watcher {
    pub fn new(monitor: Monitor) -> Self {
        let names = column_names(&monitor);
        let journal = Journal::default().with_monitor("", &monitor).with_charts(monitor.width(), false);
        Self { monitor, journal, names }
    }

    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    pub fn create(options: &Value) -> Result<Self, String> {
        let (dim, texts) = (whole(options, "dim")?, texts(options));
        check_names(&texts, &["dim", "names"], MONITOR_OPTIONS.iter().map(|option| option.name))?;
        let mut chosen = MonitorOptions::default();
        for option in MONITOR_OPTIONS {
            let given = texts.get(&spelling(option.name));
            given.map_or(Ok(()), |text| option.read(&mut chosen, text)).map_err(|error| sentence(&error))?;
        }
        let names: Option<Vec<String>> = serde_json::from_value(options["names"].clone()).unwrap_or_default();
        let monitor = Monitor::new(chosen, dim).map_err(|error| sentence(&error))?;
        Ok(Self::new(monitor.with_names(names)))
    }

    pub fn fit(&mut self, input: &[u8]) -> Reply {
        let rows = rows(input, self.monitor.width())?;
        rows.iter().try_for_each(|row| self.monitor.add_to_warm_up(row)).map_err(|error| sentence(&error))?;
        match self.monitor.end_warm_up() {
            Ok(()) => self.monitor.begin_table(),
            Err(Error::TooFewRows { .. }) => {}
            Err(error) => return Err(sentence(&error)),
        }
        *self = Self::new(self.monitor.clone());
        Ok(Vec::new())
    }

    pub fn update(&mut self, input: &[u8]) -> Reply {
        let Self { monitor, journal, names } = self;
        let mut results = vec![Vec::new(); 4];
        for cells in &rows(input, monitor.width())? {
            let at = RowAt { number: monitor.totals().rows, cells, time: "", seconds: None };
            let seen = journal.step((0, ""), monitor, &at, (names, false)).map_err(|error| sentence(&error))?;
            results.iter_mut().zip(verdict_numbers(&seen.verdict)).for_each(|(column, number)| column.push(number));
        }
        Ok(columns(&results))
    }

    pub fn state(&self) -> Value {
        let Self { monitor, journal, names } = self;
        let closing = journal.closing_incidents(names);
        let incidents = journal.listed.iter().filter(|one| one.is_incident()).chain(&closing).map(incident_json);
        json!({
            "dim": monitor.width(),
            "rows": monitor.totals().rows,
            "alarms": monitor.totals().alarms,
            "isReady": monitor.is_ready(),
            "limit": monitor.limit(),
            "directions": monitor.directions(),
            "lags": monitor.lags(),
            "featureNames": monitor.columns().names,
            "incidents": incidents.collect::<Vec<_>>(),
            "openIncidents": journal.open_incidents(names).iter().map(incident_json).collect::<Vec<_>>(),
        })
    }

    pub fn report(&self, source: String) -> Vec<u8> {
        page_of(&self.journal, &self.monitor, source, None)
    }

    pub fn save(&self) -> Reply {
        read(checked_bytes(&self.monitor))
    }
}

/// Names of options are in camel case.
pub fn sentence(error: &Error) -> String {
    match error {
        Error::Parameter { name, .. } | Error::Name { what: name, .. } if MonitorOption::find(name).is_some() => {
            eigenhedge::options::spelled(error, spelling)
        }
        Error::Parameter { .. } => eigenhedge::options::spelled(error, spelling),
        other => other.to_string(),
    }
}

pub struct Learner(pub Model);

impl Learner {
    pub fn create(options: &Value) -> Result<Self, String> {
        let (dim, k, texts) = (whole(options, "dim")?, whole(options, "k")?, texts(options));
        check_names(&texts, &["dim", "k", "learner"], OPTIONS.iter().map(|option| option.name))?;
        let learner = texts.get("learner").map_or(Ok(Kind::Auto), |name| read(name.parse()))?;
        let chosen = given_options(Options::new(learner, k), &texts, spelling, spelling)?;
        let setup = read(chosen.resolve(spelling))?.for_rows(dim).map_err(|error| sentence(&error))?;
        Ok(Self(Model::of(&setup, dim).map_err(|error| sentence(&error))?))
    }

    pub fn update(&mut self, input: &[u8]) -> Reply {
        let mut results = vec![Vec::new(); 2];
        for row in &rows(input, self.0.length())? {
            let loss = self.0.step(row).map_err(|error| sentence(&error))?;
            results[0].push(loss.expected);
            results[1].push(loss.realised);
        }
        Ok(columns(&results))
    }

    pub fn transform(&mut self, input: &[u8]) -> Reply {
        let (mut all, mut coordinates) = (Vec::new(), Vec::new());
        let rows = rows(input, self.0.length())?;
        let embedding = self.0.frozen();
        for row in &rows {
            embedding.transform(row, &mut coordinates).map_err(|error| sentence(&error))?;
            all.extend_from_slice(&coordinates);
        }
        Ok(columns(&[all]))
    }

    pub fn components(&mut self) -> Reply {
        let components = self.0.frozen().components().ok_or("a kernel model has no directions in the columns")?;
        Ok(columns(&(0..components.columns()).map(|j| components.column(j).to_vec()).collect::<Vec<_>>()))
    }

    pub fn state(&self) -> Value {
        let (spec, totals) = (self.0.spec(), self.0.totals());
        json!({
            "dim": self.0.length(),
            "k": spec.kept,
            "learner": spec.learner.name(),
            "rows": totals.rows,
            "featureNames": self.0.columns().names,
        })
    }
}
