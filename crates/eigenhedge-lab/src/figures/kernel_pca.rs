//! Kernel PCA of a disc within a ring, and its interpretation as a projection of Cholesky factors.

use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::batch::{Center, KernelPca, Pca, Solver};
use eigenhedge::kernel::{VectorKernel, Vectors};
use eigenhedge::{Matrix, Random};
use eigenhedge_pages::{Chart, Series, Tint};

const DISC: usize = 60;
const RING: usize = 120;
const RADIUS: f64 = 2.0;
const GAMMA: f64 = 0.5;
const KEPT: usize = 2;
/// Number of grid points along each axis, for the contour lines.
const GRID: usize = 80;
const LEVELS: usize = 5;

pub fn run(setting: &Setting, _: &Progress) -> Result<Outcome, LabError> {
    let points = points(setting.seed);
    let dictionary = || Vectors::new(VectorKernel::Rbf { gamma: GAMMA }, 2);
    let mut kernel = KernelPca::fit(dictionary()?, &points, KEPT, Center::Mean, Solver::Dense)?;
    let solver = Solver::Cholesky { tolerance: 1e-14, max_rank: points.len() };
    let factored = KernelPca::fit(dictionary()?, &points, KEPT, Center::Mean, solver)?;
    let plain = Pca::fit(&points, KEPT, Center::Mean)?;
    let mut flat = Matrix::zeros(points.len(), KEPT);
    for (i, point) in points.iter().enumerate() {
        let coordinates = plain.transform(point)?;
        coordinates.iter().enumerate().for_each(|(j, c)| flat.column_mut(j)[i] = *c);
    }
    let claims = claims(&kernel.scores, &factored.scores, &flat);
    let table = table(&points, &flat, &kernel.scores);
    let mut picture =
        classes(Chart::new("Points, and lines of equal first kernel coordinate", "x", "y"), &points, |point| {
            (point[0], point[1])
        });
    for (step, level) in levels(kernel.scores.column(0)).into_iter().enumerate() {
        let (x, y): (Vec<f64>, Vec<f64>) = contour(&mut kernel, level)?.into_iter().unzip();
        picture = picture.with(Series::points(format!("level {level:.2}"), &x, &y).with_tint(Tint::Time(step)));
    }
    let scores = kernel.scores;
    let indices: Vec<usize> = (0..points.len()).collect();
    let coordinates = Chart::new("The first two kernel coordinates", "first", "second");
    let coordinates = classes(coordinates, &indices, |i| (scores.column(0)[*i], scores.column(1)[*i]));
    let text = vec![
        format!(
            "{DISC} points of a disc within a ring of {RING}. No line through the plane separates them, and the coordinates of plain \
             PCA are such lines. The first coordinate of kernel PCA, with an RBF kernel of γ = {GAMMA}, is nearly a function of the \
             distance from the middle, and one threshold on it separates disc and ring."
        ),
        "Rows of a Cholesky factor of the kernel matrix are the features in coordinates, so kernel PCA is an orthogonal \
         projection of the factor: both ways give the same scores."
            .into(),
    ];
    Ok(Outcome { tables: vec![table], charts: vec![picture, coordinates], text, claims })
}

fn claims(scores: &Matrix, factored: &Matrix, flat: &Matrix) -> Vec<Claim> {
    let largest = scores.column(0).iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let plain = separated(flat, 0).max(separated(flat, 1));
    let right = |which: &str| format!("share of points that {which} puts on the right side");
    vec![
        Claim::at_least(&right("the first kernel coordinate"), separated(scores, 0), "", 0.99),
        Claim::at_most(&right("the better of two plain coordinates"), plain, "", 0.85),
        Claim::at_most(
            "distance of scores by way of Cholesky factors from those of the kernel matrix",
            distance(scores, factored),
            "1e-6 of the largest score",
            1e-6 * largest,
        ),
    ]
}

fn table(points: &[Vec<f64>], flat: &Matrix, scores: &Matrix) -> Table {
    let cells = points.iter().enumerate().map(|(i, point)| {
        let [a, b, c, d] = [flat.column(0)[i], flat.column(1)[i], scores.column(0)[i], scores.column(1)[i]];
        [i as f64, f64::from(u8::from(i >= DISC)), point[0], point[1], a, b, c, d]
    });
    Table::of(["point", "class", "x", "y", "plain_1", "plain_2", "kernel_1", "kernel_2"], cells)
}

fn points(seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut around = |radius: f64, noise: f64| {
        let (sin, cos) = (std::f64::consts::TAU * random.uniform()).sin_cos();
        vec![radius * cos + noise * random.normal(), radius * sin + noise * random.normal()]
    };
    let disc: Vec<_> = (0..DISC).map(|_| around(0.0, 0.3)).collect();
    disc.into_iter().chain((0..RING).map(|_| around(RADIUS, 0.15))).collect()
}

/// Returns the share of points that the best threshold on one coordinate separates.
fn separated(scores: &Matrix, column: usize) -> f64 {
    let scores = scores.column(column);
    let share = |threshold: f64| {
        let right = (0..scores.len()).filter(|i| (scores[*i] < threshold) == (*i < DISC)).count();
        right.max(scores.len() - right) as f64 / scores.len() as f64
    };
    scores.iter().map(|threshold| share(*threshold)).fold(0.0, f64::max)
}

/// Returns the largest difference between entries, up to the signs of the columns.
fn distance(one: &Matrix, other: &Matrix) -> f64 {
    let apart = |j: usize, sign: f64| {
        one.column(j).iter().zip(other.column(j)).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max)
    };
    (0..KEPT).map(|j| apart(j, 1.0).min(apart(j, -1.0))).fold(0.0, f64::max)
}

fn levels(scores: &[f64]) -> Vec<f64> {
    let (low, high) = scores.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    (1..=LEVELS).map(|i| low + (high - low) * i as f64 / (LEVELS + 1) as f64).collect()
}

/// Returns the points where the first coordinate crosses a level on the lines of a grid.
fn contour(kernel: &mut KernelPca<Vectors>, level: f64) -> Result<Vec<(f64, f64)>, LabError> {
    let reach = 1.4 * RADIUS;
    let place = |i: usize| reach * (2.0 * i as f64 / (GRID - 1) as f64 - 1.0);
    let mut value = |i: usize| Ok(kernel.transform(&[place(i / GRID), place(i % GRID)])?[0] - level);
    let values = (0..GRID * GRID).map(&mut value).collect::<Result<Vec<f64>, LabError>>()?;
    let mut crossings = Vec::new();
    let mut look = |(i, j): (usize, usize), (to_i, to_j): (usize, usize)| {
        let (a, b) = (values[i * GRID + j], values[to_i * GRID + to_j]);
        if (a < 0.0) != (b < 0.0) {
            let share = a / (a - b);
            let between = |from: usize, to: usize| place(from) + share * (place(to) - place(from));
            crossings.push((between(i, to_i), between(j, to_j)));
        }
    };
    for i in 0..GRID - 1 {
        for j in 0..GRID - 1 {
            look((i, j), (i + 1, j));
            look((i, j), (i, j + 1));
        }
    }
    Ok(crossings)
}

fn classes<T>(chart: Chart, items: &[T], place: impl Fn(&T) -> (f64, f64)) -> Chart {
    let of = |items: &[T]| items.iter().map(&place).unzip::<f64, f64, Vec<f64>, Vec<f64>>();
    let ((disc_x, disc_y), (ring_x, ring_y)) = (of(&items[..DISC]), of(&items[DISC..]));
    chart.with(Series::points("disc", &disc_x, &disc_y)).with(Series::points("ring", &ring_x, &ring_y))
}
