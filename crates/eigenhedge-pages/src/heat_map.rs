//! Heat maps: values of many columns over rows or times, shaded by the value or its logarithm.

use crate::axis::{Axis, Extent};
use crate::escape::markup;
use crate::number::short;
use crate::palette::{FAINT, INK, SERIES};
use crate::svg::panel::{Panel, across};
use crate::svg::{self, TITLE_SIZE, label, number};
use crate::text_layout;
use serde_json::json;

const WIDE: f64 = 720.0;
const NARROW: f64 = 380.0;
const TEXT_SIZE: f64 = 12.0;
const MARGIN: f64 = 12.0;
const LINE: f64 = 16.0;
const NAMES: f64 = 0.36;
const SHADES: usize = 8;
const KEY: f64 = 12.0;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    pub title: String,
    pub x_label: String,
    pub dated_x: bool,
    /// Increasing start positions of the cells. The last cell is one pixel wide.
    pub places: Vec<f64>,
    pub lines: Vec<(String, Vec<f64>)>,
    /// Ends of the scale of shades. Values up to the low end are blank, on a linear scale the first sixteenth of the
    /// range.
    pub range: (f64, f64),
    /// True if shades are linear in the value, else logarithmic.
    pub linear: bool,
    pub caption: String,
}

impl HeatMap {
    /// The page shows the picture that fits the screen.
    pub(crate) fn html(&self) -> String {
        let picture = |class: &str, page_width: f64| {
            let Panel { body, height, description } = self.panel(page_width, false);
            let picture = svg::document(&self.title, &description, (page_width, height), &body, false);
            let (left, width) = self.plot(page_width);
            format!("<div class=\"{class}\" data-box=\"[{left},{MARGIN},{width},{LINE}]\">{picture}</div>")
        };
        // The script shows the value of the cell under the pointer.
        let rounded = |x: &f64| format!("{x:.3e}").parse::<f64>().ok().filter(|x| x.is_finite());
        let values: Vec<Vec<Option<f64>>> =
            self.lines.iter().map(|(_, values)| values.iter().map(rounded).collect()).collect();
        let names: Vec<&String> = self.lines.iter().map(|(name, _)| name).collect();
        let data = json!({ "names": names, "places": self.places, "values": values, "label": self.x_label, "dated": self.dated_x });
        let (wide, narrow) = (picture("cells", WIDE), picture("cells narrow", NARROW));
        format!(
            "<div class=\"heat\" data-cells=\"{}\">{wide}{narrow}<output></output></div>",
            markup(&data.to_string())
        )
    }

    fn plot(&self, page_width: f64) -> (f64, f64) {
        let left = MARGIN + self.room_for_names(page_width) + 8.0;
        (left, page_width - left - 3.0 * MARGIN)
    }

    fn room_for_names(&self, page_width: f64) -> f64 {
        let names = self.lines.iter().map(|(name, _)| text_layout::width(name, TEXT_SIZE)).fold(0.0, f64::max);
        names.min(NAMES * page_width)
    }

    pub(crate) fn panel(&self, page_width: f64, titled: bool) -> Panel {
        let names = self.room_for_names(page_width);
        let mut body = String::new();
        let mut top = MARGIN;
        if titled {
            let place = (page_width / 2.0, MARGIN + 10.0);
            let title = text_layout::fit(&self.title, TITLE_SIZE, page_width - 2.0 * MARGIN);
            body += &label(INK, place, TITLE_SIZE, "font-weight=\"600\" text-anchor=\"middle\"", &title);
            top += 22.0;
        }
        let ((left, width), height) = (self.plot(page_width), LINE * self.lines.len() as f64);
        let axis = self.axis(width);
        let place = |x: f64| left + axis.place(x).unwrap_or(0.0) * width;
        for (i, (name, _)) in self.lines.iter().enumerate() {
            let name = text_layout::fit_ends(name, TEXT_SIZE, names);
            let y = top + LINE * (i as f64 + 0.78);
            body += &label(INK, (left - 7.0, y), TEXT_SIZE, "text-anchor=\"end\"", &name);
        }
        let bottom = top + height;
        for (tick, name) in axis.ticks() {
            body += &label(FAINT, (place(tick), bottom + 17.0), TEXT_SIZE, "text-anchor=\"middle\"", name);
        }
        body += &label(INK, (left, bottom + 37.0), TEXT_SIZE, "", &self.x_label);
        for (shade, cells) in self.cells(place, top).iter().enumerate().filter(|(_, cells)| !cells.is_empty()) {
            body += &shaded(shade, cells);
        }
        let frame = format!("M{} {}h{}v{height}h-{}z", number(left), number(top), number(width), number(width));
        body += &svg::stroke(FAINT, "", &frame);
        body += &self.key(left + width, bottom + 37.0);
        let names: Vec<&str> = self.lines.iter().map(|(name, _)| name.as_str()).collect();
        let description = format!("{} lines of {} cells: {}.", self.lines.len(), self.places.len(), names.join(", "));
        Panel { body, height: bottom + 3.0 * MARGIN + 8.0, description }
    }

