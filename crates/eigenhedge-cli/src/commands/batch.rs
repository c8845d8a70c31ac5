//! The batch methods: `pca`, `kernel-pca`, `kernel-ridge`, `preimage`, `mmd`. All rows are read before any output.

use crate::args::{
    CenterArg, KernelPcaArgs, KernelRidgeArgs, MmdArgs, OfKernels, OptionArgs, PcaArgs, SummaryForm, TableArgs,
};
use crate::csv_writer::{CsvWriter, coordinate_names};
use crate::plan;
use crate::scaled::ScaledStream;
use crate::stdout;
use crate::table::{self, Usage};
use anyhow::{Context, Result, anyhow};
use eigenhedge::batch::preimage::{Stop, descend, fixed_point};
use eigenhedge::batch::{Center, KernelPca, KernelRidge, Pca, Solver, two_sample_test};
use eigenhedge::kernel::{TextItems, VectorKernel, Vectors};
use eigenhedge::{Kind, Random, Standardize};
use eigenhedge_io::{Layout, Stream};
use eigenhedge_pages::number::readable;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
    /// Cells of the copied columns, for each row.
    kept: Vec<Vec<String>>,
    source: String,
}

/// Reads all rows. `by_pairs` is true if a value will be computed for each pair of rows, which limits their number.
fn read(path: &Path, args: &TableArgs, by_pairs: bool) -> Result<Rows> {
    all_rows(table::open(path, args)?, by_pairs.then_some(0))
}

/// Reads all rows for a kernel, which may take texts or sets.
fn read_for(kernel: &OptionArgs<OfKernels>, path: &Path, args: &TableArgs) -> Result<Rows> {
    match plan::setup(&kernel.options(Kind::Auto, 1))?.text_items() {
        None => read(path, args, true),
        Some(items) => all_rows(table::open_texts(path, args, items, &[])?, Some(0)),
    }
}

/// Reads all rows of a table. If a value will be computed for each pair of rows, `others` is the number of rows in
/// other tables, and otherwise `None`.
fn all_rows(mut stream: ScaledStream, others: Option<usize>) -> Result<Rows> {
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
    if let Some(others) = others {
        let count = (rows.len() + others) as u128;
        stream.stream().allow("all pairs of rows", 8 * count.saturating_mul(count))?;
    }
    Ok(Rows { names: stream.columns().to_vec(), rows, kept, source: stream.source() })
}

fn center(center: CenterArg) -> Center {
    match center {
        CenterArg::Mean => Center::Mean,
        CenterArg::None => Center::None,
    }
}

/// Prints the eigenvalues of PCA. Writes components and coordinates to files if these are given.
pub fn pca(args: &PcaArgs) -> Result<()> {
    let table = read(&args.input, &args.table, false)?;
    let pca = Pca::fit(&table.rows, args.k, center(args.center)).map_err(|e| anyhow!("{}: {e}", table.source))?;
    spectrum(pca.eigenvalues(), &pca.explained_ratio(), pca.total_loss())?;
    if let Some(path) = &args.components {
        let mut sheet = CsvWriter::create(Some(path), &table.names)?;
        (0..args.k).try_for_each(|j| sheet.row(pca.components().column(j).iter().copied()))?;
        sheet.finish()?;
    }
    let Some(path) = &args.out else { return Ok(()) };
    let mut sheet = CsvWriter::create(Some(path), &coordinate_names(args.k))?;
    for row in &table.rows {
        sheet.row(pca.transform(row)?)?;
    }
    sheet.finish()
}

fn spectrum(values: &[f64], ratios: &[f64], lost: f64) -> Result<()> {
    let mut out = String::new();
    writeln!(out, "{:<10}{:>16}{:>10}", "component", "eigenvalue", "share")?;
    for (i, (value, ratio)) in values.iter().zip(ratios).enumerate() {
        writeln!(out, "{i:<10}{value:>16.6e}{:>9.2}%", 100.0 * ratio)?;
    }
    writeln!(out, "lost      {lost:>16.6e}")?;
    stdout::print(&out)
}

fn kernel(args: &OptionArgs<OfKernels>, length: usize) -> Result<VectorKernel> {
    let setup = plan::setup(&args.options(Kind::Auto, 1))?;
    Ok(setup.for_rows(length)?.spec.kernel.context("no such kernel")?.checked()?)
}

fn fit_kernel_pca(args: &KernelPcaArgs, table: &Rows) -> Result<KernelPca<Vectors>> {
    let kernel = kernel(&args.kernel, table.names.len())?;
    let dictionary = Vectors::new(kernel, table.names.len())?;
    KernelPca::fit(dictionary, &table.rows, args.k, center(args.center), Solver::auto(table.rows.len()))
        .map_err(|error| anyhow!("{}: {error}", table.source))
}

/// Prints the eigenvalues of kernel PCA. Writes coordinates to a file if one is given.
pub fn kernel_pca(args: &KernelPcaArgs) -> Result<()> {
    let table = read_for(&args.kernel, &args.input, &args.table)?;
    let model = fit_kernel_pca(args, &table)?;
    spectrum(model.eigenvalues(), &model.explained_ratio(), model.losses().iter().sum())?;
    let Some(path) = &args.out else { return Ok(()) };
    let mut sheet = CsvWriter::create(Some(path), &coordinate_names(args.k))?;
    let scores = model.scores();
    (0..table.rows.len()).try_for_each(|i| sheet.row((0..args.k).map(|j| scores.column(j)[i])))?;
    sheet.finish()
}

