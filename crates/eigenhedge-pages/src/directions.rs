//! Number of directions: given by the user, or chosen from the energy of the first rows.

use eigenhedge::batch::{Center, Pca};
use eigenhedge::{Missing, Standardize};
use eigenhedge_io::{Layout, OnBadRow, Source, Stream};

const SHARE: f64 = 0.9;
/// Maximum numbers of rows and of values used for the choice.
const FIRST: (usize, usize) = (1000, 1 << 20);
const MOST: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Directions {
    Number(usize),
    /// Share of the energy that the directions must explain, between 0 and 1.
    Share(f64),
}

/// Number of directions, and a sentence that explains it unless the user gave the number.
pub type Chosen = (usize, Option<String>);

impl Directions {
    pub fn from_text(text: &str) -> Result<Self, String> {
        let share = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share < 1.0).map(Self::Share);
        let number = text.parse().ok().map(Self::Number);
        number.or(share).ok_or_else(|| "must be a whole number, or a share between 0 and 1".to_owned())
    }

    /// Returns 1 for an unreadable table, because the caller reports the error.
    pub fn of_table(
        asked: Option<Self>,
        source: &Source,
        layout: &Layout,
        (how, center): (Standardize, Center),
    ) -> Result<Chosen, String> {
        if let Some(Self::Number(k)) = asked {
            return Ok((k, None));
        }
        if layout.items.is_some() {
            return Err("-k must be given when rows are texts or sets".into());
        }
        let layout = Layout { missing: Some(Missing::Skip), on_bad_row: OnBadRow::Skip, ..layout.clone() };
        let Ok(mut stream) = Stream::open(source, &layout) else { return Ok((1, None)) };
        let most = FIRST.0.min(FIRST.1 / stream.columns().len().max(1)).max(2);
        let mut rows = Vec::new();
        while let (true, Ok(Some(row))) = (rows.len() < most, stream.next_row()) {
            rows.push(row.to_vec());
        }
        if how != Standardize::None {
            standardize(&mut rows);
        }
        Ok(Self::of_rows(asked, &rows, center))
    }

    pub fn of_rows(asked: Option<Self>, rows: &[Vec<f64>], center: Center) -> Chosen {
        if let Some(Self::Number(k)) = asked {
            return (k, None);
        }
        let rows = &rows[..rows.len().min(FIRST.0)];
        let most = rows.first().map_or(0, Vec::len).min(rows.len()).saturating_sub(1).min(MOST);
        match Pca::fit(rows, most.max(1), center) {
            Ok(pca) => Self::of_shares(asked, &pca.explained_ratio(), rows.len()),
            Err(_) => (1, None),
        }
    }

    /// Returns the smallest number of directions whose energy `shares` add up to the wanted share, or all.
    pub fn of_shares(asked: Option<Self>, shares: &[f64], rows: usize) -> Chosen {
        let wanted = if let Some(Self::Share(share)) = asked { share } else { SHARE };
        let mut sum = 0.0;
        let enough = shares.iter().position(|share| {
            sum += share;
            sum >= wanted
        });
        let k = enough.map_or(shares.len(), |place| place + 1).max(1);
        let percent = 100.0 * shares.iter().take(k).sum::<f64>();
        let directions = if k == 1 { "1 direction explains" } else { &format!("{k} directions explain") };
        let sentence =
            format!("-k {k}: {directions} {percent:.0} % of the first {rows} rows; -k takes another number or a share");
        (k, Some(sentence))
    }
}

fn standardize(rows: &mut [Vec<f64>]) {
    let count = rows.len() as f64;
    for column in 0..rows.first().map_or(0, Vec::len) {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let deviation = (rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count).sqrt();
        let divisor = if deviation > 0.0 { deviation } else { 1.0 };
        rows.iter_mut().for_each(|row| row[column] = (row[column] - mean) / divisor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge::streams;

    #[test]
    fn the_mean_is_a_direction_only_without_a_center() {
        let mut rows = streams::iid(6, 3, 0.01, 200, 1).rows;
        rows.iter_mut().flatten().for_each(|x| *x += 100.0);
        let k = |center| Directions::of_rows(None, &rows, center).0;
        assert_eq!((k(Center::None), k(Center::Mean)), (1, 3));
        standardize(&mut rows);
        assert_eq!(Directions::of_rows(None, &rows, Center::None).0, 3);
    }
}
