//! One matrix in every format, where possible not written by the tested library.
#![allow(dead_code, clippy::unwrap_used)]

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::fmt::Write as _;
use std::io::{Cursor, Write};
use std::sync::Arc;
use zip::CompressionMethod;

pub type Matrix = Vec<Vec<f64>>;

#[derive(Clone, Copy)]
pub enum Order {
    C,
    Fortran,
}

/// Returns numbers that include long decimals, subnormals, signed zeros and extreme sizes.
pub fn matrix(rows: usize, columns: usize) -> Matrix {
    let mut seed = 42u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut matrix: Matrix = (0..rows).map(|_| (0..columns).map(|_| 10.0 * next()).collect()).collect();
    let hard = [5e-324, -0.0, 0.0, 1e22, 0.1 + 0.2, 9007199254740993.0, -1.7e-120, f64::MIN_POSITIVE, 1e-7];
    for (i, value) in hard.into_iter().enumerate() {
        matrix[i % rows][i % columns] = value;
    }
    matrix
}

pub fn names(columns: usize) -> Vec<String> {
    (0..columns).map(|i| format!("x{i}")).collect()
}

/// Returns the name and the bytes of one file per format and variant.
pub fn all_formats(matrix: &Matrix) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("plain.csv", table(matrix, ",", "\n").into_bytes()),
        ("crlf.csv", ("\u{feff}".to_owned() + &table(matrix, ",", "\r\n")).into_bytes()),
        ("marked.csv", ("\u{feff}".to_owned() + &table(matrix, ",", "\n")).into_bytes()),
        ("plain.tsv", table(matrix, "\t", "\n").into_bytes()),
        ("arrays.jsonl", json_arrays(matrix).into_bytes()),
        ("objects.jsonl", json_objects(matrix).into_bytes()),
        ("c.npy", npy(matrix, Order::C)),
        ("fortran.npy", npy(matrix, Order::Fortran)),
        ("big.npy", npy_big_endian(matrix)),
        ("stored.npz", npz(&[("x", npy(matrix, Order::C))], CompressionMethod::STORE)),
        ("deflated.npz", zipped(&npy(matrix, Order::C), true)),
        ("fortran.npz", zipped(&npy(matrix, Order::Fortran), true)),
        ("plain.parquet", parquet(&batches(matrix, 7), parquet::basic::Compression::UNCOMPRESSED)),
        ("zstd.parquet", parquet(&batches(matrix, 7), parquet::basic::Compression::ZSTD(Default::default()))),
        ("snappy.parquet", parquet(&batches(matrix, 7), parquet::basic::Compression::SNAPPY)),
        ("lz4.parquet", parquet(&batches(matrix, 7), parquet::basic::Compression::LZ4_RAW)),
        ("gzip.parquet", parquet(&batches(matrix, 7), parquet::basic::Compression::GZIP(Default::default()))),
        ("lz4.arrow", arrow_packed(&batches(matrix, 7), arrow_ipc::CompressionType::LZ4_FRAME)),
        ("zstd.arrow", arrow_packed(&batches(matrix, 7), arrow_ipc::CompressionType::ZSTD)),
        ("file.arrow", arrow_file(&batches(matrix, 7))),
        ("stream.arrow", arrow_stream(&batches(matrix, 5))),
        ("file.feather", arrow_file(&batches(matrix, 100))),
        ("plain.libsvm", libsvm(matrix).into_bytes()),
        ("packed.csv.gz", gzip(table(matrix, ",", "\n").as_bytes())),
        ("members.csv.gz", in_two(table(matrix, ",", "\r\n").as_bytes(), gzip)),
        ("frames.csv.zst", in_two(table(matrix, ",", "\n").as_bytes(), zstd)),
        ("packed.jsonl.zst", zstd(json_objects(matrix).as_bytes())),
        ("packed.libsvm.gz", gzip(libsvm(matrix).as_bytes())),
        ("packed.npy.gz", gzip(&npy(matrix, Order::C))),
        ("fortran.npy.zst", zstd(&npy(matrix, Order::Fortran))),
        ("stream.arrow.gz", gzip(&arrow_stream(&batches(matrix, 5)))),
        ("little.csv", utf16(&table(matrix, ",", "\r\n"), u16::to_le_bytes)),
        ("big.jsonl", utf16(&json_objects(matrix), u16::to_be_bytes)),
        ("little.tsv.gz", gzip(&utf16(&table(matrix, "\t", "\n"), u16::to_le_bytes))),
    ]
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

