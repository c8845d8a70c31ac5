//! Order in which small products are computed: a few SIMD vectors of rows at a time.

use pulp::Simd;

pub(crate) trait RowBlocks {
    /// Computes `R` SIMD vectors of rows from vector `row` on, in all columns of the product.
    fn rows<S: Simd, const R: usize>(&mut self, simd: S, row: usize);
}

#[inline(always)]
pub(crate) fn in_row_blocks<S: Simd>(simd: S, rows: usize, product: &mut impl RowBlocks) {
    let vectors = rows.div_ceil(S::F64_LANES);
    // The sums, the vectors of one column and one factor must fit into the registers: 32 with AVX-512, otherwise 16.
    let most = if S::F64_LANES == 8 { 4 } else { 3 };
    let (mut row, mut left) = (0, vectors.div_ceil(most));
    while left > 0 {
        // Blocks have nearly equal heights, because a low block does little work per factor that it reads.
        let taken = (vectors - row).div_ceil(left);
        match taken {
            4 => product.rows::<S, 4>(simd, row),
            3 => product.rows::<S, 3>(simd, row),
            2 => product.rows::<S, 2>(simd, row),
            _ => product.rows::<S, 1>(simd, row),
        }
        row += taken;
        left -= 1;
    }
}
