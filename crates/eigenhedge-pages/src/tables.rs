//! Tables that models and monitors read.

use eigenhedge_io::{Error, Layout, Source, Stream};

/// `of` is a model, a monitor or another table.
pub fn check_width(width: usize, of: &str, stream: &Stream) -> Result<(), Error> {
    match stream.columns().len() {
        found if found == width => Ok(()),
        found => Err(stream.failure(format!("must have {width} selected columns like the {of}, got {found}"))),
    }
}

/// Returns the rows from which γ of a kernel is computed.
pub fn first_rows(source: &Source, layout: &Layout) -> Result<Vec<Vec<f64>>, Error> {
    const MOST: usize = 1000;
    let mut stream = Stream::open(source, layout)?;
    let mut rows = Vec::new();
    while rows.len() < MOST
        && let Some(row) = stream.next_row()?
    {
        rows.push(row.to_vec());
    }
    Ok(rows)
}
