//! Notices of incidents, sent to addresses that the operator allows.

mod outbox;
mod target;
mod template;

pub use outbox::{Line, Outbox};
pub use target::{Target, Transport};
pub use template::Templates;
