//! Charts as data, without how they are drawn.
//!
//! Values that cannot be drawn (not finite, beyond ±10³⁰⁰, not positive on a logarithmic axis) leave a gap in a line.

use crate::axis::Extent;
use crate::number::{grouped, short};

/// One picture: curves over a common pair of axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// Above the picture.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// True if the horizontal axis is logarithmic.
    pub log_x: bool,
    /// True if horizontal places are times, in seconds since 1970.
    pub dated_x: bool,
    /// True if the vertical axis is logarithmic.
    pub log_y: bool,
    /// True if a page has a switch between a plain and a logarithmic vertical axis; one that is logarithmic always has.
    pub scale_switch: bool,
    /// Horizontal range that is shown first, if not all of it; the page has a switch to the whole.
    pub focus_x: Option<(f64, f64)>,
    /// The same, vertically: the range that a share can have, or that of all but a few outliers ([`crate::focus`]).
    pub focus_y: Option<(f64, f64)>,
    /// Vertical range of a logarithmic chart when it is switched to a plain axis, if not all of it.
    pub focus_plain: Option<(f64, f64)>,
    /// Another horizontal axis that a page can switch to: its name, whether its places are times, and its places for the points
    /// of every series and for the marks. All series must have as many points.
    pub other_x: Option<OtherAxis>,
    /// Curves, in the order of the legend.
    pub series: Vec<Series>,
    /// Places on the horizontal axis, e.g. where one segment ends and the next begins.
    pub marks: Vec<Mark>,
    /// Places in the picture that have a name.
    pub annotations: Vec<Annotation>,
    /// A sentence below the picture that says what to see; may be empty.
    pub caption: String,
}

/// Another horizontal axis of a chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OtherAxis {
    /// Below the axis.
    pub label: String,
    /// True if its places are times.
    pub is_dated: bool,
    /// Places of the points.
    pub places: Vec<f64>,
    /// Places of the marks.
    pub marks: Vec<f64>,
}

/// One curve, or one set of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points, in drawing order.
    pub points: Vec<Point>,
    /// How it is drawn.
    pub kind: Kind,
    /// Which colour it takes.
    pub tint: Tint,
}

/// One place of a curve. Without a spread, `low` and `high` equal `y`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Horizontal place.
    pub x: f64,
    /// Vertical place.
    pub y: f64,
    /// Lower end of the error bar or of the band.
    pub low: f64,
    /// Upper end of the error bar or of the band.
    pub high: f64,
}

/// How a series is drawn. A spread is drawn as error bars, except in a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A line; each series has its own dash pattern as well as its own colour.
    Line,
    /// A line that is always dashed, for what is compared with: a bound, a promise.
    Dashed,
    /// Points without a line.
    Points,
    /// The area between `low` and `high`; `y` is not drawn.
    Band,
}

/// Which colour a series takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    /// That of its position in the chart.
    Position,
    /// That of a given position, e.g. so that a line and its band look alike.
    Slot(usize),
    /// A step on a scale from early to late, out of [`crate::palette::TIMES`].
    Time(usize),
    /// That of an alarm.
    Alarm,
    /// That of a drift.
    Drift,
}

/// A vertical line with a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Horizontal place.
    pub x: f64,
    /// Text at the top of the line; may be empty.
    pub label: String,
}

/// A named place.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// Horizontal place.
    pub x: f64,
    /// Vertical place.
    pub y: f64,
    /// Its name.
    pub label: String,
}

impl Chart {
    /// Exchanges the horizontal axis and the other one, if there is one.
    pub(crate) fn flip(&mut self) {
        let Some(other) = self.other_x.take() else { return };
        let places = self.series.first().map(|series| series.points.iter().map(|point| point.x).collect());
        let marks = self.marks.iter().map(|mark| mark.x).collect();
        for series in &mut self.series {
            series.points.iter_mut().zip(&other.places).for_each(|(point, x)| point.x = *x);
        }
        self.marks.iter_mut().zip(&other.marks).for_each(|(mark, x)| mark.x = *x);
        let label = std::mem::replace(&mut self.x_label, other.label);
        let is_dated = std::mem::replace(&mut self.dated_x, other.is_dated);
        self.other_x = Some(OtherAxis { label, is_dated, places: places.unwrap_or_default(), marks });
    }
}

impl Point {
    /// A point without a spread.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }

