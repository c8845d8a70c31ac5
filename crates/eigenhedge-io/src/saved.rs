//! Deserialization of counts with a range check.

use serde::Deserialize;

pub(crate) fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let count = u64::deserialize(deserializer)?;
    if count <= 1 << 53 { Ok(count) } else { Err(serde::de::Error::custom("a count must be at most 2^53")) }
}
