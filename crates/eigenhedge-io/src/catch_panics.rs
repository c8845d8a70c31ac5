//! Conversion of panics to errors. The libraries that decode Parquet and Arrow files and workbooks, and the database of
//! the service, may panic on damaged files. No state is reused after a panic.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `decode`. If it panics, returns the panic message as an error and prints nothing.
pub fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                usual(info);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    outcome.map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })
}
