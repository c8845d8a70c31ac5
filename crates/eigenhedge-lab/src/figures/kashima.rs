//! Convergence of the three Hebbian learners, plain and with a kernel, to the components of batch PCA.

use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::batch::{Center, KernelPca, Solver};
use eigenhedge::hebbian::{FeatureWeights, Hebbian, Params, Rate};
use eigenhedge::internals::dot;
use eigenhedge::kernel::{VectorKernel, Vectors};
use eigenhedge::{Matrix, NormBound, Random, trial};
use eigenhedge_pages::{Chart, Series};

const COMPONENTS: usize = 2;
/// Maximum angle in degrees between a weight vector and its component at the end.
const NEAR: f64 = 3.0;
/// Number of points, which are presented repeatedly in random order. The angles are measured after each pass.
const POINTS: usize = 100;

fn learners(rate: Rate, bound: f64) -> [(&'static str, Params); 3] {
    let finish = |params: Params| Params { rate, norm_bound: NormBound::Given(bound), ..params };
    [
        ("oja", finish(Params::oja(1.0))),
        ("gha", finish(Params::simultaneous(COMPONENTS, 1.0, 1.0))),
        ("apex", finish(Params::apex(COMPONENTS, 1.0))),
    ]
}

struct Task {
    name: &'static str,
    kernel: VectorKernel,
    points: Vec<Vec<f64>>,
    /// Coordinates of the features of each point along all batch components.
    features: Vec<Vec<f64>>,
    bound: f64,
    rate: Rate,
}

impl Task {
    fn new(name: &'static str, kernel: VectorKernel, points: Vec<Vec<f64>>, rate: Rate) -> Result<Self, LabError> {
        let length = points[0].len();
        let batch =
            KernelPca::fit(Vectors::new(kernel.clone(), length)?, &points, POINTS, Center::None, Solver::Dense)?;
        let scores = batch.scores;
        let features = (0..POINTS).map(|i| (0..POINTS).map(|j| scores.column(j)[i]).collect()).collect();
        let bound = points.iter().map(|x| kernel.value(x, x)).fold(0.0, f64::max).sqrt();
        Ok(Self { name, kernel, points, features, bound, rate })
    }

    /// Returns the angle in degrees between each weight vector and its batch component, at each measurement.
    fn angles(&self, params: Params, trials: usize, seed: u64) -> Result<Vec<Vec<f64>>, LabError> {
        let weights = FeatureWeights::new(Vectors::new(self.kernel.clone(), self.points[0].len())?)?;
        let mut learner = Hebbian::new(params, weights)?;
        let mut random = Random::seeded(seed);
        let (mut drawn, mut angles, mut order) = (Vec::new(), Vec::new(), (0..POINTS).collect::<Vec<usize>>());
        for t in 1..=trials {
            let place = (t - 1) % POINTS;
            order.swap(place, place + random.below(POINTS - place));
            let index = order[place];
            drawn.push(index);
            trial(&mut learner, &(&self.points[index][..]).into(), &mut random)?;
            if t % POINTS == 0 {
                angles.push((0..params.components).map(|p| self.angle(&learner, p, &drawn)).collect());
            }
        }
        Ok(angles)
    }

    /// `drawn` contains the indices of the points drawn so far.
    fn angle(&self, learner: &Hebbian<FeatureWeights<Vectors>>, component: usize, drawn: &[usize]) -> f64 {
        let mut vector = vec![0.0; POINTS];
        for (coefficient, index) in learner.weights().coefficients(component).zip(drawn) {
            vector.iter_mut().zip(&self.features[*index]).for_each(|(v, x)| *v += coefficient * x);
        }
        let cosine = vector[component].abs() / dot(&vector, &vector).sqrt();
        cosine.min(1.0).acos().to_degrees()
    }
}

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let trials = if setting.quick { 3000 } else { 6000 };
    let mut random = Random::seeded(setting.seed);
    let rate = |half: f64| Rate::Decreasing { eta: 0.5, half };
    let tasks = [
        Task::new("plain", VectorKernel::Linear, ellipsoid(&mut random), rate(200.0))?,
        Task::new("RBF kernel", VectorKernel::Rbf { gamma: 0.3 }, clusters(&mut random), rate(100.0))?,
    ];
    let mut outcome = Outcome::default();
    let mut table = Table::new("", ["task", "learner", "component", "trials", "degrees"]);
    for (i, task) in tasks.iter().enumerate() {
        let title = format!("Angle to the components of batch PCA, {}", task.name);
        let mut chart = Chart { log_x: true, log_y: true, ..Chart::new(title, "trials", "degrees") };
        for (j, (name, params)) in learners(task.rate, task.bound).into_iter().enumerate() {
            let angles = task.angles(params, trials, setting.seed)?;
            let x: Vec<f64> = (1..=angles.len()).map(|check| (check * POINTS) as f64).collect();
            for p in 0..params.components {
                let own: Vec<f64> = angles.iter().map(|angles| angles[p]).collect();
                for (trials, degrees) in x.iter().zip(&own) {
                    let cells = [task.name, name, &(p + 1).to_string(), &trials.to_string(), &degrees.to_string()];
                    table.rows.push(cells.map(String::from).to_vec());
                }
                // The first vector of every learner follows Oja's rule.
                match (j, p) {
                    (0, _) => chart = chart.with(Series::line("component 1, all three", &x, &own)),
                    (_, 0) => {}
                    _ => chart = chart.with(Series::line(format!("component {}, {name}", p + 1), &x, &own)),
                }
            }
            outcome.claims.extend(claims(&format!("{name}, {}", task.name), &angles));
            progress((3.0 * i as f64 + j as f64 + 1.0) / 6.0);
        }
        outcome.charts.push(chart);
    }
    outcome.tables.push(table);
    outcome.text = text(trials);
    Ok(outcome)
}

