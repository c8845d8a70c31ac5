//! Reader that reads rows ahead on a second thread. The thread opens the table again, moves to the position of the
//! reader that it replaces, and sends rows in batches. Rows, errors and positions equal those of the replaced reader.

use crate::concatenation;
use crate::error::{Error, RowPlace};
use crate::format::Source;
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::{Opened, Progress, ReadPosition, Reader, Row};
use crate::reading::Reading;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Number of values after which a batch is complete.
const NUMBERS: usize = 1 << 14;
const ROWS: usize = 256;
/// Maximum number of values in waiting batches, unless [`FEWEST`] batches have more.
const WAITING: usize = 1 << 19;
const FEWEST: usize = 3;

struct Batch {
    /// Cells of the rows, one row after the other. Of a sparse row, only the filled cells are stored.
    numbers: Vec<f64>,
    filled: Vec<u32>,
    rows: Vec<ReadRow>,
    progress: Progress,
    /// Position and place of the reader at the end of the table. Only the last batch has them.
    end: Option<(ReadPosition, RowPlace)>,
}

impl Batch {
    fn empty(progress: Progress) -> Self {
        Self { numbers: Vec::new(), filled: Vec::new(), rows: Vec::new(), progress, end: None }
    }
}

/// Row or error, as returned by the reader.
struct ReadRow {
    /// Index in the batch after the last number of this row.
    end: usize,
    /// Length of a sparse row, and the batch index after its last position. `None` for a dense row.
    sparse: Option<(usize, usize)>,
    error: Option<Error>,
    texts: Vec<String>,
    place: RowPlace,
    position: ReadPosition,
}

pub(crate) struct ReadAhead {
    input: InputSource,
    source: Source,
    layout: Layout,
    batches: Receiver<Result<Batch, Error>>,
    most: usize,
    batch: Batch,
    given: usize,
    /// True once the end of the table has been reported.
    has_ended: bool,
    /// Position before the first row of the batch.
    start: ReadPosition,
    /// Place of the row before the batch, for messages.
    start_place: RowPlace,
    reading: Reading,
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
        Ok(Self {
            batches: begin(source.clone(), layout.clone(), start, most)?,
            most,
            input: input.clone(),
            source: source.clone(),
            layout: layout.clone(),
            batch: Batch::empty(reader.progress()),
            given: 0,
            has_ended: false,
            start,
            start_place: reader.place(),
            reading: reader.reading(),
        })
    }

    fn present(&self) -> Option<&ReadRow> {
        self.batch.rows.get(self.given.checked_sub(1)?)
    }

    /// Receives the next batch that has rows. Returns false at the end of the table.
    fn next_batch(&mut self) -> Result<bool, Error> {
        while self.given == self.batch.rows.len() {
            if self.batch.end.is_some() {
                self.has_ended = true;
                return Ok(false);
            }
            if let Some(last) = self.batch.rows.last() {
                (self.start, self.start_place) = (last.position, last.place.clone());
            }
            let ended = || self.input.unreadable(io::Error::other("the thread that reads it has ended"));
            self.batch = self.batches.recv().map_err(|_| ended())??;
            self.given = 0;
        }
        Ok(true)
    }
}

impl Reader for ReadAhead {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        if !self.next_batch()? {
            return Ok(false);
        }
        let first = self.given.checked_sub(1).map_or(0, |before| self.batch.rows[before].end);
        let read = &mut self.batch.rows[self.given];
        self.given += 1;
        if let Some(error) = read.error.take() {
            return Err(error);
        }
        let numbers = &self.batch.numbers[first..read.end];
        match read.sparse {
            None => row.cleared().extend_from_slice(numbers),
            Some((length, end)) => {
                let filled = &self.batch.filled[end - numbers.len()..end];
                row.set_sparse(length, filled.iter().copied().zip(numbers.iter().copied()));
            }
        }
        std::mem::swap(&mut row.kept, &mut read.texts);
        Ok(true)
    }

    fn place(&self) -> RowPlace {
        if let (true, Some((_, place))) = (self.has_ended, &self.batch.end) {
            return place.clone();
        }
        self.present().map_or_else(|| self.start_place.clone(), |row| row.place.clone())
    }

    fn position(&self) -> ReadPosition {
        if let (true, Some((position, _))) = (self.has_ended, &self.batch.end) {
            return *position;
        }
        self.present().map_or(self.start, |row| row.position)
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        let begun = begin(self.source.clone(), self.layout.clone(), *position, self.most);
        self.batches = begun.map_err(|error| self.input.unreadable(error))?;
        self.batch = Batch::empty(self.batch.progress);
        (self.given, self.has_ended, self.start) = (0, false, *position);
        Ok(position.rows)
    }

    fn progress(&self) -> Progress {
        self.batch.progress
    }

    fn reading(&self) -> Reading {
        self.reading.clone()
    }
}

/// Starts the reader thread. Returns the receiver of its batches. At most `most` batches wait.
fn begin(
    source: Source,
    layout: Layout,
    start: ReadPosition,
    most: usize,
) -> io::Result<Receiver<Result<Batch, Error>>> {
    let (sender, batches) = sync_channel(most);
    let work = move || {
        if let Err(error) = read_all(&source, &layout, &start, &sender) {
            // The receiver may have been dropped.
            let _ = sender.send(Err(error));
        }
    };
    thread::Builder::new().name("reader".to_owned()).spawn(work)?;
    Ok(batches)
}

/// Sends all rows after a position. Returns an error if the table cannot be opened or read up to the position.
fn read_all(
    source: &Source,
    layout: &Layout,
    start: &ReadPosition,
    batches: &SyncSender<Result<Batch, Error>>,
) -> Result<(), Error> {
    let (_, Opened { mut reader, .. }) = concatenation::open(source, layout)?;
    reader.go_to(start)?;
    let mut row = Row::default();
    loop {
        let (mut numbers, mut filled) = (Vec::with_capacity(NUMBERS), Vec::new());
        let (mut rows, mut is_last) = (Vec::with_capacity(ROWS), false);
        while !is_last && numbers.len() < NUMBERS && rows.len() < ROWS {
            let error = match reader.read(&mut row) {
                Ok(true) => None,
                Ok(false) => {
                    is_last = true;
                    break;
                }
                Err(error) => {
                    is_last = !error.is_row();
                    Some(error)
                }
            };
            let (mut texts, mut sparse) = (Vec::new(), None);
            if error.is_none() {
                match row.filled() {
                    None => numbers.extend_from_slice(row.numbers()),
                    Some(at) => {
                        numbers.extend(at.iter().map(|i| row.numbers()[*i as usize]));
                        filled.extend_from_slice(at);
                        sparse = Some((row.numbers().len(), filled.len()));
                    }
                }
                texts = std::mem::take(&mut row.kept);
            }
            let (place, position) = (reader.place(), reader.position());
            rows.push(ReadRow { end: numbers.len(), sparse, error, texts, place, position });
        }
        let end = is_last.then(|| (reader.position(), reader.place()));
        let batch = Batch { numbers, filled, rows, progress: reader.progress(), end };
        if batches.send(Ok(batch)).is_err() || is_last {
            return Ok(());
        }
    }
}
