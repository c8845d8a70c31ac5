//! Monitors and models for JavaScript, as plain exports of a WebAssembly module.
//!
//! The caller writes an input to the address that [`input`] returns, calls an export with the number of an object, and
//! reads the result at [`output`]. The export returns 0, or 1 if the result is an error message. Numbers are
//! little-endian float64; everything else is JSON or text. wasm-bindgen would add a build tool and generated code for
//! some twenty exports.

#![allow(missing_docs)]

mod compare;
mod fleet;
mod learners;
mod open;
mod options;
mod reply;
mod run;
mod table;
mod watch;

use eigenhedge::{Fleet, Model, Monitor, SavedKind};
use eigenhedge_io::fleet_of_bytes;
use fleet::Group;
use learners::{Learner, Watcher};
use reply::{Reply, bytes, read};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::Arc;
use table::Table;

enum Object {
    Table(Box<dyn Table>),
    Monitor(Box<Watcher>),
    Model(Box<Learner>),
    Fleet(Box<Group>),
}

#[derive(Default)]
struct Module {
    input: Vec<u8>,
    output: Vec<u8>,
    files: Vec<(Arc<str>, Arc<[u8]>)>,
    objects: Vec<Option<Object>>,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

macro_rules! with_object {
    ($($name:ident: $kind:ident($object:ty)),*) => { $(
        fn $name(&mut self, number: u32, work: impl FnOnce(&mut $object, &[u8]) -> Reply) -> Reply {
            match self.objects.get_mut(number as usize) {
                Some(Some(Object::$kind(object))) => work(&mut **object, &self.input),
                _ => Err(concat!("there is no such ", stringify!($name)).into()),
            }
        }
    )* };
}

impl Module {
    fn add(&mut self, object: Object) -> u32 {
        self.objects.push(Some(object));
        self.objects.len() as u32 - 1
    }

    fn json(&self) -> Result<Value, String> {
        serde_json::from_slice(&self.input).map_err(|error| error.to_string())
    }

    with_object! { table: Table(dyn Table), monitor: Monitor(Watcher), model: Model(Learner), fleet: Fleet(Group) }

    fn added(&mut self, object: Object) -> Vec<u8> {
        let kind = match &object {
            Object::Table(_) => "table",
            Object::Monitor(_) => "monitor",
            Object::Model(_) => "model",
            Object::Fleet(_) => "fleet",
        };
        bytes(&json!({ "kind": kind, "object": self.add(object) }))
    }

    fn fleet_of(&mut self, number: u32) -> Reply {
        let fleet = match self.objects.get(number as usize) {
            Some(Some(Object::Monitor(monitor))) => {
                Group::of_monitors(read(Fleet::of_monitors(monitor.monitor.clone()))?)
            }
            Some(Some(Object::Model(model))) => Group::of_models(read(Fleet::new(model.0.clone()))?),
            _ => return Err("a fleet needs a monitor or the options of a model".into()),
        };
        Ok(self.added(Object::Fleet(Box::new(fleet))))
    }

    fn load(&mut self) -> Reply {
        let kind = SavedKind::of(&self.input).map_err(|refusal| refusal.to_string())?;
        let fleet = |group| Object::Fleet(Box::new(group));
        let object = match kind {
            SavedKind::Model => Object::Model(Box::new(Learner(read(Model::from_bytes(&self.input))?))),
            SavedKind::Models => fleet(Group::of_models(fleet_of_bytes(self.input.clone())?)),
            SavedKind::Monitors => fleet(Group::of_monitors(fleet_of_bytes(self.input.clone())?)),
            _ => Object::Monitor(Box::new(Watcher::new(read(Monitor::from_bytes(&self.input))?))),
        };
        Ok(self.added(object))
    }
}

#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn input(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.input.clear();
        module.input.resize(length, 0);
        module.input.as_mut_ptr()
    })
}

#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn output() -> *const u8 {
    MODULE.with_borrow(|module| module.output.as_ptr())
}

