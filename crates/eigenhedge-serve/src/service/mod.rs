//! Streams by name over HTTP.
mod engine;
mod feed;
mod name;
mod options;
mod order;
mod pool;
mod problem;
mod repeats;
mod rows;
mod store;
mod stream;
