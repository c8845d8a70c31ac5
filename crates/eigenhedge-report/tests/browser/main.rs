//! Pages and pictures in a real browser: drawn, readable, quiet, at any width, in light, dark, print and without scripts.
//!
//! Needs `chromium` and `chromedriver` on the search path. Without them the tests say that they were skipped, or fail if
//! the variable EIGENHEDGE_BROWSER is `required`. With EIGENHEDGE_SCREENSHOTS=FOLDER each view is saved there, in base64.

#![allow(clippy::unwrap_used)]

mod driver;
#[allow(dead_code)]
#[path = "../../examples/page.rs"]
mod example;

use driver::Browser;
use eigenhedge_report::escape::HOSTILE;
use eigenhedge_report::{Chart, Kind, Mark, RunReport, Series, palette, svg};
use serde_json::{Value, json};
use std::path::PathBuf;

type Step = fn(&Browser);

/// One browser for all, because starting it takes longer than what is asked of it.
#[test]
fn pages_and_pictures_in_a_browser() {
    let Some(browser) = Browser::installed() else { return };
    let steps: [(&str, Step); 5] = [
        ("a page is drawn in every setting", a_page_is_drawn_in_every_setting),
        ("dragging zooms, hovering shows values, double-clicking resets", dragging_zooms_hovering_shows_values),
        ("hostile names break nothing", hostile_names_break_nothing),
        ("without scripts the pictures are there", without_scripts_the_pictures_are_there),
        ("every kind of series is drawn", every_kind_of_series_is_drawn),
    ];
    for (name, step) in steps {
        eprintln!("step: {name}");
        browser.resize(1000, 900, false);
        browser.show_as("screen", "light");
        step(&browser);
    }
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The made-up run with hostile names in every place that takes one.
fn hostile_report() -> RunReport {
    let mut report = example::made_up(3_000);
    let mut names = HOSTILE.iter().cycle();
    let mut next = || names.next().unwrap().to_string();
    report.title = next();
    report.subtitle = next();
    report.summary = HOSTILE.iter().map(|text| text.to_string()).collect();
    for curves in [&mut report.learners, &mut report.regret_per_row, &mut report.kept, &mut report.weights] {
        curves.iter_mut().for_each(|curve| curve.name = next());
    }
    report.largest.iter_mut().for_each(|entry| entry.label = next());
    report.marks.iter_mut().for_each(|mark| mark.label = next());
    report.ledger.iter_mut().for_each(|fact| fact.explanation = next());
    report.members.iter_mut().flat_map(|table| &mut table.rows).for_each(|row| row[0] = next());
    report
}

fn save(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("EIGENHEDGE_SCREENSHOTS") {
        std::fs::write(PathBuf::from(folder).join(format!("{name}.png.base64")), browser.picture()).unwrap();
    }
}

/// For each chart, how many values each of the given series shows, and how many pixels have a colour. The pixels are read
/// from a copy: the browser warns when a canvas that is drawn on is read again and again.
const DRAWN: &str = "(() => {
    const coloured = u => {
        const copy = new OffscreenCanvas(u.bbox.width, u.bbox.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(u.ctx.canvas, -u.bbox.left, -u.bbox.top);
        const d = copy.getImageData(0, 0, u.bbox.width, u.bbox.height).data;
        let count = 0;
        for (let i = 0; i < d.length; i += 4) {
            const [r, g, b] = [d[i], d[i + 1], d[i + 2]];
            if (d[i + 3] > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 40) count++;
        }
        return count;
    };
    const values = u => u.data.slice(1).filter((_, i) => u.series[i + 1].class !== 'spread')
        .map(column => column.filter(v => v != null).length);
    return eigenhedge.charts.map(u => ({ values: values(u), pixels: coloured(u), width: u.width }));
})()";

fn check_drawn(browser: &Browser, charts: &[Chart], widest: u64) {
    let drawn = browser.value(DRAWN);
    assert_eq!(drawn.as_array().unwrap().len(), charts.len());
    for (chart, drawn) in charts.iter().zip(drawn.as_array().unwrap()) {
        let given: Vec<usize> = chart
            .series
            .iter()
            .map(|series| series.points.iter().filter(|point| point.y.is_finite()).count())
            .collect();
        assert_eq!(drawn["values"], json!(given), "{}", chart.title);
        assert!(drawn["pixels"].as_u64().unwrap() > 200, "{} is blank: {drawn}", chart.title);
        assert!(drawn["width"].as_u64().unwrap() <= widest, "{}: {drawn}", chart.title);
    }
    let overflow = browser.value("document.scrollingElement.scrollWidth - window.innerWidth");
    assert!(overflow.as_i64().unwrap() <= 0, "the page is {overflow} pixels too wide");
}

fn check_quiet(browser: &Browser) {
    assert_eq!(browser.console(), Vec::<Value>::new());
    assert_eq!(
        browser.value("[typeof window.broken, performance.getEntriesByType('resource').length]"),
        json!(["undefined", 0])
    );
}

