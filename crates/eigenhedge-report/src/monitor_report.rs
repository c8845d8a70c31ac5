//! Page of a monitor: scores and limits, events, and the columns that caused them.

use crate::chart::{Chart, Mark, OtherAxis, Series, Tint};
use crate::heat_map::HeatMap;
use crate::page::{Block, Folded, Page, Table, Tile};
use crate::run_report::Curve;

/// Maximum number of columns in the heat map of contributions.
const COLUMNS: usize = 30;

/// Statistic over the rows, with its limit, for one chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Watched {
    /// Title of the chart.
    pub title: String,
    /// Name in the legend.
    pub name: String,
    /// Sentence below the chart.
    pub caption: String,
    /// Value of the statistic at each row.
    pub values: Vec<f64>,
    /// Limit of the statistic at each row.
    pub limits: Vec<f64>,
    /// Named points: values at some rows, and NaN elsewhere. If the list is empty, the values above the limit are
    /// marked.
    pub marked: Vec<(String, Vec<f64>)>,
}

/// Event, drift or change that is marked in the charts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {
    /// Number of the marked row.
    pub row: f64,
    /// Time in seconds since 1970, if known.
    pub time: Option<f64>,
    /// Text at the top of the vertical line.
    pub label: String,
}

/// Multiple of the median step above which a gap in time breaks a line.
const GAP: f64 = 10.0;

/// Content of the page of a monitor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MonitorReport {
    /// Heading.
    pub title: String,
    /// Line below the heading.
    pub subtitle: String,
    /// Findings, one sentence each, most important first.
    pub summary: Vec<String>,
    /// Key numbers in large type.
    pub tiles: Vec<Tile>,
    /// Names and values of the complete summary.
    pub facts: Vec<(String, String)>,
    /// Numbers of the plotted rows.
    pub rows: Vec<f64>,
    /// Statistics for the plotted rows.
    pub watched: Vec<Watched>,
    /// Events, drifts and changes.
    pub moments: Vec<Moment>,
    /// Numbers of the rows of the heat map.
    pub cell_rows: Vec<f64>,
    /// Contribution of each column to the statistic Q in the rows `cell_rows`, as a multiple of the limit of Q.
    pub contributions: Vec<(String, Vec<f64>)>,
    /// Numbers of the rows of the signals.
    pub signal_rows: Vec<f64>,
    /// Values of the columns that are main causes, in the rows `signal_rows`.
    pub signals: Vec<(String, Vec<f64>)>,
    /// Table of the strongest events with their causes.
    pub worst: Table,
    /// Times of some rows in seconds since 1970, in nondecreasing order. The value is `None` if the times are unknown.
    /// If they are known, the horizontal axis shows them.
    pub times: Option<Curve>,
}

impl MonitorReport {
    /// Returns the page as an HTML file.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// Builds the page from the heading, the findings and [`Self::blocks`].
    pub fn page(&self) -> Page {
        let (title, subtitle, summary) = (self.title.clone(), self.subtitle.clone(), self.summary.clone());
        Page { title, subtitle, summary, blocks: self.blocks() }
    }

