//! Names of months in English, German, French, Spanish, Portuguese, Italian and Dutch, and their abbreviations.

const NAMES: [&[&str]; 12] = [
    &["january", "januar", "janner", "janvier", "enero", "janeiro", "gennaio", "januari"],
    &["february", "februar", "fevrier", "febrero", "fevereiro", "febbraio", "februari"],
    &["march", "marz", "maerz", "mrz", "mars", "marzo", "marco", "maart", "mrt"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maio", "maggio", "mei"],
    &["june", "juni", "juin", "junio", "junho", "giugno"],
    &["july", "juli", "juillet", "julio", "julho", "luglio"],
    &["august", "aout", "agosto", "augustus"],
    &["september", "septembre", "septiembre", "setiembre", "setembro", "settembre"],
    &["october", "oktober", "octobre", "octubre", "outubro", "ottobre"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "decembre", "diciembre", "dezembro", "dicembre"],
];

const ENGLISH: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SHORTEST: usize = 3;

/// Returns a date with its month as an English abbreviation, without words such as `de` and days of the week.
pub(crate) fn in_english(text: &str) -> Option<String> {
    let text = text.replace(" de ", " ");
    let words = text.split(|sign: char| !sign.is_alphabetic()).filter(|word| !word.is_empty());
    // `mar.` may be a Tuesday or March. The month is the last name.
    let (word, month) = words.rev().find_map(|word| Some((word, month_of(word)?)))?;
    let start = word.as_ptr() as usize - text.as_ptr() as usize;
    let (before, rest) = (&text[..start], &text[start + word.len()..]);
    let before = before.trim_start_matches(|sign: char| !sign.is_ascii_digit());
    // An abbreviation may end in a period before a space.
    let rest = rest.strip_prefix('.').filter(|rest| rest.starts_with(' ')).unwrap_or(rest);
    Some(format!("{before}{}{rest}", ENGLISH[month]))
}

fn month_of(word: &str) -> Option<usize> {
    let word: String = word.chars().flat_map(char::to_lowercase).map(without_accent).collect();
    NAMES.iter().position(|names| word.len() >= SHORTEST && names.iter().any(|name| name.starts_with(&word)))
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
            ("Mon, 8 Jan 2024", "8 Jan 2024"),
            ("mar. 9 janv. 2024 12:30", "9 Jan 2024 12:30"),
            ("Montag, 8. Jänner 2024", "8. Jan 2024"),
            ("Monday, January 8, 2024", "Jan 8, 2024"),
            ("maandag 8 januari 2024", "8 Jan 2024"),
            ("8 mrt 2024", "8 Mar 2024"),
            ("8 augustus 2024", "8 Aug 2024"),
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
