//! Results of calls.

use crate::Object;
use serde_json::Value;

/// Result of a method: bytes, or a new object.
pub enum Answer {
    Bytes(Vec<u8>),
    Object(Box<dyn Object>),
}

pub type Reply = Result<Vec<u8>, String>;

pub fn read<T>(outcome: Result<T, impl ToString>) -> Result<T, String> {
    outcome.map_err(|error| error.to_string())
}

pub fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

pub fn no_method<T>(name: &str) -> Result<T, String> {
    Err(format!("there is no method {name}"))
}