#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn output_length() -> usize {
    MODULE.with_borrow(|module| module.output.len())
}

/// The input is the name. Returns the address for the bytes, or null without memory.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn add_file(size: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        if Vec::<u8>::new().try_reserve_exact(size).is_err() {
            return std::ptr::null_mut();
        }
        let name = String::from_utf8_lossy(&module.input).into();
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, size).collect();
        let place = Arc::get_mut(&mut bytes).map_or(std::ptr::null_mut(), |bytes| bytes.as_mut_ptr());
        module.files.push((name, bytes));
        place
    })
}

/// Objects that read files keep their own reference.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn clear_files() {
    MODULE.with_borrow_mut(|module| module.files.clear());
}

#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn remove(number: u32) {
    MODULE.with_borrow_mut(|module| module.objects.get_mut(number as usize).map(Option::take));
}

macro_rules! exports {
    ($($(#[$doc:meta])* $name:ident = $work:expr;)*) => { $(
        $(#[$doc])*
        #[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
        pub extern "C" fn $name(number: u32) -> u32 {
            let work: fn(&mut Module, u32) -> Reply = $work;
            MODULE.with_borrow_mut(|module| {
                let reply = work(module, number);
                let is_error = reply.is_err();
                module.output = reply.unwrap_or_else(String::into_bytes);
                is_error.into()
            })
        }
    )* };
}

exports! {
    /// The input is a JSON array of the task and its options by name.
    table_open = |module, _| {
        let (task, options): (String, Value) = read(serde_json::from_slice(&module.input))?;
        let table = open::open(&module.files, &task, &options)?;
        let (description, object) = (table.description(), module.add(Object::Table(table)));
        Ok(bytes(&json!({ "object": object, "table": description })))
    };
    /// The input is the number of rows, about.
    table_step = |module, number| module.table(number, table::step);
    table_result = |module, number| module.table(number, |table, name| table::result(table, &String::from_utf8_lossy(name)));
    monitor_new = |module, _| {
        let monitor = Watcher::create(&module.json()?)?;
        Ok(module.added(Object::Monitor(Box::new(monitor))))
    };
    monitor_update = |module, number| module.monitor(number, Watcher::update);
    /// Ends the warm-up if there are enough rows.
    monitor_fit = |module, number| module.monitor(number, Watcher::fit);
    monitor_state = |module, number| module.monitor(number, |monitor, _| Ok(bytes(&monitor.state())));
    monitor_report = |module, number| module.monitor(number, Watcher::report);
    monitor_save = |module, number| module.monitor(number, |monitor, _| monitor.save());
    model_new = |module, _| {
        let model = Learner::create(&module.json()?)?;
        Ok(module.added(Object::Model(Box::new(model))))
    };
    model_update = |module, number| module.model(number, Learner::update);
    model_transform = |module, number| module.model(number, Learner::transform);
    model_components = |module, number| module.model(number, |model, _| model.components());
    model_state = |module, number| module.model(number, |model, _| Ok(bytes(&model.state())));
    model_save = |module, number| module.model(number, |model, _| read(model.0.to_bytes()));
    monitor_fleet = |module, number| module.fleet_of(number);
    model_fleet = |module, number| module.fleet_of(number);
    fleet_update = |module, number| module.fleet(number, Group::update);
    fleet_state = |module, number| module.fleet(number, |fleet, _| Ok(bytes(&fleet.state())));
    /// Adds a copy of the member whose key is the input. Returns null for an unknown key.
    fleet_get = |module, number| {
        let mut found = None;
        module.fleet(number, |fleet, key| {
            found = fleet.get(key)?;
            Ok(Vec::new())
        })?;
        Ok(found.map_or_else(|| bytes(&Value::Null), |object| module.added(object)))
    };
    fleet_report = |module, number| module.fleet(number, Group::report);
    fleet_save = |module, number| module.fleet(number, |fleet, _| fleet.save());
    load = |module, _| module.load();
}
