//! Axes. Ticks are multiples of 1, 2 or 5 times a power of ten. On a logarithmic axis, they are powers of ten, with 2
//! and 5 times each over at most three decades; over less than a factor of two, they are evenly spaced.

use crate::calendar;
use crate::number;

/// Largest absolute value that can be drawn. Differences of larger values could overflow.
pub const LARGEST: f64 = 1e300;
/// Smallest positive value that can be drawn on a logarithmic axis.
pub const SMALLEST: f64 = 1e-300;

const MARGIN: f64 = 0.015;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    log: bool,
    low: f64,
    high: f64,
}

impl Extent {
    pub fn empty(log: bool) -> Self {
        Self { log, low: f64::INFINITY, high: f64::NEG_INFINITY }
    }

    pub fn admits(&self, value: f64) -> bool {
        value.abs() <= LARGEST && (!self.log || value >= SMALLEST)
    }

    pub fn include(&mut self, value: f64) {
        if self.admits(value) {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
        }
    }

    /// Returns an extent with this range. An end that cannot be drawn keeps its previous value.
    pub fn only(self, low: f64, high: f64) -> Self {
        let or = |value: f64, end: f64| if self.admits(value) { value } else { end };
        Self { low: or(low, self.low), high: or(high, self.high), ..self }
    }

    /// Adds a small margin at both ends, so that points at the ends are fully visible.
    pub fn with_margin(mut self) -> Self {
        if let Some((low, high)) = self.range() {
            let (margin, factor) = ((high - low) * MARGIN, (high / low).powf(MARGIN));
            let ends = if self.log { [low / factor, high * factor] } else { [low - margin, high + margin] };
            ends.into_iter().for_each(|end| self.include(end));
        }
        self
    }

    pub fn range(&self) -> Option<(f64, f64)> {
        (self.low <= self.high).then_some((self.low, self.high))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Data,
    Ticks,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    log: bool,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    labels: Vec<String>,
}

impl Axis {
    pub fn new(extent: &Extent, ends: Ends, wanted: usize) -> Self {
        let (low, high) = widened(extent);
        let wanted = wanted.max(2);
        let even =
            Some(even_ticks(low, high, wanted)).filter(|even| !extent.log || (high / low < 2.0 && even[0] > 0.0));
        let spaced = even.is_some();
        let mut ticks = even.unwrap_or_else(|| decade_ticks(low, high, wanted));
        let (mut low, mut high) = (low, high);
        if ends == Ends::Ticks {
            (low, high) = (low.min(ticks[0]), high.max(ticks[ticks.len() - 1]));
        }
        ticks.retain(|tick| (low..=high).contains(tick));
        let labels =
            if spaced { number::ticks(&ticks) } else { ticks.iter().map(|&tick| number::short(tick)).collect() };
        Self { log: extent.log, low, high, ticks, labels }
    }

    pub fn dated(extent: &Extent, wanted: usize) -> Self {
        let (low, high) = widened(extent);
        let (ticks, labels) = calendar::ticks(low, high, wanted.max(2));
        Self { log: false, low, high, ticks, labels }
    }

    pub fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks.iter().copied().zip(self.labels.iter().map(String::as_str))
    }

    pub fn place(&self, value: f64) -> Option<f64> {
        (self.low..=self.high).contains(&value).then(|| self.part(value).clamp(0.0, 1.0))
    }

    /// Like [`Self::place`], but for any value that can be drawn. Positions outside -1 to 2 become -1 or 2.
    pub fn place_near(&self, value: f64) -> Option<f64> {
        Extent::empty(self.log).admits(value).then(|| self.part(value).clamp(-1.0, 2.0))
    }

