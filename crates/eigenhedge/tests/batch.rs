//! The batch methods: laws, and agreement with independent implementations.

#![allow(clippy::unwrap_used)]

use eigenhedge::batch::preimage::{LearnedInverse, Stop, fixed_point};
use eigenhedge::batch::{Center, Expansion, KernelPca, KernelRidge, Pca, PivotedCholesky, Solver};
use eigenhedge::kernel::{Dictionary, Items, Kernel, VectorKernel, Vectors};
use eigenhedge::{Matrix, streams};
use serde_json::Value;

const RBF: VectorKernel = VectorKernel::Rbf { gamma: 0.4 };
const CUBIC: VectorKernel = VectorKernel::Polynomial { gamma: 0.3, degree: 3, coef0: 1.0 };
const FULL: Solver = Solver::Cholesky { tolerance: 0.0, max_rank: usize::MAX };

fn load(path: &str) -> Value {
    let path = format!("{}/tests/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(list).collect()
}

fn data(t: usize, seed: u64) -> Vec<Vec<f64>> {
    streams::signal_and_noise(5, 2, 0.4, seed).take(t).collect()
}

fn empty(kernel: &VectorKernel, length: usize) -> Vectors {
    Vectors::new(kernel.clone(), length).unwrap()
}

fn fit(kernel: &VectorKernel, points: &[Vec<f64>], kept: usize, center: Center, solver: Solver) -> KernelPca<Vectors> {
    KernelPca::fit(empty(kernel, points[0].len()), points, kept, center, solver).unwrap()
}

fn as_rows(matrix: &Matrix) -> Vec<Vec<f64>> {
    (0..matrix.rows()).map(|i| (0..matrix.columns()).map(|j| matrix.column(j)[i]).collect()).collect()
}

fn transformed(model: &mut KernelPca<Vectors>, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    points.iter().map(|point| model.transform(point).unwrap()).collect()
}

#[track_caller]
fn close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (i, (f, w)) in found.iter().zip(wanted).enumerate() {
        assert!((f - w).abs() <= tolerance, "entry {i}: {f} against {w}, tolerance {tolerance:e}");
    }
}

/// Asserts that columns agree up to their signs. Returns the signs.
#[track_caller]
fn close_up_to_sign(found: &[Vec<f64>], wanted: &[Vec<f64>], tolerance: f64) -> Vec<f64> {
    let columns = wanted[0].len();
    let signs: Vec<f64> =
        (0..columns).map(|j| found.iter().zip(wanted).map(|(f, w)| f[j] * w[j]).sum::<f64>().signum()).collect();
    close_with_signs(found, wanted, &signs, tolerance);
    signs
}

#[track_caller]
fn close_with_signs(found: &[Vec<f64>], wanted: &[Vec<f64>], signs: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (f, w) in found.iter().zip(wanted) {
        let turned: Vec<f64> = f.iter().zip(signs).map(|(f, sign)| f * sign).collect();
        close(&turned, w, tolerance);
    }
}

#[test]
fn kernel_pca_agrees_with_the_dense_implementation() {
    let fixture = load("golden/kernel_pca_centered.json");
    let tolerance = fixture["tolerance"].as_f64().unwrap();
    let kernel = VectorKernel::Rbf { gamma: fixture["params"]["gamma"].as_f64().unwrap() };
    let kept = fixture["params"]["k"].as_u64().unwrap() as usize;
    for solver in [Solver::Dense, Solver::Partial, FULL] {
        let model = fit(&kernel, &rows(&fixture["x"]), kept, Center::Mean, solver);
        close(&model.eigenvalues, &list(&fixture["eigenvalues"]), tolerance);
        close_up_to_sign(&as_rows(&model.scores), &rows(&fixture["scores"]), tolerance);
    }
}

#[test]
fn kernel_ridge_agrees_with_the_dense_implementation() {
    let fixture = load("golden/kernel_ridge.json");
    let tolerance = fixture["tolerance"].as_f64().unwrap();
    let kernel = VectorKernel::Rbf { gamma: fixture["params"]["gamma"].as_f64().unwrap() };
    let points = rows(&fixture["x"]);
    let rho = fixture["params"]["rho"].as_f64().unwrap();
    let mut model = KernelRidge::fit(empty(&kernel, points[0].len()), &points, &list(&fixture["y"]), rho).unwrap();
    close(model.coefficients.column(0), &list(&fixture["coefficients"]), tolerance);
    let posterior = model.posterior(&rows(&fixture["query"])).unwrap();
    close(posterior.means.column(0), &list(&fixture["mean"]), tolerance);
    close(&posterior.variances, &list(&fixture["variance"]), tolerance);
}

/// Tolerance for the results of scikit-learn. See `sklearn/make_fixtures.py`.
const SKLEARN: f64 = 1e-8;

