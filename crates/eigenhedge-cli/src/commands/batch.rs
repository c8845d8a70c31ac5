//! The batch methods: `pca`, `kernel-pca`, `kernel-ridge`, `preimage`, `mmd`. All rows are read before any output.

use crate::args::Directions;
use crate::args::{KernelPcaArgs, KernelRidgeArgs, MmdArgs, OfKernels, OptionArgs, PcaArgs, SummaryForm, TableArgs};
use crate::destination::{Destination, coordinate_names, judge_outputs};
use crate::plan;
use crate::say::{say, say_gamma};
use crate::stdout;
use crate::table::reported;
use crate::table::{self, Usage};
use crate::working::Working;
use anyhow::{Context, Result, anyhow};
use eigenhedge::batch::preimage::{Stop, preimages};
use eigenhedge::batch::{KernelPca, KernelRidge, Pca, Solver, two_sample_test};
use eigenhedge::kernel::{TextItems, VectorKernel, Vectors};
use eigenhedge::{Kind, Random, Standardize};
use eigenhedge_io::{Cell, Layout, ScaledStream, Stream, number_cells, number_columns};
use eigenhedge_pages::check_width;
use eigenhedge_pages::number::readable;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
    kept: Vec<Vec<String>>,
    source: String,
}

const PREIMAGES: usize = 64;

/// First rows from which kernel PCA chooses the number of directions.
const FIRST_ROWS: usize = 300;
const MOST_CHOSEN: usize = 32;

const SCALE_ROWS: usize = 100;

/// If `by_pairs` is true, a value for each pair of rows must also fit the memory limit.
fn read(path: &PathBuf, args: &TableArgs, by_pairs: bool) -> Result<Rows> {
    all_rows(table::open(from_ref(path), args, None)?, by_pairs)
}

fn read_for(kernel: &OptionArgs<OfKernels>, path: &PathBuf, args: &TableArgs) -> Result<Rows> {
    match plan::setup(&kernel.options(Kind::Auto, 1))?.text_items() {
        None => read(path, args, true),
        Some(items) => all_rows(table::open_texts(path, args, items, &[])?, true),
    }
}

fn all_rows(mut stream: ScaledStream, by_pairs: bool) -> Result<Rows> {
    let (mut rows, mut kept) = (Vec::new(), Vec::new());
    let (mut numbers, keeps) = (0, !stream.stream().kept_columns().is_empty());
    while let Some(row) = stream.next_row()? {
        numbers += row.len();
        rows.push(row.to_vec());
        if keeps {
            kept.push(stream.kept().to_vec());
        }
        let bytes = 8 * numbers.div_ceil(rows.len()) + size_of::<Vec<f64>>();
        // The number of rows may double before the next check, and the results need as many numbers again.
        if rows.len().is_power_of_two() {
            stream.stream().allow("all rows", 4 * rows.len() as u128 * bytes as u128)?;
        }
    }
    if by_pairs {
        let count = rows.len() as u128;
        stream.stream().allow("all pairs of rows", 8 * count.saturating_mul(count))?;
    }
    Ok(Rows { names: stream.columns().to_vec(), rows, kept, source: stream.source() })
}

fn working(what: &str, rows: usize, length: usize, passes: usize) -> Working {
    /// Seconds per pair of rows and column, or pass, measured on one processor.
    const COST: f64 = 2e-10;
    let pairs = (rows as f64).powi(2);
    let seconds = COST * pairs * (length + passes) as f64;
    let (what, bytes) = (format!("{what} of {rows} rows"), 8.0 * pairs);
    if seconds >= 60.0 || bytes >= 1e9 {
        let minutes = (seconds / 60.0).ceil().max(1.0);
        say(&format!("{what}: estimated {minutes:.0} min and {:.1} GB", bytes / 1e9));
    }
    Working::start(what, 0)
}

