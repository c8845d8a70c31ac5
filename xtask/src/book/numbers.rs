//! Comparison of the numbers in the book with result files.
//!
//! A block is a paragraph, a list item or a row of a table. A comment in a block, or on the line
//! above it, names the sources of the numbers in the block:
//!
//! ```text
//! <!-- from bench/results/monitor.txt: TEP: mean AUC / 0.99: | most normal, auto:0.01 / alarms -->
//! <!-- given: 400, 10 -->
//! ```
//!
//! Keys are separated by ` | `. The two parts of a key are separated by ` / `. A key selects the lines
//! of the file that contain its first part. In the rest of these lines, it selects the first number
//! after its second part, or all numbers if it has no second part. The words `least`, `most`, `mean` and
//! `count` reduce the selected numbers to one. `from FILE: rows`, above a table, requires that each row
//! of the table is a line of the file. `given` lists numbers that are not measured: settings and sizes.
//!
//! A number without a source is an error if it is in a block with sources, has the form of a
//! measurement, or is on a page of [`EVIDENCE`]. A source that no number uses is an error too,
//! unless it is above a table.

use super::page::{BookPage, plain_text};
use crate::files::read;
use std::collections::BTreeMap;
use std::path::Path;

/// Pages on which each number must have a source. On other pages, only numbers in the form of a
/// measurement must have one.
const EVIDENCE: [&str; 5] = ["README.md", "evidence.md", "monitor-evidence.md", "benchmarks.md", "learners.md"];
/// Pages that are not checked. The first has no measurements of this project. `cargo xtask options`
/// generates the tables of the second. Notebooks are not checked either, because the Python tests
/// compare their numbers.
const ELSEWHERE: [&str; 2] = ["references.md", "options.md"];
/// Words and signs that make the number before them a measurement.
const UNITS: &str = "%|µs|ms|s|seconds|second|minutes|hours|bytes|kB|MB|GB|TB|KB|MiB|GiB|times|rows per second|core-hours|core-seconds|cycles|\
                     GFLOP/s|as fast|as long";
/// Words that make the number after them a measurement.
const MEASURES: [&str; 8] = ["F1", "AUC", "loses", "lost", "loss is", "bound is", "bound", "ratio is"];

/// Returns a message for each number without a source, and for each source without a number.
pub fn wrong(root: &Path, pages: &[BookPage]) -> Result<Vec<String>, String> {
    let mut files = BTreeMap::new();
    let mut problems = Vec::new();
    for page in pages.iter().filter(|page| is_checked(page.file())) {
        problems
            .extend(split_comments(&page.text).map(|row| format!("{}: a bar in a comment splits {row:?}", page.name)));
        for block in blocks(&page.text) {
            for name in block.sources.iter().filter_map(Source::file) {
                if !files.contains_key(name) {
                    files.insert(name.to_owned(), read(&root.join(name))?);
                }
            }
            let found = block.problems(&files, EVIDENCE.contains(&page.file()));
            problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", page.name)));
        }
    }
    Ok(problems)
}

/// Returns the rows of tables with a bar in a comment. Such a bar ends the cell, so that the
/// comment becomes visible on the page.
fn split_comments(page: &str) -> impl Iterator<Item = &str> {
    let is_split =
        |row: &&str| row.split("<!--").skip(1).any(|rest| rest.split("-->").next().unwrap_or("").contains('|'));
    page.lines().filter(|line| line.trim_start().starts_with('|')).filter(is_split)
}

fn is_checked(file: &str) -> bool {
    !ELSEWHERE.contains(&file) && !file.starts_with("notebook-")
}

#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// Numbers of a result file, selected by a key.
    From { file: String, key: String },
    /// Number that is not measured, as written on the page.
    Given(String),
}

impl Source {
    fn file(&self) -> Option<&str> {
        match self {
            Self::From { file, .. } => Some(file),
            Self::Given(_) => None,
        }
    }

    fn parse(comment: &str) -> Vec<Self> {
        let comment = comment.trim();
        if let Some(list) = comment.strip_prefix("given: ") {
            return list.split(", ").map(|item| Self::Given(item.trim().to_owned())).collect();
        }
        let Some((file, keys)) = comment.strip_prefix("from ").and_then(|rest| rest.split_once(": ")) else {
            return Vec::new();
        };
        let keys = keys.split(" | ").map(|key| key.trim().to_owned());
        keys.map(|key| Self::From { file: file.to_owned(), key }).collect()
    }

