//! Weight vectors in the feature space of a kernel: `w_p = ψ_p Σ_i α_pi φ(x_i)` over the atoms of a dictionary.
//! Shrinking a vector changes only ψ_p. Subtracting earlier vectors from later ones combines columns of coefficients. A
//! center `m = Σ_i μ_i φ(x_i)` is one more expansion.
//! Cost per trial with t atoms and P vectors: one kernel row and O(tP). Every row that moves a vector or the center
//! becomes an atom, so memory grows with the stream unless there is a budget.
//! Numerics: when ψ_p leaves the range from 1e-100 to 1e100, it is multiplied into the coefficients. With a center,
//! squared norms are differences, and a distance from the center at rounding level counts as zero.

use super::budget::Budget;
use super::rule::{VectorStep, move_column};
use super::weights::{Change, Weights};
use crate::error::{Error, at_least_one};
use crate::kernel::{Dictionary, Vectors};
use crate::linalg::Matrix;
use crate::linalg::checks::shape;
use crate::num::dot;
use crate::scratch::{Scratch, refill, zero};
use crate::simplex::Multiplicity;
use crate::state::{LARGEST, State, energy, ensure, list};
use serde::{Deserialize, Serialize};

/// Weight vectors as expansions over a dictionary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureWeights<D> {
    dictionary: D,
    coefficients: Matrix,
    shrink: Vec<f64>,
    budget: Option<Budget>,
    forgotten: f64,
    /// Coefficients μ of the center over the atoms; empty until there is a center, like `image`.
    center: Vec<f64>,
    image: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    row: Vec<f64>,
    square: f64,
    centered: Vec<f64>,
    deflated: Vec<f64>,
    atom: Option<usize>,
}

/// Largest squared distance at which a point counts as equal to the center, relative to the sum of their squared norms.
const AT_CENTER: f64 = 1e-13;

const COMFORTABLE: std::ops::Range<f64> = 1e-100..1e100;

impl<D: Dictionary> FeatureWeights<D> {
    /// Creates an empty set of vectors over an empty dictionary.
    pub fn new(dictionary: D) -> Result<Self, Error> {
        if !dictionary.is_empty() {
            return Err(Error::Length { what: "a fresh dictionary", expected: 0, found: dictionary.len() });
        }
        Ok(Self {
            dictionary,
            coefficients: Matrix::default(),
            shrink: Vec::new(),
            budget: None,
            forgotten: 0.0,
            center: Vec::new(),
            image: Vec::new(),
            scratch: Scratch::default(),
        })
    }

    /// Limits the number of atoms. The atom whose removal moves the vectors least is merged into its neighbor.
    pub fn with_budget(mut self, atoms: usize) -> Result<Self, Error> {
        at_least_one("budget", atoms)?;
        assert!(self.dictionary.is_empty(), "the budget is set before the first row");
        self.budget = Some(Budget::new(atoms));
        Ok(self)
    }

    /// Returns the dictionary of atoms.
    pub fn dictionary(&self) -> &D {
        &self.dictionary
    }

    /// Returns the coefficients of weight vector `component` (from 0) over the atoms.
    pub fn coefficients(&self, component: usize) -> impl Iterator<Item = f64> {
        self.coefficients.column(component).iter().map(move |alpha| self.shrink[component] * alpha)
    }

    pub(crate) fn center(&self) -> Option<(&[f64], &[f64])> {
        (!self.center.is_empty()).then_some((&self.center, &self.image))
    }

    /// Returns the total distance by which removals of atoms have moved the weight vectors.
    pub fn forgotten(&self) -> f64 {
        self.forgotten
    }

    fn admit(&mut self, point: &D::Point) -> Option<usize> {
        let Working { row, square, atom, .. } = &mut self.scratch.0;
        if atom.is_some() || *square == 0.0 {
            return *atom;
        }
        *atom = Some(self.dictionary.len());
        if let Some(budget) = &mut self.budget {
            budget.admit(row, *square);
        }
        self.dictionary.push(point);
        if !self.center.is_empty() {
            self.image.push(dot(&self.center, row));
            self.center.push(0.0);
        }
        self.coefficients.resize(self.dictionary.len(), self.shrink.len());
        self.scratch.0.atom
    }
}

impl State for FeatureWeights<Vectors> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        self.dictionary.check_state(&built.dictionary)?;
        let (atoms, count) = (self.dictionary.len(), self.count());
        shape("the coefficients of the weight vectors", &self.coefficients, atoms, count)?;
        let whole = self.shrink.iter().all(|shrink| COMFORTABLE.contains(&shrink.abs()));
        ensure(whole, "the factor of a weight vector must be within its range")?;
        energy("what was forgotten", self.forgotten)?;
        let centered = if self.center.is_empty() { 0 } else { atoms };
        list("the coefficients of the center", &self.center, centered, -LARGEST..=LARGEST)?;
        list("the image of the center", &self.image, centered, -LARGEST..=LARGEST)?;
        match (&self.budget, &built.budget) {
            (None, None) => Ok(()),
            (Some(budget), Some(built)) => budget.check_state(built, atoms),
            _ => Err(Error::State("the budget must be that of the learner")),
        }
    }
}

impl<D: Dictionary> Weights for FeatureWeights<D> {
    type Point = D::Point;

