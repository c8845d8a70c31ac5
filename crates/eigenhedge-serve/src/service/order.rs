//! Commands that change a learner. Each is logged before it is applied.

use super::engine::{Engine, Outcome};
use super::log::now;
use super::problem::Problem;
use super::repeats::RequestKey;
use super::rows::Rows;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Order {
    Rows(Box<Rows>),
    Accept {
        key: Option<String>,
    },
    Model(Vec<u8>),
    /// Rows could not arrive before `since`.
    Clock {
        since: f64,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    pub key: Option<RequestKey>,
    pub at: f64,
    pub order: Order,
}

impl Logged {
    pub fn new(key: Option<RequestKey>, order: Order) -> Self {
        Self { key, at: now(), order }
    }

    pub fn carry_out(&self, engine: &mut Engine) -> Outcome {
        let done = |outcome: Result<(), Problem>| Outcome { refused: outcome.err(), ..Outcome::default() };
        match &self.order {
            Order::Rows(rows) => engine.learn(rows, self.at),
            Order::Accept { key } => done(engine.accept(key.as_deref(), self.at)),
            Order::Model(bytes) => done(engine.replace(bytes, self.at)),
            Order::Clock { since } => {
                engine.look_for_silence(*since, self.at);
                Outcome::default()
            }
        }
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>, Problem> {
        postcard::to_stdvec(self).map_err(|error| Problem::unavailable(format!("the order cannot be encoded: {error}")))
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        postcard::from_bytes(bytes).map_err(|error| format!("an order in the log is damaged: {error}"))
    }
}
