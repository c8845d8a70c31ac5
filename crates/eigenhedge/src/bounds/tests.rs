use super::*;

#[test]
fn the_papers_simpler_divergence_is_never_smaller() {
    for n in 2..60u64 {
        for kept in 1..n {
            let exact = divergence(kept as usize, Multiplicity::Finite(n)).unwrap();
            let simple = divergence_by_kept(kept as usize, Multiplicity::Finite(n));
            assert_eq!(simple.is_some(), 2 * kept <= n);
            assert!(simple.is_none_or(|simple| exact <= simple * (1.0 + 1e-14)), "{n} {kept}");
        }
    }
}

#[test]
fn sets_are_further_from_uniform_than_the_paper_prints_by_at_most_k() {
    for (kept, experts) in [(1, 2), (2, 6), (3, 10), (5, 50), (20, 100)] {
        let (exact, printed) = (set_divergence(kept, experts), kept as f64 * (experts as f64 / kept as f64).ln());
        assert!((printed..=printed + kept as f64).contains(&exact), "{exact} {printed}");
        assert!((exact - set_divergence(experts - kept, experts)).abs() < 1e-12);
    }
}

#[test]
fn tuning_turns_every_bound_into_the_tuned_regret() {
    for divergence in [0.1, 1.0, 40.0] {
        for scale in [0.01, 1.0, 9.0] {
            for ceiling in [0.3, 10.0, 1e5] {
                let rate = tuned_rate(divergence, ceiling, scale).unwrap();
                for best in [0.0, 0.5 * ceiling, ceiling] {
                    let regret = exponential(rate, best, divergence, scale) - best;
                    let tuned = tuned_regret(divergence, ceiling, scale);
                    assert!(regret <= tuned * (1.0 + 1e-12), "{regret} {tuned}: {divergence} {scale} {ceiling}");
                }
            }
        }
    }
}

#[test]
fn the_printed_rate_breaks_the_printed_regret_for_long_rows() {
    // ICML (6) as printed, with Q = 10 and no Q in the root.
    let (divergence, ceiling, scale) = (10.0, 1e4, 100.0);
    let printed = f64::sqrt(2.0 * divergence / ceiling).ln_1p();
    let regret = exponential(printed, ceiling, divergence, scale) - ceiling;
    assert!(regret > tuned_regret(divergence, ceiling, scale));
}

#[test]
fn scaling_rows_and_losses_scales_every_bound() {
    let unit = Setting { price: 0.3, ..Setting::new(0.7, 3, Multiplicity::Finite(11)) };
    let scaled = Setting { norm_square: 25.0, ..unit };
    let pairs = [
        (uncentered(&unit, 4.0), uncentered(&scaled, 100.0)),
        (centered(&unit, 4.0, 2.0, 0.1, 50), centered(&scaled, 100.0, 2.0, 2.5, 50)),
        (centered_on_the_mean(&unit, 4.0, 3.0, 50), centered_on_the_mean(&scaled, 100.0, 75.0, 50)),
    ];
    for (one, other) in pairs {
        assert!((25.0 * one.unwrap() - other.unwrap()).abs() < 1e-10);
    }
}

#[test]
fn nothing_is_promised_when_everything_is_kept() {
    let setting = Setting::new(1.0, 3, Multiplicity::Finite(3));
    assert_eq!(uncentered(&setting, 1.0), None);
    assert_eq!(centered(&setting, 1.0, 0.0, 0.0, 5), None);
    assert_eq!(centered_on_the_mean(&setting, 1.0, 1.0, 5), None);
    assert_eq!(self_confident(&setting, 1.0), None);
    assert_eq!(shifting(&setting, 1.0, 1, 0.1), None);
    assert_eq!(additive(&setting, 1.0, 0, 1.0), None);
    assert_eq!(additive_rate(3, setting.dimension, 10), None);
    assert_eq!(capped_hedge(1.0, 1.0, 3, 3), None);
}

