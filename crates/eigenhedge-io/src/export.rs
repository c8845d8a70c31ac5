//! Export of a linear model for other programs, as JSON (one object), CSV (one row per column of the model) or NPZ
//! (arrays `components`, `mean`, `scale`, and `columns` if there are names).

use crate::answers::{Answers, Cell, CellKind, Form, Target};
use crate::binary::npy_bytes;
use crate::error::{Error, Fault};
use crate::staging::write_whole;
use eigenhedge::LinearMap;
use std::io::{self, Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Writes a linear model to a file. An existing file is replaced atomically. An unknown extension is an error.
pub fn write_linear_map(path: &Path, map: &LinearMap) -> Result<(), Error> {
    let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    let bytes = match end.as_deref() {
        Some("json") => serde_json::to_vec_pretty(map).map_err(io::Error::other),
        Some("npz") => npz(map),
        Some("csv") => return write_table(path, map),
        _ => {
            let rule = "must end in .json, .csv or .npz; .onnx is written by eigenhedge.export in Python";
            return Err(Error::at(path.to_string_lossy(), Fault::Table(rule.to_owned())));
        }
    };
    write_whole(path, &bytes.map_err(|error| Error::at(path.to_string_lossy(), Fault::Unwritable(error)))?)
}

fn write_table(path: &Path, map: &LinearMap) -> Result<(), Error> {
    let numbers = ["mean", "scale"].map(str::to_owned).into_iter();
    let numbers = numbers.chain((0..map.components.len()).map(|j| format!("z{j}")));
    let mut columns = vec![("column".to_owned(), CellKind::Text)];
    columns.extend(numbers.map(|name| (name, CellKind::Number)));
    let mut table = Answers::open(&Target::File(path.to_owned()), Form::Csv, columns, false, None)?;
    for i in 0..map.mean.len() {
        let name = map.columns.as_ref().map_or_else(|| i.to_string(), |names| names[i].clone());
        let numbers = [map.mean[i], map.scale[i]].into_iter().chain(map.components.iter().map(|z| z[i]));
        let cells: Vec<Cell<'_>> = std::iter::once(Cell::Text(&name)).chain(numbers.map(Cell::Number)).collect();
        table.write(&cells)?;
    }
    table.finish()
}

fn npz(map: &LinearMap) -> io::Result<Vec<u8>> {
    let bytes = |numbers: &[f64]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let n = map.mean.len();
    let components = format!("({}, {n})", map.components.len());
    let mut arrays = vec![
        ("components", npy_bytes("<f8", &components, &bytes(&map.components.concat()))),
        ("mean", npy_bytes("<f8", &format!("({n},)"), &bytes(&map.mean))),
        ("scale", npy_bytes("<f8", &format!("({n},)"), &bytes(&map.scale))),
    ];
    if let Some(names) = &map.columns {
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
        let padded = |name: &String| -> Vec<u32> {
            let letters = name.chars().map(u32::from).chain(std::iter::repeat(0));
            letters.take(width).collect()
        };
        let letters: Vec<u8> = names.iter().flat_map(padded).flat_map(u32::to_le_bytes).collect();
        arrays.push(("columns", npy_bytes(&format!("<U{width}"), &format!("({n},)"), &letters)));
    }
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // No time stamp is set, so that equal models give equal bytes.
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::STORE);
    for (name, array) in arrays {
        archive.start_file(format!("{name}.npy"), options)?;
        archive.write_all(&array)?;
    }
    Ok(archive.finish()?.into_inner())
}
