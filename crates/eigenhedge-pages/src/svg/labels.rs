//! Labels placed without overlap. Of a label without room, only the line or ring is drawn.

use super::elements::{PlotFrame, label, number, stroke};
use crate::chart::{Chart, Mark};
use crate::palette::{FAINT, INK, PAPER};
use crate::text_layout;

pub const MARK_LINE: f64 = 15.0;
const MOST_LINES: usize = 3;
const SIZE: f64 = 11.0;
const LONGEST: f64 = 170.0;

pub struct Marks<'a> {
    pub lines: usize,
    placed: Vec<(&'a Mark, Option<(usize, String)>)>,
}

pub fn marks<'a>(chart: &'a Chart, frame: &PlotFrame) -> Marks<'a> {
    let mut ends = [f64::NEG_INFINITY; MOST_LINES];
    let mut placed = Vec::new();
    let mut sorted: Vec<&Mark> = chart.marks.iter().filter(|mark| frame.x.place(mark.x).is_some()).collect();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    for mark in sorted {
        let name = text_layout::fit(mark.label.trim(), SIZE, LONGEST);
        let half = text_layout::width(&name, SIZE) / 2.0;
        let middle = middle(mark, half, frame);
        let line = ends.iter().position(|&end| middle - half >= end + 6.0).filter(|_| !name.is_empty());
        if let Some(line) = line {
            ends[line] = middle + half;
        }
        placed.push((mark, line.map(|line| (line, name))));
    }
    let lines = placed.iter().filter_map(|(_, label)| label.as_ref().map(|(line, _)| line + 1)).max().unwrap_or(0);
    Marks { lines, placed }
}

fn middle(mark: &Mark, half: f64, frame: &PlotFrame) -> f64 {
    let x = frame.left + frame.x.place(mark.x).unwrap_or(0.0) * frame.width;
    x.max(frame.left + half).min(frame.left + frame.width - half)
}

impl Marks<'_> {
    pub fn draw(&self, frame: &PlotFrame) -> String {
        let mut lines = String::new();
        let mut labels = String::new();
        for (mark, name) in &self.placed {
            let x = frame.left + frame.x.place(mark.x).unwrap_or(0.0) * frame.width;
            lines += &format!("M{} {}V{}", number(x), number(frame.top), number(frame.top + frame.height));
            if let Some((line, name)) = name {
                let middle = middle(mark, text_layout::width(name, SIZE) / 2.0, frame);
                let y = frame.top - 4.0 - *line as f64 * MARK_LINE;
                labels += &label(FAINT, (middle, y), SIZE, "text-anchor=\"middle\"", name);
            }
        }
        if lines.is_empty() {
            return lines;
        }
        stroke(FAINT, " stroke-dasharray=\"3 3\"", &lines) + &labels
    }
}

type Area = [f64; 4];

fn overlap(a: &Area, b: &Area) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

pub fn annotations(chart: &Chart, frame: &PlotFrame) -> String {
    let mut rings = String::new();
    let mut names = String::new();
    let at_edge = |x: f64, y: f64| {
        frame.x.place(x)?;
        let (x, y) = frame.place_near(x, y)?;
        Some((x, y.clamp(frame.top, frame.top + frame.height)))
    };
    let places = chart.annotations.iter().filter_map(|place| Some((at_edge(place.x, place.y)?, place)));
    let places: Vec<((f64, f64), _)> = places.collect();
    let mut taken: Vec<Area> = places.iter().map(|&((x, y), _)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
    for &((x, y), place) in &places {
        if frame.place(place.x, place.y).is_some() {
            rings += &format!("M{} {}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", number(x - 4.0), number(y));
        }
        let name = text_layout::fit(place.label.trim(), SIZE, LONGEST);
        if let Some(area) = free_area(text_layout::width(&name, SIZE), (x, y), &taken, frame) {
            let rim = format!("paint-order=\"stroke\" stroke=\"{}\" stroke-width=\"3\"", PAPER.light);
            let text = label(INK, (area[0] + 1.0, area[3] - 4.0), SIZE, &rim, &name);
            names += &text.replacen("class=\"ink-fill\"", "class=\"ink-fill paper-stroke\"", 1);
            taken.push(area);
        }
    }
    if rings.is_empty() {
        return names;
    }
    stroke(INK, "", &rings) + &names
}

fn free_area(width: f64, (x, y): (f64, f64), taken: &[Area], frame: &PlotFrame) -> Option<Area> {
    let (width, height) = (width + 2.0, 15.0);
    let sides = [(6.0, -7.5), (-6.0 - width, -7.5), (-width / 2.0, -21.0), (-width / 2.0, 6.0)];
    let diagonal =
        [(6.0, -21.0), (-6.0 - width, -21.0), (6.0, 6.0), (-6.0 - width, 6.0), (6.0, -35.0), (-6.0 - width, -35.0)];
    let inside = |area: &Area| {
        area[0] >= frame.left
            && area[2] <= frame.left + frame.width
            && area[1] >= frame.top
            && area[3] <= frame.top + frame.height
    };
    let areas = sides.into_iter().chain(diagonal).map(|(dx, dy)| [x + dx, y + dy, x + dx + width, y + dy + height]);
    areas.into_iter().find(|area| inside(area) && !taken.iter().any(|other| overlap(area, other)))
}
