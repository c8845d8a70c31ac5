//! Names and properties of the learners.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Learner in the registry.
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
    /// Subspace learner. Its rule updates the spectrum (probabilities) over a span (explicit directions).
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
    /// Theorem that bounds the regret, or a text that starts with "none".
    pub guarantee: &'static str,
    /// Time per row, as a formula or in words.
    pub cost: &'static str,
    /// Publication of the algorithm.
    pub source: &'static str,
}

const fn entry(kind: Kind, family: Family, name: &'static str) -> Entry {
    Entry { kind, family, name, summary: "", guarantee: "none", cost: "O(n k)", source: "" }
}

/// Descriptions of all learners.
pub const REGISTRY: &[Entry] = &[
    Entry {
        summary: "Hedge over leaders of several memories and centers, and anchored: nothing to tune",
        guarantee: "best member + Hedge term, hence the bounds of its members",
        cost: "the sum of its members",
        source: "AdaHedge, fixed share",
        ..entry(Kind::Auto, Family::Portfolio, "auto")
    },
    Entry {
        summary: "mirror descent over subspaces; follows drift with mixing",
        guarantee: "regret: JMLR Theorem 6; with fixed share also for changing subspaces",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "JMLR Alg. 5, ICML Alg. 3",
        ..entry(Kind::Tracking, Family::Subspace, "tracking")
    },
    Entry {
        summary: "follow the regularized leader: a smooth function of the scatter matrix of all rows",
        guarantee: "regret: JMLR Theorem 6; centered: Theorem 8, Corollary 9",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "JMLR Alg. 6, ICML Alg. 6",
        ..entry(Kind::Anchored, Family::Subspace, "anchored")
    },
    Entry {
        summary: "follow the leader: the best subspace so far",
        guarantee: "none: can be forced to n/(n-k) times the best",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "JMLR §7",
        ..entry(Kind::Leader, Family::Subspace, "leader")
    },
    Entry {
        summary: "follow the leader with forgetting: the best subspace of the recent rows",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "exponential windows",
        ..entry(Kind::ForgettingLeader, Family::Subspace, "forgetting-leader")
    },
    Entry {
        summary: "the best subspace so far, after random noise of scale 1/eta",
        guarantee: "none: open in these papers",
        cost: "O(w³), w = min(n, rows)",
        source: "JMLR §4.1, §5.1",
        ..entry(Kind::PerturbedLeader, Family::Subspace, "perturbed-leader")
    },
    Entry {
        summary: "Hedge over sets of eigenvectors, weighted by products; finite dimension only",
        guarantee: "none: conjectured in JMLR §5.1",
        cost: "O(w^2.5 + w k), w = min(n, rows)",
        source: "JMLR §4.1, §5.1",
        ..entry(Kind::ProductSets, Family::Subspace, "product-sets")
    },
    Entry {
        summary: "gradient descent on the expected projection",
        guarantee: "regret: Nie, Kotłowski & Warmuth 2016; also for changing subspaces",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "slides, Euclidean family",
        ..entry(Kind::Additive, Family::Subspace, "additive")
    },
    Entry {
        summary: "Oja's rule: one Hebbian weight vector; k = 1",
        source: "Oja 1982, Kashima",
        ..entry(Kind::Oja, Family::Hebbian, "oja")
    },
    Entry {
        summary: "generalized Hebbian algorithm: each weight vector learns from the residual of the earlier ones",
        source: "Oja 1992, Sanger 1989, Kashima",
        ..entry(Kind::Gha, Family::Hebbian, "gha")
    },
    Entry {
        summary: "APEX: Hebbian weight vectors that lateral weights keep apart",
        source: "Kung & Diamantaras 1990, Kashima",
        ..entry(Kind::Apex, Family::Hebbian, "apex")
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
