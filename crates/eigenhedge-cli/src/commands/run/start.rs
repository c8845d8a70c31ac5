//! Start of a run: with a new model, with a saved model, or from a snapshot.

use super::options::{
    SavedRun, agree_on_learner, agree_with_model, in_effect, layout_of_model, options, saved_options, saved_run,
};
use crate::commands::session::Options;
use crate::commands::session::words::{misfit, say, uncapped};
use crate::files::{MOST_IN_MEMORY, read_model, scratch_folder};
use crate::plan::{Beginning, Plan, setup};
use crate::say::say_gamma;
use crate::stop::StopSignal;
use crate::table::{allow_learners, open_like, say_reading};
use anyhow::{Result, anyhow};
use eigenhedge::options::Setup;
use eigenhedge::{Columns, Error, Fleet, Missing, Model, Standardize, Standardizer};
use eigenhedge_io::{GroupStore, Layout, Stream, open_fleet, printable_path};
use eigenhedge_pages::first_rows;
use serde_json::json;
use std::path::Path;

pub trait Models: Sized {
    fn like(model: Model, plan: &Plan) -> Result<Self>;

    fn read(path: &Path, plan: &Plan) -> Result<(Self, Vec<u8>)>;

    fn model(&self) -> &Model;

    fn set_missing(&mut self, missing: Missing) -> Result<(), Error>;
}

impl Models for Model {
    fn like(model: Model, _: &Plan) -> Result<Self> {
        Ok(model)
    }

    fn read(path: &Path, _: &Plan) -> Result<(Self, Vec<u8>)> {
        let mut model = read_model(path)?;
        let saved = std::mem::take(&mut model.resume_state);
        Ok((model, saved))
    }

    fn model(&self) -> &Model {
        self
    }

    fn set_missing(&mut self, missing: Missing) -> Result<(), Error> {
        Self::set_missing(self, missing)
    }
}

impl Models for Fleet<Model> {
    fn like(model: Model, plan: &Plan) -> Result<Self> {
        let store = GroupStore::new(&scratch_folder(plan.args.keep.snapshot.as_deref()));
        Ok(Self::new(model)?.with_store(most(plan), Box::new(store)))
    }

    fn read(path: &Path, plan: &Plan) -> Result<(Self, Vec<u8>)> {
        Ok(open_fleet(path, most(plan))?)
    }

    fn model(&self) -> &Model {
        self.fresh()
    }

    fn set_missing(&mut self, missing: Missing) -> Result<(), Error> {
        self.change(|member| member.set_missing(missing))
    }
}

fn most(plan: &Plan) -> usize {
    plan.args.beside.max_groups.map_or(MOST_IN_MEMORY, |most| most as usize)
}

pub struct Start<M> {
    pub models: M,
    pub stream: Stream,
    pub layout: Layout,
    pub options: Options,
    pub learner_options: Options,
    pub saved: Option<SavedRun>,
}

impl<M: Models> Start<M> {
    pub fn of(plan: &Plan, signal: &StopSignal) -> Result<Self> {
        let layout = Layout { stop: signal.waits.clone(), ..plan.layout.clone() };
        if let Some(path) = &plan.args.keep.resume {
            return Self::resume(plan, &layout, path);
        }
        let (models, stream, layout, learner_options) = match &plan.beginning {
            Beginning::Setup(setup) => Self::afresh(plan, setup, layout)?,
            Beginning::Model(path) => Self::with_models(plan, path, &layout)?,
        };
        if !plan.args.quiet {
            say_reading(&stream);
        }
        let options = match plan.args.keep.snapshot {
            Some(_) => options(plan, &layout, models.model(), Some(stream.reading())),
            None => Options::new(),
        };
        Ok(Self { models, stream, layout, options, learner_options, saved: None })
    }

