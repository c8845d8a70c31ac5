//! `--live`: the page of a running stream, tested over sockets and in a real browser.
#![cfg(all(feature = "serve", unix))]
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table};
use crate::reports::driver::Browser;
use eigenhedge::streams;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(30);
/// Maximum time until a fault is shown.
const PROMISED: Duration = Duration::from_secs(2);

struct Live {
    child: Child,
    pipe: Option<ChildStdin>,
    url: String,
    said: BufReader<std::process::ChildStderr>,
}

impl Live {
    /// Starts the program, waits for the address of its page, and sends `first`.
    fn start(place: &Place, arguments: &str, first: &str) -> Self {
        let mut command = place.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut pipe, mut said) = (child.stdin.take().unwrap(), BufReader::new(child.stderr.take().unwrap()));
        let mut url = String::new();
        while url.is_empty() {
            let mut line = String::new();
            assert!(said.read_line(&mut line).unwrap() > 0, "{arguments}: the program ended");
            url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap_or_default().to_owned();
        }
        // The address was printed before any row was sent, so the page exists before the first row.
        pipe.write_all(first.as_bytes()).unwrap();
        Self { child, pipe: Some(pipe), url, said }
    }

    fn send(&mut self, text: &str) {
        let pipe = self.pipe.as_mut().unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
        pipe.flush().unwrap();
    }

    fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches('/')
    }

    /// Opens a connection to the live feed and never reads from it.
    fn deaf_client(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        write!(stream, "GET /live/feed HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        stream
    }

    /// Waits until the program ends, after a signal if given. Returns the status and error output.
    fn ended(mut self, signal: Option<&str>) -> (ExitStatus, String) {
        match signal {
            // The pipe stays open, and the program must not wait for its end.
            Some(signal) => {
                assert!(Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap().success());
            }
            None => drop(self.pipe.take()),
        }
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(began.elapsed() < SOON, "the program does not end"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        (status, said)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a table of sensors. The last column name is a script. `b` is faulty from row `fault` on.
fn sensors(rows: usize, fault: usize) -> Vec<String> {
    let header = "a,b,c,d,e,f,g,\"</script><script>window.broken=1</script>\"\n".to_owned();
    let line = |(t, row): (usize, &Vec<f64>)| {
        let cells =
            row.iter().enumerate().map(|(j, x)| (x + if j == 1 && t >= fault { 25.0 } else { 0.0 }).to_string());
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    let normal: Vec<Vec<f64>> = streams::signal_and_noise(8, 2, 0.3, 1).take(rows).collect();
    std::iter::once(header).chain(normal.iter().enumerate().map(line)).collect()
}

const ALARMS: &str = "Number([...document.querySelectorAll('.tiles>div')].find(t => /alarms in/.test(t.innerText))?.querySelector('b').innerText || 0)";

#[test]
fn a_fault_in_a_pipe_is_seen_within_two_seconds() {
    let Some(browser) = Browser::installed() else { return };
    let (place, lines) = (Place::new(), sensors(800, 700));
    let mut live = Live::start(&place, "monitor - --live 0 --out out.csv", &lines[..601].concat());
    browser.visit(&live.url);
    browser.wait_for("document.getElementById('live').innerText.includes('600 rows')", SOON);
    browser.wait_for("eigenhedge.charts.length > 0 && eigenhedge.charts[0].data[0].at(-1) == 599", SOON);
    zoom_and_switches_stay(&browser, &mut live, &lines[601..701]);
    // The pipe stays open without further rows. All rows sent so far must be visible.
    let before = browser.value(ALARMS).as_u64().unwrap();
    live.send(&lines[701..705].concat());
    let took = browser.wait_for(&format!("{ALARMS} > {before}"), SOON);
    eprintln!("the alarm was seen after {took:?}");
    assert!(took < PROMISED, "{took:?}");
    let told = browser.value("document.querySelector('main').innerText");
    let told = told.as_str().unwrap();
    assert!(told.contains("b spike since row 700"), "{told}");
    browser.wait_for("eigenhedge.charts[0].data[0].at(-1) == 703", SOON);
    assert_eq!(browser.value("eigenhedge.charts[0].data[0].at(-1)"), 703, "also the last row of a burst is there");
    // The table shows the current event, with its cause first.
    let cause = "[...document.querySelectorAll('td')].some(cell => /^b \\(/.test(cell.innerText))";
    assert_eq!(browser.value(cause), true, "{told}");
    for (width, scheme) in [(400, "dark"), (400, "light"), (1000, "dark")] {
        browser.resize(width, 800, width < 500);
        browser.show_as("screen", scheme);
        let overflow = browser.value("document.scrollingElement.scrollWidth - window.innerWidth");
        assert!(overflow.as_i64().unwrap() <= 0, "{overflow} pixels too wide at {width}");
        let paper = browser.value("getComputedStyle(document.body).backgroundColor");
        let sum: u32 =
            paper.as_str().unwrap().split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok()).sum();
        assert_eq!(sum < 300, scheme == "dark", "{paper}");
        save(&browser, &format!("live-{width}-{scheme}"));
    }
    assert_eq!(browser.value("typeof window.broken"), "undefined");
    assert_eq!(browser.console(), Vec::<Value>::new());
    // The last page stays until a signal arrives.
    drop(live.pipe.take());
    browser.wait_for("document.getElementById('live').className == 'ended'", SOON);
    let (status, said) = live.ended(Some("-TERM"));
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("until Ctrl-C"), "{said}");
    browser.wait_for("document.getElementById('live').className == 'lost'", SOON);
}

/// Sends rows one by one. A zoom and a switch must survive. Without a zoom, the chart follows.
fn zoom_and_switches_stay(browser: &Browser, live: &mut Live, lines: &[String]) {
    let scale = "eigenhedge.charts[0].scales";
    browser.value("document.querySelector('button.scale').click()");
    let area = browser.value(
        "(() => { const b = eigenhedge.charts[0].over.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()",
    );
    let at = |i: usize, part: f64| (area[i].as_f64().unwrap() + part * area[i + 2].as_f64().unwrap()) as i64;
    browser.mouse(&[(at(0, 0.3), at(1, 0.5)), (at(0, 0.5), at(1, 0.5)), (at(0, 0.6), at(1, 0.5))], true);
    let zoomed = browser.value(&format!("[{scale}.x.min, {scale}.x.max, {scale}.y.distr]"));
    assert!(zoomed[1].as_f64().unwrap() < 500.0 && zoomed[2] == 1, "{zoomed}");
    for (i, line) in lines.iter().enumerate() {
        live.send(line);
        if i % 25 == 0 {
            browser.wait_for(&format!("eigenhedge.charts[0].data[0].at(-1) >= {}", 600 + i), SOON);
            assert_eq!(browser.value(&format!("[{scale}.x.min, {scale}.x.max, {scale}.y.distr]")), zoomed);
        }
    }
    browser.double_click((at(0, 0.5), at(1, 0.5)));
    browser.wait_for(&format!("{scale}.x.max == 699 && eigenhedge.charts[0].data[0].at(-1) == 699"), SOON);
}

fn save(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("EIGENHEDGE_SCREENSHOTS") {
        std::fs::write(std::path::PathBuf::from(folder).join(format!("{name}.png.base64")), browser.picture()).unwrap();
    }
}

#[test]
fn a_page_survives_a_restart_and_shows_runs_and_fleets() {
    let Some(browser) = Browser::installed() else { return };
    let place = Place::new();
    let rows = table(&streams::three_subspaces(1));
    let lines: Vec<&str> = rows.split_inclusive('\n').collect();
    let mut live = Live::start(&place, "run - -k 2 --live 0", &lines[..200].concat());
    browser.visit(&live.url);
    browser.wait_for("document.getElementById('live').innerText.includes('199 rows')", SOON);
    live.send(&lines[200..260].concat());
    browser.wait_for("document.getElementById('live').innerText.includes('259 rows')", SOON);
    browser.wait_for("eigenhedge.charts.length >= 5 && eigenhedge.charts.every(u => u)", SOON);
    save(&browser, "live-run");
    let address = live.address().to_owned();
    let (status, said) = live.ended(Some("-KILL"));
    assert_eq!(status.code(), None, "{said}");
    browser.wait_for("document.getElementById('live').className == 'lost'", SOON);
    // Another program at the same address, with monitors per machine, takes over the page.
    place.write("fleet.csv", machines(3));
    let live = Live::start(&place, &format!("monitor fleet.csv --group-by machine --warm-up 100 --live {address}"), "");
    browser.wait_for("document.querySelectorAll('.overview tbody tr').length == 3", SOON);
    browser.wait_for("document.getElementById('live').className == 'ended'", SOON);
    assert_eq!(browser.value("eigenhedge.charts.length"), 0, "charts of keys are made when they are opened");
    browser.value("document.querySelector('.overview a').click()");
    browser.wait_for("eigenhedge.charts.filter(u => u).length >= 1 && document.querySelector('details').open", SOON);
    assert!(browser.value("document.querySelector('h1').innerText").as_str().unwrap().contains("fleet.csv"));
    save(&browser, "live-fleet");
    let console = browser.console();
    let refused = |entry: &Value| entry["message"].as_str().unwrap().contains("ERR_");
    assert!(console.iter().all(refused), "{console:?}");
    assert_eq!(live.ended(Some("-INT")).0.code(), Some(0));
}

/// Returns rows of `count` machines in turn, with the faults of [`streams::faults`]. Machine `m1` also has an offset.
fn machines(count: usize) -> String {
    let mut text = "machine,a,b,c,d\n".to_owned();
    for (t, row) in streams::faults(4, 2, 0.3, 400 * count, 3).iter().enumerate() {
        let off = if t % count == 1 && t > 200 * count { 9.0 } else { 0.0 };
        let cells = row.iter().enumerate().map(|(j, x)| (x + if j == 2 { off } else { 0.0 }).to_string());
        text += &format!("m{},{}\n", t % count, cells.collect::<Vec<_>>().join(","));
    }
    text
}

/// Clients must not change the results, and the program must not wait for a client.
#[test]
fn answers_are_the_same_bytes_with_a_page_that_somebody_does_not_read() {
    let place = Place::new();
    place.write("data.csv", sensors(6000, 3000).concat());
    place.write("fleet.csv", machines(40));
    for command in [
        "monitor data.csv",
        "monitor fleet.csv --group-by machine --warm-up 100 --max-groups 8",
        "run data.csv -k 2",
        "run data.csv -k 2 --standardize warmup:300",
    ] {
        assert_eq!(place.run(&format!("{command} --quiet --report a.html --out a.csv")).status, 0, "{command}");
        let live =
            Live::start(&place, &format!("{command} --quiet --report b.html --out b.csv --live 0 --live-exit"), "");
        let clients: Vec<TcpStream> = (0..3).filter_map(|_| TcpStream::connect(live.address()).ok()).collect();
        for mut client in &clients {
            // The program may have ended already.
            let _ = write!(client, "GET /live/feed?open=key-0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
        }
        let (status, said) = live.ended(None);
        assert_eq!(status.code(), Some(0), "{said}");
        assert_eq!(place.read("a.csv"), place.read("b.csv"), "{command}");
        assert_eq!(place.read("a.html").replace("a.html", "b.html"), place.read("b.html"), "{command}");
    }
}

#[test]
fn a_signal_and_a_client_that_does_not_read_end_it_soon() {
    let place = Place::new();
    let lines = sensors(500, 9999);
    let live = Live::start(&place, "monitor - --live 0 --snapshot m.eh", &lines[..450].concat());
    let mut events = BufReader::new(live.deaf_client());
    let mut seen = String::new();
    while !seen.contains("449 rows so far") {
        seen.clear();
        assert!(events.read_line(&mut seen).unwrap() > 0, "the page ended");
    }
    let clients = [live.deaf_client(), live.deaf_client()];
    let began = Instant::now();
    let (status, said) = live.ended(Some("-INT"));
    assert!(status.code() == Some(0) && said.contains("--resume m.eh"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(clients);
}

#[test]
fn addresses_are_judged_before_anything_is_read() {
    let place = Place::new();
    place.write("data.csv", sensors(450, 9999).concat());
    for (arguments, sentence) in [
        ("monitor data.csv --live 0.0.0.0:8750", "ssh -L"),
        ("run data.csv -k 2 --live 192.168.1.1", "reverse proxy"),
        ("monitor --live data.csv", "write INPUT before --live"),
        ("monitor data.csv --live-exit", "--live"),
        ("run data.csv -k 2 --group-by a --live", "cannot be used with"),
    ] {
        let outcome = place.run(arguments);
        assert!(outcome.status == 2 && outcome.err.contains(sentence), "{arguments}: {}", outcome.err);
    }
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap();
    let outcome = place.run(&format!("monitor data.csv --live {taken} --out out.csv"));
    assert!(outcome.status == 1 && outcome.err.contains("in use by another program"), "{}", outcome.err);
    assert_eq!(outcome.err.matches("eigenhedge:").count(), outcome.err.lines().count(), "{}", outcome.err);
}

#[test]
fn a_record_is_kept_for_a_page_after_a_restart() {
    let place = Place::new();
    place.write("data.csv", sensors(600, 9999).concat());
    assert_eq!(place.run("run data.csv -k 2 --quiet --snapshot bare.eh").status, 0);
    let outcome = place.run("run data.csv -k 2 --quiet --resume bare.eh --live 0 --live-exit");
    assert!(outcome.status == 1 && outcome.err.contains("--live needs what a run"), "{}", outcome.err);
    for command in ["run data.csv -k 2", "monitor data.csv"] {
        assert_eq!(place.run(&format!("{command} --quiet --snapshot s.eh --live 0 --live-exit")).status, 0);
        let outcome = place.run(&format!("{command} --quiet --resume s.eh --report page.html"));
        assert_eq!(outcome.status, 0, "{}", outcome.err);
    }
}
