//! Messages about rows that a learner rejects, with column names and short numbers.

use eigenhedge::Error;
use eigenhedge::options::exact;

/// Returns the message for a row that a learner rejects. `label` describes the column at an index.
pub fn refusal(error: &Error, label: impl Fn(usize) -> String) -> String {
    match error {
        Error::Entry { what: "row", index, rule, value } => {
            format!("{} must be {rule}, got {}", label(*index), exact(*value))
        }
        Error::Norm { norm, bound } => {
            format!("the norm of the row must not exceed the norm bound {}, got {}", exact(*bound), exact(*norm))
        }
        Error::Overflow { largest } => {
            format!("the squared norm of the row must be finite, got a largest entry of {}", exact(*largest))
        }
        other => other.to_string(),
    }
}
