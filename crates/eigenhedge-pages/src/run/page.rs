//! Page of a run, built from its recorder.

use super::charts::{self, chance};
use super::summary::sentences;
use super::{Recorder, ledger};
use crate::number::{grouped, readable, significant};
use crate::page::{Block, Page, Section, Tile};
use eigenhedge::{Model, Standardize, Summary};

pub fn page(source: &str, columns: &[String], recorder: &Recorder, run: &Model, summary: &Summary) -> Page {
    let standardized = run.columns().standardizer.how() != Standardize::None;
    let name = run.spec().learner.entry().name;
    let (rows, width) = (grouped(summary.rows), summary.dim);
    let unit = if standardized { "squared standard deviations" } else { "squared units of the input" };
    let mut blocks = vec![Block::Tiles(tiles(run, summary))];
    blocks.extend(charts::pictures(recorder, run, summary, columns, unit));
    let largest = ledger::largest(&recorder.largest.entries);
    let tables = [ledger::account(summary), largest, ledger::members(&summary.members)];
    let tables = tables.into_iter().filter(|table| !table.rows.is_empty()).map(Block::Table);
    let text = Block::Text(String::new(), sentences(summary, run.spec(), standardized));
    let inside = std::iter::once(text).chain(tables).collect();
    blocks.push(Block::Section(Section { title: "The whole account".into(), blocks: inside, ..Section::default() }));
    Page {
        title: source.to_owned(),
        subtitle: format!("eigenhedge run: {rows} rows of {width} columns, {} directions kept by {name}", summary.k),
        summary: notes(recorder, summary),
        blocks,
    }
}

/// The best loss is an interval. Returns `None` before the first row whose loss counts.
pub fn page_so_far(source: &str, columns: &[String], recorder: &Recorder, run: &Model, row: u64) -> Option<Page> {
    if run.totals().charged() == 0 {
        return None;
    }
    let mut recorder = recorder.clone();
    let summary = run.approximate_summary(&mut recorder.leading);
    recorder.close(row, run, &summary);
    Some(page(source, columns, &recorder, run, &summary))
}

fn percent(part: f64) -> String {
    format!("{} %", significant(100.0 * part, 3))
}

fn tiles(run: &Model, summary: &Summary) -> Vec<Tile> {
    let (lost, energy) = (summary.expected_loss, summary.loss + summary.kept_energy);
    let tile =
        |value: String, label: String, exact: f64| Tile { value, label, exact: exact.to_string(), ..Tile::default() };
    let mut tiles = Vec::new();
    if energy > 0.0 {
        let kept = (1.0 - lost / energy).clamp(0.0, 1.0);
        let directions = if summary.k == 1 { "direction".into() } else { format!("{} directions", summary.k) };
        tiles.push(tile(percent(kept), format!("of the energy kept by the {directions} chosen before each row"), kept));
        let without = chance(run) * energy;
        if without > 0.0 {
            tiles.push(tile(percent(lost / without), "of the loss without learning".into(), lost / without));
        }
    }
    if let Some(best) = summary.best_loss.map(|best| best.high()).filter(|best| *best > 0.0) {
        let ratio = lost / best;
        let label = "the loss of the best fixed directions, chosen with all rows known".into();
        tiles.push(tile(format!("{} \u{d7}", significant(ratio, 3)), label, ratio));
    }
    match (summary.bound, summary.bound_holds) {
        (Some(bound), Some(holds)) if bound > 0.0 => {
            let label = if holds { "of the loss that the bound allows" } else { "of the bound: IT DOES NOT HOLD" };
            tiles.push(tile(percent(lost / bound), label.into(), lost / bound));
        }
        _ => tiles.push(Tile { value: "no bound".into(), label: summary.bound_reason.clone(), ..Tile::default() }),
    }
    tiles
}

fn notes(recorder: &Recorder, summary: &Summary) -> Vec<String> {
    let rows = |count: u64| if count == 1 { "1 row was".into() } else { format!("{} rows were", grouped(count)) };
    let (entries, certificate) = (&recorder.largest.entries, &summary.certificate);
    let (count, largest) = (entries.len() as u64, entries.iter().map(|entry| entry.value).sum::<f64>());
    let charged = recorder.checkpoints.last().map_or(0, |last| last.rows);
    let is_outlying = summary.loss > 0.0 && charged >= 100 * count && largest > 0.25 * summary.loss;
    let share = percent((largest / summary.loss).min(1.0));
    let [skipped, clipped, filled] =
        [summary.skipped_rows, certificate.clipped_rows, certificate.filled_rows].map(|count| (count > 0, rows(count)));
    let (cells, budget) = (grouped(certificate.missing_cells), readable(certificate.budget_error));
    let notes = [
        (summary.bound_holds == Some(false), BROKEN.to_owned()),
        (is_outlying, format!("{count} rows account for {share} of the total loss: see “Which rows stand out”.")),
        (recorder.times.is_some() && !recorder.is_in_order, UNORDERED.to_owned()),
        (skipped.0, skipped.1 + " passed over."),
        (clipped.0, clipped.1 + " shortened before learning; the loss counts in full."),
        (filled.0, format!("{} learned with missing cells filled in: {cells} cells.", filled.1)),
        (certificate.budget_error > 0.0, format!("The budget discarded features with a total norm of {budget}.")),
    ];
    notes.into_iter().filter_map(|(applies, note)| applies.then_some(note)).collect()
}

const BROKEN: &str = "The bound DOES NOT HOLD: the loss is larger than the theorem allows.";
const UNORDERED: &str = "The times are not in order, so the charts show row numbers.";
