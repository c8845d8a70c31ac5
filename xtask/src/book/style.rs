//! Checks of the length of pages, and of the reading ease of the README and the tutorials.

use super::page::BookPage;

/// Maximum number of words on a page, not counting code and folded parts.
const MOST_WORDS: usize = 1500;
/// Pages that may exceed the maximum number of words.
const LONG: [&str; 4] = ["references.md", "options.md", "evidence.md", "benchmarks.md"];
/// Minimum Flesch reading ease of the README and the tutorials. Technical texts usually have 50 to 60.
const LEAST_EASE: f64 = 50.0;
const TUTORIALS: [&str; 6] =
    ["README.md", "introduction.md", "install.md", "tutorial.md", "first-alarms.md", "python-first.md"];

pub fn lengths(pages: &[BookPage]) -> Vec<String> {
    let too_long = |page: &&BookPage| !LONG.contains(&page.file()) && words(page) > MOST_WORDS;
    let say = |page: &BookPage| format!("{} has {} words, at most {MOST_WORDS} are allowed", page.name, words(page));
    pages.iter().filter(too_long).map(say).collect()
}

fn words(page: &BookPage) -> usize {
    page.lines()
        .iter()
        .map(|line| line.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count())
        .sum()
}

/// Returns a message for each tutorial (and the README) whose reading ease is too low.
pub fn reading_ease(pages: &[BookPage]) -> Vec<String> {
    let tutorials = pages.iter().filter(|page| TUTORIALS.contains(&page.file()));
    let eases = tutorials.map(|page| (page, ease(&page.paragraphs())));
    eases
        .filter(|(_, ease)| !(*ease >= LEAST_EASE))
        .map(|(page, ease)| {
            format!("{} has a reading ease of {ease:.0}, at least {LEAST_EASE} is required: use shorter sentences and words", page.name)
        })
        .collect()
}

fn ease(paragraphs: &[String]) -> f64 {
    let (mut sentences, mut words, mut syllables) = (0usize, 0usize, 0usize);
    for paragraph in paragraphs {
        let mut open = false;
        for word in paragraph.split_whitespace() {
            let letters: String = word.chars().filter(|c| c.is_alphabetic()).collect();
            if !letters.is_empty() {
                words += 1;
                syllables += count_syllables(&letters.to_lowercase());
                open = true;
            }
            if open && word.trim_end_matches([')', '"', '*', '_']).ends_with(['.', '!', '?', ':']) {
                sentences += 1;
                open = false;
            }
        }
        sentences += usize::from(open);
    }
    let words = words as f64;
    206.835 - 1.015 * words / sentences as f64 - 84.6 * syllables as f64 / words
}

/// Estimates the number of syllables of a word: its groups of vowels, except a silent e at the end.
fn count_syllables(word: &str) -> usize {
    let vowel = |c: char| "aeiouyäöü".contains(c);
    let groups = word
        .chars()
        .zip(std::iter::once(' ').chain(word.chars()))
        .filter(|&(c, before)| vowel(c) && !vowel(before))
        .count();
    let silent = word.ends_with('e') && !word.ends_with("le") && groups > 1;
    let silent_past = word.ends_with("ed") && !word.ends_with("ted") && !word.ends_with("ded") && groups > 1;
    groups.saturating_sub(usize::from(silent || silent_past)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syllables_are_counted_as_in_dictionaries() {
        for (word, count) in
            [("row", 1), ("table", 2), ("reconstruction", 4), ("the", 1), ("sensor", 2), ("raised", 1), ("added", 2)]
        {
            assert_eq!(count_syllables(word), count, "{word}");
        }
    }

    #[test]
    fn short_words_are_easier_than_long_ones() {
        let easy = ease(&["The cat sat. It saw a dog.".to_owned()]);
        let hard = ease(&[
            "Notwithstanding multitudinous considerations, generalisation necessitates differentiation.".to_owned(),
        ]);
        assert!(easy > 90.0 && hard < 0.0, "{easy} {hard}");
    }

    #[test]
    fn a_page_over_the_limit_is_found() {
        let page = |file: &str, words: usize| BookPage {
            name: format!("docs/src/{file}"),
            path: std::path::PathBuf::new(),
            text: "word ".repeat(words),
        };
        assert!(lengths(&[page("a.md", MOST_WORDS), page("evidence.md", 9000)]).is_empty());
        assert_eq!(lengths(&[page("a.md", MOST_WORDS + 1)]).len(), 1);
    }
}
