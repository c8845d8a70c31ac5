//! Registry of kernels on rows: names, formulas and construction.

use super::{TextItems, VectorKernel};

/// Description of a kernel in the registry.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct KernelEntry {
    /// Name of the kernel in settings and files.
    pub name: &'static str,
    /// Formula in plain text.
    pub formula: &'static str,
    /// True if Gram matrices never have negative eigenvalues.
    pub positive_definite: bool,
    /// Names of the parameters on which the kernel depends.
    pub reads: &'static [&'static str],
}

const fn entry(name: &'static str, formula: &'static str, reads: &'static [&'static str]) -> KernelEntry {
    KernelEntry { name, formula, positive_definite: true, reads }
}

/// Descriptions of all kernels that can be built from a name and [`KernelParameters`].
pub const KERNELS: &[KernelEntry] = &[
    entry("linear", "a·b", &[]),
    entry("polynomial", "(gamma a·b + coef0)^degree", &["gamma", "degree", "coef0"]),
    entry("rbf", "exp(-gamma |a - b|²)", &["gamma"]),
    entry("laplacian", "exp(-gamma Σ|a_i - b_i|)", &["gamma"]),
    entry("matern32", "(1 + s) exp(-s), s = √3 |a - b| / length_scale", &["gamma", "length-scale"]),
    entry("matern52", "(1 + s + s²/3) exp(-s), s = √5 |a - b| / length_scale", &["gamma", "length-scale"]),
    KernelEntry { positive_definite: false, ..entry("sigmoid", "tanh(gamma a·b + coef0)", &["gamma", "coef0"]) },
    entry("cosine", "a·b / (|a| |b|)", &[]),
    entry("kendall", "of rankings: (concordant - discordant) / pairs of columns", &[]),
    entry("mallows", "of rankings: exp(-gamma discordant pairs of columns)", &["gamma"]),
    entry("spectrum", "of texts: cosine of the counts of substrings", &["items", "substring"]),
    entry("intersection", "of sets: number of common items", &["items"]),
    entry("jaccard", "of sets: common items / all items of both", &["items"]),
];

impl KernelEntry {
    /// Returns true if rows are lists of items (texts or sets).
    pub fn takes_items(&self) -> bool {
        self.reads.contains(&"items")
    }
}

/// Kernel parameters given by users. `None` means the default.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KernelParameters {
    /// Factor γ of the kernels that have one. The default is `1/n` for vectors of length n.
    pub gamma: Option<f64>,
    /// Degree of the polynomial kernel. The default is 3.
    pub degree: Option<u32>,
    /// Constant of the polynomial or sigmoid kernel. The default is 1.
    pub coef0: Option<f64>,
    /// Length scale ℓ of a Matérn kernel. The default is `1/√(2γ)`, the length scale of the RBF kernel with that γ.
    pub length_scale: Option<f64>,
    /// Kind of items in a text. The default is characters for `spectrum` and words for `intersection` and `jaccard`.
    pub items: Option<TextItems>,
    /// Number of items per substring of the `spectrum` kernel. The default is 3.
    pub substring: Option<usize>,
}

impl VectorKernel {
    /// Builds the kernel with this name for vectors of `length` entries. Returns `None` for an unknown name. Parameters
    /// are not checked.
    pub fn from_name(name: &str, parameters: &KernelParameters, length: usize) -> Option<Self> {
        let gamma = parameters.gamma.unwrap_or(1.0 / length as f64);
        let degree = parameters.degree.unwrap_or(3);
        let coef0 = parameters.coef0.unwrap_or(1.0);
        let length_scale = parameters.length_scale.unwrap_or((2.0 * gamma).sqrt().recip());
        Some(match name {
            "linear" => Self::Linear,
            "polynomial" => Self::Polynomial { gamma, degree, coef0 },
            "rbf" => Self::Rbf { gamma },
            "laplacian" => Self::Laplacian { gamma },
            "matern32" => Self::Matern32 { length_scale },
            "matern52" => Self::Matern52 { length_scale },
            "sigmoid" => Self::Sigmoid { gamma, coef0 },
            "cosine" => Self::Cosine,
            "kendall" => Self::Kendall { length },
            "mallows" => Self::Mallows { gamma },
            "spectrum" => Self::Spectrum {
                items: parameters.items.unwrap_or(TextItems::Chars),
                substring: parameters.substring.unwrap_or(3),
            },
            "intersection" => Self::Intersection { items: parameters.items.unwrap_or(TextItems::Words) },
            "jaccard" => Self::Jaccard { items: parameters.items.unwrap_or(TextItems::Words) },
            _ => return None,
        })
    }

