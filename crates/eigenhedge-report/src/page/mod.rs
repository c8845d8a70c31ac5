//! One HTML file with sentences, charts and tables. It needs no network, and forbids itself to use one.
//!
//! Charts are drawn twice: as a picture that is there without scripts, when printing, and when a script fails; and, on a
//! screen with scripts, as one to zoom into and read values from, by uPlot (its text and licence are part of the page).
//!
//! Not done: no template language. The page is one format string, and every text in it passes through [`crate::escape`].

mod data;

use crate::chart::Chart;
use crate::escape::{markup, script};
use crate::heat_map::HeatMap;
use crate::palette::{self, FAINT, GRID, INK, PAPER};
use crate::svg;

const UPLOT: &str = include_str!("../../vendor/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../../vendor/uplot/uPlot.min.css");
const UPLOT_LICENSE: &str = include_str!("../../vendor/uplot/LICENSE");
const DRAW: &str = include_str!("draw.js");
const STYLE: &str = include_str!("style.css");

/// A page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Heading, and name of the window.
    pub title: String,
    /// A line below the heading; may be empty.
    pub subtitle: String,
    /// Findings, one sentence or short paragraph each.
    pub summary: Vec<String>,
    /// The rest, in order.
    pub blocks: Vec<Block>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A picture.
    Chart(Chart),
    /// A table.
    Table(Table),
    /// A picture of cells.
    HeatMap(HeatMap),
}

/// A table of texts. Columns whose cells mostly read as numbers are set flush right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Page {
    /// The page as a complete HTML file.
    pub fn html(&self) -> String {
        let charts = self.blocks.iter().filter_map(|block| match block {
            Block::Chart(chart) => Some(chart),
            Block::Table(_) | Block::HeatMap(_) => None,
        });
        // Serialising strings and finite numbers into memory does not fail; without data the pictures stay.
        let json = serde_json::to_string(&data::data(charts)).unwrap_or_else(|_| r#"{"charts":[]}"#.into());
        let mut count = 0;
        let blocks: String = self.blocks.iter().map(|block| draw(block, &mut count)).collect();
        let title = markup(if self.title.trim().is_empty() { "Report" } else { &self.title });
        let subtitle = paragraph("subtitle", &self.subtitle);
        let summary: String = self.summary.iter().map(|sentence| paragraph("summary", sentence)).collect();
        let style = format!("{UPLOT_STYLE}\n{}{STYLE}{}", variables(), palette::dark_rules());
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline';script-src 'unsafe-inline';img-src data:\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n<main>\n\
             <header><h1>{title}</h1>{subtitle}</header>\n{summary}\n\
             <p class=\"help\">In the charts: drag to zoom, double-click to go back, click a name to hide it.</p>\n\
             {blocks}</main>\n\
             <script type=\"application/json\" id=\"report-data\">{}</script>\n\
             <script>\n/* uPlot, https://github.com/leeoniya/uPlot\n{UPLOT_LICENSE}\n*/\n{UPLOT}\n</script>\n\
             <script>\n{DRAW}</script>\n</body>\n</html>\n",
            script(&json)
        )
    }
}

/// Colours of the page itself.
fn variables() -> String {
    let names = [("paper", PAPER), ("ink", INK), ("faint", FAINT), ("grid", GRID)];
    let light: String = names.iter().map(|(name, colour)| format!("--{name}:{};", colour.light)).collect();
    let dark: String = names.iter().map(|(name, colour)| format!("--{name}:{};", colour.dark)).collect();
    format!(":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n")
}

fn paragraph(class: &str, text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("<p class=\"{class}\">{}</p>\n", markup(text)) }
}

fn heading(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("<h2>{}</h2>\n", markup(text)) }
}

fn draw(block: &Block, count: &mut usize) -> String {
    match block {
        Block::Table(table) => draw_table(table),
        Block::HeatMap(map) => {
            figure(&map.title, &format!("<div class=\"static\">{}</div>", map.inline()), &map.caption)
        }
        Block::Chart(chart) => {
            let index = *count;
            *count += 1;
            let live = format!("<div class=\"live\" data-chart=\"{index}\"></div>");
            figure(&chart.title, &format!("{live}<div class=\"static\">{}</div>", svg::inline(chart)), &chart.caption)
        }
    }
}

fn figure(title: &str, content: &str, caption: &str) -> String {
    let caption = markup(caption);
    let caption = if caption.trim().is_empty() { caption } else { format!("<figcaption>{caption}</figcaption>") };
    format!("<figure>{}{content}{caption}</figure>\n", heading(title))
}

fn draw_table(table: &Table) -> String {
    let is_number = |text: &String| text.trim().parse::<f64>().is_ok();
    // A column is one of numbers if most of its cells are.
    let numeric = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| if is_number(cell) { 1 } else { -1 }).sum::<i64>() > 0
    };
    let classes: Vec<&str> =
        (0..table.columns.len()).map(|column| if numeric(column) { " class=\"number\"" } else { "" }).collect();
    let class = |column: usize| classes.get(column).copied().unwrap_or_default();
    let head = |(i, name): (usize, &String)| format!("<th scope=\"col\"{}>{}</th>", class(i), markup(name));
    let cell = |(i, text): (usize, &String)| format!("<td{}>{}</td>", class(i), markup(text));
    let row = |row: &Vec<String>| format!("<tr>{}</tr>\n", row.iter().enumerate().map(cell).collect::<String>());
    format!(
        "<section>{}<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div></section>\n",
        heading(&table.title),
        table.columns.iter().enumerate().map(head).collect::<String>(),
        table.rows.iter().map(row).collect::<String>()
    )
}
