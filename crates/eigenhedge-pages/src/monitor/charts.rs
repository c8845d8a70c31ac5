//! Charts and table of one monitor, from its record.

use super::headline::{is_over, most_severe, sentence, what};
use super::occurrence::Occurrence;
use super::record::{ALARM, INCIDENT, NUMBERS, Record, SIGNALS};
use crate::chart::{Chart, Curve, Kind, Mark, OtherAxis, Point, Series, Tint};
use crate::heat_map::{HeatMap, leading};
use crate::multiples::Multiples;
use crate::number::grouped;
use crate::page::{Block, Table};
use eigenhedge_io::printable;

const MARKED: usize = 12;
const LISTED: usize = 25;
const COLUMNS: usize = 30;
const AROUND: usize = 6;
/// Number of recorded intervals of rows around an incident that are at least shown.
const CONTEXT: f64 = 12.0;
const DEVIATIONS: f64 = 3.0;
/// A gap in time longer than this multiple of the median step breaks a line.
const GAP: f64 = 10.0;

struct Across {
    /// Nondecreasing times of some rows, or `None` for an axis of row numbers.
    times: Option<Curve>,
    marks: Vec<(Mark, Option<f64>)>,
}

impl Record {
    /// If `all` is true, Q, T² and contributions are included.
    pub fn blocks(&self, columns: &[String], time: Option<&str>, listed: &[&Occurrence], all: bool) -> Vec<Block> {
        let times = time.filter(|_| self.is_in_order).map(|name| self.rows.curve(name, NUMBERS - 1));
        let marks = most_severe(listed, MARKED).into_iter().map(mark).collect();
        let across = Across { times: times.filter(|times| times.rows.len() > 1), marks };
        let score = self.rows.curve("score", 0);
        let flagged = |name: &str, flag: usize, tint: Tint| {
            points(name, &score, self.rows.curve("", flag).values.iter().map(|is| *is > 0.0), tint)
        };
        let marked = vec![flagged("incident", INCIDENT, Tint::Drift), flagged("alarm", ALARM, Tint::Alarm)];
        let mut blocks = Vec::new();
        let table = table(listed);
        blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
        if columns.len() <= SIGNALS {
            let charts = if all { self.around(columns, listed, &across) } else { Vec::new() };
            blocks.extend((!charts.is_empty()).then(|| Block::Multiples(multiples(charts))));
            let worst = worst_columns(columns, listed, if all { 6 } else { 2 }).into_iter();
            blocks.extend(worst.map(|j| Block::Chart(across.chart(self.signal(&columns[j], j)))));
        }
        blocks.push(Block::Chart(across.chart(self.statistic(0, "Score", "score", SCORE, marked))));
        if all {
            let map = across.heat_map(self, columns);
            blocks.extend((!map.places.is_empty() && !map.lines.is_empty()).then_some(Block::HeatMap(map)));
            for (place, title, name) in
                [(2, "Distance from the directions (Q)", "Q"), (4, "Place along the directions (T²)", "T²")]
            {
                let (values, limits) = (self.rows.curve("", place), self.rows.curve("", place + 1).values);
                let is_over = values.values.iter().zip(&limits).map(|(y, limit)| y > limit);
                let over = points("over the limit", &values, is_over, Tint::Drift);
                blocks.push(Block::Chart(across.chart(self.statistic(place, title, name, STATISTIC, vec![over]))));
            }
        }
        blocks
    }

    fn signal(&self, name: &str, j: usize) -> Chart {
        let (low, high) = (self.signals.curve(name, j), self.signals.curve(name, self.signals.width() / 2 + j));
        let mut curve = Curve { name: low.name, rows: Vec::new(), values: Vec::new() };
        for (i, (row, (least, most))) in low.rows.iter().zip(low.values.iter().zip(&high.values)).enumerate() {
            curve.rows.push(*row);
            curve.values.push(*least);
            if least < most {
                let next = low.rows.get(i + 1).unwrap_or(row);
                curve.rows.push(0.5 * (row + next));
                curve.values.push(*most);
            }
        }
        let is_thinned = curve.rows.len() > low.rows.len();
        let mut chart = Chart::new(name, "row", name).with(curve.series(Kind::Line));
        let of_intervals =
            if is_thinned { ": the smallest and the largest value of each interval of rows" } else { "" };
        chart.caption = format!("The column itself{of_intervals}.");
        chart
    }

