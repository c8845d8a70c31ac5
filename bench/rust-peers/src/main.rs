//! Runs CCIPCA of the crate irithyll over the rows of a NumPy file: `rust-peers FILE K SECONDS LEAST loss|time`.
//!
//! The loss of a row is measured before the row is learned, and only learning is timed. The program
//! stops after `SECONDS` seconds of learning, but not before `LEAST` rows. It prints a JSON object with
//! the total squared reconstruction error (null with `time`), the seconds per row, and the rows used.

use irithyll::preprocessing::CCIPCA;
use std::error::Error;
use std::time::Instant;

/// Amnesic parameter, as in the NumPy implementation.
const AMNESIC: f64 = 2.0;
/// Largest norm at which an orthogonalized direction is ignored as rounding error.
const NOTHING: f64 = 1e-10;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn take_out(vector: &mut [f64], unit: &[f64]) {
    let along = dot(vector, unit);
    vector.iter_mut().zip(unit).for_each(|(v, u)| *v -= along * u);
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect()
}

/// Returns the squared reconstruction error of a row.
///
/// The mean and the components are read from the serialized model, because the crate has no
/// accessors for them.
fn loss(model: &CCIPCA, row: &[f64]) -> Result<f64, Box<dyn Error>> {
    let state = serde_json::to_value(model)?;
    let mut rest = row.to_vec();
    rest.iter_mut().zip(numbers(&state["mean"])).for_each(|(x, mean)| *x -= mean);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for component in state["components"].as_array().into_iter().flatten() {
        let mut direction = numbers(component);
        // A second pass removes the rounding error of the first.
        (0..2).for_each(|_| basis.iter().for_each(|unit| take_out(&mut direction, unit)));
        let norm = dot(&direction, &direction).sqrt();
        if norm > NOTHING {
            direction.iter_mut().for_each(|x| *x /= norm);
            take_out(&mut rest, &direction);
            basis.push(direction);
        }
    }
    Ok(dot(&rest, &rest))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, k, most, least, what] = &arguments[..] else {
        return Err("usage: rust-peers FILE K SECONDS LEAST loss|time".into());
    };
    let array = npyz::NpyFile::new(std::io::BufReader::new(std::fs::File::open(file)?))?;
    let length = *array.shape().get(1).ok_or("the file holds no table")? as usize;
    let (rows, most, charges) = (array.into_vec::<f64>()?, most.parse::<f64>()?, what == "loss");
    let least: u32 = least.parse()?;
    let mut model = CCIPCA::with_amnestic(k.parse()?, AMNESIC);
    let (mut total, mut seconds, mut used) = (0.0, 0.0, 0);
    for row in rows.chunks_exact(length) {
        if charges {
            total += loss(&model, row)?;
        }
        let start = Instant::now();
        model.update(row);
        seconds += start.elapsed().as_secs_f64();
        used += 1;
        if seconds > most && used >= least {
            break;
        }
    }
    let loss = charges.then_some(total);
    println!("{}", serde_json::json!({ "loss": loss, "seconds": seconds / f64::from(used.max(1)), "rows": used }));
    Ok(())
}
