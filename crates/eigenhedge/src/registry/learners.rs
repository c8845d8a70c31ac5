//! Names and properties of the learners.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Learner of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Hedge over a portfolio of other learners.
    Auto,
    /// Mirror descent (multiplicative update).
    Tracking,
    /// Follow the regularized leader.
    Anchored,
    /// Follow the leader.
    Leader,
    /// Follow the leader with exponential forgetting.
    ForgettingLeader,
    /// Follow the leader with random noise.
    PerturbedLeader,
    /// Hedge over sets of eigenvectors.
    ProductSets,
    /// Gradient descent on the expected projection.
    Additive,
    /// Oja's rule: one Hebbian weight vector.
    Oja,
    /// Generalized Hebbian algorithm: several weight vectors, updated together.
    Gha,
    /// APEX: Hebbian weight vectors with lateral weights.
    Apex,
}

/// Structure of a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Subspace learner: a rule for the eigenvalues (spectrum) of a matrix over an explicit basis (span).
    Subspace,
    /// Hedge over several subspace learners.
    Portfolio,
    /// Hebbian weight vectors.
    Hebbian,
}

/// Description of a learner in the registry.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Entry {
    /// Learner described by the entry.
    pub kind: Kind,
    /// Structure of the learner.
    pub family: Family,
    /// Name that users type.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Theorem that bounds the regret of the learner, or "none".
    pub guarantee: &'static str,
    /// Time per row, as a formula.
    pub cost: &'static str,
    /// Publication of the algorithm.
    pub source: &'static str,
}

/// Descriptions of all learners.
pub const REGISTRY: &[Entry] = &[
    Entry {
        kind: Kind::Auto,
        family: Family::Portfolio,
        name: "auto",
        summary: "Hedge over leaders of several memories and centers, and anchored: nothing to tune",
        guarantee: "best member + Hedge term, hence the bounds of its members",
        cost: "the sum of its members",
        source: "AdaHedge, fixed share",
    },
    Entry {
        kind: Kind::Tracking,
        family: Family::Subspace,
        name: "tracking",
        summary: "mirror descent over subspaces; follows drift with mixing",
        guarantee: "regret: JMLR Theorem 6; with fixed share also for changing subspaces",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "JMLR Alg. 5, ICML Alg. 3",
    },
    Entry {
        kind: Kind::Anchored,
        family: Family::Subspace,
        name: "anchored",
        summary: "follow the regularized leader: a smooth function of the scatter matrix of all rows",
        guarantee: "regret: JMLR Theorem 6; centered: Theorem 8, Corollary 9",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "JMLR Alg. 6, ICML Alg. 6",
    },
    Entry {
        kind: Kind::Leader,
        family: Family::Subspace,
        name: "leader",
        summary: "follow the leader: the best subspace so far",
        guarantee: "none: can be forced to n/(n-k) times the best",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "JMLR §7",
    },
    Entry {
        kind: Kind::ForgettingLeader,
        family: Family::Subspace,
        name: "forgetting-leader",
        summary: "follow the leader with forgetting: the best subspace of the recent rows",
        guarantee: "none",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "exponential windows",
    },
    Entry {
        kind: Kind::PerturbedLeader,
        family: Family::Subspace,
        name: "perturbed-leader",
        summary: "the best subspace so far, after random noise of scale 1/eta",
        guarantee: "none: open in these papers",
        cost: "O(w³), w = min(n, rows)",
        source: "JMLR §4.1, §5.1",
    },
    Entry {
        kind: Kind::ProductSets,
        family: Family::Subspace,
        name: "product-sets",
        summary: "Hedge over sets of eigenvectors, weighted by products; finite dimension only",
        guarantee: "none: conjectured in JMLR §5.1",
        cost: "O(w^2.5 + w k), w = min(n, rows)",
        source: "JMLR §4.1, §5.1",
    },
    Entry {
        kind: Kind::Additive,
        family: Family::Subspace,
        name: "additive",
        summary: "gradient descent on the expected projection",
        guarantee: "regret: Nie, Kotłowski & Warmuth 2016; also for changing subspaces",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "slides, Euclidean family",
    },
    Entry {
        kind: Kind::Oja,
        family: Family::Hebbian,
        name: "oja",
        summary: "Oja's rule: one Hebbian weight vector; k = 1",
        guarantee: "none",
        cost: "O(n k)",
        source: "Oja 1982, Kashima",
    },
    Entry {
        kind: Kind::Gha,
        family: Family::Hebbian,
        name: "gha",
        summary: "generalized Hebbian algorithm: each weight vector learns from the residual of the earlier ones",
        guarantee: "none",
        cost: "O(n k)",
        source: "Oja 1992, Sanger 1989, Kashima",
    },
    Entry {
        kind: Kind::Apex,
        family: Family::Hebbian,
        name: "apex",
        summary: "APEX: Hebbian weight vectors that lateral weights keep apart",
        guarantee: "none",
        cost: "O(n k)",
        source: "Kung & Diamantaras 1990, Kashima",
    },
];

impl Kind {
    /// Returns the registry entry of the learner.
    pub fn entry(self) -> &'static Entry {
        REGISTRY.iter().find(|entry| entry.kind == self).unwrap_or(&REGISTRY[0])
    }

    /// Returns the name that users type.
    pub fn name(self) -> &'static str {
        self.entry().name
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = REGISTRY.iter().find(|entry| entry.name == text).map(|entry| entry.kind);
        found.ok_or_else(|| Error::name("learner", &REGISTRY.iter().map(|entry| entry.name).collect::<Vec<_>>(), text))
    }
}
