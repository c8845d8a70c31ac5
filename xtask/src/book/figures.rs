//! Numbers in the README, computed from files of results and from the tables of the evidence pages.
//!
//! Each phrase is built from its source and must occur in the README. A digit outside all phrases is also an error, so
//! that a number cannot be changed by hand. `tests/demo.rs` of the program checks the losses of the demo.

use crate::files;
use std::path::Path;

/// Phrases whose digits are not measurements.
const NAMES: [&str; 4] = ["Apache License 2.0", "`valve1/6.csv`", "1500 rows of 20 numbers", "ELEC2"];

/// Returns a message for each number in the README that differs from its source or has no source.
pub fn wrong(root: &Path) -> Result<Vec<String>, String> {
    let readme = read(root, "README.md")?;
    Ok(compare(&readme, &fragments(root)?))
}

fn read(root: &Path, name: &str) -> Result<String, String> {
    files::read(&root.join(name))
}

fn compare(readme: &str, fragments: &[String]) -> Vec<String> {
    let mut prose = prose(readme);
    let mut problems = Vec::new();
    for fragment in fragments.iter().map(String::as_str).chain(NAMES) {
        if prose.contains(fragment) {
            prose = prose.replace(fragment, " ");
        } else {
            problems.push(format!("README.md lacks \"{fragment}\", which its source has"));
        }
    }
    let left = prose.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    problems.extend(
        left.map(|word| format!("README.md: no source has the number in \"{word}\" (xtask/src/book/figures.rs)")),
    );
    problems
}

