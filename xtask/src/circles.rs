//! Detection of import cycles between the files of a crate.
//!
//! File A uses file B if a path in A (after `crate::`, `super::`, `self::` or a child module) leads
//! to an item in B. A name that a `mod.rs` exports with `pub use` belongs to its original file, and
//! the export itself does not count. `lib.rs` and `main.rs` are ignored, because they declare all
//! modules. Code under `#[cfg(test)]` is ignored too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Path of a source file below `src`, and its text.
pub type File = (PathBuf, String);

/// Word, `::` or single character, with its line number.
type Token<'a> = (&'a str, usize);

/// Path of a module from the crate root, as a list of names.
pub type ModulePath = Vec<String>;

/// Imports and exports of a source file.
#[derive(Default)]
pub struct Source {
    pub path: String,
    /// Paths that the file uses, each with its line number.
    pub uses: Vec<(Vec<String>, usize)>,
    /// Names (or `*`) that the file exports from other files, each with its path and line number.
    pub exports: Vec<(String, (Vec<String>, usize))>,
}

pub fn faults(files: &[File]) -> Vec<String> {
    let sources = sources(files);
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (module, source) in &sources {
        let used = source.uses.iter().filter_map(|(path, _)| resolve(&sources, module, path, 0));
        let used = used.filter(|target| *target != module.as_slice() && !target.is_empty());
        edges.insert(&source.path, used.map(|target| sources[target].path.as_str()).collect());
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|file| (*file, reached(&edges, file))).collect();
    let mut groups = BTreeSet::new();
    for (file, others) in &reached {
        if others.contains(file) {
            let together = others.iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
            groups.insert(together.copied().collect::<BTreeSet<&str>>());
        }
    }
    let used = |group: &BTreeSet<&str>, file: &str| {
        let within: Vec<&str> = edges[file].intersection(group).copied().collect();
        format!("{file} uses {}", within.join(" and "))
    };
    let sentence = |group: &BTreeSet<&str>| group.iter().map(|file| used(group, file)).collect::<Vec<_>>().join(", ");
    groups.iter().map(|group| format!("files in a circle: {}", sentence(group))).collect()
}

/// Returns the files that a file uses directly or indirectly. These include the file itself if it
/// is part of a cycle.
fn reached<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        let next = edges.get(file).into_iter().flatten().filter(|other| seen.insert(**other));
        open.extend(next.copied().collect::<Vec<_>>());
    }
    seen
}

/// Returns the imports and exports of each module, except test modules. The uses of `lib.rs` and
/// `main.rs` are empty.
pub fn sources(files: &[File]) -> BTreeMap<ModulePath, Source> {
    let parsed: Vec<_> = files.iter().map(|(path, text)| (path, tokens(text))).collect();
    let tests: Vec<_> =
        parsed.iter().flat_map(|(path, (_, names))| names.iter().map(|name| path.with_file_name(name))).collect();
    let mut sources = BTreeMap::new();
    for (path, (tokens, _)) in parsed {
        if tests.iter().any(|test| path.with_extension("").starts_with(test)) {
            continue;
        }
        let mut module: ModulePath = path.with_extension("").iter().map(|name| name.to_string_lossy().into()).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        let mut source = Source { path: path.to_string_lossy().into_owned(), ..Source::default() };
        read(&tokens, &mut source);
        let is_root = matches!(path.as_path(), path if path == Path::new("lib.rs") || path == Path::new("main.rs"));
        if is_root {
            source.uses.clear();
        }
        sources.insert(module, source);
    }
    sources
}

