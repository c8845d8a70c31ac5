//! A trial of a learner allocates nothing after the warm-up.
#![allow(clippy::unwrap_used)]

use eigenhedge::comparators::{BestMethod, Sketch};
use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts};
use eigenhedge::hebbian::{AmbientWeights, FeatureWeights, Hebbian, Params};
use eigenhedge::internals::{Ambient, Portfolio, Span, Weights, auto};
use eigenhedge::kernel::{Dictionary, KERNELS, KernelParameters, VectorKernel, Vectors};
use eigenhedge::simplex::Select;
use eigenhedge::{
    Choose, Instance, Kind, Learner, Missing, Mixing, Model, Monitor, MonitorOptions, Pair, Random, RunningCenter,
    Spec, streams, trial,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed unchanged to the system's allocator.
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

/// Returns the number of allocations in the last 1,000 of `count` rows.
fn when_warm(learner: &mut impl for<'a> Learner<Instance<'a, [f64]>>, n: usize, count: usize) -> usize {
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(n, 4, 0.3, 1).take(count).collect();
    let mut random = Random::seeded(2);
    let mut before = 0;
    for (t, row) in rows.iter().enumerate() {
        if t + 1000 == count {
            before = ALLOCATIONS.get();
        }
        trial(learner, &Instance::from(&row[..]), &mut random).unwrap();
    }
    ALLOCATIONS.get() - before
}

/// Returns the number of allocations, of two attempts if the first one allocates. Those of a learner are the same in both.
/// Rarely, the runtime allocates once, at a moment that depends on other threads.
fn allocations(spec: &Spec, n: usize) -> usize {
    let attempt = || when_warm(&mut spec.plain(n).unwrap(), n, 3000);
    match attempt() {
        0 => 0,
        first => first.min(attempt()),
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

#[test]
fn a_warm_monitor_allocates_nothing() {
    // Reports of changes and incidents allocate, so they are made very unlikely.
    let (change_time, incident_time) = (1e9, 1e9);
    let (lags, differences) = (Choose::Fixed(1), Choose::Fixed(true));
    let options = MonitorOptions { lags, differences, change_time, incident_time, ..MonitorOptions::default() };
    let mut monitor = Monitor::new(options, 12).unwrap();
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(12, 4, 0.3, 1).take(2500).collect();
    let mut before = 0;
    for (t, row) in rows.iter().enumerate() {
        if t == 1500 {
            before = ALLOCATIONS.get();
        }
        monitor.step(row).unwrap();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn warm_tracking_allocates_nothing() {
    for mixing in [Mixing::None, Mixing::FixedShare { alpha: 1e-2 }] {
        for center in [None, Some(RunningCenter::MEAN)] {
            let spec = Spec { mixing, center, ..Spec::bare(Kind::Tracking, 4) };
            assert_eq!(allocations(&spec, 60), 0, "{spec:?}");
            // These rows are long enough for pending columns to be written. With mixing but without
            // merging, the number of directions would keep growing.
            if mixing == Mixing::None {
                assert_eq!(allocations(&spec, 600), 0, "{spec:?}, long rows");
            }
        }
    }
}

#[test]
fn warm_anchored_learners_allocate_nothing() {
    let kinds = [Kind::Anchored, Kind::Leader, Kind::ForgettingLeader, Kind::ProductSets, Kind::PerturbedLeader];
    for kind in kinds {
        assert_eq!(allocations(&Spec::bare(kind, 4), 60), 0, "{kind:?}");
    }
    for kind in [Kind::Anchored, Kind::ForgettingLeader] {
        assert_eq!(allocations(&Spec { max_rank: Some(12), ..Spec::bare(kind, 4) }, 60), 0, "{kind:?}, capped");
    }
}

#[test]
fn a_warm_portfolio_allocates_nothing() {
    for (n, clip) in [(12, None), (12, Some(2.0)), (600, None)] {
        let template = Spec { center: Some(RunningCenter::MEAN), clip, ..Spec::bare(Kind::Auto, 4) };
        let mut portfolio = Portfolio::new(auto(&template, n), || Ambient::new(n)).expect("valid options");
        assert_eq!(when_warm(&mut portfolio, n, 3000), 0, "{n} {clip:?}");
    }
}

#[test]
fn aligned_coordinates_of_a_warm_run_allocate_nothing() {
    let capped = Spec { max_rank: Some(12), ..Spec::bare(Kind::ForgettingLeader, 4) };
    let auto = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 4) };
    let budget =
        Spec { kernel: Some(VectorKernel::Rbf { gamma: 0.1 }), budget: Some(30), ..Spec::bare(Kind::Tracking, 4) };
    let kinds = [Kind::Tracking, Kind::Anchored, Kind::Leader, Kind::PerturbedLeader].map(|kind| Spec::bare(kind, 4));
    for spec in kinds.into_iter().chain([capped, auto, budget]) {
        let mut run = Model::with_comparators(spec.clone(), 12, 1, BestMethod::None, 0).unwrap();
        run.ask_for_coordinates(true);
        let rows: Vec<Vec<f64>> = streams::signal_and_noise(12, 4, 0.3, 1).take(3000).collect();
        let mut before = 0;
        for (t, row) in rows.iter().enumerate() {
            if t == 2000 {
                before = ALLOCATIONS.get();
            }
            run.step(row).unwrap();
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{spec:?}");
    }
}

#[test]
fn a_warm_pair_allocates_nothing() {
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(20, 4, 0.3, 1).take(2000).collect();
    let mut pair = Pair::new(12, 8, 3, 1.0, Mixing::FixedShare { alpha: 1e-2 }).unwrap();
    let (mut random, mut before) = (Random::seeded(2), 0);
    for (t, row) in rows.iter().enumerate() {
        if t == 1000 {
            before = ALLOCATIONS.get();
        }
        pair.step(&row[..12], &row[12..], &mut random).unwrap();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn warm_past_average_allocates_nothing() {
    let mixing = Mixing::PastAverage { alpha: 1e-2 };
    assert_eq!(allocations(&Spec { mixing, ..Spec::bare(Kind::Tracking, 2) }, 12), 0);
}

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
fn warm_expert_learners_allocate_nothing() {
    let quiet = |spec| assert_quiet(Experts::new(spec).expect("valid"));
    let capped = ExpertSpec::new(ExpertKind::CappedHedge, 40, 30, 0.5);
    Select::ALL.into_iter().for_each(|select| quiet(ExpertSpec { select, ..capped }));
    quiet(ExpertSpec { mixing: Mixing::FixedShare { alpha: 0.01 }, ..capped });
    quiet(ExpertSpec { mixing: Mixing::PastAverage { alpha: 0.01 }, ..capped });
    ExpertKind::ALL.into_iter().for_each(|kind| quiet(ExpertSpec { kind, ..capped }));
}

fn hebbian_allocations<W: Weights<Point = [f64]>>(params: Params, weights: W) -> usize {
    when_warm(&mut Hebbian::new(params, weights).unwrap(), 20, 2000)
}

#[test]
fn warm_hebbian_learners_allocate_nothing() {
    let centered = Params { center: Some(RunningCenter::MEAN), clip: Some(1.5), ..Params::simultaneous(3, 0.1, 1.0) };
    for params in [Params::oja(0.1), Params::apex(3, 0.1), Params::simultaneous(3, 0.1, 1.0), centered] {
        assert_eq!(hebbian_allocations(params, AmbientWeights::new(20)), 0, "{params:?}");
        let dictionary = || Vectors::new(VectorKernel::Rbf { gamma: 1.0 }, 20).unwrap();
        let weights = FeatureWeights::new(dictionary()).unwrap();
        assert_eq!(hebbian_allocations(params, weights.with_budget(40).unwrap()), 0, "{params:?}");
        // Without a budget, memory grows by a quarter at a time.
        let grown = hebbian_allocations(params, FeatureWeights::new(dictionary()).unwrap());
        assert!(grown <= 60, "{params:?}: {grown}");
    }
}

#[test]
fn evictions_of_a_warm_budget_hardly_ever_allocate() {
    // With many negligible atoms, removal is free. Otherwise atoms are selected.
    for (budget, center) in [(400, None), (100, Some(RunningCenter::MEAN)), (40, None)] {
        let mixing = Mixing::FixedShare { alpha: 1e-2 };
        let spec = Spec { budget: Some(budget), center, eta: 4.0, mixing, ..Spec::bare(Kind::Tracking, 3) };
        let mut learner = spec.kernel(VectorKernel::Rbf { gamma: 1.0 }, 20).unwrap();
        // An eviction with more columns than any before it extends the list of a direction.
        let found = when_warm(&mut learner, 20, 3000);
        assert!(found <= 1, "budget {budget}, center {center:?}: {found} allocations");
        assert!(learner.span().dictionary().len() <= budget && learner.span().budget_error() > 0.0);
    }
}

#[test]
fn a_warm_sketch_allocates_nothing() {
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(60, 4, 0.3, 1).take(400).collect();
    let mut sketch = Sketch::new(60, 10, true).unwrap();
    rows[..100].iter().for_each(|row| sketch.add(row));
    let before = ALLOCATIONS.get();
    rows[100..].iter().for_each(|row| sketch.add(row));
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn warm_kernel_rows_allocate_nothing() {
    let parameters = KernelParameters::default();
    let build = |name: &str| VectorKernel::from_name(name, &parameters, 30).unwrap();
    let mut kernels: Vec<VectorKernel> =
        KERNELS.iter().filter(|entry| !entry.takes_items()).map(|entry| build(entry.name)).collect();
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
            // The dictionary has a fixed size, and its atoms are replaced.
            atoms.push(&point);
            if atoms.len() > 100 {
                atoms.swap_remove(random.below(100));
            }
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{kernel:?}");
    }
}

#[test]
fn rows_with_missing_cells_allocate_nothing() {
    for learner in [Kind::Auto, Kind::Tracking, Kind::ForgettingLeader] {
        for n in [20, 600] {
            let spec = Spec {
                missing: Missing::Fill,
                max_rank: Some(8),
                center: Some(RunningCenter::MEAN),
                ..Spec::bare(learner, 4)
            };
            let mut run = Model::with_comparators(spec, n, 0, BestMethod::None, 0).unwrap();
            let mut before = 0;
            let rows: Vec<Vec<f64>> = streams::signal_and_noise(n, 4, 0.3, 1).take(1500).collect();
            for (t, mut row) in rows.into_iter().enumerate() {
                row.iter_mut().skip(t % 5).step_by(5).for_each(|x| *x = f64::NAN);
                before = if t == 1000 { ALLOCATIONS.get() } else { before };
                run.step(&row).unwrap();
            }
            assert_eq!(ALLOCATIONS.get() - before, 0, "{learner:?} {n}");
        }
    }
}
