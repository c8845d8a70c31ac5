//! Charts as data. Values that are not finite, beyond ±10³⁰⁰, or below 10⁻³⁰⁰ on a logarithmic axis leave a gap in a
//! line.

use crate::axis::Extent;
use crate::number::{grouped, short};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    pub log_x: bool,
    /// True if the horizontal axis shows times, in seconds since 1970.
    pub dated_x: bool,
    pub log_y: bool,
    /// True for a switch between a linear and a logarithmic axis. Charts with `log_y` always have it.
    pub scale_switch: bool,
    /// Initial ranges, or `None` for the whole range.
    pub focus_x: Option<(f64, f64)>,
    pub focus_y: Option<(f64, f64)>,
    /// Initial vertical range after the page has switched to the linear axis, or `None` for `focus_y`.
    pub focus_plain: Option<(f64, f64)>,
    /// Alternative horizontal axis. All series must then have the same number of points.
    pub other_x: Option<OtherAxis>,
    pub series: Vec<Series>,
    pub marks: Vec<Mark>,
    pub annotations: Vec<Annotation>,
    pub caption: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct OtherAxis {
    pub label: String,
    pub is_dated: bool,
    pub places: Vec<f64>,
    pub marks: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub name: String,
    pub points: Vec<Point>,
    pub kind: Kind,
    pub tint: Tint,
}

/// Point of a series. `low` and `high` are the ends of its spread. Without a spread, both equal `y`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

/// Drawing style of a series. A spread is drawn as error bars, except in a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Line,
    Dashed,
    Points,
    /// Area between `low` and `high`. `y` is not drawn.
    Band,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    Position,
    Slot(usize),
    /// Color at this step of the time scale [`crate::palette::TIMES`], from early to late.
    Time(usize),
    Alarm,
    Drift,
    Ink,
    Grid,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub x: f64,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    pub x: f64,
    pub y: f64,
    pub label: String,
}

impl Point {
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }

    pub fn has_spread(&self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.low < self.high
    }
}

impl Series {
    pub fn new(kind: Kind, name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        let points = x.iter().zip(y).map(|(&x, &y)| Point::new(x, y)).collect();
        Self { name: name.into(), points, kind, tint: Tint::Position }
    }

    pub fn line(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Line, name, x, y)
    }

    pub fn dashed(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Dashed, name, x, y)
    }

    pub fn points(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Points, name, x, y)
    }

    pub fn band(name: impl Into<String>, x: &[f64], low: &[f64], high: &[f64]) -> Self {
        let middle: Vec<f64> = low.iter().zip(high).map(|(low, high)| 0.5 * low + 0.5 * high).collect();
        Self::new(Kind::Band, name, x, &middle).with_spread(low, high)
    }

    pub fn with_spread(mut self, low: &[f64], high: &[f64]) -> Self {
        for (point, (&low, &high)) in self.points.iter_mut().zip(low.iter().zip(high)) {
            (point.low, point.high) = (low, high);
        }
        self
    }

    pub fn with_tint(mut self, tint: Tint) -> Self {
        self.tint = tint;
        self
    }
}

fn drawn(kind: Kind, point: &Point) -> [f64; 3] {
    [if kind == Kind::Band { point.low } else { point.y }, point.low, point.high]
}

impl Chart {
    pub fn new(title: impl Into<String>, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), ..Self::default() }
    }

    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    pub fn extents(&self) -> (Extent, Extent) {
        let (mut horizontal, mut vertical) = (Extent::empty(self.log_x), Extent::empty(self.log_y));
        let places = self.annotations.iter().map(|place| Point::new(place.x, place.y));
        let points = self.series.iter().flat_map(|series| series.points.iter().map(|point| (series.kind, *point)));
        for (kind, point) in points.chain(places.map(|point| (Kind::Points, point))) {
            let drawn = drawn(kind, &point);
            if horizontal.admits(point.x) && drawn.iter().any(|&y| vertical.admits(y)) {
                horizontal.include(point.x);
                drawn.iter().for_each(|&y| vertical.include(y));
            }
        }
        (horizontal, vertical)
    }

    pub fn shows(&self, series: &Series) -> bool {
        let (horizontal, vertical) = (Extent::empty(self.log_x), Extent::empty(self.log_y));
        let drawn = |point: &Point| drawn(series.kind, point).iter().any(|y| vertical.admits(*y));
        series.points.iter().any(|point| horizontal.admits(point.x) && drawn(point))
    }

    pub fn shown(&self) -> (Extent, Extent) {
        let (horizontal, vertical) = self.extents();
        let focused = |extent: Extent, focus: Option<(f64, f64)>| {
            focus.filter(|_| extent.range().is_some()).map_or(extent, |(low, high)| extent.only(low, high))
        };
        (focused(horizontal, self.focus_x), focused(vertical, self.focus_y))
    }

    /// Returns the number of points outside the initial ranges and the range of their values, in words.
    pub fn left_out(&self) -> Option<String> {
        let (horizontal, vertical) = self.extents();
        let beyond = |focus: Option<(f64, f64)>, x: f64| focus.is_some_and(|(low, high)| x < low || x > high);
        let (mut count, mut low, mut high) = (0u64, f64::INFINITY, f64::NEG_INFINITY);
        for point in self.series.iter().flat_map(|series| &series.points) {
            let is_drawn = horizontal.admits(point.x) && vertical.admits(point.y);
            if is_drawn && (beyond(self.focus_x, point.x) || beyond(self.focus_y, point.y)) {
                (count, low, high) = (count + 1, low.min(point.y), high.max(point.y));
            }
        }
        let ends = if low == high { short(low) } else { format!("from {} to {}", short(low), short(high)) };
        let verb = if count == 1 { "point lies" } else { "points lie" };
        (count > 0).then(|| format!("{} {verb} outside the range that is shown first: {ends}.", grouped(count)))
    }

    /// NaN does not count, because it marks a gap.
    pub fn undrawable(&self) -> usize {
        let (horizontal, vertical) = (Extent::empty(self.log_x), Extent::empty(self.log_y));
        let lost = |extent: &Extent, value: f64| !value.is_nan() && !extent.admits(value);
        let points = self.series.iter().flat_map(|series| &series.points);
        points.filter(|point| lost(&horizontal, point.x) || lost(&vertical, point.y)).count()
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    pub name: String,
    pub rows: Vec<f64>,
    pub values: Vec<f64>,
}

impl Curve {
    /// Interpolates linearly, with constant values beyond the ends. Returns NaN for fewer than two rows.
    pub fn at(&self, row: f64) -> f64 {
        let after = self.rows.partition_point(|known| *known < row).clamp(1, self.rows.len().max(2) - 1);
        let (Some(&[x0, x1]), Some(&[y0, y1])) =
            (self.rows[after - 1..].first_chunk::<2>(), self.values[after - 1..].first_chunk::<2>())
        else {
            return f64::NAN;
        };
        y0 + (y1 - y0) * ((row - x0) / (x1 - x0)).clamp(0.0, 1.0)
    }

    pub(crate) fn map(mut self, function: impl Fn(f64) -> f64) -> Self {
        self.values.iter_mut().for_each(|value| *value = function(*value));
        self
    }

    pub(crate) fn series(&self, kind: Kind) -> Series {
        Series::new(kind, &self.name, &self.rows, &self.values)
    }
}
