//! Monitors and models for JavaScript, as plain exports of a WebAssembly module.
//!
//! A call has at most one object and one input, and returns bytes. The caller writes the input to
//! the address that [`input`] returns, calls an export with the number of the object, and reads the
//! result at [`output`]. The export returns 0, or 1 if the result is an error message. Numbers are
//! float64 in little-endian order. Everything else is JSON or text.
//!
//! wasm-bindgen would add a build tool and generated code for some twenty similar exports.

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

/// Object to which a caller refers by its number.
enum Object {
    Table(Box<dyn Table>),
    Monitor(Box<Watcher>),
    Model(Box<Learner>),
    Fleet(Box<Group>),
}

/// Files, objects, and the bytes of the current input and output.
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

/// Defines a method for each kind of object. It calls `work` with the object of this number and the input.
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

    /// Adds an object. Returns its kind and its number as JSON.
    fn added(&mut self, object: Object) -> Vec<u8> {
        let kind = match &object {
            Object::Table(_) => "table",
            Object::Monitor(_) => "monitor",
            Object::Model(_) => "model",
            Object::Fleet(_) => "fleet",
        };
        bytes(&json!({ "kind": kind, "object": self.add(object) }))
    }

    /// Creates a fleet whose members start as copies of the model or monitor with this number.
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

    /// Loads a saved model, monitor or fleet. Returns its kind and its number as JSON.
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

/// Allocates an input of `length` bytes. Returns its address.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn input(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.input.clear();
        module.input.resize(length, 0);
        module.input.as_mut_ptr()
    })
}

/// Returns the address of the result of the last call.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn output() -> *const u8 {
    MODULE.with_borrow(|module| module.output.as_ptr())
}

/// Returns the length in bytes of the result of the last call.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn output_length() -> usize {
    MODULE.with_borrow(|module| module.output.len())
}

/// Adds a file with the input as its name. Returns the address for its bytes, or null without memory.
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

/// Removes all files. Objects that read them keep their own reference.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn clear_files() {
    MODULE.with_borrow_mut(|module| module.files.clear());
}

/// Removes the object with this number, if it exists.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn remove(number: u32) {
    MODULE.with_borrow_mut(|module| module.objects.get_mut(number as usize).map(Option::take));
}

/// Defines exports with one signature. The argument is the number of an object, or ignored. The
/// export returns 0, or 1 for an error.
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
    /// Opens the files as one table. The input is a JSON array of the task and its options by name.
    /// The result has the number of the table and how the table is read.
    table_open = |module, _| {
        let (task, options): (String, Value) = read(serde_json::from_slice(&module.input))?;
        let table = open::open(&module.files, &task, &options)?;
        let (description, object) = (table.description(), module.add(Object::Table(table)));
        Ok(bytes(&json!({ "object": object, "table": description })))
    };
    /// Reads about as many rows as the input states. The result is the progress. After the last
    /// row, it also has the names of the results.
    table_step = |module, number| module.table(number, table::step);
    /// Returns the result of a table whose name is the input.
    table_result = |module, number| module.table(number, |table, name| table::result(table, &String::from_utf8_lossy(name)));
    /// Creates a monitor from `dim`, `names` and options by name.
    monitor_new = |module, _| {
        let monitor = Watcher::create(&module.json()?)?;
        Ok(module.added(Object::Monitor(Box::new(monitor))))
    };
    /// Scores rows and learns from them. Returns the columns score, limit, alarm and incident.
    monitor_update = |module, number| module.monitor(number, Watcher::update);
    /// Adds rows to the warm-up, and ends the warm-up if there are enough.
    monitor_fit = |module, number| module.monitor(number, Watcher::fit);
    /// Returns the state of a monitor, such as its rows and incidents.
    monitor_state = |module, number| module.monitor(number, |monitor, _| Ok(bytes(&monitor.state())));
    /// Returns the page of a monitor. The input is its title.
    monitor_report = |module, number| module.monitor(number, Watcher::report);
    /// Returns a monitor as the bytes of a file.
    monitor_save = |module, number| module.monitor(number, |monitor, _| monitor.save());
    /// Creates a model from `dim`, `k`, `learner` and options by name.
    model_new = |module, _| {
        let model = Learner::create(&module.json()?)?;
        Ok(module.added(Object::Model(Box::new(model))))
    };
    /// Learns rows. Returns the columns expected loss and loss.
    model_update = |module, number| module.model(number, Learner::update);
    /// Returns the coordinates of rows, k numbers per row.
    model_transform = |module, number| module.model(number, Learner::transform);
    /// Returns the directions of a model, one after the other.
    model_components = |module, number| module.model(number, |model, _| model.components());
    /// Returns the state of a model, such as its rows and columns.
    model_state = |module, number| module.model(number, |model, _| Ok(bytes(&model.state())));
    /// Returns a model as the bytes of a file.
    model_save = |module, number| module.model(number, |model, _| read(model.0.to_bytes()));
    /// Creates a fleet in which every key starts with a copy of a monitor.
    monitor_fleet = |module, number| module.fleet_of(number);
    /// Creates a fleet in which every key starts with a copy of a model.
    model_fleet = |module, number| module.fleet_of(number);
    /// Learns rows with the members of their keys. See `Group::update` for the input.
    fleet_update = |module, number| module.fleet(number, Group::update);
    /// Returns the state of a fleet, such as its keys and incidents.
    fleet_state = |module, number| module.fleet(number, |fleet, _| Ok(bytes(&fleet.state())));
    /// Returns the kind and the number of a copy of the member whose key is the input, or null.
    fleet_get = |module, number| {
        let mut found = None;
        module.fleet(number, |fleet, key| {
            found = fleet.get(key)?;
            Ok(Vec::new())
        })?;
        Ok(found.map_or_else(|| bytes(&Value::Null), |object| module.added(object)))
    };
    /// Returns the page of a fleet of monitors. See `Group::report` for the input.
    fleet_report = |module, number| module.fleet(number, Group::report);
    /// Returns a fleet as the bytes of a file.
    fleet_save = |module, number| module.fleet(number, |fleet, _| fleet.save());
    /// Loads a saved model, monitor or fleet. Returns its kind and its number.
    load = |module, _| module.load();
}
