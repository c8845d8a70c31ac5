//! Face images from a data folder: `yaleb32_images.npy` (one image per row, bytes) and `yaleb32_labels.npy`.

use crate::LabError;
use eigenhedge_io::{Array, read_array};
use std::path::Path;

const IMAGES: &str = "yaleb32_images.npy";
const LABELS: &str = "yaleb32_labels.npy";

pub fn present(folder: &Path) -> bool {
    folder.join(IMAGES).is_file() && folder.join(LABELS).is_file()
}

/// Returns the images of the first `persons` persons, in the order of their labels, divided by the largest norm.
pub fn of_persons(folder: &Path, persons: usize) -> Result<Vec<Vec<Vec<f64>>>, LabError> {
    let Array { shape, numbers: pixels } = read_array(&folder.join(IMAGES), None)?;
    let labels = read_array(&folder.join(LABELS), None)?.numbers;
    let wrong = |what: String| LabError::Data { path: folder.join(IMAGES), what };
    let [images, length] = shape[..] else { return Err(wrong(format!("must have 2 axes, got {}", shape.len()))) };
    if images as usize != labels.len() || length == 0 {
        return Err(wrong(format!("must have one row for each of {} labels, got {images}", labels.len())));
    }
    let mut names = labels.clone();
    names.sort_unstable_by(f64::total_cmp);
    names.dedup();
    if names.len() < persons {
        return Err(wrong(format!("must show at least {persons} persons, got {}", names.len())));
    }
    let rows = || pixels.chunks_exact(length as usize);
    let largest = rows().map(|row| row.iter().map(|x| x * x).sum::<f64>()).fold(f64::MIN_POSITIVE, f64::max).sqrt();
    let of = |name: &f64| {
        let own = rows().zip(&labels).filter(|(_, label)| *label == name);
        own.map(|(row, _)| row.iter().map(|x| x / largest).collect()).collect()
    };
    Ok(names[..persons].iter().map(of).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use eigenhedge::Random;

    fn npy(shape: &str, bytes: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}");
        let header = format!("{header:<117}\n");
        let start = [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes()].concat();
        [&start[..], header.as_bytes(), bytes].concat()
    }

    /// Writes ten synthetic images of 16 pixels for each of three persons.
    pub(crate) fn made_up(folder: &Path) {
        let mut random = Random::seeded(3);
        let pixels: Vec<u8> = (0..480).map(|_| random.below(256) as u8).collect();
        std::fs::write(folder.join(IMAGES), npy("30, 16", &pixels)).unwrap();
        let labels: Vec<u8> = (0..30).map(|i| 7 + i % 3).collect();
        std::fs::write(folder.join(LABELS), npy("30,", &labels)).unwrap();
    }

    #[test]
    fn faces_are_sorted_by_person_and_the_longest_has_norm_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!present(folder.path()));
        made_up(folder.path());
        assert!(present(folder.path()));
        let persons = of_persons(folder.path(), 3).unwrap();
        assert_eq!(persons.iter().map(Vec::len).collect::<Vec<_>>(), [10; 3]);
        let norms = persons.iter().flatten().map(|row| row.iter().map(|x| x * x).sum::<f64>());
        assert!((norms.fold(0.0, f64::max) - 1.0).abs() <= 1e-12);
    }

    #[test]
    fn files_that_do_not_fit_are_named_with_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        made_up(folder.path());
        let error = of_persons(folder.path(), 4).unwrap_err().to_string();
        assert!(error.ends_with("yaleb32_images.npy: must show at least 4 persons, got 3"), "{error}");
        std::fs::write(folder.path().join(LABELS), npy("3,", &[1, 2, 3])).unwrap();
        let error = of_persons(folder.path(), 3).unwrap_err().to_string();
        assert!(error.ends_with("must have one row for each of 3 labels, got 30"), "{error}");
        std::fs::write(folder.path().join(IMAGES), "no array").unwrap();
        assert!(of_persons(folder.path(), 3).is_err());
    }
}
