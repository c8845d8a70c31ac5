//! Modules of a crate, parsed from its sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Ident, Item, UseTree};

/// Items of each module, by the path of the module below the crate root. The path of the root is empty.
pub struct Modules(pub BTreeMap<String, Vec<Item>>);

/// Definition: the path of its module, and its name.
pub type Place = (String, String);

/// Name that a `use` imports: the segments of its path, and its new name.
pub type Import = (Vec<String>, String);

impl Modules {
    /// Parses a crate from its folder `src`. Leaves out code for tests and for builds without a feature.
    pub fn parse(sources: &Path) -> Result<Self, String> {
        let mut modules = BTreeMap::new();
        // Files that are still to be parsed: path, module, and folder of the child modules.
        let mut open: Vec<(PathBuf, String, PathBuf)> =
            vec![(sources.join("lib.rs"), String::new(), sources.to_owned())];
        while let Some((path, name, folder)) = open.pop() {
            let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
            let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
            let items = syn::parse_file(&text).map_err(|error| failed(&error))?.items;
            let mut inline = vec![(name, items, folder)];
            while let Some((name, mut items, folder)) = inline.pop() {
                items.retain(|item| attributes(item).iter().all(is_built));
                for item in &items {
                    let Item::Mod(child) = item else { continue };
                    let (child_name, below) = (below(&name, &child.ident), folder.join(child.ident.to_string()));
                    match &child.content {
                        Some((_, items)) => inline.push((child_name, items.clone(), below)),
                        None => open.push((module_file(&below), child_name, below)),
                    }
                }
                modules.insert(name, items);
            }
        }
        Ok(Self(modules))
    }

    /// Returns the definitions to which a path in a module refers. There may be one per namespace. A path into another
    /// crate refers to none.
    pub fn resolve(&self, module: &str, path: &[String]) -> Vec<Place> {
        self.resolve_at_depth(module, path, 0)
    }

    fn resolve_at_depth(&self, module: &str, path: &[String], depth: usize) -> Vec<Place> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        // Imports can refer to each other in a cycle.
        if depth > 20 {
            return Vec::new();
        }
        match first.as_str() {
            "crate" => self.resolve_at_depth("", rest, depth + 1),
            "self" => self.resolve_at_depth(module, rest, depth + 1),
            "super" => {
                self.resolve_at_depth(module.rsplit_once("::").map_or("", |(parent, _)| parent), rest, depth + 1)
            }
            _ => {
                let places = self.named(module, first, depth + 1);
                if rest.is_empty() {
                    return places;
                }
                let inside = places.into_iter().map(|(module, name)| below(&module, name));
                inside.flat_map(|module| self.resolve_at_depth(&module, rest, depth + 1)).collect()
            }
        }
    }

    /// Returns the definitions of a name in a module, both its own and imported ones.
    fn named(&self, module: &str, name: &str, depth: usize) -> Vec<Place> {
        let mut places = Vec::new();
        for item in self.0.get(module).into_iter().flatten() {
            if identifier(item).is_some_and(|found| found == name) {
                places.push((module.to_owned(), name.to_owned()));
            } else if let Item::Use(import) = item {
                let same = imports(&import.tree).into_iter().filter(|(_, new)| new == name);
                places.extend(same.flat_map(|(path, _)| self.resolve_import(module, &path, name, depth)));
            }
        }
        places.sort();
        places.dedup();
        places
    }

    /// Resolves an import. An import of a name from itself, such as `use cancel::cancel`, must not recurse forever.
    fn resolve_import(&self, module: &str, path: &[String], name: &str, depth: usize) -> Vec<Place> {
        if path == [name] { Vec::new() } else { self.resolve_at_depth(module, path, depth) }
    }
}

/// Returns the path of the item `name` below a module.
pub fn below(module: &str, name: impl std::fmt::Display) -> String {
    if module.is_empty() { name.to_string() } else { format!("{module}::{name}") }
}

/// Returns the names that a `use` imports. A glob import has the name `*`.
pub fn imports(tree: &UseTree) -> Vec<Import> {
    let prefixed = |ident: &Ident, tree: &UseTree| {
        let mut inner = imports(tree);
        inner.iter_mut().for_each(|(path, _)| path.insert(0, ident.to_string()));
        inner
    };
    match tree {
        UseTree::Path(path) => prefixed(&path.ident, &path.tree),
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(name) => vec![(vec![name.ident.to_string()], name.rename.to_string())],
        UseTree::Glob(_) => vec![(vec!["*".to_owned()], "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(imports).collect(),
    }
}

/// Returns the name that an item defines, or `None` if it defines none.
pub fn identifier(item: &Item) -> Option<&Ident> {
    Some(match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    })
}

/// Returns the attributes of an item.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns false for `cfg(test)`, `cfg(doctest)` and `cfg(not(…))`.
fn is_built(attribute: &Attribute) -> bool {
    let condition = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
    !attribute.path().is_ident("cfg") || !["test", "doctest", "not"].iter().any(|word| condition.starts_with(word))
}

fn module_file(folder: &Path) -> PathBuf {
    let file = folder.with_extension("rs");
    if file.is_file() { file } else { folder.join("mod.rs") }
}
