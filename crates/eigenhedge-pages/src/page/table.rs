//! Tables of texts, with optional shading and exact numbers.

use super::{attribute, heading, paragraph};
use crate::escape::markup;

/// Characters from which a text needs a minimum width on narrow screens.
const LONG: usize = 40;

/// Table of strings. Columns of numbers are aligned to the right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Text shown on hover, or an empty list.
    pub exact: Vec<Vec<String>>,
    /// Shade of each cell from -1 to 1, colored by sign, NaN for none, or an empty list.
    pub shades: Vec<Vec<f64>>,
    /// Anchors to which the first cells link, empty for none, or an empty list.
    pub links: Vec<String>,
    /// Values of a small chart in column 2, with true for alarms, or an empty list.
    pub sparks: Vec<(Vec<f64>, Vec<bool>)>,
    pub caption: String,
}

const SPARKS: usize = 2;

impl Table {
    pub(super) fn html(&self) -> String {
        // A dash represents a missing number.
        let is_number = |text: &String| {
            let text = text.trim().trim_end_matches(" %");
            text == "-" || text.replace('\u{2212}', "-").parse::<f64>().is_ok()
        };
        let numeric = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| if is_number(cell) { 1 } else { -1 }).sum::<i64>() > 0
        };
        let classes: Vec<&str> =
            (0..self.columns.len()).map(|column| if numeric(column) { " class=\"number\"" } else { "" }).collect();
        let class = |column: usize| classes.get(column).copied().unwrap_or_default();
        let head = |(i, name): (usize, &String)| format!("<th scope=\"col\"{}>{}</th>", class(i), markup(name));
        let cell = |row: usize, column: usize, text: &String| {
            let exact = self.exact.get(row).and_then(|row| row.get(column)).map_or("", String::as_str);
            let shade = self.shades.get(row).and_then(|row| row.get(column)).copied().unwrap_or(f64::NAN);
            let class = match class(column) {
                "" if !self.sparks.is_empty() && text == "incident" => " class=\"drift\"".to_owned(),
                "" if text.chars().count() >= LONG => " class=\"long\"".to_owned(),
                class => class.replace("number", if self.shades.is_empty() { "number" } else { "number shaded" }),
            };
            let content = match (self.links.get(row), self.sparks.get(row)) {
                (Some(place), _) if column == 0 && !place.is_empty() => {
                    format!("<a href=\"#{}\">{}</a>", markup(place), markup(text))
                }
                (_, Some((values, is_alarm))) if column == SPARKS => spark(values, is_alarm),
                _ => markup(text),
            };
            format!("<td{class}{}{}>{content}</td>", attribute("title", exact), shaded(shade))
        };
        let row = |(i, row): (usize, &Vec<String>)| {
            let cells: String = row.iter().enumerate().map(|(j, text)| cell(i, j, text)).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let heads: String = self.columns.iter().enumerate().map(head).collect();
        let rows: String = self.rows.iter().enumerate().map(row).collect();
        let class = attribute("class", if self.sparks.is_empty() { "" } else { "overview" });
        let caption = if self.caption.is_empty() { String::new() } else { paragraph("caption", &self.caption) };
        format!(
            "<section>{}<div class=\"wide\"><table{class}>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\
             </table></div>{caption}</section>\n",
            heading(&self.title)
        )
    }
}

const WIDTH: f64 = 144.0;
const HEIGHT: f64 = 24.0;

/// Draws the positive values on a logarithmic scale.
fn spark(values: &[f64], is_alarm: &[bool]) -> String {
    let heights: Vec<f64> = values.iter().map(|value| if *value > 0.0 { value.log10() } else { f64::NAN }).collect();
    let known = || heights.iter().filter(|y| y.is_finite());
    let (low, high) = known().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
    if known().count() < 2 {
        return String::new();
    }
    let (mut line, mut points, mut command) = (String::new(), String::new(), 'M');
    for (i, height) in heights.iter().enumerate() {
        if !height.is_finite() {
            command = 'M';
            continue;
        }
        let x = WIDTH * i as f64 / (heights.len() - 1) as f64;
        let y = HEIGHT - 2.0 - (HEIGHT - 4.0) * (height - low) / (high - low).max(1e-9);
        line += &format!("{command}{x:.1} {y:.1}");
        command = 'L';
        if is_alarm.get(i) == Some(&true) {
            points += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.8\" fill=\"var(--alarm)\"/>");
        }
    }
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"score\"><path d=\"{line}\" fill=\"none\" \
         stroke=\"var(--faint)\" stroke-width=\"1\"/>{points}</svg>"
    )
}

fn shaded(shade: f64) -> String {
    if shade.is_nan() {
        return String::new();
    }
    let colour = if shade < 0.0 { "minus" } else { "plus" };
    let percent = (60.0 * shade.abs().min(1.0)).round();
    format!(" style=\"background:color-mix(in srgb,var(--{colour}) {percent}%,transparent)\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_to_their_places_and_show_alarms() {
        let table = Table {
            columns: ["machine", "state", "score"].map(String::from).to_vec(),
            rows: vec![["<m1>", "incident", ""].map(String::from).to_vec()],
            links: vec!["key-0".into()],
            sparks: vec![(vec![1.0, f64::NAN, 10.0, 100.0], vec![false, false, false, true])],
            ..Table::default()
        };
        let html = table.html();
        assert!(
            html.contains("<a href=\"#key-0\">&lt;m1&gt;</a>") && html.contains("<td class=\"drift\">incident</td>")
        );
        assert_eq!((html.matches("<circle").count(), html.matches('M').count()), (1, 2), "{html}");
        assert_eq!(spark(&[], &[]), "");
    }

    #[test]
    fn cells_have_shades_by_sign_and_exact_numbers_on_demand() {
        let table = Table {
            columns: vec!["a".into(), "b".into()],
            rows: vec![vec!["x".into(), "0.3".into()], vec!["y".into(), "\u{2212}1".into()]],
            exact: vec![vec![String::new(), "0.3333".into()], vec![String::new(), "\"".into()]],
            shades: vec![vec![f64::NAN, 0.5], vec![f64::NAN, -2.0]],
            ..Table::default()
        };
        let html = table.html();
        assert!(html.contains("<td>x</td><td class=\"number shaded\" title=\"0.3333\" style=\"background:color-mix(in srgb,var(--plus) 30%,transparent)\">0.3</td>"), "{html}");
        assert!(
            html.contains("title=\"&quot;\" style=\"background:color-mix(in srgb,var(--minus) 60%,transparent)\""),
            "{html}"
        );
    }
}
