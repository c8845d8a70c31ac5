//! Pages and plots in a real browser: on screens of any width, light and dark, in print and without scripts.
//!
//! Requires `chromium` and `chromedriver` in `PATH`. Otherwise, the tests are skipped, or fail if
//! EIGENHEDGE_BROWSER is `required`. With EIGENHEDGE_SCREENSHOTS=FOLDER, each view is saved there.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "tests of the program use the rest")]
mod driver;
mod hostile;
mod made_up;

use driver::Browser;
use eigenhedge_pages::{Block, Chart, Kind, Mark, Page, Series, Steps, Table, palette};
use hostile::HOSTILE;
use made_up::{MadeUp, TIMES, charts, made_up};
use serde_json::{Value, json};
use std::path::PathBuf;

type Step = fn(&Browser);

/// Runs all steps in one browser, because starting a browser takes longer than a step.
#[test]
fn pages_and_pictures_in_a_browser() {
    let Some(browser) = Browser::installed() else { return };
    let steps: [(&str, Step); 10] = [
        ("a page is drawn in every setting", a_page_is_drawn_in_every_setting),
        ("dragging zooms, hovering shows values, double-clicking resets", dragging_zooms_hovering_shows_values),
        ("hostile names break nothing", hostile_names_break_nothing),
        ("without scripts the pictures are there", without_scripts_the_pictures_are_there),
        ("every kind of series is drawn", every_kind_of_series_is_drawn),
        ("switches change scale and range", switches_change_scale_and_range),
        ("the account is folded and its numbers are exact on demand", the_account_is_folded),
        ("pictures over times have dates", pictures_over_times_have_dates),
        ("steps follow the slider and the button", steps_follow_the_slider),
        ("pointing at a cell tells its value", pointing_at_a_cell_tells_its_value),
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

/// Returns the page of a synthetic run with hostile names in all text fields.
fn hostile_page() -> Page {
    let mut page = made_up(3_000);
    let mut names = HOSTILE.iter().cycle();
    let mut next = || names.next().unwrap().to_string();
    page.title = next();
    page.subtitle = next();
    page.summary = HOSTILE.iter().map(|text| text.to_string()).collect();
    let rename_table = |table: &mut Table, next: &mut dyn FnMut() -> String| {
        table.title = next();
        table.columns.iter_mut().for_each(|name| *name = next());
        table.rows.iter_mut().for_each(|row| row[0] = next());
    };
    for block in &mut page.blocks {
        match block {
            Block::Tiles(tiles) => {
                tiles.iter_mut().for_each(|tile| (tile.value, tile.label, tile.exact) = (next(), next(), next()));
            }
            Block::Chart(chart) => {
                (chart.title, chart.x_label, chart.y_label, chart.caption) = (next(), next(), next(), next());
                chart.series.iter_mut().for_each(|series| series.name = next());
                chart.annotations.iter_mut().for_each(|place| place.label = next());
                chart.marks = [1000.0, 2000.0].map(|x| Mark { x, label: next() }).to_vec();
            }
            Block::HeatMap(map) => map.lines.iter_mut().for_each(|line| line.0 = next()),
            Block::Table(table) => rename_table(table, &mut next),
            Block::Section(section) => {
                section.title = next();
                for block in &mut section.blocks {
                    match block {
                        Block::Text(_, text) => text.iter_mut().for_each(|text| *text = next()),
                        Block::Table(table) => rename_table(table, &mut next),
                        other => panic!("{other:?}"),
                    }
                }
            }
            other => panic!("{other:?}"),
        }
    }
    page
}

fn save(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("EIGENHEDGE_SCREENSHOTS") {
        std::fs::write(PathBuf::from(folder).join(format!("{name}.png.base64")), browser.picture()).unwrap();
    }
}

/// Expression for the number of values per series and of colored pixels in each chart. Pixels are
/// read from a copy, because browsers warn if a canvas is read repeatedly.
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

/// Checks with the installed fonts that texts of a plot do not overlap and stay inside.
fn check_texts_apart(browser: &Browser, pictures: usize) {
    let found = browser.value(
        "(() => {
            const pictures = [...document.querySelectorAll('svg.eh')].filter(e => e.getBoundingClientRect().width > 0), wrong = [];
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

fn rgb(hex: &str) -> String {
    let part = |start: usize| u8::from_str_radix(&hex[start..start + 2], 16).unwrap();
    format!("rgb({}, {}, {})", part(1), part(3), part(5))
}

const BACKGROUND: &str = "getComputedStyle(document.body).backgroundColor";

fn a_page_is_drawn_in_every_setting(browser: &Browser) {
    let (files, report) = (Files::new(), made_up(300));
    let page = files.write("page.html", &report.html());
    browser.open(&page);
    check_drawn(browser, &charts(&report), 1000);
    check_quiet(browser);
    assert_eq!(browser.value("document.title"), json!(report.title));
    assert_eq!(displays(browser, ".static"), json!(["none"]));
    save(browser, "light");

    browser.show_as("screen", "dark");
    check_drawn(browser, &charts(&report), 1000);
    assert_eq!(browser.value(BACKGROUND), json!(rgb(palette::PAPER.dark)));
    assert_eq!(browser.value("eigenhedge.charts[0].series[1].stroke()"), json!(palette::SERIES[0].dark));
    save(browser, "dark");

    browser.resize(360, 780, true);
    check_drawn(browser, &charts(&report), 360);
    let letters =
        "Math.min(...[...document.querySelectorAll('.cells svg')].filter(e => e.getBoundingClientRect().width > 0)
        .map(e => 12 * e.getBoundingClientRect().width / e.viewBox.baseVal.width))";
    let letters = browser.value(letters).as_f64().unwrap();
    assert!(letters > 9.0, "letters of pictures of cells are {letters} pixels high on a phone");
    save(browser, "phone");

    // Print is light even on a dark screen, and contains the plots.
    browser.show_as("print", "dark");
    assert_eq!((displays(browser, ".live"), displays(browser, ".static")), (json!(["none"]), json!(["block"])));
    assert_eq!(browser.value(BACKGROUND), json!(rgb(palette::PAPER.light)));
    let line = "getComputedStyle(document.querySelector('.s0-stroke')).stroke";
    assert_eq!(browser.value(line), json!(rgb(palette::SERIES[0].light)));
    let maps = report.blocks.iter().filter(|block| matches!(block, Block::HeatMap(_))).count();
    assert_eq!(maps, 3);
    check_texts_apart(browser, charts(&report).len() + maps);
    assert!(browser.print().starts_with("JVBERi0"), "a PDF file begins with %PDF-");
    save(browser, "print");
    check_quiet(browser);
}

/// Index of the chart of total losses.
const TOTALS: usize = 4;

/// Scrolls to a chart. Returns left, top, width and height of its plotting area in pixels.
fn place(browser: &Browser, chart: usize) -> Vec<i64> {
    let over = format!("eigenhedge.charts[{chart}].over");
    let place = browser.value(&format!(
        "(r => [r.left, r.top, r.width, r.height].map(Math.round))((e => (e.scrollIntoView({{block: 'center'}}), e.getBoundingClientRect()))({over}))"
    ));
    place.as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect()
}

fn dragging_zooms_hovering_shows_values(browser: &Browser) {
    let (files, report) = (Files::new(), made_up(5_001));
    browser.open(&files.write("page.html", &report.html()));
    let place = place(browser, TOTALS);
    let at = |x: i64, y: i64| (place[0] + place[2] * x / 100, place[1] + place[3] * y / 100);
    let range = || browser.value(&format!("(x => [x.min, x.max])(eigenhedge.charts[{TOTALS}].scales.x)"));
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
    let shown = browser.value(&format!("[...document.querySelector('[data-chart=\"{TOTALS}\"]').querySelectorAll('.u-series:not(.spread) .u-value')].map(e => e.textContent)"));
    let shown: Vec<&str> = shown.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let row: f64 = shown[0].parse().unwrap();
    assert!((row - 2500.0).abs() < 30.0, "{shown:?}");
    let given = charts(&report)[TOTALS].series[0].points.iter().find(|point| point.x == row).unwrap().y;
    let value: f64 = shown[1].parse().unwrap();
    assert!((value - given).abs() <= 1e-6 * given, "{shown:?}");
    check_quiet(browser);
}

fn hostile_names_break_nothing(browser: &Browser) {
    let (files, report) = (Files::new(), hostile_page());
    browser.open(&files.write("page.html", &report.html()));
    check_drawn(browser, &charts(&report), 1000);
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
    let (files, report) = (Files::new(), made_up(2_000));
    let html = report.html();
    let end = html.find("<script").unwrap();
    browser.open(&files.write("page.html", &(html[..end].to_string() + "</body></html>")));
    assert_eq!((displays(browser, ".live"), displays(browser, ".static")), (json!(["none"]), json!(["block"])));
    assert_eq!(displays(browser, ".help"), json!(["none"]));
    let heights =
        browser.value("[...document.querySelectorAll('.static svg')].map(e => e.getBoundingClientRect().height)");
    assert_eq!(heights.as_array().unwrap().len(), charts(&report).len());
    assert!(heights.as_array().unwrap().iter().all(|height| height.as_f64().unwrap() > 200.0), "{heights}");
    save(browser, "without-scripts");
}

/// Returns charts with every kind of series, error bars, log axes, gaps and many marks.
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
    let blocks = charts.iter().cloned().map(Block::Chart).collect();
    let page = Page { title: "Kinds".into(), blocks, ..Default::default() };
    browser.open(&files.write("page.html", &page.html()));
    check_drawn(browser, &charts, 1000);
    check_quiet(browser);
    save(browser, "kinds");
    let picture = files.write("picture.svg", &page.svg());
    for (scheme, colour) in [("light", palette::PAPER.light), ("dark", palette::PAPER.dark)] {
        browser.show_as("screen", scheme);
        browser.open(&picture);
        assert_eq!(browser.value("getComputedStyle(document.querySelector('rect')).fill"), json!(rgb(colour)));
        check_texts_apart(browser, 1);
        save(browser, &format!("picture-{scheme}"));
    }
    assert_eq!(browser.console(), Vec::<Value>::new());
}

fn press(browser: &Browser, chart: usize, name: &str) {
    let button = format!(
        "[...document.querySelector('[data-chart=\"{chart}\"]').closest('figure').querySelectorAll('button')].find(b => b.textContent === '{name}')"
    );
    assert_eq!(browser.value(&format!("({button}.click(), true)")), json!(true), "{name}");
    browser.settle();
}

fn switches_change_scale_and_range(browser: &Browser) {
    let (files, mut report) = (Files::new(), MadeUp { rows: 3_000, outlier: Some(700), ..MadeUp::default() }.page());
    let total = report.blocks.iter_mut().find_map(|block| match block {
        Block::Chart(chart) if chart.title == "In all, and the guarantee" => Some(chart),
        _ => None,
    });
    let total = total.unwrap();
    let energy = total.focus_plain.unwrap().1;
    total.series.push(Series::dashed("bound", &[1.0, 2999.0], &[1e3 * energy; 2]));
    browser.open(&files.write("page.html", &report.html()));
    let index = charts(&report).iter().position(|chart| chart.title == "Which rows stand out").unwrap();
    let range = || {
        let range = browser.value(&format!("(y => [y.min, y.max, y.distr])(eigenhedge.charts[{index}].scales.y)"));
        (range[0].as_f64().unwrap(), range[1].as_f64().unwrap(), range[2].as_u64().unwrap())
    };
    let usual = range();
    let largest = charts(&report)[index].series[0].points.iter().map(|point| point.y).fold(0.0, f64::max);
    assert!(usual.1 < 1e-2 * largest && usual.2 == 1, "{usual:?} {largest}");
    // Zooming in and out restores the axis.
    let place = place(browser, index);
    let at = |x: i64, y: i64| (place[0] + place[2] * x / 100, place[1] + place[3] * y / 100);
    browser.mouse(&[at(20, 20), at(40, 60), at(60, 90)], true);
    assert_ne!(range(), usual);
    browser.double_click(at(50, 50));
    assert_eq!(range(), usual);
    press(browser, index, "whole range");
    assert!(range().1 >= largest);
    press(browser, index, "logarithmic scale");
    assert!(range().1 >= largest && range().2 == 3);
    press(browser, index, "usual range");
    press(browser, index, "plain scale");
    assert_eq!(range(), usual);
    // The range of the linear axis leaves out a bound far above the losses.
    press(browser, TOTALS, "plain scale");
    let top = browser.value(&format!("eigenhedge.charts[{TOTALS}].scales.y.max")).as_f64().unwrap();
    assert!((energy..1.3 * energy).contains(&top), "{top} {energy}");
    let buttons = browser.value("[...document.querySelectorAll('[data-chart=\"0\"]')].map(e => e.closest('figure').querySelectorAll('button').length)");
    assert_eq!(buttons, json!([0]), "a share has no other scale and nothing outside");
    check_quiet(browser);
}

fn the_account_is_folded(browser: &Browser) {
    let (files, report) = (Files::new(), made_up(500));
    browser.open(&files.write("page.html", &report.html()));
    let is_seen = "document.querySelector('details table').checkVisibility()";
    assert_eq!(browser.value(is_seen), json!(false));
    browser.value("document.querySelector('summary').click()");
    assert_eq!(browser.value(is_seen), json!(true));
    let of = |what: &str| {
        browser.value(&format!("[...document.querySelectorAll('details table')[0].tBodies[0].rows].map(r => {what})"))
    };
    let Some(Block::Section(section)) = report.blocks.last() else { panic!() };
    let Block::Table(table) = &section.blocks[1] else { panic!() };
    assert_eq!(of("[...r.cells].map(c => c.textContent)"), json!(table.rows));
    assert_eq!(of("r.cells[1].title"), json!(table.exact.iter().map(|row| &row[1]).collect::<Vec<_>>()));
    let legend = "[...document.querySelectorAll('.u-legend tr:first-child, .u-legend .u-value')]
        .every(e => getComputedStyle(e).visibility === 'hidden')";
    assert_eq!(browser.value(legend), json!(true), "without a cursor, a legend has names and nothing else");
    check_quiet(browser);
}

fn pictures_over_times_have_dates(browser: &Browser) {
    let (files, report) = (Files::new(), MadeUp { has_times: true, ..MadeUp::default() }.page());
    let ends = (TIMES.0 + TIMES.1 / 500.0, TIMES.0 + TIMES.1 * 499.0 / 500.0);
    browser.open(&files.write("page.html", &report.html()));
    check_drawn(browser, &charts(&report), 1000);
    let axis = browser
        .value("(u => [u.scales.x.time, u.scales.x.min, u.scales.x.max, u.series[0].label])(eigenhedge.charts[4])");
    assert_eq!(axis, json!([true, ends.0, ends.1, "time"]));
    let dates = "[...document.querySelector('.cells svg').querySelectorAll('text')].filter(t => /^2024-0[1-7]$/.test(t.textContent)).length";
    assert!(browser.value(dates).as_u64().unwrap() >= 4);
    check_quiet(browser);
}

fn pointing_at_a_cell_tells_its_value(browser: &Browser) {
    let (files, report) = (Files::new(), made_up(500));
    browser.open(&files.write("page.html", &report.html()));
    let heat =
        "[...document.querySelectorAll('.heat')].find(e => e.querySelector('svg').getBoundingClientRect().width > 0)";
    let place = browser.value(&format!(
        "(svg => {{ svg.scrollIntoView({{block: 'center'}}); const r = svg.getBoundingClientRect(), k = r.width / svg.viewBox.baseVal.width;
         const [left, top, width, line] = JSON.parse(svg.parentElement.dataset.box);
         return [r.left + k * (left + width / 2), r.top + k * (top + line / 2), r.left + k * left / 2].map(Math.round) }})({heat}.querySelector('svg'))"
    ));
    let number = |i: usize| place[i].as_i64().unwrap();
    browser.mouse(&[(number(0) - 9, number(1)), (number(0), number(1))], false);
    let data = browser.value(&format!("JSON.parse({heat}.dataset.cells)"));
    let told = browser.value(&format!("{heat}.querySelector('output').textContent"));
    let told = told.as_str().unwrap();
    let (places, values) = (data["places"].as_array().unwrap(), data["values"][0].as_array().unwrap());
    let middle = (places[0].as_f64().unwrap() + places[places.len() - 1].as_f64().unwrap()) / 2.0;
    let cell = places.iter().rposition(|place| place.as_f64().unwrap() <= middle).unwrap();
    let (head, value) = told.rsplit_once(": ").unwrap();
    let (name, row) = head.rsplit_once(", row ").unwrap();
    assert_eq!(data["names"][0], name);
    // The pointer is at an integer pixel, so it may be over the next cell.
    let found = places.iter().position(|place| place.as_f64() == row.parse().ok()).unwrap();
    assert!(found.abs_diff(cell) <= 1, "{told}: cell {found} instead of {cell}");
    assert_eq!(values[found].as_f64(), value.parse().ok());
    browser.mouse(&[(number(2), number(1))], false);
    assert_eq!(browser.value(&format!("{heat}.querySelector('output').textContent")), json!(""));
    check_quiet(browser);
}

