//! Learner of a stream: rows and commands in, results out. It uses no clock and no store.

mod memory;
mod models;
mod monitors;
mod notice;
mod outcome;
mod page;
mod saved;
mod silence;

pub use notice::Notices;
pub use outcome::{Counts, KeyCounts, Outcome, Places};
pub use saved::Saved;
pub use silence::SilentAfter;

use super::memory::measured;
use super::options::{Learner, StreamOptions};
use super::problem::Problem;
use super::rows::Rows;
use super::shape::Shape;
use eigenhedge::Fleet;
use eigenhedge_pages::monitor::{Journal, Occurrence, Track, incident_json};
use models::{ModelsByKey, OneModel};
use monitors::Monitors;
use serde_json::Value;
use silence::Arrival;
use std::borrow::Cow;
use std::sync::Arc;

pub struct Engine {
    options: Arc<StreamOptions>,
    places: Places,
    shape: Option<Arc<Shape>>,
    learner: Option<AnyLearner>,
    pub counts: Counts,
    pub notices: Notices,
    pub last_time: Option<f64>,
    member_bytes: u64,
}

enum AnyLearner {
    Model(OneModel),
    Models(ModelsByKey),
    Monitors(Monitors),
}

impl Engine {
    pub fn new(options: Arc<StreamOptions>, places: Places) -> Self {
        let (counts, notices) = (Counts::default(), Notices::default());
        Self { options, places, shape: None, learner: None, counts, notices, last_time: None, member_bytes: 0 }
    }

    pub fn shape(&self) -> Option<Arc<Shape>> {
        self.shape.clone()
    }

    fn journal(&self) -> Option<&Journal> {
        if let Some(AnyLearner::Monitors(monitors)) = &self.learner { Some(&monitors.journal) } else { None }
    }

    pub fn alarms(&self) -> u64 {
        self.journal().map_or(0, |journal| journal.totals.alarms)
    }

    pub fn check(options: &StreamOptions, shape: &Shape) -> Result<u64, Problem> {
        let (learner, bytes) = measured(|| fresh(options, shape));
        learner.map(|_| bytes.max(0).cast_unsigned())
    }

    /// Learns the rows of a request that arrived at wall-clock time `at`. A rejected row does not change the learner.
    pub fn learn(&mut self, rows: &Rows, at: f64) -> Outcome {
        let mut outcome = Outcome::default();
        if rows.count() == 0 {
            self.count(rows, 0, at);
            return outcome;
        }
        let rows = &*match self.begin(rows) {
            Ok(rows) => rows,
            Err(problem) => return Outcome { refused: Some(problem), ..outcome },
        };
        let (Some(learner), Some(shape)) = (&mut self.learner, &self.shape) else { return outcome };
        let first = self.counts.rows;
        match learner {
            AnyLearner::Model(model) => model.learn(rows, first, shape, &mut outcome),
            AnyLearner::Models(models) => models.learn(rows, first, shape, &mut outcome),
            AnyLearner::Monitors(monitors) => {
                monitors.learn(rows, (first, at), shape, (&self.options.rules, &mut self.notices), &mut outcome);
            }
        }
        self.enter_arrivals(rows, first, at);
        self.count(rows, outcome.learned, at);
        self.last_time = outcome.last.and_then(|last| rows.time(last)).or(self.last_time);
        self.look_at_memory(rows);
        outcome
    }

    fn count(&mut self, rows: &Rows, learned: u64, at: f64) {
        self.counts.rows += rows.read;
        self.counts.skipped += rows.read - learned;
        self.counts.last_row = at as u64;
    }

    fn enter_arrivals(&mut self, rows: &Rows, first: u64, at: f64) {
        let (Some(after), Some(shape)) = (self.options.rules.silent_after, &self.shape) else { return };
        for i in 0..rows.count() {
            let (key, time) = rows.key_and_time(i, shape);
            let row = Arrival { key, row: first + rows.number(i), time, seconds: rows.time(i), at };
            let (opened, ended) = self.notices.silences.enter(after, &row);
            opened.iter().for_each(|one| self.notices.silence("opened", one, at));
            ended.iter().for_each(|one| self.notices.silence("closed", one, at));
        }
    }

    /// Rows could not arrive before `since`.
    pub fn look_for_silence(&mut self, since: f64, at: f64) {
        let Some(after) = self.options.rules.silent_after else { return };
        let opened = self.notices.silences.look(after, Some((at, since)));
        opened.iter().for_each(|one| self.notices.silence("opened", one, at));
    }