    /// Returns the parameters of this kernel. Parameters that it does not have are `None`.
    pub fn parameters(&self) -> KernelParameters {
        let none = KernelParameters::default();
        match *self {
            Self::Polynomial { gamma, degree, coef0 } => {
                KernelParameters { gamma: Some(gamma), degree: Some(degree), coef0: Some(coef0), ..none }
            }
            Self::Rbf { gamma } | Self::Laplacian { gamma } | Self::Mallows { gamma } => {
                KernelParameters { gamma: Some(gamma), ..none }
            }
            Self::Matern32 { length_scale } | Self::Matern52 { length_scale } => {
                KernelParameters { length_scale: Some(length_scale), ..none }
            }
            Self::Sigmoid { gamma, coef0 } => KernelParameters { gamma: Some(gamma), coef0: Some(coef0), ..none },
            Self::Spectrum { items, substring } => {
                KernelParameters { items: Some(items), substring: Some(substring), ..none }
            }
            Self::Intersection { items } | Self::Jaccard { items } => KernelParameters { items: Some(items), ..none },
            _ => none,
        }
    }

    /// Returns the name of the kernel in the registry, or "sum", "product", "scaled" or "function".
    pub fn name(&self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Polynomial { .. } => "polynomial",
            Self::Rbf { .. } => "rbf",
            Self::Laplacian { .. } => "laplacian",
            Self::Matern32 { .. } => "matern32",
            Self::Matern52 { .. } => "matern52",
            Self::Sigmoid { .. } => "sigmoid",
            Self::Cosine => "cosine",
            Self::Kendall { .. } => "kendall",
            Self::Mallows { .. } => "mallows",
            Self::Spectrum { .. } => "spectrum",
            Self::Intersection { .. } => "intersection",
            Self::Jaccard { .. } => "jaccard",
            Self::Function(_) => "function",
            Self::Sum(_) => "sum",
            Self::Product(_) => "product",
            Self::Scaled { .. } => "scaled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_builds_the_kernel_that_bears_it() {
        for entry in KERNELS {
            let kernel = VectorKernel::from_name(entry.name, &KernelParameters::default(), 5).unwrap();
            assert_eq!(kernel.name(), entry.name);
            assert_eq!(kernel.positive_definite(), entry.positive_definite, "{}", entry.name);
            assert!(kernel.checked().is_ok());
        }
        assert_eq!(VectorKernel::from_name("poly", &KernelParameters::default(), 5), None);
    }

    #[test]
    fn a_kernel_reads_the_parameters_that_the_registry_lists_and_no_others() {
        let defaults = KernelParameters::default();
        let changed = [
            ("gamma", KernelParameters { gamma: Some(7.0), ..defaults }),
            ("degree", KernelParameters { degree: Some(7), ..defaults }),
            ("coef0", KernelParameters { coef0: Some(7.0), ..defaults }),
            ("length-scale", KernelParameters { length_scale: Some(7.0), ..defaults }),
            ("substring", KernelParameters { substring: Some(7), ..defaults }),
        ];
        for entry in KERNELS {
            for (name, parameters) in &changed {
                let build = |parameters| VectorKernel::from_name(entry.name, parameters, 5);
                let reads = build(parameters) != build(&defaults);
                assert_eq!(reads, entry.reads.contains(name), "{} reads {name}", entry.name);
            }
            let build = |items| VectorKernel::from_name(entry.name, &KernelParameters { items, ..defaults }, 5);
            let [words, chars] = TextItems::ALL.map(Some).map(build);
            assert_eq!(words != chars, entry.reads.contains(&"items"), "{} reads items", entry.name);
        }
    }

    #[test]
    fn the_default_length_scale_is_that_of_the_rbf_kernel() {
        let kernel = VectorKernel::from_name("matern32", &KernelParameters::default(), 8);
        assert_eq!(kernel, Some(VectorKernel::Matern32 { length_scale: 2.0 }));
    }
}
