//! Events of a stream: notices, and points, which summarize the rows since the last point.

use super::engine::{Engine, Notices, Outcome};
use super::order::Order;
use crate::lock;
use eigenhedge_pages::monitor::Notice;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::broadcast::{Receiver, Sender, channel};

const BEHIND: usize = 256;
const POINTS: usize = 512;
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq)]
pub struct FeedEvent {
    /// `None` for a point. Points are not sent again after a reconnect.
    pub id: Option<u64>,
    pub kind: &'static str,
    pub data: Arc<str>,
}

impl FeedEvent {
    fn notice(notice: &Notice) -> Self {
        let data = serde_json::to_string(notice).unwrap_or_default();
        Self { id: Some(notice.id), kind: "notice", data: data.into() }
    }
}

#[derive(Default)]
pub struct Feed(Mutex<State>);

#[derive(Default)]
struct State {
    sender: Option<Sender<FeedEvent>>,
    is_closed: bool,
    notices: VecDeque<FeedEvent>,
    points: VecDeque<FeedEvent>,
    last_point: Option<Instant>,
    rows: u64,
    loss: f64,
    alarms: u64,
}

fn push(events: &mut VecDeque<FeedEvent>, event: FeedEvent, most: usize) {
    events.push_back(event);
    if events.len() > most {
        events.pop_front();
    }
}

impl Feed {
    pub fn restore(&self, engine: &Engine) {
        let mut state = lock(&self.0);
        state.notices = engine.notices.after(0).map(FeedEvent::notice).collect();
    }

    pub fn publish(&self, engine: &Engine, before: u64, order: &Order, outcome: &Outcome) {
        let mut state = lock(&self.0);
        for notice in engine.notices.after(before) {
            let event = FeedEvent::notice(notice);
            push(&mut state.notices, event.clone(), 2 * Notices::REMEMBERED);
            state.send(event);
        }
        if !matches!(order, Order::Rows(_)) {
            return;
        }
        state.rows += outcome.learned;
        state.loss += outcome.loss;
        state.alarms += outcome.alarms;
        if state.rows > 0 && state.last_point.is_none_or(|last| last.elapsed() >= PAUSE) {
            state.last_point = Some(Instant::now());
            let point = json!({
                "row": engine.counts.rows,
                "rows": state.rows,
                "loss": state.loss / state.rows as f64,
                "alarms": state.alarms,
                "score": outcome.score,
            });
            (state.rows, state.loss, state.alarms) = (0, 0.0, 0);
            let event = FeedEvent { id: None, kind: "point", data: point.to_string().into() };
            push(&mut state.points, event.clone(), POINTS);
            state.send(event);
        }
    }

    /// Returns the stored notices after an id, or all stored events, and a receiver of later ones.
    pub fn listen(&self, after: Option<u64>) -> Option<(Vec<FeedEvent>, Receiver<FeedEvent>)> {
        let mut state = lock(&self.0);
        if state.is_closed {
            return None;
        }
        let receiver = state.sender.get_or_insert_with(|| channel(BEHIND).0).subscribe();
        let missed = state.notices.iter().filter(|event| event.id > after.or(Some(0)));
        let before = if after.is_none() {
            state.points.iter().chain(missed).cloned().collect()
        } else {
            missed.cloned().collect()
        };
        Some((before, receiver))
    }

    /// Frees notices and points if there are no listeners. [`Self::restore`] reloads notices.
    pub fn rest(&self) {
        let mut state = lock(&self.0);
        if state.sender.as_ref().is_none_or(|sender| sender.receiver_count() == 0) {
            (state.sender, state.notices, state.points) = (None, VecDeque::new(), VecDeque::new());
        }
    }

    pub fn close(&self) {
        let mut state = lock(&self.0);
        (state.sender, state.is_closed) = (None, true);
    }
}

impl State {
    fn send(&self, event: FeedEvent) {
        self.sender.iter().for_each(|sender| _ = sender.send(event.clone()));
    }
}
