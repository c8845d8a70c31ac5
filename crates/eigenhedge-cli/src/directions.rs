//! Number of directions: as typed, or as many as explain a share of the energy of the first rows.

use crate::args::Directions;
use crate::inputs::paths_of;
use crate::say::say;
use crate::table::Usage;
use anyhow::Result;
use eigenhedge::batch::{Center, Pca};
use eigenhedge::{Missing, Standardize};
use eigenhedge_io::{Layout, OnBadRow, Source, Stream};

const SHARE: f64 = 0.9;
/// Number of first rows from which the directions are counted, and of their numbers.
const FIRST: (usize, usize) = (1000, 1 << 20);
const MOST: usize = 64;

impl Directions {
    /// Returns the number of directions of a table. A table that cannot be read is left to the command.
    pub fn choose(
        asked: Option<Self>,
        source: &Source,
        layout: &Layout,
        how: Standardize,
        quiet: bool,
    ) -> Result<usize> {
        if let Some(Self::Number(k)) = asked {
            return Ok(k);
        }
        if *source == Source::Standard || paths_of(source).iter().any(|path| path.exists() && !path.is_file()) {
            return Err(Usage(
                "-k must be given when rows come through a pipe: their first rows cannot be read twice".into(),
            )
            .into());
        }
        if layout.items.is_some() {
            return Err(Usage("-k must be given when rows are texts or sets".into()).into());
        }
        let layout = Layout { missing: Some(Missing::Skip), on_bad_row: OnBadRow::Skip, ..layout.clone() };
        let Ok(mut stream) = Stream::open(source, &layout) else { return Ok(1) };
        let most = FIRST.0.min(FIRST.1 / stream.columns().len().max(1)).max(2);
        let mut rows = Vec::new();
        while let (true, Ok(Some(row))) = (rows.len() < most, stream.next_row()) {
            rows.push(row.to_vec());
        }
        if how != Standardize::None {
            standardize(&mut rows);
        }
        Ok(Self::of_rows(asked, &rows, quiet))
    }

    /// Returns the number of directions of these rows, and reports a number that was not given.
    pub fn of_rows(asked: Option<Self>, rows: &[Vec<f64>], quiet: bool) -> usize {
        if let Some(Self::Number(k)) = asked {
            return k;
        }
        let rows = &rows[..rows.len().min(FIRST.0)];
        let most = rows.first().map_or(0, Vec::len).min(rows.len()).saturating_sub(1).min(MOST);
        match Pca::fit(rows, most.max(1), Center::Mean) {
            Ok(pca) => Self::of_shares(asked, &pca.explained_ratio(), rows.len(), quiet),
            Err(_) => 1,
        }
    }

    /// Returns the number of directions whose shares add up to the wanted share of these rows, and reports it.
    pub fn of_shares(asked: Option<Self>, shares: &[f64], rows: usize, quiet: bool) -> usize {
        let wanted = if let Some(Self::Share(share)) = asked { share } else { SHARE };
        let mut sum = 0.0;
        let enough = shares.iter().position(|share| {
            sum += share;
            sum >= wanted
        });
        let k = enough.map_or(shares.len(), |place| place + 1).max(1);
        if !quiet {
            let percent = 100.0 * shares.iter().take(k).sum::<f64>();
            let directions = if k == 1 { "1 direction explains" } else { &format!("{k} directions explain") };
            say(&format!(
                "-k {k}: {directions} {percent:.0} % of the first {rows} rows; -k takes another number or a share"
            ));
        }
        k
    }
}

fn standardize(rows: &mut [Vec<f64>]) {
    let count = rows.len() as f64;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let deviation = (rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count).sqrt();
        if deviation > 0.0 {
            rows.iter_mut().for_each(|row| row[column] /= deviation);
        }
    }
}
