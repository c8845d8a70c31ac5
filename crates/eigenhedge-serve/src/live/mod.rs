//! The page of a stream while it runs.
//!
//! | module | what |
//! |---|---|
//! | [`address`] | the address to listen at: of this machine only |
//! | [`guard`] | `Host` and `Origin` of requests, headers of answers |
//! | [`assets`] | the scripts and the style sheet of every page, and the shell of one |
//! | [`shutdown`] | the end of the program, seen by every open connection |
//! | [`sse`] | server-sent events: ids, heartbeats, the end |
//! | [`feed`] | the newest state of a page; what browsers have is not sent again |
//! | [`server`] | all of them, for one page, in a thread of its own |
//!
//! Nobody waits for a browser: a feed holds the newest state and no queue, and a browser that is slow gets fewer states.

pub mod address;
pub mod assets;
pub mod feed;
pub mod guard;
pub mod server;
pub mod shutdown;
pub mod sse;

pub use address::{AddressError, ListenAddress};
pub use feed::{Feed, PageState, Watch};
pub use guard::Guard;
pub use server::{LiveServer, StartError};
pub use shutdown::{Shutdown, ShutdownSwitch};
