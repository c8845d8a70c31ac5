//! Pages of the book, and their prose without code, tables and markup.

use crate::files::{entries, read};
use std::path::{Path, PathBuf};

pub struct BookPage {
    /// Path relative to the root of the repository.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
}

impl BookPage {
    /// Returns the README, followed by all pages of the book, sorted by name.
    pub fn all(root: &Path) -> Result<Vec<Self>, String> {
        let mut paths = entries(&root.join("docs/src"))?;
        paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
        paths.insert(0, root.join("README.md"));
        let page = |path: PathBuf| {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            Ok(Self { name, text: read(&path)?, path })
        };
        paths.into_iter().map(page).collect()
    }

    pub fn file(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Returns the lines outside code blocks, comments and folded details.
    pub fn lines(&self) -> Vec<&str> {
        let (mut fenced, mut folded) = (false, false);
        let mut lines = Vec::new();
        for line in self.text.lines() {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            folded |= line.starts_with("<details>");
            if !fence && !fenced && !folded && !line.starts_with("<!--") {
                lines.push(line);
            }
            folded &= !line.starts_with("</details>");
        }
        lines
    }

    /// Returns the paragraphs of prose, without headings, tables, images, HTML and link targets.
    /// The word "code" replaces inline code.
    pub fn paragraphs(&self) -> Vec<String> {
        let mut paragraphs = vec![String::new()];
        for line in self.lines() {
            let line = line.trim();
            let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
            let numbered = line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
            if line.is_empty() || line.starts_with(['#', '|', '!', '<']) {
                paragraphs.push(String::new());
                continue;
            }
            if item.is_some() || numbered.is_some() {
                paragraphs.push(String::new());
            }
            let text = item.or(numbered.map(|(_, text)| text)).unwrap_or(line);
            if let Some(last) = paragraphs.last_mut() {
                *last += text;
                last.push(' ');
            }
        }
        paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
        paragraphs.iter().map(|paragraph| plain(paragraph)).collect()
    }
}

/// Returns the text without comments, emphasis and link targets. The word "code" replaces inline
/// code, so that sentences keep their length.
pub fn plain(text: &str) -> String {
    let commented = text.split("-->").map(|part| part.split("<!--").next().unwrap_or(part));
    strip(&commented.collect::<String>(), "code")
}

/// Returns the text without inline code, emphasis and link targets.
pub fn plain_text(text: &str) -> String {
    strip(text, "")
}

fn strip(text: &str, code: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['`', ']', '*', '[']) {
        out += &rest[..start];
        let sign = rest.as_bytes()[start];
        rest = &rest[start + 1..];
        let skipped = match sign {
            b'`' => rest.find('`').map(|end| end + 1),
            b']' if rest.starts_with('(') => rest.find(')').map(|end| end + 1),
            _ => Some(0),
        };
        if sign == b'`' {
            out += code;
        }
        rest = &rest[skipped.unwrap_or(0)..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> BookPage {
        BookPage { name: "docs/src/a.md".to_owned(), path: PathBuf::new(), text: text.to_owned() }
    }

    #[test]
    fn prose_has_neither_code_nor_tables_nor_folded_parts() {
        let text = "# Title\n\nOne `--a` [two](b.md).<!-- from f: k -->\n\n```sh\nrun\n```\n\n| x |\n\n<details><summary>s</summary>\n\nhid\n\n</details>\n- item";
        assert_eq!(page(text).paragraphs(), ["One code two. ", "item "]);
        assert_eq!(page(text).file(), "a.md");
    }
}
