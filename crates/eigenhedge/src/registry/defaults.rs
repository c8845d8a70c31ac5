//! Defaults of methods that have no entry in the table of options.

/// Default kernel of the batch methods: ridge regression, kernel PCA, pre-images, means, two-sample test.
pub const KERNEL: &str = "rbf";
/// Default regularization weight of kernel ridge regression.
pub const RIDGE_ALPHA: f64 = 1.0;
/// Default number of random splits of the two-sample test.
pub const MMD_SPLITS: u32 = 199;
/// Default learning rate of the pair learner.
pub const PAIR_ETA: f64 = 1.0;
/// Default share of the uniform distribution that the pair learner mixes in.
pub const PAIR_ALPHA: f64 = 1e-3;
/// Default learning rate of the expert learners.
pub const EXPERTS_ETA: f64 = 1.0;