fn steps_follow_the_slider(browser: &Browser) {
    let turn = |i: i32| f64::from(i) / 100.0;
    let steps = Steps {
        points: (0..100).map(|i| (turn(i).cos(), turn(i).sin())).collect(),
        angles: (0..100).map(turn).collect(),
        lost: (0..100).map(|i| (turn(i), 2.0 * turn(i))).collect(),
        ..Default::default()
    };
    let page = Page { title: "Steps".into(), blocks: vec![Block::Steps(steps)], ..Default::default() };
    let files = Files::new();
    browser.open(&files.write("page.html", &page.html()));
    assert_eq!((displays(browser, ".steps"), displays(browser, ".steps-static")), (json!(["block"]), json!(["none"])));
    let slide = "(s => (s.value = 80, s.dispatchEvent(new Event('input')), document.querySelector('.stepping span').textContent))(document.querySelector('input'))";
    assert_eq!(browser.value(slide), json!("row 80 of 100"));
    let line =
        "(l => Math.atan2(-l.y2.baseVal.value, l.x2.baseVal.value))(document.querySelectorAll('.steps line')[1])";
    assert!((browser.value(line).as_f64().unwrap() - 0.79).abs() < 1e-3);
    browser.value("document.querySelector('.stepping button').click()");
    assert_eq!(browser.value("document.querySelector('.stepping button').textContent"), json!("stop"));
    let waited = std::time::Instant::now();
    while browser.value("document.querySelector('.stepping span').textContent") == json!("row 80 of 100") {
        assert!(waited.elapsed().as_secs() < 10, "the picture does not move");
    }
    check_quiet(browser);
    browser.show_as("print", "light");
    assert_eq!((displays(browser, ".steps"), displays(browser, ".steps-static")), (json!(["none"]), json!(["grid"])));
    check_texts_apart(browser, 4);
}