    /// Plots the first cause of each of the most severe incidents around it, with the usual range of the column.
    fn around(&self, columns: &[String], listed: &[&Occurrence], across: &Across) -> Vec<Chart> {
        let rows = self.signals.curve("", 0).rows;
        let interval = rows.windows(2).map(|pair| pair[1] - pair[0]).fold(1.0, f64::max);
        let chart = |one: &Occurrence| {
            let j = first_cause(one, columns)?;
            let (start, end) = (one.start as f64, one.end as f64);
            let margin = (0.5 * (end - start)).max(CONTEXT * interval);
            let mut chart = Chart { title: what(one), ..self.signal("", j) };
            let line = &mut chart.series[0];
            line.points.retain(|point| (start - margin..=end + margin).contains(&point.x));
            let (x, y): (Vec<f64>, Vec<f64>) = line.points.iter().map(|point| (point.x, point.y)).unzip();
            // An interval has a point at its first row, and may have one in its middle.
            let inside = start - 0.75 * interval..=end + 0.25 * interval;
            let is_inside = x.iter().map(|x| inside.contains(x));
            let curve = Curve { name: String::new(), rows: x.clone(), values: y };
            chart.series.push(points("", &curve, is_inside, Tint::Drift));
            if let Some([mean, deviation]) = self.usual.get(j) {
                let [low, high] = [-DEVIATIONS, DEVIATIONS].map(|factor| vec![mean + factor * deviation; x.len()]);
                chart.series.push(Series::band("", &x, &low, &high).with_tint(Tint::Slot(2)));
            }
            Some(Chart { x_label: String::new(), marks: Vec::new(), ..across.chart(chart) })
        };
        most_severe(listed, AROUND).into_iter().filter_map(chart).collect()
    }

    /// `place` is the index of the statistic among the recorded values.
    fn statistic(&self, place: usize, title: &str, name: &str, caption: &str, marked: Vec<Series>) -> Chart {
        let mut chart = Chart::new(title, "row", name);
        chart.series.push(self.rows.curve(name, place).series(Kind::Line));
        chart.series.push(self.rows.curve("limit", place + 1).series(Kind::Dashed));
        chart.series.extend(marked);
        chart.caption = caption.into();
        chart.log_y = true;
        chart
    }
}

fn points(name: &str, curve: &Curve, is_marked: impl Iterator<Item = bool>, tint: Tint) -> Series {
    let values = curve.values.iter().zip(is_marked).map(|(y, is)| if is { *y } else { f64::NAN });
    Series::points(name, &curve.rows, &values.collect::<Vec<_>>()).with_tint(tint)
}

impl Across {
    /// Adds the marks. If times are known, replaces the rows by times and interrupts lines at gaps in time.
    fn chart(&self, mut chart: Chart) -> Chart {
        chart.marks = self.marks.iter().map(|(mark, _)| mark.clone()).collect();
        let Some(times) = &self.times else { return chart };
        let rows: Vec<f64> = chart.series[0].points.iter().map(|point| point.x).collect();
        let points = broken(&rows.iter().map(|row| times.at(*row)).collect::<Vec<_>>());
        // A gap is placed between the rows around it.
        let row = |i: usize| points[i].1.map_or_else(|| rows[points[i - 1].1.unwrap_or(0)] + 0.5, |from| rows[from]);
        let time = |(mark, time): &(Mark, Option<f64>)| time.unwrap_or_else(|| times.at(mark.x));
        let by_time = OtherAxis {
            label: times.name.clone(),
            is_dated: true,
            places: points.iter().map(|(x, _)| *x).collect(),
            marks: self.marks.iter().map(time).collect(),
        };
        let by_row = OtherAxis {
            label: "row".into(),
            is_dated: false,
            places: (0..points.len()).map(row).collect(),
            marks: chart.marks.iter().map(|mark| mark.x).collect(),
        };
        let (main, other) = if has_long_gap(&points) { (by_row, by_time) } else { (by_time, by_row) };
        for series in &mut chart.series {
            let gap = Point::new(0.0, f64::NAN);
            let point = |(x, (_, from)): (&f64, &(f64, Option<usize>))| Point {
                x: *x,
                ..from.map_or(gap, |i| series.points[i])
            };
            series.points = main.places.iter().zip(&points).map(point).collect();
        }
        chart.marks.iter_mut().zip(main.marks).for_each(|(mark, x)| mark.x = x);
        (chart.x_label, chart.dated_x, chart.other_x) = (main.label, main.is_dated, Some(other));
        chart
    }

