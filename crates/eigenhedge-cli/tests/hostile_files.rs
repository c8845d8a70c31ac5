//! Files that would need too much memory. Each gives an error, and the process survives.
//!
//! The program runs with a limit on its address space. An excessive allocation would end it by a signal.
#![cfg(all(unix, feature = "parquet"))]
#![allow(clippy::unwrap_used)]

use crate::common::{Outcome, Place, unhinted};
use crate::tables::{npy_raw, npz, parquet, zeros_npz};
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Address space of the program in KiB. It suffices for small tables.
const SPACE: u32 = 1 << 20;

/// Runs the program with a limited address space and writes `input` to its standard input.
fn within(place: &Place, arguments: &str, input: impl Iterator<Item = Vec<u8>>) -> Outcome {
    let plain = place.command(arguments);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {SPACE} && exec \"$0\" \"$@\"")).arg(plain.get_program());
    command.args(plain.get_args()).current_dir(plain.get_current_dir().unwrap());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // The program stops reading after the error.
    let _ = input.into_iter().try_for_each(|piece| pipe.write_all(&piece));
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let status = output.status.code().unwrap_or_else(|| panic!("{arguments}: ended by {}: {err}", output.status));
    Outcome { status, out: String::from_utf8(output.stdout).unwrap(), err }
}

fn refused(place: &Place, arguments: &str, sentence: &str) {
    let outcome = within(place, arguments, std::iter::empty());
    assert_eq!((outcome.status, unhinted(&outcome.err)), (1, format!("eigenhedge: {sentence}\n")), "{arguments}");
}

fn batch() -> RecordBatch {
    let column = |value: f64| Arc::new(Float64Array::from(vec![value; 1000])) as ArrayRef;
    RecordBatch::try_from_iter([("a", column(1.0)), ("b", column(2.0)), ("c", column(3.0))]).unwrap()
}

fn arrow(compression: CompressionType, as_stream: bool) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
    let batch = batch();
    if as_stream {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        return writer.into_inner().unwrap();
    }
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// Returns the file with `length` as the stated length of the first buffer of 8000 bytes.
fn forged(mut file: Vec<u8>, length: u64) -> Vec<u8> {
    let place = file.windows(8).position(|bytes| bytes == 8000u64.to_le_bytes()).expect("a compressed buffer");
    // The first match is in the metadata, and the buffer follows later.
    let codec =
        |at: usize| file[at + 8..].starts_with(&[4, 0x22, 0x4d, 0x18]) || file[at + 8..].starts_with(&[0x28, 0xb5]);
    let place = (place..file.len() - 12).find(|at| file[*at..*at + 8] == 8000u64.to_le_bytes() && codec(*at)).unwrap();
    file[place..place + 8].copy_from_slice(&length.to_le_bytes());
    file
}

#[test]
fn a_forged_length_of_a_compressed_arrow_buffer_is_refused() {
    for (name, compression) in [("lz4", CompressionType::LZ4_FRAME), ("zstd", CompressionType::ZSTD)] {
        for as_stream in [false, true] {
            for length in [1u64 << 50, 1 << 34, u64::MAX / 2] {
                let place = Place::new();
                let file = arrow(compression, as_stream);
                place.write("sound.arrow", &file);
                assert_eq!(within(&place, "run sound.arrow -k 1 --quiet", std::iter::empty()).status, 0, "{name}");
                place.write("t.feather", forged(file, length));
                let outcome = within(&place, "run t.feather -k 1", std::iter::empty());
                let sentence = "eigenhedge: t.feather: must be a sound feather file: a buffer of";
                assert!(
                    outcome.err.starts_with(sentence) && outcome.err.ends_with(&format!("cannot hold {length}\n")),
                    "{}",
                    outcome.err
                );
                assert_eq!(outcome.status, 1, "{name} {length}");
            }
        }
    }
}

#[test]
fn a_batch_that_really_is_too_large_is_refused_by_the_option() {
    let place = Place::new();
    place.write("t.arrow", arrow(CompressionType::ZSTD, false));
    let outcome = within(&place, "run t.arrow -k 1 --max-memory 20K", std::iter::empty());
    assert_eq!(outcome.status, 1);
    // The exact number of bytes depends on the compressor.
    assert!(outcome.err.starts_with("eigenhedge: t.arrow: a batch would take 2"), "{}", outcome.err);
    assert!(outcome.err.ends_with("K of memory, and --max-memory allows 20K\n"), "{}", outcome.err);
}