#[test]
fn every_bound_grows_to_that_of_infinite_dimension() {
    let bounds = |dimension| {
        let setting = Setting { price: 0.2, norm_square: 9.0, ..Setting::new(0.7, 3, dimension) };
        [
            uncentered(&setting, 4.0),
            centered(&setting, 4.0, 2.0, 0.1, 50),
            centered_on_the_mean(&setting, 4.0, 3.0, 50),
            self_confident(&setting, 4.0),
            shifting(&setting, 4.0, 5, 0.01),
            additive(&setting, 4.0, 5, 30.0),
            additive_rate(3, dimension, 50),
        ]
        .map(Option::unwrap)
    };
    let limit = bounds(Multiplicity::Infinite);
    for (power, tolerance) in [(3, 1e-2), (6, 1e-5), (12, 1e-11)] {
        for (i, (finite, limit)) in bounds(Multiplicity::Finite(10u64.pow(power))).iter().zip(limit).enumerate() {
            assert!((finite - limit).abs() < tolerance * limit, "{i}, N = 10^{power}: {finite} {limit}");
        }
    }
}

#[test]
fn a_change_of_the_additive_comparator_can_cost_twice_k() {
    // With P' orthogonal to P = P̄ in a space of 2k directions, |P' - P̄|² - |P - P̄|² = 2k, more than 2 k(N-k)/N = k.
    let (kept, dimension) = (3, Multiplicity::Finite(6));
    let setting = Setting::new(0.5, kept, dimension);
    let each = additive(&setting, 0.0, 1, 0.0).unwrap() - additive(&setting, 0.0, 0, 0.0).unwrap();
    assert_eq!(each, 2.0 * kept as f64 / (2.0 * setting.eta));
    assert!(each > 2.0 * additive_distance(kept, dimension).unwrap() / (2.0 * setting.eta));
}

#[test]
fn divergence_has_the_value_of_its_formula() {
    assert!((divergence(1, Multiplicity::Finite(2)).unwrap() - 2f64.ln()).abs() < 1e-15);
    assert_eq!(divergence(3, Multiplicity::Infinite), Some(3.0));
}

#[test]
fn divergence_by_kept_has_the_value_of_its_formula() {
    let n = Multiplicity::Finite(100);
    assert!(divergence(10, n) < divergence_by_kept(10, n));
    assert_eq!(divergence_by_kept(60, n), None);
}

#[test]
fn set_divergence_has_the_value_of_its_formula() {
    assert!((set_divergence(2, 6) - 15f64.ln()).abs() < 1e-14);
}

#[test]
fn hedge_has_the_value_of_its_formula() {
    let bound = hedge(1.0, 10.0, 4);
    assert!((bound - (10.0 + 4f64.ln()) / (1.0 - (-1f64).exp())).abs() < 1e-13);
    assert!((bound - capped_hedge(1.0, 10.0, 3, 4).unwrap()).abs() < 1e-13);
}

#[test]
fn set_experts_has_the_value_of_its_formula() {
    let bound = set_experts(0.5, 3.0, 4, 6);
    assert!((bound - 2.0 * (1.5 + 15f64.ln()) / (1.0 - (-1f64).exp())).abs() < 1e-13);
}

#[test]
fn pair_has_the_value_of_its_formula() {
    let setting = Setting { norm_square: 4.0, ..Setting::new(0.5, 1, Multiplicity::Finite(3)) };
    let lost = (0.5 * (2.0 * 10.0 - 30.0 / 4.0) + 2.0 * 2.0 * 1.5f64.ln()) / (1.0 - (-0.5f64).exp());
    assert!((pair(&setting, 30.0, 10).unwrap() - 4.0 * (20.0 - lost)).abs() < 1e-12);
}

#[test]
fn shift_cost_has_the_value_of_its_formula() {
    let exact = 2.0 * (20f64 / (0.01 * 18.0)).ln();
    assert!((shift_cost(2, Multiplicity::Finite(20), 0.01).unwrap() - exact).abs() < 1e-13);
    assert!((shift_cost(2, Multiplicity::Infinite, 0.01).unwrap() - 2.0 * 100f64.ln()).abs() < 1e-13);
}

