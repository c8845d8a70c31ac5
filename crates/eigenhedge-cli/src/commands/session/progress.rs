//! Progress of a session: a bar on a terminal, or else a line every ten seconds.

use crate::say::say;
use eigenhedge_io::{Progress as Way, Stream, Target};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_secs(10);
const BLINK: Duration = Duration::from_millis(100);

pub struct Progress {
    is_shown: bool,
    bar: Option<ProgressBar>,
    start: Instant,
    next: Instant,
    before: u64,
    looked: u64,
}

impl Progress {
    pub fn new(quiet: bool, target: &Target, rows: u64) -> Self {
        // A bar and results on one terminal would overwrite each other.
        let shares_terminal = *target == Target::Standard && io::stdout().is_terminal();
        let is_shown = !quiet && !shares_terminal;
        let bar = (is_shown && io::stderr().is_terminal()).then(bar);
        let start = Instant::now();
        let next = start + if bar.is_some() { BLINK } else { PAUSE };
        Self { is_shown, bar, start, next, before: rows, looked: rows }
    }

    pub fn tick(&mut self, rows: u64, stream: &Stream, detail: impl FnOnce() -> String) {
        // Few rows need no look at the clock.
        if !self.is_shown || rows > self.before + 16 && rows < self.looked + 16 {
            return;
        }
        self.looked = rows;
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let rate = (rows - self.before) as f64 / (now - self.start).as_secs_f64().max(1e-3);
        let text = format!("{rows} rows, {rate:.0} a second, {}", detail());
        let Some(bar) = &self.bar else {
            self.next = now + PAUSE;
            let share = stream.progress().share();
            let way = share.map_or(String::new(), |share| format!(", {:.0} % of the table", 100.0 * share));
            return say(&(text + &way));
        };
        self.next = now + BLINK;
        match stream.progress() {
            Way::Rows(done, all) | Way::Bytes(done, all) => {
                bar.set_length(all);
                bar.set_position(done);
            }
            Way::Unknown(_) => bar.tick(),
        }
        bar.set_message(text);
    }

    pub fn finish(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{bar:24} {percent:>3} %, {eta} left: {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
