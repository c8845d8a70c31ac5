//! The subspace learners, compared with results of an independent dense implementation.

#![allow(clippy::unwrap_used)]

use eigenhedge::kernel::VectorKernel;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Instance, Kind, Mixing, NormBound, Random, RunningCenter, Spec, trial};
use serde_json::Value;

struct Fixture(Value);

impl Fixture {
    fn load(name: &str) -> Self {
        let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self(serde_json::from_str(&text).unwrap())
    }
    fn number(&self, name: &str) -> f64 {
        self.0["params"][name].as_f64().unwrap()
    }
    fn list(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }
    fn rows(&self) -> Vec<Vec<f64>> {
        self.0["x"].as_array().unwrap().iter().map(Self::list).collect()
    }
    fn tolerance(&self) -> f64 {
        self.0["tolerance"].as_f64().unwrap()
    }

    fn agrees(&self, spec: Spec, key: &str, skip: usize) {
        let rows = self.rows();
        let wanted = Self::list(&self.0[key]);
        assert_eq!(rows.len(), wanted.len());
        let spec = Spec { norm_bound: NormBound::Given(1.0), ..spec };
        let mut learner = spec.plain(rows[0].len()).unwrap();
        let mut random = Random::seeded(0);
        for (t, (row, wanted)) in rows.iter().zip(&wanted).enumerate() {
            let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
            let gap = (loss.expected - wanted).abs();
            assert!(t < skip || gap <= self.tolerance(), "row {t}: {} against {wanted}", loss.expected);
        }
    }

    /// Compares expected losses in feature space with those recorded from row `first` on.
    fn agrees_in_features(&self, spec: Spec, first: usize) {
        let rows = self.rows();
        let wanted = Self::list(&self.0["expected_losses"]);
        assert_eq!(rows.len(), wanted.len() + first);
        let kernel = match self.0["params"]["kernel"].as_str().unwrap() {
            "rbf" => VectorKernel::Rbf { gamma: self.number("gamma") },
            "poly" => VectorKernel::Polynomial {
                gamma: self.number("gamma"),
                degree: self.number("degree") as u32,
                coef0: self.number("coef0"),
            },
            other => panic!("kernel {other}"),
        };
        let dimension = match &self.0["params"]["feature_dim"] {
            Value::Number(n) => Some(Multiplicity::Finite(n.as_u64().unwrap())),
            _ => None,
        };
        let spec = Spec { norm_bound: NormBound::Given(1.0), eta: self.number("eta"), dimension, ..spec };
        let mut learner = spec.kernel(kernel, rows[0].len()).unwrap();
        let mut random = Random::seeded(0);
        for (t, row) in rows.iter().enumerate() {
            let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
            if t >= first {
                let gap = (loss.expected - wanted[t - first]).abs();
                assert!(gap <= self.tolerance(), "row {t}: {} against {}", loss.expected, wanted[t - first]);
            }
        }
    }

    fn spec(&self, kind: Kind) -> Spec {
        Spec::bare(kind, self.number("k") as usize)
    }
}

#[test]
fn tracking_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("tracking");
    fixture.agrees(Spec { eta: fixture.number("eta"), ..fixture.spec(Kind::Tracking) }, "expected_losses", 0);
}

#[test]
fn tracking_with_fixed_share_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("tracking_fixed_share");
    let mixing = Mixing::FixedShare { alpha: fixture.number("alpha") };
    fixture.agrees(Spec { eta: fixture.number("eta"), mixing, ..fixture.spec(Kind::Tracking) }, "expected_losses", 0);
}

#[test]
fn tracking_with_past_average_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("tracking_past_average");
    let mixing = Mixing::PastAverage { alpha: fixture.number("alpha") };
    fixture.agrees(Spec { eta: fixture.number("eta"), mixing, ..fixture.spec(Kind::Tracking) }, "expected_losses", 0);
}

#[test]
fn anchored_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("anchored");
    fixture.agrees(Spec { eta: fixture.number("eta"), ..fixture.spec(Kind::Anchored) }, "expected_losses", 0);
}

#[test]
fn centered_anchored_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("anchored_centered");
    let center = Some(RunningCenter { prior: fixture.number("inv_eta_center"), ..RunningCenter::MEAN });
    fixture.agrees(Spec { eta: fixture.number("eta"), center, ..fixture.spec(Kind::Anchored) }, "expected_losses", 0);
}

#[test]
fn centered_anchored_with_a_prior_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("anchored_centered_prior");
    let center = Some(RunningCenter { prior: fixture.number("inv_eta_center"), ..RunningCenter::MEAN });
    let start = Some(Fixture::list(&fixture.0["params"]["m0"]));
    let spec = Spec { eta: fixture.number("eta"), center, start, ..fixture.spec(Kind::Anchored) };
    fixture.agrees(spec, "expected_losses", 0);
}

#[test]
fn leader_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("leader");
    fixture.agrees(fixture.spec(Kind::Leader), "losses", fixture.number("skip") as usize);
}

#[test]
fn forgetting_leader_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("forgetting_leader");
    let spec = Spec { forget: fixture.number("forget"), ..fixture.spec(Kind::ForgettingLeader) };
    fixture.agrees(spec, "losses", fixture.number("skip") as usize);
}

#[test]
fn kernel_anchored_agrees_with_the_dense_implementation() {
    for name in ["kernel_anchored_poly2", "kernel_anchored_rbf"] {
        let fixture = Fixture::load(name);
        fixture.agrees_in_features(fixture.spec(Kind::Anchored), 0);
    }
}

#[test]
fn kernel_anchored_as_printed_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("kernel_anchored_as_printed");
    let spec = Spec { as_printed: true, ..fixture.spec(Kind::Anchored) };
    let first = spec.kept + 1;
    fixture.agrees_in_features(spec, first);
}

#[test]
fn kernel_tracking_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("kernel_tracking_poly2");
    fixture.agrees_in_features(fixture.spec(Kind::Tracking), 0);
    let fixture = Fixture::load("kernel_tracking_rbf");
    let mixing = Mixing::FixedShare { alpha: fixture.number("alpha") };
    fixture.agrees_in_features(Spec { mixing, ..fixture.spec(Kind::Tracking) }, 0);
}

#[test]
fn additive_agrees_with_the_dense_implementation() {
    let fixture = Fixture::load("additive");
    fixture.agrees(Spec { eta: fixture.number("eta"), ..fixture.spec(Kind::Additive) }, "expected_losses", 0);
}
