//! Rounded numbers for text output. Machine-readable output has full precision.

pub use eigenhedge::options::exact;

/// Formats a count with its noun. The noun is in the plural unless the count is one.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Formats a number with five significant digits. Very large or small numbers have an exponent.
pub fn readable(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.4e}");
    }
    let whole = if size < 1.0 { 1 } else { size.log10() as usize + 1 };
    format!("{value:.*}", 5usize.saturating_sub(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_numbers_have_five_digits_and_no_endless_zeros() {
        let cases =
            [(0.0, "0.0000"), (12.3456, "12.346"), (0.25, "0.2500"), (-123456.7, "-123457"), (1e200, "1.0000e200")];
        for (value, text) in cases {
            assert_eq!(readable(value), text);
        }
    }

    #[test]
    fn exact_numbers_read_back() {
        for value in [0.0, 1.0, 0.1, -2.5e-7, 1e200, f64::MIN_POSITIVE, 1e15 + 0.5] {
            assert_eq!(exact(value).parse::<f64>().unwrap(), value);
        }
        assert_eq!(exact(1e200), "1e200");
        assert_eq!(exact(f64::NAN), "NaN");
    }
}
