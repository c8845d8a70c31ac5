//! A command that is run for each event, beside the stream.
//!
//! Events wait in a queue of bounded length for one thread, which runs one command at a time. The stream never waits: what does
//! not fit into the queue is dropped and counted.

use serde::Serialize;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Events that wait at most.
const QUEUE: usize = 64;
/// Longest time that a command may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at a command that runs.
const BLINK: Duration = Duration::from_millis(20);

/// Why a command is run, for programs.
#[derive(Debug, Serialize)]
pub struct Notice<'a> {
    /// `alarm` at the first row of an event, `drift` when a drift is reported, `returned` when it is over.
    pub kind: &'static str,
    /// Key of the monitor; empty if there is one.
    pub key: &'a str,
    pub row: u64,
    /// Time of the row as the table has it; empty if it has none.
    pub time: &'a str,
    pub score: Option<f64>,
    /// Columns with their shares of the squared deviations.
    pub causes: Vec<(&'a str, f64)>,
}

/// Runs the command.
pub struct Hook {
    queue: Option<SyncSender<String>>,
    worker: Option<JoinHandle<u64>>,
    dropped: u64,
}

impl Hook {
    /// For a command of the shell.
    pub fn new(command: &str) -> Self {
        let (queue, waiting) = sync_channel(QUEUE);
        let command = command.to_owned();
        let worker = thread::spawn(move || run_all(&command, &waiting));
        Self { queue: Some(queue), worker: Some(worker), dropped: 0 }
    }

    /// Has the command told; never waits.
    pub fn tell(&mut self, notice: &Notice<'_>) {
        let text = serde_json::to_string(notice).unwrap_or_default();
        let sent = self.queue.as_ref().is_some_and(|queue| queue.try_send(text).is_ok());
        self.dropped += u64::from(!sent);
    }

    /// Waits for the commands that are left; a sentence if one failed or was dropped.
    pub fn finish(mut self) -> Option<String> {
        self.queue = None;
        let failed = self.worker.take().and_then(|worker| worker.join().ok()).unwrap_or(0);
        let mut parts = Vec::new();
        if failed > 0 {
            parts.push(format!("failed {failed} times"));
        }
        if self.dropped > 0 {
            parts.push(format!("was too slow for {} events, which it was not told of", self.dropped));
        }
        (!parts.is_empty()).then(|| format!("--on-alarm: the command {}", parts.join(" and ")))
    }
}

/// Runs the command for each text; the number of times that it failed.
fn run_all(command: &str, waiting: &Receiver<String>) -> u64 {
    waiting.iter().filter(|text| !run(command, text)).count() as u64
}

/// True if the command ended well.
fn run(command: &str, text: &str) -> bool {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let spawned = Command::new(shell).arg(flag).arg(command).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let Ok(mut child) = spawned else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A command need not read what it is told; a notice is shorter than a pipe.
        let _ = input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n"));
    }
    ended_well(&mut child)
}

fn ended_well(child: &mut Child) -> bool {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < PATIENCE => thread::sleep(BLINK),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
