//! Checks that a test runs each block of code, or that a comment above the block gives the reason
//! why it is not run.
//!
//! `tests/book.rs` of the program runs `console` and `sh` blocks. `python/tests/test_book.py` runs
//! `python` blocks. `rust` blocks are documentation tests of the library. `text` blocks are output
//! or formulas.

use super::page::BookPage;

const RUN: [&str; 5] = ["console", "sh", "python", "rust", "text"];
/// Pages that are not checked here: their blocks start a server or build the web page.
const SERVERS: [&str; 4] = ["service.md", "deployment.md", "notices.md", "no-install.md"];
/// Pages whose Rust code is run.
const RUST: [&str; 2] = ["README.md", "rust.md"];

/// Returns a message for each block that no test runs and that has no line `<!-- not run: REASON -->` above it.
pub fn not_run(pages: &[BookPage]) -> Vec<String> {
    pages.iter().filter(|page| !SERVERS.contains(&page.file())).flat_map(languages).collect()
}

fn languages(page: &BookPage) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut is_open, mut above) = (false, "");
    for line in page.text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            let is_run = RUN.contains(&language) && (language != "rust" || RUST.contains(&page.file()));
            if !is_open && !is_run && !above.starts_with("<!-- not run: ") {
                problems.push(format!("{}: no test runs the block \"{language}\" after \"{above}\"", page.name));
            }
            is_open = !is_open;
        }
        above = line;
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_run_or_has_a_reason() {
        let page = |text: &str| BookPage { name: "docs/src/a.md".to_owned(), path: "".into(), text: text.to_owned() };
        assert!(not_run(&[page("```sh\nrun\n```\n\n```python\nx = 1\n```\n")]).is_empty());
        assert!(not_run(&[page("<!-- not run: a file for systemd -->\n```ini\n```\n")]).is_empty());
        assert_eq!(not_run(&[page("```ini\n```\n\n```rust\n```\n")]).len(), 2);
    }
}
