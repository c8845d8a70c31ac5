//! Output tables, such as the losses and coordinates of rows. A file is either complete or absent (see `staging`).
//!
//! [`Answers::open`] with the position of an earlier [`Answers::sync`] truncates the staging file to it and continues,
//! with the bytes of an uninterrupted run. If the earlier run was complete, the staging file is recreated from the
//! start of the target, which is impossible for Parquet and NPY. Rows on standard output or a device cannot be
//! withdrawn.

mod form;
mod parquet;
mod tables;

pub use form::{Cell, CellKind, Column, Form, number_cells, number_columns};
pub use tables::{
    CAUSES, answer_cells, answer_columns, cause_columns, filled_cells, filled_columns, filled_names, verdict_cells,
    verdict_columns,
};

use crate::binary::npy_bytes;
use crate::error::{Error, Fault};
use crate::reading::Dialect;
use crate::staging::{Out, Place, Staging, cut_from_target};
use form::read_cell;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

const LOT: usize = 1 << 15;
const LOTS: usize = 4;

/// Destination of an output table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// No output.
    Nowhere,
    /// Standard output.
    Standard,
    /// File with this path.
    File(PathBuf),
    /// Memory, from which [`Answers::into_bytes`] returns the table.
    Memory,
}

/// Appends a row to `out` as a line of JSON, with the column names as keys.
pub fn json_cells(columns: &[Column], row: &[Cell<'_>], out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ =
        row.iter().enumerate().try_for_each(|(i, cell)| Form::Jsonl.cell(columns, i, *cell, Dialect::default(), out));
    let _ = Form::Jsonl.end(out);
}

/// Extent of the output that is safely on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Position {
    /// Number of rows written.
    pub rows: u64,
    /// Size of the staging file in bytes, or zero if there is no staging file.
    pub bytes: u64,
}

/// Writer of an output table.
pub struct Answers {
    sink: Sink,
    form: Form,
    columns: Vec<Column>,
    needs_header: bool,
    at_once: bool,
    /// True to protect cells that a spreadsheet would interpret as a formula.
    is_safe: bool,
    dialect: Dialect,
    rows: u64,
}

enum Sink {
    Nowhere,
    Memory(Vec<u8>),
    Standard(BufWriter<Stdout>),
    File(Out),
    Behind(Behind),
}

impl Answers {
    /// Opens a table. A file appears at the target only when the table is complete. If `at_once`, each row is flushed.
    /// With the `position` of an earlier [`Answers::sync`], continues after it. Repeated names get the prefix `table_`.
    pub fn open(
        target: &Target,
        form: Form,
        columns: Vec<Column>,
        at_once: bool,
        position: Option<&Position>,
    ) -> Result<Self, Error> {
        form.judge(&columns).map_err(|fault| Error::at(form.name(), fault))?;
        let columns = unique(columns);
        let sink = match target {
            Target::Nowhere => Sink::Nowhere,
            Target::Memory => Sink::Memory(Vec::new()),
            Target::Standard => Sink::Standard(BufWriter::new(io::stdout())),
            Target::File(path) => Sink::File(Out::open(path, |place| staging(place, position, form))?),
        };
        let rows = position.map_or(0, |position| position.rows);
        Ok(Self {
            sink,
            form,
            columns,
            needs_header: position.is_none(),
            at_once,
            is_safe: false,
            dialect: Dialect::default(),
            rows,
        })
    }

    /// Sets the delimiter and the decimal sign of a CSV table. In CSV and TSV, if `is_safe`, a text that a spreadsheet
    /// would interpret as a formula gets a leading apostrophe: one with `=`, `+`, `-` or `@` that is not a number.
    #[must_use]
    pub fn styled(self, dialect: Dialect, is_safe: bool) -> Self {
        Self { dialect, is_safe: is_safe && matches!(self.form, Form::Csv | Form::Tsv), ..self }
    }

