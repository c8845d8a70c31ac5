//! Export of a linear model for other programs. The extension of the file name selects JSON, CSV or NPZ.
//!
//! | format | contents |
//! |---|---|
//! | JSON | one object: `columns` (names, or null), `mean`, `scale`, `components` (one list per component) |
//! | CSV | one line per column: `column,mean,scale,z0,z1,…`, where the last cells are its entries in the components |
//! | NPZ | the arrays `components` (k × n), `mean`, `scale`, and `columns` if there are names |

use crate::answers::quoted_cell;
use crate::error::{Error, Fault};
use crate::staging::write_whole;
use eigenhedge::LinearMap;
use std::borrow::Cow;
use std::io::{self, Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Writes a linear model to a file. An existing file is replaced atomically. An unknown extension is an error.
pub fn write_linear_map(path: &Path, map: &LinearMap) -> Result<(), Error> {
    let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    let bytes = match end.as_deref() {
        Some("json") => serde_json::to_vec_pretty(map).map_err(io::Error::other),
        Some("csv") => Ok(csv(map).into_bytes()),
        Some("npz") => npz(map),
        _ => return Err(Error::at(path.to_string_lossy(), Fault::NoExport)),
    };
    write_whole(path, &bytes.map_err(|error| Error::at(path.to_string_lossy(), Fault::Unwritable(error)))?)
}

/// Returns a CSV cell, in quotes if necessary.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.is_empty() { "\"\"".into() } else { quoted_cell(text, ',') }
}

fn csv(map: &LinearMap) -> String {
    let names = (0..map.components.len()).map(|j| format!(",z{j}"));
    let mut text = names.fold("column,mean,scale".to_owned(), |text, name| text + &name) + "\n";
    for (i, (mean, scale)) in map.mean.iter().zip(&map.scale).enumerate() {
        let name = map.columns.as_ref().map_or_else(|| i.to_string().into(), |names| csv_cell(&names[i]));
        text += &format!("{name},{mean:?},{scale:?}");
        map.components.iter().for_each(|component| text += &format!(",{:?}", component[i]));
        text.push('\n');
    }
    text
}

fn npz(map: &LinearMap) -> io::Result<Vec<u8>> {
    let bytes = |numbers: &[f64]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let n = map.mean.len();
    let components = format!("({}, {n})", map.components.len());
    let mut arrays = vec![
        ("components", npy("<f8", &components, &bytes(&map.components.concat()))),
        ("mean", npy("<f8", &format!("({n},)"), &bytes(&map.mean))),
        ("scale", npy("<f8", &format!("({n},)"), &bytes(&map.scale))),
    ];
    if let Some(names) = &map.columns {
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
        let padded = |name: &String| -> Vec<u32> {
            let letters = name.chars().map(u32::from).chain(std::iter::repeat(0));
            letters.take(width).collect()
        };
        let letters: Vec<u8> = names.iter().flat_map(padded).flat_map(u32::to_le_bytes).collect();
        arrays.push(("columns", npy(&format!("<U{width}"), &format!("({n},)"), &letters)));
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

/// Encodes an array as an NPY file of version 1. Its data are aligned to 64 bytes.
fn npy(element: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    const HEAD: usize = 10;
    let mut header = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}");
    let padding = 63 - (HEAD + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}
