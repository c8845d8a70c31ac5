//! Public items of a crate: those that can be reached by a path from the root of the crate.

use super::modules::{Import, Modules, Place, attributes, below, identifier, imports};
use super::signatures::{implementation_line, inherent_lines, is_hidden, is_public, item_lines, text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::{Item, ItemImpl, Type};

/// Returns the lines of the public interface of a crate, sorted.
pub fn lines(name: &str, sources: &Path) -> Result<BTreeSet<String>, String> {
    let modules = Modules::parse(sources)?;
    let mut exports = Exports { modules: &modules, paths: BTreeMap::new(), lines: BTreeSet::new() };
    exports.walk("", name);
    exports.list_definitions();
    exports.list_implementations();
    Ok(exports.lines)
}

struct Exports<'a> {
    modules: &'a Modules,
    /// Public paths of each definition.
    paths: BTreeMap<Place, BTreeSet<String>>,
    lines: BTreeSet<String>,
}

impl Exports<'_> {
    /// Records the public items of a public module.
    fn walk(&mut self, module: &str, path: &str) {
        for item in self.modules.0.get(module).into_iter().flatten() {
            if is_hidden(attributes(item)) {
                continue;
            }
            match item {
                Item::Use(import) if is_public(&import.vis) => {
                    imports(&import.tree).into_iter().for_each(|import| self.export(module, path, import));
                }
                item if is_exported(item) => {
                    let name = identifier(item).map(ToString::to_string).unwrap_or_default();
                    self.record((module.to_owned(), name.clone()), &below(path, name));
                }
                _ => {}
            }
        }
    }

    fn export(&mut self, module: &str, path: &str, (segments, name): Import) {
        let places = self.modules.resolve(module, &segments);
        if places.is_empty() {
            self.lines.insert(format!("use {} = {}", below(path, name), segments.join("::")));
            return;
        }
        places.into_iter().for_each(|place| self.record(place, &below(path, &name)));
    }

    fn record(&mut self, place: Place, path: &str) {
        if self.paths.entry(place.clone()).or_default().insert(path.to_owned()) {
            let module = below(&place.0, &place.1);
            if self.is_public_module(&place) {
                self.lines.insert(format!("mod {path}"));
                self.walk(&module, path);
            }
        }
    }

    fn is_public_module(&self, (module, name): &Place) -> bool {
        let items = self.modules.0.get(module).into_iter().flatten();
        items
            .filter(|item| identifier(item).is_some_and(|found| found == name))
            .any(|item| matches!(item, Item::Mod(item) if is_public(&item.vis) && !is_hidden(&item.attrs)))
    }

    /// Returns the shortest public path of a definition.
    fn path(&self, place: &Place) -> Option<&String> {
        self.paths.get(place)?.iter().min_by_key(|path| path.len())
    }

    fn list_definitions(&mut self) {
        let mut lines = Vec::new();
        for (place, paths) in &self.paths {
            let Some(path) = self.path(place) else { continue };
            let items = self.modules.0.get(&place.0).into_iter().flatten();
            let defining = items.filter(|item| identifier(item).is_some_and(|name| *name == place.1));
            lines.extend(defining.flat_map(|item| item_lines(item, path)));
            lines.extend(paths.iter().filter(|other| *other != path).map(|other| format!("use {other} = {path}")));
        }
        self.lines.extend(lines);
    }

    fn list_implementations(&mut self) {
        let mut lines = Vec::new();
        for (module, items) in &self.modules.0 {
            for item in items {
                match item {
                    Item::Impl(item) => lines.extend(self.implementation(module, item)),
                    // Macros are not expanded. A change of their arguments counts as a change of the items that they
                    // define.
                    Item::Macro(item) if item.ident.is_none() && !item.mac.path.is_ident("thread_local") => {
                        let name = item.mac.path.segments.last().map(|last| last.ident.to_string());
                        let name = name.unwrap_or_default();
                        lines.push(format!("macro {name}! in {module}: {}", text(&item.mac.tokens)));
                    }
                    _ => {}
                }
            }
        }
        self.lines.extend(lines);
    }

    fn implementation(&self, module: &str, item: &ItemImpl) -> Vec<String> {
        let Some(path) = self.public_type(module, &item.self_ty) else { return Vec::new() };
        let Some((_, name, _)) = &item.trait_ else { return inherent_lines(item, &path) };
        let segments: Vec<String> = name.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let places = self.modules.resolve(module, &segments);
        // Private traits of the crate cannot be named outside.
        let private = !places.is_empty() && !places.iter().any(|place| self.paths.contains_key(place));
        if private { Vec::new() } else { implementation_line(item, &path).into_iter().collect() }
    }

    /// Returns the public path of a type, or `None` if it has none.
    fn public_type(&self, module: &str, of: &Type) -> Option<String> {
        match of {
            Type::Reference(of) => Some(format!("&{}", self.public_type(module, &of.elem)?)),
            Type::Path(of) => {
                let segments: Vec<String> = of.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                let places = self.modules.resolve(module, &segments);
                places.iter().find_map(|place| self.path(place)).cloned()
            }
            _ => None,
        }
    }
}

/// Returns true for a public item other than an import.
fn is_exported(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_public(&item.vis),
        Item::Enum(item) => is_public(&item.vis),
        Item::Fn(item) => is_public(&item.vis),
        Item::Mod(item) => is_public(&item.vis),
        Item::Static(item) => is_public(&item.vis),
        Item::Struct(item) => is_public(&item.vis),
        Item::Trait(item) => is_public(&item.vis),
        Item::Type(item) => is_public(&item.vis),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(files: &[(&str, &str)]) -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("eigenhedge-api-{}", std::process::id()));
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let lines = lines("c", &folder).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        lines.into_iter().collect()
    }

    #[test]
    fn only_items_that_a_user_can_name_are_listed() {
        let root = "mod a;\npub mod b { pub use crate::a::Kept as Other; }\npub use a::{Kept, deep::run};\n\
            #[doc(hidden)] pub mod internals { pub use crate::a::Lost; }\n#[cfg(test)] pub mod tests { pub fn f() {} }";
        let a = "pub mod deep;\n#[derive(Clone)] pub struct Kept { pub x: f64, y: u8 }\npub struct Lost;\n\
            impl Kept { pub fn new(mut x: f64) -> Self { todo!() } fn inner(&self) {} }\n\
            impl Lost { pub fn new() -> Self { Self } }\ntrait Own {}\nimpl Own for Kept {}\n\
            impl std::fmt::Display for Kept {}";
        let deep = "use super::Kept;\npub fn run<T: Clone>(from: &[T], to: &mut Kept) -> Option<(T, u8)> { None }";
        let found = lines_of(&[("lib.rs", root), ("a/mod.rs", a), ("a/deep.rs", deep)]);
        let expected = [
            "field c::Kept::_ (private)",
            "field c::Kept::x: f64",
            "fn c::Kept::new(x: f64) -> Self",
            "fn c::run<T: Clone>(from: &[T], to: &mut Kept) -> Option<(T, u8)>",
            "impl std::fmt::Display for c::Kept",
            "mod c::b",
            "struct c::Kept [Clone]",
            "use c::b::Other = c::Kept",
        ];
        assert_eq!(found, expected);
    }
}