#[test]
fn kernel_methods_agree_with_scikit_learn() {
    let fixture = load("sklearn/batch.json");
    let (points, query) = (rows(&fixture["x"]), rows(&fixture["query"]));
    let kept = fixture["components"].as_u64().unwrap() as usize;
    let rho = fixture["rho"].as_f64().unwrap();
    for (name, kernel) in [("linear", VectorKernel::Linear), ("polynomial", CUBIC), ("rbf", RBF)] {
        let wanted = &fixture["kernels"][name];
        for solver in [Solver::Dense, Solver::Partial, FULL] {
            let mut model = fit(&kernel, &points, kept, Center::Mean, solver);
            close(&model.eigenvalues, &list(&wanted["eigenvalues"]), SKLEARN);
            let signs = close_up_to_sign(&as_rows(&model.scores), &rows(&wanted["scores"]), SKLEARN);
            let scores = transformed(&mut model, &query);
            close_with_signs(&scores, &rows(&wanted["query_scores"]), &signs, SKLEARN);
            // These kernels are invariant to the signs of the scores.
            let mut inverse = LearnedInverse::fit(kernel.clone(), &model.scores, &points, rho).unwrap();
            for (coordinates, back) in scores.iter().zip(rows(&wanted["query_inverse"])) {
                close(&inverse.point(coordinates).unwrap(), &back, SKLEARN);
            }
        }
        let mut ridge = KernelRidge::fit(empty(&kernel, 5), &points, &list(&fixture["y"]), rho).unwrap();
        close(ridge.coefficients.column(0), &list(&wanted["coefficients"]), SKLEARN);
        close(ridge.predict(&query).unwrap().column(0), &list(&wanted["predictions"]), SKLEARN);
    }
}

#[test]
fn gaussian_process_and_pca_agree_with_scikit_learn() {
    let fixture = load("sklearn/batch.json");
    let (points, query) = (rows(&fixture["x"]), rows(&fixture["query"]));
    let wanted = &fixture["gaussian_process"];
    let kernel = VectorKernel::Rbf { gamma: wanted["gamma"].as_f64().unwrap() };
    let rho = fixture["rho"].as_f64().unwrap();
    let mut process = KernelRidge::fit(empty(&kernel, 5), &points, &list(&fixture["y"]), rho).unwrap();
    let posterior = process.posterior(&query).unwrap();
    close(posterior.means.column(0), &list(&wanted["mean"]), SKLEARN);
    let deviations: Vec<f64> = posterior.variances.iter().map(|variance| variance.sqrt()).collect();
    close(&deviations, &list(&wanted["deviation"]), SKLEARN);
    close(&process.log_likelihood(), &[wanted["log_likelihood"].as_f64().unwrap()], SKLEARN);

    let wanted = &fixture["pca"];
    let pca = Pca::fit(&points, fixture["components"].as_u64().unwrap() as usize, Center::Mean).unwrap();
    close(pca.mean().unwrap(), &list(&wanted["mean"]), SKLEARN);
    close(&pca.explained_variance(), &list(&wanted["explained_variance"]), SKLEARN);
    close(&pca.explained_ratio(), &list(&wanted["explained_ratio"]), SKLEARN);
    let scores: Vec<Vec<f64>> = query.iter().map(|row| pca.transform(row).unwrap()).collect();
    close_up_to_sign(&scores, &rows(&wanted["query_scores"]), SKLEARN);
    for (coordinates, back) in scores.iter().zip(rows(&wanted["query_inverse"])) {
        close(&pca.inverse_transform(coordinates).unwrap(), &back, SKLEARN);
    }
}

#[test]
fn with_the_linear_kernel_kernel_pca_is_pca() {
    let points = data(50, 1);
    let query = data(20, 2);
    for center in [Center::None, Center::Mean] {
        let pca = Pca::fit(&points, 3, center).unwrap();
        let scale = pca.eigenvalues[0];
        for solver in [Solver::Dense, Solver::Partial, FULL] {
            let mut model = fit(&VectorKernel::Linear, &points, 3, center, solver);
            close(&model.eigenvalues, &pca.eigenvalues, 1e-12 * scale);
            close(&model.explained_ratio(), &pca.explained_ratio(), 1e-12);
            close(&model.explained_variance(), &pca.explained_variance(), 1e-12 * scale);
            let wanted: Vec<Vec<f64>> = points.iter().chain(&query).map(|row| pca.transform(row).unwrap()).collect();
            let all: Vec<Vec<f64>> = points.iter().chain(&query).cloned().collect();
            close_up_to_sign(&transformed(&mut model, &all), &wanted, 1e-10);
            for row in &all {
                close(&[model.loss(row).unwrap()], &[pca.loss(row).unwrap()], 1e-10);
            }
        }
    }
}

