//! Self-contained HTML file with sentences, charts and tables. It cannot access the network.
//!
//! Charts are drawn twice: as pictures, for printing and for browsers without scripts, and interactively by uPlot. All
//! text passes through [`crate::escape`].

mod data;
pub mod live;
mod table;

use crate::chart::Chart;
use crate::escape::{markup, script};
use crate::heat_map::HeatMap;
use crate::multiples::Multiples;
use crate::palette::{self, FAINT, GRID, INK, PAPER};
use crate::steps::Steps;
use crate::svg::{self, panel::Panel};
use serde_json::{Value, json};
pub use table::Table;

const UPLOT: &str = include_str!("../../vendor/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../../vendor/uplot/uPlot.min.css");
const UPLOT_LICENSE: &str = include_str!("../../vendor/uplot/LICENSE");
const DRAW: &str = include_str!("draw.js");
const CHARTS: &str = include_str!("charts.js");
const STEP: &str = include_str!("step.js");
const HELP: &str =
    "<p class=\"help\">In the charts: drag to zoom, double-click to go back, click a name to hide it.</p>\n";
const STYLE: &str = include_str!("style.css");

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    pub title: String,
    pub subtitle: String,
    pub summary: Vec<String>,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Chart(Chart),
    Table(Table),
    HeatMap(HeatMap),
    Multiples(Multiples),
    Steps(Steps),
    Tiles(Vec<Tile>),
    Text(String, Vec<String>),
    Section(Section),
}

/// Content that is shown on demand.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Anchor, or an empty string.
    pub place: String,
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tile {
    pub value: String,
    pub label: String,
    /// All digits, shown on hover.
    pub exact: String,
    /// Color: `alarm`, `drift`, or empty.
    pub tone: &'static str,
}

impl Page {
    pub fn html(&self) -> String {
        let json = json!({ "colours": data::colours(), "charts": charts(&self.blocks) }).to_string();
        let mut count = 0;
        let blocks: String = self.blocks.iter().map(|block| draw(block, &mut count, true)).collect();
        let title = markup(self.name());
        let has_steps = self.blocks.iter().any(|block| matches!(block, Block::Steps(_)));
        let steps = if has_steps { format!("<script>\n{STEP}</script>\n") } else { String::new() };
        let (head, style) = (self.head(), style());
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';style-src 'unsafe-inline';script-src 'unsafe-inline';img-src data:\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n<main>\n\
             {head}{blocks}</main>\n\
             <script type=\"application/json\" id=\"report-data\">{}</script>\n\
             <script>\n/* uPlot, https://github.com/leeoniya/uPlot\n{UPLOT_LICENSE}\n*/\n{UPLOT}\n</script>\n\
             <script>\n{DRAW}{CHARTS}</script>\n{steps}</body>\n</html>\n",
            script(&json)
        )
    }

    pub fn svg(&self) -> String {
        let panel = |block: &Block| match block {
            Block::Chart(chart) => Some((chart.title.clone(), Panel::draw(chart, svg::CELL, true))),
            Block::HeatMap(map) => Some((map.title.clone(), map.panel(svg::CELL, true))),
            _ => None,
        };
        svg::grid(&self.title, &self.blocks.iter().filter_map(panel).collect::<Vec<_>>())
    }

    fn name(&self) -> &str {
        if self.title.trim().is_empty() { "Report" } else { &self.title }
    }

    fn head(&self) -> String {
        let (title, subtitle) = (markup(self.name()), paragraph("subtitle", &self.subtitle));
        let summary: String = self.summary.iter().map(|sentence| paragraph("summary", sentence)).collect();
        let has_charts = self.blocks.iter().any(|block| matches!(block, Block::Chart(_) | Block::Section(_)));
        let help = if has_charts { HELP } else { "" };
        format!("<header><h1>{title}</h1>{subtitle}</header>\n{summary}\n{help}")
    }
}

fn charts(blocks: &[Block]) -> Vec<Value> {
    let of = |block: &Block| match block {
        Block::Chart(chart) => vec![data::chart_data(chart)],
        Block::Section(section) => charts(&section.blocks),
        _ => Vec::new(),
    };
    blocks.iter().flat_map(of).collect()
}

fn style() -> String {
    format!("{UPLOT_STYLE}\n{}{STYLE}{}", variables(), palette::dark_rules())
}

