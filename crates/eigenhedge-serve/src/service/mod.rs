//! Streams by name over HTTP: rows in, answers, alarms, summaries and models out.
//!
//! | module | what |
//! |---|---|
//! | `settings` `token` | how the service is started, and who may do what |
//! | `name` `shape` `options` `rows` | requests, read and checked by the library's table of options and the readers of `eigenhedge-io` |
//! | `engine` | the learner of a stream; knows no request |
//! | `order` `repeats` | what is logged, and requests that are sent twice |
//! | `store` | one transactional file, written by one thread |
//! | `pool` `stream` `feed` `core` | streams at work, and all of them by name |
//! | `app` `gate` `routes` `problem` `server` | HTTP |
//! | `metrics` `log` `webhook` | for those who run it |

mod app;
mod core;
mod engine;
mod feed;
mod file_body;
mod gate;
mod log;
mod metrics;
mod name;
mod openapi;
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
mod webhook;

pub use server::Service;
pub use settings::{Limits, Settings};
pub use token::{Scope, Tokens};
