//! `run`: one learner over a table.

use crate::answers::{Answers, Target};
use crate::args::SummaryForm;
use crate::number::exact;
use crate::plan::Plan;
use crate::rows::{Rows, Source};
use crate::summary::{Notes, Summary, Text};
use anyhow::{Context, Result, anyhow};
use eigenhedge::{Error, Run};
use std::io::{self, Write};
use std::time::Instant;

/// Reads, learns, answers, and sums up.
pub fn run(plan: &Plan) -> Result<()> {
    let mut rows = Rows::open(&plan.source, &plan.layout)?;
    let length = rows.length();
    let mut run = plan
        .options
        .spec(length)
        .and_then(|spec| Run::watching(spec, length, plan.seed, plan.watch))
        .map_err(|error| anyhow!("{}: {}", rows.source(), misfit(&error)))?;
    let mut answers = Answers::open(&plan.target, matches!(plan.source, Source::Standard))?;
    let mut notes = Notes::default();
    let start = Instant::now();
    while let Some(row) = rows.next_row()? {
        let loss = run.step(row).map_err(|error| anyhow!("{}: {}", rows.place(), sentence(&error)))?;
        let coordinates = run.coordinates();
        notes.kept += coordinates.iter().map(|z| z * z).sum::<f64>();
        if run.ledger().rows == 1 {
            notes.first = loss.expected;
        }
        answers.write(loss, coordinates)?;
    }
    let elapsed = start.elapsed();
    // The answers first: they stay even when nobody reads the summary.
    answers.finish()?;
    let Some(form) = plan.summary else { return Ok(()) };
    let summary = Summary::new(&run, elapsed.as_secs_f64());
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

/// A learner that does not fit the table.
fn misfit(error: &Error) -> String {
    match error {
        // Without the data k was found to fit the space, so it is the row that is too short.
        Error::Kept { kept, dimension } => {
            let hint = if *dimension == 1 { " (is --delimiter right?)" } else { "" };
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
