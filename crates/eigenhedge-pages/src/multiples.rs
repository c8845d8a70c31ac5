//! Small multiples: a grid of small charts.

use crate::chart::{Chart, Curve, Kind, Tint};
use crate::svg;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Multiples {
    pub title: String,
    pub charts: Vec<Chart>,
    pub caption: String,
}

impl Multiples {
    /// Draws each curve in its own chart with the same axes, the others faintly behind it, and a dashed reference. The
    /// vertical axis ends at `top`.
    pub fn of_curves(curves: &[Curve], reference: Option<&Curve>, top: f64) -> Vec<Chart> {
        let nameless = |curve: &Curve, kind: Kind, tint: Tint| {
            let mut series = curve.series(kind).with_tint(tint);
            series.name.clear();
            series
        };
        let chart = |(i, curve): (usize, &Curve)| {
            let mut chart = Chart { focus_y: Some((0.0, top)), ..Chart::new(&curve.name, "", "") };
            chart.series.push(nameless(curve, Kind::Line, Tint::Position));
            chart.series.extend(reference.map(|reference| nameless(reference, Kind::Dashed, Tint::Ink)));
            let others = curves.iter().enumerate().filter(|(j, _)| *j != i);
            chart.series.extend(others.map(|(_, other)| nameless(other, Kind::Line, Tint::Grid)));
            chart
        };
        curves.iter().enumerate().map(chart).collect()
    }

    pub(crate) fn html(&self) -> String {
        let charts: String = self.charts.iter().map(|chart| svg::inline(chart, svg::SMALL, true)).collect();
        format!("<div class=\"multiples\">{charts}</div>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roxmltree::Document;

    #[test]
    fn every_curve_has_a_picture_with_the_others_behind_it() {
        let curve = |name: &str, end: f64| Curve { name: name.into(), rows: vec![0.0, 9.0], values: vec![0.0, end] };
        let curves = [curve("<good>: lost 2", 2.0), curve("bad", 1e9), curve("fair", 3.0)];
        let charts = Multiples::of_curves(&curves, Some(&curve("best", 2.5)), 4.0);
        let html = Multiples { charts, ..Multiples::default() }.html();
        let document = Document::parse(&html).unwrap();
        let pictures: Vec<_> = document.root_element().children().collect();
        assert_eq!(pictures.len(), 3);
        for picture in &pictures {
            // The outlier leaves the plot; the others keep their scale.
            let inner = picture.children().find(|node| node.attribute("overflow") == Some("hidden")).unwrap();
            let lines = |class: &str| inner.children().filter(|node| node.attribute("class") == Some(class)).count();
            assert_eq!((lines("grid-stroke"), lines("s0-stroke"), lines("ink-stroke")), (2, 1, 1));
        }
        assert!(html.contains("&lt;good&gt;: lost 2"));
    }
}