fn variables() -> String {
    let [plus, minus, running, ..] = palette::SERIES;
    let named = [PAPER, INK, FAINT, GRID, palette::ALARM, palette::DRIFT].map(|colour| (colour.class, colour));
    let names = || named.into_iter().chain([("plus", plus), ("minus", minus), ("running", running)]);
    let light: String = names().map(|(name, colour)| format!("--{name}:{};", colour.light)).collect();
    let dark: String = names().map(|(name, colour)| format!("--{name}:{};", colour.dark)).collect();
    format!(":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n")
}

fn paragraph(class: &str, text: &str) -> String {
    let class = attribute("class", class);
    if text.trim().is_empty() { String::new() } else { format!("<p{class}>{}</p>\n", whole_dates(&markup(text))) }
}

/// Marks dates, so that no line breaks at their hyphens.
fn whole_dates(safe: &str) -> String {
    let is_date = |bytes: &[u8]| {
        let fits = |(i, byte): (usize, &u8)| if i == 4 || i == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
        bytes.iter().enumerate().all(fits)
    };
    let (mut out, mut copied) = (String::new(), 0);
    while let Some(at) = safe.as_bytes()[copied..].windows(10).position(is_date).map(|at| copied + at) {
        out += &format!("{}<span class=\"date\">{}</span>", &safe[copied..at], &safe[at..at + 10]);
        copied = at + 10;
    }
    out + &safe[copied..]
}

fn heading(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("<h2>{}</h2>\n", markup(text)) }
}

fn draw(block: &Block, count: &mut usize, with_pictures: bool) -> String {
    match block {
        Block::Table(table) => table.html(),
        Block::HeatMap(map) => figure(&map.title, &map.html(), &map.caption),
        Block::Multiples(multiples) => figure(&multiples.title, &multiples.html(), &multiples.caption),
        Block::Steps(steps) => figure(&steps.title, &steps.html(), &steps.caption),
        Block::Tiles(tiles) => format!("<div class=\"tiles\">{}</div>\n", tiles.iter().map(tile).collect::<String>()),
        Block::Text(title, text) => {
            let text: String = text.iter().map(|text| paragraph("", text)).collect();
            format!("<section>{}{text}</section>\n", heading(title))
        }
        Block::Section(section) => {
            let blocks: String = section.blocks.iter().map(|block| draw(block, count, with_pictures)).collect();
            let title = markup(&section.title);
            format!(
                "<details><summary>{title}</summary>\n<div{}>{blocks}</div></details>\n",
                attribute("id", &section.place)
            )
        }
        Block::Chart(chart) => {
            let index = *count;
            *count += 1;
            let live = format!("<div class=\"live\" data-chart=\"{index}\"></div>");
            let caption = [Some(chart.caption.clone()), chart.left_out()].into_iter().flatten().collect::<Vec<_>>();
            let picture = with_pictures.then(|| svg::inline(chart, svg::WIDTH, false));
            let picture = picture.map_or(String::new(), |picture| format!("<div class=\"static\">{picture}</div>"));
            figure(&chart.title, &(live + &picture), caption.join(" ").trim())
        }
    }
}

fn tile(tile: &Tile) -> String {
    let (tone, exact) = (attribute("class", tile.tone), attribute("title", &tile.exact));
    format!("<div{tone}{exact}><b>{}</b><span>{}</span></div>", markup(&tile.value), markup(&tile.label))
}

/// Returns an attribute of an element, or an empty string for an empty value.
fn attribute(name: &str, value: &str) -> String {
    if value.is_empty() { String::new() } else { format!(" {name}=\"{}\"", markup(value)) }
}

fn figure(title: &str, content: &str, caption: &str) -> String {
    let caption = markup(caption);
    let caption = if caption.trim().is_empty() { caption } else { format!("<figcaption>{caption}</figcaption>") };
    format!("<figure>{}{content}{caption}</figure>\n", heading(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_breaks_within_a_date() {
        let date = "<span class=\"date\">2024-01-08</span>";
        let text = paragraph("", "ä since 2024-01-08T10:00, until 2024-01-08, not 2024-1-8");
        assert_eq!(text, format!("<p>ä since {date}T10:00, until {date}, not 2024-1-8</p>\n"));
    }
}
