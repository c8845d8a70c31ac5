//! Check of links between files of the repository.

use super::page::BookPage;
use crate::files::read;
use std::fs;
use std::path::Path;

/// Returns a message for each broken link to a file or heading, and for each page that is missing
/// from the table of contents.
pub fn broken(root: &Path, pages: &[BookPage]) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    let contents = read(&root.join("docs/src/SUMMARY.md"))?;
    for page in pages {
        let listed = contents.contains(&format!("({})", page.file())) || page.file() == "SUMMARY.md";
        if page.name.starts_with("docs/") && !listed {
            problems.push(format!("{} is not in docs/src/SUMMARY.md", page.name));
        }
        for target in page.text.split("](").skip(1).filter_map(|part| part.split(')').next()) {
            if !target.contains("://") && !leads_somewhere(page, target) {
                problems.push(format!("{}: the link {target} leads nowhere", page.name));
            }
        }
    }
    Ok(problems)
}

fn leads_somewhere(page: &BookPage, target: &str) -> bool {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.path.clone() } else { page.path.with_file_name(file) };
    if heading.is_empty() {
        return path.exists();
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches('#')) == heading)
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
