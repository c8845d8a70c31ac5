//! The page of a stream while it runs (`--live`).
//!
//! The stream shares what it has learned ([`Shared`]). A thread makes the page out of it a few times a second, as long as somebody looks
//! at it, and hands it to the server. Neither the stream nor that thread waits for a browser.

#[cfg(feature = "serve")]
mod page_thread;
mod shared;
#[cfg(not(feature = "serve"))]
mod without;

#[cfg(feature = "serve")]
pub use page_thread::{Live, LiveAddress, parse_address};
pub use shared::Shared;
#[cfg(not(feature = "serve"))]
pub use without::{Live, LiveAddress, parse_address};

use eigenhedge_report::Page;
use std::collections::BTreeSet;

/// Makes pages of a stream.
pub trait PageSource: Send {
    /// Changes when the page may have changed.
    fn version(&self) -> u64;

    /// The page as it is now, with what is inside these sections, and the number of rows; none if there is none yet.
    fn page(&self, open: &BTreeSet<String>) -> Option<(Page, u64)>;
}