fn displays(browser: &Browser, selector: &str) -> Value {
    browser.value(&format!(
        "[...new Set([...document.querySelectorAll('{selector}')].map(e => getComputedStyle(e).display))]"
    ))
}

/// With the fonts that are really there, no text of a picture covers another or leaves the picture.
fn check_texts_apart(browser: &Browser, pictures: usize) {
    let found = browser.value(
        "(() => {
            const pictures = [...document.querySelectorAll('svg.eh')], wrong = [];
            const apart = (a, b) => a.left >= b.right || b.left >= a.right || a.top >= b.bottom - 2 || b.top >= a.bottom - 2;
            const inside = (a, b) => a.left >= b.left && a.right <= b.right + 1 && a.top >= b.top && a.bottom <= b.bottom + 1;
            for (const picture of pictures) {
                const outer = picture.getBoundingClientRect();
                const texts = [...picture.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
                texts.forEach(([name, area], i) => {
                    if (!inside(area, outer)) wrong.push(name + ' leaves the picture');
                    texts.slice(0, i).forEach(([other, b]) => { if (!apart(area, b)) wrong.push(name + ' covers ' + other); });
                });
            }
            return [pictures.length, wrong];
        })()",
    );
    assert_eq!(found, json!([pictures, []]));
}

/// A colour as browsers write it.
fn rgb(hex: &str) -> String {
    let part = |start: usize| u8::from_str_radix(&hex[start..start + 2], 16).unwrap();
    format!("rgb({}, {}, {})", part(1), part(3), part(5))
}

const BACKGROUND: &str = "getComputedStyle(document.body).backgroundColor";

fn a_page_is_drawn_in_every_setting(browser: &Browser) {
    let (files, report) = (Files::new(), example::made_up(20_000));
    let page = files.write("page.html", &report.html());
    browser.open(&page);
    check_drawn(browser, &report.charts(), 1000);
    check_quiet(browser);
    assert_eq!(browser.value("document.title"), json!(report.title));
    assert_eq!(displays(browser, ".static"), json!(["none"]));
    let cells = browser.value("[...document.querySelector('table').querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))");
    let given: Vec<[&String; 3]> =
        report.ledger.iter().map(|fact| [&fact.key, &fact.value, &fact.explanation]).collect();
    assert_eq!(cells, json!(given));
    let head = "[...document.querySelector('table').querySelectorAll('th')].map(c => c.textContent)";
    assert_eq!(browser.value(head), json!(["key", "value", "meaning"]));
    save(browser, "light");

    browser.show_as("screen", "dark");
    check_drawn(browser, &report.charts(), 1000);
    assert_eq!(browser.value(BACKGROUND), json!(rgb(palette::PAPER.dark)));
    assert_eq!(browser.value("eigenhedge.charts[0].series[1].stroke()"), json!(palette::SERIES[0].dark));
    save(browser, "dark");

    browser.resize(360, 780, true);
    check_drawn(browser, &report.charts(), 360);
    save(browser, "phone");

    // Printed from a dark screen, the page is light and holds the pictures.
    browser.show_as("print", "dark");
    assert_eq!((displays(browser, ".live"), displays(browser, ".static")), (json!(["none"]), json!(["block"])));
    assert_eq!(browser.value(BACKGROUND), json!(rgb(palette::PAPER.light)));
    let line = "getComputedStyle(document.querySelector('.s0-stroke')).stroke";
    assert_eq!(browser.value(line), json!(rgb(palette::SERIES[0].light)));
    check_texts_apart(browser, report.charts().len());
    assert!(browser.print().starts_with("JVBERi0"), "a PDF file begins with %PDF-");
    save(browser, "print");
    check_quiet(browser);
}

fn dragging_zooms_hovering_shows_values(browser: &Browser) {
    let (files, report) = (Files::new(), example::made_up(5_000));
    browser.open(&files.write("page.html", &report.html()));
    let place = browser.value("(r => [r.left, r.top, r.width, r.height].map(Math.round))((e => (e.scrollIntoView({block: 'center'}), e.getBoundingClientRect()))(eigenhedge.charts[0].over))");
    let place: Vec<i64> = place.as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect();
    let at = |x: i64, y: i64| (place[0] + place[2] * x / 100, place[1] + place[3] * y / 100);
    let range = || browser.value("[eigenhedge.charts[0].scales.x.min, eigenhedge.charts[0].scales.x.max]");
    assert_eq!(range(), json!([1, 5000]));
    browser.mouse(&[at(20, 50), at(40, 50), at(60, 50)], true);
    let zoomed = range();
    assert!(
        (zoomed[0].as_f64().unwrap() - 1000.0).abs() < 30.0 && (zoomed[1].as_f64().unwrap() - 3000.0).abs() < 30.0,
        "{zoomed}"
    );
    browser.double_click(at(50, 50));
    assert_eq!(range(), json!([1, 5000]));
    browser.mouse(&[at(40, 50), at(50, 50)], false);
    let shown = browser.value("[...document.querySelector('figure').querySelectorAll('.u-series:not(.spread) .u-value')].map(e => e.textContent)");
    let shown: Vec<&str> = shown.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let row: f64 = shown[0].parse().unwrap();
    assert!((row - 2500.0).abs() < 30.0, "{shown:?}");
    let curve = &report.learners[0];
    let index = curve.rows.iter().position(|&given| given == row).unwrap();
    let value: f64 = shown[1].parse().unwrap();
    assert!((value - curve.values[index]).abs() <= 1e-6 * curve.values[index], "{shown:?}");
    check_quiet(browser);
}