#[test]
fn shifting_has_the_value_of_its_formula() {
    let setting = Setting { price: 3.0, ..Setting::new(4.0, 2, Multiplicity::Finite(20)) };
    assert_eq!(shifting(&setting, 10.0, 0, 0.01), uncentered(&setting, 10.0));
    let each = 2.0 * (20f64 / (0.01 * 18.0)).ln() / (1.0 - (-4f64).exp());
    let gap = shifting(&setting, 10.0, 3, 0.01).unwrap() - uncentered(&setting, 10.0).unwrap();
    assert!((gap - 3.0 * each).abs() < 1e-12);
}

#[test]
fn additive_has_the_value_of_its_formula() {
    let setting = Setting { norm_square: 4.0, ..Setting::new(0.5, 2, Multiplicity::Finite(8)) };
    let exact = 10.0 + 4.0 * (2.0 * 6.0 / 8.0) / (2.0 * 0.5) + 0.5 / 8.0 * 30.0;
    assert!((additive(&setting, 10.0, 0, 30f64.sqrt()).unwrap() - exact).abs() < 1e-13);
    let changed = exact + 4.0 * (2.0 * 3.0 * 2.0) / (2.0 * 0.5);
    assert!((additive(&setting, 10.0, 3, 30f64.sqrt()).unwrap() - changed).abs() < 1e-13);
}

#[test]
fn additive_rate_has_the_value_of_its_formula() {
    let n = Multiplicity::Finite(8);
    let eta = additive_rate(2, n, 600).unwrap();
    let bound = additive(&Setting::new(eta, 2, n), 10.0, 0, 600f64.sqrt()).unwrap();
    assert!((bound - 10.0 - (600f64 * 1.5).sqrt()).abs() < 1e-12);
}

#[test]
fn centered_has_the_value_of_its_formula() {
    let setting = Setting::new(1.0, 2, Multiplicity::Finite(20));
    let gap = centered(&setting, 10.0, 4.0, 0.0, 101).unwrap() - uncentered(&setting, 10.0).unwrap();
    assert!((gap - (1.0 + 21f64.ln())).abs() < 1e-12);
}

#[test]
fn centered_on_the_mean_has_the_value_of_its_formula() {
    let setting = Setting::new(1.0, 2, Multiplicity::Finite(20));
    let gap = centered_on_the_mean(&setting, 10.0, 9.0, 100).unwrap() - uncentered(&setting, 10.0).unwrap();
    assert!((gap - (100f64.ln() + 9.0)).abs() < 1e-12);
}

#[test]
fn self_confident_has_the_value_of_its_formula() {
    let n = Multiplicity::Finite(20);
    let regret = self_confident(&Setting::new(1.0, 2, n), 1e6).unwrap() - 1e6;
    let tuned = tuned_regret(divergence(2, n).unwrap(), 1e6, 1.0);
    assert!(tuned < regret && regret < 1.5 * tuned); // the cost of not knowing the best loss
}

#[test]
fn tuned_rate_has_the_value_of_its_formula() {
    assert!((tuned_rate(0.5, 1.0, 1.0).unwrap() - 2f64.ln()).abs() < 1e-15);
    assert_eq!(tuned_rate(0.5, 0.0, 1.0), None);
}

#[test]
fn tuned_regret_has_the_value_of_its_formula() {
    let (best, divergence) = (100.0, 8f64.ln());
    let bound = hedge(tuned_rate(divergence, best, 1.0).unwrap(), best, 8);
    assert!(bound - best <= tuned_regret(divergence, best, 1.0));
}

#[test]
fn lower_regret_has_the_value_of_its_formula() {
    assert!(lower_regret(2.0, 50.0, 1.0) * 2f64.sqrt() <= tuned_regret(2.0, 50.0, 1.0));
}
