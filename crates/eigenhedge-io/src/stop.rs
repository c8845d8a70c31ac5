//! A wait for rows that can be ended.
//!
//! Whoever reads a pipe waits, perhaps for ever, in a system call that a handler of signals does not end by itself. A
//! source with a [`Stop`] waits for its own bytes and for the stop at the same time; once stopped, it gives an error
//! rather than an end, because the row that was being read may be half there and must not be taken for a whole one.
//! [`crate::Stream::state`] is then still that after the last whole row.
//!
//! Where there is no such double wait (not Unix), a stop is noticed with the next row.

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

    /// Ends waits for rows as soon as something can be read from it.
    #[derive(Debug, Clone)]
    pub struct Stop(Arc<OwnedFd>);

    impl Stop {
        /// A stop that comes when `signal` (a pipe or a socket) can be read.
        pub fn when_readable(signal: OwnedFd) -> Self {
            Self(Arc::new(signal))
        }

        /// The source, with waits that end.
        pub(crate) fn guard(&self, source: impl AsFd) -> io::Result<Box<dyn Read>> {
            let source = File::from(source.as_fd().try_clone_to_owned()?);
            Ok(Box::new(Guarded { source, stop: self.clone() }))
        }
    }

    /// True if something can be read from the source, or within a hundredth of a second.
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

/// Ends waits for rows; not on this system.
#[cfg(not(unix))]
#[derive(Debug, Clone)]
pub struct Stop(std::convert::Infallible);
