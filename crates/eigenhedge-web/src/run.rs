//! Model of a table in memory, in steps, like `eigenhedge run --report --out --filled --snapshot`.

use crate::options::{LearnerOptions, setup, typed};
use crate::reply::read;
use crate::table::{Results, Saved, Task, detected, seconds, sentence};
use eigenhedge::batch::Center;
use eigenhedge::options::{OPTIONS, spelled};
use eigenhedge::registry::REGISTRY;
use eigenhedge::{Columns, Kind, Missing, Model, Standardize, Standardizer, checked_bytes};
use eigenhedge_io::{
    Answers, Column, Error, Form, Layout, Row, Source, Stream, Target, answer_cells, answer_columns, filled_cells,
    filled_columns, filled_names, refusal,
};
use eigenhedge_pages::directions::Directions;
use eigenhedge_pages::number::readable;
use eigenhedge_pages::run::{Recorder, page, text};
use eigenhedge_pages::{check_width, counted, file_name, first_rows};
use serde_json::{Value, json};
use std::collections::VecDeque;

pub struct Run {
    stream: Stream,
    model: Model,
    recorder: Recorder,
    coordinates: Answers,
    filled: Option<Answers>,
    /// Rows that have set the scale of the columns, to be learned.
    waiting: VecDeque<Row>,
    row: Row,
    rows_before: u64,
    began: Option<f64>,
    chosen: Option<String>,
}

impl Run {
    pub fn open(source: &Source, saved: Saved, options: &Value) -> Result<Self, String> {
        let own = |name: &str| OPTIONS.iter().any(|option| option.name == name);
        let options = LearnerOptions::new(source, options, own)?;
        let (mut model, stream, chosen) = match saved {
            None => Self::afresh(source, options)?,
            Some(saved) => Self::going_on(source, saved, options)?,
        };
        model.ask_for_coordinates(true);
        let (texts, dialect) = (stream.kept_columns(), stream.reading().dialect());
        let open = |columns: Vec<Column>| {
            let answers = Answers::open(&Target::Memory, Form::Csv, columns, false, None);
            answers.map(|answers| answers.styled(dialect, false)).map_err(sentence)
        };
        let fills = model.spec().missing == Missing::Fill;
        Ok(Self {
            recorder: Recorder::new(&model, stream.has_time()),
            coordinates: open(answer_columns(&texts, model.spec().kept))?,
            filled: if fills { Some(open(filled_columns(&texts, stream.columns()))?) } else { None },
            rows_before: model.totals().rows,
            waiting: VecDeque::new(),
            row: Row::default(),
            began: None,
            stream,
            model,
            chosen,
        })
    }

    fn afresh(source: &Source, options: LearnerOptions) -> Result<(Model, Stream, Option<String>), String> {
        let tried = setup(&options.of(Kind::Auto, 1)?)?;
        let (items, missing, how) = (tried.text_items(), Some(tried.spec.missing), options.standardize);
        let layout = Layout { items, missing, ..options.layout.clone() };
        let center = tried.spec.center.map_or(Center::None, |_| Center::Mean);
        let (k, chosen) = Directions::of_table(options.k, source, &layout, (how, center))?;
        let mut setup = setup(&options.of(Kind::Auto, k)?)?;
        if setup.lacks_gamma() && how == Standardize::None {
            setup = setup.with_gamma_of(&first_rows(source, &layout).map_err(sentence)?);
        }
        let stream = Stream::open(source, &layout).map_err(sentence)?;
        let length = stream.columns().len();
        let misfit = |error: eigenhedge::Error| sentence(stream.failure(spelled(&error, typed)));
        let model = setup.for_rows(length).and_then(|setup| Model::of(&setup, length));
        let columns = Columns::new(stream.own_names(), Standardizer::new(how, length));
        Ok((model.map_err(misfit)?.with_columns(columns), stream, chosen))
    }

    /// Only the handling of missing cells can be changed.
    fn going_on(
        source: &Source,
        (name, saved): (String, Vec<u8>),
        options: LearnerOptions,
    ) -> Result<(Model, Stream, Option<String>), String> {
        if let Some(option) = options.of_learner().find(|option| option != "--missing") {
            return Err(format!("{option} has no effect with {name}, which holds the options of its learner"));
        }
        let refused = |reason: String| format!("{name}: {reason}");
        let mut model = Model::from_bytes(&saved).map_err(|refusal| refused(refusal.to_string()))?;
        model.resume_state.clear();
        if options.text("missing").is_some() {
            let missing = setup(&options.of(Kind::Auto, 1)?)?.spec.missing;
            model.set_missing(missing).map_err(|error| refused(error.to_string()))?;
        }
        let (missing, model_columns) = (Some(model.spec().missing), model.columns().names.clone());
        let items = model.setup().text_items();
        let layout = Layout { missing, model_columns, items, ..options.layout };
        let stream = Stream::open(source, &layout).map_err(sentence)?;
        check_width(model.length(), "model", &stream).map_err(sentence)?;
        Ok((model, stream, None))
    }

