//! All tests of the public interface in one crate, so that generic code is compiled once.

mod answers;
mod column_types;
#[cfg(feature = "parquet")]
mod common;
mod csv_tables;
mod export;
mod several_files;
mod streams;