#[test]
fn forged_sizes_of_parquet_pages_are_refused() {
    use ::parquet::basic::{Compression, GzipLevel};
    let batches = [batch()];
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(Default::default()),
    ] {
        let sound = parquet(&batches, compression);
        let place = Place::new();
        place.write("t.parquet", &sound);
        assert_eq!(within(&place, "run t.parquet -k 1 --quiet", std::iter::empty()).status, 0, "{compression}");
        // A page header follows the magic bytes: the page type, then the page size, as varints.
        assert_eq!(sound[4], 0x15);
        for (name, forged) in [("page", forge_header(&sound, 7)), ("dictionary", forge_dictionary(&sound))] {
            place.write("t.parquet", forged);
            let outcome = within(&place, "run t.parquet -k 1", std::iter::empty());
            assert_eq!(outcome.status, 1, "{compression} {name}: {}", outcome.err);
            let start = "eigenhedge: t.parquet: must be a sound parquet file: a ";
            assert!(outcome.err.starts_with(start) && outcome.err.contains("cannot hold"), "{name}: {}", outcome.err);
        }
    }
}

/// Overwrites the varint at `at` in the first page header with 2³¹ - 1.
fn forge_header(sound: &[u8], at: usize) -> Vec<u8> {
    let end = at + sound[at..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let mut forged = sound.to_vec();
    let largest = [0xfe, 0xff, 0xff, 0xff, 0x0f];
    forged.splice(at..end, largest);
    // The additional bytes are removed from the page, so that all other offsets remain valid.
    let grown = largest.len() - (end - at);
    forged.drain(40..40 + grown);
    forged
}

/// Overwrites the number of values in the header of the dictionary page with 2³¹ - 1.
fn forge_dictionary(sound: &[u8]) -> Vec<u8> {
    let at = sound.iter().position(|byte| *byte == 0x4c || *byte == 0x3c).expect("a dictionary's header");
    assert_eq!(sound[at + 1], 0x15);
    forge_header(sound, at + 2)
}

#[test]
fn wide_libsvm_rows_are_refused_before_they_are_made() {
    let place = Place::new();
    place.write("t.libsvm", "1 20000000:1\n1 3:1\n");
    refused(
        &place,
        "run t.libsvm -k 1 --max-memory 500M",
        "t.libsvm, line 1: 20000000 columns would take 4.8G of memory, and --max-memory allows 500M",
    );
    for command in ["run t.libsvm", "compare t.libsvm", "pca t.libsvm", "kernel-pca t.libsvm", "experts t.libsvm"] {
        refused(
            &place,
            &format!("{command} -k 1 --max-memory 500M --dim 1000000000000"),
            "t.libsvm: 1000000000000 columns would take 232.8T of memory, and --max-memory allows 500M",
        );
    }
    // The default limit is half of the limit of the process.
    refused(
        &place,
        "run t.libsvm -k 1 --dim 18446744073709551615",
        "t.libsvm: 18446744073709551615 columns would take 4294967296.0T of memory, and --max-memory allows 512M",
    );
}

#[test]
fn a_learner_that_could_not_begin_is_refused() {
    let place = Place::new();
    place.write("t.libsvm", "1 1:1\n1 1000000:1\n");
    refused(
        &place,
        "run t.libsvm -k 1 --max-memory 500M",
        "t.libsvm: learning from rows of 1000000 numbers would take 1.1G of memory, and --max-memory allows 500M",
    );
    let outcome = within(&place, "run t.libsvm -k 1 --max-memory 500M --learner tracking --quiet", std::iter::empty());
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
}

#[test]
fn a_line_without_end_is_refused() {
    let place = Place::new();
    let endless = |start: &'static str, piece: u8| {
        std::iter::once(start.as_bytes().to_vec()).chain(std::iter::repeat_with(move || vec![piece; 1 << 16]))
    };
    let longest = "must be at most 4194304 bytes long, a sixteenth of --max-memory, 64M";
    let cases = [
        ("jsonl", "[1,2]\n[", b'1', 2),
        ("jsonl", "", b' ', 1),
        ("csv", "a,b\n1,2\n\"", b'1', 3),
        ("csv", "a,b\n1,2\n", b',', 3),
        ("csv", "", b',', 1),
        ("tsv", "", b'x', 1),
        ("libsvm --dim 3", "1 1:1\n1 2:", b'7', 2),
    ];
    for (format, start, piece, line) in cases {
        let arguments = format!("run - -k 1 --max-memory 64M --format {format}");
        let outcome = within(&place, &arguments, endless(start, piece));
        let sentence = format!("eigenhedge: standard input, line {line}: {longest}\n");
        assert_eq!((outcome.status, outcome.err), (1, sentence), "{format} {start:?}");
    }
}

