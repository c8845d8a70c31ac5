use super::*;

#[test]
fn the_product_of_a_lower_triangle_is_that_of_the_symmetric_matrix() {
    let mut random = crate::Random::seeded(1);
    for n in [0, 1, 2, 7, 8, 33, 130] {
        let mut full = Matrix::zeros(n, n);
        for j in 0..n {
            for i in j..n {
                let entry = random.normal();
                full.column_mut(j)[i] = entry;
                full.column_mut(i)[j] = entry;
            }
        }
        let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let (mut wanted, mut found) = (Vec::new(), vec![1.0; n]);
        full.transpose_times(&x, &mut wanted);
        (0..n).for_each(|j| full.column_mut(j)[..j].fill(f64::NAN));
        full.add_symmetric_product(&x, &mut found);
        found.iter().zip(&wanted).for_each(|(a, b)| assert!((a - 1.0 - b).abs() <= 1e-12, "{n}: {a} and {b}"));
    }
}

#[test]
fn growing_and_shrinking_keeps_the_shared_part_and_zeroes_the_rest() {
    let mut matrix = Matrix::zeros(3, 2);
    for j in 0..2 {
        for (i, entry) in matrix.column_mut(j).iter_mut().enumerate() {
            *entry = (10 * j + i) as f64;
        }
    }
    matrix.resize(2, 2);
    matrix.resize(20, 5);
    assert_eq!(matrix.column(1)[..3], [10.0, 11.0, 0.0]);
    assert!(matrix.column(4).iter().all(|x| *x == 0.0));
    assert_eq!(matrix.column(0).as_ptr().align_offset(ALIGN), 0);
    assert_eq!(matrix, matrix.clone());
}

fn numbered(rows: usize, columns: usize) -> Matrix {
    let mut matrix = Matrix::zeros(rows, columns);
    for j in 0..columns {
        for (i, entry) in matrix.column_mut(j).iter_mut().enumerate() {
            *entry = ((31 * j + 7 * i) % 97) as f64 / 97.0 - 0.5;
        }
    }
    matrix
}

const SHAPES: [(usize, usize); 9] =
    [(0, 3), (1, 1), (5, 3), (8, 8), (24, 9), (63, 13), (300, 21), (2048, 4), (40_000, 17)];

#[test]
fn combining_in_place_equals_the_product() {
    for (rows, columns) in SHAPES {
        for kept in [0, 1, columns.div_ceil(2), columns] {
            let (mut matrix, rotation) = (numbered(rows, columns), numbered(columns, kept));
            let mut wanted = Matrix::default();
            multiply(&mut wanted, matrix.view(), rotation.view());
            matrix.combine(&rotation, &mut Vec::new());
            assert_eq!((matrix.rows(), matrix.columns()), (rows, kept));
            for j in 0..kept {
                for (a, b) in matrix.column(j).iter().zip(wanted.column(j)) {
                    assert!((a - b).abs() <= 1e-13, "{a} against {b}");
                }
            }
        }
    }
}

#[test]
fn passes_over_long_columns_equal_the_sums_they_stand_for() {
    for (rows, columns) in SHAPES {
        let mut matrix = numbered(rows, columns);
        let x: Vec<f64> = (0..rows).map(|i| (i % 11) as f64 / 11.0).collect();
        let mut coordinates = Vec::new();
        matrix.transpose_times(&x, &mut coordinates);
        let tolerance = 1e-14 * rows as f64;
        for (j, found) in coordinates.iter().enumerate() {
            let wanted: f64 = matrix.column(j).iter().zip(&x).map(|(a, b)| a * b).sum();
            assert!((found - wanted).abs() <= tolerance, "{found} against {wanted}");
        }
        let coefficients: Vec<f64> = (0..columns).map(|j| 1.0 / (j + 1) as f64).collect();
        let explained = |i: usize| (0..columns).map(|j| coefficients[j] * matrix.column(j)[i]).sum::<f64>();
        let wanted: Vec<f64> = (0..rows).map(|i| x[i] - explained(i)).collect();
        let mut left = x.clone();
        let square = matrix.subtract_times(&coefficients, &mut left);
        let before = matrix.clone();
        assert!((matrix.spare_residual(&x, &coefficients) - square).abs() <= tolerance);
        assert_eq!(matrix, before);
        matrix.adopt_spare_scaled(2.0);
        assert_eq!(matrix.columns(), columns + 1);
        for i in 0..rows {
            assert!((left[i] - wanted[i]).abs() <= 1e-13);
            assert!((matrix.column(columns)[i] - 2.0 * wanted[i]).abs() <= 1e-13);
        }
        assert!((square - dot(&wanted, &wanted)).abs() <= tolerance);
    }
}

#[test]
fn a_saved_matrix_without_entries_is_no_wider_than_it_may_be() {
    let text = |rows: usize, columns: usize| format!(r#"{{"rows":{rows},"columns":{columns},"entries":[]}}"#);
    for (rows, columns) in [(0, 1 << 60), (usize::MAX, 0)] {
        assert!(serde_json::from_str::<Matrix>(&text(rows, columns)).is_err());
    }
    let long: Matrix = serde_json::from_str(&text(1 << 30, 0)).unwrap();
    assert_eq!((long.rows(), long.columns()), (1 << 30, 0));
}

#[test]
fn a_saved_matrix_with_the_wrong_number_of_entries_is_refused() {
    let text = r#"{"rows":2,"columns":2,"entries":[1.0,2.0,3.0]}"#;
    assert!(serde_json::from_str::<Matrix>(text).is_err());
}
