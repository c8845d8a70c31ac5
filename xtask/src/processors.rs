//! Comparison of results on processors with different vector instructions: this one, and two emulated by QEMU, which
//! does not support AVX-512. Rounding must not change decisions.

use crate::count;
use crate::files::output;
use std::path::Path;
use std::process::Command;

const QEMU: &str = "qemu-x86_64";
const EMULATED: [(&str, &str); 2] = [("AVX2", "Haswell"), ("neither", "Nehalem")];
/// Maximum difference, relative to the largest loss of the case so far or to the norm of the coordinates of the row.
const TOLERANCE: f64 = 1e-9;

pub fn compare(root: &Path, arguments: &[&str]) -> Result<(), String> {
    if Command::new(QEMU).arg("--version").output().is_err() {
        println!("skipped: {QEMU} is not installed (Debian: qemu-user), so no processors are compared");
        return Ok(());
    }
    let programs = count::build(root, &["processors"])?;
    let program = programs.first().ok_or("no program was built")?;
    let here = output(Command::new(program).args(arguments))?;
    let mut faults = Vec::new();
    for (instructions, processor) in EMULATED {
        let mut emulated = Command::new(QEMU);
        let there = output(emulated.args(["-cpu", processor]).arg(program).args(arguments))?;
        println!("this processor ({}) and one with {instructions}", here_instructions());
        for (name, loss, coordinates) in differences(&here, &there)? {
            println!("  {name:<44} losses {loss:>8.1e}  coordinates {coordinates:>8.1e}");
            if !(loss <= TOLERANCE && coordinates <= TOLERANCE) {
                faults.push(format!("{name} with {instructions}"));
            }
        }
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(format!("outcomes differ by more than {TOLERANCE:e}: {}", faults.join(", ")))
    }
}

fn here_instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx512f") {
        return "AVX-512";
    }
    "no AVX-512"
}

fn differences(here: &str, there: &str) -> Result<Vec<(String, f64, f64)>, String> {
    let mut found: Vec<(String, f64, f64)> = Vec::new();
    let mut largest = 0.0_f64;
    if here.lines().count() != there.lines().count() {
        return Err("the outcomes have other numbers of rows".to_owned());
    }
    for (line, other) in here.lines().zip(there.lines()) {
        let ((name, own), (_, other)) = (answer(line)?, answer(other)?);
        if own.len() != other.len() {
            return Err(format!("{name}: answers of other lengths"));
        }
        if found.last().is_none_or(|(last, ..)| last != name) {
            found.push((name.to_owned(), 0.0, 0.0));
            largest = 0.0;
        }
        largest = largest.max(own[0]);
        let share = |apart: f64, of: f64| if apart == 0.0 { 0.0 } else { apart / of };
        let loss = share((own[0] - other[0]).abs() + (own[1] - other[1]).abs(), largest);
        let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>().sqrt();
        let apart = norm(&mut own[2..].iter().zip(&other[2..]).map(|(a, b)| a - b));
        let coordinates = share(apart, norm(&mut own[2..].iter().copied()));
        if let Some((_, losses, places)) = found.last_mut() {
            // A NaN must not be replaced by a number.
            *losses = if loss <= *losses { *losses } else { loss };
            *places = if coordinates <= *places { *places } else { coordinates };
        }
    }
    Ok(found)
}

fn answer(line: &str) -> Result<(&str, Vec<f64>), String> {
    let (name, numbers) = line.split_once(' ').ok_or_else(|| format!("not an answer: {line}"))?;
    let numbers: Result<Vec<f64>, _> = numbers.split(' ').map(str::parse).collect();
    let numbers = numbers.map_err(|error| format!("{line}: {error}"))?;
    if numbers.len() < 2 { Err(format!("not an answer: {line}")) } else { Ok((name, numbers)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shares_of_the_largest_loss_and_of_the_coordinates() {
        let (here, there) = ("a 4 4 1 0\na 1 1 3 4\nb 1 1 1", "a 4 4 1 0\na 2 1 3 5\nb 1 1 1");
        let found = differences(here, there).unwrap();
        assert_eq!(found, [("a".to_owned(), 0.25, 0.2), ("b".to_owned(), 0.0, 0.0)]);
        assert!(differences("a 1 1 1", "a 1 NaN 1").unwrap()[0].1.is_nan());
        assert!(differences("a 1 1 1", "").is_err() && differences("a 1 1 1", "a 1 1").is_err());
    }
}
