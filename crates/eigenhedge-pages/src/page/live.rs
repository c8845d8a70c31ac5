//! Live page: a shell that is loaded once, and parts that a server sends as events when their data change.
//!
//! The content of a [`Section`] is a separate part, sent only to browsers that have opened it. Scripts and style sheets
//! are files, so that [`POLICY`] can forbid inline scripts. `live.js` preserves zoom, switches and open sections.

use super::{Block, CHARTS, DRAW, Page, Section, UPLOT, UPLOT_LICENSE, charts, data, draw, style};
use crate::escape::markup;
use serde_json::json;
use std::collections::BTreeMap;

pub const POLICY: &str = "default-src 'none';script-src 'self';style-src 'self';style-src-attr 'unsafe-inline';img-src data:;\
                          connect-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub key: String,
    /// Anchor of the enclosing section, or an empty string.
    pub within: String,
    pub json: String,
}

/// Returns the name, the media type and the text of each static file.
pub fn assets() -> [(&'static str, &'static str, String); 4] {
    let script = |name, text| (name, "text/javascript; charset=utf-8", text);
    [
        ("page.css", "text/css; charset=utf-8", style()),
        script("uplot.js", format!("/* uPlot, https://github.com/leeoniya/uPlot\n{UPLOT_LICENSE}\n*/\n{UPLOT}\n")),
        script("charts.js", format!("{DRAW}{CHARTS}")),
        script("live.js", include_str!("live.js").to_owned()),
    ]
}

/// The page loads its parts from `feed` and its assets from `folder`, such as `/live/`.
pub fn shell(title: &str, folder: &str, feed: &str) -> String {
    let (title, folder, feed) = (markup(title), markup(folder), markup(feed));
    let colours = markup(&data::colours().to_string());
    let scripts: String = ["uplot.js", "charts.js", "live.js"]
        .iter()
        .map(|name| format!("<script src=\"{folder}{name}\" defer></script>\n"))
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"{folder}page.css\">\n{scripts}</head>\n<body>\n\
         <main data-feed=\"{feed}\" data-colours=\"{colours}\">\n\
         <p id=\"live\" role=\"status\">Connecting.</p>\n\
         <noscript><p>This page needs scripts. `--report FILE.html` writes one that does not.</p></noscript>\n\
         </main>\n</body>\n</html>\n"
    )
}

impl Page {
    pub fn parts(&self) -> Vec<Part> {
        let head = format!("<div>{}</div>", self.head());
        let mut parts = vec![part("head".into(), String::new(), &head, &[])];
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for block in &self.blocks {
            let name = key(block);
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            let key = if *count > 1 { format!("{name} {count}") } else { name };
            match block {
                Block::Section(section) if !section.place.is_empty() => parts.extend(section_parts(key, section)),
                block => {
                    let html = draw(block, &mut 0, false);
                    parts.push(part(key, String::new(), &html, std::slice::from_ref(block)));
                }
            }
        }
        parts
    }
}

fn section_parts(key: String, section: &Section) -> Vec<Part> {
    let (place, title) = (markup(&section.place), markup(&section.title));
    let shell = format!("<details><summary>{title}</summary>\n<div id=\"{place}\" data-within></div></details>");
    let inside = (!section.blocks.is_empty()).then(|| {
        let mut count = 0;
        let blocks: String = section.blocks.iter().map(|block| draw(block, &mut count, false)).collect();
        let html = format!("<div>{blocks}</div>");
        part(format!("{key} inside"), section.place.clone(), &html, &section.blocks)
    });
    [Some(part(key, String::new(), &shell, &[])), inside].into_iter().flatten().collect()
}

fn part(key: String, within: String, html: &str, blocks: &[Block]) -> Part {
    Part { key, within, json: json!({ "html": html.trim(), "charts": charts(blocks) }).to_string() }
}

/// Returns a name of the block that does not change with the data.
fn key(block: &Block) -> String {
    let (kind, title) = match block {
        Block::Chart(chart) => ("chart", chart.title.as_str()),
        Block::Table(table) => ("table", table.title.as_str()),
        Block::HeatMap(map) => ("cells", map.title.as_str()),
        Block::Multiples(multiples) => ("multiples", multiples.title.as_str()),
        Block::Steps(steps) => ("steps", steps.title.as_str()),
        Block::Tiles(_) => ("tiles", ""),
        Block::Text(title, _) => ("text", title.as_str()),
        Block::Section(section) if section.place.is_empty() => ("folded", section.title.as_str()),
        Block::Section(section) => ("section", section.place.as_str()),
    };
    format!("{kind} {title}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile::HOSTILE;
    use crate::{Chart, Series, Table, Tile};
    use serde_json::Value;

    fn page(y: f64) -> Page {
        let chart = |title: &str| Chart::new(title, "row", "y").with(Series::line("a", &[0.0, 1.0], &[0.0, y]));
        let section =
            |place: &str, blocks| Block::Section(Section { place: place.into(), title: "key".into(), blocks });
        Page {
            title: "t".into(),
            blocks: vec![
                Block::Tiles(vec![Tile { value: "1".into(), ..Tile::default() }]),
                Block::Chart(chart("same")),
                Block::Chart(chart("same")),
                section("key-0", vec![Block::Chart(chart("inside"))]),
                section("key-1", vec![]),
            ],
            ..Page::default()
        }
    }

    #[test]
    fn keys_stay_and_only_parts_whose_data_change_differ() {
        let (before, after) = (page(1.0).parts(), page(2.0).parts());
        let keys = |parts: &[Part]| parts.iter().map(|part| part.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(&before), keys(&after));
        assert_eq!(
            keys(&before),
            ["head", "tiles", "chart same", "chart same 2", "section key-0", "section key-0 inside", "section key-1"]
        );
        let differ = |(a, b): &(&Part, &Part)| a.json != b.json;
        let changed: Vec<&str> = before.iter().zip(&after).filter(differ).map(|(a, _)| a.key.as_str()).collect();
        assert_eq!(changed, ["chart same", "chart same 2", "section key-0 inside"]);
        assert_eq!(before[5].within, "key-0");
        let inside: Value = serde_json::from_str(&before[5].json).unwrap();
        assert_eq!(inside["charts"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn each_part_is_one_element_whatever_the_names() {
        for name in HOSTILE {
            let mut page = page(1.0);
            page.title = (*name).to_owned();
            page.summary = vec![(*name).to_owned()];
            page.blocks.push(Block::Table(Table {
                title: (*name).to_owned(),
                rows: vec![vec![(*name).to_owned()]],
                ..Table::default()
            }));
            for part in page.parts() {
                let json: Value = serde_json::from_str(&part.json).unwrap();
                let html = json["html"].as_str().unwrap().replace("data-within>", "data-within=\"\">");
                assert!(roxmltree::Document::parse(&html).is_ok(), "{html}");
            }
            let shell = shell(name, "/live/", name);
            assert!(!shell.contains("window.broken=1>") && !shell.contains("<script>"), "{shell}");
        }
    }

    #[test]
    fn shell_and_assets_hold_no_inline_script_and_no_other_address() {
        let shell = shell("t", "/live/", "/live/feed");
        assert_eq!(shell.matches("<script").count(), shell.matches("<script src=\"/live/").count());
        assert!(!shell.contains("<style") && !shell.contains("http"), "{shell}");
        for (name, ..) in assets() {
            assert!(shell.contains(name), "{name}");
        }
    }
}
