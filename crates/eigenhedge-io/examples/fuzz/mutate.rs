//! Random mutations of byte strings.

use eigenhedge::Random;

/// Integers at the limits of common types.
const INTEGERS: [u64; 18] = [
    0,
    1,
    2,
    7,
    127,
    128,
    255,
    256,
    65_535,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 50,
    1 << 60,
    1 << 63,
    u64::MAX,
];

/// Floating-point numbers at the limits of computations.
const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    1e-3,
    1e6,
    1e-160,
    5e-324,
    1e160,
    1.7e308,
    -1e300,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// Strings that are special in some format or look like numbers.
const TOKENS: [&str; 30] = [
    "0",
    "-1",
    "1e308",
    "1e-320",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "null",
    "true",
    "\"",
    "''",
    ",",
    "\t",
    "\n",
    "\r\n",
    "[",
    "]",
    "{",
    "}",
    ":",
    "\\u0000",
    "\u{feff}",
    "(",
    ")",
    "18446744073709551615",
    "99999999999999999999",
    "20000000",
    "4294967296",
    "#",
];

fn one<T: Copy>(list: &[T], random: &mut Random) -> T {
    list[random.below(list.len())]
}

/// Returns a random position, half of the time near the start or the end, where headers are.
fn place(length: usize, random: &mut Random) -> usize {
    let near = |random: &mut Random| random.below(length.clamp(1, 256));
    match random.below(4) {
        0 => near(random),
        1 => length.saturating_sub(1 + near(random)),
        _ => random.below(length.max(1)),
    }
}

fn overwrite(bytes: &mut [u8], at: usize, new: &[u8]) {
    bytes.iter_mut().skip(at).zip(new).for_each(|(byte, new)| *byte = *new);
}

/// Applies one to seven random mutations. `other` is another file of the same kind, or empty.
pub fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 + random.below(4) * random.below(3) {
        change_once(bytes, other, random);
    }
}

fn change_once(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let (at, to) = (place(bytes.len(), random), place(bytes.len(), random));
    let (from, to) = (at.min(to), at.max(to));
    match random.below(14) {
        0..3 => {
            let bit = 1 << random.below(8);
            bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
        }
        3 => overwrite(bytes, at, &[one(&[0, 0xff, 0x80, 0x7f, b'0', b' '], random)]),
        4 => overwrite(bytes, at, &[random.below(256) as u8]),
        5 => bytes.truncate(at),
        6 => drop(bytes.drain(from..to)),
        7 => {
            let copy = bytes[from..to.min(from + 4096)].to_vec();
            let from = from.min(bytes.len());
            drop(bytes.splice(from..from, copy));
        }
        8 => {
            let start = place(other.len(), random).min(other.len());
            let end = (start + 1 + random.below(512)).min(other.len());
            let end_here = (from + random.below(512)).min(bytes.len());
            drop(bytes.splice(from.min(end_here)..end_here, other[start..end].iter().copied()));
        }
        9 => change_integer(bytes, at, random),
        10 => change_number(bytes, at, random),
        11 => {
            let token = one(&TOKENS, random).as_bytes();
            let end = if random.below(2) == 0 { at } else { (at + token.len()).min(bytes.len()) };
            drop(bytes.splice(at.min(bytes.len())..end.min(bytes.len()), token.iter().copied()));
        }
        12 => change_digits(bytes, at, random),
        _ => change_varint(bytes, at, random),
    }
}

/// Replaces an integer of two, four or eight bytes, in either byte order.
fn change_integer(bytes: &mut [u8], at: usize, random: &mut Random) {
    let near = (bytes.len() as u64).wrapping_add(random.below(17) as u64).wrapping_sub(8);
    let value = if random.below(4) == 0 { near } else { one(&INTEGERS, random) };
    let width = one(&[2, 4, 8, 8], random);
    let at = if random.below(2) == 0 { at - at % width } else { at };
    let little = value.to_le_bytes();
    let mut new = little[..width].to_vec();
    if random.below(4) == 0 {
        new.reverse();
    }
    overwrite(bytes, at, &new);
}

/// Replaces the first little-endian `f64` of ordinary magnitude at or after `at`.
pub fn change_number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let number = |i: usize| bytes.get(i..i + 8).and_then(|b| b.try_into().ok()).map(f64::from_le_bytes);
    let usual = |i: &usize| number(*i).is_some_and(|x| (1e-9..1e9).contains(&x.abs()));
    let Some(at) = (at..bytes.len()).find(usual) else { return };
    let old = number(at).unwrap_or(1.0);
    let new = match random.below(6) {
        0 => -old,
        1 => old * one(&[1.0 + 1e-9, 1.001, 2.0, 1e3, 1e-3], random),
        _ => one(&NUMBERS, random),
    };
    overwrite(bytes, at, &new.to_le_bytes());
}

fn change_digits(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let Some(from) = (at..bytes.len()).find(|i| bytes[*i].is_ascii_digit()) else { return };
    let to = (from..bytes.len()).find(|i| !bytes[*i].is_ascii_digit()).unwrap_or(bytes.len());
    let new = if random.below(3) == 0 {
        (1u128 << random.below(100)).to_string()
    } else {
        one(&["0", "1", "-1", "9", "1e308", "1e-320", "20000000", "18446744073709551615", "nan", ""], random).to_owned()
    };
    drop(bytes.splice(from..to, new.into_bytes()));
}

/// Replaces the byte at `at` by a variable-length integer.
fn change_varint(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let mut value = if random.below(2) == 0 { random.below(300) as u64 } else { one(&INTEGERS, random) };
    let mut new = Vec::new();
    while value > 127 {
        new.push(value as u8 | 0x80);
        value >>= 7;
    }
    new.push(value as u8);
    let at = at.min(bytes.len());
    let end = (at + 1).min(bytes.len());
    drop(bytes.splice(at..end, new));
}
