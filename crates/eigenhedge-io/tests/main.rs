//! All tests over the public interface in one program: what they instantiate is compiled once.

mod answers;
mod column_types;
#[cfg(feature = "parquet")]
mod common;
mod csv_tables;
mod export;
mod several_files;
mod streams;
