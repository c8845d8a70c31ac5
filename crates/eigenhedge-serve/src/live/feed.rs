//! Newest state of a page, and the browsers that show it. A new browser receives all parts, and later only changed
//! ones. Parts inside a section are sent only to browsers in which the section is open.

use super::sse::{Event, Source};
use crate::lock;
use eigenhedge_pages::page::live::Part;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

pub const WATCHERS: usize = 64;
pub const OPEN: usize = 16;
const NAME: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageState {
    pub title: String,
    /// Color of the status light: `running`, `waiting` or `ended`.
    pub state: String,
    pub note: String,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone)]
pub struct Feed(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Prefix of event ids, so that ids of an earlier process do not match.
    run: String,
    states: watch::Sender<(u64, Arc<PageState>)>,
    interest: Mutex<Interest>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Interest {
    watchers: usize,
    open: BTreeMap<String, usize>,
    version: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Watch {
    pub is_watched: bool,
    pub open: BTreeSet<String>,
    /// Increases when a browser connects, because it needs a page even if no data have changed.
    pub version: u64,
}

impl Default for Feed {
    fn default() -> Self {
        let run = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self(Arc::new(Inner {
            run: format!("{run:x}"),
            states: watch::Sender::new((0, Arc::default())),
            interest: Mutex::default(),
            changed: Condvar::new(),
        }))
    }
}

impl Feed {
    pub fn publish(&self, state: PageState) {
        self.0.states.send_modify(|newest| *newest = (newest.0 + 1, Arc::new(state)));
    }

    pub fn wanted(&self) -> Watch {
        lock(&self.0.interest).wanted()
    }

    /// Waits at most `time` until the version exceeds `seen`.
    pub fn wait(&self, seen: u64, time: Duration) -> Watch {
        let interest = lock(&self.0.interest);
        let waited = self.0.changed.wait_timeout_while(interest, time, |interest| interest.version <= seen);
        waited.unwrap_or_else(PoisonError::into_inner).0.wanted()
    }

    pub fn wake(&self) {
        lock(&self.0.interest).version += 1;
        self.0.changed.notify_all();
    }

    /// Subscribes a browser. If `last_seen` had the newest state and no section is open, the state is not sent again.
    pub fn subscribe(&self, last_seen: Option<&str>, open: impl IntoIterator<Item = String>) -> Option<Subscription> {
        let open: BTreeSet<String> = open.into_iter().filter(|place| place.len() <= NAME).take(OPEN).collect();
        let mut interest = lock(&self.0.interest);
        if interest.watchers >= WATCHERS {
            return None;
        }
        interest.watchers += 1;
        interest.version += 1;
        open.iter().for_each(|place| *interest.open.entry(place.clone()).or_default() += 1);
        drop(interest);
        self.0.changed.notify_all();
        let mut states = self.0.states.subscribe();
        let (number, newest) = states.borrow_and_update().clone();
        let has_newest = last_seen == Some(self.id(number).as_str()) && open.is_empty();
        if number > 0 && !has_newest {
            states.mark_changed();
        }
        Some(Subscription { feed: self.clone(), states, open, sent: has_newest.then_some(newest) })
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.0.run)
    }
}

impl Interest {
    fn wanted(&self) -> Watch {
        Watch { is_watched: self.watchers > 0, open: self.open.keys().cloned().collect(), version: self.version }
    }
}

#[derive(Debug)]
pub struct Subscription {
    feed: Feed,
    states: watch::Receiver<(u64, Arc<PageState>)>,
    open: BTreeSet<String>,
    sent: Option<Arc<PageState>>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut interest = lock(&self.feed.0.interest);
        interest.watchers -= 1;
        for place in &self.open {
            if let Some(count) = interest.open.get_mut(place) {
                *count -= 1;
            }
        }
        interest.open.retain(|_, count| *count > 0);
    }
}

impl Source for Subscription {
    async fn next(&mut self) -> Option<Event> {
        self.states.changed().await.ok()?;
        let (number, state) = self.states.borrow_and_update().clone();
        let data = self.message(&state);
        self.sent = Some(state);
        Some(Event { id: self.feed.id(number), name: "page", data })
    }
}

