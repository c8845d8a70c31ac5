//! Search for the columns that a selector names by position, by name or by pattern.

use crate::error::{Fault, hint, quoted};
use crate::layout::{Layout, Selector};

/// Returns the positions of the columns that no option names. The time column is detected among
/// them. The result is empty if the layout already determines the time column.
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

/// Returns the positions of the columns that a selector names. `list` is their source in messages.
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
        Selector::Position(position) => Err(Fault::NoPosition { position: *position, last: count - 1 }),
        Selector::Name(name) => match all(&|candidate| candidate == name).as_slice() {
            [position] => Ok(vec![*position]),
            [] => Err(Fault::NoName { name: name.clone(), list, hint: hint_or_list(name, names) }),
            _ => {
                let list = if list.is_empty() { "the table" } else { "the header" };
                Err(Fault::Ambiguous { name: name.clone(), list })
            }
        },
        // A pattern may be the exact name of a column.
        Selector::Pattern(pattern) => match all(&|candidate| candidate == pattern) {
            literal if literal.len() == 1 => Ok(literal),
            _ => match all(&|candidate| matches(pattern.as_bytes(), candidate.as_bytes())) {
                none if none.is_empty() => Err(Fault::NoMatch(pattern.clone())),
                found => Ok(found),
            },
        },
    }
}

/// Returns a hint for an unknown name: the most similar name, or else the first few names.
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

/// Returns true if a name matches the pattern, in which `*` matches any number of characters and `?` one byte.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    matches(pattern.as_bytes(), name.as_bytes())
}

/// Returns true if the text matches a pattern with `*` and `?`. The time is at most proportional to
/// the product of the lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Position to resume from when the last star must match one more byte.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p + 1, t));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((after_star, start)) => {
                    (p, t) = (after_star, start + 1);
                    retry = Some((after_star, start + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_as_in_a_shell() {
        let yes =
            [("sensor_*", "sensor_"), ("*", ""), ("a*b*c", "aXbYbZc"), ("?x", "ax"), ("*_1", "a_1_1"), ("**", "q")];
        let no = [("sensor_*", "sensor"), ("?", ""), ("a*b*c", "aXbYbZ"), ("?x", "x"), ("*_1", "a_1_2"), ("a", "ab")];
        yes.iter()
            .for_each(|(pattern, text)| assert!(matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}"));
        no.iter()
            .for_each(|(pattern, text)| assert!(!matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}"));
    }

    #[test]
    fn a_pattern_that_could_take_forever_does_not() {
        let pattern = "*a".repeat(50) + "b";
        assert!(!matches(pattern.as_bytes(), "a".repeat(2000).as_bytes()));
    }
}