/// Returns the text without code and link targets, with single spaces.
fn prose(text: &str) -> String {
    let outside: String = text.split("```").step_by(2).collect();
    let mut parts = outside.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += part.split_once(')').map_or(part, |(_, rest)| rest);
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn fragments(root: &Path) -> Result<Vec<String>, String> {
    let mut all = evidence(&read(root, "docs/src/evidence.md")?, &read(root, "bench/results/evidence.md")?)?;
    let (ours, peers) = (read(root, "bench/results/monitor.txt")?, read(root, "bench/results/monitor-peers.txt")?);
    all.extend(monitor(&ours, &peers)?);
    all.extend(benchmarks(&read(root, "docs/src/benchmarks.md")?, &read(root, "bench/results/peers.md")?)?);
    all.extend(recording(&read(root, "bench/results/skab-valve1-6.txt")?)?);
    let notebook = read(root, "docs/src/notebook-sensor-drift.md")?;
    let (loss, bound) = (after(&notebook, "expected loss ")?, after(&notebook, "; bound ")?);
    all.push(format!("the loss is {loss} and the bound {bound}."));
    let version = after(&read(root, "Cargo.toml")?, "rust-version = \"")?;
    all.push(format!("Rust {version} or later"));
    let limit =
        number(&after(&read(root, "crates/eigenhedge/src/comparators/best_subspace.rs")?, "LONGEST: usize = ")?)?;
    all.push(format!("n·(k + 3) per learner, and n² up to n = {},{:03}", limit as usize / 1000, limit as usize % 1000));
    Ok(all)
}

/// Returns phrases about the loss of the default learner relative to tuned trackers, from the tables of cases.
fn evidence(page: &str, results: &str) -> Result<Vec<String>, String> {
    let mut cases = table(results, "# Streams in sight\n")?;
    cases.extend(table(results, "# Other real streams\n")?);
    let mut streams: Vec<&str> = cases.iter().map(|row| row[0]).collect();
    streams.sort_unstable();
    streams.dedup();
    let column = |i: usize| cases.iter().map(|row| number(row[i])).collect::<Result<Vec<f64>, _>>();
    let (plain, centered) = (column(5)?, column(8)?);
    let families = table(page, "## Method")?;
    let settings: usize = families.iter().map(|row| settings(row[1])).sum();
    let names: usize = families.iter().map(|row| row[0].split(';').count()).sum();
    Ok(vec![
        format!(
            "On {} cases of {} real streams, `auto` lost {:.2} times as much as the best of {settings} settings of {} trackers \
             (geometric mean; worst case {:.2})",
            cases.len(),
            in_words(streams.len()),
            geometric_mean(&plain),
            in_words(names),
            largest(&plain),
        ),
        format!("the ratio is {:.3} (worst case {:.2})", geometric_mean(&centered), largest(&centered)),
    ])
}

/// Returns the number of settings listed in a cell, or 1 if none is listed.
fn settings(cell: &str) -> usize {
    let listed = cell.split_whitespace().filter(|word| number(word.trim_end_matches(',')).is_ok()).count();
    listed.max(1) * if cell.ends_with("each") { 2 } else { 1 }
}

/// Returns phrases about alarms on streams without a fault, and about the results on the SKAB data.
fn monitor(ours: &str, peers: &str) -> Result<Vec<String>, String> {
    let start = "normal, auto:0.01, ";
    let percent = |mark: &str| -> Result<Vec<f64>, String> {
        let lines = ours.lines().filter(|line| line.trim().starts_with(start));
        lines.map(|line| number(&after(line, mark)?).map(|share| 100.0 * share)).collect()
    };
    let (shares, drifts) = (percent(": alarms ")?, percent(", incident ")?);
    // The first table of the file is that of SKAB.
    let of = |name: &str| -> Result<(f64, f64), String> {
        let rest = peers.split_once(name).map_or("", |(_, rest)| rest.lines().next().unwrap_or_default());
        let found: Vec<f64> = numbers(rest).iter().flat_map(|text| number(text)).collect();
        let [f1, false_reports, ..] = found[..] else {
            return Err(format!("bench/results/monitor-peers.txt has no {name}"));
        };
        Ok((f1, 100.0 * false_reports))
    };
    let (default, lagged) = (of("eigenhedge monitor ")?, of("eigenhedge monitor, lags 5 ")?);
    let (pca, always) = (of("PCA T²+Q ")?, of("an alarm on every row ")?);
    Ok(vec![
        format!(
            "On {} streams without a fault, `monitor` raised alarms on {:.2} to {:.1} % of the rows, where 1 % was requested.",
            shares.len(),
            shares.iter().copied().fold(f64::INFINITY, f64::min),
            largest(&shares)
        ),
        format!("up to {:.0} % of the rows", largest(&drifts)),
        format!("`monitor` has F1 {:.2} with {:.0} % false reports", default.0, default.1),
        format!("with `--lags 5` {:.2} with {:.0} %.", lagged.0, lagged.1),
        format!("PCA with T² and Q, without lags, has {:.2} with {:.0} %", pca.0, pca.1),
        format!("an alarm on every row has {:.2}.", always.0),
    ])
}

fn benchmarks(page: &str, peers: &str) -> Result<Vec<String>, String> {
    let rows = table(page, "## Speed")?;
    let range = |column: usize| -> Result<String, String> {
        let times: Vec<f64> = rows.iter().map(|row| number(row[column])).collect::<Result<_, _>>()?;
        Ok(format!("{} to {}", times.iter().copied().fold(f64::INFINITY, f64::min), largest(&times)))
    };
    let size = after(page, "| n = ")?;
    let k = after(page, "one thread per method and k = ")?;
    let shared = numbers(&line_after(peers, "With fixed share, n = ")?);
    let [_, _, _, least, most, ..] = &shared[..] else {
        return Err("bench/results/peers.md: no fixed share".to_owned());
    };
    Ok(vec![
        format!(
            "For rows of {size} numbers and k = {k}, scikit-learn's IncrementalPCA takes {} times as long as `tracking --mixing none` and {} times as \
             long as `auto`",
            range(3)?,
            range(4)?
        ),
        format!("It takes {least} to {most} times as long as `tracking` with its default mixing"),
    ])
}

fn recording(text: &str) -> Result<Vec<String>, String> {
    let clock = |line: &str| line.split_whitespace().nth(1).map(str::to_owned).ok_or(format!("no time in {line:?}"));
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("$ awk")).skip(1).take(2).collect();
    let [first, last] = lines[..] else { return Err("bench/results/skab-valve1-6.txt has no labels".to_owned()) };
    let command =
        text.lines().find_map(|line| line.strip_prefix("$ eigenhedge ")).ok_or("no command of the recording")?;
    let (start, reported) = (after(text, " unusual from 2020-03-09 ")?, after(text, "known at row ")?);
    let (columns, warm_up) = (after(text, "rows of ")?, after(text, "normal     the first ")?);
    Ok(vec![
        format!("a water pump with {columns} sensors"),
        format!("The page of `eigenhedge {command}` for"),
        format!(
            "from {} to {}. At row {reported}, the monitor reports an incident that began at {start}.",
            clock(first)?,
            clock(last)?
        ),
        format!("The first {warm_up} rows are assumed to be normal"),
    ])
}

