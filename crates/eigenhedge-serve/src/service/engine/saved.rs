//! Learner of a stream as bytes: in snapshots of the store, and as a model file.

use super::memory::few_in_memory;
use super::models::{ModelsByKey, OneModel};
use super::monitors::Monitors;
use super::{AnyLearner, Counts, Engine, Notices, Places};
use crate::service::options::{Learner, StreamOptions};
use crate::service::problem::Problem;
use crate::service::shape::Shape;
use eigenhedge::options::Setup;
use eigenhedge::{Error, Fleet, FleetMember, Model, Monitor, Refusal, SavedKind};
use eigenhedge_io::{GroupStore, scratch_file};
use eigenhedge_pages::Downsampler;
use eigenhedge_pages::monitor::Journal;
use eigenhedge_pages::run::Recorder;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// Saved learner, in memory or in an unnamed file with its length in bytes.
pub enum Saved {
    Memory(Vec<u8>),
    File(File, u64),
}

impl Saved {
    pub fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(_, length) => *length,
        }
    }

    pub fn copy(&self) -> io::Result<Self> {
        match self {
            Self::Memory(bytes) => Ok(Self::Memory(bytes.clone())),
            Self::File(file, length) => Ok(Self::File(file.try_clone()?, *length)),
        }
    }

    pub fn reader(&mut self) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Self::Memory(bytes) => Ok(Box::new(Cursor::new(bytes))),
            Self::File(file, _) => {
                file.seek(SeekFrom::Start(0))?;
                Ok(Box::new(file))
            }
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Around {
    shape: Option<Shape>,
    counts: Counts,
    notices: Notices,
    record: Recorded,
    last_time: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
enum Recorded {
    Nothing,
    Model(Box<Recorder>),
    Models(Downsampler),
    Monitors(Journal),
}

impl Recorded {
    fn of(learner: Option<&AnyLearner>) -> Self {
        match learner {
            None => Self::Nothing,
            Some(AnyLearner::Model(one)) => Self::Model(one.recorder.clone()),
            Some(AnyLearner::Models(models)) => Self::Models(models.record.clone()),
            Some(AnyLearner::Monitors(monitors)) => Self::Monitors(monitors.journal.clone()),
        }
    }
}

fn unwritable(error: impl std::fmt::Display) -> Problem {
    Problem::store_full(format!("the state of the stream cannot be saved: {error}"))
}

fn damaged(reason: impl std::fmt::Display) -> String {
    format!("the saved state of the stream {reason}")
}

impl Engine {
    pub fn save(&mut self) -> Result<(Vec<u8>, Option<Saved>), Problem> {
        let around = Around {
            shape: self.shape.as_deref().cloned(),
            counts: self.counts,
            notices: self.notices.clone(),
            record: Recorded::of(self.learner.as_ref()),
            last_time: self.last_time,
        };
        let around = postcard::to_stdvec(&around).map_err(unwritable)?;
        let learner = match &mut self.learner {
            None => None,
            Some(AnyLearner::Model(model)) => Some(Saved::Memory(model.model.to_bytes().map_err(unwritable)?)),
            Some(AnyLearner::Models(models)) => Some(fleet_bytes(&mut models.fleet, &self.places.folder)?),
            Some(AnyLearner::Monitors(monitors)) => Some(fleet_bytes(&mut monitors.fleet, &self.places.folder)?),
        };
        Ok((around, learner))
    }

    pub fn load(
        options: Arc<StreamOptions>,
        places: Places,
        around: &[u8],
        learner: Option<Saved>,
    ) -> Result<Self, String> {
        let around: Around = postcard::from_bytes(around).map_err(damaged)?;
        let mut engine = Self::new(options, places);
        (engine.counts, engine.notices) = (around.counts, around.notices);
        (engine.shape, engine.last_time) = (around.shape.map(Arc::new), around.last_time);
        let Some(mut saved) = learner else { return Ok(engine) };
        engine.learner = Some(match (&engine.options.learner, around.record) {
            (Learner::Model(_), Recorded::Model(recorder)) => {
                let mut bytes = Vec::new();
                saved.reader().and_then(|mut reader| reader.read_to_end(&mut bytes)).map_err(damaged)?;
                let one = OneModel::new(Model::from_bytes(&bytes).map_err(damaged)?, false);
                if !recorder.fits(&one.model) {
                    return Err(damaged("holds the page of another model"));
                }
                AnyLearner::Model(OneModel { recorder, ..one })
            }
            (Learner::Model(_), Recorded::Models(record)) => {
                let fleet = fleet_of(saved, &engine.places).map_err(damaged)?;
                AnyLearner::Models(ModelsByKey { record, ..ModelsByKey::new(fleet) })
            }
            (Learner::Monitor(_), Recorded::Monitors(journal)) => {
                let fleet: Fleet<Monitor> = fleet_of(saved, &engine.places).map_err(damaged)?;
                if !fleet.keys().eq(journal.tracks.iter().map(|track| track.key.as_str())) {
                    return Err(damaged("holds the page of other monitors"));
                }
                AnyLearner::Monitors(Monitors { fleet: Box::new(fleet), journal })
            }
            _ => return Err(damaged("holds the page of another kind of stream")),
        });
        Ok(engine)
    }

    fn has_time(&self) -> bool {
        self.shape.as_ref().is_some_and(|shape| shape.has_time)
    }

    pub fn model_file(&mut self) -> Result<Saved, Problem> {
        let none = || Problem::conflict("the stream has no model before its first row");
        match &mut self.learner {
            None => Err(none()),
            Some(AnyLearner::Monitors(monitors)) if self.options.by.is_none() => {
                let monitor = monitors.fleet.get("").map_err(unwritable)?.ok_or_else(none)?;
                Ok(Saved::Memory(monitor.to_bytes().map_err(unwritable)?))
            }
            Some(_) => self.save()?.1.ok_or_else(none),
        }
    }

    /// Replaces the learner by that of a model file. Ends the incidents that were ongoing.
    pub fn replace(&mut self, bytes: &[u8], at: f64) -> Result<(), Problem> {
        let refuse = |refusal: Refusal| Problem::unsound(format!("the model {refusal}"));
        let unsound = |error: Error| Problem::unsound(error.to_string());
        let kind = SavedKind::of(bytes).map_err(refuse)?;
        let learner = match (&self.options.learner, &self.options.by, kind) {
            (Learner::Model(setup), None, SavedKind::Model) => {
                let mut model = Model::from_bytes(bytes).map_err(refuse)?;
                model.resume_state.clear();
                agree(setup, &model, &self.options)?;
                AnyLearner::Model(OneModel::new(model, self.has_time()))
            }
            (Learner::Model(setup), Some(_), SavedKind::Models) => {
                let fleet: Fleet<Model> = uploaded(bytes, &self.places)?;
                agree(setup, fleet.fresh(), &self.options)?;
                AnyLearner::Models(ModelsByKey::new(fleet))
            }
            (Learner::Monitor(options), None, SavedKind::Monitor) => {
                let mut monitor = Monitor::from_bytes(bytes).map_err(refuse)?;
                monitor.resume_state.clear();
                agree_on_monitor(options, &monitor)?;
                let alone = Fleet::new(monitor.clone()).and_then(|mut fleet| {
                    fleet.with("", |member| {
                        *member = monitor;
                        Ok(())
                    })?;
                    Ok(fleet)
                });
                AnyLearner::Monitors(alone.and_then(|fleet| Monitors::of(fleet, false)).map_err(unsound)?)
            }
            (Learner::Monitor(options), Some(_), SavedKind::Monitors) => {
                let fleet: Fleet<Monitor> = uploaded(bytes, &self.places)?;
                agree_on_monitor(options, fleet.fresh())?;
                AnyLearner::Monitors(Monitors::of(fleet, true).map_err(unsound)?)
            }
            (_, by, kind) => {
                let wanted = format!("a {}{}", self.options.kind(), if by.is_some() { " for each key" } else { "" });
                return Err(Problem::conflict(format!("the file holds {kind}, and the stream is {wanted}")));
            }
        };
        let (names, width) = learner.columns();
        let shape = match &self.shape {
            Some(shape) if shape.width != width || shape.names != names => {
                return Err(Problem::conflict("the model must have the columns of the stream"));
            }
            Some(shape) => Arc::clone(shape),
            None => Arc::new(self.options.shape(names, width)),
        };
        let open = self.open_incidents();
        (self.learner, self.shape) = (Some(learner), Some(shape));
        self.notices.restart(open, self.counts.rows, at);
        Ok(())
    }
}

impl AnyLearner {
    fn columns(&self) -> (Option<Vec<String>>, usize) {
        match self {
            Self::Model(one) => (one.model.columns().names.clone(), one.model.length()),
            Self::Models(ModelsByKey { fleet, .. }) => (fleet.fresh().columns().names.clone(), fleet.fresh().length()),
            Self::Monitors(Monitors { fleet, .. }) => (fleet.fresh().columns().names.clone(), fleet.fresh().width()),
        }
    }
}

fn agree(setup: &Setup, model: &Model, options: &StreamOptions) -> Result<(), Problem> {
    let misfit = |error: Error| Problem::conflict(error.to_string());
    let wanted = setup.for_rows(model.length()).map_err(misfit)?;
    let found = model.setup();
    if wanted.spec.learner != found.spec.learner || wanted.spec.kept != found.spec.kept {
        let (learner, k) = (found.spec.learner, found.spec.kept);
        let sentence = format!("the model must have the learner and the k of the stream, got {learner} and {k}");
        return Err(Problem::conflict(sentence));
    }
    let values = |setup: &Setup| -> Vec<(&'static str, String)> {
        let all = setup.values().filter(|(option, _)| option.name != "seed");
        all.map(|(option, value)| (option.name, value.to_string())).collect()
    };
    let (wanted, found) = (values(&wanted), values(&found));
    let differs =
        wanted.iter().find(|one| !found.contains(one)).or_else(|| found.iter().find(|one| !wanted.contains(one)));
    if let Some((name, _)) = differs {
        let name = name.replace('-', "_");
        return Err(Problem::conflict(format!(
            "{name} must be the same in the model and in the options of the stream"
        )));
    }
    if model.columns().standardizer.how() != options.standardize {
        return Err(Problem::conflict("standardize must be the same in the model and in the options of the stream"));
    }
    Ok(())
}

fn agree_on_monitor(options: &eigenhedge::MonitorOptions, monitor: &Monitor) -> Result<(), Problem> {
    if monitor.options() == options {
        return Ok(());
    }
    Err(Problem::conflict("the options of the monitor must be those of the stream"))
}

fn fleet_bytes<T: FleetMember>(fleet: &mut Fleet<T>, folder: &Path) -> Result<Saved, Problem> {
    let file = scratch_file(folder).map_err(unwritable)?;
    let mut out = BufWriter::new(file);
    fleet.write(&[], &mut out).map_err(unwritable)?;
    let mut file = out.into_inner().map_err(unwritable)?;
    let length = file.stream_position().map_err(unwritable)?;
    Ok(Saved::File(file, length))
}

/// Opens a saved fleet, whose members are read on demand.
fn fleet_of<T: FleetMember>(saved: Saved, places: &Places) -> Result<Fleet<T>, String> {
    let mut file = match saved {
        Saved::File(file, _) => file,
        Saved::Memory(bytes) => {
            let mut file = scratch_file(&places.folder).map_err(|error| error.to_string())?;
            file.write_all(&bytes).map_err(|error| error.to_string())?;
            file
        }
    };
    file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    let index = Fleet::<T>::index(&mut io::BufReader::new(&mut file)).map_err(|refusal| refusal.to_string())?;
    let parts = index.parts.iter().map(|(_, at, length)| (*at, *length)).collect();
    let store = GroupStore::over(&places.folder, file, parts);
    let (fleet, _) =
        index.open(few_in_memory(places), Box::new(store), GroupStore::part).map_err(|error| error.to_string())?;
    Ok(fleet)
}

fn uploaded<T: FleetMember>(bytes: &[u8], places: &Places) -> Result<Fleet<T>, Problem> {
    let refuse = |reason: String| Problem::unsound(format!("the model {reason}"));
    let mut fleet: Fleet<T> = fleet_of(Saved::Memory(bytes.to_vec()), places).map_err(refuse)?;
    // Read all members now, so that the client receives an error if one is damaged.
    let keys: Vec<String> = fleet.keys().map(str::to_owned).collect();
    for key in keys {
        fleet.with(&key, |_| Ok(())).map_err(|error| refuse(error.to_string()))?;
    }
    Ok(fleet)
}