pub fn pca(args: &PcaArgs) -> Result<()> {
    let outputs = [("--out", &args.out.out), ("--components", &args.components)];
    judge_outputs([("the input", &args.input)], &outputs)?;
    let components = Destination::new("--components", args.components.as_deref(), None)?;
    let out = args.out.destination()?;
    let table = read(&args.input, &args.table, false)?;
    let k = reported(Directions::of_rows(args.k, &table.rows, args.center), false);
    let mut coordinates = out.open(number_columns(&coordinate_names(k)))?;
    let mut directions = components.open(number_columns(&table.names))?;
    let working = Working::start(format!("PCA of {} rows", table.rows.len()), 0);
    let pca = Pca::fit(&table.rows, k, args.center).map_err(|e| anyhow!("{}: {e}", table.source))?;
    (0..k).try_for_each(|j| directions.write(&number_cells(pca.components.column(j))))?;
    directions.finish()?;
    if out.is_wanted() {
        table
            .rows
            .iter()
            .try_for_each(|row| -> Result<()> { Ok(coordinates.write(&number_cells(&pca.transform(row)?))?) })?;
    }
    coordinates.finish()?;
    drop(working);
    spectrum(&out, &pca.eigenvalues, &pca.explained_ratio(), pca.total_loss())
}

fn spectrum(of: &Destination, values: &[f64], ratios: &[f64], lost: f64) -> Result<()> {
    let mut out = String::new();
    writeln!(out, "{:<10}{:>16}{:>10}", "component", "eigenvalue", "share")?;
    for (i, (value, ratio)) in values.iter().zip(ratios).enumerate() {
        writeln!(out, "{i:<10}{value:>16.6e}{:>9.2}%", 100.0 * ratio)?;
    }
    writeln!(out, "lost      {lost:>16.6e}")?;
    of.print(&out)
}

/// Returns the kernel. If γ was not given, it is computed from the rows and printed.
fn kernel(args: &OptionArgs<OfKernels>, length: usize, rows: &[Vec<f64>]) -> Result<VectorKernel> {
    let setup = plan::setup(&args.options(Kind::Auto, 1))?;
    let lacks_gamma = setup.lacks_gamma();
    let setup = setup.with_gamma_of(rows).for_rows(length)?;
    let kernel = setup.spec.kernel.context("no such kernel")?.checked()?;
    if lacks_gamma {
        say_gamma(&kernel);
    }
    kernel.advice(rows).into_iter().for_each(say);
    Ok(kernel)
}

fn fit_kernel_pca(args: &KernelPcaArgs, table: &Rows) -> Result<KernelPca<Vectors>> {
    let kernel = kernel(&args.kernel, table.names.len(), &table.rows)?;
    let dictionary = Vectors::new(kernel, table.names.len())?;
    let k = match args.k {
        Some(Directions::Number(k)) => k,
        asked => {
            let first = &table.rows[..table.rows.len().min(FIRST_ROWS)];
            let most = MOST_CHOSEN.min(first.len().saturating_sub(1)).max(1);
            let model = KernelPca::fit(dictionary.clone(), first, most, args.center, Solver::auto(first.len()));
            let model = model.map_err(|error| anyhow!("{}: {error}", table.source))?;
            reported(Directions::of_shares(asked, &model.explained_ratio(), first.len()), false)
        }
    };
    let _working = working("kernel PCA", table.rows.len(), table.names.len(), 20 * k);
    KernelPca::fit(dictionary, &table.rows, k, args.center, Solver::auto(table.rows.len()))
        .map_err(|error| anyhow!("{}: {error}", table.source))
}

pub fn kernel_pca(args: &KernelPcaArgs) -> Result<()> {
    let out = args.out.destination()?;
    judge_outputs([("the input", &args.input)], &[("--out", &args.out.out)])?;
    let table = read_for(&args.kernel, &args.input, &args.table)?;
    let model = fit_kernel_pca(args, &table)?;
    let k = model.eigenvalues.len();
    let mut coordinates = out.open(number_columns(&coordinate_names(k)))?;
    let scores = &model.scores;
    let row = |i: usize| -> Vec<Cell<'_>> { (0..k).map(|j| Cell::Number(scores.column(j)[i])).collect() };
    (0..table.rows.len()).try_for_each(|i| coordinates.write(&row(i)))?;
    coordinates.finish()?;
    spectrum(&out, &model.eigenvalues, &model.explained_ratio(), model.losses.iter().sum())
}

