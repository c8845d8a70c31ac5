//! Signals. The first stops the run between two blocks of rows, and one after [`GRACE`] ends the program at once. `timeout`
//! and service managers send two almost at once, to the program and to its process group, which count as one.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const INTERRUPTED: i32 = 130;
const GRACE: Duration = Duration::from_millis(500);
/// A terminal sends one of them when it is closed.
#[cfg(unix)]
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

pub struct StopSignal {
    flag: Arc<AtomicBool>,
    /// Interrupts a read that waits for a row, if this is supported.
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
    Ok(Some(eigenhedge_io::Stop::when_readable(signalled()?.into())))
}

/// Returns a socket that is readable after a signal.
#[cfg(unix)]
fn signalled() -> std::io::Result<std::os::unix::net::UnixStream> {
    let (read, write) = std::os::unix::net::UnixStream::pair()?;
    for signal in SIGNALS {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(read)
}

#[cfg(not(unix))]
fn waits() -> std::io::Result<Option<eigenhedge_io::Stop>> {
    Ok(None)
}

#[cfg(unix)]
fn arm_later(is_armed: Arc<AtomicBool>, _: Arc<AtomicBool>) -> std::io::Result<()> {
    use std::io::Read;
    let mut read = signalled()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        // Blocks until the first signal.
        if read.read(&mut [0]).is_ok_and(|count| count > 0) {
            std::thread::sleep(GRACE);
            is_armed.store(true, Ordering::Relaxed);
        }
    })?;
    Ok(())
}

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