    /// Returns false after the last row.
    fn next_row(&mut self) -> Result<bool, Error> {
        if self.model.columns().standardizer.is_warming_up() {
            let model = &mut self.model;
            self.waiting = self.stream.read_warm_up(|row| model.warm_up([row]).map_err(|(_, error)| error))?.into();
            model.settle();
        }
        if let Some(row) = self.waiting.pop_front() {
            self.row = row;
            return Ok(true);
        }
        let is_there = self.stream.next_row()?.is_some();
        if is_there {
            self.stream.deliver_into(&mut self.row);
        }
        Ok(is_there)
    }

    fn refuse(&mut self, row: &Row, error: &eigenhedge::Error) -> Result<(), Error> {
        let reason = refusal(error, |column| self.stream.label(column));
        self.stream.refuse_row(row, reason)
    }

    fn learn(&mut self) -> Result<(), Error> {
        let row = std::mem::take(&mut self.row);
        let numbers = row.numbers();
        let outcome = match row.filled() {
            Some(filled) => self.model.step_filled(numbers, filled),
            None => self.model.step(numbers),
        };
        match outcome {
            Err(error) => self.refuse(&row, &error)?,
            Ok(loss) => {
                let (texts, model) = (&row.kept, &self.model);
                self.coordinates.write(&answer_cells(row.number, texts, loss, model.coordinates()))?;
                if let Some(filled) = &mut self.filled {
                    let names = filled_names(numbers, self.stream.columns());
                    let cells = model.filled().map_or(numbers, |filled| &filled.row);
                    filled.write(&filled_cells(texts, cells, &names))?;
                }
                let moment = row.time.zip(texts.first().map(String::as_str));
                self.recorder.enter(row.number, moment, loss, model);
            }
        }
        self.row = row;
        Ok(())
    }

    fn end(&mut self) -> Result<Results, String> {
        let Self { stream, model, recorder, .. } = self;
        let rows = model.totals().rows - self.rows_before;
        if rows == 0 {
            return Err(sentence(stream.failure("has no rows to learn from".into())));
        }
        let time = seconds() - self.began.unwrap_or_default();
        let mut summary = model.summary().timed(time);
        summary.skipped_rows += stream.skipped();
        summary.rows_per_second = (time > 0.0).then_some(rows as f64 / time);
        recorder.close(stream.row_number(), model, &summary);
        let page = page(file_name(&stream.source()), stream.columns(), recorder, model, &summary);
        let standardized = model.columns().standardizer.how() != Standardize::None;
        let mut results = Results::from([
            ("page", page.html().into_bytes()),
            ("summary", text(&summary, model.spec(), standardized).into_bytes()),
            ("model", read(checked_bytes(model))?),
        ]);
        let nowhere = || Answers::open(&Target::Nowhere, Form::Csv, Vec::new(), false, None).map_err(sentence);
        let coordinates = std::mem::replace(&mut self.coordinates, nowhere()?);
        results.insert("coordinates", coordinates.into_bytes().map_err(sentence)?);
        if let Some(filled) = self.filled.take() {
            results.insert("filled", filled.into_bytes().map_err(sentence)?);
        }
        Ok(results)
    }
}

impl Task for Run {
    fn description(&self) -> Value {
        let mut description = detected(&self.stream);
        let spec = self.model.spec();
        let learners: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
        description["learners"] = json!(learners);
        let kept = counted(spec.kept as u64, "direction");
        description["sentence"] = match &self.chosen {
            None => format!("{} keeps {kept}.", spec.learner),
            Some(chosen) => format!("{chosen}."),
        }
        .into();
        description
    }

    fn step(&mut self, most: u64) -> Result<Option<Results>, String> {
        self.began.get_or_insert_with(seconds);
        for _ in 0..most {
            if !self.next_row().map_err(sentence)? {
                return self.end().map(Some);
            }
            self.learn().map_err(sentence)?;
        }
        Ok(None)
    }

    fn progress(&self) -> String {
        let totals = self.model.totals();
        format!("{} rows, lost {}", totals.rows - self.rows_before, readable(totals.expected_loss))
    }

    fn stream(&self) -> &Stream {
        &self.stream
    }
}
