//! Signals: the first asks the run to stop between two rows, the second ends the program.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The status that a shell reports for a program that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// The signals that ask a run to stop.
pub struct StopSignal {
    flag: Arc<AtomicBool>,
    /// Ends the wait for a row.
    pub waits: Option<eigenhedge_io::Stop>,
}

impl StopSignal {
    /// Listens from now on.
    pub fn listen() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let register = |signal| {
            // In this order: the first signal finds the flag unset.
            flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&flag))?;
            flag::register(signal, Arc::clone(&flag))
        };
        for signal in [SIGINT, SIGTERM] {
            register(signal).context("signals cannot be listened to")?;
        }
        Ok(Self { flag, waits: waits().context("signals cannot be listened to")? })
    }

    /// True if it is time to stop.
    pub fn to_stop(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
fn waits() -> std::io::Result<Option<eigenhedge_io::Stop>> {
    use std::os::unix::net::UnixStream;
    let (read, write) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(Some(eigenhedge_io::Stop::when_readable(read.into())))
}

#[cfg(not(unix))]
fn waits() -> std::io::Result<Option<eigenhedge_io::Stop>> {
    Ok(None)
}
