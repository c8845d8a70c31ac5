//! One chart in its frame: title, axes, grid, content and legend.

use super::elements::{PlotFrame, TEXT_SIZE, TITLE_SIZE, label, number, stroke};
use super::labels::{self, MARK_LINE};
use super::series;
use crate::axis::{Axis, Ends, Extent};
use crate::calendar::moment;
use crate::chart::{Chart, Kind};
use crate::number::short;
use crate::palette::{FAINT, GRID, INK};
use crate::text_layout;

const MARGIN: f64 = 12.0;
const ASPECT: f64 = 0.46;

pub struct Panel {
    pub body: String,
    pub height: f64,
    pub description: String,
}

impl Panel {
    pub fn draw(chart: &Chart, width: f64, titled: bool) -> Self {
        let title = if titled { text_layout::wrap(&chart.title, TITLE_SIZE, width - 2.0 * MARGIN, 2) } else { vec![] };
        let title: Vec<String> = title.into_iter().filter(|line| !line.is_empty()).collect();
        let (horizontal, vertical) = chart.shown();
        let mut frame = frame(chart, width, &horizontal, &vertical);
        let marks = labels::marks(chart, &frame);
        frame.top = MARGIN + title.len() as f64 * 20.0 + marks.lines() as f64 * MARK_LINE;
        let mut body = String::new();
        for (i, line) in title.iter().enumerate() {
            let weight = "font-weight=\"600\" text-anchor=\"middle\"";
            body += &label(INK, (width / 2.0, MARGIN + 10.0 + 20.0 * i as f64), TITLE_SIZE, weight, line);
        }
        body += &axes(chart, &frame);
        body += &marks.draw(&frame);
        body += &clipped(chart, &frame, series::draw(chart, &frame));
        body += &series::edges(chart, &frame);
        body += &labels::annotations(chart, &frame);
        if horizontal.range().is_none() {
            let middle = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
            body += &label(FAINT, middle, TEXT_SIZE, "text-anchor=\"middle\"", "no data");
        }
        let below = frame.bottom() + 24.0 + if chart.x_label.trim().is_empty() { 0.0 } else { 20.0 };
        let (legend, legend_height) = series::legend(chart, (frame.left, below), frame.width);
        body += &legend;
        Self { body, height: below + legend_height + MARGIN, description: describe(chart, &horizontal, &vertical) }
    }
}

fn clipped(chart: &Chart, frame: &PlotFrame, body: String) -> String {
    if chart.left_out().is_none() {
        return body;
    }
    let [x, y, width, height] = [frame.left, frame.top, frame.width, frame.height].map(number);
    format!(
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\" overflow=\"hidden\">{body}</svg>"
    )
}

fn frame(chart: &Chart, width: f64, horizontal: &Extent, vertical: &Extent) -> PlotFrame {
    let height = width * ASPECT;
    let y = Axis::new(vertical, Ends::Ticks, (height / 36.0) as usize);
    let widest = y.ticks().map(|(_, label)| text_layout::width(label, TEXT_SIZE)).fold(0.0, f64::max);
    let left = MARGIN + widest + 8.0 + if chart.y_label.trim().is_empty() { 0.0 } else { 20.0 };
    let points = chart.series.iter().any(|series| series.kind == Kind::Points);
    let horizontal = if points { horizontal.with_margin() } else { *horizontal };
    let inner = |x: &Axis| {
        let last = x.ticks().last().map_or(0.0, |(_, label)| text_layout::width(label, TEXT_SIZE) / 2.0);
        (width - left - MARGIN.max(last) - 4.0).max(50.0)
    };
    let x = across(&horizontal, chart.dated_x, inner);
    PlotFrame { left, top: 0.0, width: inner(&x), height, x, y }
}