    fn heat_map(&self, record: &Record, columns: &[String]) -> HeatMap {
        let all: Vec<Curve> = (1..).zip(columns).map(|(i, name)| record.cells.curve(name, i)).collect();
        let largest = |curve: &Curve| curve.values.iter().copied().fold(0.0, f64::max);
        let order = leading(all.iter().map(largest).enumerate().collect(), COLUMNS);
        let left_out = all.len() - order.len();
        let others = if left_out > 0 { format!(" {left_out} columns with less are left out.") } else { String::new() };
        let rows = record.cells.curve("", 0).rows;
        let (x_label, places) = match &self.times {
            None => ("row".to_owned(), rows),
            Some(times) => (times.name.clone(), rows.iter().map(|row| times.at(*row)).collect()),
        };
        HeatMap {
            title: "Contributions by column".into(),
            x_label,
            dated_x: self.times.is_some(),
            places,
            lines: order.into_iter().map(|i| (all[i].name.clone(), all[i].values.clone())).collect(),
            range: (0.05, 20.0),
            linear: false,
            caption: format!(
                "The contribution of each column to Q, at the row with the largest score in each segment of rows. The \
                 faintest shade is a twentieth of the limit of Q, the darkest twenty times the limit.{others}"
            ),
        }
    }
}

/// Returns true if a gap covers more than half of the time axis.
fn has_long_gap(points: &[(f64, Option<usize>)]) -> bool {
    let range = points.last().map_or(0.0, |last| last.0) - points.first().map_or(0.0, |first| first.0);
    points.windows(3).any(|three| three[1].1.is_none() && three[2].0 - three[0].0 > 0.5 * range)
}

/// Returns the times with their indices. A time without an index marks each gap.
fn broken(places: &[f64]) -> Vec<(f64, Option<usize>)> {
    let mut steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
    steps.sort_by(f64::total_cmp);
    let longest = steps.get(steps.len() / 2).map_or(f64::INFINITY, |median| GAP * median);
    let mut points = Vec::with_capacity(places.len());
    for (i, x) in places.iter().enumerate() {
        if i > 0 && x - places[i - 1] > longest {
            points.push((0.5 * (x + places[i - 1]), None));
        }
        points.push((*x, Some(i)));
    }
    points
}

fn worst_columns(columns: &[String], listed: &[&Occurrence], most: usize) -> Vec<usize> {
    let mut worst = Vec::new();
    for one in most_severe(listed, usize::MAX) {
        worst.extend(first_cause(one, columns).filter(|j| !worst.contains(j)));
        if worst.len() == most {
            break;
        }
    }
    worst
}

fn first_cause(one: &Occurrence, columns: &[String]) -> Option<usize> {
    one.causes.first().and_then(|(name, _)| columns.iter().position(|column| column == name))
}

fn multiples(charts: Vec<Chart>) -> Multiples {
    Multiples { title: "Around each incident".into(), charts, caption: NEAR.into() }
}

fn mark(one: &Occurrence) -> (Mark, Option<f64>) {
    let label = one.causes.first().map_or(String::new(), |(name, _)| printable(name));
    (Mark { x: one.start as f64, label }, one.start_seconds)
}

