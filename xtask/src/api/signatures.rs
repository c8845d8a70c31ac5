//! Lines of a snapshot: one for each public item, field, variant, method and implementation.

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, ItemTrait, Signature, TraitItem, Visibility};

/// Returns the snapshot lines of an item with the public path `path`.
pub fn item_lines(item: &Item, path: &str) -> Vec<String> {
    match item {
        Item::Fn(item) => vec![function(&item.sig, path)],
        Item::Const(item) => vec![format!("const {path}: {}", text(&item.ty))],
        Item::Static(item) => vec![format!("static {path}: {}", text(&item.ty))],
        Item::Type(item) => vec![format!("type {path}{} = {}", text(&item.generics), text(&item.ty))],
        Item::Struct(item) => {
            let head = format!("struct {path}{}{}", text(&item.generics), marks(&item.attrs));
            std::iter::once(head).chain(fields(&item.fields, path, false)).collect()
        }
        Item::Enum(item) => {
            let mut lines = vec![format!("enum {path}{}{}", text(&item.generics), marks(&item.attrs))];
            for variant in &item.variants {
                let path = format!("{path}::{}", variant.ident);
                lines.push(format!("variant {path}"));
                lines.extend(fields(&variant.fields, &path, true));
            }
            lines
        }
        Item::Trait(item) => trait_lines(item, path),
        _ => Vec::new(),
    }
}

/// Returns the lines of the public functions and constants of an inherent implementation.
pub fn inherent_lines(item: &ItemImpl, path: &str) -> Vec<String> {
    let public = |item: &&ImplItem| match item {
        ImplItem::Fn(item) => is_public(&item.vis) && !is_hidden(&item.attrs),
        ImplItem::Const(item) => is_public(&item.vis) && !is_hidden(&item.attrs),
        _ => false,
    };
    let line = |item: &ImplItem| match item {
        ImplItem::Fn(item) => function(&item.sig, &format!("{path}::{}", item.sig.ident)),
        ImplItem::Const(item) => format!("const {path}::{}: {}", item.ident, text(&item.ty)),
        _ => String::new(),
    };
    // The bounds of the implementation belong to every signature.
    let bounds = if item.generics.params.iter().any(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_))) {
        format!(" [impl{} {}]", text(&item.generics), text(&item.generics.where_clause))
    } else {
        String::new()
    };
    item.items.iter().filter(public).map(|item| line(item) + &bounds.replace(" ]", "]")).collect()
}

/// Returns the line of a trait implementation, or `None` for an inherent implementation.
pub fn implementation_line(item: &ItemImpl, path: &str) -> Option<String> {
    let (_, name, _) = item.trait_.as_ref()?;
    let line = format!("impl{} {} for {path}{}", text(&item.generics), text(name), arguments(&item.self_ty));
    Some(format!("{line} {}", text(&item.generics.where_clause)).trim_end().to_owned())
}

fn trait_lines(item: &ItemTrait, path: &str) -> Vec<String> {
    let bounds = if item.supertraits.is_empty() { String::new() } else { format!(": {}", text(&item.supertraits)) };
    let mut lines = vec![format!("trait {path}{}{bounds}", text(&item.generics))];
    for member in &item.items {
        match member {
            TraitItem::Fn(member) if !is_hidden(&member.attrs) => {
                let provided = if member.default.is_some() { " { … }" } else { "" };
                lines.push(function(&member.sig, &format!("{path}::{}", member.sig.ident)) + provided);
            }
            TraitItem::Type(member) => lines.push(format!("type {path}::{}", text(member))),
            TraitItem::Const(member) => lines.push(format!("const {path}::{}: {}", member.ident, text(&member.ty))),
            _ => {}
        }
    }
    lines
}

fn function(signature: &Signature, path: &str) -> String {
    let all = text(signature);
    let (before, after) = all.split_once(&format!("fn {}", signature.ident)).unwrap_or(("", &all));
    format!("{before}fn {path}{after}")
}

/// Returns a line for each visible field, and a last line if there are private fields. `all` makes all fields visible.
fn fields(fields: &Fields, path: &str, all: bool) -> Vec<String> {
    let visible = |field: &&syn::Field| all || is_public(&field.vis);
    let name = |(i, field): (usize, &syn::Field)| field.ident.as_ref().map_or(i.to_string(), ToString::to_string);
    let lines = fields.iter().enumerate().filter(|(_, field)| visible(field));
    let mut lines: Vec<String> =
        lines.map(|(i, field)| format!("field {path}::{}: {}", name((i, field)), text(&field.ty))).collect();
    if lines.len() < fields.len() {
        lines.push(format!("field {path}::_ (private)"));
    }
    lines
}

/// Returns the derived traits and `non_exhaustive`, in brackets.
fn marks(attributes: &[Attribute]) -> String {
    let mut marks: Vec<String> = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident("derive") {
            let list = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
            marks.extend(list.split(',').map(|name| name.split("::").last().unwrap_or(name).trim().to_owned()));
        } else if attribute.path().is_ident("non_exhaustive") {
            marks.push("non_exhaustive".to_owned());
        }
    }
    marks.retain(|mark| !mark.is_empty());
    marks.sort();
    if marks.is_empty() { String::new() } else { format!(" [{}]", marks.join(", ")) }
}

/// Returns the generic arguments of a type.
fn arguments(of: &syn::Type) -> String {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map_or(String::new(), |last| text(&last.arguments)),
        _ => String::new(),
    }
}

pub fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Returns true if the attributes contain `doc(hidden)`.
pub fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let hidden = |list: &syn::MetaList| list.tokens.to_string() == "hidden";
        attribute.path().is_ident("doc") && attribute.meta.require_list().is_ok_and(hidden)
    })
}

/// Returns tokens as text, with the spacing of formatted code.
pub fn text(tokens: &impl ToTokens) -> String {
    let mut text = format!(" {} ", tokens.to_token_stream());
    let rules = [
        (" :: ", "::"),
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" :", ":"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        (" ! ", "! "),
        (" ?", "?"),
        ("->(", "-> ("),
        (":(", ": ("),
        (",(", ", ("),
        (",)", ")"),
        (",>", ">"),
        ("' ", "'"),
        ("* ", "*"),
        (":?", ": ?"),
        // The mutability of an argument is not part of the interface.
        ("(mut ", "("),
        (", mut ", ", "),
        ("? ", "?"),
    ];
    rules.iter().for_each(|(from, to)| text = text.replace(from, to));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
