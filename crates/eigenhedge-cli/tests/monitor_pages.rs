//! Pages of monitors: the numbers of the answers, the same after a stop, and quiet in a browser.
#![allow(clippy::unwrap_used)]

use crate::common::Place;
use crate::reports::driver::Browser;
use eigenhedge::streams;
use serde_json::Value;

/// Rows with a time and three faults.
fn sensors() -> String {
    let mut text = "time,a,b,c,d,e,f,g,</script>\n".to_owned();
    for (t, row) in streams::faults(8, 2, 0.3, 900, 1).iter().enumerate() {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        text += &format!("2024-01-{:02}T{:02}:{:02}:00,{}\n", 1 + t / 720, t / 30 % 24, 2 * (t % 30), cells.join(","));
    }
    text
}

fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"report-data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_shows_the_largest_scores_with_limits_events_and_columns() {
    let place = Place::new();
    place.write("data.csv", sensors());
    let outcome = place.run("monitor data.csv --time time --report page.html --out out.csv --events events.csv");
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    assert!(outcome.out.contains("report     page.html: open it in a browser"), "{}", outcome.out);
    let page = place.read("page.html");
    let data = data(&page);
    let charts = data["charts"].as_array().unwrap();
    let titles: Vec<&str> = charts.iter().map(|chart| chart["y_label"].as_str().unwrap()).collect();
    assert_eq!(titles, ["score", "Q", "T²"]);
    let largest = place
        .read("out.csv")
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(2).unwrap().parse::<f64>().ok())
        .fold(0.0, f64::max);
    let drawn = charts[0]["series"][0]["y"].as_array().unwrap();
    let highest = drawn.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
    assert!((highest / largest - 1.0).abs() < 1e-6, "{highest} {largest}");
    // The second column is off from row 450 on: 15 hours after midnight.
    let start = 1_704_067_200.0 + 120.0 * 450.0;
    let marks = charts[0]["marks"].as_array().unwrap();
    let near = |mark: &&Value| (mark[0].as_f64().unwrap() - start).abs() < 900.0;
    assert!(marks.iter().filter(near).any(|mark| mark[1] == "b"), "{marks:?}");
    assert!(charts.iter().all(|chart| chart["log_y"] == true && chart["dated_x"] == true));
    for text in ["Contributions by column", "Worst moments", "&lt;/script&gt;"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn the_page_of_a_monitor_that_was_stopped_is_the_same() {
    let place = Place::new();
    let table = sensors();
    place.write("data.csv", &table);
    assert_eq!(place.run("monitor data.csv --time time --report whole.html --quiet").status, 0);
    let part: Vec<&str> = table.lines().take(700).collect();
    place.write("data.csv", part.join("\n") + "\n");
    assert_eq!(place.run("monitor data.csv --time time --report part.html --quiet --snapshot m.snap").status, 0);
    place.write("data.csv", &table);
    let resumed = place.run("monitor data.csv --time time --report again.html --quiet --resume m.snap");
    assert_eq!(resumed.status, 0, "{}", resumed.err);
    let same = |name: &str| place.read(name).replace("whole.html", "").replace("again.html", "");
    assert_eq!(data(&same("whole.html")), data(&same("again.html")));
    let refused = place.run("monitor data.csv --time time --report r.html --group-by a");
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert_eq!(place.run("monitor data.csv --time time --quiet --snapshot bare.snap").status, 0);
    let bare = place.run("monitor data.csv --time time --report r.html --quiet --resume bare.snap");
    assert!(bare.status == 1 && bare.err.contains("--report needs"), "{}", bare.err);
}

#[test]
fn a_browser_draws_it_and_switches_the_scale() {
    let Some(browser) = Browser::installed() else { return };
    let place = Place::new();
    place.write("data.csv", sensors());
    assert_eq!(place.run("monitor data.csv --time time --report page.html --quiet").status, 0);
    browser.open(&place.path("page.html"));
    assert_eq!(browser.console(), Vec::<Value>::new());
    assert_eq!(browser.value("eigenhedge.charts.length"), 3);
    assert_eq!(browser.value("eigenhedge.charts[0].scales.y.distr"), 3);
    assert_eq!(
        browser.value("(document.querySelector('button.scale').click(), eigenhedge.charts[0].scales.y.distr)"),
        1
    );
    assert_eq!(browser.console(), Vec::<Value>::new());
    let cells = "document.querySelectorAll('figure:not(.drawn) svg path').length > 2";
    assert_eq!(browser.value(cells), true);
}
