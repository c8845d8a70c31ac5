//! Interruptible wait for rows. A reader of a pipe may block in a system call that a signal handler does not interrupt,
//! so a source with a [`Stop`] waits for input and for the stop at the same time. A stop is an error rather than the
//! end of the input, because the current row may be incomplete. On systems other than Unix, no [`Stop`] can be created.

#[cfg(unix)]
pub use on_unix::Stop;
#[cfg(unix)]
pub(crate) use on_unix::is_readable;

#[cfg(unix)]
mod on_unix {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::Arc;

    /// Signal that interrupts the wait for rows. The signal occurs when a file descriptor becomes readable.
    #[derive(Debug, Clone)]
    pub struct Stop(Arc<OwnedFd>);

    impl Stop {
        /// Creates a stop that occurs when `signal` (a pipe or a socket) becomes readable.
        pub fn when_readable(signal: OwnedFd) -> Self {
            Self(Arc::new(signal))
        }

        pub(crate) fn guard(&self, source: impl AsFd) -> io::Result<Box<dyn Read>> {
            let source = File::from(source.as_fd().try_clone_to_owned()?);
            Ok(Box::new(Guarded { source, stop: self.clone() }))
        }
    }

    /// Returns true if the source is readable now or within 10 ms.
    pub(crate) fn is_readable(source: impl AsFd) -> bool {
        let wait = rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
        let mut sources = [PollFd::new(&source, PollFlags::IN)];
        poll(&mut sources, Some(&wait)).is_ok_and(|ready| ready > 0)
    }

    struct Guarded {
        source: File,
        stop: Stop,
    }

    impl Read for Guarded {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            loop {
                let (stop, source) =
                    (PollFd::new(&self.stop.0, PollFlags::IN), PollFd::new(&self.source, PollFlags::IN));
                let mut both = [stop, source];
                match poll(&mut both, None) {
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(error) => return Err(error.into()),
                    Ok(_) => {}
                }
                if !both[0].revents().is_empty() {
                    return Err(io::Error::other("stopped"));
                }
                return self.source.read(buffer);
            }
        }
    }
}

/// Signal that interrupts the wait for rows. No value of this type can be created on this system.
#[cfg(not(unix))]
#[derive(Debug, Clone)]
pub struct Stop(std::convert::Infallible);
