//! Small multiples: one plot per curve on common axes, with the other curves drawn faintly.

use crate::chart::Curve;
use crate::number::short;
use crate::palette::{Colour, FAINT, GRID, INK, SERIES};
use crate::svg::{self, label, number, stroke};
use crate::text_layout;

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 176.0;
/// Edges of the plotting area in pixels: left, top, right, bottom.
const AREA: [f64; 4] = [6.0, 54.0, 234.0, 154.0];
const NAME_SIZE: f64 = 14.0;
const NOTE_SIZE: f64 = 12.0;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Multiples {
    pub title: String,
    pub caption: String,
    pub curves: Vec<Curve>,
    pub notes: Vec<String>,
    pub reference: Option<Curve>,
    /// Upper end of the vertical axis, at which curves are clipped.
    pub top: f64,
    pub dated: bool,
}

impl Multiples {
    pub(crate) fn html(&self) -> String {
        let pictures: String = (0..self.curves.len()).map(|i| self.picture(i)).collect();
        format!("<div class=\"multiples\">{pictures}</div>")
    }

    fn picture(&self, index: usize) -> String {
        let [left, top, right, bottom] = AREA;
        let curve = &self.curves[index];
        let note = self.notes.get(index).map_or("", String::as_str);
        let rows = self.curves.iter().flat_map(|curve| &curve.rows);
        let (first, last) = rows.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        let place = |x: f64, y: f64| {
            let across = if last > first { (x - first) / (last - first) } else { 0.5 };
            let up = if self.top > 0.0 { (y / self.top).clamp(-0.5, 1.5) } else { 0.0 };
            (left + across * (right - left), bottom - up * (bottom - top))
        };
        let line = |curve: &Curve| {
            let places =
                curve.rows.iter().zip(&curve.values).filter(|(_, y)| y.is_finite()).map(|(x, y)| place(*x, *y));
            let mut path = String::new();
            for (i, (x, y)) in svg::simplified(&places.collect::<Vec<_>>()).into_iter().enumerate() {
                path += &format!("{}{} {}", if i == 0 { 'M' } else { 'L' }, number(x), number(y));
            }
            path
        };
        let others = self.curves.iter().enumerate().filter(|(i, _)| *i != index);
        let mut inner = line_of(GRID, 1.5, "", &others.map(|(_, other)| line(other)).collect::<String>());
        inner += &line_of(SERIES[0], 2.5, "", &line(curve));
        let reference = self.reference.iter().map(line).collect::<String>();
        inner += &line_of(INK, 1.2, " stroke-dasharray=\"4 3\"", &reference);
        let (width, height) = (right - left, bottom - top);
        let mut body = format!(
            "<svg x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" viewBox=\"{left} {top} {width} {height}\" overflow=\"hidden\">{inner}</svg>"
        );
        body += &line_of(FAINT, 1.0, "", &format!("M{left} {top}V{bottom}H{right}"));
        let room = WIDTH - 2.0 * left;
        body += &label(
            INK,
            (left, 16.0),
            NAME_SIZE,
            "font-weight=\"600\"",
            &text_layout::fit(&curve.name, NAME_SIZE, room),
        );
        body += &label(FAINT, (left, 33.0), NOTE_SIZE, "", &text_layout::fit(note, NOTE_SIZE, room));
        body += &label(FAINT, (left, top - 4.0), NOTE_SIZE - 1.0, "", &short(self.top));
        let date = |x: f64| crate::calendar::moment(x).chars().take(10).collect();
        let spoken = |x: f64| if self.dated { date(x) } else { short(x) };
        body += &label(FAINT, (left, HEIGHT - 6.0), NOTE_SIZE, "", &spoken(first));
        body += &label(FAINT, (right, HEIGHT - 6.0), NOTE_SIZE, "text-anchor=\"end\"", &spoken(last));
        svg::document(&curve.name, &format!("{}: {note}", curve.name), (WIDTH, HEIGHT), &body, false)
    }
}

fn line_of(colour: Colour, width: f64, more: &str, d: &str) -> String {
    let attributes = format!(" stroke-width=\"{width}\" stroke-linejoin=\"round\"{more}");
    if d.is_empty() { String::new() } else { stroke(colour, &attributes, d) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::Document;

    #[test]
    fn every_curve_has_a_picture_with_the_others_behind_it() {
        let curve = |name: &str, end: f64| Curve { name: name.into(), rows: vec![0.0, 9.0], values: vec![0.0, end] };
        let multiples = Multiples {
            curves: vec![curve("<good>", 2.0), curve("bad", 1e9), curve("fair", 3.0)],
            notes: vec!["lost 2".into()],
            reference: Some(curve("best", 2.5)),
            top: 4.0,
            ..Multiples::default()
        };
        let html = multiples.html();
        let document = Document::parse(&html).unwrap();
        let pictures: Vec<_> = document.root_element().children().collect();
        assert_eq!(pictures.len(), 3);
        for picture in &pictures {
            let paths = |class: &str| {
                let of_class = |node: &roxmltree::Node| node.attribute("class") == Some(class);
                picture.descendants().find(of_class).and_then(|node| node.attribute("d")).unwrap().matches('M').count()
            };
            assert_eq!((paths("grid-stroke"), paths("s0-stroke"), paths("ink-stroke")), (2, 1, 1));
        }
        assert!(html.contains("&lt;good&gt;") && html.contains("lost 2"));
        // The outlier leaves the plot; the others keep their scale.
        assert!(html.contains("M6 154L234 104"), "{html}");
    }
}