#[test]
fn cholesky_and_partial_routes_equal_the_dense_route() {
    let points = data(120, 3);
    let query = data(15, 4);
    for kernel in [RBF, CUBIC] {
        for center in [Center::None, Center::Mean] {
            let mut dense = fit(&kernel, &points, 4, center, Solver::Dense);
            let scale = dense.eigenvalues[0];
            for solver in [Solver::Partial, FULL] {
                let mut other = fit(&kernel, &points, 4, center, solver);
                close(&other.eigenvalues, &dense.eigenvalues, 1e-12 * scale);
                close(&other.explained_ratio(), &dense.explained_ratio(), 1e-12);
                close_up_to_sign(&as_rows(&other.scores), &as_rows(&dense.scores), 1e-9);
                close_up_to_sign(&transformed(&mut other, &query), &transformed(&mut dense, &query), 1e-9);
                close(&other.losses, &dense.losses, 1e-9);
            }
        }
    }
}

#[test]
fn projection_of_a_point_of_the_fit_is_its_score() {
    let points = data(60, 5);
    for center in [Center::None, Center::Mean] {
        for solver in [Solver::Dense, FULL, Solver::Cholesky { tolerance: 0.1, max_rank: 30 }] {
            let mut model = fit(&RBF, &points, 5, center, solver);
            close_with_signs(&transformed(&mut model, &points), &as_rows(&model.scores), &[1.0; 5], 1e-10);
            let losses: Vec<f64> = points.iter().map(|point| model.loss(point).unwrap()).collect();
            close(&losses, &model.losses, 1e-10);
            let explained: f64 = model.explained_ratio().iter().sum();
            let total = model.eigenvalues.iter().sum::<f64>() / explained;
            let dropped = total - model.eigenvalues.iter().sum::<f64>();
            assert!((losses.iter().sum::<f64>() - dropped).abs() < 1e-9);
        }
    }
}

#[test]
fn loss_is_the_distance_from_the_projection() {
    let points = data(40, 6);
    let query = data(10, 7);
    for center in [Center::None, Center::Mean] {
        for solver in [Solver::Dense, Solver::Cholesky { tolerance: 0.05, max_rank: 40 }] {
            let mut model = fit(&RBF, &points, 4, center, solver);
            for point in &query {
                let projection = model.project(point).unwrap();
                let fresh = Expansion::new(&model.dictionary, projection.weights.to_vec()).unwrap();
                assert!((fresh.square - projection.square).abs() < 1e-11);
                let distance = projection.squared_distance(&mut model.dictionary, point).unwrap();
                assert!((distance - model.loss(point).unwrap()).abs() < 1e-11);
            }
        }
    }
}

#[test]
fn low_rank_loses_at_most_the_trace_error_more() {
    let points = data(200, 8);
    let kernel = VectorKernel::Rbf { gamma: 0.1 };
    let best: f64 = fit(&kernel, &points, 5, Center::Mean, Solver::Dense).losses.iter().sum();
    for tolerance in [0.2, 0.05, 0.01] {
        let solver = Solver::Cholesky { tolerance, max_rank: 200 };
        let model = fit(&kernel, &points, 5, Center::Mean, solver);
        let loss: f64 = model.losses.iter().sum();
        assert!(loss >= best - 1e-9 && loss <= best + model.trace_error, "{loss} against {best}");
        let rank = PivotedCholesky::new(&mut empty(&kernel, 5), &points, tolerance, 200).unwrap().rank();
        assert_eq!(model.dictionary.len(), rank);
        assert!(rank < 150);
    }
}

#[test]
fn components_beyond_the_rank_are_zero() {
    let points: Vec<Vec<f64>> = (0..30).map(|i| vec![i as f64, 2.0 * i as f64, 0.5]).collect();
    for solver in [Solver::Dense, Solver::Partial, FULL] {
        let mut model = fit(&VectorKernel::Linear, &points, 4, Center::Mean, solver);
        assert_eq!((model.rank(), &model.eigenvalues[1..]), (1, &[0.0; 3][..]));
        assert_eq!(model.transform(&[1.0, -5.0, 3.0]).unwrap()[1..], [0.0; 3]);
        assert!(model.losses.iter().all(|loss| *loss < 1e-9));
        let same = vec![vec![1.0, 2.0]; 8];
        let mut flat = fit(&RBF, &same, 2, Center::Mean, solver);
        assert_eq!((flat.rank(), flat.transform(&[1.0, 2.0]).unwrap()), (0, vec![0.0; 2]));
        let nothing = vec![vec![0.0, 0.0]; 8];
        for center in [Center::None, Center::Mean] {
            let mut zero = fit(&VectorKernel::Linear, &nothing, 2, center, solver);
            assert_eq!((zero.rank(), zero.loss(&[3.0, 4.0]).unwrap()), (0, 25.0));
            assert_eq!(zero.explained_ratio(), [0.0; 2]);
        }
    }
}