/// Returns the cells of the first table after `start`, without its header.
fn table<'a>(page: &'a str, start: &str) -> Result<Vec<Vec<&'a str>>, String> {
    let (_, rest) = page.split_once(start).ok_or(format!("no {start:?} in a page"))?;
    let lines = rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cell = |cell: &'a str| cell.split("<!--").next().unwrap_or(cell).trim();
    Ok(lines.skip(2).map(|line| line.trim_matches('|').split('|').map(cell).collect()).collect())
}

/// Returns the first number after `start` on its line, as it is written.
fn after(text: &str, start: &str) -> Result<String, String> {
    let (_, rest) = text.split_once(start).ok_or(format!("no {start:?} in a source of the README"))?;
    numbers(rest.lines().next().unwrap_or_default()).into_iter().next().ok_or(format!("no number after {start:?}"))
}

/// Returns the rest of the line after `start`.
fn line_after(text: &str, start: &str) -> Result<String, String> {
    let (_, rest) = text.split_once(start).ok_or(format!("no {start:?} in a source of the README"))?;
    Ok(rest.lines().next().unwrap_or_default().to_owned())
}

pub fn numbers(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '_')));
    let trimmed = parts.map(|part| part.trim_matches(['.', ',', ':', '_']));
    trimmed.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

pub fn number(text: &str) -> Result<f64, String> {
    text.replace([',', '_'], "").parse().map_err(|_| format!("{text:?} is not a number"))
}

fn geometric_mean(numbers: &[f64]) -> f64 {
    (numbers.iter().map(|number| number.ln()).sum::<f64>() / numbers.len() as f64).exp()
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn in_words(number: usize) -> String {
    let words = ["eight", "nine", "ten", "eleven", "twelve"];
    number.checked_sub(8).and_then(|i| words.get(i)).map_or(number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes each digit in the prose of the README in turn, and expects an error.
    #[test]
    fn every_digit_that_is_changed_by_hand_is_found() {
        let root = crate::root();
        let readme = read(&root, "README.md").unwrap();
        let fragments = fragments(&root).unwrap();
        assert_eq!(compare(&readme, &fragments), Vec::<String>::new());
        let text = prose(&readme);
        let mut changed = 0;
        for (at, digit) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
            let other = if digit == '7' { '8' } else { '7' };
            let edited = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert!(!compare(&edited, &fragments).is_empty(), "{}", &text[at.saturating_sub(20)..at + 1]);
            changed += 1;
        }
        assert!(changed > 60, "{changed}");
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        assert_eq!(numbers("F1 0.83 with 14 % false, 27,573."), ["1", "0.83", "14", "27,573"]);
        assert_eq!(settings("memories 0.8, 0.9, 1,000 each"), 6);
        assert_eq!(settings("one setting"), 1);
    }
}
