//! Labels placed without overlap. Of a label without room, only the line or ring is drawn.

use super::elements::{PlotFrame, label, number, stroke};
use crate::chart::{Chart, Mark};
use crate::palette::{FAINT, INK, PAPER};
use crate::text_layout;

pub const MARK_LINE: f64 = 15.0;
const MOST_LINES: usize = 3;
const SIZE: f64 = 11.0;
const LONGEST: f64 = 170.0;

/// Marks from left to right, with the labels that have room.
pub struct Marks(Vec<(f64, Option<PlacedLabel>)>);

/// Line, middle and text.
type PlacedLabel = (usize, f64, String);

pub fn marks(chart: &Chart, frame: &PlotFrame) -> Marks {
    let mut ends = [f64::NEG_INFINITY; MOST_LINES];
    let place = |mark: &Mark| Some((frame.left + frame.x.place(mark.x)? * frame.width, mark.label.clone()));
    let mut sorted: Vec<(f64, String)> = chart.marks.iter().filter_map(place).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let lined = |(x, name): (f64, String)| {
        let name = text_layout::fit(name.trim(), SIZE, LONGEST);
        let half = text_layout::width(&name, SIZE) / 2.0;
        let middle = x.max(frame.left + half).min(frame.right() - half);
        let line = ends.iter().position(|&end| middle - half >= end + 6.0).filter(|_| !name.is_empty());
        line.into_iter().for_each(|line| ends[line] = middle + half);
        (x, line.map(|line| (line, middle, name)))
    };
    Marks(sorted.into_iter().map(lined).collect())
}

impl Marks {
    pub fn lines(&self) -> usize {
        self.0.iter().filter_map(|(_, name)| name.as_ref()).map(|(line, ..)| line + 1).max().unwrap_or(0)
    }

    pub fn draw(&self, frame: &PlotFrame) -> String {
        let (mut lines, mut labels) = (String::new(), String::new());
        for (x, name) in &self.0 {
            lines += &format!("M{} {}V{}", number(*x), number(frame.top), number(frame.bottom()));
            if let Some((line, middle, name)) = name {
                let y = frame.top - 4.0 - *line as f64 * MARK_LINE;
                labels += &label(FAINT, (*middle, y), SIZE, "text-anchor=\"middle\"", name);
            }
        }
        if lines.is_empty() { lines } else { stroke(FAINT, " stroke-dasharray=\"3 3\"", &lines) + &labels }
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
        Some((x, y.clamp(frame.top, frame.bottom())))
    };
    let places: Vec<((f64, f64), _)> =
        chart.annotations.iter().filter_map(|place| Some((at_edge(place.x, place.y)?, place))).collect();
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
    if rings.is_empty() { names } else { stroke(INK, "", &rings) + &names }
}

fn free_area(width: f64, (x, y): (f64, f64), taken: &[Area], frame: &PlotFrame) -> Option<Area> {
    let (width, height) = (width + 2.0, 15.0);
    let sides = [(6.0, -7.5), (-6.0 - width, -7.5), (-width / 2.0, -21.0), (-width / 2.0, 6.0)];
    let diagonal =
        [(6.0, -21.0), (-6.0 - width, -21.0), (6.0, 6.0), (-6.0 - width, 6.0), (6.0, -35.0), (-6.0 - width, -35.0)];
    let inside = |area: &Area| {
        area[0] >= frame.left && area[2] <= frame.right() && area[1] >= frame.top && area[3] <= frame.bottom()
    };
    let areas = sides.into_iter().chain(diagonal).map(|(dx, dy)| [x + dx, y + dy, x + dx + width, y + dy + height]);
    areas.into_iter().find(|area| inside(area) && !taken.iter().any(|other| overlap(area, other)))
}