fn table(listed: &[&Occurrence]) -> Table {
    let line = |one: &Occurrence| {
        let causes = one.causes.iter().map(|(name, share)| format!("{} ({:.0} %)", printable(name), 100.0 * share));
        let rows = if is_over(one) { format!(" to {}", grouped(one.end)) } else { " on, not over".to_owned() };
        vec![
            sentence(one),
            format!("{:.1}", one.strength),
            one.incident.as_ref().map_or(String::new(), |facts| facts.signs.clone()),
            causes.collect::<Vec<_>>().join(", "),
            grouped(one.start) + &rows,
        ]
    };
    let columns = ["what", "severity", "signs", "causes (share)", "rows"];
    let incidents = most_severe(listed, usize::MAX);
    Table {
        title: "Incidents, the most severe first".into(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: incidents.iter().take(LISTED).map(|one| line(one)).collect(),
        caption: match incidents.len().saturating_sub(LISTED) {
            0 => STRENGTH.into(),
            more => format!("{STRENGTH} {more} less severe incidents are left out."),
        },
        ..Table::default()
    }
}

const STRENGTH: &str = "Severity: normal rows have an incident of severity 1 once in ten times the asked time between false incidents, \
                        of severity 2 once in a hundred times, and so on: minor below 1, major from 1, critical from 3. A share is \
                        the part of the squared deviations that a column accounts for.";

const SCORE: &str = "How unusual each row is compared with the reference. The dashed line is the limit of the reference: about the \
                     asked share of rows like it lie above. An alarm stands out from the reference and from the last rows, so it \
                     may lie below the line. Where many rows share a pixel, the one with the largest score is shown. Vertical lines \
                     are the most severe incidents.";
const NEAR: &str = "The first cause of each of the most severe incidents, with orange points in the incident. The band is the mean of \
                    the reference plus and minus three standard deviations. A long table has few points around a short incident.";
const STATISTIC: &str = "The limit is estimated from the reference. Alarms come from the score, not from this chart.";

#[cfg(test)]
mod tests {
    use super::*;

    /// Charts a line over rows 0, 10, 20, … with a mark. Values above 10 are highlighted.
    fn charted(times: Vec<f64>, mark: (f64, Option<f64>), values: &[f64]) -> Chart {
        let rows: Vec<f64> = (0..values.len()).map(|i| 10.0 * i as f64).collect();
        let marks = vec![(Mark { x: mark.0, label: "</script>".into() }, mark.1)];
        let across = Across { times: Some(Curve { name: "time".into(), rows: rows.clone(), values: times }), marks };
        let curve = Curve { name: "score".into(), rows, values: values.to_vec() };
        let over = points("over", &curve, values.iter().map(|y| *y > 10.0), Tint::Drift);
        across.chart(Chart::new("Score", "row", "score").with(curve.series(Kind::Line)).with(over))
    }

    #[test]
    fn charts_have_the_times_of_their_rows_and_a_switch_of_scale() {
        let chart = charted(vec![1000.0, 2000.0, 3000.0], (10.0, None), &[f64::NAN, 1.0, 30.0]);
        assert_eq!((chart.dated_x, chart.marks[0].x), (true, 2000.0));
        let over: Vec<f64> = chart.series[1].points.iter().filter(|point| !point.y.is_nan()).map(|p| p.x).collect();
        assert_eq!(over, [3000.0]);
        let other = chart.other_x.unwrap();
        assert_eq!((other.places, other.marks), (vec![0.0, 10.0, 20.0], vec![10.0]));
    }

    #[test]
    fn lines_are_broken_at_gaps_and_marks_keep_their_own_times() {
        let time = |row: i32| 60.0 * f64::from(row) + if row < 10 { 0.0 } else { 1e6 };
        let chart = charted((0..20).map(time).collect(), (100.0, Some(5.0)), &[1.0; 20]);
        let points = &chart.series[0].points;
        assert_eq!((points.len(), points[10].y.is_nan(), points[9].y.is_nan()), (21, true, false));
        // After a long gap, the axis shows row numbers, and a button switches to times.
        assert_eq!((chart.dated_x, chart.marks[0].x, points[10].x), (false, 100.0, 90.5));
        assert_eq!(chart.other_x.unwrap().marks, [5.0]);
    }
}