    /// Moves the writing to a separate thread, unless each row must be flushed, there is no target, or no thread starts.
    #[must_use]
    pub fn behind(self) -> Self {
        if self.at_once || matches!(self.sink, Sink::Nowhere) {
            return self;
        }
        let (messages, received) = sync_channel(LOTS);
        let work = move || write_all(&received);
        let Ok(writer) = thread::Builder::new().name("writer".to_owned()).spawn(work) else { return self };
        let Self { form, at_once, is_safe, dialect, rows, .. } = self;
        // The thread waits for this message, so it cannot have ended.
        let sent = messages.send(Message::Begin(Box::new(self))).is_ok();
        debug_assert!(sent);
        let sink = Sink::Behind(Behind { messages: Some(messages), writer: Some(writer), lot: Vec::new() });
        Self { sink, form, columns: Vec::new(), needs_header: false, at_once, is_safe, dialect, rows }
    }

    /// Writes a row. Its numbers read back exactly, except that JSON Lines has null for infinity.
    pub fn write(&mut self, row: &[Cell<'_>]) -> Result<(), Error> {
        if let Sink::Behind(behind) = &mut self.sink {
            return behind.write(row);
        }
        debug_assert_eq!(row.len(), self.columns.len());
        let (form, is_safe, at_once, dialect) = (self.form, self.is_safe, self.at_once, self.dialect);
        self.rows += 1;
        self.hand_over(|out, columns| {
            for (i, cell) in row.iter().enumerate() {
                match cell {
                    Cell::Text(text) if is_safe => form.cell(columns, i, Cell::Text(&safe_cell(text)), dialect, out)?,
                    cell => form.cell(columns, i, *cell, dialect, out)?,
                }
            }
            form.end(out)?;
            if at_once { out.flush() } else { Ok(()) }
        })
    }

    fn write_records(&mut self, mut records: &[u8]) -> Result<(), Error> {
        let kinds: Vec<CellKind> = self.columns.iter().map(|(_, kind)| *kind).collect();
        let mut texts = vec![Vec::new(); kinds.len()];
        while !records.is_empty() {
            let read = |(kind, text)| read_cell(kind, &mut records, text);
            let row = kinds.iter().copied().zip(&mut texts).map(read).collect::<io::Result<Vec<Cell<'_>>>>();
            self.write(&row.map_err(unwritable)?)?;
        }
        Ok(())
    }

    /// Flushes the output to disk. Returns the number of rows and bytes written.
    pub fn sync(&mut self) -> Result<Position, Error> {
        self.hand_over(|out, _| out.flush())?;
        let bytes = match &mut self.sink {
            Sink::File(Out::Staged(staging)) => staging.sync()?,
            Sink::Behind(behind) => return behind.sync(),
            _ => 0,
        };
        Ok(Position { rows: self.rows, bytes })
    }

    /// Completes the output. A staging file is renamed to its target.
    pub fn finish(mut self) -> Result<(), Error> {
        self.hand_over(|out, _| out.flush())?;
        let columns = self.columns;
        match self.sink {
            Sink::File(Out::Staged(staging)) if self.form == Form::Parquet => {
                staging.finish_through(|records, out| parquet::convert(records, &columns, out))
            }
            Sink::File(Out::Staged(staging)) if self.form == Form::Npy => {
                staging.finish_through(|mut numbers, mut out| {
                    out.write_all(&npy_bytes("<f8", &format!("({}, {})", self.rows, columns.len()), &[]))?;
                    io::copy(&mut numbers, &mut out).map(|_| out)
                })
            }
            Sink::File(out) => out.finish(),
            Sink::Behind(behind) => behind.finish(),
            _ => Ok(()),
        }
    }

    /// Completes a table in memory, in a text format, and returns its bytes. Returns no bytes for other targets.
    pub fn into_bytes(mut self) -> Result<Vec<u8>, Error> {
        self.hand_over(|out, _| out.flush())?;
        Ok(if let Sink::Memory(bytes) = self.sink { bytes } else { Vec::new() })
    }

    fn hand_over(&mut self, write: impl FnOnce(&mut dyn Write, &[Column]) -> io::Result<()>) -> Result<(), Error> {
        let (form, columns, needs_header) = (self.form, &self.columns[..], std::mem::take(&mut self.needs_header));
        let dialect = self.dialect;
        let write = |out: &mut dyn Write| {
            if needs_header {
                form.header(columns, dialect, out)?;
            }
            write(out, columns)
        };
        match &mut self.sink {
            Sink::Nowhere | Sink::Behind(_) => Ok(()),
            Sink::Memory(out) => write(out).map_err(|error| Error::at("memory", Fault::Unwritable(error))),
            Sink::Standard(out) => write(out).map_err(|error| Error::at("standard output", Fault::Unwritable(error))),
            Sink::File(out) => out.hand_over(write),
        }
    }
}

/// Output table that is written on a separate thread, which receives rows as records, in order. A write error is
/// returned by a later call. Dropping the table waits for its thread to remove an incomplete file.
struct Behind {
    messages: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<Result<(), Error>>>,
    lot: Vec<u8>,
}

enum Message {
    Begin(Box<Answers>),
    Lot(Vec<u8>),
    Sync(SyncSender<Position>),
    Finish,
}

impl Behind {
    fn write(&mut self, row: &[Cell<'_>]) -> Result<(), Error> {
        row.iter().try_for_each(|cell| cell.to_record(&mut self.lot)).map_err(unwritable)?;
        if self.lot.len() < LOT { Ok(()) } else { self.send_lot() }
    }

    fn sync(&mut self) -> Result<Position, Error> {
        self.send_lot()?;
        let (reply, position) = sync_channel(1);
        self.send(Message::Sync(reply))?;
        position.recv().map_err(|_| self.failure())
    }

    fn finish(mut self) -> Result<(), Error> {
        self.send_lot()?;
        self.send(Message::Finish)?;
        self.end()
    }

    fn send_lot(&mut self) -> Result<(), Error> {
        let lot = std::mem::take(&mut self.lot);
        if lot.is_empty() { Ok(()) } else { self.send(Message::Lot(lot)) }
    }

    fn send(&mut self, message: Message) -> Result<(), Error> {
        let sent = self.messages.as_ref().is_some_and(|messages| messages.send(message).is_ok());
        if sent { Ok(()) } else { Err(self.failure()) }
    }

    fn failure(&mut self) -> Error {
        self.end().err().unwrap_or_else(ended)
    }

    fn end(&mut self) -> Result<(), Error> {
        self.messages = None;
        self.writer.take().map_or(Ok(()), |writer| writer.join().unwrap_or_else(|_| Err(ended())))
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // Rows in the last lot are still written. Write errors are ignored here.
        let _ = self.send_lot();
        let _ = self.end();
    }
}

fn unwritable(error: io::Error) -> Error {
    Error::at("the answers", Fault::Unwritable(error))
}

fn ended() -> Error {
    unwritable(io::Error::other("the thread that writes has ended"))
}

fn write_all(messages: &Receiver<Message>) -> Result<(), Error> {
    let Ok(Message::Begin(mut answers)) = messages.recv() else { return Ok(()) };
    for message in messages {
        match message {
            Message::Begin(_) => {}
            Message::Lot(lot) => answers.write_records(&lot)?,
            Message::Sync(reply) => {
                let position = answers.sync()?;
                let _ = reply.send(position);
            }
            Message::Finish => return answers.finish(),
        }
    }
    Ok(())
}

/// Adds the prefix `table_` to repeated names: to that of a text column, or else to the first one.
fn unique(mut columns: Vec<Column>) -> Vec<Column> {
    loop {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let twice = columns.iter().enumerate().find_map(|(i, (name, kind))| match places.insert(name, i) {
            Some(before) if *kind == CellKind::Text && columns[before].1 != CellKind::Text => Some(i),
            before => before,
        });
        match twice {
            Some(place) => columns[place].0.insert_str(0, "table_"),
            None => return columns,
        }
    }
}

/// Returns the cell, with a leading apostrophe if a spreadsheet would interpret it as a formula.
fn safe_cell(text: &str) -> Cow<'_, str> {
    match text.trim_start().starts_with(['=', '+', '-', '@']) && text.trim().parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

fn staging(place: Place, written: Option<&Position>, form: Form) -> Result<Staging, Error> {
    let Some(Position { bytes, rows }) = written else { return Staging::create(place) };
    if let Some(lines) = form.lines(*rows) {
        cut_from_target(&place, *bytes, lines, form != Form::Jsonl)?;
    }
    Staging::resume(place, *bytes)
}
