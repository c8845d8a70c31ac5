//! All learners, with sizes at which their growth is visible and with the documented exponents.

use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts};
use eigenhedge::options::Options;
use eigenhedge::{Kind, Mixing, Model, Pair, Random, trial};

pub type Step = Box<dyn FnMut(&[f64])>;
/// Function that builds a learner from the row length n and the number k of directions.
pub type Make = Box<dyn Fn(usize, usize) -> Step>;

/// Sizes in ascending order, and the documented exponent, which is an upper bound.
pub struct Axis {
    pub sizes: &'static [usize],
    pub most: f64,
}

const fn axis(sizes: &'static [usize], most: f64) -> Axis {
    Axis { sizes, most }
}

/// Number of rows before the timed ones.
pub enum Warm {
    Rows(usize),
    /// Twice the row length, after which all directions have been seen.
    TwiceTheLength,
}

impl Warm {
    pub fn rows(&self, n: usize) -> usize {
        match self {
            Self::Rows(rows) => *rows,
            Self::TwiceTheLength => 2 * n,
        }
    }
}

pub struct Case {
    pub name: &'static str,
    /// Learner of the registry, or `None` if the learner is not in the registry.
    pub kind: Option<Kind>,
    pub make: Make,
    pub n: Axis,
    pub k: Option<Axis>,
    pub t: Axis,
    /// Number of directions while n and t vary.
    pub kept: usize,
    /// Row length while k varies.
    pub wide: usize,
    /// Row length while t varies.
    pub length: usize,
    pub warm: Warm,
}

/// Creates the case of a learner that processes only u directions. The time is linear in n, and at
/// most quadratic in u while n ≥ u².
fn narrow(name: &'static str, make: Make) -> Case {
    Case {
        name,
        kind: None,
        make,
        n: axis(&[512, 2048, 8192], 1.0),
        k: Some(axis(&[5, 10, 20, 40], 2.0)),
        t: axis(&[1000, 2000, 4000, 8000], 0.0),
        kept: 10,
        wide: 4096,
        length: 256,
        warm: Warm::Rows(500),
    }
}

/// Creates the case of a learner that stores the whole scatter matrix: O(n^2.5), independent of k.
fn whole(name: &'static str, make: Make) -> Case {
    Case {
        // Smaller matrices are stored in another representation.
        n: axis(&[192, 384, 768], 2.5),
        k: Some(axis(&[5, 10, 20, 40], 0.0)),
        t: axis(&[1000, 2000, 4000], 0.0),
        wide: 192,
        length: 192,
        warm: Warm::TwiceTheLength,
        ..narrow(name, make)
    }
}

/// Creates the case of a learner that decomposes a whole matrix at each row: O(n³), independent of k.
fn dense(name: &'static str, make: Make) -> Case {
    Case {
        n: axis(&[48, 96, 192], 3.0),
        k: Some(axis(&[4, 8, 16, 32], 0.0)),
        wide: 64,
        length: 64,
        ..whole(name, make)
    }
}

/// Creates the case of a learner over features: a kernel row, O(t n), and coordinates, O(t u).
fn kernel(name: &'static str, make: Make) -> Case {
    Case {
        n: axis(&[64, 256, 1024], 1.0),
        t: axis(&[500, 1000, 2000, 4000], 1.0),
        kept: 5,
        wide: 64,
        length: 16,
        warm: Warm::Rows(400),
        ..narrow(name, make)
    }
}

fn budgeted(name: &'static str, make: Make) -> Case {
    Case { t: axis(&[500, 1000, 2000, 4000, 8000], 0.0), ..kernel(name, make) }
}

const ATOMS: usize = 100;

fn in_proportion() -> Option<Axis> {
    Some(axis(&[5, 10, 20, 40], 1.0))
}

