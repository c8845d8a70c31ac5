//! Table with one line and a sparkline per item.

use super::table::framed;
use crate::escape::markup;

const WIDTH: f64 = 144.0;
const HEIGHT: f64 = 24.0;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overview {
    pub title: String,
    pub noun: String,
    pub lines: Vec<OverviewLine>,
    pub caption: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct OverviewLine {
    pub name: String,
    /// Anchor to which the name links, or an empty string.
    pub place: String,
    pub state: &'static str,
    pub rows: u64,
    pub alarms: u64,
    pub incidents: u64,
    pub causes: String,
    pub values: Vec<f64>,
    pub is_alarm: Vec<bool>,
}

impl Overview {
    pub(super) fn html(&self) -> String {
        let head = [self.noun.as_str(), "state", "score", "alarms", "incidents", "last causes", "rows"];
        let head: String = head.iter().map(|name| format!("<th scope=\"col\">{}</th>", markup(name))).collect();
        let lines: String = self.lines.iter().map(OverviewLine::html).collect();
        framed(&self.title, " class=\"overview\"", &head, &lines, &self.caption)
    }
}

impl OverviewLine {
    fn html(&self) -> String {
        let name = match self.place.as_str() {
            "" => markup(&self.name),
            place => format!("<a href=\"#{}\">{}</a>", markup(place), markup(&self.name)),
        };
        let Self { state, rows, alarms, incidents, .. } = self;
        let class = if *state == "incident" { "drift" } else { "normal" };
        let causes = markup(&self.causes);
        format!(
            "<tr><td>{name}</td><td class=\"{class}\">{state}</td><td>{}</td><td class=\"number\">{alarms}</td>\
             <td class=\"number\">{incidents}</td><td class=\"causes\">{causes}</td><td class=\"number\">{rows}</td></tr>\n",
            self.picture()
        )
    }

    /// Draws the positive values on a logarithmic scale, with alarms as points.
    fn picture(&self) -> String {
        let height = |value: f64| if value > 0.0 { value.log10() } else { f64::NAN };
        let known: Vec<f64> = self.values.iter().map(|value| height(*value)).filter(|y| y.is_finite()).collect();
        let (low, high) = known.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
        if known.len() < 2 {
            return String::new();
        }
        let place = |i: usize, value: f64| {
            let x = WIDTH * i as f64 / (self.values.len() - 1).max(1) as f64;
            let y = (height(value) - low) / (high - low).max(1e-9);
            (x, HEIGHT - 2.0 - (HEIGHT - 4.0) * y)
        };
        let (mut line, mut points, mut is_down) = (String::new(), String::new(), false);
        for (i, value) in self.values.iter().enumerate() {
            if !height(*value).is_finite() {
                is_down = false;
                continue;
            }
            let (x, y) = place(i, *value);
            line += &format!("{}{x:.1} {y:.1}", if is_down { "L" } else { "M" });
            is_down = true;
            if self.is_alarm.get(i).copied().unwrap_or(false) {
                points += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.8\" fill=\"var(--alarm)\"/>");
            }
        }
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"score\"><path d=\"{line}\" fill=\"none\" \
             stroke=\"var(--faint)\" stroke-width=\"1\"/>{points}</svg>"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_to_their_places_and_show_alarms() {
        let line = OverviewLine {
            name: "<m1>".into(),
            place: "key-0".into(),
            state: "incident",
            values: vec![1.0, f64::NAN, 10.0, 100.0],
            is_alarm: vec![false, false, false, true],
            ..OverviewLine::default()
        };
        let html = Overview { noun: "machine".into(), lines: vec![line], ..Overview::default() }.html();
        assert!(
            html.contains("<a href=\"#key-0\">&lt;m1&gt;</a>") && html.contains("<td class=\"drift\">incident</td>")
        );
        assert_eq!((html.matches("<circle").count(), html.matches('M').count()), (1, 2), "{html}");
        assert_eq!(OverviewLine::default().picture(), "");
    }
}
