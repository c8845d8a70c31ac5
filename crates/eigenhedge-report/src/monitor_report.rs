//! The page of a monitor: scores and their limits, what happened when, and which columns did it.

use crate::chart::{Chart, Mark, Series};
use crate::heat_map::HeatMap;
use crate::page::{Block, Page, Table};
use crate::run_report::Curve;

/// Columns in the picture of contributions.
const COLUMNS: usize = 30;

/// A statistic over the rows, and its limit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Watched {
    /// Title of its chart.
    pub title: String,
    /// Name in the legend.
    pub name: String,
    /// A sentence below the chart.
    pub caption: String,
    /// Its values.
    pub values: Vec<f64>,
    /// Its limits.
    pub limits: Vec<f64>,
    /// Named points at these rows, NaN elsewhere. If there are none, the values over the limit are marked.
    pub marked: Vec<(String, Vec<f64>)>,
}

/// The data of the page of a monitor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MonitorReport {
    /// Heading.
    pub title: String,
    /// A line below the heading.
    pub subtitle: String,
    /// Names and values of the account.
    pub facts: Vec<(String, String)>,
    /// Numbers of the rows that charts show.
    pub rows: Vec<f64>,
    /// The numbers that the charts show at these rows.
    pub watched: Vec<Watched>,
    /// Events and changes, at the numbers of their first rows.
    pub marks: Vec<Mark>,
    /// Numbers of the rows of the picture of contributions.
    pub cell_rows: Vec<f64>,
    /// Contributions of each column to Q at these rows, in limits of Q.
    pub contributions: Vec<(String, Vec<f64>)>,
    /// The worst moments, with their causes.
    pub worst: Table,
    /// Time of some of the rows, in seconds since 1970 and not decreasing: the axis of the charts, if it is known.
    pub times: Option<Curve>,
}

impl MonitorReport {
    /// The page as an HTML file.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// The page.
    pub fn page(&self) -> Page {
        let facts = self.facts.iter().map(|(name, value)| vec![name.clone(), value.clone()]).collect();
        let facts = Table { columns: vec!["what".into(), "value".into()], rows: facts, ..Table::default() };
        let mut blocks = vec![Block::Table(facts)];
        blocks.extend(self.watched.iter().map(|watched| Block::Chart(self.chart(watched))));
        if !self.cell_rows.is_empty() && !self.contributions.is_empty() {
            blocks.push(Block::HeatMap(self.heat_map()));
        }
        if !self.worst.rows.is_empty() {
            blocks.push(Block::Table(self.worst.clone()));
        }
        Page { title: self.title.clone(), subtitle: self.subtitle.clone(), summary: Vec::new(), blocks }
    }

    /// Places of rows on the horizontal axis.
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

    fn chart(&self, watched: &Watched) -> Chart {
        let x = self.places(&self.rows);
        let over: Vec<f64> = watched
            .values
            .iter()
            .zip(&watched.limits)
            .map(|(y, limit)| if y > limit { *y } else { f64::NAN })
            .collect();
        let mut chart = Chart::new(&watched.title, self.x_label(), &watched.name)
            .with(Series::line(&watched.name, &x, &watched.values))
            .with(Series::dashed("limit", &x, &watched.limits));
        if watched.marked.is_empty() {
            chart = chart.with(Series::points("over the limit", &x, &over));
        }
        for (name, values) in &watched.marked {
            chart = chart.with(Series::points(name, &x, values));
        }
        chart.caption.clone_from(&watched.caption);
        (chart.log_y, chart.dated_x) = (true, self.dated().is_some());
        let starts: Vec<f64> = self.marks.iter().map(|mark| mark.x).collect();
        let places = self.places(&starts);
        chart.marks = self.marks.iter().zip(places).map(|(mark, x)| Mark { x, ..mark.clone() }).collect();
        chart
    }

    /// The columns that contributed most at any moment, in their own order.
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
                "What each column adds to Q, at the row with the largest score of each stretch of rows: from a twentieth of the limit \
                 of Q, the faintest, to twenty limits.{others}"
            ),
        }
    }
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
            marks: vec![Mark { x: 10.0, label: "</script>".into() }],
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
    }
}
