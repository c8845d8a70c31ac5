//! Reader that reads rows ahead on a second thread. The thread opens the table again, moves to the position of the
//! reader that it replaces, and sends rows in batches, whose memory returns to it. Rows, errors and positions equal
//! those of the replaced reader.

use crate::concatenation;
use crate::format::Source;
use crate::reader::{Error, InputSource, Layout, Opened, Progress, ReadPosition, Reader, Row, RowPlace};
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

const NUMBERS: usize = 1 << 14;
const ROWS: usize = 256;
/// Maximum number of values in waiting batches, unless [`FEWEST`] batches have more.
const WAITING: usize = 1 << 19;
const FEWEST: usize = 3;

/// Result of a call of the reader: a row, an error, or false at the end.
struct ReadRow {
    row: Row,
    outcome: Result<bool, Error>,
    place: RowPlace,
    position: ReadPosition,
}

type Batch = (Vec<ReadRow>, Progress);

type Batches = Receiver<Result<Batch, Error>>;

/// Sender of batches that have been read, for reuse.
type UsedRows = Sender<Vec<ReadRow>>;

pub(crate) struct ReadAhead {
    input: InputSource,
    source: Source,
    layout: Layout,
    batches: Batches,
    used: UsedRows,
    most: usize,
    rows: Vec<ReadRow>,
    given: usize,
    is_over: bool,
    progress: Progress,
    start: (ReadPosition, RowPlace),
}

impl ReadAhead {
    /// Creates a reader that continues at the position of `reader`. The layout must contain the detected properties.
    pub fn behind(
        reader: &dyn Reader,
        input: &InputSource,
        (source, layout): (&Source, &Layout),
        length: usize,
    ) -> io::Result<Self> {
        let start = reader.position();
        let most = FEWEST.max(WAITING / NUMBERS.max(length));
        let (batches, used) = begin(source.clone(), layout.clone(), start, most)?;
        Ok(Self {
            input: input.clone(),
            source: source.clone(),
            layout: layout.clone(),
            batches,
            used,
            most,
            rows: Vec::new(),
            given: 0,
            is_over: false,
            progress: reader.progress(),
            start: (start, reader.place()),
        })
    }

    fn present(&self) -> Option<&ReadRow> {
        self.rows.get(self.given.checked_sub(1)?)
    }
}

impl Reader for ReadAhead {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        if self.is_over {
            return Ok(false);
        }
        if self.given == self.rows.len() {
            let ended = || self.input.unreadable(io::Error::other("the thread that reads it has ended"));
            let (rows, progress) = self.batches.recv().map_err(|_| ended())??;
            let _ = self.used.send(std::mem::replace(&mut self.rows, rows));
            (self.given, self.progress) = (0, progress);
        }
        let read = &mut self.rows[self.given];
        self.given += 1;
        if let Ok(true) = read.outcome {
            std::mem::swap(row, &mut read.row);
        }
        let outcome = std::mem::replace(&mut read.outcome, Ok(false));
        self.is_over = is_last(&outcome);
        outcome
    }

    fn place(&self) -> RowPlace {
        self.present().map_or_else(|| self.start.1.clone(), |row| row.place.clone())
    }

    fn position(&self) -> ReadPosition {
        self.present().map_or(self.start.0, |row| row.position)
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        let begun = begin(self.source.clone(), self.layout.clone(), *position, self.most);
        (self.batches, self.used) = begun.map_err(|error| self.input.unreadable(error))?;
        (self.given, self.is_over, self.start.0) = (0, false, *position);
        self.rows.clear();
        Ok(position.rows)
    }

    fn progress(&self) -> Progress {
        self.progress
    }
}

fn is_last(outcome: &Result<bool, Error>) -> bool {
    outcome.as_ref().map_or_else(|error| !error.is_row(), |found| !found)
}

/// Starts the reader thread. Returns the receiver of batches, of which `most` wait, and the sender of used ones.
fn begin(source: Source, layout: Layout, start: ReadPosition, most: usize) -> io::Result<(Batches, UsedRows)> {
    let (sender, batches) = sync_channel(most);
    let (used, unused) = channel();
    let work = move || {
        if let Err(error) = read_all(&source, &layout, &start, &sender, &unused) {
            let _ = sender.send(Err(error));
        }
    };
    thread::Builder::new().name("reader".to_owned()).spawn(work)?;
    Ok((batches, used))
}

/// Sends all rows after a position. Returns an error if the table cannot be opened or read up to the position.
fn read_all(
    source: &Source,
    layout: &Layout,
    start: &ReadPosition,
    batches: &SyncSender<Result<Batch, Error>>,
    unused: &Receiver<Vec<ReadRow>>,
) -> Result<(), Error> {
    let (_, Opened { mut reader, .. }) = concatenation::open(source, layout)?;
    reader.go_to(start)?;
    let mut is_over = false;
    while !is_over {
        let mut old = unused.try_recv().unwrap_or_default().into_iter();
        let (mut rows, mut numbers) = (Vec::with_capacity(ROWS), 0);
        while !is_over && numbers < NUMBERS && rows.len() < ROWS {
            let mut row = old.next().map_or_else(Row::default, |old| old.row);
            let outcome = reader.read(&mut row);
            is_over = is_last(&outcome);
            numbers += row.numbers().len();
            rows.push(ReadRow { row, outcome, place: reader.place(), position: reader.position() });
        }
        if batches.send(Ok((rows, reader.progress()))).is_err() {
            break;
        }
    }
    Ok(())
}