struct Letters;
impl Kernel<str> for Letters {
    fn value(&self, a: &str, b: &str) -> f64 {
        (b'a'..=b'z').filter(|c| a.as_bytes().contains(c) && b.as_bytes().contains(c)).count() as f64
    }
}

#[test]
fn points_may_be_anything_that_has_a_kernel() {
    let words: Vec<String> = ["regret", "bound", "hedge", "eigen", "kernel", "trial"].map(String::from).to_vec();
    let explicit: Vec<Vec<f64>> =
        words.iter().map(|w| (b'a'..=b'z').map(|c| f64::from(u8::from(w.as_bytes().contains(&c)))).collect()).collect();
    let wanted = Pca::fit(&explicit, 3, Center::Mean).unwrap();
    for solver in [Solver::Dense, FULL] {
        let model = KernelPca::fit(Items::new(Letters), &words, 3, Center::Mean, solver).unwrap();
        close(&model.eigenvalues, &wanted.eigenvalues, 1e-12 * wanted.eigenvalues[0]);
    }
    let mut ridge = KernelRidge::fit(Items::new(Letters), &words, &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], 1e-6).unwrap();
    assert!((ridge.predict(&["regret"]).unwrap().column(0)[0] - 1.0).abs() < 1e-4);
}

#[derive(Debug)]
struct Broken(f64);
impl Kernel<str> for Broken {
    fn value(&self, a: &str, b: &str) -> f64 {
        if a == b { 1.0 } else { self.0 }
    }
}

#[test]
fn bad_input_is_named() {
    let points = data(6, 9);
    for kept in [0, 7] {
        for solver in [Solver::Dense, Solver::Partial, FULL] {
            let error = KernelPca::fit(empty(&RBF, 5), &points, kept, Center::Mean, solver).unwrap_err().to_string();
            assert_eq!(error, format!("k must be at least 1 and at most the number of points, got {kept}"));
        }
    }
    let solver = Solver::Cholesky { tolerance: 0.0, max_rank: 2 };
    let error = KernelPca::fit(empty(&RBF, 5), &points, 3, Center::Mean, solver).unwrap_err().to_string();
    assert_eq!(error, "k must be at least 1 and at most max-rank, got 3");
    let mut used = empty(&RBF, 5);
    used.push(&points[0]);
    let error = KernelPca::fit(used, &points, 3, Center::Mean, Solver::Dense).unwrap_err().to_string();
    assert_eq!(error, "the number of atoms before fitting must be 0, got 1");
    let words = ["a", "b", "c"].map(String::from);
    let error = KernelPca::fit(Items::new(Broken(f64::NAN)), &words, 1, Center::None, Solver::Dense).unwrap_err();
    assert!(error.to_string().contains("must be finite, got NaN"), "{error}");
    let error = KernelPca::fit(Items::new(Broken(2.0)), &words, 1, Center::None, Solver::Dense).unwrap_err();
    assert!(error.to_string().starts_with("the smallest eigenvalue of the kernel matrix must be not negative"));
    let error = KernelRidge::fit(Items::new(Broken(2.0)), &words, &[0.0; 3], 0.5).unwrap_err().to_string();
    assert_eq!(error, "alpha must be large enough to make K + alpha I positive definite, got 0.5");
}

#[test]
fn saved_models_read_back_equal() {
    let points = data(20, 10);
    let mut model = fit(&RBF, &points, 3, Center::Mean, Solver::Dense);
    let mut copy: KernelPca<Vectors> = postcard::from_bytes(&postcard::to_stdvec(&model).unwrap()).unwrap();
    assert_eq!(model.transform(&[0.1; 5]).unwrap(), copy.transform(&[0.1; 5]).unwrap());
    let ridge = KernelRidge::fit(empty(&RBF, 5), &points, &[1.0; 20], 0.1).unwrap();
    let copy: KernelRidge<Vectors> = postcard::from_bytes(&postcard::to_stdvec(&ridge).unwrap()).unwrap();
    assert_eq!(ridge.coefficients, copy.coefficients);
}

#[test]
fn denoising_with_all_components_gives_the_point_back() {
    let points = data(25, 11);
    for center in [Center::None, Center::Mean] {
        let mut model = fit(&RBF, &points, 25, center, Solver::Dense);
        for point in &points {
            let projection = model.project(point).unwrap();
            let found = fixed_point(&mut model.dictionary, &projection, point, 0, Stop::default()).unwrap();
            close(&found.point, point, 1e-6);
        }
    }
}
