//! Colors and dash patterns that are distinct with red-green color blindness, on dark screens and on paper.
//!
//! Colors have a contrast of at least 3:1. 64 series have distinct combinations of color and dashes.

use crate::chart::{Kind, Tint};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour {
    /// Prefix of the class names in style sheets, such as `s0` in `s0-stroke`.
    pub class: &'static str,
    pub light: &'static str,
    pub dark: &'static str,
}

const fn colour(class: &'static str, light: &'static str, dark: &'static str) -> Colour {
    Colour { class, light, dark }
}

pub const PAPER: Colour = colour("paper", "#ffffff", "#14171c");
pub const INK: Colour = colour("ink", "#1f2328", "#e4e7eb");
pub const FAINT: Colour = colour("faint", "#57606a", "#a4adb8");
pub const GRID: Colour = colour("grid", "#e3e6ea", "#2c323a");

pub const SERIES: [Colour; 8] = [
    colour("s0", "#0072b2", "#58b4f0"),
    colour("s1", "#d55e00", "#ff9850"),
    colour("s2", "#117733", "#4cc38a"),
    colour("s3", "#aa4499", "#e08bd0"),
    colour("s4", "#332288", "#a79bf5"),
    colour("s5", "#8a7a00", "#d6c94f"),
    colour("s6", "#00808a", "#63d2d8"),
    colour("s7", "#882255", "#f27fa5"),
];

/// Only alarms are red.
pub const ALARM: Colour = colour("alarm", "#cf1020", "#ff6b6b");
pub const DRIFT: Colour = colour("drift", "#b35c00", "#ffb454");

pub const TIMES: [Colour; 5] = [
    colour("t0", "#440154", "#4a8fd0"),
    colour("t1", "#443a83", "#22a7b5"),
    colour("t2", "#31688e", "#4ac16d"),
    colour("t3", "#1f8a86", "#a0da39"),
    colour("t4", "#2b9a5f", "#fde725"),
];

/// Lengths of dashes and gaps in pixels.
pub const DASHES: [&[u8]; 8] =
    [&[], &[8, 3], &[2, 3], &[9, 3, 2, 3], &[14, 4], &[5, 2, 1, 2, 1, 2], &[4, 4], &[14, 3, 4, 3]];
const COMPARED: &[u8] = &[6, 4];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesLook {
    pub colour: Colour,
    pub dash: &'static [u8],
    pub shape: usize,
}

pub fn look(position: usize, tint: Tint, kind: Kind) -> SeriesLook {
    let slot = if let Tint::Slot(slot) = tint { slot } else { position };
    let (colour, dash, shape) = match tint {
        Tint::Alarm => (ALARM, DASHES[0], 0),
        Tint::Drift => (DRIFT, DASHES[0], 1),
        Tint::Ink => (INK, DASHES[0], 0),
        Tint::Grid => (GRID, DASHES[0], 0),
        Tint::Time(step) => (TIMES[step.min(TIMES.len() - 1)], DASHES[0], step.min(TIMES.len() - 1)),
        Tint::Position | Tint::Slot(_) => (SERIES[slot % 8], DASHES[(slot + slot / SERIES.len()) % DASHES.len()], slot),
    };
    SeriesLook { colour, dash: if kind == Kind::Dashed { COMPARED } else { dash }, shape }
}

/// Printed pages stay light.
pub fn dark_rules() -> String {
    let mut rules = String::from("@media screen and (prefers-color-scheme:dark){");
    for colour in [PAPER, INK, FAINT, GRID, ALARM, DRIFT].into_iter().chain(SERIES).chain(TIMES) {
        for part in ["stroke", "fill"] {
            rules += &format!(".eh .{}-{part}{{{part}:{}}}", colour.class, colour.dark);
        }
    }
    rules + "}"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(hex: &str) -> [f64; 3] {
        [1, 3, 5].map(|start| {
            let value = f64::from(u8::from_str_radix(&hex[start..start + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance([red, green, blue]: [f64; 3]) -> f64 {
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Returns the contrast ratio as defined by the Web Content Accessibility Guidelines.
    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(linear(a)), luminance(linear(b)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn everything_stands_out_from_its_background() {
        for colour in SERIES.iter().chain(&TIMES) {
            assert!(contrast(colour.light, PAPER.light) >= 3.0, "{colour:?}");
            assert!(contrast(colour.dark, PAPER.dark) >= 3.0, "{colour:?}");
        }
        for text in [INK, FAINT] {
            assert!(contrast(text.light, PAPER.light) >= 4.5 && contrast(text.dark, PAPER.dark) >= 4.5, "{text:?}");
        }
    }

    /// Simulates how a color looks with deuteranopia (Viénot, Brettel & Mollon 1999).
    fn without_green([red, green, blue]: [f64; 3]) -> [f64; 3] {
        let mixed = 0.29275 * red + 0.70725 * green;
        [mixed, mixed, (-0.02234 * red + 0.02234 * green + blue).clamp(0.0, 1.0)]
    }

    #[test]
    fn neighbours_differ_without_red_and_green() {
        let apart = |a: &str, b: &str| {
            let (a, b) = (without_green(linear(a)), without_green(linear(b)));
            a.iter().zip(b).map(|(a, b)| (a.cbrt() - b.cbrt()).powi(2)).sum::<f64>().sqrt()
        };
        for pair in SERIES.windows(2).chain(TIMES.windows(2)) {
            let (light, dark) = (apart(pair[0].light, pair[1].light), apart(pair[0].dark, pair[1].dark));
            assert!(light >= 0.05 && dark >= 0.05, "{pair:?} {light} {dark}");
        }
    }

    #[test]
    fn sixty_four_series_differ_in_colour_or_dash() {
        let looks: Vec<SeriesLook> = (0..64).map(|i| look(i, Tint::Position, Kind::Line)).collect();
        for (i, a) in looks.iter().enumerate() {
            assert!(looks[..i].iter().all(|b| (a.colour, a.dash) != (b.colour, b.dash)), "{i}");
        }
    }
}
