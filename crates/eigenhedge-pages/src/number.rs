//! Numbers as text. Machine-readable output has full precision.

pub use eigenhedge::options::exact;

pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Formats five digits, or all before the point. From 1e7 on, and below 1e-4, with an exponent.
pub fn readable(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.4e}");
    }
    let whole = if size < 1.0 { 1 } else { size.log10() as usize + 1 };
    format!("{value:.*}", 5usize.saturating_sub(whole))
}

/// Formats at most `digits` significant digits, but all before the point. Below 1e-4 and from 1e15, with an exponent.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() || value == 0.0 {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    let digits = digits.clamp(1, 17);
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    if (-4..=14).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        trimmed(&format!("{value:.decimals$}"))
    } else {
        exponential(&scientific)
    }
}

/// Formats a number as a short label, such as `0.001`, `200`, `50k`, `3M` or `1e-7`.
pub fn short(value: f64) -> String {
    let size = value.abs();
    for (unit, suffix) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if size >= unit && (1e4..1e13).contains(&size) {
            return significant(value / unit, 4) + suffix;
        }
    }
    if size != 0.0 && !(1e-4..1e13).contains(&size) {
        return exponential(&format!("{value:.3e}"));
    }
    significant(value, 4)
}

/// Formats evenly spaced ticks with a common unit and enough decimals to distinguish them.
pub fn ticks(values: &[f64]) -> Vec<String> {
    let size = values.iter().fold(0.0f64, |size, value| size.max(value.abs()));
    let step = values.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let step = if step.is_finite() { step } else { size };
    if size >= 1e13 || (step < 1e-5 && step > 0.0) {
        let digits = (size / step).log10().ceil().clamp(0.0, 16.0) as usize;
        return values.iter().map(|value| exponential(&format!("{value:.digits$e}"))).collect();
    }
    let (unit, suffix) = match size {
        s if s >= 1e9 && step >= 1e6 => (1e9, "G"),
        s if s >= 1e6 && step >= 1e3 => (1e6, "M"),
        s if s >= 1e4 && step >= 1e1 => (1e3, "k"),
        _ => (1.0, ""),
    };
    // At a clipped end of the axis, the step is not round.
    let decimals = (0..=8).find(|&decimals| {
        let scaled = step / unit * 10f64.powi(decimals);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0) && scaled.round() >= 1.0
    });
    let decimals = decimals.unwrap_or(8) as usize;
    let label = |value: f64| {
        if value == 0.0 && !suffix.is_empty() { "0".into() } else { format!("{:.decimals$}{suffix}", value / unit) }
    };
    values.iter().map(|&value| label(value)).collect()
}

/// Groups three digits by narrow no-break spaces.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn trimmed(decimal: &str) -> String {
    if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.').into() } else { decimal.into() }
}

fn exponential(scientific: &str) -> String {
    match scientific.split_once('e') {
        Some((mantissa, power)) => format!("{}e{power}", trimmed(mantissa)),
        None => scientific.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (123456.0, "123.5k"),
            (2e6, "2M"),
            (1e-7, "1e-7"),
            (-0.05, "-0.05"),
            (1e20, "1e20"),
        ];
        cases.iter().for_each(|&(value, text)| assert_eq!(short(value), text));
        assert_eq!(ticks(&[0.0, 50_000.0, 100_000.0]), ["0", "50k", "100k"]);
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped(12), "12");
    }

    proptest! {
        #[test]
        fn significant_digits_read_back_close(value in prop::num::f64::NORMAL, digits in 3usize..17) {
            let read: f64 = significant(value, digits).parse().unwrap();
            prop_assert!((read - value).abs() <= value.abs() * 10f64.powi(1 - digits as i32), "{value} became {read}");
        }
    }
}
