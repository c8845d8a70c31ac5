//! Tests of the page of a run, without a browser.
#![allow(clippy::unwrap_used)]

#[path = "browser/made_up.rs"]
mod made_up;

use eigenhedge_pages::{Block, Chart, Page};
use made_up::{MadeUp, charts, made_up};

fn chart(page: &Page, title: &str) -> Chart {
    charts(page).into_iter().find(|chart| chart.title == title).unwrap_or_else(|| panic!("{title}"))
}

#[test]
fn a_page_of_many_rows_is_less_than_a_megabyte() {
    let made = made_up(60_000);
    let (page, picture) = (made.html().len(), made.svg().len());
    assert!(page < 1_000_000 && picture < 300_000, "page {page}, picture {picture}");
    for chart in charts(&made) {
        for series in &chart.series {
            assert!(series.points.len() <= 2000, "{}: {}", series.name, series.points.len());
        }
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let (a, b) = (made_up(700), made_up(700));
    assert_eq!((a.html(), a.svg()), (b.html(), b.svg()));
}

#[test]
fn a_page_names_nothing_on_the_network() {
    let html = made_up(500).html();
    let allowed = ["http://www.w3.org/2000/svg", "https://github.com/leeoniya/uPlot"];
    for (start, _) in html.match_indices("http") {
        let rest = &html[start..];
        let is_word = rest.starts_with("http-equiv");
        assert!(is_word || allowed.iter().any(|address| rest.starts_with(address)), "{}", &rest[..60.min(rest.len())]);
    }
    assert!(!html.contains(" src=") && !html.contains("@import"));
}

#[test]
fn what_has_no_data_has_no_chart() {
    let some = made_up(3);
    assert!(charts(&some).iter().all(|chart| chart.series.iter().any(|series| !series.points.is_empty())));
    assert!(!some.blocks.iter().any(|block| matches!(block, Block::HeatMap(map) if map.places.len() < 2)));
    assert!(charts(&some).len() < charts(&made_up(300)).len());
}

#[test]
fn pictures_come_first_and_the_account_is_folded_at_the_end() {
    fn name(block: &Block) -> String {
        match block {
            Block::Text(..) => "sentences".into(),
            Block::Chart(chart) => chart.title.clone(),
            Block::Table(table) => table.title.clone(),
            Block::HeatMap(map) => map.title.clone(),
            Block::Tiles(tiles) => tiles[1].label.clone(),
            Block::Section(section) => section.blocks.iter().map(name).collect::<Vec<_>>().join(" + "),
            other => panic!("{other:?}"),
        }
    }
    let names: Vec<String> = made_up(300).blocks.iter().map(name).collect();
    let wanted = [
        "of the loss without learning",
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
        "sentences + Account + Largest losses + Members",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn one_outlier_flattens_no_curve_and_shares_stay_within_their_meaning() {
    let page = MadeUp { rows: 3000, outlier: Some(700), ..MadeUp::default() }.page();
    let rows = chart(&page, "Which rows stand out");
    let largest = rows.series[0].points.iter().map(|point| point.y).fold(0.0, f64::max);
    assert!(rows.focus_y.unwrap().1 < 1e-3 * largest, "{:?}", rows.focus_y);
    assert!(rows.left_out().is_some());
    let lost = chart(&page, "What was lost");
    assert!(lost.focus_y.or(lost.focus_plain).unwrap().1 < 1e-3 * largest);
    assert_eq!(chart(&page, "How much was kept").focus_y, Some((0.0, 100.0)));
    assert_eq!(chart(&page, "How much they turned").focus_y, Some((0.0, 1.0)));
    // The range of the linear axis leaves the bound out.
    let total = chart(&page, "In all, and the guarantee");
    let others = total.series.iter().filter(|series| series.name != "bound").flat_map(|series| &series.points);
    let most = others.map(|point| point.y).fold(0.0, f64::max);
    assert!(total.log_y && total.focus_plain == Some((0.0, most)), "{:?}", total.focus_plain);
}

#[test]
fn the_axis_is_logarithmic_where_random_directions_lose_far_more() {
    for (noise, is_log) in [(0.3, false), (0.01, true)] {
        let page = MadeUp { rows: 600, noise, ..MadeUp::default() }.page();
        assert_eq!(chart(&page, "What was lost").log_y, is_log, "{noise}");
    }
}

#[test]
fn losses_have_one_unit_on_the_whole_page() {
    let html = MadeUp { standardized: true, ..MadeUp::default() }.page().html();
    assert!(html.matches("squared standard deviations").count() >= 3 && !html.contains("units of the input"));
}

#[test]
fn pictures_over_rows_are_over_times_where_they_are_known() {
    for block in (MadeUp { has_times: true, ..MadeUp::default() }).page().blocks {
        match block {
            Block::Chart(chart) if chart.title.contains("coordinates") => assert!(!chart.dated_x),
            Block::Chart(chart) => {
                assert_eq!((chart.x_label.as_str(), chart.dated_x), ("time", true), "{}", chart.title)
            }
            Block::HeatMap(map) => assert!(map.dated_x && map.places[1] > 1e9, "{}", map.title),
            _ => {}
        }
    }
}

#[test]
fn each_row_of_the_plane_is_drawn_once() {
    let plane = charts(&made_up(500)).into_iter().last().unwrap();
    // The first row only sets the center.
    assert_eq!(plane.series.iter().map(|series| series.points.len()).sum::<usize>(), 499);
}
