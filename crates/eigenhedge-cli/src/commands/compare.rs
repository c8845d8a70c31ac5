//! `compare`: several learners and the batch baselines on one stream.

use crate::args::{CompareArgs, SummaryForm};
use crate::destination::{judge_page, judge_plot};
use crate::files::judge_place;
use crate::plan;
use crate::stdout;
use crate::table::choose_k;
use crate::table::{self, Usage};
use crate::working::Working;
use anyhow::{Context, Result, anyhow};
use eigenhedge::batch::Center;
use eigenhedge::{Kind, Missing, Model};
use eigenhedge_io::write_whole;
use eigenhedge_pages::compare::{Comparison, RowLot};
use eigenhedge_pages::{counted, svg};
use std::sync::LazyLock;
use std::time::Instant;

pub fn compare(args: &CompareArgs) -> Result<()> {
    judge_page(args.report.as_deref())?;
    judge_plot(args.plot.as_deref())?;
    [&args.plot, &args.report].into_iter().flatten().try_for_each(|path| judge_place(path))?;
    let source = table::source(&args.inputs)?;
    let how = args.table.standardize.unwrap_or_default();
    let centered = args.center == Center::Mean;
    let k = choose_k(args.k, &source, &table::layout(&args.table, &source)?, (how, args.center), false)?;
    let setup = plan::setup(&args.options.options(Kind::Auto, k))?;
    if setup.spec.missing == Missing::Fill {
        let sentence =
            "--missing must be fail or skip for compare: each learner would fill cells in by itself, got fill";
        return Err(Usage(sentence.into()).into());
    }
    let mut stream = table::open(&args.inputs, &args.table, Some(setup.spec.missing))?;
    let length = stream.columns().len();
    table::allow_learners(stream.stream(), &args.learners)?;
    let source = stream.source();
    let fits = |error: eigenhedge::Error| anyhow!("{source}: {error}");
    let mut models = Vec::new();
    for kind in &args.learners {
        let options = args.options.options(*kind, k).with("best", "none");
        let setup = plan::setup(&if centered { options } else { options.with("center", "none") })?;
        models.push(Model::of(&setup, length).map_err(fits)?);
    }
    let mut comparison = Comparison::new(models, (length, k), centered, args.warm_up, seconds).map_err(fits)?;
    let mut lot = RowLot::default();
    let working = Working::start(format!("{} of {length} columns", counted(args.learners.len() as u64, "learner")), 0);
    loop {
        let read = lot.read(&mut stream, &comparison);
        comparison.learn(&lot.rows).map_err(|(i, error)| anyhow!("{}: {error}", lot.places[i]))?;
        working.advance(lot.rows.len() as u64);
        if !read? {
            break;
        }
    }
    let ranking = comparison.ranking().context("no best loss")?;
    drop(working);
    match args.summary {
        SummaryForm::Text => stdout::print(&ranking.text())?,
        SummaryForm::Json => stdout::print(&format!("{}\n", ranking.json()))?,
    }
    if let Some(path) = &args.plot {
        write_whole(path, svg::chart(&ranking.chart()).as_bytes())?;
    }
    if let Some(path) = &args.report {
        write_whole(path, ranking.page(&source).html().as_bytes())?;
    }
    Ok(())
}

fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}
