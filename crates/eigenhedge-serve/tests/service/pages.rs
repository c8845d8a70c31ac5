//! Pages of the service in a real browser, on large and small, light and dark screens.

#[path = "../../../eigenhedge-pages/tests/browser/driver.rs"]
#[allow(dead_code, reason = "not every test needs all of a browser")]
mod driver;

use super::client::{Client, rows, settings, start};
use driver::Browser;
use eigenhedge_serve::service::Service;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// Returns a table with times, a fault in column d from row `fault` on, and line ends in quotes.
fn table(count: usize, fault: usize) -> String {
    let mut text = "time;a;b;c;d;note\n".to_owned();
    for (t, mut row) in rows(count, 31).into_iter().enumerate() {
        row[3] = if t >= fault { row[3] + 9.0 } else { row[3].clamp(-6.0, 6.0) };
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}").replace('.', ",")).collect();
        let note = if t % 100 == 7 { "\"two\nlines; one cell\"" } else { "" };
        let (hour, minute) = (t / 60, t % 60);
        text += &format!("{:02}.03.2026 {:02}:{minute:02};{};{note}\n", 1 + hour / 24, hour % 24, cells.join(";"));
    }
    text
}

fn drop_file(browser: &Browser, name: &str, text: &str) {
    let script = format!(
        "(() => {{ const data = new DataTransfer(); data.items.add(new File([{}], {}, {{ type: 'text/csv' }})); \
         document.dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }})); }})()",
        json!(text),
        json!(name)
    );
    browser.value(&script);
}

fn text_of(browser: &Browser, selector: &str) -> String {
    browser.value(&format!("document.querySelector({}).innerText", json!(selector))).as_str().unwrap_or("").to_owned()
}

/// Returns true if the page is at most as wide as the window.
fn fits(browser: &Browser) -> bool {
    browser.value("document.documentElement.scrollWidth <= window.innerWidth") == Value::Bool(true)
}

/// Saves a screenshot if `EIGENHEDGE_SCREENSHOTS` names a folder.
fn save(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("EIGENHEDGE_SCREENSHOTS") {
        std::fs::write(Path::new(&folder).join(format!("{name}.png.base64")), browser.picture()).unwrap();
    }
}

#[test]
fn a_stream_in_a_browser() {
    let Some(browser) = Browser::installed() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (service, client) = start(folder.path());
    client.make("press", &json!({"kind": "monitor", "warm_up": 300}));
    client.make("plain", &json!({"k": 2}));
    let address = client.0;
    browser.resize(1300, 900, false);
    browser.visit(&format!("http://{address}/streams/press"));
    browser.wait_for("document.querySelector('main').innerText.includes('drop a CSV')", SOON);

    // A dropped table is learned, and the page has the charts of a report.
    drop_file(&browser, "march.csv", &table(900, 700));
    browser.wait_for("document.querySelector('#tools output').innerText.includes('900 of 900')", SOON);
    browser.wait_for("document.querySelector('main').innerText.includes('unusual since')", SOON);
    let told = text_of(&browser, "main");
    assert!(told.contains("d unusual since 01.03.2026 11:"), "{told}");
    browser.wait_for("eigenhedge.charts.length >= 3", SOON);
    assert_eq!(client.get("/v1/streams/press/summary").json()["rows"], 900);
    // The content security policy prevents scripts from reading the answers again.
    assert_eq!(browser.value("document.getElementById('answers').download"), "march-answers.jsonl");

    on_all_screens(&browser, "service-monitor");
    let page = format!("http://{address}/streams/press");
    browser.visit(&format!("http://{address}/"));
    browser.wait_for("document.querySelector('main').innerText.includes('unusual since')", SOON);
    let first = text_of(&browser, "main table tbody tr");
    assert!(first.starts_with("press") && first.contains("d unusual since 01.03.2026 11:"), "{first}");
    on_all_screens(&browser, "service-first");
    browser.visit(&page);
    browser.wait_for("document.querySelector('main').innerText.includes('unusual since')", SOON);

    // The new level becomes the reference.
    browser.value("document.getElementById('accept').click()");
    browser.wait_for("document.querySelector('#tools output').innerText.includes('new reference')", SOON);
    browser.wait_for("!document.querySelector('main').innerText.includes('unusual since')", SOON);

    restart_while_open(&browser, service, client, folder.path());
    first_page(&browser, client);
    let errors: Vec<Value> = browser.console();
    // A restart breaks connections, and the browser reports that.
    let is_foreign = |one: &&Value| !one["message"].as_str().unwrap_or("").contains("net::ERR_");
    assert_eq!(errors.iter().filter(is_foreign).collect::<Vec<_>>(), Vec::<&Value>::new());
}

/// Checks that the page fits large and small screens, light and dark, and saves screenshots.
fn on_all_screens(browser: &Browser, name: &str) {
    for (width, phone, scheme) in
        [(400, true, "dark"), (400, true, "light"), (1300, false, "dark"), (1300, false, "light")]
    {
        browser.resize(width, 900, phone);
        browser.show_as("screen", scheme);
        assert!(fits(browser), "{name} {width} {scheme}");
        save(browser, &format!("{name}-{width}-{scheme}"));
    }
}

/// Checks that the page continues when the service is back at its address.
fn restart_while_open(browser: &Browser, service: Service, client: Client, folder: &Path) {
    service.stop();
    let mut settings = settings(folder);
    settings.listen = client.0;
    let service = (0..100).find_map(|_| match Service::start(settings.clone()) {
        Ok(service) => Some(service),
        Err(_) => {
            std::thread::sleep(Duration::from_millis(100));
            None
        }
    });
    let _service = Box::leak(Box::new(service.expect("the address is free again")));
    client.wait();
    drop_file(browser, "april.csv", &table(100, 0));
    browser.wait_for("document.querySelector('#tools output').innerText.includes('100 of 100')", SOON);
    browser.wait_for("document.querySelector('main').innerText.includes('1000 rows')", SOON);
    let (alarms, listed) = (client.get("/v1/streams/press/summary").json(), client.get("/v1/streams").json());
    assert_eq!(listed["streams"][1]["alarms"], alarms["alarms"], "{listed}");
}

/// Checks that the first page lists the streams, and that the page of a model has its curves.
fn first_page(browser: &Browser, client: Client) {
    let rows = super::client::objects(&rows(300, 5));
    client.rows("plain", &rows);
    browser.visit(&format!("http://{}/", client.0));
    browser.wait_for("document.querySelector('main').innerText.includes('plain')", SOON);
    browser.resize(400, 900, true);
    assert!(fits(browser));
    browser.resize(1200, 900, false);
    browser.visit(&format!("http://{}/streams/plain", client.0));
    browser.wait_for("document.querySelector('main').innerText.includes('of the energy kept')", SOON);
    browser.wait_for("eigenhedge.charts.length >= 4", SOON);
    save(browser, "service-model");
}
