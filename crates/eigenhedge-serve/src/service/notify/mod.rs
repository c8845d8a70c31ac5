//! Notices of incidents, sent to addresses that the operator allows.
//!
//! | module | content |
//! |---|---|
//! | `target` | an address, and one attempt to send to it |
//! | `template` | the body of a notice |
//! | `outbox` | queues of notices, by stream |

mod outbox;
mod target;
mod template;

pub use outbox::{Line, Outbox};
pub use target::{Target, Transport};
pub use template::Templates;
