//! HTTP service for named streams, which hold models and monitors.
//!
//! | module | content |
//! |---|---|
//! | `settings` `token` | settings of the service, and permissions |
//! | `shape` `fields` `options` `rows` | names, columns, options and rows of requests |
//! | `openapi` `option_schema` `option_rules` | description of the requests |
//! | `notice_rules` `notify` | rules for notices, and notices that wait to be sent |
//! | `engine` | the learner of a stream, independent of HTTP |
//! | `order` `repeats` | logged commands, and repeated requests |
//! | `store` `check` | one transactional file, written by one thread, and a report on it |
//! | `memory` | the memory limit: refused requests, unloaded streams |
//! | `pool` `stream` `feed` `core` | running streams, by name |
//! | `gate` `routes` `problem` `connections` `server` `try_page` | HTTP |
//! | `metrics` `log` | operation and monitoring |

mod check;
mod connections;
mod core;
mod engine;
mod feed;
mod fields;
mod gate;
mod log;
mod memory;
mod metrics;
mod notice_rules;
mod notify;
mod openapi;
mod option_rules;
mod option_schema;
mod options;
mod order;
mod pool;
mod problem;
mod repeats;
mod routes;
mod rows;
mod server;
mod settings;
mod shape;
mod store;
mod stream;
mod token;
mod try_page;

pub use check::check_store;
pub use memory::LEAST_MEMORY;
pub use server::Service;
pub use settings::{Limits, Settings, WebhookSettings};
pub use token::{Scope, Tokens};
