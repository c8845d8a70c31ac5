//! `run`: one learner over a table.

use crate::args::SummaryForm;
use crate::number::exact;
use crate::plan::Plan;
use crate::summary::{Notes, Summary, Text};
use anyhow::{Context, Result, anyhow};
use eigenhedge::{Error, Run};
use eigenhedge_io::{Answer, Answers, Format, Source, Standardize, Stream, Target};
use std::io::{self, Write};
use std::time::Instant;

/// Reads, learns, answers, and sums up.
pub fn run(plan: &Plan) -> Result<()> {
    let mut stream = Stream::open(&plan.source, &plan.layout)?;
    let length = stream.columns().len();
    let mut run = plan
        .options
        .spec(length)
        .and_then(|spec| Run::watching(spec, length, plan.seed, plan.watch))
        .map_err(|error| anyhow!("{}: {}", stream.source(), misfit(&error, plan.layout.format)))?;
    let at_once = plan.source == Source::Standard;
    let mut answers = Answers::open(&plan.target, plan.form, run.spec().kept, at_once)?;
    let mut notes = Notes { standardized: plan.layout.standardize != Standardize::None, ..Notes::default() };
    let start = Instant::now();
    while let Some(row) = stream.next_row()? {
        let loss = match run.step(row) {
            Ok(loss) => loss,
            Err(error) => {
                stream.refuse(sentence(&error))?;
                continue;
            }
        };
        let coordinates = run.coordinates();
        notes.kept += coordinates.iter().map(|z| z * z).sum::<f64>();
        if run.ledger().rows == 1 {
            notes.first = loss.expected;
        }
        let (row, expected_loss, loss) = (stream.row_number(), loss.expected, loss.realised);
        answers.write(&Answer { row, expected_loss, loss, coordinates })?;
    }
    let elapsed = start.elapsed();
    // The answers first: they stay even when nobody reads the summary.
    answers.finish()?;
    list_skipped(&stream);
    let Some(form) = plan.summary else { return Ok(()) };
    let summary = Summary { skipped_rows: stream.skipped(), ..Summary::new(&run, elapsed.as_secs_f64()) };
    let text = match form {
        SummaryForm::Text => summary.text(run.spec(), &notes),
        SummaryForm::Json => serde_json::to_string(&summary)? + "\n",
    };
    if plan.target == Target::Standard {
        return io::stderr().write_all(text.as_bytes()).context("standard error cannot be written");
    }
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output cannot be written")
}

/// The first few rows that were passed over, for whoever watches; if nobody does, that is no failure.
fn list_skipped(stream: &Stream) {
    let mut err = io::stderr().lock();
    let mut listed = 0;
    for message in stream.messages() {
        let _ = writeln!(err, "eigenhedge: skipped: {message}");
        listed += 1;
    }
    if stream.skipped() > listed {
        let _ = writeln!(err, "eigenhedge: skipped: {} more", stream.skipped() - listed);
    }
}

/// A learner that does not fit the table.
fn misfit(error: &Error, format: Format) -> String {
    match error {
        // Without the data k was found to fit the space, so it is the row that is too short.
        Error::Kept { kept, dimension } => {
            let is_doubtful = *dimension == 1 && matches!(format, Format::Csv | Format::Tsv);
            let hint = if is_doubtful { " (is --delimiter right?)" } else { "" };
            format!("-k must be less than the number of selected columns, {dimension}, got {kept}{hint}")
        }
        Error::Parameter { name, rule, value } => format!("--{name} must be {rule}, got {}", exact(*value)),
        other => sentence(other),
    }
}

/// The library's sentence, with numbers of any size in few characters.
fn sentence(error: &Error) -> String {
    match error {
        Error::Norm { norm, bound } => {
            format!("the norm of the row must not exceed the norm bound {}, got {}", exact(*bound), exact(*norm))
        }
        Error::Overflow { largest } => {
            format!("the squared norm of the row must be finite, got a largest entry of {}", exact(*largest))
        }
        other => other.to_string(),
    }
}
