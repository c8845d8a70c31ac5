//! Escaping of untrusted text.

/// Escapes text for HTML and SVG, in elements and quoted attributes. Line ends and tabs become spaces. Control
/// characters, which XML does not allow, and those that reorder the surrounding text become U+FFFD.
pub fn markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => safe.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// Escapes JSON for a script element, so that no text can close the element.
pub fn script(json: &str) -> String {
    let escape = |safe: String, sign: char| safe.replace(sign, &format!("\\u{:04x}", u32::from(sign)));
    ['<', '>', '&', '\u{2028}', '\u{2029}'].into_iter().fold(json.to_owned(), escape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile::HOSTILE;
    use proptest::prelude::*;

    fn harmless(text: &str) {
        let safe = markup(text);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{2028}', '\n']), "{safe:?}");
        let document = format!("<a b=\"{safe}\" c='{safe}'>{safe}</a>");
        assert!(roxmltree::Document::parse(&document).is_ok(), "{document:?}");
        let json = serde_json::to_string(text).unwrap();
        let safe = script(&json);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{safe:?}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    #[test]
    fn hostile_names_are_harmless() {
        HOSTILE.iter().for_each(|text| harmless(text));
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        assert_eq!(markup("Länge in cm², 測定"), "Länge in cm², 測定");
    }

    proptest! {
        #[test]
        fn any_text_is_harmless(text in prop::collection::vec(any::<char>(), 0..40)) {
            harmless(&text.into_iter().collect::<String>());
        }
    }
}
