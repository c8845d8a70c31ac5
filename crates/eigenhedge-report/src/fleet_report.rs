//! Page of many monitors: one line per key, with a link to its charts.

use crate::monitor_report::MonitorReport;
use crate::page::{Block, Overview, Page, Section, Tile};

/// Content of the page of a fleet, which has one monitor per key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FleetReport {
    /// Heading.
    pub title: String,
    /// Line below the heading.
    pub subtitle: String,
    /// Findings, one sentence each.
    pub summary: Vec<String>,
    /// Key numbers in large type.
    pub tiles: Vec<Tile>,
    /// Overview with one line per key.
    pub overview: Overview,
    /// Charts of single keys, each with the anchor to which the overview links.
    pub keys: Vec<(String, MonitorReport)>,
}

impl FleetReport {
    /// Returns the page as an HTML file.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// Builds the page from the tiles, the overview and the charts of each key.
    pub fn page(&self) -> Page {
        let mut blocks = vec![Block::Tiles(self.tiles.clone()), Block::Overview(self.overview.clone())];
        blocks.extend(self.keys.iter().map(|(place, report)| {
            let (place, title) = (place.clone(), report.title.clone());
            Block::Section(Section { place, title, blocks: report.blocks() })
        }));
        Page { title: self.title.clone(), subtitle: self.subtitle.clone(), summary: self.summary.clone(), blocks }
    }
}
