//! Display of a long computation: a bar on a terminal, or else a line every ten seconds.

use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_secs(10);
const BLINK: Duration = Duration::from_millis(200);

/// Display of a computation, on a thread of its own, until it is dropped.
pub struct Working {
    done: Arc<AtomicU64>,
    stop: Option<Sender<()>>,
    shown: Option<JoinHandle<()>>,
}

impl Working {
    /// `total` is the number of steps, or 0 if this is unknown.
    pub fn start(what: String, total: u64) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = channel();
        let steps = Arc::clone(&done);
        let show = move || match io::stderr().is_terminal() {
            true => show_bar(&what, (&steps, total), &stopped),
            // It is not an error if standard error is closed.
            false => drop(show_lines(&what, (&steps, total), &stopped, PAUSE, io::stderr())),
        };
        Self { done, stop: Some(stop), shown: thread::Builder::new().spawn(show).ok() }
    }

    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.stop = None;
        // A panic of the display must not fail the computation.
        let _ = self.shown.take().map(JoinHandle::join);
    }
}

fn show_lines(
    what: &str,
    (done, total): (&AtomicU64, u64),
    stopped: &Receiver<()>,
    pause: Duration,
    mut out: impl Write,
) -> io::Result<()> {
    let start = Instant::now();
    while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let done = done.load(Ordering::Relaxed);
        let way = match (done, total) {
            (0, _) => String::new(),
            (done, 0) => format!(" {done} rows,"),
            (done, total) => format!(" {:.0} %,", 100.0 * done as f64 / total as f64),
        };
        writeln!(out, "eigenhedge: {what}:{way} {:.0} s", start.elapsed().as_secs_f64())?;
    }
    Ok(())
}

fn show_bar(what: &str, (done, total): (&AtomicU64, u64), stopped: &Receiver<()>) {
    let length = Some(total).filter(|total| *total > 0);
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr()).with_message(what.to_owned());
    while stopped.recv_timeout(BLINK) == Err(RecvTimeoutError::Timeout) {
        bar.set_position(done.load(Ordering::Relaxed));
        bar.tick();
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_step_is_shown_and_a_short_one_is_not() {
        let lines = |total, sleep| {
            let (stop, stopped) = channel();
            let done = AtomicU64::new(30);
            let mut out = Vec::new();
            thread::scope(|scope| {
                scope.spawn(move || {
                    thread::sleep(Duration::from_millis(sleep));
                    drop(stop);
                });
                let pause = Duration::from_millis(200);
                show_lines("all pairs", (&done, total), &stopped, pause, &mut out).expect("memory");
            });
            String::from_utf8(out).expect("text")
        };
        assert!(lines(120, 700).starts_with("eigenhedge: all pairs: 25 %, 0 s\n"));
        assert!(lines(0, 700).starts_with("eigenhedge: all pairs: 30 rows, 0 s\n"));
        assert_eq!(lines(0, 0), "");
    }
}
