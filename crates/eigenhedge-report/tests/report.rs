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
    let some = RunReport { learner: Some(curve), ..RunReport::default() };
    assert_eq!(titles(&some), ["In all, and the guarantee"]);
}

#[test]
fn pictures_come_first_and_the_account_is_folded_at_the_end() {
    let blocks = example::made_up(300).page().blocks;
    let name = |block: &Block| match block {
        Block::Chart(chart) => chart.title.clone(),
        Block::Table(table) => table.title.clone(),
        Block::HeatMap(map) => map.title.clone(),
        Block::Tiles(tiles) => tiles[0].value.clone(),
        Block::Folded(folded) => folded.tables.iter().map(|table| table.title.as_str()).collect::<Vec<_>>().join(" + "),
        other => panic!("{other:?}"),
    };
    let names: Vec<String> = blocks.iter().map(name).collect();
    let wanted = [
        "71.3 %",
        "How much was kept",
        "What was lost",
        "Which rows stand out",
        "What the directions are",
        "",
        "How the directions changed",
        "How much they turned",
        "Which member led when",
        "How surely each direction is kept",
        "In all, and the guarantee",
        "Regret per row",
        "Rows in the first two coordinates",
        "Account + Largest losses + Members",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn one_outlier_flattens_no_curve_and_shares_stay_within_their_meaning() {
    let mut report = example::made_up(5000);
    let chart = |report: &RunReport, title: &str| {
        report.charts().into_iter().find(|chart| chart.title == title).unwrap_or_else(|| panic!("{title}"))
    };
    let losses = report.losses.as_mut().unwrap();
    losses.values[700] = 1e6;
    let rows = chart(&report, "Which rows stand out");
    assert!(rows.focus_y.unwrap().1 < 3.0, "{:?}", rows.focus_y);
    assert!(rows.left_out().unwrap().ends_with(" 1M."), "{:?}", rows.left_out());
    let stretches = &mut report.loss_per_row[0].values;
    stretches[1000] = 10.0;
    assert!(chart(&report, "What was lost").focus_y.unwrap().1 < 3.0);
    report.loss_per_row[1].values.iter_mut().for_each(|value| *value *= 1e3);
    assert!(chart(&report, "What was lost").log_y, "where others lose far more, the axis is logarithmic");
    assert_eq!(chart(&report, "How much was kept").focus_y, Some((0.0, 100.0)));
    assert_eq!(chart(&report, "How much they turned").focus_y, Some((0.0, 1.0)));
    // The bound does not compress the axis: on a linear axis it is outside the plot.
    let bound = report.bound.as_mut().unwrap();
    bound.values.iter_mut().for_each(|value| *value *= 1e9);
    let total = chart(&report, "In all, and the guarantee");
    let energy = report.no_learning.as_ref().unwrap().values.last().copied();
    assert!(total.log_y && total.focus_plain.map(|focus| focus.1) == energy, "{:?}", total.focus_plain);
}

#[test]
fn losses_have_one_unit_on_the_whole_page() {
    let report = RunReport { unit: "squared standard deviations".into(), ..example::made_up(500) };
    let html = report.html();
    assert!(html.matches("squared standard deviations").count() >= 3 && !html.contains("units of the input"));
}

#[test]
fn pictures_over_rows_are_over_times_where_they_are_known() {
    let mut report = example::made_up(500);
    report.times = Some(Curve { name: "when".into(), rows: vec![1.0, 500.0], values: vec![1e9, 1.1e9] });
    for block in report.page().blocks {
        match block {
            Block::Chart(chart) if chart.title.contains("coordinates") => assert!(!chart.dated_x),
            Block::Chart(chart) => {
                assert_eq!((chart.x_label.as_str(), chart.dated_x), ("when", true), "{}", chart.title)
            }
            Block::HeatMap(map) => assert!(map.dated_x && map.places[1] > 1e9, "{}", map.title),
            _ => {}
        }
    }
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
