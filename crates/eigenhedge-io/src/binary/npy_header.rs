//! Header of an NPY file: a Python dictionary with three entries. The parser is handwritten, because a general parser
//! of Python literals would let a damaged file request any amount of memory.

use crate::error::Fault;
use std::io::{self, Read};

#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    pub element: String,
    pub by_column: bool,
    pub shape: Vec<u64>,
    pub size: u64,
}

const LONGEST: u64 = 1 << 16;

impl Header {
    /// Reads the header. An invalid header is an error of kind `InvalidData`.
    pub fn read(source: &mut dyn Read) -> io::Result<Self> {
        let mut start = [0; 8];
        source.read_exact(&mut start).map_err(too_short)?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err(invalid("it does not start like one"));
        }
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(invalid(format!("its version is {version}, and 1 to 3 are known"))),
        };
        let mut length = [0; 4];
        source.read_exact(&mut length[..width]).map_err(too_short)?;
        let length = u64::from(u32::from_le_bytes(length));
        if length > LONGEST {
            return Err(invalid(format!("its header is {length} bytes long, and at most {LONGEST} are read")));
        }
        let mut text = vec![0; length as usize];
        source.read_exact(&mut text).map_err(too_short)?;
        let size = 8 + width as u64 + length;
        parse(&String::from_utf8_lossy(&text), size).ok_or_else(|| invalid("its header cannot be understood"))
    }
}

fn invalid(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

fn too_short(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { invalid("it ends within its header") } else { error }
}

fn parse(text: &str, size: u64) -> Option<Header> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let (mut element, mut by_column, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = quoted(rest)?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" if value.starts_with('[') => {
                let end = value.rfind(']')? + 1;
                element = Some(value[..end].to_owned());
                &value[end..]
            }
            "descr" => {
                let (text, after) = quoted(value)?;
                element = Some(text.to_owned());
                after
            }
            "fortran_order" => {
                by_column = Some(value.starts_with("True"));
                value.strip_prefix("True").or_else(|| value.strip_prefix("False"))?
            }
            "shape" => {
                let (inside, after) = value.strip_prefix('(')?.split_once(')')?;
                let axes = inside.split(',').map(str::trim).filter(|axis| !axis.is_empty());
                shape = Some(axes.map(|axis| axis.trim_end_matches('L').parse().ok()).collect::<Option<Vec<u64>>>()?);
                after
            }
            _ => return None,
        }
        .trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(Header { element: element?, by_column: by_column?, shape: shape?, size })
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Element {
    /// `i`, `u` or `f`.
    kind: u8,
    pub size: usize,
    is_big: bool,
}

impl Element {
    pub fn of(header: &Header) -> Result<Self, Fault> {
        let rule = "must hold real numbers of 1 to 8 bytes, got elements of type";
        Self::from_name(&header.element).ok_or_else(|| Fault::Table(format!("{rule} {:?}", header.element)))
    }

    fn from_name(name: &str) -> Option<Self> {
        let [order, kind, digit] = *name.as_bytes() else { return None };
        let size = usize::from(digit.checked_sub(b'0')?);
        let is_known = matches!((kind, size), (b'i' | b'u', 1 | 2 | 4 | 8) | (b'f', 2 | 4 | 8));
        let is_big = match order {
            b'<' | b'|' => false,
            b'>' => true,
            b'=' => cfg!(target_endian = "big"),
            _ => return None,
        };
        is_known.then_some(Self { kind, size, is_big })
    }

    pub fn decode(self, bytes: &[u8], starts: impl Iterator<Item = usize>, row: &mut Vec<f64>) {
        macro_rules! all {
            ($type:ty) => {
                all!($type, |x| x as f64)
            };
            ($type:ty, $convert:expr) => {
                row.extend(starts.map(|start| {
                    let mut element = [0; size_of::<$type>()];
                    element.copy_from_slice(&bytes[start..start + size_of::<$type>()]);
                    let convert: fn($type) -> f64 = $convert;
                    convert(if self.is_big { <$type>::from_be_bytes(element) } else { <$type>::from_le_bytes(element) })
                }))
            };
        }
        match (self.kind, self.size) {
            (b'i', 1) => all!(i8),
            (b'i', 2) => all!(i16),
            (b'i', 4) => all!(i32),
            (b'i', _) => all!(i64),
            (b'u', 1) => all!(u8),
            (b'u', 2) => all!(u16),
            (b'u', 4) => all!(u32),
            (b'u', _) => all!(u64),
            (_, 2) => all!(u16, half),
            (_, 4) => all!(f32),
            _ => all!(f64),
        }
    }
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    let size = match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Encodes an array as an NPY file, with data that start at a multiple of 64 bytes.
pub(crate) fn npy_bytes(element: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    const HEAD: usize = 10;
    let mut header = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}");
    let padding = 63 - (HEAD + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_decoded_exactly() {
        let cases = [
            (0x3c00_u16, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x0400, 6.103_515_625e-5),
            (0x7c00, f64::INFINITY),
            (0x8000, -0.0),
        ];
        for (bits, wanted) in cases {
            let mut row = Vec::new();
            for (order, bytes) in [("<", bits.to_le_bytes()), (">", bits.to_be_bytes())] {
                Element::from_name(&format!("{order}f2")).unwrap().decode(&bytes, [0].into_iter(), &mut row);
            }
            assert!(row.iter().all(|x: &f64| x.to_bits() == f64::to_bits(wanted)), "{bits:#x}: {row:?}");
        }
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn headers_as_they_occur_are_understood_and_others_are_not() {
        let header = |element: &str, by_column, shape: &[u64]| {
            Some(Header { element: element.into(), by_column, shape: shape.to_vec(), size: 9 })
        };
        let cases = [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }   \n", header("<f8", false, &[3, 2])),
            ("{\"shape\":(4,),\"descr\":\">i2\",\"fortran_order\":True}", header(">i2", true, &[4])),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", header("<f4", false, &[])),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (10L, 2L)}", header("<f4", false, &[10, 2])),
            (
                "{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': (5,), }",
                header("[('a', '<f8'), ('b', '<i4')]", false, &[5]),
            ),
            ("{'descr': '<f8', 'fortran_order': False}", None),
            ("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}", None),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}", None),
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", None),
            ("{'x': '<f8'}", None),
            ("{é", None),
            ("", None),
            ("{}", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(parse(text, 9), wanted, "{text}");
        }
    }
}