    fn afresh(plan: &Plan, setup: &Setup, layout: Layout) -> Result<(M, Stream, Layout, Options)> {
        let stream = Stream::open(&plan.source, &layout)?;
        allow_learners(&stream, &[setup.spec.learner])?;
        let lacks_gamma = setup.lacks_gamma() && plan.standardize == Standardize::None;
        let can_read_twice = plan.source.is_regular();
        let first = if lacks_gamma && can_read_twice { first_rows(&plan.source, &layout)? } else { Vec::new() };
        let setup = fitted(&setup.clone().with_gamma_of(&first), &stream, &layout)?;
        if let (Some(kernel), false) = (&setup.spec.kernel, plan.args.quiet) {
            match lacks_gamma {
                true if first.is_empty() => say(
                    "the rows of a pipe do not set the scale of the kernel: --gamma is one over the number of columns",
                ),
                true => say_gamma(kernel),
                false => {}
            }
            kernel.advice(&first).into_iter().for_each(say);
        }
        let length = stream.columns().len();
        let columns = Columns::new(stream.own_names(), Standardizer::new(plan.standardize, length));
        let model = Model::of(&setup, length).map_err(|error| unfit(&error, &stream, &layout))?;
        if !plan.args.quiet {
            uncapped(model.spec(), length).iter().for_each(|advice| say(advice));
        }
        Ok((M::like(model.with_columns(columns), plan)?, stream, layout, in_effect(&setup)?))
    }

    fn with_models(plan: &Plan, path: &Path, layout: &Layout) -> Result<(M, Stream, Layout, Options)> {
        const MISSING: &str = "missing";
        let (mut models, saved) = M::read(path, plan)?;
        let mut options = saved_options(models.model(), &saved)?;
        // The handling of missing cells is a property of the new table.
        if plan.args.options.names().any(|name| name == MISSING) {
            let typed = plan.args.options.options(models.model().spec().learner, plan.k().unwrap_or(1));
            let missing = setup(&typed)?.spec.missing;
            models.set_missing(missing).map_err(|error| anyhow!("{}: {error}", printable_path(path)))?;
            options.insert(MISSING.to_owned(), json!(missing.name()));
        }
        let model = models.model();
        agree_with_model(plan, path, model, &options)?;
        let layout = layout_of_model(plan, path, model, layout)?;
        let stream = open_like(model, &plan.source, &layout)?;
        Ok((models, stream, layout, options))
    }

    fn resume(plan: &Plan, layout: &Layout, path: &Path) -> Result<Self> {
        let (models, saved) = M::read(path, plan)?;
        let model = models.model();
        let layout = match &plan.beginning {
            Beginning::Setup(_) => layout.clone(),
            Beginning::Model(_) => layout_of_model(plan, path, model, layout)?,
        };
        let (saved, options) = saved_run(&saved, path, plan, &layout, model)?;
        let names = model.columns().names.as_deref();
        let stream = Stream::resume(&plan.source, &layout, &saved.stream, names)?;
        saved.agree_on_table(path, &options)?;
        let learner_options = match &plan.beginning {
            Beginning::Setup(setup) => {
                let mut setup = setup.clone().with_gamma_like(model.spec().kernel.as_ref());
                if plan.k().is_none() {
                    setup.spec.kept = model.spec().kept;
                }
                let now = in_effect(&fitted(&setup, &stream, &layout)?)?;
                agree_on_learner(path, &saved.engine.options, &now)?;
                now
            }
            Beginning::Model(_) => {
                agree_with_model(plan, path, model, &saved.engine.options)?;
                saved.engine.options.clone()
            }
        };
        Ok(Self { models, stream, layout, options, learner_options, saved: Some(saved) })
    }
}

fn fitted(setup: &Setup, stream: &Stream, layout: &Layout) -> Result<Setup> {
    setup.for_rows(stream.columns().len()).map_err(|error| unfit(&error, stream, layout))
}

fn unfit(error: &Error, stream: &Stream, layout: &Layout) -> anyhow::Error {
    anyhow!("{}: {}", stream.source(), misfit(error, layout.format, stream))
}
