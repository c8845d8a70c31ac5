//! Weight vectors in the feature space of a kernel: `w_p = ψ_p Σ_i α_pi φ(x_i)` over the atoms of a dictionary.
//!
//! Shrinking a vector changes the one number ψ_p. The simultaneous rule also subtracts earlier vectors from later
//! ones; on coefficients that is a combination of columns, so no old output is ever computed again.
//!
//! Cost for each trial with t atoms: one kernel row, O(tP) for the outputs, and O(tP) more when the rule deflates. Every
//! row that moves a vector becomes an atom: memory grows with the stream, unless there is a budget.
//!
//! Numerics: when the size of ψ_p leaves the range from 1e-100 to 1e100, it is multiplied into its coefficients and starts
//! again at one.

use super::SavedWeights;
use super::budget::Budget;
use super::implicit_frame::Frame;
use super::step::{Step, move_column};
use super::weights::{Change, Weights};
use crate::error::{Error, at_least_one};
use crate::kernel::{Dictionary, Vectors};
use crate::linalg::Matrix;
use crate::linalg::checks::shape;
use crate::num::dot;
use crate::scratch::Scratch;
use crate::simplex::Multiplicity;
use crate::state::{State, energy, ensure, within};
use serde::{Deserialize, Serialize};

/// Expansions over a dictionary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureWeights<D> {
    dictionary: D,
    /// α: a row for each atom, a column for each vector.
    coefficients: Matrix,
    /// ψ.
    shrink: Vec<f64>,
    budget: Option<Budget>,
    forgotten: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    /// Kernel row and squared norm of the loaded point.
    row: Vec<f64>,
    square: f64,
    deflated: Vec<f64>,
}

/// Sizes of ψ that need no attention.
const COMFORTABLE: std::ops::Range<f64> = 1e-100..1e100;

impl<D: Dictionary> FeatureWeights<D> {
    /// No vectors yet, over a dictionary without atoms.
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
            scratch: Scratch::default(),
        })
    }

    /// At most this many atoms: those go that change the weight vectors least. Must come before the first vector.
    pub fn with_budget(mut self, atoms: usize) -> Result<Self, Error> {
        at_least_one("budget", atoms)?;
        assert!(self.dictionary.is_empty(), "the budget is set before the first row");
        self.budget = Some(Budget::new(atoms));
        Ok(self)
    }

    /// The atoms.
    pub fn dictionary(&self) -> &D {
        &self.dictionary
    }

    /// Coefficients of one weight vector over the atoms.
    pub fn coefficients(&self, component: usize) -> impl Iterator<Item = f64> {
        self.coefficients.column(component).iter().map(move |alpha| self.shrink[component] * alpha)
    }

    /// Sum over all atoms that were dropped of the distance this moved the weight vectors, in the norm of the
    /// feature space.
    pub fn forgotten(&self) -> f64 {
        self.forgotten
    }

    /// Makes the loaded point an atom without weight.
    fn admit(&mut self, point: &D::Point) {
        let Working { row, square, .. } = &self.scratch.0;
        if let Some(budget) = &mut self.budget {
            budget.admit(row, *square);
        }
        self.dictionary.push(point);
        self.coefficients.resize(self.dictionary.len(), self.shrink.len());
    }
}

/// Part of a vector along one atom, at most: vectors are no longer than 1e8, and their parts cancel to some extent.
const LARGEST_PART: f64 = 1e12;

/// Most atoms whose kernels are all computed to check what was read from bytes.
const MOST_CHECKED: usize = 2000;

