//! Decompression and conversion to UTF-8.

use crate::error::Fault;
use crate::memory::MaxMemory;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const WORKBOOKS: [&str; 5] = ["xlsx", "xlsm", "xlsb", "xls", "ods"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
    Workbook,
}

impl Packing {
    pub fn of_path(path: &Path) -> Self {
        match path.extension() {
            Some(end) if end.eq_ignore_ascii_case("gz") => Self::Gzip,
            Some(end) if end.eq_ignore_ascii_case("zst") => Self::Zstd,
            Some(end) if WORKBOOKS.iter().any(|workbook| end.eq_ignore_ascii_case(workbook)) => Self::Workbook,
            _ => Self::Plain,
        }
    }

    pub fn of_start(start: &[u8]) -> Result<Self, Fault> {
        let packed = |by: &str, unpack: &str| {
            let advice = format!("{unpack} unpacks it, also into a pipe that is read as -");
            Fault::Table(format!("is compressed by {by}, which is not read: {advice}"))
        };
        match start {
            [0x1f, 0x8b, ..] => Ok(Self::Gzip),
            [0x28, 0xb5, ..] => Ok(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', ..] => Err(packed("bzip2", "bzcat")),
            [0xfd, b'7', ..] => Err(packed("xz", "xzcat")),
            _ => Ok(Self::Plain),
        }
    }

    /// Returns a reader of the decompressed bytes, including all members or frames of the file.
    pub fn unpack(self, packed: Box<dyn Read>, memory: MaxMemory) -> Result<Box<dyn Read>, Fault> {
        let (inner, name): (Box<dyn Read>, _) = match self {
            Self::Plain | Self::Workbook => return Ok(packed),
            Self::Gzip => {
                (Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, packed))), "gzip")
            }
            Self::Zstd => (zstd(packed, memory)?, "zstd"),
        };
        Ok(Box::new(Unpacked { inner, name }))
    }
}

#[cfg(feature = "parquet")]
fn zstd(packed: Box<dyn Read>, memory: MaxMemory) -> Result<Box<dyn Read>, Fault> {
    let open = || {
        let mut decoder = zstd::stream::read::Decoder::new(packed)?;
        // Frames with a larger window are rejected. By default, zstd accepts windows of up to 2^27 bytes.
        decoder.window_log_max(memory.bytes().max(1).ilog2().clamp(10, 27))?;
        Ok(Box::new(decoder) as Box<dyn Read>)
    };
    open().map_err(Fault::Unreadable)
}

#[cfg(not(feature = "parquet"))]
fn zstd(_: Box<dyn Read>, _: MaxMemory) -> Result<Box<dyn Read>, Fault> {
    Err(Fault::NotBuilt("zstd"))
}

struct Unpacked {
    inner: Box<dyn Read>,
    name: &'static str,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let name = self.name;
            io::Error::new(io::ErrorKind::InvalidData, format!("its {name} data are damaged or end too early: {error}"))
        })
    }
}

/// Reader that is opened when it is first read, because the first bytes decide how the others are read.
struct Late<'a, F> {
    open: Option<F>,
    inner: Box<dyn Read + 'a>,
}

impl<'a, F: FnOnce() -> io::Result<Box<dyn Read + 'a>>> Read for Late<'a, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(open) = self.open.take() {
            self.inner = open()?;
        }
        self.inner.read(buffer)
    }
}

pub(crate) fn late<'a>(open: impl FnOnce() -> io::Result<Box<dyn Read + 'a>> + 'a) -> Box<dyn Read + 'a> {
    Box::new(Late { open: Some(open), inner: Box::new(io::empty()) })
}

