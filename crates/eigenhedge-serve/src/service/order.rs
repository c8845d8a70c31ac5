//! Orders as they are logged.

use super::engine::{Engine, Outcome};
use super::problem::Problem;
use super::repeats::RequestKey;
use super::rows::Rows;
use serde::{Deserialize, Serialize};

/// A change of a stream's learner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Rows to learn.
    Rows(Rows),
    /// The last rows of a monitor are its new reference.
    Accept { key: Option<String> },
    /// Another learner, as a saved file.
    Model(Vec<u8>),
}

/// An order with the key of its request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    pub key: Option<RequestKey>,
    pub order: Order,
}

impl Logged {
    /// The bytes of the log.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Problem> {
        postcard::to_stdvec(self).map_err(|error| Problem::unavailable(format!("the order has no form: {error}")))
    }

    /// Reads what [`Self::to_bytes`] gave.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        postcard::from_bytes(bytes).map_err(|error| format!("an order in the log is damaged: {error}"))
    }
}

impl Order {
    /// Has the learner carry out the order. The outcome follows from the state alone, so that it is the same whenever the log is
    /// read again.
    pub fn carry_out(&self, engine: &mut Engine) -> Outcome {
        let done = |outcome: Result<(), Problem>| Outcome { refused: outcome.err(), ..Outcome::default() };
        match self {
            Self::Rows(rows) => engine.learn(rows),
            Self::Accept { key } => done(engine.accept(key.as_deref())),
            Self::Model(bytes) => done(engine.replace(bytes)),
        }
    }
}
