//! Names of streams, and options of a request, read by name.

use super::problem::Problem;
use serde_json::{Map, Number, Value};
use std::str::FromStr;

const LONGEST_NAME: usize = 64;

/// Names of streams are safe in paths, labels and file names.
pub fn check_name(name: &str) -> Result<(), Problem> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let begins_well = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins_well && name.len() <= LONGEST_NAME && name.bytes().all(is_allowed) {
        return Ok(());
    }
    Err(Problem::malformed(format!(
        "the name of a stream must be at most {LONGEST_NAME} letters, digits, '-', '_' and '.', and begin with a letter or a digit"
    )))
}

pub fn must(name: &str, rule: &str, found: &str) -> Problem {
    Problem::unsound(format!("{name} must be {rule}, got {found}"))
}

/// A nonnegative whole number such as 2.0 has no decimals.
fn whole(number: &Number) -> String {
    let whole = number.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0 && *number < u64::MAX as f64);
    match whole {
        Some(whole) if number.is_f64() => (whole as u64).to_string(),
        _ => number.to_string(),
    }
}

/// Numbers are compared by value, so 20 equals 20.0.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() != b.is_f64() => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        _ => one == other,
    }
}

pub fn are_same(some: &Map<String, Value>, others: &Map<String, Value>) -> bool {
    let has = |(name, value): (&String, &Value)| others.get(name).is_some_and(|other| is_same(value, other));
    some.len() == others.len() && some.iter().all(has)
}

pub struct Fields<'a>(pub &'a Map<String, Value>);

impl Fields<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(whole(number))),
            Some(other) => Err(must(name, "a text or a number", &other.to_string())),
        }
    }

    pub fn text_or_flag(&self, name: &str) -> Result<Option<String>, Problem> {
        match self.0.get(name) {
            Some(Value::Bool(flag)) => Ok(Some(flag.to_string())),
            _ => self.text(name),
        }
    }

    pub fn texts(&self, name: &str) -> Result<Vec<String>, Problem> {
        let Some(Value::Array(list)) = self.0.get(name) else { return Ok(self.text(name)?.into_iter().collect()) };
        let text = |item: &Value| match item {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(whole(number)),
            other => Err(must(name, "a list of texts", &other.to_string())),
        };
        list.iter().map(text).collect()
    }

    /// `rule` describes valid values in errors.
    pub fn read<T: FromStr>(&self, name: &str, rule: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| must(name, rule, &text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_paths_markup_or_endless() {
        let good = ["a", "press-7", "A.b_c", "0", &"x".repeat(LONGEST_NAME)];
        good.into_iter().for_each(|name| check_name(name).unwrap());
        let long = "x".repeat(LONGEST_NAME + 1);
        let bad = ["", ".", "..", "../a", "a/b", "a\\b", "-a", "a b", "<script>", "a\0", "ä", "a%2f", "a\n", &long];
        bad.into_iter().for_each(|name| assert!(check_name(name).is_err(), "{name:?}"));
    }
}
