//! A minimal WebDriver client over HTTP.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--window-size=1000,900",
];

struct Programs {
    driver: PathBuf,
    browser: PathBuf,
}

impl Programs {
    /// Finds the programs in `PATH`. Returns `None` if one is missing.
    fn find() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let first = |names: &[&str]| {
            let candidates =
                std::env::split_paths(&path).flat_map(|folder| names.iter().map(move |name| folder.join(name)));
            candidates.into_iter().find(|candidate| candidate.is_file())
        };
        Some(Self {
            driver: first(&["chromedriver"])?,
            browser: first(&["chromium", "chromium-browser", "google-chrome"])?,
        })
    }
}

/// Browser window, which is closed on drop.
pub struct Browser {
    agent: ureq::Agent,
    session: String,
    driver: Child,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser. If none is installed, returns `None`, or panics if `EIGENHEDGE_BROWSER` is `required`.
    pub fn installed() -> Option<Self> {
        let Some(programs) = Programs::find() else {
            let wish = std::env::var("EIGENHEDGE_BROWSER");
            assert_ne!(wish.as_deref(), Ok("required"), "chromium and chromedriver are required");
            // The test harness hides the output of print macros of passing tests.
            let skipped = b"SKIPPED: a browser test, because chromium and chromedriver were not found\n";
            let _ = std::io::stderr().write_all(skipped);
            return None;
        };
        Some(Self::start(&programs))
    }

    fn start(programs: &Programs) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The driver picks a free port and prints it.
        let mut driver = Command::new(&programs.driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let said = lines.find(|line| line.contains("started successfully on port")).expect("the driver names its port");
        let port = said.rsplit(' ').next().unwrap().trim_end_matches('.').to_string();
        std::thread::spawn(move || lines.for_each(drop));
        let config =
            ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(60))).http_status_as_error(false);
        let agent = config.build().new_agent();
        let flags: Vec<String> = FLAGS
            .iter()
            .map(|flag| flag.to_string())
            .chain([format!("--user-data-dir={}", profile.path().display())])
            .collect();
        let options = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": programs.browser, "args": flags},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let mut browser =
            Self { agent, session: format!("http://127.0.0.1:{port}/session"), driver, _profile: profile };
        let id = browser.post("", &options)["sessionId"].as_str().expect("a session has a name").to_string();
        browser.session += &format!("/{id}");
        browser
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.session);
        let mut answer =
            self.agent.post(&url).header("content-type", "application/json").send(body.to_string()).unwrap();
        let text = answer.body_mut().with_config().limit(1 << 27).read_to_string().unwrap();
        let value = serde_json::from_str::<Value>(&text).unwrap()["value"].take();
        assert!(value.get("error").is_none(), "{path} {body}: {value}");
        value
    }

    fn command(&self, name: &str, parameters: Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    pub fn open(&self, file: &Path) {
        self.visit(&format!("file://{}", file.display()));
    }

    pub fn visit(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
        // Charts adapt to the size of the window in the next frame.
        self.settle();
    }

    /// Waits until the page has been painted twice.
    pub fn settle(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(0)));";
        self.post("/execute/async", &json!({"script": script, "args": []}));
    }

    pub fn value(&self, expression: &str) -> Value {
        self.post("/execute/sync", &json!({"script": format!("return {expression};"), "args": []}))
    }

    /// Waits until an expression in the page is true, for at most `longest`. Returns the time waited.
    pub fn wait_for(&self, expression: &str, longest: Duration) -> Duration {
        let began = Instant::now();
        while self.value(expression) != Value::Bool(true) {
            let page = || self.value("document.querySelector('main').innerText.slice(0, 2000)");
            assert!(began.elapsed() < longest, "{expression} is false after {longest:?}: {}", page());
            std::thread::sleep(Duration::from_millis(20));
        }
        began.elapsed()
    }

    /// Returns the console messages since the last call.
    pub fn console(&self) -> Vec<Value> {
        self.post("/se/log", &json!({"type": "browser"})).as_array().unwrap().clone()
    }

    pub fn resize(&self, width: u32, height: u32, phone: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone});
        self.command("Emulation.setDeviceMetricsOverride", size);
        self.settle();
    }

    /// Emulates a medium ("screen" or "print") and a color scheme ("light" or "dark").
    pub fn show_as(&self, medium: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.command("Emulation.setEmulatedMedia", json!({"media": medium, "features": features}));
        self.settle();
    }

    /// Returns the page printed as a PDF file, in base64.
    pub fn print(&self) -> String {
        self.command("Page.printToPDF", json!({"printBackground": true}))["data"].as_str().unwrap().into()
    }

    /// Returns a screenshot of the whole page as a PNG file, in base64.
    pub fn picture(&self) -> String {
        let picture = self.command("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
        picture["data"].as_str().unwrap().into()
    }

    /// Moves the mouse through these points of the window, with the button held down if `pressed`.
    pub fn mouse(&self, places: &[(i64, i64)], pressed: bool) {
        let step = |&(x, y): &(i64, i64)| json!({"type": "pointerMove", "duration": 30, "x": x, "y": y});
        let mut steps: Vec<Value> = places.iter().map(step).collect();
        if pressed {
            steps.insert(1, json!({"type": "pointerDown", "button": 0}));
            steps.push(json!({"type": "pointerUp", "button": 0}));
        }
        self.act(steps);
    }

    pub fn double_click(&self, place: (i64, i64)) {
        let mut steps = vec![json!({"type": "pointerMove", "duration": 0, "x": place.0, "y": place.1})];
        for _ in 0..2 {
            steps.extend([json!({"type": "pointerDown", "button": 0}), json!({"type": "pointerUp", "button": 0})]);
        }
        self.act(steps);
    }

    fn act(&self, steps: Vec<Value>) {
        let mouse = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps});
        self.post("/actions", &json!({"actions": [mouse]}));
        self.settle();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver closes the browser. If it does not respond, it is killed.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