    /// Returns the parts of the page below its heading.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if !self.tiles.is_empty() {
            blocks.push(Block::Tiles(self.tiles.clone()));
        }
        let mut charts = self.watched.iter().map(|watched| Block::Chart(self.chart(watched)));
        blocks.extend(charts.next());
        blocks.extend(self.signals.iter().map(|(name, values)| Block::Chart(self.signal(name, values))));
        if !self.worst.rows.is_empty() {
            blocks.push(Block::Table(self.worst.clone()));
        }
        if !self.cell_rows.is_empty() && !self.contributions.is_empty() {
            blocks.push(Block::HeatMap(self.heat_map()));
        }
        blocks.extend(charts);
        if !self.facts.is_empty() {
            let rows = self.facts.iter().map(|(name, value)| vec![name.clone(), value.clone()]).collect();
            let table = Table { columns: vec!["what".into(), "value".into()], rows, ..Table::default() };
            let folded = Folded { title: "Summary in numbers".into(), text: Vec::new(), tables: vec![table] };
            blocks.push(Block::Folded(folded));
        }
        blocks
    }

    /// Returns the positions of rows on the horizontal axis.
    fn places(&self, rows: &[f64]) -> Vec<f64> {
        match self.dated() {
            None => rows.to_vec(),
            Some(times) => rows.iter().map(|row| times.at(*row)).collect(),
        }
    }

    fn dated(&self) -> Option<&Curve> {
        self.times.as_ref().filter(|times| times.rows.len() > 1)
    }

    fn x_label(&self) -> String {
        self.dated().map_or_else(|| "row".to_owned(), |times| times.name.clone())
    }

    /// Creates a chart over these rows, with the lines that `series` returns. Lines are interrupted at gaps in time.
    fn over(
        &self,
        title: &str,
        name: &str,
        rows: &[f64],
        series: impl Fn(&[f64], &[Option<usize>]) -> Vec<Series>,
    ) -> Chart {
        let points = broken(&self.places(rows), self.dated().is_some());
        let x: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
        let from: Vec<Option<usize>> = points.iter().map(|(_, from)| *from).collect();
        let mut chart = Chart::new(title, self.x_label(), name);
        chart.series = series(&x, &from);
        chart.dated_x = self.dated().is_some();
        let place = |moment: &Moment| match (self.dated(), moment.time) {
            (Some(_), Some(time)) => time,
            (Some(times), None) => times.at(moment.row),
            (None, _) => moment.row,
        };
        chart.marks = self.moments.iter().map(|one| Mark { x: place(one), label: one.label.clone() }).collect();
        if chart.dated_x {
            let places = points.iter().enumerate().map(|(i, (_, from))| match from {
                Some(from) => rows[*from],
                // The position is between the rows around the gap.
                None => points[..i].iter().rev().find_map(|(_, from)| *from).map_or(f64::NAN, |from| rows[from] + 0.5),
            });
            let marks = self.moments.iter().map(|one| one.row).collect();
            chart.other_x = Some(OtherAxis { label: "row".into(), is_dated: false, places: places.collect(), marks });
            if has_long_gap(&points) {
                chart.flip();
            }
        }
        chart
    }

    fn chart(&self, watched: &Watched) -> Chart {
        let mut chart = self.over(&watched.title, &watched.name, &self.rows, |x, from| {
            let at = |values: &[f64]| taken(values, from);
            let over =
                watched.values.iter().zip(&watched.limits).map(|(y, limit)| if y > limit { *y } else { f64::NAN });
            let mut all = vec![
                Series::line(&watched.name, x, &at(&watched.values)),
                Series::dashed("limit", x, &at(&watched.limits)),
            ];
            if watched.marked.is_empty() {
                all.push(Series::points("over the limit", x, &at(&over.collect::<Vec<_>>())).with_tint(Tint::Drift));
            }
            all.extend(watched.marked.iter().map(|(name, values)| {
                let tint = if name == "alarm" { Tint::Alarm } else { Tint::Drift };
                Series::points(name, x, &at(values)).with_tint(tint)
            }));
            all
        });
        chart.caption.clone_from(&watched.caption);
        chart.log_y = true;
        chart
    }

    /// Plots the values of one column.
    fn signal(&self, name: &str, values: &[f64]) -> Chart {
        let line = |x: &[f64], from: &[Option<usize>]| vec![Series::line(name, x, &taken(values, from))];
        let mut chart = self.over(name, name, &self.signal_rows, line);
        chart.caption = "The column itself, at evenly spaced rows.".into();
        chart
    }

    /// Returns the heat map of the columns with the largest contributions. The columns keep their order.
    fn heat_map(&self) -> HeatMap {
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..self.contributions.len()).collect();
        order.sort_by(|a, b| largest(&self.contributions[*b].1).total_cmp(&largest(&self.contributions[*a].1)));
        order.truncate(COLUMNS);
        order.sort_unstable();
        let left_out = self.contributions.len() - order.len();
        let others = if left_out > 0 { format!(" {left_out} columns with less are left out.") } else { String::new() };
        HeatMap {
            title: "Contributions by column".into(),
            x_label: self.x_label(),
            dated_x: self.dated().is_some(),
            places: self.places(&self.cell_rows),
            lines: order.into_iter().map(|i| self.contributions[i].clone()).collect(),
            range: (0.05, 20.0),
            linear: false,
            caption: format!(
                "The contribution of each column to Q, at the row with the largest score in each segment of rows. The \
                 faintest shade is a twentieth of the limit of Q, the darkest twenty times the limit.{others}"
            ),
        }
    }
}

