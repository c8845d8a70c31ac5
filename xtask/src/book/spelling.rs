//! Spell check of the README and the book with hunspell, its American dictionary, and the word list
//! `docs/words.txt`.

use super::page::BookPage;
use crate::files::write;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Returns a message for each word that is neither in the dictionary nor in `docs/words.txt`.
/// Returns `None` if hunspell or its dictionary is missing.
pub fn unknown_words(root: &Path, pages: &[BookPage]) -> Result<Option<Vec<String>>, String> {
    let mut places: BTreeMap<String, &str> = BTreeMap::new();
    // The references contain names of authors and titles in other languages.
    for page in pages.iter().filter(|page| page.file() != "references.md") {
        for word in page.paragraphs().iter().flat_map(|paragraph| words(paragraph)) {
            places.entry(word).or_insert(&page.name);
        }
    }
    let text: String = places.keys().map(|word| format!("{word}\n")).collect();
    let Some(unknown) = hunspell(root, &text)? else { return Ok(None) };
    let say = |word: &str| {
        format!("{}: {word} is misspelled, or belongs into docs/words.txt", places.get(word).unwrap_or(&"?"))
    };
    Ok(Some(unknown.lines().map(say).collect()))
}

/// Returns the words of at least two Latin letters. Ignores words with digits, Greek letters or
/// symbols.
fn words(paragraph: &str) -> impl Iterator<Item = String> {
    paragraph
        .split(|c: char| c.is_whitespace() || matches!(c, '-' | '–' | '/' | '×' | '(' | ')' | '…'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .map(|word| word.trim_end_matches("'s").trim_end_matches("’s"))
        .filter(|word| word.len() > 1 && word.chars().all(|c| (c.is_alphabetic() && c < '\u{250}') || c == '\''))
        .map(str::to_owned)
}

/// Returns the words that hunspell does not know, one per line. Returns `None` if hunspell or its dictionary is missing.
fn hunspell(root: &Path, text: &str) -> Result<Option<String>, String> {
    let words = root.join("target/words.txt");
    write(&words, text)?;
    let mut command = Command::new("hunspell");
    command.args(["-i", "utf-8", "-d", "en_US", "-l", "-p"]).arg(root.join("docs/words.txt")).arg(&words);
    match command.output() {
        Ok(output) if output.status.success() => Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned())),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_with_digits_are_not_checked() {
        let found: Vec<String> = words("PCA of 10 rows, the model's x1 (well-known) end.").collect();
        assert_eq!(found, ["PCA", "of", "rows", "the", "model", "well", "known", "end"]);
    }
}