/// Creates the case of a learner of the registry. `options` returns its options for k directions.
fn registered(
    family: fn(&'static str, Make) -> Case,
    name: &'static str,
    options: impl Fn(usize) -> Options + 'static,
) -> Case {
    let kind = options(1).learner();
    let make = move |n: usize, k: usize| -> Step {
        let setup = options(k)
            .with("seed", 1_usize)
            .with("best", "none")
            .resolve(str::to_owned)
            .expect("options that make sense");
        let mut run = Model::of(&setup, n).expect("a valid learner");
        Box::new(move |row| {
            run.step(row).expect("a valid row");
        })
    };
    let case = family(name, Box::new(make));
    Case { kind: Some(kind), ..case }
}

/// Creates the case of a learner over experts: O(n), independent of k. The losses are the squared
/// entries of a row, at most 1.
fn experts(name: &'static str, kind: ExpertKind) -> Case {
    let make = move |n: usize, k: usize| -> Step {
        let mut learner = Experts::new(ExpertSpec::new(kind, n, k, 1.0)).expect("a valid learner");
        let (mut random, mut losses) = (Random::seeded(1), vec![0.0; n]);
        Box::new(move |row| {
            losses.iter_mut().zip(row).for_each(|(loss, x)| *loss = (x * x).min(1.0));
            trial(&mut learner, &losses[..], &mut random).expect("valid losses");
        })
    };
    Case { k: Some(axis(&[5, 10, 20, 40], 0.0)), ..narrow(name, Box::new(make)) }
}

fn pair() -> Case {
    let make = |n: usize, k: usize| -> Step {
        let mut learner = Pair::new(n / 2, n / 2, k, 1.0, Mixing::None).expect("a valid learner");
        let mut random = Random::seeded(1);
        Box::new(move |row| {
            let (x, y) = row.split_at(n / 2);
            learner.step(x, y, &mut random).expect("a valid pair");
        })
    };
    narrow("pair", Box::new(make))
}

fn mixed(k: usize, mixing: &str) -> Options {
    Options::new(Kind::Tracking, k).with("mixing", mixing)
}

/// Sets the options for features of a Gaussian kernel, without a center.
fn featured(options: Options) -> Options {
    options.with("kernel", "rbf").with("gamma", 1.0).with("center", "none")
}

fn with_budget(options: Options) -> Options {
    featured(options).with("budget", ATOMS)
}

pub fn all() -> Vec<Case> {
    let plain = |kind| move |k| Options::new(kind, k);
    let capped = |kind| move |k| Options::new(kind, k).with("max-rank", 3 * k);
    let features = |kind| move |k| featured(Options::new(kind, k));
    let atoms = |kind| move |k| with_budget(Options::new(kind, k));
    let unmixed = |k| mixed(k, "none");
    let centered = move |k| with_budget(unmixed(k)).with("center", "running");
    vec![
        registered(narrow, "tracking", unmixed),
        // With a share of 0.001, the number of directions grows during the first thousand rows.
        Case {
            t: axis(&[2000, 4000, 8000, 16000], 0.0),
            ..registered(narrow, "tracking, fixed share", |k| mixed(k, "fixed-share"))
        },
        // The coordinates in the u directions take O(n u).
        Case { k: in_proportion(), ..registered(dense, "tracking, past average", |k| mixed(k, "past-average")) },
        registered(whole, "anchored", plain(Kind::Anchored)),
        registered(narrow, "anchored, rank at most 3k", capped(Kind::Anchored)),
        registered(whole, "leader", plain(Kind::Leader)),
        registered(narrow, "leader, rank at most 3k", capped(Kind::Leader)),
        registered(whole, "forgetting-leader", plain(Kind::ForgettingLeader)),
        registered(narrow, "forgetting-leader, rank at most 3k", capped(Kind::ForgettingLeader)),
        registered(dense, "perturbed-leader", plain(Kind::PerturbedLeader)),
        // The table of products takes O(n k).
        Case { k: in_proportion(), ..registered(whole, "product-sets", plain(Kind::ProductSets)) },
        registered(narrow, "additive", plain(Kind::Additive)),
        Case { k: None, kept: 1, ..registered(narrow, "oja", plain(Kind::Oja)) },
        // Weight vectors, and members with at most k + 3 directions, take O(n k).
        Case { k: in_proportion(), ..registered(narrow, "gha", plain(Kind::Gha)) },
        Case { k: in_proportion(), ..registered(narrow, "apex", plain(Kind::Apex)) },
        Case { k: in_proportion(), ..registered(narrow, "auto", plain(Kind::Auto)) },
        pair(),
        registered(kernel, "kernel tracking", move |k| featured(unmixed(k))),
        registered(budgeted, "kernel tracking, 100 atoms", move |k| with_budget(unmixed(k))),
        registered(budgeted, "kernel tracking, centered, 100 atoms", centered),
        // There are as many directions as rows, so the time is O(t^2.5).
        Case {
            t: axis(&[256, 512, 1024], 2.5),
            k: in_proportion(),
            ..registered(kernel, "kernel anchored", features(Kind::Anchored))
        },
        registered(budgeted, "kernel anchored, 100 atoms", atoms(Kind::Anchored)),
        registered(kernel, "kernel gha", features(Kind::Gha)),
        registered(budgeted, "kernel gha, 100 atoms", atoms(Kind::Gha)),
        // With more rows, the coefficients of the six members exceed the second-level cache.
        Case { t: axis(&[320, 640, 1280], 1.0), ..registered(kernel, "kernel auto", features(Kind::Auto)) },
        registered(budgeted, "kernel auto, 100 atoms", atoms(Kind::Auto)),
        experts("experts: capped hedge", ExpertKind::CappedHedge),
        experts("experts: leader", ExpertKind::Leader),
        experts("experts: perturbed leader", ExpertKind::PerturbedLeader),
        // The time is O(n d) for d = n - k dropped experts.
        Case {
            n: axis(&[64, 128, 256], 2.0),
            wide: 128,
            length: 64,
            ..experts("experts: product sets", ExpertKind::ProductSets)
        },
    ]
}
