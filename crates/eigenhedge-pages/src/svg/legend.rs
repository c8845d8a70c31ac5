//! Legend below the picture, in as many lines as necessary.

use super::elements::{TEXT_SIZE, label, number};
use super::series::{filled, shape, stroke};
use crate::chart::{Chart, Kind, Series};
use crate::palette::{INK, SeriesLook, look};
use crate::text_layout;

const LINE: f64 = 19.0;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 18.0;
/// Maximum width of a name in pixels. Two names fit side by side.
const LONGEST: f64 = 230.0;

/// Returns the SVG elements of the legend and its height. A single series gets no entry, because the title names it.
pub fn draw(chart: &Chart, (left, top): (f64, f64), room: f64) -> (String, f64) {
    let named = |series: &&(usize, &Series)| !series.1.name.trim().is_empty();
    let entries = chart.series.iter().enumerate().filter(|(_, series)| chart.shows(series));
    let entries: Vec<(usize, &Series)> = entries.collect();
    if entries.len() < 2 {
        return (String::new(), 0.0);
    }
    let (mut body, mut x, mut lines) = (String::new(), 0.0, 1.0);
    for &(i, series) in entries.iter().filter(named) {
        let name = text_layout::fit(&series.name, TEXT_SIZE, LONGEST.min(room - SAMPLE));
        let width = SAMPLE + 6.0 + text_layout::width(&name, TEXT_SIZE) + GAP;
        if x > 0.0 && x + width - GAP > room {
            (x, lines) = (0.0, lines + 1.0);
        }
        let middle = top + LINE * (lines - 0.5);
        body += &sample(series, &look(i, series.tint, series.kind), (left + x, middle));
        body += &label(INK, (left + x + SAMPLE + 6.0, middle + 4.0), TEXT_SIZE, "", &name);
        x += width;
    }
    (body, lines * LINE)
}

fn sample(series: &Series, look: &SeriesLook, (x, y): (f64, f64)) -> String {
    match series.kind {
        Kind::Line | Kind::Dashed => {
            format!("<path {} d=\"M{} {}h{SAMPLE}\"/>", stroke(look, 2.0), number(x), number(y))
        }
        Kind::Points => filled(look, 0.8, &shape(look.shape, (x + SAMPLE - 8.0, y), 4.0)),
        Kind::Band => filled(look, 0.25, &format!("M{} {}h{SAMPLE}v10h-{SAMPLE}z", number(x), number(y - 5.0))),
    }
}