/// Returns a horizontal axis whose labels fit. `width` returns its length.
pub fn across(extent: &Extent, is_dated: bool, width: impl Fn(&Axis) -> f64) -> Axis {
    let axis = |wanted| if is_dated { Axis::dated(extent, wanted) } else { Axis::new(extent, Ends::Data, wanted) };
    (2..10).rev().map(axis).find(|axis| labels_fit(axis, width(axis))).unwrap_or_else(|| axis(2))
}

fn labels_fit(axis: &Axis, width: f64) -> bool {
    let mut end = f64::NEG_INFINITY;
    axis.ticks().all(|(tick, label)| {
        let half = text_layout::width(label, TEXT_SIZE) / 2.0;
        let middle = axis.place(tick).unwrap_or(0.0) * width;
        let free = middle - half >= end;
        end = middle + half + 10.0;
        free
    })
}

fn axes(chart: &Chart, frame: &PlotFrame) -> String {
    let mut grid = String::new();
    let mut texts = String::new();
    for (tick, name) in frame.x.ticks() {
        let x = frame.left + frame.x.place(tick).unwrap_or(0.0) * frame.width;
        grid += &format!("M{} {}V{}", number(x), number(frame.top), number(frame.bottom() + 4.0));
        texts += &label(FAINT, (x, frame.bottom() + 17.0), TEXT_SIZE, "text-anchor=\"middle\"", name);
    }
    for (tick, name) in frame.y.ticks() {
        let y = frame.top + (1.0 - frame.y.place(tick).unwrap_or(0.0)) * frame.height;
        grid += &format!("M{} {}H{}", number(frame.left - 4.0), number(y), number(frame.right()));
        texts += &label(FAINT, (frame.left - 7.0, y + 4.0), TEXT_SIZE, "text-anchor=\"end\"", name);
    }
    let (middle, centre) = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
    let name = text_layout::fit(&chart.x_label, TEXT_SIZE, frame.width);
    texts += &label(INK, (middle, frame.bottom() + 35.0), TEXT_SIZE, "text-anchor=\"middle\"", &name);
    let name = text_layout::fit(&chart.y_label, TEXT_SIZE, frame.height + 20.0);
    let turned =
        format!("text-anchor=\"middle\" transform=\"rotate(-90,{},{})\"", number(MARGIN + 8.0), number(centre));
    texts += &label(INK, (MARGIN + 8.0, centre), TEXT_SIZE, &turned, &name);
    let lines =
        format!("M{} {}V{}H{}", number(frame.left), number(frame.top), number(frame.bottom()), number(frame.right()));
    stroke(GRID, "", &grid) + &stroke(FAINT, "", &lines) + &texts
}

fn describe(chart: &Chart, horizontal: &Extent, vertical: &Extent) -> String {
    let range = |name: &str, extent: &Extent, log: bool, spoken: fn(f64) -> String| {
        let (low, high) = extent.range()?;
        let scale = if log { ", logarithmic" } else { "" };
        Some(format!("{name} from {} to {}{scale}", spoken(low), spoken(high)))
    };
    let across = if chart.dated_x { moment } else { short };
    let axes =
        [range(&chart.x_label, horizontal, chart.log_x, across), range(&chart.y_label, vertical, chart.log_y, short)];
    let axes: Vec<String> = axes.into_iter().flatten().collect();
    let mut sentences = vec![if axes.is_empty() { "No data".into() } else { axes.join("; ") }];
    let names = |names: Vec<&str>| names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ");
    let series = names(chart.series.iter().map(|series| series.name.as_str()).collect());
    let marks = names(chart.marks.iter().map(|mark| mark.label.as_str()).collect());
    let places = names(chart.annotations.iter().map(|place| place.label.as_str()).collect());
    for (what, list) in [("Series", series), ("Marked", marks), ("Named", places)] {
        if !list.is_empty() {
            sentences.push(format!("{what}: {list}"));
        }
    }
    let lost = chart.undrawable();
    if lost > 0 {
        sentences.push(format!("Not shown, because it has no place on the axes: {lost} of the points"));
    }
    sentences.join(". ") + "."
}
