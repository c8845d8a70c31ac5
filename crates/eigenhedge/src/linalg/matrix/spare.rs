//! The spare column after the last one: a residual is computed in it, and may become part of the matrix.

use super::subtract_projection::{Columns, SubtractTimes};
use super::{Matrix, products};
use pulp::Arch;

impl Matrix {
    /// Writes `x - A c` to the spare column, which [`Self::adopt_spare`] appends. Returns its squared norm.
    pub(crate) fn spare_residual(&mut self, x: &[f64], coefficients: &[f64]) -> f64 {
        assert_eq!((x.len(), coefficients.len()), (self.rows, self.columns), "shapes agree");
        let (columns, residual) = self.columns_and_spare();
        Arch::new().dispatch(SubtractTimes { columns, coefficients, from: Some(x), x: residual })
    }

    pub(crate) fn transpose_times_spare(&mut self, out: &mut Vec<f64>) {
        let (columns, residual) = self.columns_and_spare();
        products::transpose_times(columns, residual, out);
    }

    /// Subtracts `A c` from the spare column and returns the squared norm of the result.
    pub(crate) fn subtract_from_spare(&mut self, coefficients: &[f64]) -> f64 {
        assert_eq!(coefficients.len(), self.columns, "shapes agree");
        let (columns, residual) = self.columns_and_spare();
        Arch::new().dispatch(SubtractTimes { columns, coefficients, from: None, x: residual })
    }

    pub(crate) fn spare(&mut self) -> &[f64] {
        self.columns_and_spare().1
    }

    pub(crate) fn adopt_spare(&mut self) {
        self.columns_and_spare();
        self.columns += 1;
    }

    pub(crate) fn adopt_spare_scaled(&mut self, scale: f64) {
        let (_, residual) = self.columns_and_spare();
        residual.iter_mut().for_each(|x| *x *= scale);
        self.columns += 1;
    }

    /// Overwrites the spare column with the vector stored `distance` columns after it.
    pub(crate) fn draw_spare(&mut self, distance: usize) {
        let (rows, stride) = (self.rows, self.stride);
        let (_, room) = self.columns_and_room();
        room.copy_within(distance * stride..distance * stride + rows, 0);
    }

    /// Computes the products of the last column with `count` spare vectors, the first `distance` columns after it.
    pub(crate) fn last_times_spares(&self, distance: usize, count: usize, out: &mut Vec<f64>) {
        let from = self.start + (self.columns - 1) * self.stride;
        let vectors = Columns {
            entries: &self.data[from + distance * self.stride..],
            stride: self.stride,
            rows: self.rows,
            count,
        };
        products::transpose_times(vectors, self.column(self.columns - 1), out);
    }

    fn columns_and_spare(&mut self) -> (Columns<'_>, &mut [f64]) {
        self.reserve(self.columns + 1);
        let (columns, spare) = self.columns_and_room();
        let rows = columns.rows;
        (columns, &mut spare[..rows])
    }
}