#[test]
fn arrays_that_must_be_held_as_a_whole_are_refused_when_they_are_large() {
    let place = Place::new();
    // 20 MB of zeros, compressed to 20 kB.
    place.write("t.npz", zeros_npz(25_000, 100));
    refused(
        &place,
        "run t.npz -k 1 --max-memory 16M",
        "t.npz: all 25000 rows, which must be held because columns are together, would take 19.1M of memory, and \
         --max-memory allows 16M",
    );
    // The header claims more bytes than the archive member can have.
    let short = npy_raw("'<f8'", "(1000000000, 100)", "True", &[0; 80]);
    place.write("short.npz", npz(&[("x", short)], zip::CompressionMethod::STORE));
    refused(&place, "run short.npz -k 1", "short.npz: must hold 1000000000 rows, as its header says, got 0");
    let outcome = within(
        &place,
        "run - -k 1 --format npy --max-memory 64M",
        std::iter::once(npy_raw("'<f8'", "(1000000000, 100)", "True", &[0; 80])),
    );
    assert!(outcome.err.contains("would take 745.1G of memory, and --max-memory allows 64M"), "{}", outcome.err);
    let wide = npy_raw("'<i1'", "(1, 100000000)", "False", &[]);
    let file = std::fs::File::create(place.path("wide.npy")).unwrap();
    (&file).write_all(&wide).unwrap();
    // A sparse file takes no space on the disk.
    file.set_len(wide.len() as u64 + 100_000_000).unwrap();
    refused(
        &place,
        "run wide.npy -k 1",
        "wide.npy: 100000000 columns would take 23.8G of memory, and --max-memory allows 512M",
    );
}

#[test]
fn rows_that_are_kept_are_counted() {
    let place = Place::new();
    let rows = |count: usize| (0..count).map(|i| format!("{i},{},{}\n", i % 7, i % 11).into_bytes());
    for (command, what) in [
        ("pca - -k 1 --max-memory 1M", "all rows"),
        ("kernel-pca - -k 1 --max-memory 40M", "all pairs of rows"),
        ("run - -k 1 --standardize warmup:1000000000 --max-memory 1M", "the rows of the warm-up"),
        ("compare - -k 1 --learners leader --warm-up 1000000000 --max-memory 100K", "the rows of the warm-up"),
    ] {
        let outcome = within(&place, command, rows(20_000));
        assert_eq!(outcome.status, 1, "{command}: {}", outcome.err);
        let start = format!("eigenhedge: standard input: {what} would take ");
        assert!(outcome.err.starts_with(&start) && outcome.err.contains("--max-memory allows"), "{}", outcome.err);
    }
    let outcome = place.run("make iid --rows 1000000000000 --dim 1000000000000");
    assert_eq!(outcome.status, 1);
    assert!(outcome.err.starts_with("eigenhedge: the rows must leave room"), "{}", outcome.err);
}

#[test]
fn a_model_without_end_is_refused() {
    let place = Place::new();
    let outcome = within(&place, "inspect /dev/zero", std::iter::empty());
    assert_eq!(outcome.status, 1);
    assert!(outcome.err.starts_with("eigenhedge: /dev/zero: "), "{}", outcome.err);
    place.write("t.csv", "1,2\n3,4\n");
    assert_eq!(place.run("run t.csv -k 1 --quiet --snapshot m.snap").status, 0);
    let mut model = std::fs::read(place.path("m.snap")).unwrap();
    model[16..24].copy_from_slice(&(1u64 << 50).to_le_bytes());
    place.write("m.snap", model);
    refused(
        &place,
        "inspect m.snap",
        "m.snap cannot be read: it says that it has 1125899906842624 bytes, and 512M are allowed",
    );
}

#[test]
fn sizes_that_mean_nothing_are_wrong_usage() {
    let place = Place::new();
    place.write("t.csv", "1,2\n3,4\n");
    for size in ["0", "-1", "many", "1.5", "2X"] {
        let outcome = place.run(&format!("run t.csv -k 1 --max-memory={size}"));
        assert_eq!(outcome.status, 2, "{size}");
        assert!(outcome.err.contains("--max-memory"), "{}", outcome.err);
    }
}
