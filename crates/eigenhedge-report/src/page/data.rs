//! Chart data for the script of a page. Numbers are rounded, and axes shared by several curves are written once.

use crate::axis::Extent;
use crate::chart::{Chart, Kind, Series};
use crate::palette::{self, Colour, look};
use serde::Serialize;

/// Number of significant digits of a value. More digits would be invisible and would make pages larger.
const DIGITS: usize = 7;

/// Data that the script of a page reads.
#[derive(Serialize)]
pub struct Data<'a> {
    colours: [[&'static str; 2]; 4],
    charts: Vec<ChartData<'a>>,
}

/// Data of a chart, as the script reads it.
#[derive(Serialize)]
pub struct ChartData<'a> {
    title: &'a str,
    x_label: &'a str,
    y_label: &'a str,
    log_x: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dated_x: bool,
    log_y: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    scale_switch: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    focus_x: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    focus_y: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    focus_plain: Option<(f64, f64)>,
    /// True if the page offers a switch to the whole range, because some points are outside the focus.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    range_switch: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_x: Option<OtherX<'a>>,
    series: Vec<SeriesData<'a>>,
    marks: Vec<(f64, &'a str)>,
    annotations: Vec<(f64, f64, &'a str)>,
}

#[derive(Serialize)]
struct OtherX<'a> {
    label: &'a str,
    dated: bool,
    x: Vec<Option<f64>>,
    marks: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
    kind: &'static str,
    /// Colors on light and on dark backgrounds.
    colour: [&'static str; 2],
    dash: &'static [u8],
    x: Horizontal,
    y: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    low: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    high: Vec<Option<f64>>,
}

#[derive(Serialize, PartialEq)]
#[serde(untagged)]
enum Horizontal {
    /// Index of an earlier series with the same horizontal positions.
    Same(usize),
    Values(Vec<f64>),
}

/// Returns the data of the charts of a page.
pub fn data<'a>(charts: impl Iterator<Item = &'a Chart>) -> Data<'a> {
    Data { colours: colours(), charts: self::charts(charts) }
}

/// Returns the colors of background, text, faint text and grid, for light and dark screens.
pub fn colours() -> [[&'static str; 2]; 4] {
    let pair = |colour: Colour| [colour.light, colour.dark];
    [palette::PAPER, palette::INK, palette::FAINT, palette::GRID].map(pair)
}

/// Returns the data of each chart.
pub fn charts<'a>(charts: impl Iterator<Item = &'a Chart>) -> Vec<ChartData<'a>> {
    charts.map(chart_data).collect()
}

fn chart_data(chart: &Chart) -> ChartData<'_> {
    let (x, y) = (Extent::empty(chart.log_x), Extent::empty(chart.log_y));
    let mut series: Vec<SeriesData> = Vec::with_capacity(chart.series.len());
    // A series with nothing to draw has no legend entry.
    for (i, given) in chart.series.iter().enumerate().filter(|(_, series)| chart.shows(series)) {
        let mut next = series_data(i, given, chart.dated_x, &x, &y);
        if let Some(same) = series.iter().position(|earlier| earlier.x == next.x) {
            next.x = Horizontal::Same(same);
        }
        series.push(next);
    }
    let marks = chart.marks.iter().filter(|mark| x.admits(mark.x)).map(|mark| (mark.x, mark.label.as_str()));
    let named = chart.annotations.iter().filter(|place| x.admits(place.x) && y.admits(place.y));
    ChartData {
        title: &chart.title,
        x_label: &chart.x_label,
        y_label: &chart.y_label,
        log_x: chart.log_x,
        dated_x: chart.dated_x,
        log_y: chart.log_y,
        scale_switch: chart.scale_switch || chart.log_y,
        focus_x: chart.focus_x,
        focus_y: chart.focus_y,
        focus_plain: chart.focus_plain,
        range_switch: chart.left_out().is_some(),
        other_x: chart.other_x.as_ref().map(|other| OtherX {
            label: &other.label,
            dated: other.is_dated,
            x: other.places.iter().map(|x| x.is_finite().then_some(*x)).collect(),
            marks: other.marks.iter().map(|x| x.is_finite().then_some(*x)).collect(),
        }),
        series,
        marks: marks.collect(),
        annotations: named.map(|place| (place.x, place.y, place.label.as_str())).collect(),
    }
}

fn series_data<'a>(position: usize, series: &'a Series, dated: bool, x: &Extent, y: &Extent) -> SeriesData<'a> {
    let look = look(position, series.tint, series.kind);
    let points: Vec<_> = series.points.iter().filter(|point| x.admits(point.x)).collect();
    let short = |value: f64| y.admits(value).then(|| rounded(value));
    let spread = series.kind == Kind::Band || points.iter().any(|point| point.has_spread());
    let spread = |end: fn(&crate::Point) -> f64| {
        if spread { points.iter().map(|&point| short(end(point))).collect() } else { vec![] }
    };
    SeriesData {
        name: &series.name,
        kind: match series.kind {
            Kind::Line | Kind::Dashed => "line",
            Kind::Points => "points",
            Kind::Band => "band",
        },
        colour: [look.colour.light, look.colour.dark],
        dash: look.dash,
        // Times keep all digits. Seven digits cannot distinguish seconds within fifty years.
        x: Horizontal::Values(points.iter().map(|point| if dated { point.x } else { rounded(point.x) }).collect()),
        y: points.iter().map(|point| short(point.y)).collect(),
        low: spread(|point| point.low),
        high: spread(|point| point.high),
    }
}

/// Rounds a value to [`DIGITS`] significant digits. Integers are unchanged, because row numbers must be exact.
fn rounded(value: f64) -> f64 {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return value;
    }
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn shared_axes_are_written_once_and_gaps_are_null() {
        let x = [1.0, 2.0, 3.0];
        let mut chart = Chart::new("t", "x", "y").with(Series::line("a", &x, &[1.0, f64::NAN, 1.0 / 3.0]));
        chart = chart.with(Series::line("b", &x, &[-1.0, 2.0, f64::INFINITY]));
        chart.log_y = true;
        let json = serde_json::to_value(data([&chart].into_iter())).unwrap();
        let series = &json["charts"][0]["series"];
        assert_eq!(series[0]["y"], serde_json::json!([1.0, null, 0.3333333]));
        assert_eq!(series[1]["y"], serde_json::json!([null, 2.0, null]));
        assert_eq!(series[1]["x"], 0);
        assert_eq!(series[1].get("low"), None::<&Value>);
    }

    #[test]
    fn row_numbers_are_exact() {
        assert_eq!(rounded(123_456_789.0), 123_456_789.0);
        assert_eq!(rounded(0.123_456_789), 0.123_456_8);
    }
}
