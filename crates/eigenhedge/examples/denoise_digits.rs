//! Denoising of digit images by kernel PCA and by PCA with the same number of components.

use eigenhedge::Random;
use eigenhedge::batch::preimage::{Stop, fixed_point};
use eigenhedge::batch::{Center, KernelPca, Pca, Solver};
use eigenhedge::kernel::{VectorKernel, Vectors};
use std::error::Error;
use std::path::{Path, PathBuf};

const SIDE: usize = 16;
const PIXELS: usize = SIDE * SIDE;
const NOISE: f64 = 0.5;
const KEPT: usize = 128;
/// Half the reciprocal of the number of pixels. The squared distance of two images is of the order of that number.
const GAMMA: f64 = 0.5 / PIXELS as f64;
const TRAIN: usize = 80;
const TEST: usize = 15;
/// Number of test images per digit that were used to choose k and γ. They are not scored.
const TUNED_ON: usize = 15;

type Image = Vec<f64>;

/// Clean images with pixels in [-1, 1], grouped by digit.
struct Digits {
    train: Vec<Image>,
    test: Vec<Image>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let picture = std::env::args().nth(1).map_or_else(|| PathBuf::from("target/denoise_digits.png"), PathBuf::from);
    let digits = match std::env::var_os("EIGENHEDGE_DATA").map(|folder| Path::new(&folder).join("usps.npz")) {
        Some(path) if path.exists() => {
            println!("USPS digits from {}", path.display());
            usps(&path)?
        }
        Some(path) => {
            println!("{} does not exist: using drawn digits instead of USPS", path.display());
            drawn()
        }
        None => {
            println!("EIGENHEDGE_DATA is not set: using drawn digits instead of USPS");
            drawn()
        }
    };
    let mut random = Random::seeded(1);
    let noisy: Vec<Image> =
        digits.test.iter().map(|image| image.iter().map(|x| x + NOISE * random.normal()).collect()).collect();
    let (plain, best_plain) = by_pca(&digits, &noisy)?;
    let kernel = by_kernel_pca(&digits, &noisy)?;
    let error = |images: &[Image]| mean_squared_error(images, &digits.test);
    println!("{} clean images to learn from, {} noisy ones to clean, k = {KEPT}", digits.train.len(), noisy.len());
    println!("mean squared error per pixel:");
    println!("  noisy images                       {:.4}", error(&noisy));
    println!("  PCA, same k                        {:.4}", error(&plain));
    println!("  PCA, best k for these images ({:3})  {:.4}", best_plain.0, best_plain.1);
    println!("  kernel PCA, fixed-point pre-image  {:.4}", error(&kernel));
    write_picture(&picture, &[&digits.test, &noisy, &plain, &kernel])?;
    println!("picture: {} (rows: clean, noisy, PCA, kernel PCA)", picture.display());
    Ok(())
}

fn mean_squared_error(images: &[Image], wanted: &[Image]) -> f64 {
    let square = |(a, b): (&Image, &Image)| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    images.iter().zip(wanted).map(square).sum::<f64>() / (images.len() * PIXELS) as f64
}

/// Denoises by PCA. Also returns the best number of components in hindsight and its error.
fn by_pca(digits: &Digits, noisy: &[Image]) -> Result<(Vec<Image>, (usize, f64)), eigenhedge::Error> {
    let clean = |kept: usize| {
        let pca = Pca::fit(&digits.train, kept, Center::Mean)?;
        noisy.iter().map(|image| pca.inverse_transform(&pca.transform(image)?)).collect::<Result<Vec<Image>, _>>()
    };
    let mut best = (0, f64::INFINITY);
    for kept in (8..=KEPT).step_by(8) {
        let error = mean_squared_error(&clean(kept)?, &digits.test);
        if error < best.1 {
            best = (kept, error);
        }
    }
    Ok((clean(KEPT)?, best))
}

fn by_kernel_pca(digits: &Digits, noisy: &[Image]) -> Result<Vec<Image>, eigenhedge::Error> {
    let dictionary = Vectors::new(VectorKernel::Rbf { gamma: GAMMA }, PIXELS)?;
    let mut model = KernelPca::fit(dictionary, &digits.train, KEPT, Center::Mean, Solver::Dense)?;
    let stop = Stop { steps: 200, tolerance: 1e-4 };
    noisy
        .iter()
        .map(|image| {
            let projection = model.project(image)?;
            Ok(fixed_point(&mut model.dictionary, &projection, image, 0, stop)?.point)
        })
        .collect()
}

