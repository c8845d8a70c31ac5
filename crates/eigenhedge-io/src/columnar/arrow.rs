//! Arrow IPC: files (which Feather version 2 is too) and streams.
//!
//! A file starts with `ARROW1`; anything else is taken for a stream, which a pipe always is. What a batch holds was
//! decided by whoever wrote it, and one batch is in memory at a time.

use super::batches::{Batches, Table, choose};
use super::unsound;
use crate::error::{Error, Fault};
use crate::reader::{Opened, Tap};
use crate::stream::Layout;
use arrow_ipc::reader::{FileReader, StreamReader};
use std::io::{BufReader, Read};

/// Opens a file or stream.
pub fn open(tap: &Tap, layout: &Layout) -> Result<Opened, Error> {
    let format = layout.format.name();
    let broken = |error: arrow_schema::ArrowError| unsound(tap, format, error);
    let mut start = Vec::new();
    if !tap.is_pipe() {
        tap.open()?.take(8).read_to_end(&mut start).map_err(|error| tap.unreadable(error))?;
    }
    if start.is_empty() && !tap.is_pipe() {
        return Err(tap.fault(Fault::Empty));
    }
    let (chosen, batches): (_, Batches) = match start.as_slice() {
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
            let schema = FileReader::try_new(BufReader::new(tap.file(format)?), None).map_err(broken)?.schema();
            let chosen = choose(tap, layout, &schema)?;
            let source = BufReader::new(tap.file(format)?);
            (chosen.clone(), Box::new(FileReader::try_new(source, Some(chosen.1)).map_err(broken)?))
        }
        // A stream is read once, so that the columns cannot be chosen before it is opened.
        start if tap.is_pipe() || start.starts_with(&[0xff; 4]) => {
            let reader = StreamReader::try_new(BufReader::new(tap.open()?), None).map_err(broken)?;
            let chosen = choose(tap, layout, &reader.schema())?;
            let projection = chosen.1.clone();
            (chosen, Box::new(reader.map(move |batch| batch.and_then(|batch| batch.project(&projection)))))
        }
        other => {
            let reason = match crate::format::signature(other) {
                Some(found) => format!("it starts like {found}"),
                None => "it does not start like one".to_owned(),
            };
            return Err(unsound(tap, format, reason));
        }
    };
    let columns = chosen.0.clone();
    Ok(Opened { reader: Box::new(Table::new(tap, format, chosen, batches, None, None)?), columns })
}
