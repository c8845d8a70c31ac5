//! Pages of runs in a real browser, drawn without errors, with the numbers of the summary.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../eigenhedge-pages/tests/browser/driver.rs"]
pub mod driver;

use crate::common::{Place, table};
use driver::Browser;
use eigenhedge::streams;
use serde_json::Value;

const CELLS: &str =
    "[...document.querySelectorAll('details tr')].map(r => [...r.cells].map(c => c.title || c.textContent))";

fn cell(cells: &Value, key: &str) -> String {
    let row = cells.as_array().unwrap().iter().find(|row| row[0] == key).unwrap_or_else(|| panic!("no {key}: {cells}"));
    row[1].as_str().unwrap().to_owned()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn pages_open_without_a_word_and_show_the_numbers_of_the_summary() {
    let Some(browser) = Browser::installed() else { return };
    let place = Place::new();
    place.write("data.csv", table(&streams::three_subspaces(1)));
    place.write("long.csv", table(&streams::switching(600, 2, 2, 20, 3)));
    let cases = [
        ("./data.csv -k 2", 7),
        ("./data.csv -k 2 --learner tracking --mixing none --center none --norm-bound 2", 7),
        ("./data.csv -k 1 --learner oja", 6),
        ("long.csv -k 2 --learner leader --segments 0", 6),
        ("./data.csv -k 3 --learner tracking --kernel rbf --budget 40", 6),
    ];
    for (arguments, charts) in cases {
        let outcome = place.run(&format!("run {arguments} --report page.html --summary json"));
        assert_eq!(outcome.status, 0, "{}", outcome.err);
        let summary: Value = serde_json::from_str(&outcome.out).unwrap();
        browser.open(&place.path("page.html"));
        assert_eq!(browser.console(), Vec::<Value>::new(), "{arguments}");
        assert_eq!(browser.value("eigenhedge.charts.length"), charts, "{arguments}");
        let file = if arguments.starts_with("long") { "long.csv" } else { "data.csv" };
        assert_eq!(browser.value("document.title"), file, "without the folders of the machine");
        let cells = browser.value(CELLS);
        for key in ["rows", "skipped_rows", "dim", "k", "expected_loss", "loss", "rank_mean", "rank_max"] {
            assert_eq!(number(&cell(&cells, key)), summary[key].as_f64().unwrap(), "{arguments}: {key}");
        }
        for key in ["best_loss", "regret", "bound"] {
            let shown = cell(&cells, key);
            match &summary[key] {
                Value::Null => assert_eq!(shown, "none", "{arguments}: {key}"),
                Value::Number(value) => assert_eq!(number(&shown), value.as_f64().unwrap(), "{arguments}: {key}"),
                bracket => {
                    let (low, high) = shown.split_once(" to ").unwrap();
                    assert_eq!(number(low), bracket["low"].as_f64().unwrap(), "{arguments}: {key}");
                    assert_eq!(number(high), bracket["high"].as_f64().unwrap(), "{arguments}: {key}");
                }
            }
        }
        assert_eq!(cell(&cells, "learner"), summary["learner"].as_str().unwrap());
        for member in summary["members"].as_array().unwrap() {
            let shown = cell(&cells, member["name"].as_str().unwrap());
            assert_eq!(number(&shown), member["weight"].as_f64().unwrap());
        }
    }
    assert_eq!(place.run("demo --draws 2 --report demo.html").status, 0);
    assert_eq!(place.run("compare data.csv -k 2 --report compare.html --plot compare.svg").status, 0);
    // Expected numbers of small plots, charts with zoom, and sliders.
    for (page, shown) in [("demo.html", [11, 0, 1]), ("compare.html", [7, 1, 0])] {
        browser.open(&place.path(page));
        assert_eq!(browser.console(), Vec::<Value>::new(), "{page}");
        let found = "['.multiples:not(.steps-static) > svg', '.drawn', 'input[type=range]'].map(s => document.querySelectorAll(s).length)";
        assert_eq!(browser.value(found), serde_json::json!(shown), "{page}");
    }
    let losses =
        browser.value("[...document.querySelectorAll('section td:nth-child(2)')].slice(2).map(c => Number(c.title))");
    let losses: Vec<f64> = losses.as_array().unwrap().iter().map(|loss| loss.as_f64().unwrap()).collect();
    assert!(losses.len() == 6 && losses.is_sorted(), "learners stand in the order of their losses: {losses:?}");
}

#[test]
fn a_page_tells_what_directions_are_made_of_and_how_they_turned() {
    let place = Place::new();
    // In the first half, the first column varies. In the second half, the third column does.
    let rows = (0..2000).map(|t| {
        let wave = f64::from(t).sin();
        let row = if t < 1000 { [wave, 0.01 * wave.cos(), 0.0] } else { [0.0, 0.01 * wave.cos(), wave] };
        format!("{},{},{}\n", row[0], row[1], row[2])
    });
    place.write("data.csv", "flow,</script>,volt\n".to_owned() + &rows.collect::<String>());
    assert_eq!(place.run("run data.csv -k 1 --learner forgetting-leader --forget 0.9 --report page.html").status, 0);
    let page = place.read("page.html");
    assert!(page.contains("volt (1.00)") && !page.contains("flow (1.00)"), "the direction at the end");
    let (_, rest) = page.split_once("id=\"report-data\">").unwrap();
    let data: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let charts = data["charts"].as_array().unwrap();
    let turns = charts.iter().find(|chart| chart["title"] == "How much they turned").unwrap();
    let line = |i: usize| turns["series"][i]["y"].as_array().unwrap().iter().map(|y| y.as_f64().unwrap());
    assert!(line(0).next().unwrap() < 0.01 && line(0).next_back().unwrap() > 0.99, "{turns}");
    assert_eq!(line(1).filter(|common| *common < 0.5).count(), 1, "they turned once: {turns}");
}

#[test]
fn the_demo_says_where_its_page_is_and_what_comes_next() {
    let place = Place::new();
    let outcome = place.run("demo --draws 2");
    assert_eq!(place.files(), ["eigenhedge-demo.html"]);
    assert!(outcome.out.contains("Report: eigenhedge-demo.html; open it in a browser."), "{}", outcome.out);
    assert!(outcome.out.contains("eigenhedge run YOUR.csv -k 2 --report report.html"), "{}", outcome.out);
    let place = Place::new();
    assert_eq!(place.run("demo --draws 2 --no-report").status, 0);
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn a_report_does_not_change_the_answers_and_a_run_says_where_it_is() {
    let place = Place::new();
    place.write("data.csv", table(&streams::switching(6, 2, 2, 60, 3)));
    let plain = place.run("run data.csv -k 2 --out plain.csv");
    assert!(plain.out.contains("--report FILE.html draws what happened"), "{}", plain.out);
    let drawn = place.run("run data.csv -k 2 --out drawn.csv --report page.html --plot page.svg --threads 2");
    assert!(drawn.out.contains("page.html: open it in a browser"), "{}", drawn.out);
    assert_eq!(place.read("plain.csv"), place.read("drawn.csv"));
    assert!(place.read("page.svg").starts_with("<svg"));
}

#[test]
fn slips_are_answered_by_what_was_meant() {
    let place = Place::new();
    let cases = [
        ("runn data.csv", "'run'"),
        ("run data.csv -k 2 --lerner leader", "'--learner'"),
        ("run data.csv -k 2 --learner trackng", "'tracking'"),
        ("run data.csv -k 2 --snapshots x", "'--snapshot'"),
    ];
    for (arguments, meant) in cases {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2);
        assert!(outcome.err.contains("similar") && outcome.err.contains(meant), "{}", outcome.err);
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    assert_eq!(place.run("man --out pages").status, 0);
    let page = place.read("pages/eigenhedge-run.1");
    assert!(page.contains(".TH") && page.contains("snapshot\\-every"), "{page}");
    let help = place.run("--help").out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 10, "{help}");
    for name in names.iter().filter(|name| **name != "help") {
        assert!(place.path(&format!("pages/eigenhedge-{name}.1")).exists(), "{name}");
    }
}
