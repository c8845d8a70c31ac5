//! Requests with an `Idempotency-Key`. A repeated request has the same answer as the first.

use super::problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

const KEYS: usize = 10_000;
const BYTES: usize = 8 << 20;
/// Bytes of a stored key in memory, in addition to its characters.
const OF_KEY: usize = 256;
const LONGEST: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestKey {
    pub key: String,
    pub digest: u64,
}

impl RequestKey {
    pub fn new(key: &str, body: &[u8]) -> Result<Self, Problem> {
        if key.is_empty() || key.len() > LONGEST || !key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            let rule = format!("an Idempotency-Key must be 1 to {LONGEST} printable ASCII characters");
            return Err(Problem::malformed(rule));
        }
        Ok(Self { key: key.to_owned(), digest: digest(body) })
    }
}

fn digest(body: &[u8]) -> u64 {
    body.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

pub type Reply = Result<Vec<u8>, Problem>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum State {
    Answered(Reply),
    /// The answer was dropped to save memory.
    Forgotten,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Repeats {
    states: HashMap<String, (u64, State)>,
    order: VecDeque<String>,
    /// Number of oldest keys whose answers are no longer stored.
    forgotten: usize,
    bytes: usize,
}

fn size(key: &str, state: &State) -> usize {
    let answer = match state {
        State::Answered(Ok(bytes)) => bytes.len(),
        State::Answered(Err(problem)) => problem.detail.len(),
        State::Forgotten => 0,
    };
    OF_KEY + 2 * key.len() + answer
}

impl Repeats {
    /// Returns the answer to the first request with this key, or `None` for a new key. Requests are checked before they are
    /// logged, to save space, and when they are applied, because two may run at the same time. The second check decides.
    pub fn answer(&self, request: &RequestKey) -> Option<Reply> {
        let (digest, state) = self.states.get(&request.key)?;
        let conflict = |sentence: &str| Err(Problem::conflict(sentence));
        Some(match state {
            _ if *digest != request.digest => conflict("the Idempotency-Key was used for a request with another body"),
            State::Answered(reply) => reply.clone(),
            State::Forgotten => conflict(
                "the rows were learned by an earlier request with this Idempotency-Key, whose answers are no longer kept",
            ),
        })
    }

    pub fn end(&mut self, request: &RequestKey, reply: &Reply) {
        let answered = State::Answered(reply.clone());
        self.bytes += size(&request.key, &answered);
        self.states.insert(request.key.clone(), (request.digest, answered));
        self.order.push_back(request.key.clone());
        while self.bytes > BYTES
            && let Some(key) = self.order.get(self.forgotten)
            && let Some((_, state)) = self.states.get_mut(key)
        {
            self.bytes -= size(key, state);
            *state = State::Forgotten;
            self.bytes += size(key, state);
            self.forgotten += 1;
        }
        while self.order.len() > KEYS
            && let Some(oldest) = self.order.pop_front()
            && let Some((_, state)) = self.states.remove(&oldest)
        {
            self.bytes -= size(&oldest, &state);
            self.forgotten = self.forgotten.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &str, body: &[u8]) -> RequestKey {
        RequestKey::new(key, body).unwrap()
    }

    fn status(repeats: &Repeats, request: &RequestKey) -> u16 {
        repeats.answer(request).unwrap().unwrap_err().status().as_u16()
    }

    #[test]
    fn a_repeated_request_has_the_first_answer_and_another_body_is_refused() {
        let mut repeats = Repeats::default();
        let one = request("one", b"1");
        assert_eq!(repeats.answer(&one), None);
        repeats.end(&one, &Ok(b"answer".to_vec()));
        assert_eq!(repeats.answer(&one), Some(Ok(b"answer".to_vec())));
        assert_eq!(status(&repeats, &request("one", b"2")), 409);
    }

    #[test]
    fn memory_is_bounded_and_a_key_outlives_its_answer() {
        for (i, answer) in [vec![0; BYTES / 100], vec![0; 40], Vec::new()].into_iter().enumerate() {
            let mut repeats = Repeats::default();
            let (_, bytes) = crate::service::memory::measured(|| {
                for i in 0..2 * KEYS {
                    let one = request(&format!("{i}"), b"");
                    assert_eq!(repeats.answer(&one), None);
                    repeats.end(&one, &Ok(answer.clone()));
                    assert!(repeats.bytes <= BYTES);
                }
            });
            assert!(bytes <= BYTES as i64, "{bytes} bytes with answers of {}", answer.len());
            assert_eq!((repeats.states.len(), repeats.order.len()), (KEYS, KEYS));
            assert_eq!(repeats.answer(&request("0", b"")), None, "the oldest key is forgotten");
            let late = request(&format!("{}", KEYS + 5), b"");
            match i {
                0 => assert_eq!(status(&repeats, &late), 409),
                _ => assert_eq!(repeats.answer(&late), Some(Ok(answer))),
            }
        }
    }
}