/// Returns true if a gap covers more than half of the time. Row numbers are then the clearer axis.
fn has_long_gap(points: &[(f64, Option<usize>)]) -> bool {
    let range = points.last().map_or(0.0, |last| last.0) - points.first().map_or(0.0, |first| first.0);
    points.windows(3).any(|three| three[1].1.is_none() && three[2].0 - three[0].0 > 0.5 * range)
}

/// Returns the positions with their indices. Each gap in time gets an additional position without an index.
fn broken(places: &[f64], is_dated: bool) -> Vec<(f64, Option<usize>)> {
    let mut steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
    steps.sort_by(f64::total_cmp);
    let longest = match steps.get(steps.len() / 2) {
        Some(median) if is_dated => GAP * median,
        _ => f64::INFINITY,
    };
    let mut points = Vec::with_capacity(places.len());
    for (i, x) in places.iter().enumerate() {
        if i > 0 && x - places[i - 1] > longest {
            points.push((0.5 * (x + places[i - 1]), None));
        }
        points.push((*x, Some(i)));
    }
    points
}

/// Returns the values at these indices. `None` becomes NaN.
fn taken(values: &[f64], from: &[Option<usize>]) -> Vec<f64> {
    from.iter().map(|from| from.and_then(|i| values.get(i).copied()).unwrap_or(f64::NAN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_the_times_of_their_rows_and_a_switch_of_scale() {
        let watched = Watched {
            title: "Score".into(),
            name: "score".into(),
            values: vec![f64::NAN, 1.0, 30.0],
            limits: vec![f64::NAN, 10.0, 10.0],
            ..Watched::default()
        };
        let times = Curve { name: "time".into(), rows: vec![0.0, 20.0], values: vec![1000.0, 3000.0] };
        let report = MonitorReport {
            rows: vec![0.0, 10.0, 20.0],
            watched: vec![watched],
            moments: vec![Moment { row: 10.0, time: None, label: "</script>".into() }],
            cell_rows: vec![0.0, 20.0],
            contributions: (0..40).map(|i| (format!("c{i}"), vec![0.0, f64::from(i)])).collect(),
            times: Some(times),
            ..MonitorReport::default()
        };
        let chart = report.chart(&report.watched[0]);
        assert!(chart.log_y && chart.dated_x);
        assert_eq!(chart.marks[0].x, 2000.0);
        let over: Vec<f64> = chart.series[2].points.iter().filter(|point| !point.y.is_nan()).map(|p| p.x).collect();
        assert_eq!(over, [3000.0]);
        let map = report.heat_map();
        assert_eq!((map.lines.len(), map.lines[0].0.as_str()), (COLUMNS, "c10"));
        assert!(report.html().contains("10 columns with less are left out"));
        assert!(!report.html().contains("\"</script>"));
        let other = chart.other_x.unwrap();
        assert_eq!((other.places, other.marks), (vec![0.0, 10.0, 20.0], vec![10.0]));
    }

    #[test]
    fn lines_are_broken_at_gaps_and_moments_keep_their_own_times() {
        let rows: Vec<f64> = (0..20).map(f64::from).collect();
        let time = |row: &f64| if *row < 10.0 { 60.0 * row } else { 1e6 + 60.0 * row };
        let times = Curve { name: "time".into(), rows: rows.clone(), values: rows.iter().map(time).collect() };
        let watched = Watched { values: vec![1.0; 20], limits: vec![2.0; 20], ..Watched::default() };
        let report = MonitorReport {
            rows: rows.clone(),
            watched: vec![watched],
            moments: vec![Moment { row: 10.0, time: Some(5.0), label: "a".into() }],
            signal_rows: rows,
            signals: vec![("s".into(), vec![7.0; 20])],
            times: Some(times),
            ..MonitorReport::default()
        };
        for chart in [report.chart(&report.watched[0]), report.signal("s", &report.signals[0].1)] {
            let points = &chart.series[0].points;
            assert_eq!((points.len(), points[10].y.is_nan(), points[9].y.is_nan()), (21, true, false));
            // A long gap: rows are the axis, and a button shows the times.
            assert_eq!((chart.dated_x, chart.marks[0].x, points[10].x), (false, 10.0, 9.5));
            assert_eq!(chart.other_x.unwrap().marks, [5.0]);
        }
    }
}
