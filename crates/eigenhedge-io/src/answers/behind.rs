//! Output table that is written on a separate thread, which receives rows as records, in order. A write error is
//! returned by a later call. Dropping the table waits for its thread to remove an incomplete file.

use super::{Answers, Cell, Position, Sink};
use crate::error::{Error, Fault};
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

const LOT: usize = 1 << 15;
const LOTS: usize = 4;

pub(super) struct Behind {
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

impl Answers {
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
}

impl Behind {
    pub fn write(&mut self, row: &[Cell<'_>]) -> Result<(), Error> {
        row.iter().try_for_each(|cell| cell.to_record(&mut self.lot)).map_err(unwritable)?;
        if self.lot.len() < LOT { Ok(()) } else { self.send_lot() }
    }

    pub fn sync(&mut self) -> Result<Position, Error> {
        self.send_lot()?;
        let (reply, position) = sync_channel(1);
        self.send(Message::Sync(reply))?;
        position.recv().map_err(|_| self.failure())
    }

    pub fn finish(mut self) -> Result<(), Error> {
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

pub(super) fn unwritable(error: io::Error) -> Error {
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
