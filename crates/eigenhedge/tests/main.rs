//! All tests over the public interface in one program: what they instantiate is compiled once.

mod batch;
mod batch_trials;
mod bounds;
mod bounds_beyond;
mod common;
mod coordinates;
mod golden_simplex_experts;
mod golden_subspace;
mod hebbian;
mod invariance;
mod kernel_laws;
mod laws;
mod long_rows;
mod merge;
mod missing;
mod moments;
mod monitor;
mod no_allocation;
mod options;
mod oracle;
mod pair;
mod portfolio;
mod rank_cap;
mod run;
mod snapshots;
mod soundness;