    fn dimension(&self) -> Multiplicity {
        self.dictionary.dimension()
    }

    fn most(&self) -> Option<usize> {
        self.budget.as_ref().map(|budget| budget.most)
    }

    fn count(&self) -> usize {
        self.shrink.len()
    }

    fn load_point(&mut self, point: &D::Point, outputs: &mut Vec<f64>) -> Result<f64, Error> {
        let Working { row, square, centered, atom, .. } = &mut self.scratch.0;
        *atom = None;
        *square = self.dictionary.row(point, row)?;
        if *square < f64::MIN_POSITIVE {
            let largest = self.dictionary.largest_entry(point);
            *square = 0.0;
            row.fill(0.0);
            if largest > 0.0 {
                return Err(Error::Underflow { largest });
            }
        }
        if self.center.is_empty() {
            self.coefficients.transpose_times(row, outputs);
            outputs.iter_mut().zip(&self.shrink).for_each(|(y, shrink)| *y *= shrink);
            return Ok(*square);
        }
        refill(centered, row.iter().zip(&self.image).map(|(k, image)| k - image));
        self.coefficients.transpose_times(centered, outputs);
        outputs.iter_mut().zip(&self.shrink).for_each(|(y, shrink)| *y *= shrink);
        let center_square = dot(&self.center, &self.image);
        let distance = *square - 2.0 * dot(&self.center, row) + center_square;
        // A kernel that is not positive definite can give negative squares.
        if distance > AT_CENTER * (*square + center_square.abs()) {
            return Ok(distance);
        }
        outputs.fill(0.0);
        Ok(0.0)
    }

    fn begin(&mut self, point: &D::Point, scale: f64) {
        let atom = self.admit(point);
        self.shrink.push(1.0);
        self.coefficients.resize(self.dictionary.len(), self.shrink.len());
        let column = self.coefficients.column_mut(self.shrink.len() - 1);
        column.iter_mut().zip(&self.center).for_each(|(alpha, mu)| *alpha = -scale * mu);
        atom.into_iter().for_each(|atom| column[atom] += scale);
    }

    fn begin_at(&mut self, point: &D::Point) {
        self.shift_center(point, 1.0);
    }

    fn shift_center(&mut self, point: &D::Point, share: f64) {
        let atom = self.admit(point);
        self.center.resize(self.dictionary.len(), 0.0);
        self.image.resize(self.dictionary.len(), 0.0);
        let Working { row, square, .. } = &self.scratch.0;
        self.center.iter_mut().for_each(|mu| *mu *= 1.0 - share);
        atom.into_iter().for_each(|atom| self.center[atom] += share);
        let products = row.iter().chain(std::iter::once(square));
        self.image.iter_mut().zip(products).for_each(|(image, k)| *image += share * (k - *image));
    }

    fn learn(&mut self, point: &D::Point, step: &VectorStep) {
        let atom = self.admit(point);
        let Self { coefficients, shrink, center, scratch: Scratch(Working { deflated, .. }), .. } = self;
        zero(deflated, coefficients.rows());
        deflated.iter_mut().zip(center.iter()).for_each(|(d, mu)| *d = -step.scale * mu);
        atom.into_iter().for_each(|atom| deflated[atom] += step.scale);
        let deflates = step.deflates() || !center.is_empty();
        for (p, shrink) in shrink.iter_mut().enumerate() {
            let before = *shrink;
            let shrunk = before * step.keep[p];
            let comfortable = COMFORTABLE.contains(&shrunk.abs());
            let keep = if comfortable { 1.0 } else { shrunk };
            *shrink = if comfortable { shrunk } else { 1.0 };
            let column = coefficients.column_mut(p);
            if deflates || !comfortable {
                move_column(column, deflated, keep, step.push[p] / *shrink, step.remove[p] * before);
            } else {
                atom.into_iter().for_each(|atom| column[atom] = step.scale * step.push[p] / *shrink);
            }
        }
    }

    fn trim(&mut self, change: &mut Change) -> bool {
        let Self { coefficients, shrink, dictionary, forgotten, budget: Some(budget), center, image, scratch } = self
        else {
            return false;
        };
        let Some(merge) = budget.cheapest(coefficients, shrink, center) else { return false };
        let displacement = &mut scratch.0.deflated;
        budget.displacement(&merge, displacement);
        change.square = merge.square;
        coefficients.transpose_times(displacement, &mut change.products);
        change.products.iter_mut().zip(&*shrink).for_each(|(product, shrink)| *product *= shrink);
        change.amounts.clear();
        let last = coefficients.rows() - 1;
        for (p, shrink) in shrink.iter().enumerate() {
            let column = coefficients.column_mut(p);
            change.amounts.push(shrink * column[merge.atom]);
            column[merge.into] += merge.factor * column[merge.atom];
            column[merge.atom] = column[last];
        }
        if !center.is_empty() {
            let moved = center[merge.atom];
            image.iter_mut().zip(&*displacement).for_each(|(image, product)| *image += moved * product);
            center[merge.into] += merge.factor * moved;
            center.swap_remove(merge.atom);
            image.swap_remove(merge.atom);
        }
        coefficients.resize(last, shrink.len());
        *forgotten += (merge.square * dot(&change.amounts, &change.amounts)).sqrt();
        budget.remove(merge.atom);
        dictionary.swap_remove(merge.atom);
        true
    }
}
