//! Reader of Arrow IPC files, including Feather version 2, and of Arrow IPC streams, one batch at a time.
//!
//! Dictionary batches are skipped, because numeric columns do not need them. This module reads the messages, and the
//! library `arrow-ipc` decodes them. Before anything is allocated, the stated lengths are compared with the length of
//! the file, and the stated uncompressed length of a buffer with the most that its bytes can expand to.

use super::batches::{Table, choose, unsound};
use crate::memory::{Ratio, most_unpacked};
use crate::reader::{Error, Fault, InputSource, Layout, Opened};
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::RecordBatchDecoder;
use arrow_ipc::{CompressionType, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let format = layout.format.name();
    let mut start = Vec::new();
    if !input.is_pipe() {
        input.open()?.take(8).read_to_end(&mut start).map_err(|error| input.unreadable(error))?;
    }
    if start.is_empty() && !input.is_pipe() {
        return Err(input.fault(Fault::Empty));
    }
    let (schema, messages) = match start.as_slice() {
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Messages::of_file(input, format)?,
        start if input.is_pipe() || start.starts_with(&[0xff; 4]) => Messages::of_stream(input, format)?,
        other => {
            let reason = match crate::format::signature(other) {
                Some(found) => format!("it starts like {found}"),
                None => "it does not start like one".to_owned(),
            };
            return Err(unsound(input, format, reason));
        }
    };
    let schema = Arc::new(schema);
    let chosen = choose(input, layout, &schema)?;
    // Projection takes quadratic time in the number of columns, so it is skipped if all columns are selected.
    let projection = (chosen.1.len() < schema.fields().len()).then(|| chosen.1.clone());
    Table::open(input, layout, chosen, Box::new(Decoder { messages, schema, projection }), None)
}

/// Metadata and body of a message.
type MessageBytes = (Vec<u8>, Vec<u8>);

struct Messages {
    input: InputSource,
    format: &'static str,
    source: Source,
}

enum Source {
    /// Start of each message, and the lengths of its metadata and body.
    File(File, std::vec::IntoIter<[u64; 3]>),
    Stream(BufReader<Box<dyn Read>>),
}

impl Messages {
    fn of_file(input: &InputSource, format: &'static str) -> Result<(Schema, Self), Error> {
        const END: u64 = 10;
        let broken = |reason: &str| unsound(input, format, reason);
        let mut file = input.file(format)?;
        let size = input.size().unwrap_or(0);
        let mut end = [0; END as usize];
        let read = size.checked_sub(END).map(|start| read_at(&mut file, start, &mut end));
        read.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into())).map_err(|error| broken(&error.to_string()))?;
        let [a, b, c, d, magic @ ..] = end;
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        let start = size.checked_sub(END + length).filter(|_| &magic == b"ARROW1");
        let start = start.ok_or_else(|| broken("it does not end in a footer"))?;
        input.allow("the footer", length.into())?;
        let mut footer = vec![0; length as usize];
        read_at(&mut file, start, &mut footer).map_err(|error| input.unreadable(error))?;
        let footer = root_as_footer(&footer).map_err(|error| unsound(input, format, error))?;
        let schema = footer.schema().ok_or_else(|| broken("its footer has no schema"))?;
        let schema = understood(input, format, schema)?;
        let place = |block: &arrow_ipc::Block| {
            let start = u64::try_from(block.offset()).ok()?;
            let (metadata, body) = (block.metaDataLength().try_into().ok()?, block.bodyLength().try_into().ok()?);
            let end = start.checked_add(metadata)?.checked_add(body)?;
            (end <= size).then_some([start, metadata, body])
        };
        let places = footer.recordBatches().into_iter().flatten().map(place).collect::<Option<Vec<[u64; 3]>>>();
        let places = places.ok_or_else(|| broken("its footer names batches that lie outside of it"))?;
        Ok((schema, Self { input: input.clone(), format, source: Source::File(file, places.into_iter()) }))
    }

    fn of_stream(input: &InputSource, format: &'static str) -> Result<(Schema, Self), Error> {
        let source = Source::Stream(BufReader::new(input.open()?));
        let mut messages = Self { input: input.clone(), format, source };
        let broken = |reason: &str| unsound(input, format, reason);
        let Some((metadata, _)) = messages.advance()? else {
            return Err(input.fault(Fault::Empty));
        };
        let message = messages.parse(&metadata)?;
        let schema = message.header_as_schema().ok_or_else(|| broken("it does not start with a schema"))?;
        Ok((understood(input, format, schema)?, messages))
    }

    fn advance(&mut self) -> Result<Option<MessageBytes>, Error> {
        let Self { input, format, source } = self;
        match source {
            Source::File(file, places) => {
                let Some([start, metadata, body]) = places.next() else { return Ok(None) };
                file.seek(SeekFrom::Start(start)).map_err(|error| input.unreadable(error))?;
                let mut message = read_bounded(input, format, file, metadata)?;
                // A message starts with its length, after a marker of 4 bytes in newer files.
                let prefix = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
                message.drain(..prefix.min(message.len()));
                Ok(Some((message, read_bounded(input, format, file, body)?)))
            }
            Source::Stream(stream) => {
                let Some(length) = message_length(stream).map_err(|error| input.unreadable(error))? else {
                    return Ok(None);
                };
                let length = u64::try_from(length).map_err(|_| unsound(input, format, "a message has no length"))?;
                let message = read_bounded(input, format, stream, length)?;
                let body = root_as_message(&message).map_err(|error| unsound(input, format, error))?.bodyLength();
                let body = u64::try_from(body).map_err(|_| unsound(input, format, "a batch has no length"))?;
                let body = read_bounded(input, format, stream, body)?;
                Ok(Some((message, body)))
            }
        }
    }

    fn parse<'a>(&self, metadata: &'a [u8]) -> Result<Message<'a>, Error> {
        root_as_message(metadata).map_err(|error| unsound(&self.input, self.format, error))
    }
}

