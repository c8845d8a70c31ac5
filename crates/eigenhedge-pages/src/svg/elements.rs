//! SVG text elements and coordinates.

use crate::axis::Axis;
use crate::escape::markup;
use crate::palette::Colour;

pub const TITLE_SIZE: f64 = 15.0;
pub const TEXT_SIZE: f64 = 12.0;

pub fn label(colour: Colour, (x, y): (f64, f64), size: f64, attributes: &str, text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let (Colour { class, light, .. }, x, y, text) = (colour, number(x), number(y), markup(text));
    format!(
        "<text class=\"{class}-fill\" fill=\"{light}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" {attributes}>{text}</text>"
    )
}

pub fn stroke(colour: Colour, attributes: &str, d: &str) -> String {
    format!("<path class=\"{}-stroke\" stroke=\"{}\" fill=\"none\"{attributes} d=\"{d}\"/>", colour.class, colour.light)
}

pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".into(),
        Some(whole) => whole.into(),
        None => text,
    }
}

pub struct PlotFrame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x: Axis,
    pub y: Axis,
}

impl PlotFrame {
    pub fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.left + self.x.place(x)? * self.width, self.top + (1.0 - self.y.place(y)?) * self.height))
    }

    /// Places points outside the axes too, at most one length of an axis away.
    pub fn place_near(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.place_near(x)?, self.y.place_near(y)?);
        Some((self.left + x * self.width, self.top + (1.0 - y) * self.height))
    }

    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}
