//! Reproductions of the figures and claims of the papers.
//!
//! A [`Reproduction`] generates the data of a figure, runs the methods of the paper, and returns an [`Outcome`]: tables,
//! charts, sentences, and [`Claim`]s, which are inequalities between measured numbers and may fail.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "an internal crate, whose names of plain results need no comment")]

mod curves;
mod error;
mod faces;
mod figures;
mod outcome;
mod runner;
mod textbook;

pub use curves::{Inspected, LossTotals, totals};
pub use error::LabError;
pub use outcome::{Claim, Outcome, Table};
pub use runner::{Tally, run_all};

use std::path::PathBuf;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// Folder with real data.
    pub data: Option<PathBuf>,
    /// Fewer draws and rows, so that a run takes seconds.
    pub quick: bool,
    pub seed: u64,
}

/// Callback with the completed share of the work.
pub type Progress<'a> = dyn Fn(f64) + 'a;

/// Reproduction of a figure, or of a few related figures.
#[derive(Debug, Clone, Copy)]
pub struct Reproduction {
    /// Name on the command line, of the folder, and at the start of the names of its files.
    pub name: &'static str,
    pub title: &'static str,
    pub source: &'static str,
    pub run: fn(&Setting, &Progress) -> Result<Outcome, LabError>,
}

impl Reproduction {
    pub fn from_name(name: &str) -> Option<&'static Self> {
        REPRODUCTIONS.iter().find(|reproduction| reproduction.name == name)
    }
}

pub const REPRODUCTIONS: &[Reproduction] = &[
    Reproduction {
        name: "jmlr-example-6",
        title: "capping (1, 2, 4)/7, and the mixture of sets it stands for",
        source: "Warmuth & Kuzmin, JMLR 2008, equation (6)",
        run: figures::example_6::run,
    },
    Reproduction {
        name: "jmlr-figure-3",
        title: "the stream of three subspaces",
        source: "Warmuth & Kuzmin, JMLR 2008, figure 3",
        run: figures::figure_3::run,
    },
    Reproduction {
        name: "jmlr-figure-4",
        title: "total loss of the learners on the stream of three subspaces",
        source: "Warmuth & Kuzmin, JMLR 2008, figure 4",
        run: figures::figure_4::run,
    },
    Reproduction {
        name: "jmlr-figure-5",
        title: "how the kept subspace turns after a change",
        source: "Warmuth & Kuzmin, JMLR 2008, figure 5",
        run: figures::figure_5::run,
    },
    Reproduction {
        name: "jmlr-figure-6",
        title: "long-term memory: what has been seen before is learned again sooner",
        source: "Warmuth & Kuzmin, JMLR 2008, figure 6",
        run: figures::figure_6::run,
    },
    Reproduction {
        name: "leader-lower-bound",
        title: "an adversary that the leader does not survive",
        source: "Warmuth & Kuzmin, JMLR 2008, section 7",
        run: figures::leader::run,
    },
    Reproduction {
        name: "icml-figures-1-3",
        title: "online kernel PCA on a cone: loss, bound, regret per row",
        source: "Kuzmin & Warmuth, ICML 2007, figures 1 to 3",
        run: figures::cone::run,
    },
    Reproduction {
        name: "kashima",
        title: "three Hebbian learners find the components of batch PCA and kernel PCA",
        source: "Kashima, On-line Kernel Principal Component Analysis, 2001",
        run: figures::kashima::run,
    },
    Reproduction {
        name: "lecture-kernel-pca",
        title: "kernel PCA separates what no line separates",
        source: "Cunningham, Basic Kernel Methods: kernel PCA and its Cholesky view",
        run: figures::kernel_pca::run,
    },
    Reproduction {
        name: "lecture-ridge",
        title: "kernel ridge regression is the mean of a Gaussian process",
        source: "Cunningham, Basic Kernel Methods: kernel ridge regression",
        run: figures::ridge::run,
    },
    Reproduction {
        name: "lecture-preimage",
        title: "back from features to points: a denoised curve, and a mean that lies among its points",
        source: "Cunningham, Basic Kernel Methods: kernel means and the pre-image problem",
        run: figures::preimage::run,
    },
];