fn usps(path: &Path) -> Result<Digits, Box<dyn Error>> {
    let take = |images: &str, labels: &str, skip: usize, count: usize| -> Result<Vec<Image>, Box<dyn Error>> {
        let pixels = eigenhedge_io::read_array(path, Some(images))?.numbers;
        let labels = eigenhedge_io::read_array(path, Some(labels))?.numbers;
        let all = || pixels.chunks_exact(PIXELS).zip(&labels);
        let scaled = |image: &[f64]| image.iter().map(|x| 2.0 * x - 1.0).collect();
        let of = |digit: u8| all().filter(move |(_, label)| **label == f64::from(digit)).skip(skip).take(count);
        Ok((0..10).flat_map(of).map(|(image, _)| scaled(image)).collect())
    };
    let train = take("X_train", "y_train", 0, TRAIN)?;
    Ok(Digits { train, test: take("X_test", "y_test", TUNED_ON, TEST)? })
}

/// Strokes of each digit in the unit square, with y pointing down.
const STROKES: [&[[f64; 2]]; 10] = [
    &[[0.5, 0.0], [0.9, 0.25], [0.9, 0.75], [0.5, 1.0], [0.1, 0.75], [0.1, 0.25], [0.5, 0.0]],
    &[[0.3, 0.2], [0.55, 0.0], [0.55, 1.0]],
    &[[0.1, 0.2], [0.5, 0.0], [0.9, 0.25], [0.1, 1.0], [0.9, 1.0]],
    &[[0.1, 0.0], [0.9, 0.0], [0.45, 0.4], [0.9, 0.7], [0.5, 1.0], [0.1, 0.9]],
    &[[0.7, 1.0], [0.7, 0.0], [0.1, 0.65], [0.95, 0.65]],
    &[[0.9, 0.0], [0.2, 0.0], [0.15, 0.45], [0.8, 0.5], [0.8, 0.9], [0.1, 1.0]],
    &[[0.8, 0.0], [0.2, 0.4], [0.15, 0.85], [0.5, 1.0], [0.85, 0.75], [0.5, 0.5], [0.15, 0.7]],
    &[[0.1, 0.0], [0.9, 0.0], [0.4, 1.0]],
    &[[0.5, 0.5], [0.15, 0.25], [0.5, 0.0], [0.85, 0.25], [0.5, 0.5], [0.1, 0.8], [0.5, 1.0], [0.9, 0.8], [0.5, 0.5]],
    &[[0.85, 0.3], [0.5, 0.5], [0.15, 0.25], [0.5, 0.0], [0.85, 0.3], [0.6, 1.0]],
];

fn drawn() -> Digits {
    let mut random = Random::seeded(7);
    let mut draw = |count: usize| -> Vec<Image> {
        STROKES.iter().flat_map(|strokes| (0..count).map(|_| one(strokes, &mut random)).collect::<Vec<_>>()).collect()
    };
    Digits { train: draw(TRAIN), test: draw(TEST) }
}

fn one(strokes: &[[f64; 2]], random: &mut Random) -> Image {
    let size = 11.0 + random.normal();
    let (left, up) = (3.0 + 0.7 * random.normal(), 2.5 + 0.7 * random.normal());
    let slant = 0.15 * random.normal();
    let thickness = 0.9 + 0.2 * random.uniform();
    let corner = |p: &[f64; 2]| [left + size * (0.85 * p[0] + slant * (0.5 - p[1])), up + size * p[1]];
    let corners: Vec<[f64; 2]> = strokes.iter().map(corner).collect();
    (0..PIXELS)
        .map(|pixel| {
            let at = [(pixel % SIDE) as f64 + 0.5, (pixel / SIDE) as f64 + 0.5];
            let distance = corners.windows(2).map(|ends| distance(at, ends[0], ends[1])).fold(f64::INFINITY, f64::min);
            2.0 * (thickness + 0.6 - distance).clamp(0.0, 1.0) - 1.0
        })
        .collect()
}

fn distance(at: [f64; 2], from: [f64; 2], to: [f64; 2]) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let aside = [at[0] - from[0], at[1] - from[1]];
    let square = along[0] * along[0] + along[1] * along[1];
    let share = ((along[0] * aside[0] + along[1] * aside[1]) / square).clamp(0.0, 1.0);
    (aside[0] - share * along[0]).hypot(aside[1] - share * along[1])
}

/// Writes a picture with one row of ten digits per group of images, dark on light.
fn write_picture(path: &Path, groups: &[&[Image]]) -> Result<(), Box<dyn Error>> {
    const ZOOM: usize = 4;
    const CELL: usize = (SIDE + 2) * ZOOM;
    let (width, height) = (10 * CELL, groups.len() * CELL);
    let mut pixels = vec![255u8; width * height];
    for (row, group) in groups.iter().enumerate() {
        for (column, image) in group.iter().step_by(TEST).take(10).enumerate() {
            for y in 0..SIDE * ZOOM {
                for x in 0..SIDE * ZOOM {
                    let value = image[(y / ZOOM) * SIDE + x / ZOOM].clamp(-1.0, 1.0);
                    let at = (row * CELL + ZOOM + y) * width + column * CELL + ZOOM + x;
                    pixels[at] = (127.5 * (1.0 - value)).round() as u8;
                }
            }
        }
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut encoder = png::Encoder::new(file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(())
}
