//! Headers of Parquet pages, for memory checks: the `parquet` library allocates the size stated in a header before it
//! reads the page. A header is a structure of Thrift's compact protocol. Unneeded fields are skipped.

use std::io::{self, Read};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageHeader {
    pub packed: u64,
    pub unpacked: u64,
    /// Number of dictionary values, or zero if the page is not a dictionary.
    pub dictionary_values: u64,
    pub size: u64,
}

/// Field IDs of a page header, and of the dictionary header in it.
const UNPACKED: i16 = 2;
const PACKED: i16 = 3;
const DICTIONARY: i16 = 7;
const DICTIONARY_VALUES: i16 = 1;

const STOP: u8 = 0;
const STRUCT: u8 = 12;
/// Type codes of 16-, 32- and 64-bit integers.
const INTEGERS: std::ops::RangeInclusive<u8> = 4..=6;

impl PageHeader {
    pub fn read(source: impl Read) -> io::Result<Self> {
        let mut thrift = Thrift { source, size: 0 };
        let mut sizes = [None, None, Some(0)];
        let mut field = 0;
        while let Some(kind) = thrift.field(&mut field)? {
            match field {
                UNPACKED if INTEGERS.contains(&kind) => sizes[0] = u64::try_from(thrift.integer()?).ok(),
                PACKED if INTEGERS.contains(&kind) => sizes[1] = u64::try_from(thrift.integer()?).ok(),
                DICTIONARY if kind == STRUCT => sizes[2] = thrift.dictionary_values()?,
                _ => thrift.skip(kind, 0)?,
            }
        }
        let [Some(unpacked), Some(packed), Some(dictionary_values)] = sizes else { return Err(senseless()) };
        Ok(Self { packed, unpacked, dictionary_values, size: thrift.size })
    }
}

fn senseless() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a page header makes no sense")
}

struct Thrift<R> {
    source: R,
    size: u64,
}

impl<R: Read> Thrift<R> {
    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.source.read_exact(&mut byte)?;
        self.size += 1;
        Ok(byte[0])
    }

    fn unsigned(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(senseless())
    }

    fn integer(&mut self) -> io::Result<i64> {
        let coded = self.unsigned()?;
        Ok((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }

    fn field(&mut self, field: &mut i16) -> io::Result<Option<u8>> {
        let byte = self.byte()?;
        let (step, kind) = (i16::from(byte >> 4), byte & 0x0f);
        if kind == STOP {
            return Ok(None);
        }
        *field = match step {
            0 => i16::try_from(self.integer()?).map_err(|_| senseless())?,
            step => field.checked_add(step).ok_or_else(senseless)?,
        };
        Ok(Some(kind))
    }

    fn dictionary_values(&mut self) -> io::Result<Option<u64>> {
        let (mut field, mut values) = (0, None);
        while let Some(kind) = self.field(&mut field)? {
            match field {
                DICTIONARY_VALUES if INTEGERS.contains(&kind) => values = u64::try_from(self.integer()?).ok(),
                _ => self.skip(kind, 0)?,
            }
        }
        Ok(values)
    }

    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        let found = io::copy(&mut self.source.by_ref().take(bytes), &mut io::sink())?;
        self.size += found;
        if found == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        const DEEPEST: u32 = 16;
        match kind {
            _ if depth > DEEPEST => Err(senseless()),
            // The value of a Boolean field is part of its type.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.unsigned().map(drop),
            7 => self.pass(8),
            8 => self.unsigned().and_then(|length| self.pass(length)),
            9 | 10 => {
                let byte = self.byte()?;
                let (short, element) = (byte >> 4, byte & 0x0f);
                let length = if short == 15 { self.unsigned()? } else { short.into() };
                // A Boolean in a list takes a byte.
                let element = if matches!(element, 1 | 2) { 3 } else { element };
                (0..length).try_for_each(|_| self.skip(element, depth + 1))
            }
            STRUCT => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.skip(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(senseless()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_to_its_end_and_no_further() {
        // Page type 2, sizes 300 and 100, a checksum, and a dictionary header: 5 values, plain
        // encoding (0), sorted (true).
        let bytes = [0x15, 4, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x15, 2, 0x3c, 0x15, 10, 0x15, 0, 0x11, 0, 0, 0xff];
        let header = PageHeader { packed: 100, unpacked: 300, dictionary_values: 5, size: 18 };
        assert_eq!(PageHeader::read(&bytes[..]).unwrap(), header);
        for end in 0..18 {
            assert!(PageHeader::read(&bytes[..end]).is_err(), "{end}");
        }
        // A negative size, and a list with an excessive length.
        assert!(PageHeader::read(&[0x25, 3, 0x15, 2, 0][..]).is_err());
        assert!(PageHeader::read(&[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f][..]).is_err());
    }
}
