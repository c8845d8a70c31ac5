//! Output of answers on a separate thread.
//!
//! Answers are sent to the thread in batches, in order. The output has the bytes and positions that [`Answers`] alone
//! would produce. A write error is returned by a later call, at the latest by `sync` or `finish`. Dropping an
//! [`Output`] waits for its thread, so that an unfinished file is removed before the program ends.

use super::{Answer, Answers, Position};
use crate::error::{Error, Fault};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Number of values at which a batch is sent to the thread.
const NUMBERS: usize = 1 << 12;
/// Maximum number of batches that wait to be written.
const LOTS: usize = 4;

/// Output that writes answers directly or on a separate thread.
pub struct Output(Kind);

enum Kind {
    Direct(Box<Answers>),
    Behind(Behind),
}

struct Behind {
    /// Sender of messages, or `None` once the thread was told to stop.
    messages: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<Result<(), Error>>>,
    lot: Lot,
}

/// Batch of answers, or of rows of a table.
#[derive(Default)]
struct Lot {
    /// For each answer: row number, expected loss, loss, and the positions in `numbers` and `texts` at which its values
    /// end.
    answers: Vec<(u64, f64, f64, usize, usize)>,
    /// Position in `numbers` at which each row of a table ends.
    rows: Vec<usize>,
    numbers: Vec<f64>,
    texts: Vec<String>,
}

enum Message {
    /// First message: the destination of the answers.
    Begin(Box<Answers>),
    Lot(Lot),
    Sync(SyncSender<Position>),
    Finish,
}

impl Output {
    /// Creates an output that writes each answer immediately.
    pub fn direct(answers: Answers) -> Self {
        Self(Kind::Direct(Box::new(answers)))
    }

    /// Creates an output that writes on a separate thread. Answers that must be flushed before the next row is read,
    /// and answers without a target, are still written immediately.
    pub fn behind(answers: Answers) -> Self {
        if answers.at_once || answers.is_nowhere() {
            return Self::direct(answers);
        }
        let (messages, received) = sync_channel(LOTS);
        let work = move || write_all(&received);
        let Ok(writer) = thread::Builder::new().name("writer".to_owned()).spawn(work) else {
            return Self::direct(answers);
        };
        // The thread waits for this message, so it cannot have ended.
        let sent = messages.send(Message::Begin(Box::new(answers))).is_ok();
        debug_assert!(sent);
        Self(Kind::Behind(Behind { messages: Some(messages), writer: Some(writer), lot: Lot::default() }))
    }

    /// Writes the answer to a row ([`Answers::write`]).
    pub fn write(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        match &mut self.0 {
            Kind::Direct(answers) => answers.write(answer),
            Kind::Behind(behind) => {
                let Lot { answers, numbers, texts, .. } = &mut behind.lot;
                numbers.extend_from_slice(answer.coordinates);
                texts.extend_from_slice(answer.texts);
                answers.push((answer.row, answer.expected_loss, answer.loss, numbers.len(), texts.len()));
                behind.send_full()
            }
        }
    }

    /// Writes a row of a table ([`Answers::write_row`]).
    pub fn write_row(&mut self, row: &[f64]) -> Result<(), Error> {
        match &mut self.0 {
            Kind::Direct(answers) => answers.write_row(row),
            Kind::Behind(behind) => {
                behind.lot.numbers.extend_from_slice(row);
                behind.lot.rows.push(behind.lot.numbers.len());
                behind.send_full()
            }
        }
    }

    /// Flushes the output to disk and returns the number of rows and bytes written ([`Answers::sync`]).
    pub fn sync(&mut self) -> Result<Position, Error> {
        match &mut self.0 {
            Kind::Direct(answers) => answers.sync(),
            Kind::Behind(behind) => {
                behind.send_lot()?;
                let (reply, position) = sync_channel(1);
                behind.send(Message::Sync(reply))?;
                position.recv().map_err(|_| behind.failure())
            }
        }
    }

    /// Completes the output and renames a staging file to its target ([`Answers::finish`]).
    pub fn finish(self) -> Result<(), Error> {
        match self.0 {
            Kind::Direct(answers) => answers.finish(),
            Kind::Behind(mut behind) => {
                behind.send_lot()?;
                behind.send(Message::Finish)?;
                behind.end()
            }
        }
    }
}

impl Behind {
    fn send_full(&mut self) -> Result<(), Error> {
        let Lot { answers, rows, numbers, .. } = &self.lot;
        if numbers.len() + 4 * (answers.len() + rows.len()) < NUMBERS { Ok(()) } else { self.send_lot() }
    }

    fn send_lot(&mut self) -> Result<(), Error> {
        let lot = std::mem::take(&mut self.lot);
        if lot.answers.is_empty() && lot.rows.is_empty() { Ok(()) } else { self.send(Message::Lot(lot)) }
    }

    fn send(&mut self, message: Message) -> Result<(), Error> {
        let sent = self.messages.as_ref().is_some_and(|messages| messages.send(message).is_ok());
        if sent { Ok(()) } else { Err(self.failure()) }
    }

    /// Returns the error that stopped the thread.
    fn failure(&mut self) -> Error {
        let ended =
            || Error::at("the answers", Fault::Unwritable(io::Error::other("the thread that writes has ended")));
        self.end().err().unwrap_or_else(ended)
    }

    /// Stops the thread, waits until it has ended, and returns its result.
    fn end(&mut self) -> Result<(), Error> {
        self.messages = None;
        let ended =
            || Error::at("the answers", Fault::Unwritable(io::Error::other("the thread that writes has ended")));
        self.writer.take().map_or(Ok(()), |writer| writer.join().unwrap_or_else(|_| Err(ended())))
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // Answers in the last batch are still written. Write errors are ignored here.
        let _ = self.send_lot();
        let _ = self.end();
    }
}

/// Handles messages until `Finish` arrives, a write fails, or the sender is dropped.
fn write_all(messages: &Receiver<Message>) -> Result<(), Error> {
    let Ok(Message::Begin(mut answers)) = messages.recv() else { return Ok(()) };
    for message in messages {
        match message {
            Message::Begin(_) => {}
            Message::Lot(lot) => lot.write(&mut answers)?,
            Message::Sync(reply) => {
                let position = answers.sync()?;
                // The caller may be gone.
                let _ = reply.send(position);
            }
            Message::Finish => return answers.finish(),
        }
    }
    Ok(())
}

impl Lot {
    fn write(&self, answers: &mut Answers) -> Result<(), Error> {
        let (mut number, mut text) = (0, 0);
        for &(row, expected_loss, loss, numbers, texts) in &self.answers {
            let (coordinates, texts_of_row) = (&self.numbers[number..numbers], &self.texts[text..texts]);
            answers.write(&Answer { row, expected_loss, loss, coordinates, texts: texts_of_row })?;
            (number, text) = (numbers, texts);
        }
        for &end in &self.rows {
            answers.write_row(&self.numbers[number..end])?;
            number = end;
        }
        Ok(())
    }
}
