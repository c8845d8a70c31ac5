//! Live page of a running stream.
//!
//! | module | content |
//! |---|---|
//! | [`address`] | the listening address, on this machine only |
//! | [`guard`] | `Host` and `Origin` of requests, security headers of responses |
//! | [`assets`] | scripts and style sheet of all pages, and the shell of a page |
//! | [`sse`] | server-sent events: ids, heartbeats, and the end of the program, signalled to every open connection |
//! | [`feed`] | the newest state of a page, of which only changed parts are sent |
//! | [`server`] | server of one page, in its own thread |
//!
//! The stream never waits for a browser. A feed holds only the newest state, without a queue, so a slow browser
//! receives fewer states.

pub mod address;
pub mod assets;
pub mod feed;
pub mod guard;
pub mod server;
pub mod sse;

pub use address::{AddressError, ListenAddress};
pub use feed::{Feed, PageState, Watch};
pub use guard::Guard;
pub use server::{LiveServer, StartError};
pub use sse::{Shutdown, ShutdownSwitch};
