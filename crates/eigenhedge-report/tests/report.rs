//! The page of a run as text.

#[allow(dead_code)]
#[path = "../examples/page.rs"]
mod example;

use eigenhedge_report::{Best, Block, Chart, Curve, Kind, RunReport};

fn titles(report: &RunReport) -> Vec<String> {
    report.charts().into_iter().map(|chart| chart.title).collect()
}

#[test]
fn a_page_of_a_million_rows_is_less_than_a_megabyte() {
    let report = example::made_up(1_000_000);
    let (page, picture) = (report.html().len(), report.svg().len());
    assert!(page < 1_000_000 && picture < 300_000, "page {page}, picture {picture}");
    for chart in report.charts() {
        for series in &chart.series {
            assert!(series.points.len() <= 2000, "{}: {}", series.name, series.points.len());
        }
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let (a, b) = (example::made_up(700), example::made_up(700));
    assert_eq!((a.html(), a.svg()), (b.html(), b.svg()));
}

#[test]
fn a_page_names_nothing_on_the_network() {
    let html = example::made_up(500).html();
    let allowed = ["http://www.w3.org/2000/svg", "https://github.com/leeoniya/uPlot"];
    for (start, _) in html.match_indices("http") {
        let rest = &html[start..];
        let is_word = rest.starts_with("http-equiv");
        assert!(is_word || allowed.iter().any(|address| rest.starts_with(address)), "{}", &rest[..60.min(rest.len())]);
    }
    assert!(!html.contains(" src=") && !html.contains("@import"));
}

#[test]
fn what_has_no_data_has_no_chart_and_no_table() {
    let empty = RunReport { title: "nothing".into(), ..RunReport::default() };
    assert_eq!(empty.page().blocks, []);
    assert!(empty.html().contains("<h1>nothing</h1>"));
    let curve = Curve { name: "tracking".into(), rows: vec![1.0, 2.0], values: vec![0.5, 0.7] };
    let some = RunReport { learners: vec![curve], ..RunReport::default() };
    assert_eq!(titles(&some), ["Total expected loss"]);
}

#[test]
fn the_ledger_comes_first_and_every_chart_and_table_follows() {
    let report = example::made_up(300);
    let blocks = report.page().blocks;
    let names: Vec<&str> = blocks
        .iter()
        .map(|block| match block {
            Block::Chart(chart) => chart.title.as_str(),
            Block::Table(table) => table.title.as_str(),
            Block::HeatMap(map) => map.title.as_str(),
        })
        .collect();
    assert_eq!(names[0], "Ledger");
    assert_eq!(names[1..7], titles(&report));
    assert_eq!(names[7..], ["Largest losses", "Members"]);
}

#[test]
fn the_best_is_drawn_as_what_is_known_of_it() {
    let kind = |best: Option<Best>| {
        let report = RunReport { best, ..RunReport::default() };
        let charts: Vec<Chart> = report.charts();
        charts.first().map(|chart| chart.series[0].kind)
    };
    let curve = Curve { name: "best".into(), rows: vec![1.0, 2.0], values: vec![0.5, 0.7] };
    let (low, high) = (vec![0.4, 0.5], vec![0.5, 0.9]);
    let bracket = Best::Bracket { name: "best".into(), rows: vec![1.0, 2.0], low, high };
    assert_eq!(kind(None), None);
    assert_eq!(kind(Some(Best::Curve(curve.clone()))), Some(Kind::Dashed));
    assert_eq!(kind(Some(Best::Points(curve))), Some(Kind::Points));
    assert_eq!(kind(Some(bracket)), Some(Kind::Band));
}

#[test]
fn each_row_of_the_plane_is_drawn_once() {
    let report = example::made_up(1234);
    let plane = report.charts().into_iter().last().unwrap();
    assert_eq!(plane.series.iter().map(|series| series.points.len()).sum::<usize>(), report.rows.len());
}
