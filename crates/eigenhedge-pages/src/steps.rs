//! Animation of a line that follows points in the plane, with static pictures as a fallback.

use crate::chart::{Chart, Kind, Series, Tint};
use crate::escape::markup;
use crate::svg;
use serde::Serialize;

const FRAMES: usize = 4;
const SEEN: usize = 40;
/// Largest coordinate in a picture.
const EDGE: f64 = 1.2;

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
        let steps = (1..=FRAMES).filter_map(|i| (i * count / FRAMES).checked_sub(1));
        let frames: String = steps.map(|step| svg::inline(&self.frame(step), svg::SMALL, true)).collect();
        let data = serde_json::to_string(self).unwrap_or_default();
        format!(
            "<div class=\"steps\" data-steps=\"{}\"></div><div class=\"multiples steps-static\">{frames}</div>",
            markup(&data)
        )
    }

    fn frame(&self, step: usize) -> Chart {
        let (follows, fixed) = self.lost[step];
        let lost = format!("lost: {follows:.1}, fixed line {fixed:.1}");
        let (x, y): (Vec<f64>, Vec<f64>) = self.points[step.saturating_sub(SEEN - 1)..=step].iter().copied().unzip();
        let through = |kind: Kind, angle: f64| {
            let [dx, dy] = [EDGE * angle.cos(), EDGE * angle.sin()];
            Series::new(kind, "", &[-dx, dx], &[-dy, dy])
        };
        let focus = Some((-EDGE, EDGE));
        let chart =
            Chart { focus_x: focus, focus_y: focus, ..Chart::new(format!("After {} rows", step + 1), lost, "") };
        let chart = chart.with(through(Kind::Line, self.angles[step])).with(through(Kind::Dashed, self.fixed));
        chart.with(Series::points("", &x, &y).with_tint(Tint::Ink))
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