pub fn preimage(args: &KernelPcaArgs) -> Result<()> {
    let out = args.out.destination_or_standard()?;
    judge_outputs([("the input", &args.input)], &[("--out", &args.out.out)])?;
    let table = read_for(&args.kernel, &args.input, &args.table)?;
    let mut rows = out.open(number_columns(&table.names))?;
    let mut model = fit_kernel_pca(args, &table)?;
    let stop = Stop { steps: 300, tolerance: 1e-9 };
    let working = Working::start("pre-images".to_owned(), table.rows.len() as u64);
    for block in table.rows.chunks(PREIMAGES) {
        let expansions = block.iter().map(|row| model.project(row)).collect::<Result<Vec<_>, _>>()?;
        let found = preimages(&mut model.dictionary, &expansions, Some(block), stop)?;
        found.iter().try_for_each(|found| rows.write(&number_cells(&found.point)))?;
        working.advance(block.len() as u64);
    }
    Ok(rows.finish()?)
}

pub fn kernel_ridge(args: &KernelRidgeArgs) -> Result<()> {
    let out = args.out.destination_or_standard()?;
    let inputs = std::iter::once(("the input", &args.input)).chain(args.predict.iter().map(|path| ("--predict", path)));
    judge_outputs(inputs, &[("--out", &args.out.out)])?;
    if args.predict.is_some() && args.table.standardize.is_some_and(|how| how != Standardize::None) {
        let reason = "each table would get a scale of its own";
        return Err(Usage(format!("--standardize has no effect with --predict: {reason}")).into());
    }
    if let Some(items) = plan::setup(&args.kernel.options(Kind::Auto, 1))?.text_items() {
        return ridge_of_texts(args, items, &out);
    }
    let stream = table::open(from_ref(&args.input), &args.table, None)?;
    let mut names = stream.stream().own_names();
    let table = all_rows(stream, true)?;
    let target = position(&table, &args.target)?;
    names.iter_mut().for_each(|names| drop(names.remove(target)));
    let targets: Vec<f64> = table.rows.iter().map(|row| row[target]).collect();
    let points = without(table.rows, target);
    let length = table.names.len() - 1;
    let asked = args.predict.as_deref().map(|path| asked(args, path, names, (length, target))).transpose()?;
    predict(args, &out, &table.source, length, (&points, &targets), asked.as_deref().unwrap_or(&points))
}

fn without(mut rows: Vec<Vec<f64>>, column: usize) -> Vec<Vec<f64>> {
    for row in &mut rows {
        row.remove(column);
    }
    rows
}

/// Without names, the target may be among the columns.
fn asked(
    args: &KernelRidgeArgs,
    path: &Path,
    names: Option<Vec<String>>,
    (length, target): (usize, usize),
) -> Result<Vec<Vec<f64>>> {
    let source = table::source(&[path.to_owned()])?;
    let mut layout = table::layout(&args.table, &source)?;
    if names.is_some() {
        layout =
            Layout { columns: Vec::new(), exclude: Vec::new(), only_numeric: false, model_columns: names, ..layout };
    }
    let stream = Stream::open(&source, &layout)?;
    table::say_reading(&stream);
    let is_by_name = layout.model_columns.is_some() && stream.names().is_some();
    let table = all_rows(ScaledStream::new(stream, Standardize::None), false)?;
    match table.names.len() {
        found if found == length => Ok(table.rows),
        found if found == length + 1 && !is_by_name => Ok(without(table.rows, target)),
        found => Err(anyhow!("{}: must have {length} columns, got {found}", table.source)),
    }
}

/// The target is a copied column of the table.
fn ridge_of_texts(args: &KernelRidgeArgs, items: TextItems, out: &Destination) -> Result<()> {
    let read = |path: &Path, keep: &[String]| all_rows(table::open_texts(path, &args.table, items, keep)?, true);
    let table = read(&args.input, std::slice::from_ref(&args.target))?;
    let target = |(i, kept): (usize, &Vec<String>)| -> Result<f64> {
        let text = kept.first().map_or("", String::as_str);
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.with_context(|| format!("{}, row {i}: the target must be a number, got {text:?}", table.source))
    };
    let targets = table.kept.iter().enumerate().map(target).collect::<Result<Vec<f64>>>()?;
    let asked = args.predict.as_ref().map(|path| read(path, &[])).transpose()?;
    let asked = asked.as_ref().map_or(&table.rows, |asked| &asked.rows);
    predict(args, out, &table.source, 1, (&table.rows, &targets), asked)
}