fn hostile_names_break_nothing(browser: &Browser) {
    let (files, report) = (Files::new(), hostile_report());
    browser.open(&files.write("page.html", &report.html()));
    check_drawn(browser, &report.charts(), 1000);
    check_quiet(browser);
    assert_eq!(browser.value("document.title"), json!(HOSTILE[0]));
    assert_eq!(browser.value("document.querySelectorAll('script').length"), json!(3));
    assert_eq!(browser.value("document.querySelectorAll('img').length"), json!(0));
    browser.open(&files.write("picture.svg", &report.svg()));
    check_texts_apart(browser, 1);
    assert_eq!(browser.value("[document.documentElement.tagName, typeof window.broken]"), json!(["svg", "undefined"]));
    assert_eq!(browser.console(), Vec::<Value>::new());
}

fn without_scripts_the_pictures_are_there(browser: &Browser) {
    let (files, report) = (Files::new(), example::made_up(2_000));
    let html = report.html();
    let end = html.find("<script").unwrap();
    browser.open(&files.write("page.html", &(html[..end].to_string() + "</body></html>")));
    assert_eq!((displays(browser, ".live"), displays(browser, ".static")), (json!(["none"]), json!(["block"])));
    assert_eq!(displays(browser, ".help"), json!(["none"]));
    let heights =
        browser.value("[...document.querySelectorAll('.static svg')].map(e => e.getBoundingClientRect().height)");
    assert_eq!(heights.as_array().unwrap().len(), report.charts().len());
    assert!(heights.as_array().unwrap().iter().all(|height| height.as_f64().unwrap() > 200.0), "{heights}");
    save(browser, "without-scripts");
}

/// Every kind of series, error bars, logarithmic axes, gaps, places that go back, many marks.
fn every_kind() -> Vec<Chart> {
    let x: Vec<f64> = (1..=40).map(f64::from).collect();
    let of = |f: fn(f64) -> f64| x.iter().map(|&x| f(x)).collect::<Vec<f64>>();
    let bars = Series::points("measured", &x[..8], &of(|x| 900.0 / x)[..8]);
    let bars = bars.with_spread(&of(|x| 700.0 / x)[..8], &of(|x| 1200.0 / x)[..8]);
    let mut log =
        Chart::new("Logarithmic axes", "rows", "error").with(bars).with(Series::dashed("1/x", &x, &of(|x| 500.0 / x)));
    log = log.with(Series::band("between", &x, &of(|x| 100.0 / x), &of(|x| 300.0 / x)));
    (log.log_x, log.log_y) = (true, true);
    let mut marks = Chart::new("Gaps and many marks", "row", "value");
    marks = marks.with(Series::line("gap", &x, &of(|x| if (10.0..15.0).contains(&x) { f64::NAN } else { x.sin() })));
    marks.series.push(Series::line("other places", &[1.5, 20.25, 39.5], &[0.5, -0.5, 0.25]));
    marks.marks = (1..12).map(|i| Mark { x: f64::from(i) * 3.0, label: format!("segment number {i}") }).collect();
    let turn: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.1).collect();
    let (cos, sin): (Vec<f64>, Vec<f64>) = turn.iter().map(|t| (t * t.cos(), t * t.sin())).unzip();
    let spiral = Chart::new("A line that goes back", "x", "y").with(Series::new(Kind::Line, "spiral", &cos, &sin));

    vec![log, marks, spiral]
}

fn every_kind_of_series_is_drawn(browser: &Browser) {
    let (files, charts) = (Files::new(), every_kind());
    let blocks = charts.iter().cloned().map(eigenhedge_report::Block::Chart).collect();
    let page = eigenhedge_report::Page { title: "Kinds".into(), blocks, ..Default::default() };
    browser.open(&files.write("page.html", &page.html()));
    check_drawn(browser, &charts, 1000);
    check_quiet(browser);
    save(browser, "kinds");
    let picture = files.write("picture.svg", &svg::grid("Kinds", &charts, 2));
    for (scheme, colour) in [("light", palette::PAPER.light), ("dark", palette::PAPER.dark)] {
        browser.show_as("screen", scheme);
        browser.open(&picture);
        assert_eq!(browser.value("getComputedStyle(document.querySelector('rect')).fill"), json!(rgb(colour)));
        check_texts_apart(browser, 1);
        save(browser, &format!("picture-{scheme}"));
    }
    assert_eq!(browser.console(), Vec::<Value>::new());
}
