//! Names, and what is known about each learner.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A learner of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Hedge over a portfolio of the others.
    Auto,
    /// Mirror descent.
    Tracking,
    /// Follow the regularised leader.
    Anchored,
    /// Follow the leader.
    Leader,
    /// Follow the leader of a fading memory.
    ForgettingLeader,
    /// Follow the leader after random noise.
    PerturbedLeader,
    /// Hedge over sets of eigenvectors.
    ProductSets,
    /// Gradient descent on the expected projection.
    Additive,
    /// One Hebbian weight vector.
    Oja,
    /// Hebbian weight vectors, all at once.
    Gha,
    /// Hebbian weight vectors with lateral weights.
    Apex,
}

/// What a learner is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// A spectrum rule over a span.
    Subspace,
    /// Several of those.
    Portfolio,
    /// Weight vectors.
    Hebbian,
}

/// What the registry says about a learner.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Entry {
    /// Which learner.
    pub kind: Kind,
    /// What it is made of.
    pub family: Family,
    /// The name users type.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The theorem that covers it, or none.
    pub guarantee: &'static str,
    /// Time for one row.
    pub cost: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// Every learner.
pub const REGISTRY: &[Entry] = &[
    Entry {
        kind: Kind::Auto,
        family: Family::Portfolio,
        name: "auto",
        summary: "Hedge over a portfolio of tracking, forgetting leaders and anchored: nothing to tune",
        guarantee: "best member + Hedge term, hence what its members promise",
        cost: "the sum of its members",
        source: "AdaHedge, fixed share",
    },
    Entry {
        kind: Kind::Tracking,
        family: Family::Subspace,
        name: "tracking",
        summary: "mirror descent over subspaces; follows drift with mixing",
        guarantee: "regret: JMLR Theorem 6; with fixed share also beside changes",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "JMLR Alg. 5, ICML Alg. 3",
    },
    Entry {
        kind: Kind::Anchored,
        family: Family::Subspace,
        name: "anchored",
        summary: "follow the regularised leader: a smooth function of the scatter matrix of all rows",
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
        summary: "the best subspace of a fading memory",
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
        guarantee: "regret: Nie, Kotłowski & Warmuth 2016; also beside changes",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "slides, Euclidean family",
    },
    Entry {
        kind: Kind::Oja,
        family: Family::Hebbian,
        name: "oja",
        summary: "one weight vector that turns towards what excites it; k = 1",
        guarantee: "none",
        cost: "O(n k)",
        source: "Oja 1982, Kashima",
    },
    Entry {
        kind: Kind::Gha,
        family: Family::Hebbian,
        name: "gha",
        summary: "weight vectors that learn all at once from what the earlier ones leave",
        guarantee: "none",
        cost: "O(n k)",
        source: "Oja 1992, Sanger 1989, Kashima",
    },
    Entry {
        kind: Kind::Apex,
        family: Family::Hebbian,
        name: "apex",
        summary: "weight vectors that keep apart by lateral weights",
        guarantee: "none",
        cost: "O(n k)",
        source: "Kung & Diamantaras 1990, Kashima",
    },
];

impl Kind {
    /// The registry's entry.
    pub fn entry(self) -> &'static Entry {
        REGISTRY.iter().find(|entry| entry.kind == self).unwrap_or(&REGISTRY[0])
    }

    /// The name that users type.
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