/// Writes denoised rows: pre-images of their projections by kernel PCA.
pub fn preimage(args: &KernelPcaArgs) -> Result<()> {
    let table = read_for(&args.kernel, &args.input, &args.table)?;
    let mut model = fit_kernel_pca(args, &table)?;
    let mut sheet = CsvWriter::create(args.out.as_deref(), &table.names)?;
    let stop = Stop { steps: 300, tolerance: 1e-9 };
    for row in &table.rows {
        let expansion = model.project(row)?;
        let kernel = model.dictionary().kernel().clone();
        let found = match kernel {
            VectorKernel::Rbf { .. } => fixed_point(model.dictionary_mut(), &expansion, row, 0, stop)?,
            kernel => descend(&kernel, model.dictionary(), &expansion, row, stop)?,
        };
        sheet.row(found.point)?;
    }
    sheet.finish()
}

/// Writes predictions of kernel ridge regression with their standard deviations.
pub fn kernel_ridge(args: &KernelRidgeArgs) -> Result<()> {
    if let Some(items) = plan::setup(&args.kernel.options(Kind::Auto, 1))?.text_items() {
        return ridge_of_texts(args, items);
    }
    let table = read(&args.input, &args.table, true)?;
    let target = position(&table, &args.target)?;
    let split = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let without = |row: &Vec<f64>| row.iter().enumerate().filter(|(i, _)| *i != target).map(|(_, x)| *x).collect();
        rows.iter().map(without).collect()
    };
    let points = split(&table.rows);
    let targets: Vec<f64> = table.rows.iter().map(|row| row[target]).collect();
    let length = table.names.len() - 1;
    let asked = match &args.predict {
        None => points.clone(),
        Some(path) => {
            let table = read(path, &args.table, false)?;
            match table.names.len() {
                found if found == length + 1 => split(&table.rows),
                found if found == length => table.rows,
                found => return Err(anyhow!("{}: must have {length} columns, got {found}", table.source)),
            }
        }
    };
    predict(args, &table.source, length, (&points, &targets), &asked)
}

/// Writes predictions for texts or sets. The target is a copied column of the table.
fn ridge_of_texts(args: &KernelRidgeArgs, items: TextItems) -> Result<()> {
    let read = |path: &Path, keep: &[String]| all_rows(table::open_texts(path, &args.table, items, keep)?, Some(0));
    let table = read(&args.input, std::slice::from_ref(&args.target))?;
    let target = |(i, kept): (usize, &Vec<String>)| -> Result<f64> {
        let text = kept.first().map_or("", String::as_str);
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        number.with_context(|| format!("{}, row {i}: the target must be a number, got {text:?}", table.source))
    };
    let targets = table.kept.iter().enumerate().map(target).collect::<Result<Vec<f64>>>()?;
    let asked = args.predict.as_ref().map(|path| read(path, &[])).transpose()?;
    let asked = asked.as_ref().map_or(&table.rows, |asked| &asked.rows);
    predict(args, &table.source, 1, (&table.rows, &targets), asked)
}

/// Fits the regression to `points`, rows of `length` values, and writes predictions for the rows `asked`.
fn predict(
    args: &KernelRidgeArgs,
    source: &str,
    length: usize,
    (points, targets): (&[Vec<f64>], &[f64]),
    asked: &[Vec<f64>],
) -> Result<()> {
    let dictionary = Vectors::new(kernel(&args.kernel, length)?, length)?;
    let model = KernelRidge::fit(dictionary, points, targets, args.alpha);
    let mut model = model.map_err(|error| anyhow!("{source}: {error}"))?;
    let header = ["prediction", "deviation"].map(str::to_owned);
    let mut sheet = CsvWriter::create(args.out.as_deref(), &header)?;
    for point in asked {
        let posterior = model.posterior(point)?;
        sheet.row([posterior.mean[0], posterior.variance.max(0.0).sqrt()])?;
    }
    sheet.finish()
}

/// Tests whether the rows of two tables come from the same distribution, and prints the p-value.
pub fn mmd(args: &MmdArgs) -> Result<()> {
    if args.table.standardize.is_some_and(|how| how != Standardize::None) {
        return Err(
            Usage("--standardize has no effect with mmd: each table would get a scale of its own".into()).into()
        );
    }
    let items = plan::setup(&args.kernel.options(Kind::Auto, 1))?.text_items();
    let open = |path: &PathBuf, names: Option<Vec<String>>| -> Result<ScaledStream> {
        let source = table::source(std::slice::from_ref(path))?;
        let layout = Layout { model_columns: names, ..table::layout(&args.table, &source)? };
        let stream = Stream::open(&source, &table::of_texts(layout, items, Standardize::None)?)?;
        Ok(ScaledStream::new(stream, Standardize::None))
    };
    let stream = open(&args.first, None)?;
    let names = stream.stream().names().map(<[String]>::to_vec);
    let first = all_rows(stream, Some(0))?;
    let second = all_rows(open(&args.second, names)?, Some(first.rows.len()))?;
    let (length, found) = (first.names.len(), second.names.len());
    if found != length {
        return Err(anyhow!(
            "{}: must have {length} selected columns like the first table, got {found}",
            second.source
        ));
    }
    let dictionary = Vectors::new(kernel(&args.kernel, length)?, length)?;
    let (splits, mut random) = (args.splits, Random::seeded(args.seed));
    let test = two_sample_test(dictionary, &first.rows, &second.rows, splits as usize, &mut random)?;
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