/// Compresses the bytes as two concatenated archives.
pub fn in_two(bytes: &[u8], pack: fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (start, end) = bytes.split_at(bytes.len() / 3);
    [pack(start), pack(end)].concat()
}

pub fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

pub fn table(matrix: &Matrix, comma: &str, end: &str) -> String {
    let mut text = names(matrix[0].len()).join(comma) + end;
    for row in matrix {
        text += &(row.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(comma) + end);
    }
    text
}

pub fn json_arrays(matrix: &Matrix) -> String {
    matrix.iter().map(|row| serde_json::to_string(row).unwrap() + "\n").collect()
}

/// Writes JSON objects. Every second row has its keys in reverse order.
pub fn json_objects(matrix: &Matrix) -> String {
    let line = |(i, row): (usize, &Vec<f64>)| {
        let mut cells: Vec<String> =
            names(row.len()).iter().zip(row).map(|(name, x)| format!("{name:?}: {x:?}")).collect();
        if i % 2 == 1 {
            cells.reverse();
        }
        format!("{{{}}}\n", cells.join(", "))
    };
    matrix.iter().enumerate().map(line).collect()
}

pub fn npy(matrix: &Matrix, order: Order) -> Vec<u8> {
    let (numbers, by_column) = match order {
        Order::C => (matrix.concat(), "False"),
        Order::Fortran => {
            ((0..matrix[0].len()).flat_map(|j| matrix.iter().map(move |row| row[j])).collect::<Vec<_>>(), "True")
        }
    };
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy_raw("'<f8'", &format!("({}, {})", matrix.len(), matrix[0].len()), by_column, &data)
}

