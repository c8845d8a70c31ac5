//! Checks that the section "Unreleased" of the changelog names every changed item.

/// Returns the names of changed items that do not occur in the section "Unreleased", sorted.
pub fn unnamed<'a>(changelog: &str, changed: impl Iterator<Item = &'a String>) -> Vec<String> {
    let section = unreleased(changelog);
    let is_word = |name: &str| section.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let mut names: Vec<String> = changed.filter_map(|line| name(line)).filter(|name| !is_word(name)).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the text between the heading "Unreleased" and the next version.
fn unreleased(changelog: &str) -> &str {
    let rest = changelog.split_once("## [Unreleased]").map_or("", |(_, rest)| rest);
    rest.split_once("\n## [").map_or(rest, |(section, _)| section)
}

/// Returns the name of the item in a line of a snapshot: the last segment of the first path.
fn name(line: &str) -> Option<String> {
    let path = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).find(|word| word.contains("::"))?;
    path.split(':').rfind(|word| !["", "_"].contains(word)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_name_must_occur_in_the_newest_section() {
        let log = "# Log\n\n## [Unreleased]\n- `Model::step` takes a weight.\n\n## [1.0.0]\n- `Fleet::merge`.\n";
        let lines = [
            "fn a::Model::step(&mut self, row: &[f64])".to_owned(),
            "fn a::Fleet::merge(&mut self)".to_owned(),
            "field a::Spec::eta: f64".to_owned(),
            "impl<T: Clone> Clone for a::Fleet<T>".to_owned(),
        ];
        assert_eq!(unnamed(log, lines.iter()), ["Fleet", "eta", "merge"]);
    }
}
