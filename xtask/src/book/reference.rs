//! Checks that the page about Python contains all public names of the package.

use crate::files::read;
use std::path::Path;

/// Modules whose public names (`__all__`) the page must contain.
const MODULES: [&str; 4] = ["__init__.py", "river.py", "plot.py", "spark/__init__.py"];

/// Returns a message for each public name that is missing from the page.
pub fn missing_names(root: &Path) -> Result<Vec<String>, String> {
    let page = read(&root.join("docs/src/python.md"))?;
    let mut missing = Vec::new();
    for module in MODULES {
        let source = read(&root.join("python/eigenhedge").join(module))?;
        let names = public_names(&source);
        if names.is_empty() {
            return Err(format!("python/eigenhedge/{module} has no __all__"));
        }
        let lacking = names.into_iter().filter(|name| !name.starts_with("__") && !occurs(&page, name));
        missing.extend(lacking.map(|name| format!("docs/src/python.md lacks {name} of {module}")));
    }
    Ok(missing)
}

fn public_names(source: &str) -> Vec<&str> {
    let list = source.split_once("__all__ = [").and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).collect()
}

fn occurs(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_a_list() {
        assert_eq!(public_names("x = 1\n__all__ = [\n    \"a\",\n    \"b_c\",\n]\n"), ["a", "b_c"]);
        assert!(occurs("`b_c`, a", "b_c") && !occurs("b_cd", "b_c"));
    }
}
