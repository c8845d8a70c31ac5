//! Notices that wait to be sent. Replaying the log of a stream gives the same notices, so none is lost once its command
//! is durable. They are sent in order, each with doubling pauses until the receiver accepts or refuses it or [`GIVE_UP`]
//! has passed. A crash between the response and the commit sends one twice, with the same idempotency key. In quiet hours
//! and above the limit per hour, they are held back for the next notice or a digest.

use super::target::{Target, Transport};
use super::template::{Templates, Told};
use crate::lock;
use crate::service::log::{event, now};
use crate::service::notice_rules::Hook;
use crate::service::store::{Action, StoreQueue};
use eigenhedge_pages::monitor::Notice;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::thread;
use std::time::Duration;

const WAITING: usize = 1000;
/// Seconds: the first pause, which doubles each time, and the longest.
const PAUSES: (f64, f64) = (0.25, 300.0);
const GIVE_UP: f64 = 72.0 * 3600.0;
const BLINK: Duration = Duration::from_millis(100);
const COMMIT: Duration = Duration::from_secs(5);
const SENTENCES: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Id of the last notice that was sent, held back or dropped.
    pub upto: u64,
    pub sent: u64,
    pub dropped: u64,
    /// Held back since the last one sent. `held` has the first sentences.
    pub held_back: u64,
    held: Vec<String>,
    recent: VecDeque<f64>,
}

pub struct Line {
    stream: (u64, String),
    hook: Hook,
    target: Target,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sent: Sent,
    waiting: VecDeque<(f64, Notice)>,
    entered: u64,
    next_try: f64,
    pause: f64,
}

impl Line {
    /// `sent` is the stored state, which is empty for a new stream. Returns `None` if the URL is invalid.
    pub fn new(stream: (u64, String), hook: &Hook, sent: &[u8]) -> Option<Arc<Self>> {
        let sent: Sent = postcard::from_bytes(sent).unwrap_or_default();
        let state = State { entered: sent.upto, sent, pause: PAUSES.0, ..State::default() };
        let target = Target::from_text(&hook.url).ok()?;
        Some(Arc::new(Self { stream, hook: hook.clone(), target, state: Mutex::new(state) }))
    }

    pub fn entered(&self) -> u64 {
        lock(&self.state).entered
    }

    /// Returns the numbers of notices: sent, dropped, held since the last one, waiting.
    pub fn counts(&self) -> [u64; 4] {
        let state = lock(&self.state);
        [state.sent.sent, state.sent.dropped, state.sent.held_back, state.waiting.len() as u64]
    }

    fn is_open(&self, sent: &mut Sent, now: f64) -> bool {
        while sent.recent.front().is_some_and(|time| now - time >= 3600.0) {
            sent.recent.pop_front();
        }
        (sent.recent.len() as u64) < self.hook.per_hour && !self.hook.quiet.is_some_and(|quiet| quiet.contains(now))
    }

    fn drop_notices(&self, sent: &mut Sent, (id, count): (u64, u64), reason: &str) {
        sent.dropped += count;
        let (stream, host) = (&self.stream.1, self.target.authority());
        event(
            "notice_dropped",
            json!({ "stream": stream, "host": host, "notice": id, "count": count, "reason": reason }),
        );
    }

    fn push(&self, at: f64, notice: &Notice) {
        let mut state = lock(&self.state);
        if notice.id <= state.entered {
            return;
        }
        // A new notice ends the pause of waiting notices.
        (state.entered, state.next_try) = (notice.id, 0.0);
        if state.waiting.len() >= WAITING {
            return self.drop_notices(&mut state.sent, (notice.id, 1), "too many notices wait");
        }
        state.waiting.push_back((at, notice.clone()));
    }

    fn has_work(&self) -> bool {
        let state = lock(&self.state);
        !state.waiting.is_empty() || state.sent.held_back > 0
    }

    /// Sends, holds back or drops the next notice, if one is due. Returns the state if it has changed.
    fn work(&self, transport: &Transport, templates: &Templates) -> Option<Sent> {
        let now = now();
        let (first, sent) = {
            let mut state = lock(&self.state);
            let State { sent, waiting, next_try, .. } = &mut *state;
            if now < *next_try {
                return None;
            }
            let is_open = self.is_open(sent, now);
            match waiting.front() {
                Some((_, notice)) if !is_open => {
                    sent.held_back += 1;
                    if let Some(incident) = notice.incident.as_ref().filter(|_| sent.held.len() < SENTENCES) {
                        sent.held.push(format!("{}: {}", notice.kind, incident.sentence));
                    }
                    sent.upto = notice.id;
                    waiting.pop_front();
                    return Some(sent.clone());
                }
                None if !is_open || sent.held_back == 0 => return None,
                first => (first.cloned(), sent.clone()),
            }
        };
        let notice = first.as_ref().map(|(_, notice)| notice);
        let told = Told { stream: &self.stream.1, notice, held: &sent.held, held_back: sent.held_back };
        let id = notice.map_or_else(|| format!("{}-held", sent.upto), |notice| notice.id.to_string());
        let key = format!("{}-{}-{id}", self.stream.1, self.stream.0);
        let (kind, body) = templates.body(&self.hook.template, &told);
        let outcome = transport.send(&self.target, &key, (kind, &body));
        let mut state = lock(&self.state);
        let State { sent, waiting, next_try, pause, .. } = &mut *state;
        match outcome {
            Ok(200..300) => {
                sent.sent += 1;
                sent.recent.push_back(now);
                (sent.held_back, sent.held) = (0, Vec::new());
            }
            outcome => {
                let reason = outcome.as_ref().map_or_else(ToString::to_string, |status| format!("status {status}"));
                // These statuses refuse the body, so a retry would fail too.
                let is_refused = matches!(outcome, Ok(400 | 413 | 415 | 422));
                let is_old = first.as_ref().is_some_and(|(at, _)| now - at > GIVE_UP);
                if !is_refused && !is_old {
                    let host = self.target.authority();
                    event(
                        "notice_waits",
                        json!({ "stream": self.stream.1, "host": host, "pause": pause, "reason": reason }),
                    );
                    *next_try = now + *pause;
                    *pause = (2.0 * *pause).min(PAUSES.1);
                    return None;
                }
                // Without a notice, the body listed those held back.
                let count = match notice {
                    Some(_) => 1,
                    None => {
                        sent.held.clear();
                        std::mem::take(&mut sent.held_back)
                    }
                };
                self.drop_notices(sent, (notice.map_or(sent.upto, |notice| notice.id), count), &reason);
            }
        }
        if let Some(notice) = notice {
            sent.upto = notice.id;
            waiting.pop_front();
        }
        *pause = PAUSES.0;
        Some(sent.clone())
    }
}

