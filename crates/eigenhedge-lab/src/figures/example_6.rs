//! Worked example of capping: three experts, one of which is kept.

use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::Random;
use eigenhedge::experts::SetDistribution;
use eigenhedge::simplex::{cap_by_sorting, decompose};
use eigenhedge_pages::{Chart, Series};

const WEIGHTS: [f64; 3] = [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0];
const EXACT: [f64; 3] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 2.0];
const DROPPED: usize = 2;
const ROUNDING: f64 = 1e-15;
/// Number of random points that are compared with the projection.
const RIVALS: usize = 10_000;

pub fn run(setting: &Setting, _: &Progress) -> Result<Outcome, LabError> {
    let capped = cap_by_sorting(&WEIGHTS.map(f64::ln), &[1; 3], 3 - DROPPED)?;
    // The probabilities of being dropped sum to two. The paper divides them by two.
    let dropped: Vec<f64> = capped.log_dropped.iter().map(|log| log.exp()).collect();
    let halves: Vec<f64> = dropped.iter().map(|v| v / DROPPED as f64).collect();
    let mixture = decompose(&dropped)?;
    let coefficient = |set: [usize; 2]| {
        mixture.corners.iter().filter(|corner| corner.members == set).map(|corner| corner.coefficient).sum::<f64>()
    };
    let products = SetDistribution::new(&WEIGHTS.map(f64::ln), DROPPED)?.inclusion();
    let sets = [[0, 1], [0, 2], [1, 2]];
    let weight_of = |set: [usize; 2]| WEIGHTS[set[0]] * WEIGHTS[set[1]];
    let total: f64 = sets.iter().map(|set| weight_of(*set)).sum();

    let mut table = Table::new("", ["expert", "weight", "capped", "dropped_by_capping", "dropped_by_products"]);
    for i in 0..3 {
        table.push([i as f64 + 1.0, WEIGHTS[i], halves[i], dropped[i], products[i]]);
    }
    let mut mixtures = Table::new("sets", ["set", "capping", "products"]);
    for set in sets {
        let name = format!("{{{},{}}}", set[0] + 1, set[1] + 1);
        mixtures.rows.push(vec![name, coefficient(set).to_string(), (weight_of(set) / total).to_string()]);
    }
    let largest = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let nearest = nearest_rival(setting.seed);
    let equal = |what, found: f64, wanted: f64| Claim::at_most(what, (found - wanted).abs(), "", ROUNDING);
    let claims = vec![
        Claim::at_most("distance of the capped weights from (1/6, 1/3, 1/2)", largest(&halves, &EXACT), "", ROUNDING),
        equal("distance of the share of set {1,3} from 1/3", coefficient([0, 2]), 1.0 / 3.0),
        equal("distance of the share of set {2,3} from 2/3", coefficient([1, 2]), 2.0 / 3.0),
        Claim::less(
            "relative entropy of the capped weights to (1, 2, 4)/7",
            relative_entropy(&halves),
            &format!("that of the nearest of {RIVALS} random points under the cap"),
            nearest,
        ),
        equal("distance of 6/7 from how surely products drop expert 3", products[2], 6.0 / 7.0),
        Claim::less("how surely products drop expert 3", products[2], "how surely capping does", dropped[2]),
    ];
    let experts = [1.0, 2.0, 3.0];
    let mut chart = Chart::new("Weights before and after capping at one half", "expert", "weight")
        .with(Series::points("before", &experts, &WEIGHTS))
        .with(Series::points("after", &experts, &halves))
        .with(Series::dashed("cap", &[0.8, 3.2], &[0.5, 0.5]));
    chart.caption = "Capping lifts the small weights by a common factor until no weight exceeds one half.".into();
    let text = vec![
        "Three experts have weights in proportion to 1, 2 and 4, and two of them are to be dropped. No expert can be \
         dropped more than surely, so no weight may exceed one half: the weights are capped to (1/6, 1/3, 1/2), which is one \
         third of the set {1,3} and two thirds of the set {2,3}."
            .into(),
        "Hedge over the three sets, with products of weights, spreads differently: it drops expert 3 with probability 6/7 \
         only, where capping always does."
            .into(),
    ];
    Ok(Outcome { tables: vec![table, mixtures], charts: vec![chart], text, claims })
}

fn relative_entropy(point: &[f64]) -> f64 {
    point.iter().zip(WEIGHTS).filter(|(p, _)| **p > 0.0).map(|(p, w)| p * (p / w).ln()).sum()
}

fn nearest_rival(seed: u64) -> f64 {
    let mut random = Random::seeded(seed);
    let mut point = || loop {
        let (a, b) = (0.5 * random.uniform(), 0.5 * random.uniform());
        if a + b >= 0.5 {
            return [a, b, 1.0 - a - b];
        }
    };
    (0..RIVALS).map(|_| relative_entropy(&point())).fold(f64::INFINITY, f64::min)
}
