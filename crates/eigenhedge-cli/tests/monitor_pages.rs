//! Pages of monitors. They show the numbers of the results, also after an interruption.
#![allow(clippy::unwrap_used)]

use crate::common::Place;
use crate::reports::driver::Browser;
use eigenhedge::streams;
use serde_json::Value;

/// Returns a table with a time column and three faults.
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
    // Charts of the columns of incidents come first, then the chart of the score.
    assert_eq!(&titles[titles.len() - 3..], ["score", "Q", "T²"]);
    assert!(outcome.out.contains(&format!(" {} ", titles[0])) && titles.contains(&"b"), "{titles:?} {}", outcome.out);
    let score = &charts[titles.len() - 3];
    let largest = place
        .read("out.csv")
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(2).unwrap().parse::<f64>().ok())
        .fold(0.0, f64::max);
    let drawn = score["series"][0]["y"].as_array().unwrap();
    let highest = drawn.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
    assert!((highest / largest - 1.0).abs() < 1e-6, "{highest} {largest}");
    // The second column has an offset from row 450 on, which is 15 hours after midnight.
    let start = 1_704_067_200.0 + 120.0 * 450.0;
    let marks = charts[0]["marks"].as_array().unwrap();
    let near = |mark: &&Value| (mark[0].as_f64().unwrap() - start).abs() < 900.0;
    assert!(marks.iter().filter(near).any(|mark| mark[1] == "b"), "{marks:?}");
    assert!(charts.iter().all(|chart| chart["dated_x"] == true && chart["other_x"]["label"] == "row"));
    assert!(score["log_y"] == true);
    for text in ["Contributions by column", "the most severe first", "&lt;/script&gt;", "row 0 is line 2 of the file"] {
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
    assert_eq!(browser.value("eigenhedge.charts.length == document.querySelectorAll('[data-chart]').length"), true);
    let last = "eigenhedge.charts[0].data[0].at(-1)";
    assert!(browser.value(last).as_f64().unwrap() > 1e9);
    assert_eq!(
        browser.value(&format!("(document.querySelector('button.axis').click(), {last})")).as_f64(),
        Some(899.0)
    );
    assert_eq!(browser.value("eigenhedge.charts.at(-3).scales.y.distr"), 3);
    assert_eq!(
        browser.value("(document.querySelector('button.scale').click(), eigenhedge.charts.at(-3).scales.y.distr)"),
        1
    );
    assert_eq!(browser.console(), Vec::<Value>::new());
    let cells = "document.querySelectorAll('figure:not(.drawn) svg path').length > 2";
    assert_eq!(browser.value(cells), true);
}

/// Returns rows of `count` machines in turn. One machine fails.
fn machines(count: usize) -> String {
    let mut text = "time,machine,a,b,c,d\n".to_owned();
    let rows = streams::faults(4, 2, 0.3, 400 * count, 3);
    for (t, row) in rows.iter().enumerate() {
        let machine = t % count;
        let off = if machine == 1 && t > 200 * count { 9.0 } else { 0.0 };
        let cells: Vec<String> =
            row.iter().enumerate().map(|(j, x)| (x + if j == 2 { off } else { 0.0 }).to_string()).collect();
        let (day, hour, minute) = (1 + t / 1440, t / 60 % 24, t % 60);
        text += &format!("2024-01-{day:02}T{hour:02}:{minute:02}:00,m{machine},{}\n", cells.join(","));
    }
    text
}

#[test]
fn the_page_of_a_fleet_has_a_line_for_each_key_and_its_charts() {
    let place = Place::new();
    place.write("data.csv", machines(6));
    let command = "monitor data.csv --time time --group-by machine --warm-up 100 --quiet";
    let outcome = place.run(&format!("{command} --report page.html --out all.csv"));
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    let page = place.read("page.html");
    let line = |key: &str| page.lines().find(|line| line.contains(&format!("\">{key}</a></td>"))).unwrap().to_owned();
    assert!((0..6).all(|i| line(&format!("m{i}")).contains("<svg")), "{page}");
    assert!(line("m1").contains("<td class=\"drift\">incident</td>") && line("m1").contains(">c"), "{}", line("m1"));
    // A monitor with an incident comes first.
    assert!(page.find(">m1</a>").unwrap() < page.find(">m0</a>").unwrap());
    assert_eq!(page.matches("<details><summary>m").count(), 6);
    assert!(data(&page)["charts"].as_array().unwrap().len() >= 6);
    // The limit on monitors in memory does not change the output.
    assert_eq!(place.run(&format!("{command} --max-groups 2 --out few.csv --snapshot m.eh")).status, 0);
    assert_eq!(place.read("few.csv"), place.read("all.csv"));
    let next = place.run("monitor data.csv --time time --group-by machine --start-from m.eh --out next.csv --quiet");
    assert_eq!(next.status, 0, "{}", next.err);
    let first = place.read("next.csv").lines().nth(1).unwrap().to_owned();
    assert!(!first.split(',').nth(3).unwrap().is_empty(), "{first}");
    let alone = place.run("monitor data.csv --time time --exclude machine --start-from m.eh --quiet");
    assert!(alone.status == 1 && alone.err.contains("--group-by names them"), "{}", alone.err);
    if let Some(browser) = Browser::installed() {
        browser.open(&place.path("page.html"));
        assert_eq!(browser.console(), Vec::<Value>::new());
        let drawn = "(document.querySelector('.overview a').click(), document.querySelector('details').open)";
        assert_eq!(browser.value(drawn), true);
    }
}

#[test]
fn a_fleet_that_was_stopped_goes_on_to_the_same_page_and_answers() {
    let place = Place::new();
    let table = machines(4);
    let command = "monitor data.csv --time time --group-by machine --warm-up 100 --quiet --max-groups 3";
    place.write("data.csv", &table);
    assert_eq!(place.run(&format!("{command} --report whole.html --out whole.csv")).status, 0);
    place.write("data.csv", table.lines().take(900).collect::<Vec<_>>().join("\n") + "\n");
    let part = place.run(&format!("{command} --report part.html --out part.csv --snapshot m.eh"));
    assert_eq!(part.status, 0, "{}", part.err);
    place.write("data.csv", &table);
    let again = place.run(&format!("{command} --report again.html --out part.csv --resume m.eh"));
    assert_eq!(again.status, 0, "{}", again.err);
    assert_eq!(place.read("part.csv"), place.read("whole.csv"));
    assert_eq!(data(&place.read("again.html")), data(&place.read("whole.html")));
}
