//! Commands that use a saved model without learning: `transform`, `reconstruct`, `inspect`.

use crate::args::{InspectArgs, ReconstructArgs, TransformArgs};
use crate::csv_writer::{CsvWriter, coordinate_names};
use crate::files::read_snapshot;
use crate::stdout;
use crate::summary::text;
use crate::table;
use anyhow::{Result, anyhow};
use eigenhedge_io::printable;

/// Coordinates of rows in the directions that a model would keep, and what these lose.
pub fn transform(args: &TransformArgs) -> Result<()> {
    let mut snapshot = read_snapshot(&args.model)?;
    let mut stream = table::open(&args.input, &args.table)?;
    let length = snapshot.run.length();
    if stream.columns().len() != length {
        let found = stream.columns().len();
        return Err(anyhow!("{}: must have {length} selected columns like the model, got {found}", stream.source()));
    }
    let mut embedding = snapshot.run.embedding();
    let mut header = vec!["row".to_owned(), "loss".to_owned()];
    header.extend(coordinate_names(embedding.kept()));
    let mut sheet = CsvWriter::create(args.out.as_deref(), &header)?;
    let mut coordinates = Vec::new();
    while let Some(row) = stream.next_row()? {
        match embedding.transform(row, &mut coordinates) {
            Ok(loss) => {
                let mut line = format!("{},{loss:?}", stream.row_number());
                coordinates.iter().for_each(|z| line += &format!(",{z:?}"));
                sheet.line(&line)?;
            }
            Err(error) => stream.refuse(error.to_string())?,
        }
    }
    sheet.finish()
}

/// Rows from coordinates.
pub fn reconstruct(args: &ReconstructArgs) -> Result<()> {
    let mut snapshot = read_snapshot(&args.model)?;
    let mut stream = table::open(&args.coordinates, &args.table)?;
    let mut embedding = snapshot.run.embedding();
    // The columns of `transform` are taken as they are: what does not begin with z is not a coordinate.
    let named: Vec<usize> = (0..stream.columns().len()).filter(|i| is_coordinate(&stream.columns()[*i])).collect();
    let wanted = if named.is_empty() { (0..stream.columns().len()).collect() } else { named };
    if wanted.len() != embedding.kept() {
        let (kept, found) = (embedding.kept(), wanted.len());
        return Err(anyhow!("{}: must have {kept} coordinates like the model, got {found}", stream.source()));
    }
    let names: Vec<String> = (0..snapshot.run.length()).map(|i| format!("x{i}")).collect();
    let mut sheet = CsvWriter::create(args.out.as_deref(), &names)?;
    let mut coordinates = Vec::new();
    while let Some(row) = stream.next_row()? {
        coordinates.clear();
        coordinates.extend(wanted.iter().map(|i| row[*i]));
        match embedding.reconstruct(&coordinates) {
            Ok(row) => sheet.row(row)?,
            Err(error) => stream.refuse(error.to_string())?,
        }
    }
    sheet.finish()
}

/// `z` and a number.
fn is_coordinate(name: &str) -> bool {
    name.strip_prefix('z').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Prints the contents of a snapshot.
pub fn inspect(args: &InspectArgs) -> Result<()> {
    let mut snapshot = read_snapshot(&args.model)?;
    // Other programs put other things there; that is no reason to refuse the model.
    let mut resume_state: serde_json::Value = serde_json::from_slice(&snapshot.resume_state).unwrap_or_default();
    if let Some(around) = resume_state.as_object_mut() {
        // Long, and in no form for people.
        around.remove("report");
    }
    let summary = snapshot.run.summary();
    let embedding = snapshot.run.embedding();
    let shown = if args.json {
        let mut value = serde_json::to_value(&summary)?;
        value["spec"] = serde_json::to_value(snapshot.run.spec())?;
        value["inclusion"] = serde_json::to_value(embedding.inclusion())?;
        value["resume_state"] = resume_state;
        serde_json::to_string_pretty(&value)? + "\n"
    } else {
        let probabilities: Vec<String> = embedding.inclusion().iter().map(|p| format!("{p:.3}")).collect();
        let columns = resume_state["columns"].as_array().map_or(String::new(), |names| {
            let names: Vec<&str> = names.iter().filter_map(|name| name.as_str()).collect();
            format!("columns    {}\n", printable(&names.join(", ")))
        });
        let options: Vec<String> =
            snapshot.run.setup().values().map(|(option, value)| format!("{} {value}", option.name)).collect();
        let options = format!("options    {}\n", options.join(", "));
        let kept = format!("kept with  probability {}\n", probabilities.join(", "));
        format!("{}{options}{kept}{columns}", text(&summary, snapshot.run.spec(), false))
    };
    stdout::print(&shown)
}
