//! All learners of the registry in all spaces, with the options that change their code path.

use eigenhedge::kernel::VectorKernel;
use eigenhedge::registry::{Entry, Family, REGISTRY};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Kind, Mixing, RunningCenter, Spec};

pub struct Case {
    pub name: String,
    pub group: String,
    pub spec: Spec,
    pub length: usize,
    /// Maximum number of rows per run, because kernels without a budget grow with every row.
    pub longest_life: u64,
    /// Number of rows between checks of the columns' orthonormality.
    pub drift_every: u64,
}

/// Space of the rows: name, row length, kernel and budget.
struct Space {
    name: &'static str,
    length: usize,
    kernel: Option<VectorKernel>,
    budget: Option<usize>,
}

fn spaces() -> Vec<Space> {
    let plain = |name, length| Space { name, length, kernel: None, budget: None };
    let kernel = |name, kernel, budget| Space { name, length: 6, kernel: Some(kernel), budget };
    let cubic = VectorKernel::Polynomial { gamma: 1.0, degree: 3, coef0: 1.0 };
    vec![
        plain("plain-14", 14),
        plain("plain-64", 64),
        plain("plain-600", 600),
        kernel("linear", VectorKernel::Linear, None),
        kernel("linear-budget-20", VectorKernel::Linear, Some(20)),
        kernel("cubic-budget-20", cubic, Some(20)),
        kernel("rbf", VectorKernel::Rbf { gamma: 1.0 }, None),
        kernel("rbf-budget-20", VectorKernel::Rbf { gamma: 1.0 }, Some(20)),
        kernel("wide-rbf-budget-20", VectorKernel::Rbf { gamma: 0.02 }, Some(20)),
    ]
}

/// Returns the variants of a learner that have their own code.
fn variants(entry: &Entry, k: usize) -> Vec<Spec> {
    let reads = |option| entry.kind.reads(option);
    let k = if entry.kind == Kind::Oja { 1 } else { k };
    // Rates of Hebbian learners are step sizes. The others are factors in an exponent.
    let rates: &[f64] = match entry.family {
        Family::Hebbian => &[0.1],
        _ if reads("eta") => &[1.0, 64.0],
        _ => &[1.0],
    };
    let memories: &[f64] = if reads("forget") { &[0.5, 0.99] } else { &[1.0] };
    let mut specs = Vec::new();
    for (eta, forget) in rates.iter().flat_map(|eta| memories.iter().map(move |forget| (*eta, *forget))) {
        let base = Spec { eta, forget, ..Spec::bare(entry.kind, k) };
        for center in [None, Some(RunningCenter::MEAN), Some(RunningCenter::forgetting(0.8))]
            .into_iter()
            .take(if reads("center") { 3 } else { 1 })
        {
            let base = Spec { center, ..base.clone() };
            specs.push(base.clone());
            if reads("max-rank") {
                specs.extend([k, k + 4].map(|rank| Spec { max_rank: Some(rank), ..base.clone() }));
            }
            if reads("mixing") {
                let mixings = [Mixing::FixedShare { alpha: 1e-3 }, Mixing::PastAverage { alpha: 1e-3 }];
                specs.extend(mixings.map(|mixing| Spec { mixing, max_rank: Some(k + 4), ..base.clone() }));
            }
        }
    }
    specs
}

/// Returns true for learners that cost O(n k) per row and therefore suit long rows.
fn is_cheap(spec: &Spec) -> bool {
    spec.max_rank.is_some() || matches!(spec.learner.entry().family, Family::Portfolio | Family::Hebbian)
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for space in spaces() {
        for entry in REGISTRY {
            for spec in variants(entry, 2) {
                let mut spec = Spec { kernel: space.kernel.clone(), budget: space.budget, ..spec };
                if space.length > 64 && !is_cheap(&spec) || space.length > 14 && entry.kind == Kind::PerturbedLeader {
                    continue;
                }
                if entry.kind == Kind::ProductSets && matches!(space.kernel, Some(VectorKernel::Rbf { .. })) {
                    spec.dimension = Some(Multiplicity::Finite(1000)); // it has no meaning in infinite dimension
                }
                let label = spec.label().replace(", ", "-").replace(' ', "-");
                let center = if spec.center.is_some() { "-centered" } else { "" };
                cases.push(Case {
                    name: format!("{}/{label}{center}", space.name),
                    group: format!("{} {}", entry.name, if space.kernel.is_some() { "kernel" } else { "plain" }),
                    length: space.length,
                    longest_life: if space.kernel.is_some() && space.budget.is_none() { 120 } else { u64::MAX },
                    drift_every: if space.kernel.is_some() { 8 } else { (space.length / 14).pow(2) as u64 },
                    spec,
                });
            }
        }
    }
    cases
}
