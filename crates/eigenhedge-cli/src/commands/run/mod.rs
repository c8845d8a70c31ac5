//! `run`: one learner over a table.

mod group_summary;
mod groups;
mod model;
mod options;
mod start;

use super::session::words::{caution, close_table, unless_stopped};
use super::session::{Engine, Outcome, Session};

use crate::args::SummaryForm;
use crate::files::judge_place;
use crate::live::Live;
use crate::plan::Plan;
use crate::say::say_short_warm_up;
use crate::stop::StopSignal;
use crate::working::Working;
use anyhow::Result;
use eigenhedge::{Standardize, set_threads};
use eigenhedge_io::{printable_path, write_whole};
use eigenhedge_pages::run::{page, text};
use eigenhedge_pages::{Page, file_name};
use groups::ModelsByKey;
use model::{Learned, OneModel};

pub use group_summary::inspect;

pub fn run(plan: &Plan) -> Result<()> {
    let keep = &plan.args.keep;
    keep.threads.into_iter().for_each(set_threads);
    [&keep.report, &keep.plot, &keep.snapshot].into_iter().flatten().try_for_each(|path| judge_place(path))?;
    plan.out.judge_standard()?;
    let signal = StopSignal::listen()?;
    if plan.args.beside.group_by.is_some() {
        let Some(mut session) = unless_stopped(&signal, ModelsByKey::session(plan, &signal))? else { return Ok(()) };
        return match session.learn(plan.args.quiet, &plan.out.target, &signal)? {
            Outcome::Left => Ok(()),
            Outcome::Ended | Outcome::Stopped => {
                let elapsed = session.elapsed();
                session.engine.close(&session.stream, elapsed)
            }
        };
    }
    let mut live = Live::start(plan.args.live.live, file_name(&plan.source.name()))?;
    let Some(mut session) = unless_stopped(&signal, OneModel::session(plan, &signal))? else { return Ok(()) };
    live.iter_mut().for_each(|live| session.show(live));
    if session.learn(plan.args.quiet, &plan.out.target, &signal)? == Outcome::Left {
        return Ok(());
    }
    live.iter_mut().for_each(Live::rest);
    let rows = session.engine.rows();
    let report = close(plan, session)?;
    if let (Some(live), Some(report)) = (live, report) {
        live.end(&report, rows, plan.args.live.live_exit, &signal);
    }
    Ok(())
}

fn close(plan: &Plan, session: Session<'_, OneModel<'_>>) -> Result<Option<Page>> {
    let (elapsed, rows) = (session.elapsed(), session.engine.rows());
    let Session { engine, stream, .. } = session;
    let Learned { model, recorder, .. } = engine.finish()?;
    let standardized = model.columns().standardizer.how() != Standardize::None;
    let skipped = close_table(&stream, &plan.args.table, plan.args.quiet)?;
    if !plan.args.quiet {
        say_short_warm_up(model.columns().standardizer.how(), model.totals().rows);
    }
    let working = (!plan.args.quiet).then(|| Working::start("the best subspaces in hindsight".to_owned(), 0));
    let mut summary = model.summary().timed(elapsed.as_secs_f64());
    drop(working);
    summary.skipped_rows += stream.skipped();
    summary.rows_per_second = (summary.seconds > 0.0).then_some(rows as f64 / summary.seconds);
    let report = recorder.map(|mut recorder| {
        recorder.close(stream.row_number(), &model, &summary);
        page(file_name(&stream.source()), stream.columns(), &recorder, &model, &summary)
    });
    if let Some(report) = &report {
        plan.args.keep.report.iter().try_for_each(|path| write_whole(path, report.html().as_bytes()))?;
        plan.args.keep.plot.iter().try_for_each(|path| write_whole(path, report.svg().as_bytes()))?;
    }
    let Some(form) = plan.summary() else { return Ok(report) };
    let shown = match form {
        SummaryForm::Text => caution(skipped) + &text(&summary, model.spec(), standardized) + &next_step(plan),
        SummaryForm::Json => serde_json::to_string(&summary)? + "\n",
    };
    plan.out.print(&shown)?;
    Ok(report)
}

fn next_step(plan: &Plan) -> String {
    match (&plan.args.keep.report, &plan.args.keep.plot) {
        (Some(path), _) => format!("report     {}: open it in a browser\n", printable_path(path)),
        (None, Some(path)) => format!("plot       {}\n", printable_path(path)),
        (None, None) => "next       --report FILE.html draws what happened\n".to_owned(),
    }
}