pub struct Outbox {
    hosts: Vec<Arc<Host>>,
    pub templates: Arc<Templates>,
}

struct Host {
    name: String,
    lines: Mutex<Lines>,
    more: Condvar,
}

#[derive(Default)]
struct Lines {
    all: Vec<Weak<Line>>,
    has_ended: bool,
}

impl Outbox {
    pub fn start(hosts: &[String], transport: Transport, templates: Templates, queue: &StoreQueue) -> Self {
        let (transport, templates) = (Arc::new(transport), Arc::new(templates));
        let start = |name: &String| {
            let host = Arc::new(Host { name: name.clone(), lines: Mutex::default(), more: Condvar::new() });
            let (own, transport, templates) = (Arc::clone(&host), Arc::clone(&transport), Arc::clone(&templates));
            let queue = queue.clone();
            thread::spawn(move || own.run(&transport, &templates, &queue));
            host
        };
        Self { hosts: hosts.iter().map(start).collect(), templates }
    }

    fn host(&self, target: &Target) -> Option<&Arc<Host>> {
        self.hosts.iter().find(|host| host.name == target.authority())
    }

    pub fn allows(&self, target: &Target) -> bool {
        self.host(target).is_some()
    }

    /// If the address is not allowed, the notices wait.
    pub fn add(&self, line: &Arc<Line>) {
        self.host(&line.target).into_iter().for_each(|host| lock(&host.lines).all.push(Arc::downgrade(line)));
    }

    pub fn push<'a>(&self, line: &Line, notices: impl Iterator<Item = &'a (f64, Notice)>) {
        notices.for_each(|(at, notice)| line.push(*at, notice));
        self.host(&line.target).into_iter().for_each(|host| host.more.notify_one());
    }

    pub fn end(&self) {
        for host in &self.hosts {
            lock(&host.lines).has_ended = true;
            host.more.notify_one();
        }
    }
}

impl Host {
    fn run(&self, transport: &Transport, templates: &Templates, queue: &StoreQueue) {
        loop {
            let lines: Vec<Arc<Line>> = {
                let mut lines = lock(&self.lines);
                if lines.has_ended {
                    return;
                }
                lines.all.retain(|line| line.strong_count() > 0);
                let all = lines.all.iter().filter_map(Weak::upgrade).filter(|line| line.has_work());
                let found: Vec<Arc<Line>> = all.collect();
                if found.is_empty() {
                    // A notice may arrive just before this thread waits, so the wait is short.
                    drop(self.more.wait_timeout(lines, 10 * BLINK));
                    continue;
                }
                found
            };
            let mut is_idle = true;
            for line in &lines {
                if let Some(sent) = line.work(transport, templates) {
                    is_idle = false;
                    let bytes = postcard::to_stdvec(&sent).unwrap_or_default();
                    // Wait until the state is durable, so that a crash repeats at most one notice.
                    let (done, is_stored) = sync_channel(1);
                    let stored = queue.send(Action::Sent { id: line.stream.0, bytes }, move |_| _ = done.send(()));
                    let _ = stored.map(|()| is_stored.recv_timeout(COMMIT));
                }
            }
            if is_idle {
                thread::sleep(BLINK);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::notice_rules::QuietHours;

    #[test]
    fn the_limit_per_hour_and_quiet_hours_close_a_line() {
        let hook = |per_hour, quiet: Option<&str>| Hook {
            url: "http://relay/".into(),
            template: "json".into(),
            quiet: quiet.and_then(QuietHours::from_text),
            per_hour,
        };
        let line = Line::new((1, "s".into()), &hook(2, None), &[]).unwrap();
        let mut sent = Sent::default();
        let open: Vec<bool> = [0.0, 10.0, 20.0, 3599.0, 3600.0, 3605.0, 3610.0]
            .into_iter()
            .map(|now| {
                let is_open = line.is_open(&mut sent, now);
                sent.recent.extend(is_open.then_some(now));
                is_open
            })
            .collect();
        assert_eq!(open, [true, true, false, false, true, false, true]);
        let line = Line::new((1, "s".into()), &hook(2, Some("10:00-11:00")), &[]).unwrap();
        assert!(
            !line.is_open(&mut Sent::default(), 10.5 * 3600.0) && line.is_open(&mut Sent::default(), 12.0 * 3600.0)
        );
    }
}