    fn has(&self, token: &NumberToken, files: &BTreeMap<String, String>) -> bool {
        match self {
            Self::Given(item) => *item == token.text,
            Self::From { file, key } => selected(&files[file], key).iter().any(|&value| token.rounds(value)),
        }
    }
}

fn selected(text: &str, key: &str) -> Vec<f64> {
    let (summary, key) = match key.split_once(' ') {
        Some((word @ ("least" | "most" | "mean" | "count"), key)) => (word, key),
        _ => ("", key),
    };
    let (line, after) = key.split_once(" / ").unwrap_or((key, ""));
    let of_line = |rest: &str| {
        let rest = if after.is_empty() { Some(rest) } else { rest.split_once(after).map(|(_, rest)| rest) };
        let found: Vec<f64> = rest.map(numbers).unwrap_or_default().iter().flat_map(|text| number(text)).collect();
        if after.is_empty() { found } else { found.into_iter().take(1).collect() }
    };
    let lines = text.lines().filter_map(|each| each.split_once(line).map(|(_, rest)| rest));
    let values: Vec<f64> = lines.flat_map(of_line).collect();
    match summary {
        _ if values.is_empty() => values,
        "least" => vec![values.iter().copied().fold(f64::INFINITY, f64::min)],
        "most" => vec![values.iter().copied().fold(f64::NEG_INFINITY, f64::max)],
        "mean" => vec![values.iter().sum::<f64>() / values.len() as f64],
        "count" => vec![values.len() as f64],
        _ => values,
    }
}

fn numbers(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '_')));
    let trimmed = parts.map(|part| part.trim_matches(['.', ',', ':', '_']));
    trimmed.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the value of a number. A time such as `1:02:03` (hours) or `2:03` (minutes) is converted
/// to seconds. Returns `None` for other text.
fn number(text: &str) -> Option<f64> {
    let plain = text.replace([',', '_'], "");
    plain.split(':').try_fold(0.0, |total, part| Some(60.0 * total + part.parse::<f64>().ok()?))
}

#[derive(Debug, PartialEq)]
struct NumberToken {
    text: String,
    is_percent: bool,
    is_measured: bool,
}

impl NumberToken {
    /// Returns true if `value`, or 100 times `value` for a percentage, rounds to this number.
    fn rounds(&self, value: f64) -> bool {
        let Some(written) = number(&self.text) else { return false };
        let digits = self.text.split_once('.').map_or(0, |(_, rest)| rest.len());
        let half = 0.5 * 10f64.powi(-(digits as i32)) * (1.0 + 1e-9);
        (written - value).abs() <= half || (self.is_percent && (written - 100.0 * value).abs() <= half)
    }
}

