//! Defaults of the methods that have no entry in the table of options. The command line and Python both read them here.

/// Kernel of the batch methods: ridge regression, kernel PCA, pre-images, kernel means and the two-sample test.
pub const KERNEL: &str = "rbf";
/// Weight of the squared norm in kernel ridge regression.
pub const RIDGE_ALPHA: f64 = 1.0;
/// Random splits of the two-sample test.
pub const MMD_SPLITS: u32 = 199;
/// Learning rate over pairs of rows.
pub const PAIR_ETA: f64 = 1.0;
/// Share of the uniform distribution that is mixed in, over pairs of rows.
pub const PAIR_ALPHA: f64 = 1e-3;
/// Learning rate over experts.
pub const EXPERTS_ETA: f64 = 1.0;
