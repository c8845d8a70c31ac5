//! Drawing of areas, error bars, lines and points, in this order, and of the legend.

use super::elements::{PlotFrame, TEXT_SIZE, label, number};
use super::simplify::simplify;
use crate::chart::{Chart, Kind, Series};
use crate::palette::{Colour, INK, SeriesLook, look};
use crate::text_layout;
use std::collections::HashSet;

const MANY: usize = 300;

pub fn draw(chart: &Chart, frame: &PlotFrame) -> String {
    let looks = chart.series.iter().enumerate().map(|(i, series)| (series, look(i, series.tint, series.kind)));
    let all: Vec<(&Series, SeriesLook)> = looks.collect();
    let mut body = String::new();
    let of = |wanted: &'static [Kind]| all.iter().filter(move |(series, _)| wanted.contains(&series.kind));
    of(&[Kind::Band]).for_each(|(series, look)| body += &band(series, look, frame));
    of(&[Kind::Line, Kind::Dashed, Kind::Points]).for_each(|(series, look)| body += &error_bars(series, look, frame));
    // The first line is drawn last, so that it is on top.
    of(&[Kind::Line, Kind::Dashed]).rev().for_each(|(series, look)| body += &line(series, look, frame));
    of(&[Kind::Points]).for_each(|(series, look)| body += &points(series, look, frame));
    body
}

fn pieces<T: Copy>(placed: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let placed: Vec<Option<T>> = placed.collect();
    let pieces = placed.split(Option::is_none).filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.iter().copied().flatten().collect()).collect()
}

fn path(places: &[(f64, f64)]) -> String {
    let commands = std::iter::once('M').chain(std::iter::repeat('L'));
    places.iter().zip(commands).map(|((x, y), command)| format!("{command}{} {}", number(*x), number(*y))).collect()
}

pub fn stroke(look: &SeriesLook, width: f64) -> String {
    let dash: Vec<String> = look.dash.iter().map(u8::to_string).collect();
    let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", dash.join(" ")) };
    let Colour { class, light, .. } = look.colour;
    format!(
        "class=\"{class}-stroke\" stroke=\"{light}\" fill=\"none\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}"
    )
}

fn line(series: &Series, look: &SeriesLook, frame: &PlotFrame) -> String {
    let placed = series.points.iter().map(|point| frame.place_near(point.x, point.y));
    let (mut lines, mut dots) = (String::new(), String::new());
    for piece in pieces(placed) {
        match piece.as_slice() {
            &[(x, y)] => dots += &shape(0, (x, y), 2.0),
            piece => lines += &path(&simplify(piece)),
        }
    }
    let lines = if lines.is_empty() { lines } else { format!("<path {} d=\"{lines}\"/>", stroke(look, 2.0)) };
    lines + &filled(look, 1.0, &dots)
}

fn band(series: &Series, look: &SeriesLook, frame: &PlotFrame) -> String {
    let placed = series.points.iter().map(|point| {
        let ((x, low), (_, high)) = (frame.place_near(point.x, point.low)?, frame.place_near(point.x, point.high)?);
        Some((x, low, high))
    });
    let mut area = String::new();
    for piece in pieces(placed) {
        let lows: Vec<(f64, f64)> = piece.iter().map(|&(x, low, _)| (x, low)).collect();
        let highs: Vec<(f64, f64)> = piece.iter().map(|&(x, _, high)| (x, high)).collect();
        let mut around = simplify(&lows);
        around.extend(simplify(&highs).into_iter().rev());
        area += &(path(&around) + "Z");
    }
    filled(look, 0.25, &area)
}

fn error_bars(series: &Series, look: &SeriesLook, frame: &PlotFrame) -> String {
    let mut bars = String::new();
    for point in series.points.iter().filter(|point| point.has_spread()) {
        if let (Some((x, low)), Some((_, high))) = (frame.place(point.x, point.low), frame.place(point.x, point.high)) {
            let (left, low, high) = (number(x - 3.0), number(low), number(high));
            bars += &format!("M{left} {low}h6M{left} {high}h6M{} {low}V{high}", number(x));
        }
    }
    let solid = SeriesLook { dash: &[], ..*look };
    if bars.is_empty() { bars } else { format!("<path {} d=\"{bars}\"/>", stroke(&solid, 1.2)) }
}

