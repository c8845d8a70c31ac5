//! SVG text elements and coordinates.

use crate::escape::markup;
use crate::palette::Colour;

pub const TITLE_SIZE: f64 = 15.0;
pub const TEXT_SIZE: f64 = 12.0;

pub fn label(colour: Colour, (x, y): (f64, f64), size: f64, attributes: &str, text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    format!(
        "<text class=\"{}-fill\" fill=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{size}\" {attributes}>{}</text>",
        colour.class,
        colour.light,
        number(x),
        number(y),
        markup(text)
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
