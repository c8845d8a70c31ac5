//! Names of months in English, German, French, Spanish, Portuguese, Italian and Dutch, and their abbreviations.

/// Names of the months without accents.
const NAMES: [&[&str]; 12] = [
    &["january", "januar", "janner", "janvier", "enero", "janeiro", "gennaio"],
    &["february", "februar", "fevrier", "febrero", "fevereiro", "febbraio"],
    &["march", "marz", "maerz", "mrz", "mars", "marzo", "marco", "maart"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maio", "maggio", "mei"],
    &["june", "juni", "juin", "junio", "junho", "giugno"],
    &["july", "juli", "juillet", "julio", "julho", "luglio"],
    &["august", "aout", "agosto"],
    &["september", "septembre", "septiembre", "setiembre", "setembro", "settembre"],
    &["october", "oktober", "octobre", "octubre", "outubro", "ottobre"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "decembre", "diciembre", "dezembro", "dicembre"],
];

const ENGLISH: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SHORTEST: usize = 3;

/// Returns a date with its month in English and without words such as `de`, or `None` if it has no such name.
pub(crate) fn in_english(text: &str) -> Option<String> {
    let text = text.replace(" de ", " ");
    let start = text
        .find(char::is_alphabetic)
        .filter(|start| text[*start..].chars().take(SHORTEST).all(char::is_alphabetic))?;
    let end = text[start..].find(|sign: char| !sign.is_alphabetic()).map_or(text.len(), |length| start + length);
    let word: String = text[start..end].chars().flat_map(char::to_lowercase).map(without_accent).collect();
    let is_month = |names: &&[&str]| word.len() >= SHORTEST && names.iter().any(|name| name.starts_with(&word));
    let month = NAMES.iter().position(is_month)?;
    // An abbreviation may end in a point before a space.
    let rest = &text[end..];
    let rest = rest.strip_prefix('.').filter(|rest| rest.starts_with(' ')).unwrap_or(rest);
    Some(format!("{}{}{rest}", &text[..start], ENGLISH[month]))
}

fn without_accent(sign: char) -> char {
    match sign {
        'ä' | 'à' | 'á' | 'â' => 'a',
        'é' | 'è' | 'ê' => 'e',
        'û' | 'ü' | 'ù' => 'u',
        'ç' => 'c',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_of_seven_languages_are_found_and_no_abbreviation_has_two_meanings() {
        let cases = [
            ("08-Jan-24", "08-Jan-24"),
            ("8. März 2024", "8. Mar 2024"),
            ("8 févr. 2024", "8 Feb 2024"),
            ("15 de diciembre de 2024 10:00", "15 Dec 2024 10:00"),
            ("Juil 3 2024", "Jul 3 2024"),
            ("3-out-2024", "3-Oct-2024"),
            ("3-SEPT-2024", "3-Sep-2024"),
        ];
        cases.into_iter().for_each(|(text, wanted)| assert_eq!(in_english(text).as_deref(), Some(wanted)));
        ["8-mo-24", "monday", "2024-01-08", ""]
            .into_iter()
            .for_each(|text| assert_eq!(in_english(text), None, "{text}"));
        for (month, names) in NAMES.iter().enumerate() {
            for name in *names {
                let least =
                    if *name == "juin" || *name == "juillet" || *name == "juni" || *name == "juli" { 4 } else { 3 };
                for length in least..=name.len() {
                    let found = in_english(&format!("1 {}", &name[..length]));
                    assert_eq!(found.as_deref(), Some(format!("1 {}", ENGLISH[month]).as_str()), "{name}");
                }
            }
        }
    }
}