    fn axis(&self, width: f64) -> Axis {
        let mut extent = Extent::empty(false);
        self.places.iter().for_each(|x| extent.include(*x));
        across(&extent, self.dated_x, |_| width)
    }

    fn key(&self, right: f64, y: f64) -> String {
        let (low, high) = (short(self.range.0), short(self.range.1));
        let end = right - text_layout::width(&high, TEXT_SIZE) - 6.0;
        let start = end - KEY * SHADES as f64;
        let mut body = label(FAINT, (start - 6.0, y), TEXT_SIZE, "text-anchor=\"end\"", &low);
        for shade in 0..SHADES {
            let x = number(start + KEY * shade as f64);
            body += &shaded(shade, &format!("M{x} {}h{KEY}v{KEY}h-{KEY}z", number(y - KEY + 2.0)));
        }
        body + &label(FAINT, (right, y), TEXT_SIZE, "text-anchor=\"end\"", &high)
    }

    /// Returns the cells of each shade as SVG paths.
    fn cells(&self, place: impl Fn(f64) -> f64, top: f64) -> [String; SHADES] {
        let mut paths = [const { String::new() }; SHADES];
        for (i, (_, values)) in self.lines.iter().enumerate() {
            let top = top + LINE * i as f64;
            let mut from = 0;
            while from < self.places.len() {
                let shade = self.shade(values.get(from).copied().unwrap_or(f64::NAN));
                let same = |x: &f64| self.shade(*x) == shade;
                let to = from + values[from.min(values.len())..].iter().take_while(|x| same(x)).count().max(1);
                if let Some(path) = shade.and_then(|shade| paths.get_mut(shade)) {
                    let (left, right) = (place(self.places[from]), place(self.places[to.min(self.places.len() - 1)]));
                    let wide = (right - left).max(1.0);
                    *path += &format!("M{} {}h{}v{LINE}h{}z", number(left), number(top), number(wide), number(-wide));
                }
                from = to;
            }
        }
        paths
    }

    fn shade(&self, value: f64) -> Option<usize> {
        let (low, high) = self.range;
        let part = if self.linear { (value - low) / (high - low) } else { (value / low).ln() / (high / low).ln() };
        let depth = SHADES as f64 * part;
        let least = if self.linear { 0.5 } else { 0.0 };
        (depth > least).then(|| (depth as usize).min(SHADES - 1))
    }
}

fn shaded(shade: usize, cells: &str) -> String {
    let opacity = (shade + 1) as f64 / SHADES as f64;
    format!("<path class=\"s1-fill\" fill=\"{}\" fill-opacity=\"{opacity}\" d=\"{cells}\"/>", SERIES[1].light)
}

pub(crate) fn leading(mut values: Vec<(usize, f64)>, most: usize) -> Vec<usize> {
    values.sort_by(|a, b| b.1.total_cmp(&a.1));
    values.truncate(most);
    values.sort_unstable_by_key(|(i, _)| *i);
    values.into_iter().map(|(i, _)| i).collect()
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
        let cells = map.cells(|x| 10.0 * x, 12.0);
        assert_eq!(cells[7], "M10 12h20v16h-20z");
        assert_eq!(cells[4], "M10 28h10v16h-10z");
        let linear = HeatMap { linear: true, range: (0.0, 1.0), ..map.clone() };
        assert_eq!([0.0, 0.05, 0.07, 0.5, 1.0].map(|x| linear.shade(x)), [None, None, Some(0), Some(4), Some(7)]);
        assert!(map.html().contains("&lt;a&gt;"));
    }
}