    /// Returns incidents and silences: ongoing ones, then past ones, each with the latest first.
    pub fn incidents(&self, key: Option<&str>) -> Value {
        let silences = &self.notices.silences;
        let mut all: Vec<Occurrence> = silences.open.values().chain(&silences.past).cloned().collect();
        all.extend(self.open_incidents());
        let listed = self.journal().map(|journal| &journal.listed);
        all.extend(listed.into_iter().flatten().filter(|one| one.is_incident()).cloned());
        all.retain(|one| key.is_none_or(|key| one.key == key));
        let is_over = |one: &Occurrence| one.incident.as_ref().is_none_or(|facts| facts.is_over);
        all.sort_by_key(|one| (is_over(one), std::cmp::Reverse(one.start)));
        all.iter().map(incident_json).collect()
    }

    fn open_incidents(&self) -> Vec<Occurrence> {
        let Some(journal) = self.journal() else { return Vec::new() };
        let names = self.names();
        journal.open_incidents(&names).into_iter().chain(journal.closing_incidents(&names)).collect()
    }

    pub fn keys(&self) -> Vec<KeyCounts> {
        let Some(journal) = self.journal() else { return Vec::new() };
        let silent = |key: &str| self.notices.silences.open.get(key).map(|one| one.strength);
        let counts = |track: &Track| KeyCounts {
            key: track.key.clone(),
            rows: track.totals.rows,
            alarms: track.totals.alarms,
            severity: track.incident.iter().map(|one| one.severity).chain(silent(&track.key)).fold(0.0, f64::max),
        };
        journal.tracks.iter().map(counts).collect()
    }

    fn begin<'a>(&mut self, rows: &'a Rows) -> Result<Cow<'a, Rows>, Problem> {
        match (&self.shape, &rows.shape) {
            (Some(shape), _) => {
                let fitted = rows.fit(shape)?;
                if let Some(settled) = settled(shape, rows) {
                    self.shape = Some(Arc::new(settled));
                }
                Ok(fitted)
            }
            (None, Some(found)) => {
                let mut learner = fresh(&self.options, found)?;
                learner.keep_in(&self.places);
                (self.learner, self.shape) = (Some(learner), Some(Arc::new(found.clone())));
                Ok(Cow::Borrowed(rows))
            }
            (None, None) => Err(Problem::conflict("the request: its columns are not known to the stream")),
        }
    }

    pub fn score(&mut self, rows: &Rows) -> Result<Vec<u8>, Problem> {
        let (Some(learner), Some(shape)) = (&mut self.learner, &self.shape) else {
            return Err(Problem::conflict("the stream must have learned a row before it can score others"));
        };
        let settled = settled(shape, rows);
        let (rows, shape) = (&*rows.fit(shape)?, settled.as_ref().unwrap_or(shape));
        let mut outcome = Outcome::default();
        match learner {
            AnyLearner::Model(model) => model.score(rows, shape, &mut outcome),
            AnyLearner::Models(models) => models.score(rows, shape, &mut outcome),
            AnyLearner::Monitors(monitors) => monitors.score(rows, shape, &mut outcome),
        }
        match outcome.refused {
            Some(problem) if outcome.learned == 0 => Err(problem),
            _ => Ok(outcome.answers),
        }
    }

    pub fn accept(&mut self, key: Option<&str>, at: f64) -> Result<(), Problem> {
        if let Some(ended) = self.notices.silences.forget(key.unwrap_or("")) {
            self.notices.silence("closed", &ended, at);
            return Ok(());
        }
        let names = self.names();
        let Some(AnyLearner::Monitors(monitors)) = &mut self.learner else {
            return Err(Problem::unsound("only a monitor that has received rows can accept a reference"));
        };
        let key = match (key, &self.options.by) {
            (None, None) => "",
            (Some(key), Some(_)) => key,
            (None, Some(by)) => return Err(Problem::unsound(format!("key must be given: one value of {by:?}"))),
            (Some(_), None) => return Err(Problem::unsound("key has no effect: the stream has one monitor")),
        };
        let closed = monitors.accept(key, self.counts.rows, &names)?;
        self.notices.accept(key, self.counts.rows, closed.as_ref(), at);
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        self.shape.as_ref().map(|shape| shape.all_names()).unwrap_or_default()
    }

    pub fn summary(&mut self, key: Option<&str>) -> Result<Value, Problem> {
        let (skipped, names) = (self.counts.skipped, self.names());
        let summary = match &mut self.learner {
            None => Ok(serde_json::json!({ "rows": 0, "skipped_rows": skipped })),
            Some(AnyLearner::Model(model)) => Ok(model.summary(skipped)),
            Some(AnyLearner::Models(models)) => models.summary(skipped, key),
            Some(AnyLearner::Monitors(monitors)) => {
                Ok(monitors.summary(skipped, &self.notices, key.filter(|_| self.options.by.is_some()), &names))
            }
        };
        summary.map_err(|error: eigenhedge::Error| Problem::unavailable(error.to_string()))
    }

    /// Adapts the number of members in memory to the size of the member that learned the last row.
    fn look_at_memory(&mut self, rows: &Rows) {
        let budget = self.places.fleet_bytes;
        let (Some(learner), Some(shape)) = (&mut self.learner, &self.shape) else { return };
        let (Some(last), Some(_)) = (rows.count().checked_sub(1), shape.key) else { return };
        let (key, _) = rows.key_and_time(last, shape);
        match learner {
            AnyLearner::Model(_) => {}
            AnyLearner::Models(models) => memory::limit(&mut models.fleet, key, budget, &mut self.member_bytes),
            AnyLearner::Monitors(monitors) => memory::limit(&mut monitors.fleet, key, budget, &mut self.member_bytes),
        }
    }
}

