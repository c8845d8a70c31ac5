//! Memory limit for fuzz cases. An allocation beyond it fails, which may end the process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum memory of a case in bytes.
pub const LARGEST: usize = 400 << 20;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicUsize = AtomicUsize::new(0);

struct Limited;

unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed).saturating_add(layout.size());
        if now.saturating_sub(BEFORE.load(Ordering::Relaxed)) > LARGEST {
            IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
            return std::ptr::null_mut();
        }
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// Starts a case. Memory already in use does not count toward its limit.
pub fn begin() {
    BEFORE.store(IN_USE.load(Ordering::Relaxed), Ordering::Relaxed);
}
