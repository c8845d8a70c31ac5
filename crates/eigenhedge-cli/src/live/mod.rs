//! Page of a running stream (`--live`). The stream shares its state ([`Shared`]). While a browser is connected, a thread
//! builds the page from it and passes it to the server. Neither the stream nor that thread waits for a browser.

#[cfg(feature = "serve")]
mod page_thread;
mod shared;
#[cfg(not(feature = "serve"))]
mod without;

#[cfg(feature = "serve")]
pub use page_thread::{Live, parse_address};
pub use shared::Shared;
#[cfg(not(feature = "serve"))]
pub use without::{Live, parse_address};