pub fn npy_raw(element: &str, shape: &str, by_column: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {element}, 'fortran_order': {by_column}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn npy_big_endian(matrix: &Matrix) -> Vec<u8> {
    let data: Vec<u8> = matrix.concat().iter().flat_map(|x| x.to_be_bytes()).collect();
    npy_raw("'>f8'", &format!("({}, {})", matrix.len(), matrix[0].len()), "False", &data)
}

pub fn npz(arrays: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in arrays {
        writer.start_file(format!("{name}.npy"), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns an archive of zeros in Fortran order, which takes about a thousandth of their size.
pub fn zeros_npz(rows: usize, width: usize) -> Vec<u8> {
    zipped(&npy_raw("'<f8'", &format!("({rows}, {width})"), "True", &vec![0; 8 * rows * width]), true)
}

/// Returns an archive of one array, written without a library.
pub fn zipped(content: &[u8], deflated: bool) -> Vec<u8> {
    let stored = if deflated {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    } else {
        content.to_vec()
    };
    let (name, method) = (b"x.npy", if deflated { 8u16 } else { 0 });
    let mut entry = Vec::new();
    [20, 0, method, 0, 0x21].iter().for_each(|field: &u16| entry.extend(field.to_le_bytes()));
    let sizes = [crc32fast::hash(content), stored.len() as u32, content.len() as u32];
    sizes.iter().for_each(|field| entry.extend(field.to_le_bytes()));
    entry.extend((name.len() as u16).to_le_bytes());
    entry.extend([0, 0]);
    let local = [b"PK\x03\x04", &entry[..], name, &stored].concat();
    let directory = [b"PK\x01\x02\x14\x00", &entry[..], &[0; 14], name].concat();
    let mut end = b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00".to_vec();
    end.extend((directory.len() as u32).to_le_bytes());
    end.extend((local.len() as u32).to_le_bytes());
    end.extend([0, 0]);
    [local, directory, end].concat()
}

pub fn schema(columns: usize) -> SchemaRef {
    let fields: Vec<Field> = names(columns).iter().map(|name| Field::new(name, DataType::Float64, true)).collect();
    Arc::new(Schema::new(fields))
}

pub fn batches(matrix: &Matrix, rows: usize) -> Vec<RecordBatch> {
    let columns = matrix[0].len();
    let batch = |part: &[Vec<f64>]| {
        let column = |j| Arc::new(Float64Array::from_iter_values(part.iter().map(|row| row[j]))) as ArrayRef;
        RecordBatch::try_new(schema(columns), (0..columns).map(column).collect()).unwrap()
    };
    matrix.chunks(rows).map(batch).collect()
}

pub fn parquet(batches: &[RecordBatch], compression: parquet::basic::Compression) -> Vec<u8> {
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(16))
        .build();
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

pub fn arrow_file(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

pub fn arrow_packed(batches: &[RecordBatch], compression: arrow_ipc::CompressionType) -> Vec<u8> {
    let options = arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
    let schema = batches[0].schema();
    let mut writer = arrow_ipc::writer::FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

pub fn arrow_stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

/// Writes LIBSVM rows without positive zeros. The last column must have a nonzero number.
pub fn libsvm(matrix: &Matrix) -> String {
    let line = |row: &Vec<f64>| {
        let cells = (1..).zip(row).filter(|(_, x)| x.to_bits() != 0);
        let cells: Vec<String> = cells.map(|(i, x): (usize, _)| format!("{i}:{x:?}")).collect();
        format!("+1 {}  # a remark\n", cells.join(" "))
    };
    matrix.iter().map(line).collect()
}

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/// Returns a worksheet. Its cells are numbers, dates (numbers in the first column) or texts.
pub fn sheet(text: &str) -> Vec<u8> {
    let mut data = String::new();
    for (r, line) in text.lines().enumerate() {
        write!(data, "<row r=\"{}\">", r + 1).unwrap();
        for (c, cell) in line.split(',').enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let place = format!("{}{}", char::from(b'A' + c as u8), r + 1);
            match cell.parse::<f64>() {
                Ok(number) if c == 0 => write!(data, "<c r=\"{place}\" s=\"1\"><v>{number}</v></c>").unwrap(),
                Ok(number) => write!(data, "<c r=\"{place}\"><v>{number}</v></c>").unwrap(),
                Err(_) => write!(data, "<c r=\"{place}\" t=\"inlineStr\"><is><t>{cell}</t></is></c>").unwrap(),
            }
        }
        data.push_str("</row>");
    }
    format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{data}</sheetData></worksheet>").into_bytes()
}

pub fn workbook(sheets: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let link = |id: usize, kind: &str, target: &str| {
        format!("<Relationship Id=\"rId{id}\" Type=\"{relations}/{kind}\" Target=\"{target}\"/>")
    };
    let linked = |links: String| format!("<Relationships xmlns=\"{package}/relationships\">{links}</Relationships>");
    let (mut list, mut links) = (String::new(), link(99, "styles", "styles.xml"));
    for (i, (name, _)) in sheets.iter().enumerate() {
        write!(list, "<sheet name=\"{name}\" sheetId=\"{0}\" r:id=\"rId{0}\"/>", i + 1).unwrap();
        links += &link(i + 1, "worksheet", &format!("worksheets/sheet{}.xml", i + 1));
    }
    let book = format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{relations}\"><sheets>{list}</sheets></workbook>");
    let formats = "<cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"22\"/></cellXfs>";
    let mut parts = vec![
        ("xl/workbook.xml".to_owned(), book.into_bytes()),
        ("xl/_rels/workbook.xml.rels".to_owned(), linked(links).into_bytes()),
        ("_rels/.rels".to_owned(), linked(link(1, "officeDocument", "xl/workbook.xml")).into_bytes()),
        ("xl/styles.xml".to_owned(), format!("<styleSheet xmlns=\"{MAIN}\">{formats}</styleSheet>").into_bytes()),
        ("[Content_Types].xml".to_owned(), format!("<Types xmlns=\"{package}/content-types\"/>").into_bytes()),
    ];
    parts.extend(
        sheets.iter().enumerate().map(|(i, (_, xml))| (format!("xl/worksheets/sheet{}.xml", i + 1), xml.clone())),
    );
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        let stored = zip::write::SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(name, stored).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