impl AnyLearner {
    fn keep_in(&mut self, places: &Places) {
        match self {
            Self::Model(_) => {}
            Self::Models(models) => memory::keep_in(&mut models.fleet, places),
            Self::Monitors(monitors) => memory::keep_in(&mut monitors.fleet, places),
        }
    }
}

fn settled(shape: &Shape, rows: &Rows) -> Option<Shape> {
    rows.shape.as_ref().and_then(|found| shape.settled(found))
}

fn fresh(options: &StreamOptions, shape: &Shape) -> Result<AnyLearner, Problem> {
    match (&options.learner, &options.by) {
        (Learner::Model(setup), None) => models::fresh(setup, options.standardize, shape)
            .map(|model| AnyLearner::Model(OneModel::new(model, shape.has_time))),
        (Learner::Model(setup), Some(_)) => {
            let fleet = models::fresh(setup, options.standardize, shape)
                .and_then(|model| Fleet::new(model).map_err(|error| Problem::unsound(error.to_string())))?;
            Ok(AnyLearner::Models(ModelsByKey::new(fleet)))
        }
        (Learner::Monitor(monitor), by) => {
            let fleet = monitors::fresh(monitor, shape, by.is_some())?;
            Ok(AnyLearner::Monitors(Monitors::new(fleet, by.is_some())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::memory::Memory;
    use crate::service::rows::BodyForm;
    use serde_json::json;

    /// A request may be parsed before earlier requests determine the columns.
    #[test]
    fn rows_that_were_read_before_the_first_ones_are_matched_by_name() {
        let options = Arc::new(StreamOptions::new(&json!({"k": 1, "learner": "leader"})).unwrap());
        let places = Places { folder: std::env::temp_dir(), fleet_bytes: 1 << 20 };
        let engine = || Engine::new(Arc::clone(&options), places.clone());
        let memory = Memory::new(1 << 20);
        let read = |shape: Option<&Shape>, body: &str| {
            Rows::read(&options, (shape, None), (BodyForm::Csv, body.as_bytes()), &mut memory.request()).unwrap()
        };
        let first = read(None, "a,b,c\n1,1000,3\n2,2000,1\n3,-3000,2\n");
        let (mut racing, mut calm) = (engine(), engine());
        racing.learn(&first, 0.0);
        calm.learn(&first, 0.0);
        let shape = calm.shape().unwrap();
        for other in ["c,b,a\n5,1500,7\n", "b,extra,c,a\n1500,0,5,7\n"] {
            let (early, late) = (read(None, other), read(Some(&shape), other));
            assert_eq!(racing.score(&early), calm.score(&late));
            assert_eq!(racing.learn(&early, 0.0), calm.learn(&late, 0.0));
        }
        let foreign = read(None, "x,b,c\n1,2,3\n");
        let wanted = "the request: must have the column \"a\" of the stream";
        assert_eq!(racing.score(&foreign).unwrap_err().detail, wanted);
        assert_eq!(racing.learn(&foreign, 0.0).refused.unwrap().detail, wanted);
        assert!(racing.score(&read(None, "1,2\n3,4\n")).is_err());
    }

    #[test]
    fn sentences_of_open_incidents_are_those_of_the_page() {
        let given = json!({"kind": "monitor", "warm_up": 100, "min_severity": "minor"});
        let options = Arc::new(StreamOptions::new(&given).unwrap());
        let mut engine =
            Engine::new(Arc::clone(&options), Places { folder: std::env::temp_dir(), fleet_bytes: 1 << 20 });
        let mut random = eigenhedge::Random::seeded(1);
        let mut told = std::collections::BTreeSet::new();
        for t in 0..300 {
            let (u, fault) = (random.normal(), if t > 250 { 50.0 } else { 0.0 });
            let body = format!("a,b,c\n{u},{},{}\n", u + 0.1 * random.normal(), fault + random.normal());
            let mut memory = Memory::new(1 << 20).request();
            let shape = engine.shape();
            let given = (shape.as_deref(), None);
            let rows = Rows::read(&options, given, (BodyForm::Csv, body.as_bytes()), &mut memory).unwrap();
            engine.learn(&rows, 1e9);
            let listed = engine.incidents(None);
            let open = listed.as_array().unwrap().iter().filter(|one| one["end"].is_null());
            let wanted: Vec<&str> = open.map(|one| one["sentence"].as_str().unwrap()).collect();
            assert_eq!(engine.notices.open(), wanted, "{t}");
            told.extend(engine.notices.open());
        }
        // A spike becomes a shift.
        assert!(told.len() > 1, "{told:?}");
    }

    #[test]
    fn a_replaced_monitor_ends_its_incident() {
        let given = json!({"kind": "monitor", "warm_up": 100, "min_severity": "minor"});
        let options = Arc::new(StreamOptions::new(&given).unwrap());
        let mut engine = Engine::new(options, Places { folder: std::env::temp_dir(), fleet_bytes: 1 << 20 });
        let mut random = eigenhedge::Random::seeded(1);
        let mut bytes = Vec::new();
        for fault in [0.0, 50.0] {
            let mut body = "a,b,c\n".to_owned();
            for _ in 0..200 {
                let u = random.normal();
                body += &format!("{u},{},{}\n", u + 0.1 * random.normal(), fault + random.normal());
            }
            let (shape, mut memory) = (engine.shape(), Memory::new(1 << 20).request());
            let given = (shape.as_deref(), None);
            let rows = Rows::read(&engine.options, given, (BodyForm::Csv, body.as_bytes()), &mut memory).unwrap();
            engine.learn(&rows, 1e9);
            if fault == 0.0 {
                std::io::Read::read_to_end(&mut engine.model_file().unwrap().reader().unwrap(), &mut bytes).unwrap();
                assert_eq!(engine.notices.open(), [""; 0]);
            }
        }
        assert_eq!(engine.notices.open().len(), 1);
        assert!(engine.replace(b"no model", 2e9).is_err() && engine.notices.open().len() == 1);
        engine.replace(&bytes, 2e9).unwrap();
        let (at, last) = engine.notices.urgent_after(0).last().unwrap();
        assert_eq!((*at, last.kind.as_str(), last.row), (2e9, "closed", 400));
        assert_eq!(engine.notices.open(), [""; 0]);
    }

    /// Snapshots are not self-describing, so no field of a notice may be omitted.
    #[test]
    fn a_snapshot_with_notices_of_every_kind_can_be_read() {
        let given = json!({"kind": "monitor", "warm_up": 100, "silent_after": "1h", "min_severity": "minor"});
        let options = Arc::new(StreamOptions::new(&given).unwrap());
        let places = Places { folder: std::env::temp_dir(), fleet_bytes: 1 << 20 };
        let mut engine = Engine::new(Arc::clone(&options), places.clone());
        let mut random = eigenhedge::Random::seeded(1);
        let mut body = "a,b,c\n".to_owned();
        for t in 0..400 {
            let (u, fault) = (random.normal(), if t % 150 > 140 { 50.0 } else { 0.0 });
            body += &format!("{u},{},{}\n", u + 0.1 * random.normal(), fault + random.normal());
        }
        let mut memory = Memory::new(1 << 20).request();
        let rows = Rows::read(&options, (None, None), (BodyForm::Csv, body.as_bytes()), &mut memory).unwrap();
        engine.learn(&rows, 1e9);
        engine.look_for_silence(0.0, 2e9);
        let kinds: Vec<&str> = engine.notices.after(0).map(|notice| notice.kind.as_str()).collect();
        assert!(["alarm", "opened", "closed"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
        let (around, learner) = engine.save().unwrap();
        let read = Engine::load(options, places, &around, learner).unwrap();
        assert_eq!(read.notices, engine.notices);
        assert_eq!(read.incidents(None), engine.incidents(None));
        assert!(read.incidents(None).as_array().unwrap().len() >= 2);
    }
}
