//! Monitors and models for JavaScript, as plain exports of a WebAssembly module.
//!
//! The caller writes the name of a function, a zero byte and its input to the address that [`input`] returns, passes the
//! number of an object to [`call`], and reads the result at [`output`]. `call` returns 0, or 1 if the result is an error
//! message. Numbers are little-endian float64; everything else is JSON or text. wasm-bindgen would add a build tool and
//! generated code.

#![allow(missing_docs)]

mod calls;
mod compare;
mod fleet;
mod learners;
mod open;
mod options;
mod reply;
mod run;
mod table;
mod watch;

use eigenhedge::{Model, Monitor, SavedKind};
use eigenhedge_io::fleet_of_bytes;
use fleet::Group;
use learners::{Learner, Watcher};
use reply::{Answer, Reply, bytes, read};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;

/// Object to which a caller refers by its number.
trait Object {
    fn kind(&self) -> &'static str;

    fn call(&mut self, name: &str, input: &[u8]) -> Result<Answer, String>;
}

#[derive(Default)]
struct Module {
    input: Vec<u8>,
    output: Vec<u8>,
    files: Vec<(Arc<str>, Arc<[u8]>)>,
    objects: Vec<Option<Box<dyn Object>>>,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

impl Module {
    /// Calls a function that creates an object, or a method of the object with this number.
    fn call(&mut self, name: &str, number: usize, input: &[u8]) -> Reply {
        let mut table = Value::Null;
        let options = || read(serde_json::from_slice(input));
        let object: Box<dyn Object> = match name {
            "table" => {
                let reading = open::open(&self.files, &read(serde_json::from_slice(input))?)?;
                table = reading.task.description();
                Box::new(reading)
            }
            "monitor" => Box::new(Watcher::create(&options()?)?),
            "model" => Box::new(Learner::create(&options()?)?),
            "load" => load(input)?,
            _ => {
                let object = self.objects.get_mut(number).and_then(Option::as_mut).ok_or("there is no such object")?;
                match object.call(name, input)? {
                    Answer::Bytes(bytes) => return Ok(bytes),
                    Answer::Object(object) => object,
                }
            }
        };
        let kind = object.kind();
        self.objects.push(Some(object));
        Ok(bytes(&serde_json::json!({ "kind": kind, "object": self.objects.len() - 1, "table": table })))
    }
}

fn load(saved: &[u8]) -> Result<Box<dyn Object>, String> {
    Ok(match read(SavedKind::of(saved))? {
        SavedKind::Model => Box::new(Learner(read(Model::from_bytes(saved))?)),
        SavedKind::Models => Box::new(Group::of_models(fleet_of_bytes(saved.to_vec())?)),
        SavedKind::Monitors => Box::new(Group::of_monitors(fleet_of_bytes(saved.to_vec())?)),
        _ => Box::new(Watcher::new(read(Monitor::from_bytes(saved))?)),
    })
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
pub extern "C" fn call(number: u32) -> u32 {
    MODULE.with_borrow_mut(|module| {
        let text = std::mem::take(&mut module.input);
        let mut parts = text.splitn(2, |byte| *byte == 0);
        let [name, input] = [parts.next(), parts.next()].map(Option::unwrap_or_default);
        let reply = module.call(&String::from_utf8_lossy(name), number as usize, input);
        let is_error = reply.is_err();
        module.output = reply.unwrap_or_else(String::into_bytes);
        is_error.into()
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
