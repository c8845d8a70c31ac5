//! Chart data for the script of a page. Numbers are rounded, and shared axes are written once.

use crate::axis::Extent;
use crate::chart::{Chart, Kind, Point, Series};
use crate::palette::{FAINT, GRID, INK, PAPER, look};
use serde_json::{Value, json};

const DIGITS: usize = 7;

pub fn colours() -> Value {
    json!([PAPER, INK, FAINT, GRID].map(|colour| [colour.light, colour.dark]))
}

pub fn chart_data(chart: &Chart) -> Value {
    let (x, y) = (Extent::empty(chart.log_x), Extent::empty(chart.log_y));
    let mut series: Vec<Value> = Vec::with_capacity(chart.series.len());
    for (i, given) in chart.series.iter().enumerate().filter(|(_, series)| chart.shows(series)) {
        let mut next = series_data(i, given, chart.dated_x, &x, &y);
        if let Some(same) = series.iter().position(|earlier| earlier["x"] == next["x"]) {
            next["x"] = json!(same);
        }
        series.push(next);
    }
    let other_x = chart
        .other_x
        .as_ref()
        .map(|other| json!({ "label": other.label, "dated": other.is_dated, "x": other.places, "marks": other.marks }));
    let marks = chart.marks.iter().filter(|mark| x.admits(mark.x)).map(|mark| (mark.x, &mark.label));
    let named = chart.annotations.iter().filter(|place| x.admits(place.x) && y.admits(place.y));
    json!({
        "title": chart.title,
        "x_label": chart.x_label,
        "y_label": chart.y_label,
        "log_x": chart.log_x,
        "dated_x": chart.dated_x,
        "log_y": chart.log_y,
        "scale_switch": chart.scale_switch || chart.log_y,
        "focus_x": chart.focus_x,
        "focus_y": chart.focus_y,
        "focus_plain": chart.focus_plain,
        "range_switch": chart.left_out().is_some(),
        "other_x": other_x,
        "series": series,
        "marks": marks.collect::<Vec<_>>(),
        "annotations": named.map(|place| (place.x, place.y, &place.label)).collect::<Vec<_>>(),
    })
}

fn series_data(position: usize, series: &Series, dated: bool, x: &Extent, y: &Extent) -> Value {
    let look = look(position, series.tint, series.kind);
    let points: Vec<&Point> = series.points.iter().filter(|point| x.admits(point.x)).collect();
    let values = |of: fn(&Point) -> f64| {
        // A gap is NaN, which is null in JSON.
        let value = |value: f64| if y.admits(value) { rounded(value) } else { f64::NAN };
        points.iter().map(|point| value(of(point))).collect::<Vec<_>>()
    };
    let has_spread = series.kind == Kind::Band || points.iter().any(|point| point.has_spread());
    json!({
        "name": series.name,
        "kind": match series.kind {
            Kind::Line | Kind::Dashed => "line",
            Kind::Points => "points",
            Kind::Band => "band",
        },
        "colour": [look.colour.light, look.colour.dark],
        "dash": look.dash,
        // Times keep all digits. Seven digits would round a recent time with a fraction to 1000 seconds.
        "x": points.iter().map(|point| if dated { point.x } else { rounded(point.x) }).collect::<Vec<_>>(),
        "y": values(|point| point.y),
        "low": has_spread.then(|| values(|point| point.low)),
        "high": has_spread.then(|| values(|point| point.high)),
    })
}

/// Integers such as row numbers stay exact.
fn rounded(value: f64) -> f64 {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return value;
    }
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_axes_are_written_once_and_gaps_are_null() {
        let x = [1.0, 2.0, 3.0];
        let mut chart = Chart::new("t", "x", "y").with(Series::line("a", &x, &[1.0, f64::NAN, 1.0 / 3.0]));
        chart = chart.with(Series::line("b", &x, &[-1.0, 2.0, f64::INFINITY]));
        chart.log_y = true;
        let json = chart_data(&chart);
        let series = &json["series"];
        assert_eq!(series[0]["y"], json!([1.0, null, 0.3333333]));
        assert_eq!(series[1]["y"], json!([null, 2.0, null]));
        assert_eq!(series[1]["x"], 0);
        assert_eq!(series[1]["low"], Value::Null);
    }

    #[test]
    fn row_numbers_are_exact() {
        assert_eq!(rounded(123_456_789.0), 123_456_789.0);
        assert_eq!(rounded(0.123_456_789), 0.123_456_8);
    }
}
