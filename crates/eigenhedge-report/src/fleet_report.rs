//! The page of many monitors: a line for each key, which leads to its charts.

use crate::monitor_report::MonitorReport;
use crate::page::{Block, Overview, Page, Section, Tile};

/// The data of the page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FleetReport {
    /// Heading.
    pub title: String,
    /// A line below the heading.
    pub subtitle: String,
    /// Findings, one sentence each.
    pub summary: Vec<String>,
    /// A few numbers in large letters.
    pub tiles: Vec<Tile>,
    /// A line for each key.
    pub overview: Overview,
    /// The charts of keys, at the places that the overview names.
    pub keys: Vec<(String, MonitorReport)>,
}

impl FleetReport {
    /// The page as an HTML file.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// The page.
    pub fn page(&self) -> Page {
        let mut blocks = vec![Block::Tiles(self.tiles.clone()), Block::Overview(self.overview.clone())];
        blocks.extend(self.keys.iter().map(|(place, report)| {
            let (place, title) = (place.clone(), report.title.clone());
            Block::Section(Section { place, title, blocks: report.blocks() })
        }));
        Page { title: self.title.clone(), subtitle: self.subtitle.clone(), summary: self.summary.clone(), blocks }
    }
}
