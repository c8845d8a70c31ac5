//! Standard output, which may be closed.
//!
//! Rust's runtime opens the null device in place of a standard stream that was closed, so that what is written there seems
//! to be written. Whoever starts the program with `>&-` must not be told that all is well, so the stream is looked at
//! before the runtime does anything.

use anyhow::{Context, Result};
use std::io::{self, StdoutLock, Write};

/// Standard output, unless it was closed when the program started.
pub fn output() -> Result<StdoutLock<'static>> {
    if at_start::was_closed() {
        return Err(io::Error::other("it is closed")).context(UNWRITABLE);
    }
    Ok(io::stdout().lock())
}

/// Writes a text, to its last byte.
pub fn print(text: &str) -> Result<()> {
    let mut out = output()?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(UNWRITABLE)
}

/// Begins the sentence about an error.
pub const UNWRITABLE: &str = "standard output cannot be written";

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    pub fn was_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }

    extern "C" fn look() {
        let flags = rustix::io::fcntl_getfd(rustix::stdio::stdout());
        CLOSED.store(flags.is_err(), Ordering::Relaxed);
    }

    // SAFETY: the loader calls the functions in this section one after the other, before `main`; this one makes a single
    // system call, stores a byte, and uses nothing that the runtime would have to prepare.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

#[cfg(not(target_os = "linux"))]
mod at_start {
    /// Not known here.
    pub fn was_closed() -> bool {
        false
    }
}
