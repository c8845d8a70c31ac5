//! Native part of the Python package: thin classes around the crate `eigenhedge`.
//!
//! The Python code in `eigenhedge/` converts input to float64 arrays in C order. This crate copies a few rows at a
//! time, releases the interpreter lock while it works, and returns arrays. All algorithms are in the crate
//! `eigenhedge`.
#![forbid(unsafe_code)]

mod alarms;
mod arrays;
mod batch;
mod bounds;
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
mod monitor_fleet;
mod options;
mod pages;
mod pair;
mod preimage;
mod sparse;
mod spelling;
mod state;
mod trial;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // `of_machine` is half of the memory, which is the limit for files. The limit for models is all of it.
    eigenhedge::set_max_memory(eigenhedge_io::MaxMemory::of_machine().bytes().saturating_mul(2));
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("_DEFAULTS", options::defaults(module.py())?)?;
    module.add_class::<model::PyModel>()?;
    module.add_class::<trial::Trial>()?;
    module.add_class::<fleet::Groups>()?;
    module.add_class::<moments::Folded>()?;
    module.add_class::<batch::KernelComponents>()?;
    module.add_class::<batch::KernelRegression>()?;
    module.add_class::<experts::CappedHedge>()?;
    module.add_class::<experts::Experts>()?;
    module.add_class::<pair::Pair>()?;
    module.add_class::<pair::LearnerAverage>()?;
    module.add_class::<bounds::Setting>()?;
    module.add_function(wrap_pyfunction!(bounds::all, module)?)?;
    module.add_function(wrap_pyfunction!(experts::capping, module)?)?;
    module.add_function(wrap_pyfunction!(experts::corners, module)?)?;
    module.add_function(wrap_pyfunction!(batch::symmetric_eigen, module)?)?;
    module.add_function(wrap_pyfunction!(preimage::preimage, module)?)?;
    module.add_function(wrap_pyfunction!(preimage::candidate, module)?)?;
    module.add_function(wrap_pyfunction!(preimage::kernel_mean, module)?)?;
    module.add_function(wrap_pyfunction!(preimage::mmd, module)?)?;
    module.add_function(wrap_pyfunction!(options::median_gamma, module)?)?;
    module.add_function(wrap_pyfunction!(options::kernel_advice, module)?)?;
    module.add_function(wrap_pyfunction!(options::learners, module)?)?;
    module.add_function(wrap_pyfunction!(options::options, module)?)?;
    module.add_function(wrap_pyfunction!(options::check, module)?)?;
    module.add_function(wrap_pyfunction!(monitor::check, module)?)?;
    module.add_function(wrap_pyfunction!(options::kernels, module)?)?;
    module.add_function(wrap_pyfunction!(options::set_threads, module)?)?;
    module.add_class::<monitor::PyMonitor>()?;
    module.add_class::<monitor_fleet::MonitorGroups>()?;
    Ok(())
}