impl SavedWeights for FeatureWeights<Vectors> {
    fn check_state(&self, built: &Self, frame: &Frame) -> Result<(), Error> {
        self.dictionary.check_state(&built.dictionary)?;
        let (atoms, count) = (self.dictionary.len(), self.count());
        shape("the coefficients of the weight vectors", &self.coefficients, atoms, count)?;
        for (p, shrink) in self.shrink.iter().enumerate() {
            let whole = COMFORTABLE.contains(&shrink.abs());
            ensure(whole, "the factor of a weight vector must be within its range")?;
            for (atom, alpha) in self.coefficients.column(p).iter().enumerate() {
                let atom = self.dictionary.atom(atom);
                let part = shrink * alpha * self.dictionary.value(atom, atom).sqrt();
                within("a part of a weight vector", part, -LARGEST_PART..=LARGEST_PART)?;
                energy("a coefficient of a weight vector", alpha.abs())?;
            }
        }
        energy("what was forgotten", self.forgotten)?;
        match (&self.budget, &built.budget) {
            (None, None) => {}
            (Some(budget), Some(built)) => budget.check_state(built, &self.dictionary)?,
            _ => return Err(Error::State("the budget must be that of the learner")),
        }
        if atoms > MOST_CHECKED { Ok(()) } else { frame.check_products(0.5, self.products()) }
    }
}

impl FeatureWeights<Vectors> {
    /// Inner products of the weight vectors.
    fn products(&self) -> impl Fn(usize, usize) -> f64 {
        let (mut dictionary, mut row, mut outputs) = (self.dictionary.clone(), Vec::new(), Vec::new());
        let mut products = Matrix::zeros(self.count(), self.count());
        for atom in 0..dictionary.len() {
            dictionary.atom_row(atom, &mut row);
            self.coefficients.transpose_times(&row, &mut outputs);
            for (p, shrink) in self.shrink.iter().enumerate() {
                let part = shrink * self.coefficients.column(p)[atom];
                let outputs = outputs.iter().zip(&self.shrink);
                products.column_mut(p).iter_mut().zip(outputs).for_each(|(sum, (y, s))| *sum += part * s * y);
            }
        }
        move |p, q| products.column(q)[p]
    }
}

impl<D: Dictionary> Weights for FeatureWeights<D> {
    type Point = D::Point;

    fn dimension(&self) -> Multiplicity {
        self.dictionary.dimension()
    }

    fn most(&self) -> Option<usize> {
        self.budget.as_ref().map(Budget::most)
    }

    fn count(&self) -> usize {
        self.shrink.len()
    }

    fn load_point(&mut self, point: &D::Point, outputs: &mut Vec<f64>) -> Result<f64, Error> {
        let Working { row, square, .. } = &mut self.scratch.0;
        *square = self.dictionary.row(point, row)?;
        if *square < f64::MIN_POSITIVE {
            let largest = self.dictionary.largest_entry(point);
            *square = 0.0;
            row.fill(0.0);
            if largest > 0.0 {
                return Err(Error::Underflow { largest });
            }
        }
        self.coefficients.transpose_times(row, outputs);
        outputs.iter_mut().zip(&self.shrink).for_each(|(y, shrink)| *y *= shrink);
        Ok(*square)
    }

    fn begin(&mut self, point: &D::Point, scale: f64) {
        self.shrink.push(1.0);
        self.admit(point);
        let component = self.shrink.len() - 1;
        self.coefficients.column_mut(component)[self.dictionary.len() - 1] = scale;
    }

    fn learn(&mut self, point: &D::Point, step: &Step) {
        self.admit(point);
        let Self { coefficients, shrink, scratch: Scratch(Working { deflated, .. }), .. } = self;
        let last = coefficients.rows() - 1;
        deflated.clear();
        deflated.resize(last + 1, 0.0);
        deflated[last] = 1.0;
        let deflates = step.deflates();
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
                column[last] = step.push[p] / *shrink;
            }
        }
    }

    fn trim(&mut self, change: &mut Change) -> bool {
        let Self { coefficients, shrink, dictionary, forgotten, budget: Some(budget), scratch } = self else {
            return false;
        };
        let Some(merge) = budget.cheapest(coefficients, shrink) else { return false };
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
        coefficients.resize(last, shrink.len());
        *forgotten += (merge.square * dot(&change.amounts, &change.amounts)).sqrt();
        budget.remove(merge.atom);
        dictionary.swap_remove(merge.atom);
        true
    }
}
