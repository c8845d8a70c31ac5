//! Live page of a running stream, which never waits for a browser: slow browsers receive fewer states.

mod address;
pub mod assets;
pub mod feed;
pub mod guard;
mod server;
pub mod sse;

pub use address::{AddressError, PORT, parse_address, parse_local};
pub use feed::{Feed, PageState, Watch};
pub use guard::Guard;
pub use server::{LiveServer, Parameters, open_sections};
pub use sse::Shutdown;
