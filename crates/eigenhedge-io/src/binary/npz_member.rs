//! Bytes of one array in an NPZ archive, read from the file directly and inflated on the fly, so that memory use does
//! not depend on its size. The checksum is verified last.

use crate::error::{Error, Fault};
use crate::input_source::InputSource;
use flate2::read::DeflateDecoder;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use zip::{CompressionMethod, ZipArchive};

#[derive(Debug, Clone)]
pub struct Member {
    start: u64,
    compressed: u64,
    pub size: u64,
    deflated: bool,
    checksum: u32,
}

const FORMAT: &str = "npz";

/// Maximum compression ratio of deflate: a match of 258 bytes takes 2 bits.
const DEFLATE_RATIO: u64 = 1032;

pub fn find(input: &InputSource, array: Option<&str>) -> Result<Member, Error> {
    let unsound = |reason: String| input.fault(Fault::Unsound { format: FORMAT, reason });
    let sound = |error: zip::result::ZipError| match error {
        zip::result::ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => input.unreadable(error),
        other => unsound(other.to_string()),
    };
    let mut archive = ZipArchive::new(BufReader::new(input.file(FORMAT)?)).map_err(sound)?;
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let name = archive.by_index_raw(index).and_then(|member| Ok(member.name()?.into_owned())).map_err(sound)?;
        if let Some(name) = name.strip_suffix(".npy") {
            arrays.push((index, name.to_owned()));
        }
    }
    let (index, name) = match (array, arrays.as_slice()) {
        (_, []) => return Err(input.fault(Fault::Table("holds no arrays".to_owned()))),
        (None, [only]) => only.clone(),
        (wanted, _) => {
            let plain = wanted.map(|wanted| wanted.strip_suffix(".npy").unwrap_or(wanted));
            let found = arrays.iter().find(|(_, name)| [wanted, plain].contains(&Some(name)));
            let got = wanted.map_or("nothing".to_owned(), |wanted| format!("{wanted:?}"));
            let names = arrays.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
            let rule = Fault::Table(format!("--array must be one of {names}, got {got}"));
            found.cloned().ok_or_else(|| input.fault(rule))?
        }
    };
    let member = archive.by_index_raw(index).map_err(sound)?;
    let deflated = match member.compression() {
        _ if member.encrypted() => return Err(unsound(format!("the array {name:?} is encrypted"))),
        CompressionMethod::STORE => false,
        CompressionMethod::DEFLATE => true,
        other => return Err(unsound(format!("the array {name:?} is compressed by {other}, which NumPy does not do"))),
    };
    let (compressed, size) = (member.compressed_size(), member.size());
    if size > if deflated { compressed.saturating_mul(DEFLATE_RATIO) } else { compressed } {
        return Err(unsound(format!("the array {name:?} has {compressed} bytes, which cannot hold {size}")));
    }
    Ok(Member {
        start: member.data_start().ok_or_else(|| unsound(format!("the array {name:?} cannot be found")))?,
        compressed,
        size,
        deflated,
        checksum: member.crc32(),
    })
}

impl Member {
    pub fn open(&self, input: &InputSource) -> Result<Box<dyn Read>, Error> {
        let mut file = input.file(FORMAT)?;
        file.seek(SeekFrom::Start(self.start)).map_err(|error| input.unreadable(error))?;
        let stored = BufReader::with_capacity(1 << 16, file).take(self.compressed);
        let bytes: Box<dyn Read> = if self.deflated { Box::new(DeflateDecoder::new(stored)) } else { Box::new(stored) };
        Ok(Box::new(Checked { bytes, left: self.size, sum: crc32fast::Hasher::new(), checksum: self.checksum }))
    }
}

struct Checked {
    bytes: Box<dyn Read>,
    left: u64,
    sum: crc32fast::Hasher,
    checksum: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if wanted == 0 {
            return Ok(0);
        }
        let found = self.bytes.read(&mut buffer[..wanted])?;
        self.sum.update(&buffer[..found]);
        self.left -= found as u64;
        if found > 0 && self.left == 0 && self.sum.clone().finalize() != self.checksum {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of the array is wrong"));
        }
        Ok(found)
    }
}
