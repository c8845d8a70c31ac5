//! Handling of signals. The first signal stops the run between two blocks of rows. A later signal,
//! after [`GRACE`], ends the program at once.
//!
//! `timeout` and service managers send a signal to the program and also to its process group. Both
//! signals arrive almost at once and count as one.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit status that a shell reports for a program ended by Ctrl-C.
const INTERRUPTED: i32 = 130;
/// Time after the first signal during which other signals are ignored.
const GRACE: Duration = Duration::from_millis(500);
/// Signals that stop a run. A terminal sends one of them when it is closed.
#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

pub struct StopSignal {
    flag: Arc<AtomicBool>,
    /// Handle that interrupts a read waiting for a row, or `None` if this is not supported.
    pub waits: Option<eigenhedge_io::Stop>,
}

impl StopSignal {
    pub fn listen() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let is_armed = Arc::new(AtomicBool::new(false));
        let register = |signal| {
            flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&is_armed))?;
            flag::register(signal, Arc::clone(&flag))
        };
        arm_later(is_armed.clone(), flag.clone()).context("signals cannot be listened to")?;
        for signal in SIGNALS {
            register(signal).context("signals cannot be listened to")?;
        }
        Ok(Self { flag, waits: waits().context("signals cannot be listened to")? })
    }

    pub fn to_stop(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
fn waits() -> std::io::Result<Option<eigenhedge_io::Stop>> {
    use std::os::unix::net::UnixStream;
    let (read, write) = UnixStream::pair()?;
    for signal in SIGNALS {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(Some(eigenhedge_io::Stop::when_readable(read.into())))
}

#[cfg(not(unix))]
fn waits() -> std::io::Result<Option<eigenhedge_io::Stop>> {
    Ok(None)
}

/// Sets `is_armed` when [`GRACE`] has passed since the first signal.
#[cfg(unix)]
fn arm_later(is_armed: Arc<AtomicBool>, _: Arc<AtomicBool>) -> std::io::Result<()> {
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    let (mut read, write) = UnixStream::pair()?;
    for signal in SIGNALS {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        // Blocks until the first signal.
        if read.read(&mut [0]).is_ok_and(|count| count > 0) {
            std::thread::sleep(GRACE);
            is_armed.store(true, Ordering::Relaxed);
        }
    })?;
    Ok(())
}

/// Sets `is_armed` within [`GRACE`] after the first signal.
#[cfg(not(unix))]
fn arm_later(is_armed: Arc<AtomicBool>, flag: Arc<AtomicBool>) -> std::io::Result<()> {
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while !flag.load(Ordering::Relaxed) {
            std::thread::sleep(GRACE);
        }
        is_armed.store(true, Ordering::Relaxed);
    })?;
    Ok(())
}
