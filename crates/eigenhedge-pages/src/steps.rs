//! Animation of a line that follows points in the plane, with static pictures as a fallback.

use crate::escape::markup;
use crate::palette::{Colour, FAINT, INK, SERIES};
use crate::svg::{self, label, number, stroke};
use serde::Serialize;

const FRAMES: usize = 4;
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 290.0;
const SEEN: usize = 40;
const UNIT: f64 = 100.0;

/// Points in the plane, one per row, with an adaptive line and a fixed line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Steps {
    #[serde(skip)]
    pub title: String,
    #[serde(skip)]
    pub caption: String,
    /// Coordinates are between -1 and 1.
    pub points: Vec<(f64, f64)>,
    /// Adaptive line before each point, in radians.
    pub angles: Vec<f64>,
    pub fixed: f64,
    /// Cumulative losses of both lines after each point.
    pub lost: Vec<(f64, f64)>,
}

impl Steps {
    pub(crate) fn html(&self) -> String {
        let count = self.points.len().min(self.angles.len()).min(self.lost.len());
        let frames: String =
            (1..=FRAMES).filter_map(|i| (i * count / FRAMES).checked_sub(1)).map(|step| self.frame(step)).collect();
        let data = serde_json::to_string(self).unwrap_or_default();
        format!(
            "<div class=\"steps\" data-steps=\"{}\"></div><div class=\"multiples steps-static\">{frames}</div>",
            markup(&data)
        )
    }

    fn frame(&self, step: usize) -> String {
        let centre = (WIDTH / 2.0, WIDTH / 2.0);
        let place = |(x, y): (f64, f64)| (centre.0 + UNIT * x, centre.1 - UNIT * y);
        let mut dots = String::new();
        for point in &self.points[step.saturating_sub(SEEN - 1)..=step] {
            let (x, y) = place(*point);
            dots += &format!("M{} {}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", number(x - 3.0), number(y));
        }
        let through = |angle: f64, colour: Colour, dash: &str| {
            let (dx, dy) = (1.15 * UNIT * angle.cos(), 1.15 * UNIT * angle.sin());
            let [x0, y0, x1, y1] = [centre.0 - dx, centre.1 + dy, centre.0 + dx, centre.1 - dy].map(number);
            stroke(colour, &format!(" stroke-width=\"2.5\"{dash}"), &format!("M{x0} {y0}L{x1} {y1}"))
        };
        let mut body =
            format!("<path class=\"faint-fill\" fill=\"{}\" fill-opacity=\"0.6\" d=\"{dots}\"/>", FAINT.light);
        body += &through(self.fixed, SERIES[1], " stroke-dasharray=\"6 4\"");
        body += &through(self.angles[step], SERIES[0], "");
        let (follows, fixed) = self.lost[step];
        let text = format!("after {} rows", step + 1);
        body += &label(INK, (8.0, HEIGHT - 22.0), 13.0, "font-weight=\"600\"", &text);
        let text = format!("lost: {follows:.1}, fixed line {fixed:.1}");
        body += &label(INK, (8.0, HEIGHT - 6.0), 13.0, "", &text);
        svg::document(&format!("After {} rows", step + 1), &text, (WIDTH, HEIGHT), &body, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_pictures_stand_in_for_the_script() {
        let steps = Steps {
            points: (0..10).map(|i| (f64::from(i) / 10.0, 0.5)).collect(),
            angles: vec![0.1; 10],
            lost: (0..10).map(|i| (f64::from(i), 2.0 * f64::from(i))).collect(),
            ..Steps::default()
        };
        let html = steps.html();
        assert_eq!(html.matches("<svg").count(), FRAMES);
        assert!(html.contains("lost: 9.0, fixed line 18.0") && html.contains("&quot;fixed&quot;:0.0"), "{html}");
        assert_eq!(Steps::default().html().matches("<svg").count(), 0);
    }
}
