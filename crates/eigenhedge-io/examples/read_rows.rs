//! Program for counting the instructions of the readers: `read_rows CASE ROWS` reads `ROWS` rows of
//! 64 numbers in full precision and prints their sum. Without arguments it lists the cases.
//!
//! The file does not depend on `ROWS`. The difference between two counts is therefore the cost of
//! the rows in between, as in the example `hot_paths` of the crate `eigenhedge`.

use eigenhedge::streams;
use eigenhedge_io::{Format, Layout, Source, Stream};
use std::process::ExitCode;

/// File extensions of the cases. The name of a case also contains the row length, as in `csv-64`.
const CASES: [&str; 2] = ["csv", "jsonl"];
const WIDTH: usize = 64;
const FEW: usize = 100;
const MANY: usize = 400;

fn sum(format: &str, rows: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let line = |row: Vec<f64>| {
        let cells: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
        if format == "csv" { cells.join(",") + "\n" } else { format!("[{}]\n", cells.join(",")) }
    };
    let directory = tempfile::tempdir()?;
    let path = directory.path().join(format!("rows.{format}"));
    std::fs::write(&path, streams::signal_and_noise(WIDTH, 10, 0.3, 3).take(MANY).map(line).collect::<String>())?;
    let layout = Layout::new(Format::of_path(&path));
    let mut stream = Stream::open(&Source::File(path), &layout)?;
    let mut sum = 0.0;
    for _ in 0..rows {
        sum += stream.next_row()?.ok_or("the file has fewer rows")?.iter().sum::<f64>();
    }
    Ok(sum)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, rows] = arguments.as_slice() else {
        CASES.iter().for_each(|case| println!("{case}-{WIDTH} {FEW} {MANY}"));
        return ExitCode::SUCCESS;
    };
    let format = CASES.iter().find(|case| format!("{case}-{WIDTH}") == *name);
    let (Some(format), Ok(rows)) = (format, rows.parse()) else {
        eprintln!("no case {name} with {rows} rows; without arguments the cases are listed");
        return ExitCode::from(2);
    };
    match sum(format, rows) {
        Ok(sum) => {
            println!("{sum}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}
