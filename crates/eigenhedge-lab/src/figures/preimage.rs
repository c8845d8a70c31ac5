//! Pre-images: denoising by kernel PCA, and the pre-image of a kernel mean.

use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::Random;
use eigenhedge::batch::preimage::{Stop, fixed_point};
use eigenhedge::batch::{Center, Expansion, KernelPca, Pca, Solver};
use eigenhedge::kernel::{Dictionary, VectorKernel, Vectors};
use eigenhedge_pages::{Annotation, Chart, Series};

const POINTS: usize = 200;
const NOISE: f64 = 0.2;
const REACH: f64 = 3.0;
const KEPT: usize = 6;
const KERNEL: VectorKernel = VectorKernel::Rbf { gamma: 0.7 };
/// Number of points on the curve, for distances from it.
const FINE: usize = 2001;

fn curve(x: f64) -> f64 {
    1.5 * (1.3 * x).sin()
}

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let mut random = Random::seeded(setting.seed);
    let mut point = || {
        let x = REACH * (2.0 * random.uniform() - 1.0);
        vec![x + NOISE * random.normal(), curve(x) + NOISE * random.normal()]
    };
    let noisy: Vec<Vec<f64>> = (0..POINTS).map(|_| point()).collect();
    let mut kernel = KernelPca::fit(Vectors::new(KERNEL, 2)?, &noisy, KEPT, Center::Mean, Solver::Dense)?;
    let line = Pca::fit(&noisy, 1, Center::Mean)?;
    let (mut found, mut flat) = (Vec::new(), Vec::new());
    for (i, point) in noisy.iter().enumerate() {
        let projection = kernel.project(point)?;
        found.push(fixed_point(&mut kernel.dictionary, &projection, point, 0, Stop::default())?.point);
        flat.push(line.inverse_transform(&line.transform(point)?)?);
        progress(i as f64 / POINTS as f64);
    }
    let [before, after, plain] =
        [&noisy, &found, &flat].map(|points| points.iter().map(|point| squared_distance(point)).sum::<f64>());
    let mean = mean_of_clusters(&mut random)?;
    let denoised_by = "squared distance from the curve after denoising by kernel PCA";
    let claims = vec![
        Claim::less(denoised_by, after, "half that before", 0.5 * before),
        Claim::less(denoised_by, after, "a tenth of that of plain PCA", 0.1 * plain),
        Claim::less(
            "squared distance, in features, of the pre-image from the kernel mean",
            mean.found_distance,
            "that of the arithmetic mean",
            mean.plain_distance,
        ),
        Claim::less("distance of the pre-image from the middle of the larger cluster", mean.off_center, "", 0.3),
    ];
    let cells = noisy.iter().zip(&found).enumerate();
    let cells = cells.map(|(i, (noisy, found))| [i as f64, noisy[0], noisy[1], found[0], found[1]]);
    let table = Table::of(["point", "noisy_x", "noisy_y", "denoised_x", "denoised_y"], cells);
    let charts = vec![denoised(&noisy, &found), middles(&mean)];
    let text = vec![
        format!(
            "{POINTS} points of a curve with noise of standard deviation {NOISE} in both coordinates. Their features are projected on the \
             first {KEPT} components of kernel PCA; the pre-image of a projection is a point whose features are near it. The mean squared \
             distance from the curve falls from {:.4} to {:.4}; projecting on a line, as plain PCA does, gives {:.4}.",
            before / POINTS as f64,
            after / POINTS as f64,
            plain / POINTS as f64
        ),
        "The mean of the features of two clusters has no point of its own. The point whose features are nearest to it lies in the \
         larger cluster, where the arithmetic mean lies between the two, where no point is."
            .into(),
    ];
    Ok(Outcome { tables: vec![table], charts, text, claims })
}

fn column(points: &[Vec<f64>], i: usize) -> Vec<f64> {
    points.iter().map(|point| point[i]).collect()
}

fn denoised(noisy: &[Vec<f64>], found: &[Vec<f64>]) -> Chart {
    let x: Vec<f64> = (0..=120).map(|i| REACH * (f64::from(i) / 60.0 - 1.0)).collect();
    let y: Vec<f64> = x.iter().map(|x| curve(*x)).collect();
    Chart::new("Noisy points, and pre-images of their projections", "x", "y")
        .with(Series::points("noisy", &column(noisy, 0), &column(noisy, 1)))
        .with(Series::points("denoised", &column(found, 0), &column(found, 1)))
        .with(Series::dashed("the curve", &x, &y))
}

fn middles(mean: &Means) -> Chart {
    let points = Series::points("points", &column(&mean.points, 0), &column(&mean.points, 1));
    let mut chart = Chart::new("Two clusters, and where their middle is", "x", "y").with(points);
    chart.annotations = [("arithmetic mean", &mean.plain), ("pre-image", &mean.found)]
        .map(|(label, point)| Annotation { x: point[0], y: point[1], label: label.into() })
        .to_vec();
    chart
}

fn squared_distance(point: &[f64]) -> f64 {
    let on_curve = (0..FINE).map(|i| 1.5 * REACH * (2.0 * i as f64 / (FINE - 1) as f64 - 1.0));
    on_curve.map(|x| (point[0] - x).powi(2) + (point[1] - curve(x)).powi(2)).fold(f64::INFINITY, f64::min)
}

/// Two clusters of 60 and 30 points, their arithmetic mean, and the pre-image of their kernel mean.
struct Means {
    points: Vec<Vec<f64>>,
    plain: Vec<f64>,
    found: Vec<f64>,
    plain_distance: f64,
    found_distance: f64,
    off_center: f64,
}

fn mean_of_clusters(random: &mut Random) -> Result<Means, LabError> {
    let mut around = |center: f64, count: usize| {
        (0..count).map(|_| vec![center + 0.5 * random.normal(), 0.5 * random.normal()]).collect::<Vec<_>>()
    };
    let points: Vec<Vec<f64>> = around(-2.0, 60).into_iter().chain(around(2.5, 30)).collect();
    let mut dictionary = Vectors::new(KERNEL, 2)?;
    points.iter().for_each(|point| dictionary.push(point));
    let mean = Expansion::mean(&dictionary)?;
    let plain: Vec<f64> =
        (0..2).map(|i| points.iter().map(|point| point[i]).sum::<f64>() / points.len() as f64).collect();
    let found = fixed_point(&mut dictionary, &mean, &plain, 3, Stop::default())?;
    let plain_distance = mean.squared_distance(&mut dictionary, &plain)?;
    let off_center = (found.point[0] + 2.0).hypot(found.point[1]);
    Ok(Means { points, plain, found: found.point, plain_distance, found_distance: found.squared_distance, off_center })
}
