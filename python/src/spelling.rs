//! Python spelling of names.

/// Returns the Python spelling of an option: with underscores instead of hyphens.
pub fn spelling(name: &str) -> String {
    name.replace('-', "_")
}
