//! Output table that is written on a separate thread, which receives rows as records, in order. A write error is
//! returned by a later call. Dropping an [`Output`] waits for its thread to remove an incomplete file.

use super::{Answers, Cell, Position};
use crate::error::{Error, Fault};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

const LOT: usize = 1 << 15;
const LOTS: usize = 4;

/// Output that writes answers directly or on a separate thread.
pub struct Output(Kind);

enum Kind {
    Direct(Box<Answers>),
    Behind(Behind),
}

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

impl Output {
    /// Creates an output that writes each answer immediately.
    pub fn direct(answers: Answers) -> Self {
        Self(Kind::Direct(Box::new(answers)))
    }

    /// Creates an output that writes on a separate thread. It writes directly if each row must be
    /// flushed, if there is no target, or if no thread starts.
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
        Self(Kind::Behind(Behind { messages: Some(messages), writer: Some(writer), lot: Vec::new() }))
    }

    /// Writes a row ([`Answers::write`]).
    pub fn write(&mut self, row: &[Cell<'_>]) -> Result<(), Error> {
        match &mut self.0 {
            Kind::Direct(answers) => answers.write(row),
            Kind::Behind(behind) => {
                let written = row.iter().try_for_each(|cell| cell.to_record(&mut behind.lot));
                written.map_err(unwritable)?;
                if behind.lot.len() < LOT { Ok(()) } else { behind.send_lot() }
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
                // The caller may have stopped waiting.
                let _ = reply.send(position);
            }
            Message::Finish => return answers.finish(),
        }
    }
    Ok(())
}
