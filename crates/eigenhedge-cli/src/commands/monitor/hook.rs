//! Shell command that runs once per notice, one at a time, without delaying the stream. Notices wait in a bounded queue;
//! one that does not fit is dropped and counted.

use eigenhedge_pages::monitor::Notice;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const QUEUE: usize = 64;
/// After this time, the command and the processes that it started are killed.
const PATIENCE: Duration = Duration::from_secs(30);
const BLINK: Duration = Duration::from_millis(20);

pub struct Hook {
    queue: Option<SyncSender<String>>,
    worker: Option<JoinHandle<u64>>,
    dropped: u64,
}

impl Hook {
    pub fn new(command: &str) -> Self {
        let (queue, waiting) = sync_channel::<String>(QUEUE);
        let command = command.to_owned();
        // The result is the number of failed runs.
        let worker = thread::spawn(move || waiting.iter().filter(|text| !run(&command, text, PATIENCE)).count() as u64);
        Self { queue: Some(queue), worker: Some(worker), dropped: 0 }
    }

    pub fn tell(&mut self, notice: &Notice) {
        let text = serde_json::to_string(notice).unwrap_or_default();
        let sent = self.queue.as_ref().is_some_and(|queue| queue.try_send(text).is_ok());
        self.dropped += u64::from(!sent);
    }

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

fn run(command: &str, text: &str, patience: Duration) -> bool {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command_line = Command::new(shell);
    command_line.arg(flag).arg(command).stdin(Stdio::piped()).stdout(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command_line, 0);
    let Ok(mut child) = command_line.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // The command may ignore its input, which fits into the buffer of the pipe.
        let _ = input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n"));
    }
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < patience => thread::sleep(BLINK),
            _ => {
                // The shell leads a group of processes, so that the programs it started end with it.
                #[cfg(unix)]
                let _ = rustix::process::kill_process_group(
                    rustix::process::Pid::from_child(&child),
                    rustix::process::Signal::KILL,
                );
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_takes_too_long_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let late = folder.path().join("late");
        let command = format!("(sleep 1; touch '{}') & wait", late.display());
        assert!(!run(&command, "", Duration::from_millis(100)));
        thread::sleep(Duration::from_millis(1500));
        assert!(!late.exists());
        assert!(run(&command, "", PATIENCE) && late.exists());
    }
}
