//! Splits Rust sources into tokens, without a compiler.

use std::path::PathBuf;

/// Source file: its path below `src`, and its text.
pub type File = (PathBuf, String);

/// Token: a word, `::` or a single character, with its line number.
pub type Token<'a> = (&'a str, usize);

/// Returns the tokens of a formatted source, without comments and without items under `#[cfg(test)]`. Also returns the
/// names of test modules that have their own files. String literals are included, because attributes name functions in
/// them.
pub fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<&str>) {
    let (mut tokens, mut tests) = (Vec::new(), Vec::new());
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let mut rest = line.trim_start();
        if rest == "#[cfg(test)]" {
            let indent = &line[..line.len() - rest.len()];
            let ends = |line: &str| !line.starts_with([' ', '#']) && line.ends_with(['}', ';', ',']);
            let end = lines.find(|(line, _)| line.strip_prefix(indent).is_some_and(ends));
            tests.extend(end.and_then(|(line, _)| line.strip_suffix(';')?.trim_start().strip_prefix("mod ")));
            continue;
        }
        while !rest.is_empty() && !rest.starts_with("//") {
            let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let character = rest.chars().next().map_or(0, char::len_utf8);
            let length = if rest.starts_with("::") { 2 } else { word.max(character) };
            tokens.push((&rest[..length], number));
            rest = rest[length..].trim_start();
        }
    }
    (tokens, tests)
}
