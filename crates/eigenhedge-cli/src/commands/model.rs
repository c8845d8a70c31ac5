//! Commands that use a saved model: `transform`, `reconstruct`, `inspect` and `export`.

use super::{monitor, run};
use crate::args::{ExportArgs, InspectArgs, ReconstructArgs, SummaryForm, TransformArgs};
use crate::destination::{coordinate_names, judge_outputs, row_cells, row_columns};
use crate::files::{judge_place, kind_of, read_model};
use crate::stdout;
use crate::table::{open_for_model, open_like};
use anyhow::{Result, anyhow};
use eigenhedge::{Model, SavedKind, Standardize};
use eigenhedge_io::{Stream, number_cells, number_columns, printable, printable_path, write_linear_map};
use eigenhedge_pages::run::{json as summary_json, text};
use serde_json::{Value, json};

pub fn transform(args: &TransformArgs) -> Result<()> {
    let out = args.out.destination_or_standard()?;
    judge_outputs([("the model", &args.model), ("the input", &args.input)], &[("--out", &args.out.out)])?;
    let (source, layout) = open_for_model("transform", &args.input, &args.table)?;
    let mut model = read_model(&args.model)?;
    let mut stream = open_like(&model, &source, &layout)?;
    let names = std::iter::once("loss".to_owned()).chain(coordinate_names(model.spec().kept));
    let mut table = out.open(row_columns(names))?;
    let mut coordinates = Vec::new();
    while let Some(row) = stream.next_row()? {
        match model.transform(row, &mut coordinates) {
            Ok(loss) => {
                let numbers = std::iter::once(loss).chain(coordinates.iter().copied());
                table.write(&row_cells(stream.row_number(), numbers))?;
            }
            Err(error) => stream.refuse(error.to_string())?,
        }
    }
    Ok(table.finish()?)
}

pub fn reconstruct(args: &ReconstructArgs) -> Result<()> {
    let out = args.out.destination_or_standard()?;
    judge_outputs([("the model", &args.model), ("the input", &args.coordinates)], &[("--out", &args.out.out)])?;
    let (source, layout) = open_for_model("reconstruct", &args.coordinates, &args.table)?;
    let mut model = read_model(&args.model)?;
    let mut stream = Stream::open(&source, &layout)?;
    let wanted = coordinate_columns(&stream, model.spec().kept)?;
    let names = model.columns().names.clone();
    let names = names.unwrap_or_else(|| (0..model.length()).map(|i| format!("x{i}")).collect());
    let mut table = out.open(number_columns(&names))?;
    let mut coordinates = Vec::new();
    while let Some(row) = stream.next_row()? {
        coordinates.clear();
        coordinates.extend(wanted.iter().map(|i| row[*i]));
        match model.reconstruct(&coordinates) {
            Ok(row) => table.write(&number_cells(&row))?,
            Err(error) => stream.refuse(error.to_string())?,
        }
    }
    Ok(table.finish()?)
}

/// Returns the positions of the columns z0, z1, …, or of all columns if none has such a name.
fn coordinate_columns(stream: &Stream, kept: usize) -> Result<Vec<usize>> {
    let source = stream.source();
    if stream.names().is_some_and(|names| names.iter().any(|name| name == "expected_loss")) {
        return Err(anyhow!(
            "{source}: must contain coordinates of `transform`, got the results of `run`, whose rows have different subspaces; \
             `transform MODEL TABLE` computes coordinates for this model, and `run --reconstruct FILE` writes the projection of \
             each row"
        ));
    }
    let columns = stream.columns();
    let mut named: Vec<(usize, usize)> =
        (0..columns.len()).filter_map(|i| Some((coordinate(&columns[i])?, i))).collect();
    named.sort_unstable();
    let wanted: Vec<usize> = match named.is_empty() {
        true => (0..columns.len()).collect(),
        false => named.iter().map(|(_, place)| *place).collect(),
    };
    let is_complete = wanted.len() == kept && named.iter().zip(0..).all(|((number, _), i)| *number == i);
    match is_complete {
        true => Ok(wanted),
        false if wanted.len() == kept => Err(anyhow!("{source}: must have the coordinates z0 to z{}", kept - 1)),
        false => Err(anyhow!("{source}: must have {kept} coordinates like the model, got {}", wanted.len())),
    }
}

fn coordinate(name: &str) -> Option<usize> {
    name.strip_prefix('z')?.parse().ok()
}

pub fn inspect(args: &InspectArgs) -> Result<()> {
    let (path, json) = (&args.model, args.summary == SummaryForm::Json);
    let shown = match (kind_of(path)?, json) {
        (SavedKind::Models, json) => run::inspect(path, json)?,
        (SavedKind::Monitor | SavedKind::Monitors, json) => monitor::inspect(path, json)?,
        (_, true) => as_json(&mut read_model(path)?)?,
        (_, false) => as_text(&mut read_model(path)?),
    };
    stdout::print(&shown)
}

fn as_json(model: &mut Model) -> Result<String> {
    // Other programs may store other data in the resume state.
    let mut resume_state: Value = serde_json::from_slice(&model.resume_state).unwrap_or_default();
    if let Some(around) = resume_state.as_object_mut() {
        // The report data is long and not readable.
        around.remove("report");
    }
    let mut value: Value = serde_json::from_str(&summary_json(&model.summary())?)?;
    let embedding = model.embedding();
    let columns = model.columns();
    let map = embedding.linear_map(columns.names.as_deref());
    value["spec"] = serde_json::to_value(model.spec())?;
    value["inclusion"] = json!(embedding.inclusion);
    value["standardize"] = json!(columns.standardizer.how().to_string());
    value["columns"] = json!(columns.names);
    value["mean"] = json!(map.as_ref().map(|map| &map.mean));
    value["scale"] = json!(embedding.scale(model.length()));
    value["components"] = json!(map.map(|map| map.components));
    value["resume_state"] = resume_state;
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn as_text(model: &mut Model) -> String {
    let how = model.columns().standardizer.how();
    let probabilities: Vec<String> = model.embedding().inclusion.iter().map(|p| format!("{p:.3}")).collect();
    let options: Vec<String> =
        model.setup().values().map(|(option, value)| format!("{} {value}", option.name)).collect();
    let mut shown = text(&model.summary(), model.spec(), how != Standardize::None);
    shown += &format!("options    {}\n", options.join(", "));
    shown += &format!("kept with  probability {}\n", probabilities.join(", "));
    if how != Standardize::None {
        shown += &format!("scale      standardize {how}\n");
    }
    if let Some(names) = &model.columns().names {
        shown += &format!("columns    {}\n", printable(&names.join(", ")));
    }
    shown
}

pub fn export(args: &ExportArgs) -> Result<()> {
    judge_place(&args.out)?;
    let mut model = read_model(&args.model)?;
    let map = model.embedding().linear_map(model.columns().names.as_deref()).ok_or_else(|| {
        let path = printable_path(&args.model);
        anyhow!("{path}: must be a model without a kernel to be exported; `transform` can use it")
    })?;
    Ok(write_linear_map(&args.out, &map)?)
}
