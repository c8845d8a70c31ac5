//! Faces of persons from a folder of data: `yaleb32_images.npy` (one image a row, bytes) and `yaleb32_labels.npy`.

use crate::LabError;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

const IMAGES: &str = "yaleb32_images.npy";
const LABELS: &str = "yaleb32_labels.npy";

/// Whether the folder has the files.
pub fn present(folder: &Path) -> bool {
    folder.join(IMAGES).is_file() && folder.join(LABELS).is_file()
}

/// The images of the first persons, in the order of the file, divided by the largest norm of them all.
pub fn of_persons(folder: &Path, persons: usize) -> Result<Vec<Vec<Vec<f64>>>, LabError> {
    let (pixels, shape) = bytes(&folder.join(IMAGES))?;
    let (labels, _) = bytes(&folder.join(LABELS))?;
    let wrong = |what: String| LabError::Data { path: folder.join(IMAGES), what };
    let [images, length] = shape[..] else { return Err(wrong(format!("must have 2 axes, got {}", shape.len()))) };
    if images as usize != labels.len() || length == 0 {
        return Err(wrong(format!("must have one row for each of {} labels, got {images}", labels.len())));
    }
    let mut names: Vec<u8> = labels.clone();
    names.sort_unstable();
    names.dedup();
    if names.len() < persons {
        return Err(wrong(format!("must show at least {persons} persons, got {}", names.len())));
    }
    let rows = || pixels.chunks_exact(length as usize).map(|row| row.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
    let largest = rows().map(|row| row.iter().map(|x| x * x).sum::<f64>()).fold(f64::MIN_POSITIVE, f64::max).sqrt();
    let of = |name: &u8| {
        let own = rows().zip(&labels).filter(|(_, label)| *label == name);
        own.map(|(row, _)| row.into_iter().map(|x| x / largest).collect()).collect()
    };
    Ok(names[..persons].iter().map(of).collect())
}

fn bytes(path: &Path) -> Result<(Vec<u8>, Vec<u64>), LabError> {
    let unreadable = |error: std::io::Error| LabError::Data { path: path.to_path_buf(), what: error.to_string() };
    let file = File::open(path).map_err(unreadable)?;
    let array = npyz::NpyFile::new(BufReader::new(file)).map_err(unreadable)?;
    let shape = array.shape().to_vec();
    Ok((array.into_vec().map_err(unreadable)?, shape))
}
