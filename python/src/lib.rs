//! Native part of the Python package: thin classes around the crate `eigenhedge`. They copy a few rows of an array
//! at a time, and release the interpreter lock while they work.
#![forbid(unsafe_code)]

mod alarms;
mod arrays;
mod batch;
mod bounds;
mod classes;
mod embedding;
mod errors;
mod experts;
mod fleet;
mod interrupt;
mod items;
mod learning;
mod model;
mod moments;
mod monitor;
mod options;
mod pages;
mod pair;
mod preimage;
mod sparse;
mod spelling;
mod state;
mod trial;

#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        arrays::read_table,
        batch::{KernelComponents, KernelRegression, symmetric_eigen},
        bounds::{Setting, all},
        experts::{CappedHedge, Experts, capping, corners},
        fleet::Groups,
        model::PyModel,
        moments::PyMoments,
        monitor::{PyMonitor, check_monitor_options},
        options::{check_options, kernel_advice, kernels, learners, median_gamma, options, set_threads},
        pair::{LearnerAverage, Pair},
        preimage::{candidate, kernel_mean, mmd, preimage},
        trial::Trial,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // `of_machine` returns half of the memory. The limit for models is all memory.
        eigenhedge::set_max_memory(eigenhedge_io::MaxMemory::of_machine().bytes().saturating_mul(2));
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("_DEFAULTS", crate::options::defaults(module.py())?)
    }
}
