//! Progress of a session: a bar on a terminal, or else a line every ten seconds.

use eigenhedge_io::{Progress as Way, Stream, Target};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_secs(10);
const BLINK: Duration = Duration::from_millis(100);

pub struct Progress {
    shown: Shown,
    start: Instant,
    next: Instant,
    before: u64,
    looked: u64,
}

enum Shown {
    Nowhere,
    Lines,
    Bar(ProgressBar),
}

impl Progress {
    pub fn new(quiet: bool, target: &Target, rows: u64) -> Self {
        // A bar and results on one terminal would overwrite each other.
        let shares_terminal = *target == Target::Standard && io::stdout().is_terminal();
        let shown = match () {
            () if quiet => Shown::Nowhere,
            () if io::stderr().is_terminal() && !shares_terminal => Shown::Bar(bar()),
            () if shares_terminal => Shown::Nowhere,
            () => Shown::Lines,
        };
        let start = Instant::now();
        let pause = if matches!(shown, Shown::Bar(_)) { BLINK } else { PAUSE };
        Self { shown, start, next: start + pause, before: rows, looked: rows }
    }

    pub fn tick(&mut self, rows: u64, stream: &Stream, detail: impl FnOnce() -> String) {
        if let Some(now) = self.is_due(rows) {
            self.show(rows, &detail(), now, stream);
        }
    }

    fn is_due(&mut self, rows: u64) -> Option<Instant> {
        if matches!(self.shown, Shown::Nowhere) || rows > self.before + 16 && rows < self.looked + 16 {
            return None;
        }
        self.looked = rows;
        Some(Instant::now()).filter(|now| *now >= self.next)
    }

    fn show(&mut self, rows: u64, detail: &str, now: Instant, stream: &Stream) {
        let seconds = (now - self.start).as_secs_f64();
        let rate = (rows - self.before) as f64 / seconds.max(1e-3);
        let text = format!("{rows} rows, {rate:.0} a second, {detail}");
        match &self.shown {
            Shown::Nowhere => {}
            Shown::Lines => {
                self.next = now + PAUSE;
                let share = stream.progress().share();
                let way = share.map_or(String::new(), |share| format!(", {:.0} % of the table", 100.0 * share));
                // It is not an error if standard error is closed.
                let _ = writeln!(io::stderr(), "eigenhedge: {text}{way}");
            }
            Shown::Bar(bar) => {
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
        }
    }

    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{bar:24} {percent:>3} %, {eta} left: {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
