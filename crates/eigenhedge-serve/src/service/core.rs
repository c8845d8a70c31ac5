//! Streams of a service, by name.

use super::engine::Places;
use super::fields::check_name;
use super::log::now;
use super::memory::Memory;
use super::notify::{Outbox, Target, Templates, Transport};
use super::options::StreamOptions;
use super::pool::Pool;
use super::problem::Problem;
use super::settings::Settings;
use super::store::{Action, Store, StoreQueue};
use super::stream::{Handle, Shared};
use super::try_page::TryPage;
use crate::lock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub struct Core {
    pub settings: Settings,
    pub try_page: Option<TryPage>,
    pub shared: Arc<Shared>,
    /// Changed by the writer of the store, once a change is durable.
    streams: Mutex<BTreeMap<String, Arc<Handle>>>,
    pub memory: Memory,
    writer: Mutex<Option<JoinHandle<()>>>,
    start: f64,
    is_starting: AtomicBool,
}

impl Core {
    pub fn open(settings: Settings) -> Result<Arc<Self>, String> {
        let (transport, templates) =
            (Transport::new(&settings.webhooks)?, Templates::read(&settings.webhooks.templates)?);
        let try_page = settings.try_page.as_deref().map(TryPage::read).transpose()?;
        let memory = Memory::new(settings.max_memory);
        let cache = usize::try_from(memory.cache()).unwrap_or(usize::MAX);
        let store = Arc::new(Store::open(&settings.store, cache)?);
        let described = store.streams()?;
        let (queue, writer) = StoreQueue::start(Arc::clone(&store), &described)?;
        let places = Places { folder: store.folder.to_owned(), fleet_bytes: memory.of_stream() / 2 };
        let threads = thread::available_parallelism().map_or(2, usize::from);
        let outbox = Outbox::start(&settings.webhooks.hosts, transport, templates, &queue);
        let shared = Arc::new(Shared {
            store,
            queue,
            pool: Pool::start(threads),
            places,
            outbox,
            memory: memory.clone(),
            loaded: Mutex::default(),
            clock: AtomicU64::new(0),
            large: Mutex::default(),
            trial: Mutex::default(),
        });
        let core = Arc::new(Self {
            settings,
            try_page,
            shared,
            streams: Mutex::default(),
            memory,
            writer: Mutex::new(Some(writer)),
            start: now(),
            is_starting: AtomicBool::new(true),
        });
        let mut problems = Vec::new();
        for one in described {
            let given = serde_json::from_slice(&one.options).map_err(|error| format!("they are damaged: {error}"));
            match given.and_then(|given: Value| StreamOptions::new(&given).map_err(|problem| problem.detail)) {
                Err(reason) => problems.push(format!("the options of the stream {}: {reason}", one.name)),
                Ok(options) => {
                    let shared = Arc::clone(&core.shared);
                    let handle = Handle::open(one.id, one.name.clone(), Arc::new(options), &one.sent, shared);
                    lock(&core.streams).insert(one.name, handle);
                }
            }
        }
        if problems.is_empty() { Ok(core) } else { Err(problems.join("\n")) }
    }

    pub fn find(&self, name: &str) -> Result<Arc<Handle>, Problem> {
        check_name(name)?;
        lock(&self.streams).get(name).cloned().ok_or_else(|| Problem::no_stream(name))
    }

    pub fn all(&self) -> Vec<Arc<Handle>> {
        lock(&self.streams).values().cloned().collect()
    }

    /// Creates a stream, or returns an existing one with equal options. The flag is true for a new one.
    pub async fn create(self: &Arc<Self>, name: &str, options: StreamOptions) -> Result<(Arc<Handle>, bool), Problem> {
        check_name(name)?;
        self.check_webhook(&options)?;
        if let Ok(found) = self.find(name) {
            return found.same(&options).map(|()| (found, false));
        }
        let given = Value::Object(options.given.clone()).to_string().into_bytes();
        let action = Action::Create { name: name.to_owned(), options: given, most: self.settings.max_streams };
        let (core, name) = (Arc::clone(self), name.to_owned());
        let insert = move |id| match core.find(&name) {
            Ok(found) => found.same(&options).map(|()| (found, false)),
            Err(_) => {
                let handle = Handle::open(id, name, Arc::new(options), &[], Arc::clone(&core.shared));
                handle.load_soon();
                lock(&core.streams).insert(handle.name.clone(), Arc::clone(&handle));
                Ok((handle, true))
            }
        };
        self.shared.queue.change(action, insert).await
    }

    pub async fn delete(self: &Arc<Self>, name: &str) -> Result<(), Problem> {
        let handle = self.find(name)?;
        let core = Arc::clone(self);
        let action = Action::Delete { name: name.to_owned(), id: handle.id };
        let remove = move |_| {
            handle.delete();
            lock(&core.streams).remove(&handle.name);
            Ok(())
        };
        self.shared.queue.change(action, remove).await
    }

    fn check_webhook(&self, options: &StreamOptions) -> Result<(), Problem> {
        let Some(hook) = &options.rules.hook else { return Ok(()) };
        let (target, outbox) = (Target::from_text(&hook.url)?, &self.shared.outbox);
        if !outbox.allows(&target) {
            let sentence = format!("webhook must be on the list of --webhook-host, got {}", target.authority());
            return Err(Problem::unsound(sentence));
        }
        let names = outbox.templates.names();
        if !names.contains(&hook.template.as_str()) {
            let (names, found) = (names.join(", "), &hook.template);
            return Err(Problem::unsound(format!("template must be one of {names}, got {found:?}")));
        }
        Ok(())
    }

    pub async fn load_all(&self) {
        for handle in self.all() {
            let _ = handle.load().await;
        }
        self.is_starting.store(false, Ordering::Release);
    }

    pub fn is_starting(&self) -> bool {
        self.is_starting.load(Ordering::Acquire)
    }

    pub async fn look_for_silence(&self) {
        for handle in self.all() {
            handle.look_for_silence(self.start).await;
        }
    }

    /// Returns the error of the first stream that could not be loaded, and tries it again.
    pub fn check_ready(&self) -> Result<(), Problem> {
        self.all().iter().try_for_each(|handle| {
            if !handle.seen().was_loaded {
                return Err(Problem::unavailable("streams are being read from the store"));
            }
            handle.check_loaded().inspect_err(|_| handle.load_soon())
        })
    }

    pub async fn save_all(&self, time: Duration) {
        let all = self.all();
        let saved = async {
            for handle in &all {
                handle.save().await;
            }
        };
        let _ = tokio::time::timeout(time, saved).await;
    }

    pub async fn close(self: Arc<Self>) {
        self.shared.outbox.end();
        self.shared.queue.close().await;
        let writer = lock(&self.writer).take();
        writer.into_iter().for_each(|writer| _ = writer.join());
        self.shared.pool.end();
        lock(&self.streams).clear();
    }
}
