//! All tests over the public interface in one program: what they instantiate is compiled once.

mod answers;
#[cfg(feature = "parquet")]
mod common;
mod csv_tables;
mod export;
mod several_files;
mod streams;
