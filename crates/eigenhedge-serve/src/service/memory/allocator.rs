//! Allocator of the process, which counts the allocated bytes.
#![allow(unsafe_code)]

use eigenhedge::{Kind, Model, Monitor, MonitorOptions, Random, Spec};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

static ALL: AtomicI64 = AtomicI64::new(0);

/// Bytes that threads keep for matrix products, independently of their learners.
static WORKING_SPACE: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static OF_THREAD: Cell<i64> = const { Cell::new(0) };
    static IS_PREPARED: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: i64) {
    ALL.fetch_add(bytes, Ordering::Relaxed);
    // A thread that is ending has no counter.
    let _ = OF_THREAD.try_with(|counter| counter.set(counter.get() + bytes));
}

fn size(layout: Layout) -> i64 {
    layout.size().cast_signed() as i64
}

// SAFETY: all calls are forwarded to the system's allocator. The counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout));
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size(layout));
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-size(layout));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size.cast_signed() as i64 - size(layout));
        unsafe { System.realloc(at, layout, new_size) }
    }
}

pub fn allocated() -> u64 {
    ALL.load(Ordering::Relaxed).max(0).cast_unsigned()
}

pub fn working_space() -> u64 {
    WORKING_SPACE.load(Ordering::Relaxed).max(0).cast_unsigned()
}

/// Also returns the net number of bytes allocated in this thread, without working space.
pub fn measured<R>(work: impl FnOnce() -> R) -> (R, i64) {
    if !IS_PREPARED.replace(true) {
        let before = OF_THREAD.get();
        let _ = prepare();
        WORKING_SPACE.fetch_add(OF_THREAD.get() - before, Ordering::Relaxed);
    }
    let before = OF_THREAD.get();
    let result = work();
    (result, OF_THREAD.get() - before)
}

/// Learns a few rows with temporary learners, so that this thread allocates its working space.
fn prepare() -> Result<(), eigenhedge::Error> {
    const COLUMNS: usize = 24;
    let mut random = Random::seeded(0);
    let mut model = Model::new(Spec::new(Kind::Auto, 2), COLUMNS, 0)?;
    let mut monitor = Monitor::new(MonitorOptions::default(), COLUMNS)?;
    for _ in 0..2 * COLUMNS {
        let row: Vec<f64> = (0..COLUMNS).map(|_| random.normal()).collect();
        model.step(&row)?;
        monitor.add_to_warm_up(&row)?;
    }
    monitor.end_warm_up()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
unsafe extern "C" {
    fn malloc_trim(pad: usize) -> i32;
    fn mallopt(parameter: i32, value: i32) -> i32;
}

/// Limits the freed memory that glibc keeps. By default, blocks after a freed large one come from arenas, and gaps between
/// them grow for hours. With these settings, freed large blocks return to the system.
pub fn configure() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, value) in [(M_MMAP_THRESHOLD, 128 << 10), (M_ARENA_MAX, 2)] {
        // SAFETY: any thread may call the function. It returns 0 for rejected values.
        unsafe { mallopt(parameter, value) };
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
const M_MMAP_THRESHOLD: i32 = -3;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const M_ARENA_MAX: i32 = -8;

pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function has no preconditions, and any thread may call it.
    unsafe {
        malloc_trim(0);
    }
}
