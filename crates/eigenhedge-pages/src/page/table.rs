//! Tables of texts, with optional shading and exact numbers.

use super::{heading, pointed};
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
    pub caption: String,
}

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
                "" if text.chars().count() >= LONG => " class=\"long\"".to_owned(),
                class => class.replace("number", if self.shades.is_empty() { "number" } else { "number shaded" }),
            };
            format!("<td{class}{}{}>{}</td>", pointed(exact), shaded(shade), markup(text))
        };
        let row = |(i, row): (usize, &Vec<String>)| {
            let cells: String = row.iter().enumerate().map(|(j, text)| cell(i, j, text)).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let heads: String = self.columns.iter().enumerate().map(head).collect();
        let rows: String = self.rows.iter().enumerate().map(row).collect();
        framed(&self.title, "", &heads, &rows, &self.caption)
    }
}

pub(super) fn framed(title: &str, class: &str, head: &str, rows: &str, caption: &str) -> String {
    let caption =
        if caption.is_empty() { String::new() } else { format!("<p class=\"caption\">{}</p>", markup(caption)) };
    format!(
        "<section>{}<div class=\"wide\"><table{class}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\
         </table></div>{caption}</section>\n",
        heading(title)
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
