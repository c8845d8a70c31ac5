//! Standard output. Rust's runtime replaces a closed stream by the null device, so that writes seem to succeed. A program
//! started with `>&-` must not report success, so the stream is checked before the runtime starts.

use anyhow::{Context, Result};
use std::io::{self, StdoutLock, Write};

pub fn output() -> Result<StdoutLock<'static>> {
    if at_start::was_closed() {
        return Err(io::Error::other("it is closed")).context(UNWRITABLE);
    }
    Ok(io::stdout().lock())
}

pub fn print(text: &str) -> Result<()> {
    let mut out = output()?;
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(UNWRITABLE)
}

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

    // SAFETY: the loader calls the functions in this section one after the other, before `main`. This one makes a
    // system call and stores a byte. It uses nothing that the runtime must initialize.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

#[cfg(not(target_os = "linux"))]
mod at_start {
    pub fn was_closed() -> bool {
        false
    }
}