fn points(series: &Series, look: &SeriesLook, frame: &PlotFrame) -> String {
    let radius = if series.points.len() > MANY { 2.0 } else { 3.5 };
    let mut taken = HashSet::new();
    let mut shapes = String::new();
    for (x, y) in series.points.iter().filter_map(|point| frame.place(point.x, point.y)) {
        if taken.insert(((x * 2.0).round() as i64, (y * 2.0).round() as i64)) {
            shapes += &shape(look.shape, (x, y), radius);
        }
    }
    filled(look, 0.8, &shapes)
}

pub fn edges(chart: &Chart, frame: &PlotFrame) -> String {
    let points = chart.series.iter().enumerate().filter(|(_, series)| series.kind == Kind::Points);
    let mut body = String::new();
    for (i, series) in points {
        let outside = series.points.iter().filter(|point| frame.place(point.x, point.y).is_none());
        let mut beyond: Vec<(i64, i64)> = outside
            .filter_map(|point| frame.place_near(point.x, point.y))
            .map(|(x, y)| (x.clamp(frame.left, frame.right()), y.clamp(frame.top, frame.bottom())))
            .map(|(x, y)| (x.round() as i64, y.round() as i64))
            .collect();
        beyond.sort_unstable();
        beyond.dedup();
        let triangle = |(x, y): &(i64, i64)| {
            let down = if *y as f64 > frame.top + frame.height / 2.0 { -7 } else { 7 };
            format!("M{x} {y}l4 {down}h-8z")
        };
        let shapes: String = beyond.iter().map(triangle).collect();
        let shapes = filled(&look(i, series.tint, series.kind), 1.0, &shapes);
        body += &shapes.replacen("<path", "<path data-beyond=\"1\"", 1);
    }
    body
}

pub fn filled(look: &SeriesLook, opacity: f64, d: &str) -> String {
    if d.is_empty() {
        return String::new();
    }
    let (class, colour) = (look.colour.class, look.colour.light);
    format!("<path class=\"{class}-fill\" fill=\"{colour}\" fill-opacity=\"{opacity}\" d=\"{d}\"/>")
}

pub fn shape(index: usize, (x, y): (f64, f64), r: f64) -> String {
    let n = number;
    match index % 5 {
        0 => format!("M{} {}a{r} {r} 0 1 0 {} 0a{r} {r} 0 1 0 {} 0", n(x - r), n(y), 2.0 * r, -2.0 * r),
        1 => format!("M{} {}h{}v{}h{}z", n(x - 0.9 * r), n(y - 0.9 * r), n(1.8 * r), n(1.8 * r), n(-1.8 * r)),
        2 => format!("M{} {}l{} {}h{}z", n(x), n(y - 1.2 * r), n(1.2 * r), n(2.1 * r), n(-2.4 * r)),
        3 => format!("M{} {}l{a} {a}l{b} {a}l{b} {b}z", n(x), n(y - 1.3 * r), a = n(1.3 * r), b = n(-1.3 * r)),
        _ => {
            let (a, b) = (n(0.7 * r), n(-0.7 * r));
            format!("M{} {}h{a}v{a}h{a}v{a}h{b}v{a}h{b}v{b}h{b}v{b}h{a}z", n(x - 0.35 * r), n(y - 1.05 * r))
        }
    }
}

const LINE: f64 = 19.0;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 18.0;
const LONGEST: f64 = 230.0;

/// A single series has no legend.
pub fn legend(chart: &Chart, (left, top): (f64, f64), room: f64) -> (String, f64) {
    let is_named = |(_, series): &(usize, &Series)| !series.name.trim().is_empty() && chart.shows(series);
    let entries: Vec<(usize, &Series)> = chart.series.iter().enumerate().filter(is_named).collect();
    if entries.len() < 2 {
        return (String::new(), 0.0);
    }
    let (mut body, mut x, mut lines) = (String::new(), 0.0, 1.0);
    for (i, series) in entries {
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
