//! Kernels on vectors of numbers. An elementary kernel is a function of one [`Measure`] of the two vectors. Sums,
//! products and positive multiples of kernels are kernels again.
//! References: Schölkopf & Smola, *Learning with Kernels* (2002), §13.1; Rasmussen & Williams, *Gaussian Processes for
//! Machine Learning* (2006), §4.2; Jiao & Vert, *The Kendall and Mallows kernels for permutations* (2015).

use super::measures::Measure;
use super::{Function, TextItems};
use crate::error::{Error, at_least_one, not_negative, positive, require};
use crate::simplex::Multiplicity;
use serde::{Deserialize, Serialize};

/// Kernel on vectors of numbers or on lists of items. Factors γ, scales and length scales ℓ must be positive, and
/// degrees, substrings and the numbers of parts at least 1. The constant c of a polynomial kernel must not be negative.
///
/// ```
/// use eigenhedge::kernel::VectorKernel;
///
/// let kernel = VectorKernel::Rbf { gamma: 0.5 }.plus(VectorKernel::Linear.scaled(0.1)).checked()?;
/// let value = kernel.value(&[1.0, 0.0], &[1.0, 2.0]);
/// assert!((value - ((-2f64).exp() + 0.1)).abs() < 1e-15);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum VectorKernel {
    /// Linear kernel `a·b`.
    Linear,
    /// Polynomial kernel `(γ a·b + c)^degree`.
    Polynomial { gamma: f64, degree: u32, coef0: f64 },
    /// RBF kernel `exp(-γ |a - b|²)`.
    Rbf { gamma: f64 },
    /// Laplacian kernel `exp(-γ Σ|a_i - b_i|)`.
    Laplacian { gamma: f64 },
    /// Matérn kernel with smoothness 3/2: `(1 + s) exp(-s)` with `s = √3 |a - b| / ℓ`.
    Matern32 { length_scale: f64 },
    /// Matérn kernel with smoothness 5/2: `(1 + s + s²/3) exp(-s)` with `s = √5 |a - b| / ℓ`.
    Matern52 { length_scale: f64 },
    /// Sigmoid kernel `tanh(γ a·b + c)`. It is not positive definite.
    Sigmoid { gamma: f64, coef0: f64 },
    /// Cosine kernel `a·b / (|a| |b|)`. It is 0 if a vector is zero or its squared norm underflows.
    Cosine,
    /// Kendall correlation of rankings, vectors of distinct numbers of which only the order matters (Jiao & Vert 2015).
    Kendall { length: usize },
    /// Mallows kernel `exp(-γ · discordant)`, where `discordant` counts the pairs of entries in opposite order.
    Mallows { gamma: f64 },
    /// Spectrum kernel of texts: the cosine of the vectors of substring counts.
    Spectrum { items: TextItems, substring: usize },
    /// Number of items in the intersection of two sets.
    Intersection { items: TextItems },
    /// Jaccard similarity of two sets: the size of their intersection divided by the size of their union.
    Jaccard { items: TextItems },
    /// Sum of at least one kernel.
    Sum(#[serde(deserialize_with = "nested")] Vec<VectorKernel>),
    /// Product of at least one kernel.
    Product(#[serde(deserialize_with = "nested")] Vec<VectorKernel>),
    /// Multiple `scale · k(a, b)` of a kernel.
    Scaled {
        scale: f64,
        #[serde(deserialize_with = "nested")]
        kernel: Box<VectorKernel>,
    },
    /// Custom function of two rows. It is last, so that other variants keep their saved indices.
    #[serde(skip)]
    Function(Function),
}

const DEEPEST: u32 = 32;

/// Deserializes the kernels inside a kernel. Limits the nesting, because a deep one would overflow the stack.
fn nested<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    thread_local!(static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
    let depth = DEPTH.get();
    if depth >= DEEPEST {
        return Err(serde::de::Error::custom("kernels are nested too deeply"));
    }
    DEPTH.set(depth + 1);
    let result = T::deserialize(deserializer);
    DEPTH.set(depth);
    result
}

impl VectorKernel {
    /// Returns the sum of this kernel and another.
    pub fn plus(self, other: Self) -> Self {
        match self {
            Self::Sum(mut parts) => {
                parts.push(other);
                Self::Sum(parts)
            }
            first => Self::Sum(vec![first, other]),
        }
    }

    /// Returns the product of this kernel and another.
    pub fn times(self, other: Self) -> Self {
        match self {
            Self::Product(mut parts) => {
                parts.push(other);
                Self::Product(parts)
            }
            first => Self::Product(vec![first, other]),
        }
    }

    /// Returns `scale` times this kernel.
    pub fn scaled(self, scale: f64) -> Self {
        Self::Scaled { scale, kernel: Box::new(self) }
    }

    /// Returns the kernel itself, or `Err` if a parameter or a part is invalid.
    pub fn checked(self) -> Result<Self, Error> {
        self.check_parameters()?;
        Ok(self)
    }

    fn check_parameters(&self) -> Result<(), Error> {
        match self {
            Self::Linear
            | Self::Cosine
            | Self::Intersection { .. }
            | Self::Jaccard { .. }
            | Self::Function(_)
            | Self::Kendall { .. } => {}
            Self::Spectrum { substring, .. } => at_least_one("substring", *substring)?,
            Self::Polynomial { gamma, degree, coef0 } => {
                positive("gamma", *gamma)?;
                at_least_one("degree", *degree as usize)?;
                not_negative("coef0", *coef0)?;
            }
            Self::Rbf { gamma } | Self::Laplacian { gamma } | Self::Mallows { gamma } => {
                positive("gamma", *gamma)?;
            }
            Self::Matern32 { length_scale } | Self::Matern52 { length_scale } => {
                positive("length-scale", *length_scale)?;
            }
            Self::Sigmoid { gamma, coef0 } => {
                positive("gamma", *gamma)?;
                require(coef0.is_finite(), "coef0", "finite", *coef0)?;
            }
            Self::Sum(parts) | Self::Product(parts) => {
                at_least_one("number of kernels in a sum or product", parts.len())?;
                parts.iter().try_for_each(Self::check_part)?;
            }
            Self::Scaled { scale, kernel } => {
                positive("scale", *scale)?;
                kernel.check_part()?;
            }
        }
        Ok(())
    }

    fn check_part(&self) -> Result<(), Error> {
        match self.takes_items() {
            true => Err(Error::Unsupported("a kernel of items cannot be part of another kernel")),
            false => self.check_parameters(),
        }
    }

    pub(super) fn check_point(&self, point: &[f64]) -> Result<(), Error> {
        match self {
            Self::Kendall { .. } | Self::Mallows { .. } => {
                let repeats = |i: &usize| point[..*i].contains(&point[*i]);
                (0..point.len()).find(repeats).map_or(Ok(()), |index| {
                    let rule = "unlike those before it, to be a ranking";
                    Err(Error::Entry { what: "row", index, rule, value: point[index] })
                })
            }
            Self::Sum(parts) | Self::Product(parts) => parts.iter().try_for_each(|part| part.check_point(point)),
            Self::Scaled { kernel, .. } => kernel.check_point(point),
            _ => Ok(()),
        }
    }

    /// Returns true if rows may have any length: for kernels on items and for [`Function`].
    pub fn takes_items(&self) -> bool {
        self.text_items().is_some() || matches!(self, Self::Function(_))
    }

    /// Returns the kind of items into which a text is divided, or `None` if the kernel does not accept texts.
    pub fn text_items(&self) -> Option<TextItems> {
        match self {
            Self::Spectrum { items, .. } | Self::Intersection { items } | Self::Jaccard { items } => Some(*items),
            _ => None,
        }
    }

    /// Returns true if Gram matrices have no negative eigenvalues (assumed for [`Function`]).
    pub fn positive_definite(&self) -> bool {
        match self {
            Self::Sigmoid { .. } => false,
            Self::Sum(parts) | Self::Product(parts) => parts.iter().all(Self::positive_definite),
            Self::Scaled { kernel, .. } => kernel.positive_definite(),
            _ => true,
        }
    }

    /// Returns the dimension N of the feature space for vectors with `length` entries: an upper bound for sums and
    /// products of kernels, and infinite above 64 bits.
    pub fn dimension(&self, length: usize) -> Multiplicity {
        let n = length as u64;
        match self {
            Self::Linear | Self::Cosine => Multiplicity::Finite(n),
            Self::Polynomial { degree, coef0, .. } => {
                let variables = if *coef0 == 0.0 { n } else { n.saturating_add(1) };
                monomials(variables, *degree)
            }
            Self::Kendall { .. } => n
                .checked_mul(n.saturating_sub(1))
                .map_or(Multiplicity::Infinite, |twice| Multiplicity::Finite(twice / 2)),
            Self::Mallows { .. } => {
                let factorial = (1..=n.min(64)).try_fold(1u64, u64::checked_mul);
                factorial.map_or(Multiplicity::Infinite, Multiplicity::Finite)
            }
            Self::Scaled { kernel, .. } => kernel.dimension(length),
            Self::Sum(parts) => combined(parts, length, 0, u64::checked_add),
            Self::Product(parts) => combined(parts, length, 1, u64::checked_mul),
            _ => Multiplicity::Infinite,
        }
    }

    pub(super) fn measure(&self) -> Option<Measure> {
        match self {
            Self::Linear | Self::Polynomial { .. } | Self::Sigmoid { .. } => Some(Measure::Product),
            Self::Rbf { .. } | Self::Matern32 { .. } | Self::Matern52 { .. } => Some(Measure::SquaredDistance),
            Self::Laplacian { .. } => Some(Measure::AbsoluteDistance),
            Self::Cosine => Some(Measure::Cosine),
            Self::Kendall { .. } | Self::Mallows { .. } => Some(Measure::Discordance),
            Self::Sum(_) | Self::Product(_) | Self::Scaled { .. } => None,
            Self::Spectrum { .. } | Self::Intersection { .. } | Self::Jaccard { .. } | Self::Function(_) => None,
        }
    }
}

fn monomials(variables: u64, degree: u32) -> Multiplicity {
    if variables == 0 {
        return Multiplicity::Finite(0);
    }
    // Uses the shorter of two equivalent products. Every intermediate result is a binomial coefficient.
    let (low, high) = (u64::from(degree).min(variables - 1), u64::from(degree).max(variables - 1));
    let mut count = 1u128;
    for i in 1..=low {
        count = count * (u128::from(high) + u128::from(i)) / u128::from(i);
        if count > u128::from(u64::MAX) {
            return Multiplicity::Infinite;
        }
    }
    u64::try_from(count).map_or(Multiplicity::Infinite, Multiplicity::Finite)
}

fn combined(parts: &[VectorKernel], length: usize, neutral: u64, with: fn(u64, u64) -> Option<u64>) -> Multiplicity {
    let total = parts.iter().try_fold(neutral, |total, part| match part.dimension(length) {
        Multiplicity::Finite(n) => with(total, n),
        Multiplicity::Infinite => None,
    });
    total.map_or(Multiplicity::Infinite, Multiplicity::Finite)
}
