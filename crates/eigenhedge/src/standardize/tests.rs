use super::*;

/// Computes mean and standard deviation from their definitions, in two passes.
fn by_definition(rows: &[[f64; 2]], column: usize) -> (f64, f64) {
    let count = rows.len() as f64;
    let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
    (mean, (rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count).sqrt())
}

fn rows() -> Vec<[f64; 2]> {
    (0..50u32).map(|i| [f64::from(i * i % 17), 1e6 + f64::from(i * 7 % 11)]).collect()
}

/// Returns the rows in standard units of the running scale.
fn running(rows: &[[f64; 2]]) -> Vec<Vec<f64>> {
    let mut standardizer = Standardizer::new(Standardize::Running, 2);
    let each = |raw: &[f64; 2]| {
        let mut row = Vec::new();
        standardizer.apply(raw, &mut row).unwrap();
        standardizer.count_in(raw);
        row
    };
    rows.iter().map(each).collect()
}

#[test]
fn running_values_come_to_those_of_the_definition_as_one_over_the_number_of_rows() {
    let rows: Vec<[f64; 2]> = (0..2000u32).map(|i| [f64::from(i * i % 17), 1e6 + f64::from(i * 7 % 11)]).collect();
    for (t, row) in running(&rows).iter().enumerate().skip(1) {
        for column in 0..2 {
            let (mean, deviation) = by_definition(&rows[..t], column);
            let wanted = if deviation > 0.0 { (rows[t][column] - mean) / deviation } else { 0.0 };
            // The prior rows are a few deviations away. Rounding is proportional to mean/deviation.
            let slack = 30.0 / t as f64 * wanted.abs().max(1.0) + 1e-8;
            assert!((row[column] - wanted).abs() <= slack, "{t} {column}: {} {wanted}", row[column]);
        }
    }
}

#[test]
fn the_first_rows_are_not_divided_by_almost_nothing() {
    // The cells hardly vary at first, and the second column starts late.
    let cell = |i: u32| if i < 8 { 1e-3 * f64::from(i % 3) } else { f64::from(i * i % 17) };
    let rows: Vec<[f64; 2]> = (0..200).map(|i| [cell(i), if i < 100 { 5.0 } else { cell(i) }]).collect();
    for (t, row) in running(&rows).iter().enumerate() {
        let most = (1.0 + t as f64 / IMAGINARY).sqrt();
        assert!(row[0].abs() <= most.min(4.0), "{t}: {}", row[0]);
        assert!(row[1].abs() <= 4.0 && (t >= 100 || row[1] == 0.0), "{t}: {}", row[1]);
    }
}

#[test]
fn a_missing_cell_stays_missing_and_changes_nothing() {
    let all: Vec<[f64; 2]> = (0..40u32).map(|i| [f64::from(i * i % 17), f64::from(i * 7 % 11)]).collect();
    let every_third: Vec<[f64; 2]> = all.iter().copied().step_by(3).collect();
    let holes: Vec<[f64; 2]> =
        all.iter().enumerate().map(|(i, row)| if i % 3 == 0 { *row } else { [row[0], f64::NAN] }).collect();
    let (whole, short, found) = (running(&all), running(&every_third), running(&holes));
    for (i, row) in found.iter().enumerate() {
        assert_eq!(row[0], whole[i][0]);
        if i % 3 == 0 { assert_eq!(row[1], short[i / 3][1]) } else { assert!(row[1].is_nan()) }
    }
}

#[test]
fn running_values_do_not_depend_on_where_a_column_lies() {
    let moved: Vec<[f64; 2]> = rows().iter().map(|[a, b]| [a + 1024.0, b - 1e6]).collect();
    for (row, other) in running(&rows()).iter().zip(running(&moved)) {
        row.iter().zip(other).for_each(|(a, b)| assert!((a - b).abs() <= 1e-8, "{a} {b}"));
    }
}

#[test]
fn running_values_do_not_depend_on_the_unit() {
    let (mut one, mut other) = (Standardizer::new(Standardize::Running, 2), Standardizer::new(Standardize::Running, 2));
    let (mut row, mut scaled_row) = (Vec::new(), Vec::new());
    for raw in rows() {
        // A power of two scales without rounding.
        let scaled = raw.map(|x| 1024.0 * x);
        one.apply(&raw, &mut row).unwrap();
        other.apply(&scaled, &mut scaled_row).unwrap();
        assert_eq!(row, scaled_row);
        one.count_in(&raw);
        other.count_in(&scaled);
    }
}

#[test]
fn a_constant_column_is_shifted_by_a_warm_up_and_begins_with_its_first_change_while_running() {
    let mut row = Vec::new();
    for (how, wanted) in [(Standardize::Warmup(3), [1.0, 0.0]), (Standardize::Running, [1.25f64.sqrt(), 0.0])] {
        let mut standardizer = Standardizer::new(how, 2);
        for _ in 0..3 {
            standardizer.count_in(&[0.1, 5.0]);
        }
        standardizer.settle();
        standardizer.apply(&[1.1, 5.0], &mut row).unwrap();
        assert_eq!(row, wanted);
    }
}

#[test]
fn a_row_that_is_undone_is_the_row() {
    for how in [Standardize::None, Standardize::Running, Standardize::Warmup(50)] {
        let mut standardizer = Standardizer::new(how, 2);
        rows().iter().for_each(|raw| standardizer.count_in(raw));
        standardizer.settle();
        let mut row = Vec::new();
        for raw in rows() {
            standardizer.apply(&raw, &mut row).unwrap();
            standardizer.undo(&mut row);
            (0..2).for_each(|i| assert!((row[i] - raw[i]).abs() <= 1e-15 * raw[i].abs().max(1e3), "{how}: {i}"));
        }
        assert_eq!(standardizer.check_state(2), Ok(()));
        assert!(how == Standardize::None || standardizer.check_state(3).is_err());
    }
}

#[test]
fn a_column_that_was_constant_is_undone_to_its_mean_while_running() {
    let mut standardizer = Standardizer::new(Standardize::Running, 1);
    (0..3).for_each(|_| standardizer.count_in(&[5.0]));
    let mut row = vec![0.3];
    standardizer.undo(&mut row);
    assert_eq!(row, [5.0]);
}

#[test]
fn what_would_overflow_is_found_before_it_does() {
    let mut standardizer = Standardizer::new(Standardize::Running, 2);
    standardizer.count_in(&[0.0, 1.0]);
    assert_eq!(standardizer.spoiled(&[1.0, 1e200]), Some(1));
    assert_eq!(standardizer.spoiled(&[1.0, 1e100]), None);
    assert_eq!(standardizer.spoiled(&[f64::NAN, 1e100]), None);
}

#[test]
fn names_read_as_meant() {
    let cases = [
        ("none", Some(Standardize::None)),
        ("running", Some(Standardize::Running)),
        ("warmup:7", Some(Standardize::Warmup(7))),
        ("warmup:0", None),
        ("warmup", None),
        ("warmup:-1", None),
        ("running:3", None),
    ];
    cases.iter().for_each(|(text, wanted)| assert_eq!(text.parse().ok(), *wanted, "{text}"));
    cases.iter().for_each(|(text, how)| assert_eq!(how.map_or(text.to_string(), |how| how.to_string()), *text));
}
