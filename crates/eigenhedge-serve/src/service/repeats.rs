//! Requests with an `Idempotency-Key`: the answers of a request that is sent again are those of the first time.

use super::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// Keys that are remembered for a stream.
const KEYS: usize = 10_000;
/// Bytes of answers that are remembered.
const BYTES: usize = 8 << 20;
/// Longest key.
const LONGEST: usize = 200;

/// A key, and what distinguishes its request from others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestKey {
    pub key: String,
    pub digest: u64,
}

impl RequestKey {
    /// The key of a request with this body. It must be printable ASCII.
    pub fn new(key: &str, body: &[u8]) -> Result<Self, Problem> {
        if key.is_empty() || key.len() > LONGEST || !key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            let rule = format!("an Idempotency-Key must be 1 to {LONGEST} printable ASCII characters");
            return Err(Problem::malformed(rule));
        }
        Ok(Self { key: key.to_owned(), digest: digest(body) })
    }
}

/// FNV-1a: tells bodies apart that a careless client sends under one key. It is no proof against a hostile one.
fn digest(body: &[u8]) -> u64 {
    body.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The answer to a request.
pub type Reply = Result<Vec<u8>, Problem>;

/// State of a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum State {
    Running,
    Answered(Reply),
    /// Answered, but the answers took too much room.
    Forgotten,
}

/// The last keys of a stream with their answers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Repeats {
    states: HashMap<String, (u64, State)>,
    /// All keys that were answered, and those whose answers are kept; the oldest first.
    order: VecDeque<String>,
    kept: VecDeque<String>,
    bytes: usize,
}

impl Repeats {
    /// The answer to a repeated request; none for a new key, which is running from now on.
    pub fn begin(&mut self, request: &RequestKey) -> Result<Option<Reply>, Problem> {
        match self.states.get(&request.key) {
            Some((digest, _)) if *digest != request.digest => {
                Err(Problem::conflict("the Idempotency-Key was used for a request with another body"))
            }
            Some((_, State::Running)) => {
                Err(Problem::busy("the first request with this Idempotency-Key is still running"))
            }
            Some((_, State::Answered(reply))) => Ok(Some(reply.clone())),
            Some((_, State::Forgotten)) => Err(Problem::conflict(
                "the rows were learned by an earlier request with this Idempotency-Key, whose answers are no longer kept",
            )),
            None => {
                self.states.insert(request.key.clone(), (request.digest, State::Running));
                Ok(None)
            }
        }
    }

    /// Forgets a request that failed before it was carried out.
    pub fn cancel(&mut self, request: &RequestKey) {
        if matches!(self.states.get(&request.key), Some((_, State::Running))) {
            self.states.remove(&request.key);
        }
    }

    /// Remembers the answer.
    pub fn end(&mut self, request: &RequestKey, reply: &Reply) {
        let size = |state: &State| if let State::Answered(Ok(bytes)) = state { bytes.len() } else { 0 };
        let answered = State::Answered(reply.clone());
        self.bytes += size(&answered);
        self.states.insert(request.key.clone(), (request.digest, answered));
        self.order.push_back(request.key.clone());
        self.kept.push_back(request.key.clone());
        if self.order.len() > KEYS
            && let Some(oldest) = self.order.pop_front()
            && let Some((_, state)) = self.states.remove(&oldest)
        {
            self.bytes -= size(&state);
        }
        while self.bytes > BYTES
            && let Some(key) = self.kept.pop_front()
        {
            if let Some((_, state)) = self.states.get_mut(&key).filter(|(_, state)| size(state) > 0) {
                self.bytes -= size(state);
                *state = State::Forgotten;
            }
        }
    }

    /// The same without requests that are running, to be saved.
    pub fn answered(&self) -> Self {
        let states = self.states.iter().filter(|(_, (_, state))| *state != State::Running);
        let states = states.map(|(key, state)| (key.clone(), state.clone())).collect();
        Self { states, order: self.order.clone(), kept: self.kept.clone(), bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &str, body: &[u8]) -> RequestKey {
        RequestKey::new(key, body).unwrap()
    }

    #[test]
    fn a_repeated_request_has_the_first_answer_and_another_body_is_refused() {
        let mut repeats = Repeats::default();
        let one = request("one", b"1");
        assert_eq!(repeats.begin(&one), Ok(None));
        assert_eq!(repeats.begin(&one).unwrap_err().status().as_u16(), 429);
        repeats.cancel(&one);
        assert_eq!(repeats.begin(&one), Ok(None));
        repeats.end(&one, &Ok(b"answer".to_vec()));
        repeats.cancel(&one);
        assert_eq!(repeats.answered().begin(&one), Ok(Some(Ok(b"answer".to_vec()))));
        assert_eq!(repeats.begin(&request("one", b"2")).unwrap_err().status().as_u16(), 409);
    }

    #[test]
    fn memory_is_bounded_and_a_key_outlives_its_answer() {
        let mut repeats = Repeats::default();
        for i in 0..=KEYS {
            let one = request(&format!("{i}"), b"");
            assert_eq!(repeats.begin(&one), Ok(None));
            repeats.end(&one, &Ok(vec![0; BYTES / 100]));
            assert!(repeats.bytes <= BYTES);
        }
        assert_eq!((repeats.states.len(), repeats.order.len()), (KEYS, KEYS));
        assert_eq!(repeats.begin(&request("0", b"")), Ok(None), "the oldest key is forgotten");
        assert_eq!(repeats.begin(&request("5", b"")).unwrap_err().status().as_u16(), 409);
    }
}
