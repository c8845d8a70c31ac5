//! Snapshots of the public Rust interface in `xtask/api`.
//!
//! The lines are extracted from the HTML pages of rustdoc, because its JSON output requires a nightly
//! compiler. Each line is an item, field, variant, method or trait implementation. Items under
//! `doc(hidden)` are left out. A test of the Python package writes its snapshot to the same folder.

use crate::files::read;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose interface is stable. Other crates are published only if the program depends on them.
const CRATES: [&str; 2] = ["eigenhedge", "eigenhedge-io"];

/// Crate that differs from its snapshot, with all lines, and those that were added and removed.
struct Change {
    name: &'static str,
    lines: BTreeSet<String>,
    added: Vec<String>,
    removed: Vec<String>,
}

/// Returns an error that lists the differences between the documentation and the snapshots, if
/// there are any.
pub fn compare(root: &Path) -> Result<(), String> {
    let marked =
        |mark: char, lines: &[String]| lines.iter().map(|line| format!("  {mark} {line}\n")).collect::<String>();
    let text = |change: &Change| marked('-', &change.removed) + &marked('+', &change.added);
    let differences: String = changes(root)?.iter().map(text).collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the public interface changed:\n{differences}\
         If this is intended: add a line to the section \"Unreleased\" of CHANGELOG.md that names each item, \
         and run `cargo xtask api --write`. docs/src/stability.md says which changes need which version."
    ))
}

/// Updates the snapshots. Returns an error if the changelog does not name every change.
pub fn write(root: &Path) -> Result<(), String> {
    let log = read(&root.join("CHANGELOG.md"))?;
    for change in changes(root)? {
        let path = snapshot(root, change.name);
        let unnamed = unnamed(&log, change.added.iter().chain(&change.removed));
        if !unnamed.is_empty() && path.is_file() {
            return Err(format!("the section \"Unreleased\" of CHANGELOG.md must name: {}", unnamed.join(", ")));
        }
        let text: String = change.lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}: {} added, {} removed", path.display(), change.added.len(), change.removed.len());
    }
    Ok(())
}

fn changes(root: &Path) -> Result<Vec<Change>, String> {
    let mut changes = Vec::new();
    for name in CRATES {
        let lines = documented(&root.join("target/doc"), &name.replace('-', "_"))?;
        let saved = fs::read_to_string(snapshot(root, name)).unwrap_or_default();
        let saved: BTreeSet<String> = saved.lines().map(str::to_owned).collect();
        let added: Vec<String> = lines.difference(&saved).cloned().collect();
        let removed: Vec<String> = saved.difference(&lines).cloned().collect();
        if !(added.is_empty() && removed.is_empty()) {
            changes.push(Change { name, lines, added, removed });
        }
    }
    Ok(changes)
}

fn snapshot(root: &Path, name: &str) -> PathBuf {
    root.join("xtask/api").join(format!("{name}.txt"))
}

/// Returns the lines of the public interface of a crate. Reads only the pages that `all.html`
/// lists, because other pages may be left from an older build.
fn documented(folder: &Path, name: &str) -> Result<BTreeSet<String>, String> {
    let folder = folder.join(name);
    let all = read(&folder.join("all.html"))?;
    let list = all.split_once("id=\"main-content\"").map_or("", |(_, list)| list);
    let (mut lines, mut modules) = (BTreeSet::new(), BTreeSet::from([""]));
    for link in between(list, "<a href=\"", "\"").filter(|link| link.ends_with(".html")) {
        let (module, file) = link.split_at(link.rfind('/').map_or(0, |at| at + 1));
        let item = file.split('.').nth(1).unwrap_or_default();
        let path = format!("{name}::{}{item}", module.replace('/', "::"));
        lines.extend(members(&read(&folder.join(link))?).iter().map(|member| format!("{path}: {member}")));
        modules.insert(module);
    }
    for module in modules {
        let page = read(&folder.join(module).join("index.html"))?;
        let exports = between(&page, "<code>pub use ", "</code>").map(|text| joined(&plain(text)));
        let path = format!("{name}/{module}").trim_end_matches('/').replace('/', "::");
        lines.extend(exports.map(|export| format!("{path}: pub use {export}")));
    }
    Ok(lines)
}

