//! Approximate text widths for layout. Widths are overestimated, because fonts differ.

fn character_width(character: char) -> f64 {
    match character {
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => 1.1,
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' | ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.44,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.96,
        'A'..='Z' => 0.74,
        '\u{300}'..='\u{36f}' => 0.0,
        '\u{0}'..='\u{10ff}' => 0.62,
        '\u{2000}'..='\u{206f}' => 0.6,
        _ => 1.1,
    }
}

pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(character_width).sum::<f64>() * size
}

pub fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.into();
    }
    let (mut fitted, mut used) = (String::new(), size);
    for character in text.chars() {
        used += character_width(character) * size;
        if used > room {
            break;
        }
        fitted.push(character);
    }
    fitted.trim_end().to_string() + "…"
}

/// Keeps the first letters and the end, because names often have a common start.
pub fn fit_ends(text: &str, size: f64, room: f64) -> String {
    const FIRST: usize = 4;
    if width(text, size) <= room {
        return text.into();
    }
    let start: String = text.chars().take(FIRST).collect();
    let mut used = width(&start, size) + size;
    let kept = text.chars().rev().take_while(|character| {
        used += character_width(*character) * size;
        used <= room
    });
    let end: Vec<char> = kept.collect();
    start + "…" + end.into_iter().rev().collect::<String>().trim_start()
}

/// Wraps between words. A line that is still too wide ends with an ellipsis.
pub fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let longer = if lines[last].is_empty() { word.to_string() } else { format!("{} {word}", lines[last]) };
        if lines[last].is_empty() || lines.len() == most || width(&longer, size) <= room {
            lines[last] = longer;
        } else {
            lines.push(word.into());
        }
    }
    lines.iter().map(|line| fit(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_text_fits() {
        let text = "expected loss of the forgetting leader, 漢字漢字漢字漢字";
        for room in [5.0, 60.0, 200.0, 1000.0] {
            let fitted = fit(text, 12.0, room);
            assert!(width(&fitted, 12.0) <= room.max(12.0), "{fitted}");
            assert_eq!(fitted == text, width(text, 12.0) <= room);
            assert!(wrap(text, 12.0, room, 2).len() <= 2);
        }
    }
}
