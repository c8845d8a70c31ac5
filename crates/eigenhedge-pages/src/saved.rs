//! Serialization of records as text: postcard in base64, because JSON cannot represent infinity and NaN.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub fn to_text(record: &impl Serialize) -> String {
    let bytes = postcard::to_allocvec(record).unwrap_or_default();
    BASE64_STANDARD.encode(bytes)
}

pub fn from_text<T: DeserializeOwned>(text: &str) -> Option<T> {
    postcard::from_bytes(&BASE64_STANDARD.decode(text).ok()?).ok()
}
