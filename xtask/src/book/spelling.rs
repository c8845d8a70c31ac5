//! Spell check of the README and the book by hunspell, with its American dictionary and a word list of the project.

use super::page::Page;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns a message for each word that is in neither the dictionary nor `docs/words.txt`. Returns `None` if hunspell
/// is not installed.
pub fn unknown_words(root: &Path, pages: &[Page]) -> Result<Option<Vec<String>>, String> {
    let mut places: BTreeMap<String, &str> = BTreeMap::new();
    // The references contain names of authors and foreign titles.
    for page in pages.iter().filter(|page| page.file() != "references.md") {
        for word in page.paragraphs().iter().flat_map(|paragraph| words(paragraph)) {
            places.entry(word).or_insert(&page.name);
        }
    }
    let text: String = places.keys().map(|word| format!("{word}\n")).collect();
    let Some(unknown) = hunspell(&root.join("docs/words.txt"), &text)? else { return Ok(None) };
    let say = |word: &str| {
        format!("{}: {word} is misspelled, or belongs into docs/words.txt", places.get(word).unwrap_or(&"?"))
    };
    Ok(Some(unknown.lines().map(say).collect()))
}

/// Returns the words that consist of Latin letters. Words with digits, Greek letters or symbols are ignored.
fn words(paragraph: &str) -> impl Iterator<Item = String> {
    paragraph
        .split(|c: char| c.is_whitespace() || matches!(c, '-' | '–' | '/' | '×' | '(' | ')' | '…'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .map(|word| word.trim_end_matches("'s").trim_end_matches("’s"))
        .filter(|word| word.len() > 1 && word.chars().all(|c| (c.is_alphabetic() && c < '\u{250}') || c == '\''))
        .map(str::to_owned)
}

/// Returns the words that hunspell does not know, one per line. Returns `None` if hunspell is not installed.
fn hunspell(known: &Path, text: &str) -> Result<Option<String>, String> {
    let mut command = Command::new("hunspell");
    command.args(["-i", "utf-8", "-d", "en_US", "-l", "-p"]).arg(known);
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
        return Ok(None);
    };
    let mut input = child.stdin.take().ok_or("hunspell has no standard input")?;
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("hunspell: {error}"))?;
    let written = writer.join().is_ok_and(|result| result.is_ok());
    if !output.status.success() || !written {
        // Hunspell is installed, but without a dictionary.
        println!("skipped: spelling, {}", String::from_utf8_lossy(&output.stderr).trim());
        return Ok(Some(String::new()));
    }
    String::from_utf8(output.stdout).map(Some).map_err(|error| format!("hunspell: {error}"))
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