    fn part(&self, value: f64) -> f64 {
        if self.log {
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

fn widened(extent: &Extent) -> (f64, f64) {
    match extent.range() {
        None if extent.log => (1.0, 10.0),
        None => (0.0, 1.0),
        Some((low, high)) if extent.log && high > low * (1.0 + 1e-9) => (low, high),
        Some((low, high)) if extent.log => (low / 2.0, high * 2.0),
        Some((low, high)) => {
            let size = low.abs().max(high.abs());
            let margin = if size >= SMALLEST { size * 0.1 } else { 1.0 };
            let is_wide = high - low > 1e-9 * size && high - low >= SMALLEST;
            if is_wide { (low, high) } else { (low - margin, high + margin) }
        }
    }
}

/// Returns multiples of a round step, from at or below `low` to at or above `high`.
fn even_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let (mantissa, power) = round_step((high - low) / (wanted - 1) as f64);
    let unit = power_of_ten(power);
    // For a negative power, divide: 3 / 10 is 0.3, but 3 * 0.1 is not.
    let tick = |count: f64| {
        if power < 0 && power > -300 { count * mantissa / power_of_ten(-power) } else { count * mantissa * unit }
    };
    let step = mantissa * unit;
    let first = (low / step).floor();
    let last = (high / step).ceil();
    let slack = 1e-9;
    let first = if (low / step - first - 1.0).abs() < slack { first + 1.0 } else { first };
    let last = if (high / step - last + 1.0).abs() < slack { last - 1.0 } else { last };
    let count = (last - first).clamp(1.0, 4.0 * wanted as f64) as usize;
    let mut ticks: Vec<f64> = (0..=count).map(|i| tick(first + i as f64)).collect();
    // Rounding must not leave an end of the range outside the ticks.
    let end = ticks.len() - 1;
    ticks[0] = if ticks[0] > low { low } else { ticks[0] };
    ticks[end] = if ticks[end] < high { high } else { ticks[end] };
    ticks.iter().map(|&tick| if tick == 0.0 { 0.0 } else { tick }).collect()
}

fn power_of_ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

/// Rounds a step up to 1, 2 or 5 times a power of ten. Returns the factor and the exponent.
fn round_step(step: f64) -> (f64, i32) {
    let power = step.log10().floor() as i32;
    let mantissa = step / 10f64.powi(power);
    match mantissa {
        m if m <= 1.0 + 1e-9 => (1.0, power),
        m if m <= 2.0 + 1e-9 => (2.0, power),
        m if m <= 5.0 + 1e-9 => (5.0, power),
        _ => (1.0, power + 1),
    }
}

/// Returns powers of ten that enclose the range, about `wanted` or fewer, with 2 and 5 times each if there is room.
fn decade_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let first = low.log10().floor() as i32;
    let last = high.log10().ceil() as i32;
    let decades = (last - first).max(1) as usize;
    if decades <= 3 && wanted >= 4 {
        let all = (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|m| m * power_of_ten(power)));
        let all: Vec<f64> = all.collect();
        let from = all.iter().rposition(|&tick| tick <= low).unwrap_or(0);
        let to = all.iter().position(|&tick| tick >= high).unwrap_or(all.len() - 1);
        if to - from <= 2 * wanted {
            return all[from..=to].to_vec();
        }
    }
    let stride = decades.div_ceil(wanted.max(1)).max(1) as i32;
    let start = first.div_euclid(stride) * stride;
    let count = (last - start + stride - 1) / stride;
    (0..=count).map(|i| power_of_ten(start + i * stride)).filter(|tick| tick.is_normal()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent(log: bool, values: &[f64]) -> Extent {
        let mut extent = Extent::empty(log);
        values.iter().for_each(|&value| extent.include(value));
        extent
    }

    fn check(log: bool, values: &[f64], wanted: usize) {
        for ends in [Ends::Data, Ends::Ticks] {
            let extent = extent(log, values);
            let axis = Axis::new(&extent, ends, wanted);
            let (low, high) = (axis.low, axis.high);
            assert!(low < high, "{values:?}: {low} {high}");
            for &value in values.iter().filter(|&&value| extent.admits(value)) {
                let place = axis.place(value).unwrap_or(f64::NAN);
                assert!((0.0..=1.0).contains(&place), "{value} of {values:?} lies at {place}");
            }
            let ticks: Vec<f64> = axis.ticks().map(|(tick, _)| tick).collect();
            assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}: {ticks:?}");
            assert!(ticks.len() <= 4 * wanted + 1, "{values:?}: {ticks:?}");
            // Near the limits of `f64`, ticks that enclose the range may not be representable.
            let ordinary = if log { low >= 1e-90 && high <= 1e90 } else { high <= 1e290 && low >= -1e290 };
            if ends == Ends::Ticks && ordinary {
                assert_eq!((ticks[0], ticks[ticks.len() - 1]), (low, high), "ticks must cover {values:?}");
            }
        }
    }

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        let axis = Axis::new(&extent(false, &[0.07, 0.93]), Ends::Ticks, 6);
        let labels: Vec<&str> = axis.ticks().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let axis = Axis::new(&extent(true, &[0.002, 30.0]), Ends::Ticks, 6);
        assert_eq!(axis.ticks().map(|(tick, _)| tick).collect::<Vec<_>>(), [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]);
    }

    #[test]
    fn labels_of_neighbouring_ticks_differ() {
        for values in [[1e6, 1e6 + 1.0], [0.12345, 0.12346], [1.0, 1e8], [1e-9, 2e-9], [-3e15, 3e15]] {
            let axis = Axis::new(&extent(false, &values), Ends::Ticks, 6);
            let labels: Vec<&str> = axis.ticks().map(|(_, label)| label).collect();
            assert!(labels.windows(2).all(|pair| pair[0] != pair[1]), "{values:?}: {labels:?}");
        }
    }

    #[test]
    fn odd_ranges_have_axes() {
        for log in [false, true] {
            for values in [
                &[][..],
                &[0.0],
                &[5.0],
                &[-1e300, 1e300],
                &[1e300],
                &[5e-324, 1e-310],
                &[f64::NAN, f64::INFINITY],
                &[1.0, 1.0 + f64::EPSILON],
                &[1e-300, 1e300],
                &[1e300, 1e300 * (1.0 - 1e-15)],
            ] {
                check(log, values, 6);
            }
        }
    }

    proptest! {
        #[test]
        fn every_value_lies_on_its_axis(log: bool, values in prop::collection::vec(prop::num::f64::ANY, 0..6), wanted in 2usize..12) {
            check(log, &values, wanted);
        }

        #[test]
        fn ordinary_values_lie_on_their_axis(log: bool, values in prop::collection::vec(-1e3f64..1e6, 0..6), wanted in 2usize..12) {
            check(log, &values, wanted);
        }
    }
}
