//! Dictionaries of vectors.

use super::item_rows::ItemRow;
use super::measures::Measure;
use super::values::{Points, Row, Working, check_values};
use super::{Dictionary, VectorKernel, rows_one_by_one};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::num::largest;
use crate::row::check_row;
use crate::scratch::{Scratch, refill};
use crate::simplex::Multiplicity;
use crate::state::{State, energy, ensure};
use serde::{Deserialize, Serialize, Serializer};

/// Dictionary of vectors of equal length, or of lists of items of any length. A kernel row costs one pass over the
/// atoms for each distance or product in the kernel.
///
/// ```
/// use eigenhedge::kernel::{Dictionary, VectorKernel, Vectors};
///
/// let mut atoms = Vectors::new(VectorKernel::Rbf { gamma: 1.0 }, 2)?;
/// atoms.push(&[0.0, 1.0]);
/// let mut row = Vec::new();
/// assert_eq!((atoms.row(&[0.0, 1.0], &mut row)?, row[0]), (1.0, 1.0));
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Vectors {
    kernel: VectorKernel,
    pub(crate) atoms: Matrix,
    #[serde(serialize_with = "only_numbers")]
    items: Vec<ItemRow>,
    /// Squared norm of each atom. For lists of items, this is the kernel of the atom with itself.
    #[serde(skip)]
    squares: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Deserialize)]
#[serde(rename = "Vectors")]
struct Saved {
    kernel: VectorKernel,
    atoms: Matrix,
    items: Vec<Vec<f64>>,
}

fn only_numbers<S: Serializer>(items: &[ItemRow], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().map(ItemRow::numbers))
}

impl TryFrom<Saved> for Vectors {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let mut vectors = Self::new(saved.kernel, saved.atoms.rows())?;
        for atom in (0..saved.atoms.columns()).map(|j| saved.atoms.column(j)) {
            check_row("atom", atom, atom.len())?;
            vectors.squares.push(Measure::Product.of(atom, atom));
        }
        vectors.atoms = saved.atoms;
        let takes_items = vectors.kernel.takes_items();
        ensure(if takes_items { vectors.is_empty() } else { saved.items.is_empty() }, "atoms must be of one kind")?;
        for item in &saved.items {
            check_row("atom", item, item.len())?;
            vectors.push(item);
        }
        Ok(vectors)
    }
}

impl Vectors {
    /// Creates an empty dictionary of vectors with `length` entries. Returns `Err` if a kernel parameter is invalid.
    pub fn new(kernel: VectorKernel, length: usize) -> Result<Self, Error> {
        let kernel = kernel.checked()?;
        let (atoms, items) = (Matrix::zeros(length, 0), Vec::new());
        Ok(Self { kernel, atoms, items, squares: Vec::new(), scratch: Scratch::default() })
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> &VectorKernel {
        &self.kernel
    }

    /// Returns the number of entries per vector. It has no meaning for a kernel on items.
    pub fn length(&self) -> usize {
        self.atoms.rows()
    }
}

impl State for Vectors {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = (&self.kernel, self.length()) == (&built.kernel, built.length());
        ensure(parameters, "the kernel and the length of atoms must be those of the learner")?;
        (0..self.len())
            .try_for_each(|atom| energy("the kernel of an atom with itself", self.value_between(atom, self, atom)))
    }
}

impl Dictionary for Vectors {
    type Point = [f64];

    fn len(&self) -> usize {
        self.squares.len()
    }

    fn dimension(&self) -> Multiplicity {
        self.kernel.dimension(self.length())
    }

    fn row(&mut self, point: &[f64], row: &mut Vec<f64>) -> Result<f64, Error> {
        if self.kernel.takes_items() {
            check_row("row", point, point.len())?;
            let point = ItemRow::new(&self.kernel, point);
            refill(row, self.items.iter().map(|atom| self.kernel.of_items(atom, &point)));
            let itself = self.kernel.of_items(&point, &point);
            return check_values(itself, row).map(|()| itself);
        }
        check_row("row", point, self.length())?;
        self.kernel.check_point(point)?;
        let square = Measure::Product.of(point, point);
        Row::new((&self.atoms, &self.squares), Points::One(point, square), &mut self.scratch.0).fill(&self.kernel, row);
        let itself = self.kernel.of_measures(&|measure| measure.of_itself(square));
        check_values(itself, row)?;
        Ok(itself)
    }

    fn rows(&mut self, points: &[&[f64]], rows: &mut Matrix, own: &mut Vec<f64>) -> Result<(), (usize, Error)> {
        if self.kernel.takes_items() {
            return rows_one_by_one(self, points, rows, own);
        }
        let mut block = Matrix::zeros(self.length(), points.len());
        let mut squares = Vec::with_capacity(points.len());
        for (j, point) in points.iter().enumerate() {
            check_row("row", point, self.length()).and_then(|()| self.kernel.check_point(point)).map_err(|e| (j, e))?;
            block.column_mut(j).copy_from_slice(point);
            squares.push(Measure::Product.of(point, point));
        }
        let (count, mut values) = (self.len(), Vec::new());
        let points = Points::Block(&block, &squares);
        Row::new((&self.atoms, &self.squares), points, &mut self.scratch.0).fill(&self.kernel, &mut values);
        own.clear();
        rows.resize(count, squares.len());
        for (j, square) in squares.iter().enumerate() {
            own.push(self.kernel.of_measures(&|measure| measure.of_itself(*square)));
            rows.column_mut(j).copy_from_slice(&values[j * count..][..count]);
            check_values(own[j], rows.column(j)).map_err(|e| (j, e))?;
        }
        Ok(())
    }

    fn largest_entry(&self, point: &[f64]) -> f64 {
        // Item numbers have no magnitude.
        if self.kernel.takes_items() { 0.0 } else { largest(point) }
    }

    fn atom_row(&mut self, atom: usize, row: &mut Vec<f64>) {
        if let Some(point) = self.items.get(atom) {
            row.clear();
            return row.extend(self.items.iter().map(|other| self.kernel.of_items(other, point)));
        }
        let point = Points::One(self.atoms.column(atom), self.squares[atom]);
        Row::new((&self.atoms, &self.squares), point, &mut self.scratch.0).fill(&self.kernel, row);
    }

    fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        self.kernel.value(a, b)
    }

    fn value_between(&self, atom: usize, other: &Self, of_other: usize) -> f64 {
        match (self.items.get(atom), other.items.get(of_other)) {
            (Some(own), Some(point)) if std::ptr::eq(own, point) => self.squares[atom],
            (Some(own), Some(point)) => self.kernel.of_items(own, point),
            _ => self.kernel.value(self.atom(atom), other.atom(of_other)),
        }
    }

    fn push(&mut self, point: &[f64]) {
        if self.kernel.takes_items() {
            let item = ItemRow::new(&self.kernel, point);
            self.squares.push(self.kernel.of_items(&item, &item));
            return self.items.push(item);
        }
        assert_eq!(point.len(), self.length(), "an atom is as long as the others");
        self.atoms.push_column(point);
        self.squares.push(Measure::Product.of(point, point));
    }

    fn swap_remove(&mut self, atom: usize) {
        if self.kernel.takes_items() {
            self.items.swap_remove(atom);
        } else {
            self.atoms.swap_remove_column(atom);
        }
        self.squares.swap_remove(atom);
    }

    fn atom(&self, atom: usize) -> &[f64] {
        self.items.get(atom).map_or_else(|| self.atoms.column(atom), ItemRow::numbers)
    }
}