fn predict(
    args: &KernelRidgeArgs,
    out: &Destination,
    source: &str,
    length: usize,
    (points, targets): (&[Vec<f64>], &[f64]),
    asked: &[Vec<f64>],
) -> Result<()> {
    let dictionary = Vectors::new(kernel(&args.kernel, length, points)?, length)?;
    let mut predictions = out.open(number_columns(&["prediction", "deviation"].map(str::to_owned)))?;
    let working_on_fit = working("kernel ridge regression", points.len(), length, points.len() / 10);
    let model = KernelRidge::fit(dictionary, points, targets, args.alpha);
    let mut model = model.map_err(|error| anyhow!("{source}: {error}"))?;
    drop(working_on_fit);
    let working = Working::start("predictions".to_owned(), asked.len() as u64);
    for block in asked.chunks(KernelRidge::<Vectors>::BLOCK) {
        let posterior = model.posterior(block)?;
        for (mean, variance) in posterior.means.column(0).iter().zip(&posterior.variances) {
            predictions.write(&number_cells(&[*mean, variance.sqrt()]))?;
        }
        working.advance(block.len() as u64);
    }
    Ok(predictions.finish()?)
}

pub fn mmd(args: &MmdArgs) -> Result<()> {
    if args.table.standardize.is_some_and(|how| how != Standardize::None) {
        return Err(
            Usage("--standardize has no effect with mmd: each table would get a scale of its own".into()).into()
        );
    }
    let items = plan::setup(&args.kernel.options(Kind::Auto, 1))?.text_items();
    let open = |path: &PathBuf, names: Option<Vec<String>>| -> Result<ScaledStream> {
        let source = table::source(from_ref(path))?;
        let layout = Layout { model_columns: names, ..table::layout(&args.table, &source)? };
        let stream = Stream::open(&source, &table::of_texts(layout, items, Standardize::None)?)?;
        table::say_reading(&stream);
        Ok(ScaledStream::new(stream, Standardize::None))
    };
    let stream = open(&args.first, None)?;
    let names = stream.stream().own_names();
    let first = all_rows(stream, false)?;
    let (length, stream) = (first.names.len(), open(&args.second, names)?);
    check_width(length, "first table", stream.stream())?;
    let second = all_rows(stream, false)?;
    // The rows of both tables alternate, so that γ is computed from both.
    let both = |i: usize| [first.rows.get(i), second.rows.get(i)].into_iter().flatten().cloned();
    let both: Vec<Vec<f64>> = (0..first.rows.len().max(second.rows.len()).min(SCALE_ROWS)).flat_map(both).collect();
    let dictionary = Vectors::new(kernel(&args.kernel, length, &both)?, length)?;
    let (splits, mut random) = (args.splits, Random::seeded(args.seed));
    let rows = first.rows.len() + second.rows.len();
    let working = working("the discrepancy", rows, length, splits as usize);
    let test = two_sample_test(dictionary, &first.rows, &second.rows, splits as usize, &mut random)?;
    drop(working);
    let (m, n) = (first.rows.len(), second.rows.len());
    let (biased, unbiased, p_value) = (test.discrepancy.biased, test.discrepancy.unbiased, test.p_value);
    if args.summary == SummaryForm::Json {
        let object =
            json!({"rows": [m, n], "biased": biased, "unbiased": unbiased, "splits": splits, "p_value": p_value});
        return stdout::print(&format!("{object}\n"));
    }
    let mut out = String::new();
    writeln!(out, "read         {m} and {n} rows of {length} {}", if items.is_some() { "texts" } else { "numbers" })?;
    let without_bias = unbiased.map_or(String::new(), |unbiased| format!(", {} without bias", readable(unbiased)));
    writeln!(out, "discrepancy  {}{without_bias}", readable(biased))?;
    let as_far = (p_value * f64::from(splits + 1)).round() - 1.0;
    writeln!(out, "p-value      {p_value:.4}: {as_far} of {splits} random splits at least as far apart")?;
    stdout::print(&out)
}

fn position(table: &Rows, target: &str) -> Result<usize> {
    let by_name = table.names.iter().position(|name| name == target);
    let by_number = target.parse().ok().filter(|i: &usize| *i < table.names.len());
    let found = by_name.or(by_number);
    found.with_context(|| format!("{}: has no column {target:?}; it has {}", table.source, table.names.join(", ")))
}
