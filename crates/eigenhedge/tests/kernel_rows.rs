//! A kernel row of a warm dictionary allocates nothing.
#![allow(clippy::unwrap_used)]

use eigenhedge::Random;
use eigenhedge::kernel::{Dictionary, KERNELS, KernelParameters, VectorKernel, Vectors};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

#[test]
fn warm_rows_allocate_nothing() {
    let parameters = KernelParameters::default();
    let build = |name: &str| VectorKernel::from_name(name, &parameters, 30).unwrap();
    let mut kernels: Vec<VectorKernel> = KERNELS.iter().map(|entry| build(entry.name)).collect();
    let pair = build("rbf").plus(build("linear").times(build("cosine")));
    kernels.push(pair.clone().times(pair.scaled(0.5)).plus(build("laplacian")));
    for kernel in kernels {
        let mut random = Random::seeded(1);
        let mut atoms = Vectors::new(kernel.clone(), 30).unwrap();
        let (mut point, mut row) = (vec![0.0; 30], Vec::new());
        let mut before = 0;
        for t in 0..300 {
            if t == 150 {
                before = ALLOCATIONS.get();
            }
            point.iter_mut().for_each(|x| *x = random.normal());
            atoms.row(&point, &mut row).unwrap();
            // A dictionary of fixed size, whose atoms come and go.
            atoms.push(&point);
            if atoms.len() > 100 {
                atoms.swap_remove(random.below(100));
            }
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{kernel:?}");
    }
}
