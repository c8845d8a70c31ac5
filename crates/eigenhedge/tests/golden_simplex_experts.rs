//! Capping and the learners over experts, compared with recorded results of an independent program.

use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts, SetDistribution};
use eigenhedge::internals::{CapScratch, Complement, cap};
use eigenhedge::simplex::cap_by_sorting;
use eigenhedge::{Mixing, Random, trial};
use serde_json::Value;

fn fixture(name: &str) -> Value {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).expect("a fixture is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn whole(value: &Value) -> usize {
    value.as_u64().expect("a whole number") as usize
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} {expected}");
    }
}

fn assert_expected_losses(name: &str, spec: impl Fn(&Value, usize) -> ExpertSpec) {
    let fixture = fixture(name);
    let rows: Vec<Vec<f64>> = fixture["losses"].as_array().expect("rows").iter().map(numbers).collect();
    let mut learner = Experts::new(spec(&fixture["params"], rows[0].len())).expect("valid");
    let mut random = Random::seeded(1);
    let found: Vec<f64> =
        rows.iter().map(|row| trial(&mut learner, &row[..], &mut random).expect("valid losses").expected).collect();
    assert_close(&found, &numbers(&fixture["expected_losses"]), number(&fixture["tolerance"]));
}

#[test]
fn capping_matches_the_record() {
    let fixture = fixture("capping");
    let tolerance = number(&fixture["tolerance"]);
    for case in fixture["cases"].as_array().expect("cases") {
        let (mut weights, kept, expected) = (numbers(&case["log_weights"]), whole(&case["k"]), numbers(&case["log_v"]));
        let ones = vec![1; weights.len()];
        let capped = cap_by_sorting(&weights, &ones, kept).expect("valid weights");
        assert_close(&capped.log_dropped, &expected, tolerance);
        cap(&mut weights, &mut Complement::finite(0.0, 0), kept, &mut CapScratch::default());
        assert_close(&weights, &expected, tolerance);
    }
}

#[test]
fn hedge_matches_the_record() {
    assert_expected_losses("hedge", |params, experts| capped_hedge(experts, experts - 1, params));
}

fn capped_hedge(experts: usize, kept: usize, params: &Value) -> ExpertSpec {
    ExpertSpec::new(ExpertKind::CappedHedge, experts, kept, number(&params["eta"]))
}

#[test]
fn capped_hedge_matches_the_record() {
    assert_expected_losses("capped_hedge", |params, experts| capped_hedge(experts, whole(&params["k"]), params));
}

#[test]
fn capped_hedge_with_fixed_share_matches_the_record() {
    assert_expected_losses("capped_hedge_fixed_share", |params, experts| {
        let mixing = Mixing::FixedShare { alpha: number(&params["alpha"]) };
        ExpertSpec { mixing, ..capped_hedge(experts, whole(&params["k"]), params) }
    });
}

#[test]
fn product_sets_match_the_record() {
    let fixture = fixture("product_sets");
    let sets = SetDistribution::new(&numbers(&fixture["log_weights"]), whole(&fixture["params"]["m"])).expect("valid");
    assert_close(&sets.inclusion(), &numbers(&fixture["inclusion"]), number(&fixture["tolerance"]));
}
