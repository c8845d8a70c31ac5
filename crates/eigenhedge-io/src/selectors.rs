//! Search for the columns that a selector names by position, by name or by pattern.

use crate::error::{Fault, hint, quoted};
use crate::layout::{Layout, Selector};
use std::str::Chars;

/// Returns the columns that no option names, among which the time column is detected, or none if it is known.
pub(crate) fn free_columns(
    names: Option<&[String]>,
    count: usize,
    layout: &Layout,
    list: &'static str,
) -> Result<Vec<usize>, Fault> {
    if layout.time.is_some() || layout.found.is_some() {
        return Ok(Vec::new());
    }
    let mut is_free = vec![true; count];
    for selector in layout.keep.iter().chain(&layout.exclude).chain(&layout.columns) {
        let is_pattern = layout.columns.contains(selector) && matches!(selector, Selector::Pattern(_));
        for position in find(selector, names.unwrap_or_default(), count, list)? {
            is_free[position] &= is_pattern;
        }
    }
    Ok((0..count).filter(|position| is_free[*position]).collect())
}

pub(crate) fn find(
    selector: &Selector,
    names: &[String],
    count: usize,
    list: &'static str,
) -> Result<Vec<usize>, Fault> {
    let all =
        |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> { (0..names.len()).filter(|i| wanted(&names[*i])).collect() };
    match selector {
        Selector::Position(position) if *position < count => Ok(vec![*position]),
        Selector::Position(position) => {
            Err(Fault::Table(format!("there is no column {position}: positions run from 0 to {}", count - 1)))
        }
        Selector::Name(name) => match all(&|candidate| candidate == name).as_slice() {
            [position] => Ok(vec![*position]),
            [] => Err(Fault::Table(format!("there is no column {name:?}{list}{}", hint_or_list(name, names)))),
            _ => {
                let list = if list.is_empty() { "the table" } else { "the header" };
                Err(Fault::ambiguous_name(name, list))
            }
        },
        // A pattern may be the exact name of a column.
        Selector::Pattern(pattern) => match all(&|candidate| candidate == pattern) {
            literal if literal.len() == 1 => Ok(literal),
            _ => match all(&|candidate| matches_pattern(pattern, candidate)) {
                none if none.is_empty() => Err(Fault::Table(format!("no column matches {pattern:?}"))),
                found => Ok(found),
            },
        },
    }
}

fn hint_or_list(name: &str, names: &[String]) -> String {
    const LISTED: usize = 8;
    let near = hint(name, names);
    if !near.is_empty() || names.is_empty() {
        return near;
    }
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    format!("; the columns are {}{more}", listed.join(", "))
}

/// Returns true if a name matches the pattern, in which `*` matches any number of characters and `?` one character.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut rest) = (pattern.chars(), name.chars());
    // Positions to resume from when the last star must match one more character.
    let mut retry: Option<(Chars<'_>, Chars<'_>)> = None;
    while let Some(character) = rest.clone().next() {
        let mut after = pattern.clone();
        match after.next() {
            Some('*') => {
                pattern = after.clone();
                retry = Some((after, rest.clone()));
            }
            Some(wanted) if wanted == '?' || wanted == character => {
                pattern = after;
                rest.next();
            }
            _ => {
                let Some((after_star, start)) = &mut retry else { return false };
                start.next();
                (pattern, rest) = (after_star.clone(), start.clone());
            }
        }
    }
    pattern.all(|character| character == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_as_in_a_shell() {
        let yes = [
            ("sensor_*", "sensor_"),
            ("*", ""),
            ("a*b*c", "aXbYbZc"),
            ("?x", "ax"),
            ("*_1", "a_1_1"),
            ("**", "q"),
            ("T_?", "T_°"),
        ];
        let no = [("sensor_*", "sensor"), ("?", ""), ("a*b*c", "aXbYbZ"), ("?x", "x"), ("*_1", "a_1_2"), ("a", "ab")];
        yes.iter().for_each(|(pattern, text)| assert!(matches_pattern(pattern, text), "{pattern} {text}"));
        no.iter().for_each(|(pattern, text)| assert!(!matches_pattern(pattern, text), "{pattern} {text}"));
    }

    #[test]
    fn a_pattern_that_could_take_forever_does_not() {
        let pattern = "*a".repeat(50) + "b";
        assert!(!matches_pattern(&pattern, &"a".repeat(2000)));
    }
}