fn understood(input: &InputSource, format: &'static str, schema: arrow_ipc::Schema<'_>) -> Result<Schema, Error> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(unsound(input, format, "its numbers have another order of bytes than this machine's"));
    }
    try_fb_to_schema(schema).map_err(|error| unsound(input, format, error))
}

fn read_at(file: &mut File, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

fn message_length(stream: &mut impl Read) -> io::Result<Option<i32>> {
    let mut length = [0; 4];
    let mut next = || match stream.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        outcome => outcome.map(|()| Some(i32::from_le_bytes(length)).filter(|length| *length != 0)),
    };
    match next()? {
        Some(-1) => next(),
        other => Ok(other),
    }
}

/// Reads `length` bytes. For a pipe, memory grows with the bytes received, not with the stated length.
fn read_bounded(
    input: &InputSource,
    format: &'static str,
    source: &mut impl Read,
    length: u64,
) -> Result<Vec<u8>, Error> {
    let too_short = || unsound(input, format, "it ends within a message");
    if input.size().is_some_and(|size| size < length) {
        return Err(too_short());
    }
    input.allow("a batch", length.into())?;
    let mut bytes = Vec::new();
    if input.size().is_some() {
        bytes.reserve_exact(length as usize);
    }
    let found = source.take(length).read_to_end(&mut bytes).map_err(|error| input.unreadable(error))?;
    if found as u64 == length { Ok(bytes) } else { Err(too_short()) }
}

struct Decoder {
    messages: Messages,
    schema: SchemaRef,
    projection: Option<Vec<usize>>,
}

impl Decoder {
    fn decode(&mut self) -> Result<Option<RecordBatch>, Error> {
        while let Some((metadata, body)) = self.messages.advance()? {
            let (input, format) = (&self.messages.input, self.messages.format);
            let message = self.messages.parse(&metadata)?;
            if message.header_type() == MessageHeader::DictionaryBatch {
                continue;
            }
            let Some(batch) = message.header_as_record_batch() else {
                return Err(unsound(input, format, "it holds a message that is no batch"));
            };
            judge_buffers(input, format, &batch, &body)?;
            let body = Buffer::from_vec(body);
            let (none, version, projection) = (HashMap::new(), message.version(), self.projection.as_deref());
            let decoded = RecordBatchDecoder::try_new(&body, batch, self.schema.clone(), &none, &version)
                .and_then(|decoder| decoder.with_projection(projection).read_record_batch());
            return decoded.map(Some).map_err(|error| unsound(input, format, error));
        }
        Ok(None)
    }
}

impl Iterator for Decoder {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.decode().transpose()
    }
}

/// Checks the places, compression and stated lengths of the buffers before they are decoded.
fn judge_buffers(
    input: &InputSource,
    format: &'static str,
    batch: &arrow_ipc::RecordBatch<'_>,
    body: &[u8],
) -> Result<(), Error> {
    let ratio = match batch.compression().map(|compression| compression.codec()) {
        None => Ratio::Plain,
        Some(CompressionType::LZ4_FRAME) => Ratio::Lz4,
        Some(CompressionType::ZSTD) => Ratio::Zstd,
        Some(_) => return Err(unsound(input, format, "a batch is compressed in an unknown way")),
    };
    let mut total = body.len() as u128;
    for buffer in batch.buffers().into_iter().flatten() {
        let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = place.and_then(|(start, length)| body.get(start..start.checked_add(length)?));
        let bytes = bytes.ok_or_else(|| unsound(input, format, "a buffer lies outside of its batch"))?;
        // A compressed buffer starts with its uncompressed length. The length -1 marks plain bytes.
        let unpacked = match (ratio, bytes.split_first_chunk()) {
            (Ratio::Plain, _) | (_, None) => bytes.len() as u64,
            (_, Some((length, packed))) => match u64::try_from(i64::from_le_bytes(*length)) {
                Err(_) => packed.len() as u64,
                Ok(length) if length > most_unpacked(packed.len() as u64, ratio) => {
                    let reason = format!("a buffer of {} bytes cannot hold {length}", packed.len());
                    return Err(unsound(input, format, reason));
                }
                Ok(length) => length,
            },
        };
        total += u128::from(unpacked);
    }
    input.allow("a batch", total)
}
