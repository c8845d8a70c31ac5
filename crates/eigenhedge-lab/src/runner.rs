//! Runs reproductions, writes their outcomes, and reports the claims.

use crate::{Claim, LabError, Outcome, Reproduction, Setting, Table};
use eigenhedge_io::write_whole;
use eigenhedge_pages::{Block, Page, svg};
use std::fs;
use std::io::Write;
use std::path::Path;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
}

/// Runs each reproduction and writes it to its own subfolder of `folder`. Prints PASS or FAIL for each claim to `lines`.
pub fn run_all(
    reproductions: &[&Reproduction],
    setting: &Setting,
    folder: &Path,
    progress: &dyn Fn(&str, f64),
    lines: &mut dyn Write,
) -> Result<Tally, LabError> {
    let mut tally = Tally::default();
    for reproduction in reproductions {
        let name = reproduction.name;
        progress(name, 0.0);
        let outcome = (reproduction.run)(setting, &|done| progress(name, done))?;
        progress(name, 1.0);
        write(reproduction, &outcome, &folder.join(name))?;
        for claim in &outcome.claims {
            *(if claim.holds { &mut tally.passed } else { &mut tally.failed }) += 1;
            writeln!(lines, "{} {name}: {}", verdict(claim), claim.statement).map_err(LabError::Unprintable)?;
        }
        lines.flush().map_err(LabError::Unprintable)?;
    }
    Ok(tally)
}

/// Writes tables as `NAME.csv` or `NAME-SUFFIX.csv`, the charts as `NAME.svg`, and all as `index.html`.
fn write(reproduction: &Reproduction, outcome: &Outcome, folder: &Path) -> Result<(), LabError> {
    let unwritable = |source| LabError::Unwritable { path: folder.to_path_buf(), source };
    fs::create_dir_all(folder).map_err(unwritable)?;
    let name = reproduction.name;
    for table in &outcome.tables {
        let file = if table.suffix.is_empty() { format!("{name}.csv") } else { format!("{name}-{}.csv", table.suffix) };
        write_whole(&folder.join(file), &csv(table).map_err(unwritable)?)?;
    }
    let page = page(reproduction, outcome);
    let picture = match outcome.charts.as_slice() {
        [] => None,
        [chart] => Some(svg::chart(chart)),
        _ => Some(page.svg()),
    };
    if let Some(picture) = picture {
        write_whole(&folder.join(format!("{name}.svg")), picture.as_bytes())?;
    }
    Ok(write_whole(&folder.join("index.html"), page.html().as_bytes())?)
}

fn csv(table: &Table) -> std::io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&table.columns)?;
    table.rows.iter().try_for_each(|row| writer.write_record(row))?;
    writer.into_inner().map_err(|error| error.into_error())
}

fn page(reproduction: &Reproduction, outcome: &Outcome) -> Page {
    let claims = eigenhedge_pages::Table {
        title: "Claims".into(),
        columns: vec!["verdict".into(), "claim".into()],
        rows: outcome.claims.iter().map(|claim| vec![verdict(claim).to_owned(), claim.statement.clone()]).collect(),
        ..Default::default()
    };
    let mut letters = reproduction.title.chars();
    let charts = outcome.charts.iter().cloned().map(Block::Chart);
    Page {
        title: letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect(),
        subtitle: reproduction.source.into(),
        summary: outcome.text.clone(),
        blocks: std::iter::once(Block::Table(claims)).chain(charts).collect(),
    }
}

fn verdict(claim: &Claim) -> &'static str {
    if claim.holds { "PASS" } else { "FAIL" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge_pages::{Chart, Series};

    const MADE_UP: Reproduction = Reproduction {
        name: "made-up",
        title: "one that holds and one that does not",
        source: "nowhere",
        run: |setting, progress| {
            progress(0.5);
            let mut table = Table::new("", ["a", "b, quoted"]);
            table.push([setting.seed as f64, 1.0 / 3.0]);
            Ok(Outcome {
                tables: vec![table],
                charts: vec![Chart::new("t", "x", "y").with(Series::line("s", &[0.0, 1.0], &[0.0, 1.0]))],
                text: vec!["Text.".into()],
                claims: vec![Claim::less("one", 1.0, "two", 2.0), Claim::less("two", 2.0, "one", 1.0)],
            })
        },
    };

    #[test]
    fn a_false_claim_is_printed_and_counted_as_failed() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = Vec::new();
        let heard = std::cell::RefCell::new(Vec::new());
        let progress = |name: &str, done: f64| heard.borrow_mut().push((name.to_owned(), done));
        let setting = Setting { seed: 7, ..Setting::default() };
        let tally = run_all(&[&MADE_UP], &setting, folder.path(), &progress, &mut lines).unwrap();
        assert_eq!(tally, Tally { passed: 1, failed: 1 });
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            "PASS made-up: one (1) < two (2)\nFAIL made-up: two (2) < one (1)\n"
        );
        assert_eq!(heard.borrow().iter().map(|(_, done)| *done).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
        let read = |file: &str| fs::read_to_string(folder.path().join("made-up").join(file)).unwrap();
        assert_eq!(read("made-up.csv"), "a,\"b, quoted\"\n7,0.3333333333333333\n");
        assert!(read("made-up.svg").contains("<svg") && read("index.html").contains("FAIL"));
        assert_eq!(fs::read_dir(folder.path().join("made-up")).unwrap().count(), 3);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = run_all(&[&MADE_UP], &Setting::default(), file.path(), &|_, _| {}, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("made-up: cannot be written"), "{error}");
    }
}
