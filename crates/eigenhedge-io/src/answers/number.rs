//! Fast formatting in the form of `{:?}`, which takes five times as long. Ties of shortest strings may differ.

use std::io::{self, Write};

/// Range of absolute values for the fast formatter. It writes other values with exponents in another form than `{:?}`.
const PLAIN: std::ops::Range<f64> = 1e-4..1e16;

pub(super) fn write_number(number: f64, out: &mut dyn Write) -> io::Result<()> {
    let size = number.abs();
    if PLAIN.contains(&size) || size == 0.0 {
        return out.write_all(zmij::Buffer::new().format_finite(number).as_bytes());
    }
    write!(out, "{number:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_form_of_debug_and_read_back_exactly() {
        let bits = |i: u64| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let powers = (-330..=310).flat_map(|e| ["1", "1.5", "9.999999999999999"].map(|m| format!("{m}e{e}")));
        let decades = powers.filter_map(|text| text.parse::<f64>().ok());
        let near =
            (0..20_000).map(|i| f64::from(i) * 0.37 - 3000.0).chain((0..20_000).map(|i| 1.0 / (f64::from(i) + 0.3)));
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX, 1e16, 1e15];
        for number in (0..200_000).map(bits).chain(decades).chain(near).chain(special) {
            let mut found = Vec::new();
            write_number(number, &mut found).unwrap();
            let (found, debug) = (String::from_utf8(found).unwrap(), format!("{number:?}"));
            assert_eq!((found.len(), found.contains('e')), (debug.len(), debug.contains('e')), "{found} {debug}");
            assert_eq!(
                found.parse::<f64>().unwrap().to_bits(),
                debug.parse::<f64>().unwrap().to_bits(),
                "{found} {debug}"
            );
        }
    }
}
