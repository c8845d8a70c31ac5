//! Writers of the rows of a case as NPY, CSV and Parquet files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

pub fn write_npy(path: &Path, rows: &[Vec<f64>]) {
    let shape = format!("({}, {})", rows.len(), rows[0].len());
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    rows.iter().flatten().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    fs::write(path, bytes).expect("the folder can be written");
}

pub fn write_csv(path: &Path, rows: &[Vec<f64>]) {
    let mut text = (0..rows[0].len()).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",") + "\n";
    for row in rows {
        for (i, x) in row.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{x:?}");
        }
        text.push('\n');
    }
    fs::write(path, text).expect("the folder can be written");
}

#[cfg(feature = "parquet")]
pub fn write_parquet(path: &Path, rows: &[Vec<f64>]) {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use std::sync::Arc;
    let column = |i: usize| Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row[i]))) as ArrayRef;
    let columns = (0..rows[0].len()).map(|i| (format!("c{i}"), column(i)));
    let batch = RecordBatch::try_from_iter(columns).expect("columns are of one length");
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("a batch is written");
    fs::write(path, writer.into_inner().expect("the file ends")).expect("the folder can be written");
}
