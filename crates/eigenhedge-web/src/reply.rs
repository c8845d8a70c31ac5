//! Results of calls.

use serde_json::Value;

pub type Reply = Result<Vec<u8>, String>;

pub fn read<T>(outcome: Result<T, impl ToString>) -> Result<T, String> {
    outcome.map_err(|error| error.to_string())
}

pub fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
