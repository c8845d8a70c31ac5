//! Values of many columns over rows or times, as cells whose shade is the logarithm of the value.

use crate::axis::{Axis, Ends, Extent};
use crate::escape::markup;
use crate::palette::{FAINT, INK, SERIES};
use crate::svg::{self, number};
use crate::text_layout;
use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const TEXT_SIZE: f64 = 12.0;
const MARGIN: f64 = 12.0;
/// Height of a line of cells.
const LINE: f64 = 16.0;
/// Most room for the names of lines.
const NAMES: f64 = 160.0;
/// Shades, besides none at all.
const SHADES: usize = 8;

/// Lines of cells over a common horizontal axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    /// Above the picture.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// True if horizontal places are times, in seconds since 1970.
    pub dated_x: bool,
    /// Places at which cells begin, increasing; a cell ends where the next begins, and the last one at its own place.
    pub places: Vec<f64>,
    /// Name and values of each line, from the top.
    pub lines: Vec<(String, Vec<f64>)>,
    /// Values without a shade, at most, and with the darkest one, at least.
    pub range: (f64, f64),
    /// A sentence below the picture; may be empty.
    pub caption: String,
}

impl HeatMap {
    /// The picture, to stand in a page that has the style sheet and shows the title itself.
    pub(crate) fn inline(&self) -> String {
        let names = self.lines.iter().map(|(name, _)| text_layout::width(name, TEXT_SIZE)).fold(0.0, f64::max);
        let left = MARGIN + names.min(NAMES) + 8.0;
        let (width, height) = (WIDTH - left - 3.0 * MARGIN, LINE * self.lines.len() as f64);
        let mut extent = Extent::empty(false);
        self.places.iter().for_each(|x| extent.include(*x));
        let axis = if self.dated_x { Axis::dated(&extent, 6) } else { Axis::new(&extent, Ends::Data, 8) };
        let place = |x: f64| left + axis.place(x).unwrap_or(0.0) * width;
        let mut body = String::new();
        for (i, (name, _)) in self.lines.iter().enumerate() {
            let name = text_layout::fit(name, TEXT_SIZE, NAMES);
            body += &label(INK.light, "ink", (left - 7.0, MARGIN + LINE * (i as f64 + 0.78)), "end", &name);
        }
        for (tick, name) in axis.ticks() {
            body += &label(FAINT.light, "faint", (place(tick), MARGIN + height + 17.0), "middle", name);
        }
        body += &label(INK.light, "ink", (left + width / 2.0, MARGIN + height + 35.0), "middle", &self.x_label);
        for (shade, cells) in self.cells(place).iter().enumerate().filter(|(_, cells)| !cells.is_empty()) {
            let opacity = (shade + 1) as f64 / SHADES as f64;
            let colour = SERIES[1].light;
            body += &format!("<path class=\"s1-fill\" fill=\"{colour}\" fill-opacity=\"{opacity}\" d=\"{cells}\"/>");
        }
        body += &format!(
            "<rect class=\"faint-stroke\" stroke=\"{}\" fill=\"none\" x=\"{}\" y=\"{MARGIN}\" width=\"{}\" height=\"{height}\"/>",
            FAINT.light,
            number(left),
            number(width)
        );
        let names: Vec<&str> = self.lines.iter().map(|(name, _)| name.as_str()).collect();
        let description = format!("{} lines of {} cells: {}.", self.lines.len(), self.places.len(), names.join(", "));
        svg::document(&self.title, &description, (WIDTH, height + 4.0 * MARGIN + 8.0), &body, false)
    }

    /// Cells of each shade, as paths; neighbours of one shade are one cell.
    fn cells(&self, place: impl Fn(f64) -> f64) -> [String; SHADES] {
        let mut paths = [const { String::new() }; SHADES];
        for (i, (_, values)) in self.lines.iter().enumerate() {
            let top = MARGIN + LINE * i as f64;
            let mut from = 0;
            while from < self.places.len() {
                let shade = self.shade(values.get(from).copied().unwrap_or(f64::NAN));
                let same = |x: &f64| self.shade(*x) == shade;
                let to = from + values[from.min(values.len())..].iter().take_while(|x| same(x)).count().max(1);
                if let Some(path) = shade.and_then(|shade| paths.get_mut(shade)) {
                    let (left, right) = (place(self.places[from]), place(self.places[to.min(self.places.len() - 1)]));
                    let wide = (right - left).max(1.0);
                    // Writing to a string cannot fail.
                    let _ =
                        write!(path, "M{} {}h{}v{LINE}h{}z", number(left), number(top), number(wide), number(-wide));
                }
                from = to;
            }
        }
        paths
    }

    fn shade(&self, value: f64) -> Option<usize> {
        let (low, high) = self.range;
        let depth = SHADES as f64 * (value / low).ln() / (high / low).ln();
        (depth > 0.0).then(|| (depth as usize).min(SHADES - 1))
    }
}

fn label(colour: &str, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) -> String {
    format!(
        "<text class=\"{class}-fill\" fill=\"{colour}\" x=\"{}\" y=\"{}\" font-size=\"{TEXT_SIZE}\" text-anchor=\"{anchor}\">{}</text>",
        number(x),
        number(y),
        markup(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_are_logarithms_and_neighbours_are_one_cell() {
        let map = HeatMap {
            places: vec![0.0, 1.0, 2.0, 3.0],
            lines: vec![("<a>".into(), vec![0.5, 1e9, 1e9, f64::NAN]), ("b".into(), vec![-1.0, 10.0, 2.0])],
            range: (1.0, 100.0),
            ..HeatMap::default()
        };
        assert_eq!([0.5, -1.0, 0.0, 1.0, f64::NAN].map(|x| map.shade(x)), [None; 5]);
        assert_eq!([1.1, 10.0, 99.0, 1e9].map(|x| map.shade(x)), [Some(0), Some(4), Some(7), Some(7)]);
        let cells = map.cells(|x| 10.0 * x);
        assert_eq!(cells[7], "M10 12h20v16h-20z");
        assert_eq!(cells[4], "M10 28h10v16h-10z");
        assert!(map.inline().contains("&lt;a&gt;"));
    }
}
