//! Live page of a running stream.
//!
//! The stream never waits for a browser. A feed holds only the newest state, without a queue, so
//! slow browsers receive fewer states.

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