fn read(tokens: &[Token<'_>], source: &mut Source) {
    let children: Vec<&str> =
        tokens.windows(3).filter(|three| three[0].0 == "mod" && three[2].0 == ";").map(|three| three[1].0).collect();
    let mut exporting = false;
    for at in 0..tokens.len() {
        let before = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].0);
        match tokens[at].0 {
            "use" => exporting = matches!(before(1), "pub" | ")"),
            ";" => exporting = false,
            word if before(1) != "::" && before(1) != "mod" => {
                let begins = matches!(word, "crate" | "super" | "self") || children.contains(&word);
                if begins && tokens.get(at + 1).is_some_and(|next| next.0 == "::") {
                    let mut found = Vec::new();
                    expand(&tokens[at..], &mut Vec::new(), &mut found);
                    for (path, name) in found {
                        let used = (path, tokens[at].1);
                        if exporting { source.exports.push((name, used)) } else { source.uses.push(used) }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Appends to `found` the single paths of a path with groups such as `a::{b, c}`, each with the
/// name that it imports. `front` is the path before `tokens`.
fn expand(tokens: &[Token<'_>], front: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let depth = front.len();
    let mut rest = tokens;
    while let [(word, _), after @ ..] = rest {
        match (*word, after) {
            ("{", _) => {
                let mut open = 0usize;
                for (at, (token, _)) in rest.iter().enumerate() {
                    open = match *token {
                        "{" => open + 1,
                        "}" => open - 1,
                        _ => open,
                    };
                    let begins = open == 1 && matches!(*token, "{" | ",");
                    if begins && rest.get(at + 1).is_some_and(|next| next.0 != "}") {
                        expand(&rest[at + 1..], front, found);
                    }
                    if open == 0 {
                        break;
                    }
                }
                break;
            }
            (word, [("::", _), next @ ..]) if next.first().is_none_or(|(token, _)| *token != "<") => {
                front.push(word.to_owned());
                rest = next;
            }
            (word, after) => {
                let name = if let [("as", _), (name, _), ..] = after { *name } else { word };
                let mut path = front.clone();
                if word != "self" {
                    path.push(word.to_owned());
                }
                found.push((
                    path.clone(),
                    if word == "self" { path.last().cloned().unwrap_or_default() } else { name.to_owned() },
                ));
                break;
            }
        }
    }
    front.truncate(depth);
}

/// Converts a path in a module to a path from the crate root. Returns `None` if it leads above the
/// root.
pub fn absolute(module: &[String], path: &[String]) -> Option<ModulePath> {
    let mut absolute = module.to_vec();
    for name in path {
        match name.as_str() {
            "crate" => absolute.clear(),
            "self" => {}
            "super" => drop(absolute.pop()?),
            _ => absolute.push(name.clone()),
        }
    }
    Some(absolute)
}

/// Returns the module whose file contains the item of a path. Follows exports. `from` is the module
/// that contains the path, and `depth` is the number of exports followed so far.
fn resolve<'a>(
    sources: &'a BTreeMap<ModulePath, Source>,
    from: &[String],
    path: &[String],
    depth: usize,
) -> Option<&'a [String]> {
    let mut module = Vec::new();
    for name in &absolute(from, path)? {
        let mut child = module.clone();
        child.push(name.clone());
        if sources.contains_key(&child) {
            module = child;
            continue;
        }
        let exports = sources.get(&module).map_or(&[][..], |source| &source.exports);
        let named = exports.iter().filter(|(export, _)| export == name || export == "*");
        for (export, (target, _)) in named.take(if depth < 8 { usize::MAX } else { 0 }) {
            let mut target = target.clone();
            if export == "*" {
                target.pop();
                target.push(name.clone());
            }
            let found = resolve(sources, &module, &target, depth + 1);
            if let Some(found) = found.filter(|found| *found != module.as_slice()) {
                return Some(found);
            }
        }
        break;
    }
    sources.get_key_value(&module).map(|(module, _)| module.as_slice())
}

/// Returns the tokens of a formatted source, without comments and without items under
/// `#[cfg(test)]`. Also returns the names of test modules that have their own files. String
/// literals are included, because attributes contain the paths of functions in them.
fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<&str>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<File> = files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect();
        faults(&files)
    }

    #[test]
    fn files_that_use_each_other_are_found_however_the_path_is_written() {
        for back in
            ["use crate::a::b::X;", "use super::b::{Y, X};", "fn f(x: super::X) {}", "use crate::{a::{self, X}, e};"]
        {
            let found = of(&[
                ("lib.rs", "mod a; mod c; use a::X;"),
                ("a/mod.rs", "mod b;\nmod d;\npub use b::X;"),
                ("a/b.rs", "use super::d::f;"),
                ("a/d.rs", back),
                ("c.rs", "use crate::a::X;"),
            ]);
            assert_eq!(found, ["files in a circle: a/b.rs uses a/d.rs, a/d.rs uses a/b.rs"], "{back}");
        }
    }

    #[test]
    fn exports_tests_and_the_root_make_no_circle() {
        let found = of(&[
            ("lib.rs", "mod a;\nuse a::X;\npub struct Root;"),
            ("a/mod.rs", "mod b;\npub use b::X;\npub struct Y;\n#[cfg(test)]\nmod tests {\n    use super::b::X;\n}"),
            ("a/b.rs", "use super::Y;\nuse crate::Root;"),
        ]);
        assert_eq!(found, [""; 0]);
        let found = of(&[("a/mod.rs", "mod b;\nuse b::X;\npub struct Y;"), ("a/b.rs", "use super::Y;")]);
        assert_eq!(found, ["files in a circle: a/b.rs uses a/mod.rs, a/mod.rs uses a/b.rs"]);
    }
}