/// Returns the declaration, the public methods and the trait implementations on the page of an item.
fn members(page: &str) -> Vec<String> {
    // The rest of the page lists auto traits and blanket implementations.
    let page = page.split_once("id=\"synthetic-implementations\"").map_or(page, |(page, _)| page);
    let declaration =
        between(page, "<pre class=\"rust item-decl\"><code>", "</code></pre>").next().map_or("", |text| text);
    let mut members: Vec<String> = plain(declaration).lines().map(joined).collect();
    members.extend(between(page, "<h4 class=\"code-header\">", "</h4>").map(|text| joined(&plain(text))));
    members
        .retain(|line| line.len() > 1 && !["fn ", "type ", "//", "where"].iter().any(|start| line.starts_with(start)));
    let traits = page.split_once("id=\"trait-implementations-list\"").map_or("", |(_, list)| list);
    members.extend(between(traits, "<h3 class=\"code-header\">", "</h3>").map(|text| joined(&plain(text))));
    members
}

fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).filter_map(move |part| part.split_once(end).map(|(inner, _)| inner))
}

fn plain(html: &str) -> String {
    let mut text: String = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    for (name, sign) in
        [("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&quot;", "\""), ("&nbsp;", " "), ("&amp;", "&")]
    {
        text = text.replace(name, sign);
    }
    text
}

fn joined(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the names of changed items that do not occur in the section "Unreleased" of the changelog, sorted.
fn unnamed<'a>(changelog: &str, changed: impl Iterator<Item = &'a String>) -> Vec<String> {
    let rest = changelog.split_once("## [Unreleased]").map_or("", |(_, rest)| rest);
    let section = rest.split_once("\n## [").map_or(rest, |(section, _)| section);
    let is_word = |name: &str| section.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let names: BTreeSet<&str> = changed.map(|line| name(line)).filter(|name| !is_word(name)).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Returns the name of the item, field, variant or method in a line of a snapshot, or the name of
/// the type for a trait implementation.
fn name(line: &str) -> &str {
    let (path, member) = line.split_once(": ").unwrap_or((line, ""));
    if let Some(export) = member.strip_prefix("pub use ") {
        return export.rsplit([':', ' ']).next().unwrap_or(export).trim_end_matches(';');
    }
    let mut words = member.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let keywords = ["pub", "fn", "const", "unsafe", "struct", "enum", "trait", "type", "static", "non_exhaustive"];
    match words.find(|word| !keywords.contains(word)) {
        Some(name) if name != "impl" => name,
        _ => path.rsplit("::").next().unwrap_or(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_name_must_occur_in_the_newest_section() {
        let log = "# Log\n\n## [Unreleased]\n- `Model::step` takes a weight.\n\n## [1.0.0]\n- `Fleet::merge`.\n";
        let lines = [
            "a::Model: pub fn step(&mut self, row: &[f64])".to_owned(),
            "a::Fleet: pub fn merge(&mut self)".to_owned(),
            "a::Spec: pub eta: f64,".to_owned(),
            "a::Fleet: impl<T: Clone> Clone for Fleet<T>".to_owned(),
        ];
        assert_eq!(unnamed(log, lines.iter()), ["Fleet", "eta", "merge"]);
    }

    #[test]
    fn a_page_has_its_declaration_its_public_methods_and_its_traits() {
        let page = "<pre class=\"rust item-decl\"><code>pub struct A&lt;T&gt; {\n    pub x: <a href=\"b\">f64</a>,\n    <span>// private</span>\n}</code></pre>\
            <h4 class=\"code-header\">pub fn <a>new</a>(x: &amp;T)\n -&gt; Self</h4>\
            <div id=\"trait-implementations-list\"><h3 class=\"code-header\">impl Clone for A</h3>\
            <h4 class=\"code-header\">fn clone(&amp;self) -&gt; Self</h4></div>\
            <h2 id=\"synthetic-implementations\"><h3 class=\"code-header\">impl Send for A</h3>";
        let wanted = ["pub struct A<T> {", "pub x: f64,", "pub fn new(x: &T) -> Self", "impl Clone for A"];
        assert_eq!(members(page), wanted);
    }
}