impl Subscription {
    fn message(&self, state: &PageState) -> String {
        let before: BTreeMap<&str, &str> = match &self.sent {
            Some(sent) => sent.parts.iter().map(|part| (part.key.as_str(), part.json.as_str())).collect(),
            None => BTreeMap::new(),
        };
        let shown = || state.parts.iter().filter(|part| part.within.is_empty() || self.open.contains(&part.within));
        let changed = shown().filter(|part| before.get(part.key.as_str()) != Some(&part.json.as_str()));
        let order: Vec<(&str, &str)> = shown().map(|part| (part.key.as_str(), part.within.as_str())).collect();
        let parts: Vec<String> = changed.map(|part| format!("{}:{}", json!(part.key), part.json)).collect();
        format!(
            "{{\"title\":{},\"state\":{},\"note\":{},\"order\":{},\"parts\":{{{}}}}}",
            json!(state.title),
            json!(state.state),
            json!(state.note),
            json!(order),
            parts.join(",")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn state(parts: &[(&str, &str, &str)]) -> PageState {
        let part = |&(key, within, html): &(&str, &str, &str)| Part {
            key: key.into(),
            within: within.into(),
            json: json!({ "html": html, "charts": [] }).to_string(),
        };
        PageState { title: "t".into(), parts: parts.iter().map(part).collect(), ..PageState::default() }
    }

    fn open(places: &[&str]) -> Vec<String> {
        places.iter().map(ToString::to_string).collect()
    }

    async fn next(subscription: &mut Subscription) -> (String, Value) {
        let next = tokio::time::timeout(Duration::from_secs(5), subscription.next()).await;
        let event = next.expect("an event comes").expect("the feed goes on");
        (event.id, serde_json::from_str(&event.data).expect("an event is JSON"))
    }

    async fn is_quiet(subscription: &mut Subscription) -> bool {
        tokio::time::timeout(Duration::from_millis(50), subscription.next()).await.is_err()
    }

    fn keys(message: &Value) -> Vec<String> {
        message["parts"].as_object().unwrap().keys().cloned().collect()
    }

    #[tokio::test]
    async fn a_browser_gets_all_parts_and_then_those_that_change() {
        let feed = Feed::default();
        let mut subscription = feed.subscribe(None, []).unwrap();
        assert!(is_quiet(&mut subscription).await);
        feed.publish(state(&[("a", "", "1"), ("b", "", "1")]));
        assert_eq!(keys(&next(&mut subscription).await.1), ["a", "b"]);
        // Unread states are skipped. A removed part is no longer in the order.
        feed.publish(state(&[("a", "", "2"), ("b", "", "2")]));
        feed.publish(state(&[("b", "", "1"), ("c", "", "3")]));
        let (_, message) = next(&mut subscription).await;
        assert_eq!(keys(&message), ["c"]);
        assert_eq!(message["order"], json!([["b", ""], ["c", ""]]));
        assert!(is_quiet(&mut subscription).await);
    }

    #[tokio::test]
    async fn a_browser_that_comes_back_gets_nothing_twice() {
        let feed = Feed::default();
        feed.publish(state(&[("a", "", "1")]));
        let (id, _) = next(&mut feed.subscribe(None, []).unwrap()).await;
        let mut back = feed.subscribe(Some(&id), []).unwrap();
        assert!(is_quiet(&mut back).await);
        feed.publish(state(&[("a", "", "1"), ("b", "", "1")]));
        assert_eq!(keys(&next(&mut back).await.1), ["b"]);
        // All parts are sent for the id of an earlier state or of another process.
        for id in [id.as_str(), "", "x-2"] {
            assert_eq!(keys(&next(&mut feed.subscribe(Some(id), []).unwrap()).await.1), ["a", "b"], "{id}");
        }
    }

    #[tokio::test]
    async fn what_is_inside_a_section_goes_to_those_who_opened_it() {
        let feed = Feed::default();
        assert_eq!(feed.wanted(), Watch::default());
        let (mut closed, mut opened) = (feed.subscribe(None, []).unwrap(), feed.subscribe(None, open(&["k"])).unwrap());
        assert_eq!(feed.wanted(), Watch { is_watched: true, open: open(&["k"]).into_iter().collect(), version: 2 });
        feed.publish(state(&[("a", "", "1"), ("in", "k", "1")]));
        assert_eq!(keys(&next(&mut closed).await.1), ["a"]);
        assert_eq!(keys(&next(&mut opened).await.1), ["a", "in"]);
        drop((closed, opened));
        assert_eq!(feed.wanted(), Watch { version: 2, ..Watch::default() });
    }

    #[test]
    fn browsers_and_what_they_ask_for_are_bounded() {
        let feed = Feed::default();
        let many = |i: usize| (0..1000).map(move |j| format!("{i} {j}"));
        let all: Vec<_> = (0..WATCHERS).map(|i| feed.subscribe(None, many(i)).unwrap()).collect();
        assert!(feed.subscribe(None, []).is_none());
        assert_eq!(feed.wanted().open.len(), WATCHERS * OPEN);
        drop(all);
        let long = feed.subscribe(None, ["x".repeat(NAME + 1)]).unwrap();
        assert!(feed.wanted().open.is_empty() && long.open.is_empty());
    }

    #[test]
    fn the_maker_of_a_page_hears_of_those_who_come() {
        let feed = Feed::default();
        assert_eq!(feed.wait(0, Duration::from_millis(10)).version, 0);
        let other = feed.clone();
        let came = std::thread::spawn(move || other.wait(0, Duration::from_secs(60)));
        let _subscription = feed.subscribe(None, []).unwrap();
        assert!(came.join().unwrap().is_watched);
    }
}
