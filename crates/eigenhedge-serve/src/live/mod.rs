//! Live page of a running stream, which never waits for a browser: slow browsers receive fewer states.

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