    /// True if it has a spread to draw.
    pub fn has_spread(&self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.low < self.high
    }
}

impl Series {
    /// A series of the given kind. What is left over in the longer of the two slices is not drawn.
    pub fn new(kind: Kind, name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        let points = x.iter().zip(y).map(|(&x, &y)| Point::new(x, y)).collect();
        Self { name: name.into(), points, kind, tint: Tint::Position }
    }

    /// A line.
    pub fn line(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Line, name, x, y)
    }

    /// A dashed line.
    pub fn dashed(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Dashed, name, x, y)
    }

    /// Points.
    pub fn points(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self::new(Kind::Points, name, x, y)
    }

    /// The area between two curves.
    pub fn band(name: impl Into<String>, x: &[f64], low: &[f64], high: &[f64]) -> Self {
        let middle: Vec<f64> = low.iter().zip(high).map(|(low, high)| 0.5 * low + 0.5 * high).collect();
        Self::new(Kind::Band, name, x, &middle).with_spread(low, high)
    }

    /// The same series with a spread at each point.
    pub fn with_spread(mut self, low: &[f64], high: &[f64]) -> Self {
        for (point, (&low, &high)) in self.points.iter_mut().zip(low.iter().zip(high)) {
            (point.low, point.high) = (low, high);
        }
        self
    }

    /// The same series in another colour.
    pub fn with_tint(mut self, tint: Tint) -> Self {
        self.tint = tint;
        self
    }
}

/// The values of a point that are drawn.
fn drawn(kind: Kind, point: &Point) -> [f64; 3] {
    [if kind == Kind::Band { point.low } else { point.y }, point.low, point.high]
}

impl Chart {
    /// A chart without series.
    pub fn new(title: impl Into<String>, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), ..Self::default() }
    }

    /// The same chart with one more series.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Range of what can be drawn, horizontally and vertically. Marks do not widen it; annotations do.
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

    /// True if a series has a point that can be drawn.
    pub fn shows(&self, series: &Series) -> bool {
        let (horizontal, vertical) = (Extent::empty(self.log_x), Extent::empty(self.log_y));
        let drawn = |point: &Point| drawn(series.kind, point).iter().any(|y| vertical.admits(*y));
        series.points.iter().any(|point| horizontal.admits(point.x) && drawn(point))
    }

    /// The ranges that are shown first: those of the focus, or all that can be drawn.
    pub fn shown(&self) -> (Extent, Extent) {
        let (horizontal, vertical) = self.extents();
        let focused = |extent: Extent, focus: Option<(f64, f64)>| match focus.filter(|_| extent.range().is_some()) {
            Some((low, high)) => extent.only(low, high),
            None => extent,
        };
        (focused(horizontal, self.focus_x), focused(vertical, self.focus_y))
    }

    /// A sentence about the points that the focus leaves out, if there are any.
    pub fn left_out(&self) -> Option<String> {
        let (horizontal, vertical) = self.extents();
        let beyond =
            |focus: Option<(f64, f64)>, value: f64| focus.is_some_and(|(low, high)| value < low || value > high);
        let points = self.series.iter().flat_map(|series| &series.points);
        let out = points.filter(|point| {
            let drawn = horizontal.admits(point.x) && vertical.admits(point.y);
            drawn && (beyond(self.focus_x, point.x) || beyond(self.focus_y, point.y))
        });
        let (mut count, mut low, mut high) = (0u64, f64::INFINITY, f64::NEG_INFINITY);
        for point in out {
            (count, low, high) = (count + 1, low.min(point.y), high.max(point.y));
        }
        let ends = if low == high { short(low) } else { format!("from {} to {}", short(low), short(high)) };
        let verb = if count == 1 { "point lies" } else { "points lie" };
        (count > 0).then(|| format!("{} {verb} outside the range that is shown first: {ends}.", grouped(count)))
    }

    /// Number of values that were given but cannot be drawn. NaN is not counted: it is how a gap is asked for.
    pub fn undrawable(&self) -> usize {
        let (horizontal, vertical) = (Extent::empty(self.log_x), Extent::empty(self.log_y));
        let lost = |extent: &Extent, value: f64| !value.is_nan() && !extent.admits(value);
        let points = self.series.iter().flat_map(|series| &series.points);
        points.filter(|point| lost(&horizontal, point.x) || lost(&vertical, point.y)).count()
    }
}
