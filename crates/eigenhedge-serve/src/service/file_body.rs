//! A file as a response body, read while it is sent.

use axum::body::{Body, Bytes};
use futures_util::stream;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

const PIECE: usize = 256 << 10;

pub fn file_body(file: File, length: u64) -> Body {
    let pieces = stream::unfold((Some(file), 0), move |(file, sent)| async move {
        let mut file = file?;
        if sent >= length {
            return None;
        }
        let read = move || -> io::Result<(File, Vec<u8>)> {
            file.seek(SeekFrom::Start(sent))?;
            let mut piece = Vec::new();
            file.by_ref().take((length - sent).min(PIECE as u64)).read_to_end(&mut piece)?;
            Ok((file, piece))
        };
        match tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into())) {
            Ok((_, piece)) if piece.is_empty() => {
                Some((Err(io::Error::from(io::ErrorKind::UnexpectedEof)), (None, sent)))
            }
            Ok((file, piece)) => {
                let sent = sent + piece.len() as u64;
                Some((Ok(Bytes::from(piece)), (Some(file), sent)))
            }
            Err(error) => Some((Err(error), (None, sent))),
        }
    });
    Body::from_stream(pieces)
}
