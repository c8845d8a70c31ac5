//! Answers that another thread writes down.
//!
//! Answers are handed over in lots, in order. Bytes and positions are those of [`Answers`]. An error shows with a later answer,
//! at the latest when answers are synced or finished. [`Output`] that is dropped waits for its thread: a file that was not
//! finished is gone when the program ends.

use super::{Answer, Answers, Position};
use crate::error::{Error, Fault};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Numbers of a lot.
const NUMBERS: usize = 1 << 12;
/// Lots that wait.
const LOTS: usize = 4;

/// Answers, written at once or by a thread of their own.
pub struct Output(Kind);

enum Kind {
    Direct(Box<Answers>),
    Behind(Behind),
}

struct Behind {
    /// None once the thread has been told to end.
    messages: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<Result<(), Error>>>,
    lot: Lot,
}

/// Some answers, or some rows of a table of rows.
#[derive(Default)]
struct Lot {
    /// Row, losses, coordinates and texts of each, and where those end.
    answers: Vec<(u64, f64, f64, usize, usize)>,
    /// End of each row of a table among the numbers.
    rows: Vec<usize>,
    numbers: Vec<f64>,
    texts: Vec<String>,
}

enum Message {
    /// The first one.
    Begin(Box<Answers>),
    Lot(Lot),
    Sync(SyncSender<Position>),
    Finish,
}

impl Output {
    /// Answers that are written when they are given.
    pub fn direct(answers: Answers) -> Self {
        Self(Kind::Direct(Box::new(answers)))
    }

    /// Answers that another thread writes down. Those that must be out before the next row is read, and those that go nowhere, are
    /// written at once.
    pub fn behind(answers: Answers) -> Self {
        if answers.at_once || answers.is_nowhere() {
            return Self::direct(answers);
        }
        let (messages, received) = sync_channel(LOTS);
        let work = move || write_all(&received);
        let Ok(writer) = thread::Builder::new().name("writer".to_owned()).spawn(work) else {
            return Self::direct(answers);
        };
        // The thread waits for them: it cannot have ended.
        let sent = messages.send(Message::Begin(Box::new(answers))).is_ok();
        debug_assert!(sent);
        Self(Kind::Behind(Behind { messages: Some(messages), writer: Some(writer), lot: Lot::default() }))
    }

    /// One row's answer ([`Answers::write`]).
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

    /// One row of a table of rows ([`Answers::write_row`]).
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

    /// Makes durable what was written, and says how much that is ([`Answers::sync`]).
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

    /// Makes the answers visible ([`Answers::finish`]).
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

    /// The reason for which the thread has ended.
    fn failure(&mut self) -> Error {
        let ended =
            || Error::at("the answers", Fault::Unwritable(io::Error::other("the thread that writes has ended")));
        self.end().err().unwrap_or_else(ended)
    }

    /// Waits for the end of the thread.
    fn end(&mut self) -> Result<(), Error> {
        self.messages = None;
        let ended =
            || Error::at("the answers", Fault::Unwritable(io::Error::other("the thread that writes has ended")));
        self.writer.take().map_or(Ok(()), |writer| writer.join().unwrap_or_else(|_| Err(ended())))
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // Rows before an error are still answered. Errors of writing do not matter any more.
        let _ = self.send_lot();
        let _ = self.end();
    }
}

/// Writes what comes, until there is nothing more to come.
fn write_all(messages: &Receiver<Message>) -> Result<(), Error> {
    let Ok(Message::Begin(mut answers)) = messages.recv() else { return Ok(()) };
    for message in messages {
        match message {
            Message::Begin(_) => {}
            Message::Lot(lot) => lot.write(&mut answers)?,
            Message::Sync(reply) => {
                let position = answers.sync()?;
                // A caller that has gone needs no position.
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
