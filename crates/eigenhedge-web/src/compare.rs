//! Comparison of learners, like `eigenhedge compare --report`.

use crate::options::{LearnerOptions, setup, typed};
use crate::reply::read;
use crate::table::{Results, Task, detected, seconds, sentence};
use eigenhedge::batch::Center;
use eigenhedge::options::spelled;
use eigenhedge::{Kind, Missing, Model};
use eigenhedge_io::{Layout, ScaledStream, Source, Stream};
use eigenhedge_pages::compare::{Comparison, LEARNERS, RowLot, WARM_UP};
use eigenhedge_pages::directions::Directions;
use serde_json::Value;

const OWN: [&str; 6] = ["learners", "center", "warm-up", "norm-bound", "seed", "missing"];

pub struct Compare {
    stream: ScaledStream,
    comparison: Comparison,
    lot: RowLot,
}

impl Compare {
    pub fn open(source: &Source, options: &Value) -> Result<Self, String> {
        let options = LearnerOptions::new(source, options, |name| OWN.contains(&name))?;
        let tried = setup(&options.of(Kind::Auto, 1)?)?;
        if tried.spec.missing == Missing::Fill {
            return Err("--missing must be fail or skip for compare: each learner would fill cells in by itself".into());
        }
        let layout = Layout {
            missing: Some(tried.spec.missing),
            find_time: options.layout.time.is_some(),
            ..options.layout.clone()
        };
        let centered = match options.text("center") {
            None | Some("mean") => true,
            Some("none") => false,
            Some(other) => return Err(format!("--center must be mean or none, got {other}")),
        };
        let center = if centered { Center::Mean } else { Center::None };
        let (k, _) = Directions::of_table(options.k, source, &layout, (options.standardize, center))?;
        let warm_up = options.text("warm-up").map_or(Ok(WARM_UP), str::parse);
        let warm_up = warm_up.map_err(|_| "--warm-up must be a number of rows")?;
        let stream = Stream::open(source, &layout).map_err(sentence)?;
        let length = stream.columns().len();
        let misfit = |error: eigenhedge::Error| sentence(stream.failure(spelled(&error, typed)));
        let mut models = Vec::new();
        for name in options.text("learners").unwrap_or(LEARNERS).split(',') {
            let chosen = options.of(read(name.trim().parse::<Kind>())?, k)?.with("best", "none");
            let setup = setup(&if centered { chosen } else { chosen.with("center", "none") })?;
            models.push(Model::of(&setup, length).map_err(misfit)?);
        }
        let comparison = Comparison::new(models, (length, k), centered, warm_up, seconds).map_err(misfit)?;
        let stream = ScaledStream::new(stream, options.standardize);
        Ok(Self { stream, comparison, lot: RowLot::default() })
    }
}

impl Task for Compare {
    fn description(&self) -> Value {
        detected(self.stream.stream())
    }

    fn step(&mut self, _: u64) -> Result<Option<Results>, String> {
        let Self { stream, comparison, lot, .. } = self;
        let is_read = lot.read(stream, comparison);
        comparison.learn(&lot.rows).map_err(|(i, error)| format!("{}: {error}", lot.places[i]))?;
        if is_read.map_err(sentence)? {
            return Ok(None);
        }
        let ranking = comparison.ranking().ok_or("the best subspace in hindsight is unknown")?;
        let results = [("page", ranking.page(&stream.source()).html()), ("summary", ranking.text())];
        Ok(Some(results.map(|(name, text)| (name, text.into_bytes())).into()))
    }

    fn progress(&self) -> String {
        format!("{} rows", self.comparison.rows())
    }

    fn stream(&self) -> &Stream {
        self.stream.stream()
    }
}
