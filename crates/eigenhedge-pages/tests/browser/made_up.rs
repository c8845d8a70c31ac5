//! Pages of synthetic runs.

use eigenhedge::{Columns, Kind, Model, RunningCenter, Spec, Standardize, Standardizer, streams};
use eigenhedge_pages::run::{Recorder, page};
use eigenhedge_pages::{Block, Chart, Page};

const WIDTH: usize = 6;
const COLUMNS: [&str; WIDTH] = ["pressure", "flow", "voltage", "current", "speed", "7"];
/// Start of 2024 in seconds since 1970, and half a year in seconds.
pub const TIMES: (f64, f64) = (1_704_067_200.0, 15_724_800.0);

/// Run over a stream whose subspace changes twice.
pub struct MadeUp {
    pub rows: usize,
    pub noise: f64,
    /// Index of a row that is multiplied by a thousand.
    pub outlier: Option<usize>,
    pub has_times: bool,
    pub standardized: bool,
}

impl Default for MadeUp {
    fn default() -> Self {
        Self { rows: 500, noise: 0.3, outlier: None, has_times: false, standardized: false }
    }
}

impl MadeUp {
    pub fn page(&self) -> Page {
        let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) };
        let how = if self.standardized { Standardize::Running } else { Standardize::None };
        let columns = Columns::new(None, Standardizer::new(how, WIDTH));
        let mut model = Model::new(spec, WIDTH, 1).unwrap().with_columns(columns);
        let mut recorder = Recorder::new(&model, self.has_times);
        let part = |seed| streams::iid(WIDTH, 2, self.noise, self.rows.div_ceil(3), seed).rows;
        for (i, mut row) in (1..=3).flat_map(part).take(self.rows).enumerate() {
            row.iter_mut().filter(|_| self.outlier == Some(i)).for_each(|x| *x *= 1e3);
            let seconds = TIMES.0 + TIMES.1 * i as f64 / self.rows as f64;
            let label = format!("sensor {}", i % 17);
            let loss = model.step(&row).unwrap();
            recorder.enter(i as u64, Some((seconds, &label)), loss, &model);
        }
        let summary = model.summary();
        recorder.close(self.rows as u64 - 1, &model, &summary);
        page("sensors.csv", &COLUMNS.map(String::from), &recorder, &model, &summary)
    }
}

pub fn made_up(rows: usize) -> Page {
    MadeUp { rows, ..MadeUp::default() }.page()
}

pub fn charts(page: &Page) -> Vec<Chart> {
    let chart = |block: &Block| if let Block::Chart(chart) = block { Some(chart.clone()) } else { None };
    page.blocks.iter().filter_map(chart).collect()
}