/// Returns a reader of a pipe that is decompressed if its first bytes mark compressed data.
pub(crate) fn unpacked_pipe(mut source: Box<dyn Read>, memory: MaxMemory) -> Box<dyn Read> {
    late(move || {
        let mut start = Vec::new();
        source.by_ref().take(2).read_to_end(&mut start)?;
        if start.starts_with(b"BZ") {
            source.by_ref().take(4).read_to_end(&mut start)?;
        }
        let fail = |fault: Fault| io::Error::new(io::ErrorKind::InvalidData, fault.to_string());
        let packing = Packing::of_start(&start).map_err(fail)?;
        packing.unpack(Box::new(io::Cursor::new(start).chain(source)), memory).map_err(fail)
    })
}

pub(crate) struct Counted<R> {
    pub inner: R,
    pub count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.inner.read(buffer)?;
        self.count.fetch_add(found as u64, Ordering::Relaxed);
        Ok(found)
    }
}

pub(crate) fn is_utf16(start: &[u8]) -> bool {
    start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff])
}

pub(crate) fn utf8<'a>(mut source: impl Read + 'a) -> Box<dyn Read + 'a> {
    late(move || {
        let mut start = Vec::new();
        source.by_ref().take(2).read_to_end(&mut start)?;
        let unit: fn([u8; 2]) -> u16 = match start[..] {
            [0xff, 0xfe] => u16::from_le_bytes,
            [0xfe, 0xff] => u16::from_be_bytes,
            _ => return Ok(Box::new(io::Cursor::new(start).chain(source))),
        };
        Ok(Box::new(Utf16 { inner: source, unit, ready: io::Cursor::default(), high: None, byte: None }))
    })
}

struct Utf16<R> {
    inner: R,
    unit: fn([u8; 2]) -> u16,
    ready: io::Cursor<Vec<u8>>,
    /// First unit of a surrogate pair, if the second unit has not arrived yet.
    high: Option<u16>,
    byte: Option<u8>,
}

impl<R: Read> Utf16<R> {
    fn decode(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 1 << 13];
        let found = self.inner.read(&mut bytes)?;
        self.ready.set_position(0);
        let ready = self.ready.get_mut();
        ready.clear();
        if found == 0 && self.byte.is_some() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its UTF-16 text ends within a character"));
        }
        let mut units = Vec::with_capacity(found / 2 + 2);
        units.extend(self.high.take());
        for byte in &bytes[..found] {
            match self.byte.take() {
                Some(first) => units.push((self.unit)([first, *byte])),
                None => self.byte = Some(*byte),
            }
        }
        // The second half of a pair may not have arrived yet.
        if found > 0 && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high = units.pop();
        }
        let mut text = [0; 4];
        for c in char::decode_utf16(units) {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            ready.extend_from_slice(c.encode_utf8(&mut text).as_bytes());
        }
        Ok(found > 0 || !ready.is_empty())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.ready.read(buffer)?;
            if count > 0 || buffer.is_empty() || !self.decode()? {
                return Ok(count);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) struct Drops<'a>(pub &'a [u8], pub usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = self.1.min(buffer.len());
            (&mut self.0).take(size as u64).read(buffer)
        }
    }

    #[test]
    fn utf_16_is_read_like_utf_8_however_the_bytes_arrive() {
        for text in ["", "a", "a,b\n1,2\n", "grün,𝄞\n1,2\n", "𝄞"] {
            let units: Vec<u16> = text.encode_utf16().collect();
            let little: Vec<u8> = [0xfeff].iter().chain(&units).flat_map(|unit: &u16| unit.to_le_bytes()).collect();
            let big: Vec<u8> = [0xfeff].iter().chain(&units).flat_map(|unit: &u16| unit.to_be_bytes()).collect();
            for bytes in [text.as_bytes(), &little, &big] {
                for size in 1..=bytes.len().max(1) {
                    let mut read = String::new();
                    utf8(Drops(bytes, size)).read_to_string(&mut read).unwrap();
                    assert_eq!(read, text, "by {size}");
                }
            }
        }
        let mut read = Vec::new();
        let error = utf8(&[0xff, 0xfe, b'a', 0, b'b'][..]).read_to_end(&mut read).unwrap_err();
        assert!(error.to_string().contains("within a character"), "{error}");
    }
}
