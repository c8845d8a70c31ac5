//! Charts as self-contained SVG pictures. Colors are attributes, for programs without style sheets; a style sheet
//! changes them on dark screens. Plotting libraries draw pixels or lack accessible names and label placement.

mod elements;
mod labels;
pub(crate) mod panel;
mod series;
mod simplify;
#[cfg(test)]
mod tests;

use crate::chart::Chart;
use crate::escape::markup;
use crate::palette::{self, INK, PAPER};
use crate::text_layout;
pub(crate) use elements::{TITLE_SIZE, label, number, stroke};
use panel::Panel;

pub(crate) const WIDTH: f64 = 720.0;
pub(crate) const SMALL: f64 = 300.0;
pub(crate) const CELL: f64 = 540.0;
const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

pub fn chart(chart: &Chart) -> String {
    let panel = Panel::draw(chart, WIDTH, true);
    document(&chart.title, &panel.description, (WIDTH, panel.height), &panel.body, true)
}

/// Returns panels of width [`CELL`] as one SVG document with at most two columns.
pub(crate) fn grid(title: &str, panels: &[(String, Panel)]) -> String {
    let columns = panels.len().clamp(1, 2);
    let width = CELL * columns as f64;
    let mut body = String::new();
    let mut top = 0.0;
    for line in text_layout::wrap(title, TITLE_SIZE + 3.0, width - 40.0, 2).iter().filter(|line| !line.is_empty()) {
        top += 26.0;
        let weight = "font-weight=\"600\" text-anchor=\"middle\"";
        body += &label(INK, (width / 2.0, top), TITLE_SIZE + 3.0, weight, line);
    }
    top += if top > 0.0 { 10.0 } else { 0.0 };
    for line in panels.chunks(columns) {
        for (i, (name, panel)) in line.iter().enumerate() {
            let (name, left, top) = (markup(name), i as f64 * CELL, number(top));
            let at = format!("aria-label=\"{name}\" transform=\"translate({left},{top})\"");
            body += &format!("<g role=\"img\" {at}><title>{name}</title>{}</g>", panel.body);
        }
        top += line.iter().map(|(_, panel)| panel.height).fold(0.0, f64::max);
    }
    let names: Vec<&str> = panels.iter().map(|(name, _)| name.as_str()).collect();
    let description = format!("{} charts: {}.", panels.len(), names.join("; "));
    document(title, &description, (width, top.max(40.0)), &body, true)
}

/// Draws a chart for a page, which provides the style sheet.
pub(crate) fn inline(chart: &Chart, width: f64, titled: bool) -> String {
    let panel = Panel::draw(chart, width, titled);
    document(&chart.title, &panel.description, (width, panel.height), &panel.body, false)
}

/// Wraps SVG elements in a picture of this size in pixels, with its own style sheet if `alone` is true.
pub(crate) fn document(title: &str, description: &str, (width, height): (f64, f64), body: &str, alone: bool) -> String {
    let height = number(height.ceil());
    let size = if alone { format!(" width=\"{width}\" height=\"{height}\"") } else { String::new() };
    let style = if alone { format!("<style>{}</style>", palette::dark_rules()) } else { String::new() };
    let name = markup(if title.trim().is_empty() { "Chart" } else { title });
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"eh\" role=\"img\" aria-label=\"{name}\" viewBox=\"0 0 {width} {height}\"{size} font-family=\"{FONT}\"><title>{name}</title><desc>{}</desc>{style}<rect class=\"paper-fill\" fill=\"{}\" width=\"{width}\" height=\"{height}\"/>{body}</svg>{}",
        markup(description),
        PAPER.light,
        if alone { "\n" } else { "" }
    )
}