/// Returns the numbers in a text without markup, except numbers that are part of a name or a power.
fn tokens(text: &str) -> Vec<NumberToken> {
    let characters: Vec<char> = text.chars().collect();
    let is_part = |c: char| c.is_ascii_digit();
    let mut found = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        if !is_part(characters[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < characters.len()
            && (is_part(characters[at])
                || matches!(characters[at], '.' | ',' | ':')
                    && characters.get(at + 1).is_some_and(|&next| is_part(next)))
        {
            at += 1;
        }
        let before: String = characters[start.saturating_sub(12)..start].iter().collect();
        let after: String = characters[at..characters.len().min(at + 20)].iter().collect();
        let sign = before.chars().next_back().unwrap_or(' ');
        let is_name = sign.is_alphanumeric()
            || matches!(sign, '_' | '^')
            || (sign == '-' && before.chars().rev().nth(1).is_some_and(char::is_alphanumeric))
            || after.starts_with(|c: char| c.is_alphabetic() || "⁰¹²³⁴⁵⁶⁷⁸⁹⁻".contains(c));
        if is_name {
            continue;
        }
        let text: String = characters[start..at].iter().collect();
        let unit = after.trim_start();
        let has_unit = UNITS.split('|').any(|word| {
            unit.strip_prefix(word).is_some_and(|rest| word == "%" || !rest.starts_with(char::is_alphanumeric))
        });
        let has_measure = MEASURES.iter().any(|word| before.trim_end().ends_with(word) && sign == ' ');
        let is_measured = has_unit || has_measure || text.contains('.');
        // In "5 to 7 %", the unit belongs to both numbers.
        let is_percent = unit.starts_with('%');
        if is_percent || has_unit {
            mark_range(&mut found, &before, is_percent);
        }
        found.push(NumberToken { text, is_percent, is_measured });
    }
    found
}

/// Marks the last number if "to", "and" or a comma follows it, because the unit after the next
/// number applies to both.
fn mark_range(found: &mut [NumberToken], before: &str, is_percent: bool) {
    let before = before.trim_end();
    if let (true, Some(last)) = (["to", " and", ","].iter().any(|word| before.ends_with(word)), found.last_mut()) {
        last.is_percent |= is_percent;
        last.is_measured = true;
    }
}

#[derive(Default)]
struct MarkedBlock {
    text: String,
    sources: Vec<Source>,
    /// True if the sources are those of the whole table, so that a row need not use all of them.
    is_shared: bool,
}

impl MarkedBlock {
    fn problems(&self, files: &BTreeMap<String, String>, all: bool) -> Vec<String> {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.is_shared && text.starts_with('|') {
            let verbatim =
                self.sources.iter().filter(|source| matches!(source, Source::From { key, .. } if key == "rows"));
            let mut names = verbatim.filter_map(Source::file).peekable();
            if names.peek().is_some() {
                let is_row = |name: &str| files[name].lines().any(|line| cells(line) == cells(&text));
                let is_head = text.chars().all(|c| "|-: ".contains(c)) || !text.contains(|c: char| c.is_ascii_digit());
                return if is_head || names.any(is_row) {
                    Vec::new()
                } else {
                    vec![format!("no result has the row {text:?}")]
                };
            }
        }
        let text = plain_text(&text);
        let tokens = tokens(&text);
        let mut problems = Vec::new();
        let mut used = vec![false; self.sources.len()];
        for token in &tokens {
            let mut has_source = false;
            for (source, used) in self.sources.iter().zip(&mut used) {
                if source.has(token, files) {
                    (has_source, *used) = (true, true);
                }
            }
            if !has_source && (all || token.is_measured || !self.sources.is_empty()) {
                let start: String = text.trim().chars().take(60).collect();
                problems.push(format!("no source has {} in \"{start}…\"", token.text));
            }
        }
        let unused = self.sources.iter().zip(used).filter(|(_, used)| !used && !self.is_shared);
        problems.extend(unused.map(|(source, _)| format!("no number uses {source:?}")));
        problems
    }
}

fn cells(line: &str) -> Vec<String> {
    line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Splits a page, without its code, into blocks with their sources.
fn blocks(page: &str) -> Vec<MarkedBlock> {
    let mut blocks: Vec<MarkedBlock> = Vec::new();
    let mut open = MarkedBlock::default();
    let (mut above, mut of_table): (Vec<Source>, Vec<Source>) = (Vec::new(), Vec::new());
    let mut is_code = false;
    for line in page.lines() {
        let trimmed = line.trim();
        is_code ^= trimmed.starts_with("```");
        if is_code || trimmed.starts_with("```") {
            continue;
        }
        let (text, sources) = without_comments(trimmed);
        if text.is_empty() && !trimmed.is_empty() && !open.text.is_empty() {
            open.sources.extend(sources);
            continue;
        }
        let is_row = text.starts_with('|');
        let is_item = text.starts_with("- ") || text.split_once(". ").is_some_and(|(n, _)| n.parse::<u32>().is_ok());
        if text.is_empty() || is_row || is_item || text.starts_with('#') {
            let ended = std::mem::take(&mut open);
            if !ended.text.is_empty() {
                blocks.push(ended);
            }
        }
        if text.is_empty() || text.starts_with('#') {
            above.extend(sources);
            if trimmed.is_empty() {
                of_table.clear();
            }
            continue;
        }
        if is_row {
            of_table.append(&mut above);
            let is_shared = !of_table.is_empty();
            let sources = if is_shared { [of_table.clone(), sources].concat() } else { sources };
            blocks.push(MarkedBlock { text, sources, is_shared });
            continue;
        }
        open.text += &text;
        open.text.push(' ');
        open.sources.append(&mut above);
        open.sources.extend(sources);
    }
    blocks.push(open);
    blocks
}

/// Returns a line without its comments, and the sources that the comments name.
fn without_comments(line: &str) -> (String, Vec<Source>) {
    let (mut text, mut sources) = (String::new(), Vec::new());
    let mut rest = line;
    while let Some((before, comment)) = rest.split_once("<!--") {
        text += before;
        let (comment, after) = comment.split_once("-->").unwrap_or((comment, ""));
        sources.extend(Source::parse(comment));
        rest = after;
    }
    ((text + rest).trim().to_owned(), sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, file: &str) -> Vec<String> {
        let files = BTreeMap::from([("f.txt".to_owned(), file.to_owned())]);
        blocks(page).iter().flat_map(|block| block.problems(&files, false)).collect()
    }

    const RESULTS: &str = "a: alarms 0.0138, F1 0.785\nb: alarms 0.0015, F1 0.70\n";

    #[test]
    fn numbers_are_compared_with_their_key() {
        let page = |text: &str| format!("{text} <!-- from f.txt: a: / alarms | a: / F1 -->\n");
        assert_eq!(check(&page("Alarms on 1.4 % of rows, F1 0.79."), RESULTS), Vec::<String>::new());
        assert_eq!(check(&page("Alarms on 1.3 % of rows, F1 0.79."), RESULTS).len(), 2);
        assert_eq!(check(&page("Alarms on 1.4 % of rows, F1 0.70."), RESULTS).len(), 2);
    }

    #[test]
    fn the_least_and_the_most_of_several_lines_are_found() {
        let page = "From 0.15 to 1.4 %. <!-- from f.txt: least : / alarms | most : / alarms -->";
        assert_eq!(check(page, RESULTS), Vec::<String>::new());
        assert_eq!(check("From 0.15 to 1.4 %.", RESULTS).len(), 2);
    }

    #[test]
    fn measurements_need_a_source_and_settings_do_not() {
        assert_eq!(check("It takes 5 minutes, F1 0.8.", "").len(), 2);
        assert_eq!(check("The first 400 rows of `x 5 %` and ELEC2 at 10⁻³, AVX-512.", ""), Vec::<String>::new());
        assert_eq!(check("Stopped after 30 seconds. <!-- given: 30 -->", ""), Vec::<String>::new());
        assert_eq!(check("Stopped after 31 seconds. <!-- given: 30 -->", "").len(), 2);
    }

    #[test]
    fn rows_of_a_table_are_lines_of_the_file() {
        let page = |cell: &str| format!("<!-- from f.txt: rows -->\n| n | time |\n|---|---|\n| 64 | {cell} |\n");
        assert_eq!(check(&page("4.0 µs"), "x\n| 64 | 4.0 µs |\n"), Vec::<String>::new());
        assert_eq!(check(&page("4.1 µs"), "x\n| 64 | 4.0 µs |\n").len(), 1);
    }

    #[test]
    fn a_bar_in_a_comment_of_a_table_is_found() {
        let page =
            "| 4 | 5 <!-- from f.txt: a | b --> |\n| 4 | 5 <!-- from f.txt: a --> |\n4 <!-- from f.txt: a | b -->\n";
        assert_eq!(split_comments(page).collect::<Vec<_>>(), ["| 4 | 5 <!-- from f.txt: a | b --> |"]);
    }

    /// Changes the digits in blocks with sources one by one, and counts the changes that are found.
    #[test]
    fn a_digit_that_is_changed_by_hand_is_found() {
        let root = crate::root();
        let pages = BookPage::all(&root).unwrap();
        let mut files = BTreeMap::new();
        let (mut tried, mut found) = (0, 0);
        for page in pages.iter().filter(|page| is_checked(page.file())) {
            for block in blocks(&page.text).into_iter().filter(|block| !block.sources.is_empty()) {
                for name in block.sources.iter().filter_map(Source::file) {
                    files.entry(name.to_owned()).or_insert_with(|| read(&root.join(name)).unwrap());
                }
                for (at, digit) in block.text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
                    let other = if digit == '7' { '8' } else { '7' };
                    let text = format!("{}{other}{}", &block.text[..at], &block.text[at + 1..]);
                    // A digit in code or in a name is not part of a number.
                    if tokens(&plain_text(&text)) == tokens(&plain_text(&block.text)) {
                        continue;
                    }
                    let edited = MarkedBlock { text, sources: block.sources.clone(), is_shared: block.is_shared };
                    tried += 1;
                    let is_found = !edited.problems(&files, true).is_empty();
                    if !is_found {
                        println!(
                            "not found: {}: …{}",
                            page.name,
                            &block.text[block.text.floor_char_boundary(at.saturating_sub(30))..=at]
                        );
                    }
                    found += usize::from(is_found);
                }
            }
        }
        assert!(tried > 500 && found as f64 > 0.985 * tried as f64, "{found} of {tried}");
        println!("{found} of {tried} changed digits are found");
    }
}