fn claims(name: &str, angles: &[Vec<f64>]) -> [Claim; 2] {
    let largest = |angles: &[f64]| angles.iter().copied().fold(0.0, f64::max);
    let (first, end) = (largest(&angles[0]), largest(&angles[angles.len() - 1]));
    let what = format!("{name}: degrees between a weight vector and its batch component at the end");
    [Claim::less(&what, end, "", NEAR), Claim::less(&what, end, "half of that after one round", 0.5 * first)]
}

fn text(trials: usize) -> Vec<String> {
    vec![
        format!(
            "{POINTS} points are shown again and again, each time in another order, {trials} times in all. Oja's rule learns one \
             weight vector; gha (simultaneous) and apex learn {COMPONENTS}, of which the first moves by Oja's rule too. Steps decrease \
             like 1/t. The points of the plain task fill an ellipsoid in 6 dimensions; those of the kernel task lie in three \
             clusters of 50, 30 and 20."
        ),
        "The angle is that between a weight vector and the component of the same number of batch (kernel) PCA, uncentered, in the \
         space of features. The rules are the corrected ones: the shrink factor is 1 - ηy², and the lateral weights of apex \
         have their sign and outputs put right."
            .into(),
    ]
}

fn ellipsoid(random: &mut Random) -> Vec<Vec<f64>> {
    const SIZES: [f64; 6] = [1.0, 0.6, 0.2, 0.1, 0.1, 0.1];
    let mut axes = Matrix::zeros(6, 6);
    (0..6).for_each(|j| axes.column_mut(j).iter_mut().for_each(|x| *x = random.normal()));
    axes.orthonormalise();
    let mut point = || {
        let mut row = vec![0.0; 6];
        for (j, size) in SIZES.iter().enumerate() {
            let amount = size * random.normal();
            row.iter_mut().zip(axes.column(j)).for_each(|(x, axis)| *x += amount * axis);
        }
        row
    };
    (0..POINTS).map(|_| point()).collect()
}

fn clusters(random: &mut Random) -> Vec<Vec<f64>> {
    let centers = [([0.0, 0.0], 50), ([3.0, 0.0], 30), ([0.0, 3.0], 20)];
    let mut point = |center: [f64; 2]| center.map(|c| c + 0.3 * random.normal()).to_vec();
    centers.iter().flat_map(|(center, count)| (0..*count).map(|_| point(*center)).collect::<Vec<_>>()).collect()
}
