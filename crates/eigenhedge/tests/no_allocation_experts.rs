//! Learners over experts allocate nothing once they are warm.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use eigenhedge::experts::{CappedHedge, Leader, PerturbedLeader, ProductSets};
use eigenhedge::simplex::Select;
use eigenhedge::{Learner, Mixing, Random, trial};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system allocator; counting touches no memory that it hands out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn assert_quiet(mut learner: impl Learner<[f64]>) {
    let (mut random, mut losses) = (Random::seeded(1), [0.0; 40]);
    let mut run = |trials: usize| {
        for _ in 0..trials {
            losses.iter_mut().for_each(|loss| *loss = random.uniform());
            trial(&mut learner, &losses[..], &mut random).expect("valid losses");
        }
    };
    run(50);
    let before = ALLOCATIONS.with(Cell::get);
    run(200);
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0);
}

#[test]
fn warm_trials_allocate_nothing() {
    let capped = CappedHedge::new(40, 30, 0.5).expect("valid");
    for select in Select::ALL {
        assert_quiet(capped.clone().with_select(select));
    }
    assert_quiet(capped.clone().with_mixing(Mixing::FixedShare { alpha: 0.01 }).expect("valid"));
    assert_quiet(capped.with_mixing(Mixing::PastAverage { alpha: 0.01 }).expect("valid"));
    assert_quiet(Leader::new(40, 30).expect("valid"));
    assert_quiet(PerturbedLeader::new(40, 30, 0.5).expect("valid"));
    assert_quiet(ProductSets::new(40, 30, 0.5).expect("valid"));
}

#[test]
fn the_counter_sees_an_allocation() {
    let before = ALLOCATIONS.with(Cell::get);
    std::hint::black_box(Box::new(1));
    assert!(ALLOCATIONS.with(Cell::get) > before);
}
