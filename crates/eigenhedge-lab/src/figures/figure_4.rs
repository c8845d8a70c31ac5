//! Total losses on the stream of three subspaces, and the effect of a density matrix in double precision.

use super::figure_3::SEGMENT;
use super::{ALPHA, KEPT, spec, tracking};
use crate::curves::{LossTotals, cumulated, loss_of, row_numbers, totals};
use crate::textbook::Textbook;
use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::{AnyLearner, Kind, Mixing, Spec, streams};
use eigenhedge_pages::{Chart, Mark, Series, Tint};

const NAMES: [&str; 7] = [
    "tracking, exact",
    "tracking, textbook",
    "tracking + fixed share",
    "tracking + past average",
    "anchored, exact",
    "anchored, textbook",
    "follow the leader",
];
const BEST: &str = "best fixed plane";

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let rows = streams::three_subspaces(setting.seed);
    let length = rows[0].len();
    let draws = if setting.quick { 8 } else { 50 };
    let measure = |i: usize| -> Result<LossTotals, LabError> {
        let part = |done: f64| progress((i as f64 + done) / NAMES.len() as f64);
        let draws = (setting.seed, draws);
        let of = |spec: Spec| totals(AnyLearner::new(&spec, length)?, &rows, draws, &part);
        match i {
            0 => of(tracking(Mixing::None, KEPT)),
            1 => totals(Textbook::tracking(length, KEPT, 1.0), &rows, draws, &part),
            2 => of(tracking(Mixing::FixedShare { alpha: ALPHA }, KEPT)),
            3 => of(tracking(Mixing::PastAverage { alpha: ALPHA }, KEPT)),
            4 => of(spec(Kind::Anchored, KEPT)),
            5 => totals(Textbook::anchored(length, KEPT, 1.0), &rows, draws, &part),
            _ => of(spec(Kind::Leader, KEPT)),
        }
    };
    let all = (0..NAMES.len()).map(measure).collect::<Result<Vec<_>, _>>()?;
    let plane = Pca::fit(&rows, KEPT, Center::None)?;
    let best = cumulated(&rows.iter().map(|row| loss_of(&plane.components, row)).collect::<Vec<_>>());
    Ok(Outcome {
        tables: vec![table(&all, &best)],
        charts: vec![
            chart(&all, &best, &[0, 1, 4, 5, 6], "The learners of the figure, and the exact curves"),
            chart(&all, &best, &[1, 2, 3], "An honest share in place of rounding"),
        ],
        text: text(&all, draws),
        claims: claims(&all, &best, draws),
    })
}

fn claims(all: &[LossTotals], best: &[f64], draws: usize) -> Vec<Claim> {
    let total: Vec<f64> = all.iter().map(LossTotals::expected_total).collect();
    let best = best.last().copied().unwrap_or(0.0);
    let half = |total: f64| 0.5 * total;
    let surprise = all.iter().map(|totals| totals.surprise(draws)).fold(0.0, f64::max);
    let of = |i: usize| format!("loss of {}", NAMES[i]);
    let best_name = format!("loss of the {BEST}");
    vec![
        Claim::less(&of(1), total[1], &format!("half the {}", of(0)), half(total[0])),
        Claim::less(&of(2), total[2], &format!("half the {}", of(1)), half(total[1])),
        Claim::less(&of(3), total[3], &format!("half the {}", of(1)), half(total[1])),
        Claim::less(&of(0), total[0], &best_name, best),
        Claim::less(&of(1), total[1], &of(5), total[5]),
        Claim::less(&of(5), total[5], &best_name, best),
        Claim::less(&best_name, best, &of(4), total[4]),
        Claim::at_most(&of(4), total[4], "1.02 × the loss of the leader", 1.02 * total[6]),
        Claim::less(&best_name, best, &of(6), total[6]),
        Claim::at_most(
            "largest distance of a mean of draws from its expected loss, in standard errors",
            surprise,
            "",
            4.0,
        ),
    ]
}

fn table(all: &[LossTotals], best: &[f64]) -> Table {
    let columns = NAMES.iter().flat_map(|name| {
        let name = name.replace([',', '+'], "").split_whitespace().collect::<Vec<_>>().join("_");
        ["expected", "mean", "deviation"].map(|what| format!("{name}_{what}"))
    });
    let mut table = Table::new("", std::iter::once("row".to_owned()).chain(columns).chain(["best_fixed_plane".into()]));
    for t in 0..best.len() {
        let cells = all.iter().flat_map(|totals| [totals.expected[t], totals.mean[t], totals.deviation[t]]);
        table.push(std::iter::once(t as f64).chain(cells).chain([best[t]]));
    }
    table
}

fn chart(all: &[LossTotals], best: &[f64], shown: &[usize], title: &str) -> Chart {
    let mut chart = Chart::new(title, "rows", "total loss (mean ± one standard deviation)");
    for (place, i) in shown.iter().enumerate() {
        chart = chart.with(all[*i].series(NAMES[*i], 10 * place).with_tint(Tint::Slot(*i)));
    }
    if shown.contains(&0) {
        let rows = row_numbers(best.len());
        let every = |values: &[f64]| values.iter().copied().skip(9).step_by(10).collect::<Vec<_>>();
        chart = chart.with(Series::dashed(BEST, &every(&rows), &every(best)).with_tint(Tint::Slot(NAMES.len())));
    }
    chart.marks = [SEGMENT, 2 * SEGMENT].map(|row| Mark { x: row as f64, label: "the plane changes".into() }).to_vec();
    chart
}

fn text(all: &[LossTotals], draws: usize) -> Vec<String> {
    let total: Vec<f64> = all.iter().map(LossTotals::expected_total).collect();
    vec![
        format!(
            "Every learner keeps 2 of 20 directions at a rate of 1, on one and the same stream; lines are means of {draws} draws, \
             bars are one standard deviation of a draw. Tracking is Algorithm 5, anchored is Algorithm 6 without centering."
        ),
        "\"Textbook\" is the program one would write from the paper: the density matrix is multiplied out in double precision \
             and decomposed again. Its curves stand as published: tracking recovers in each segment, anchored does not recover as \
             quickly, both lose less than the best fixed plane, and the leader loses more. But a direction that is surely \
             kept has a weight that falls by a constant factor with each row, to about e⁻¹⁰⁰ after 500 rows, and a matrix in \
             double precision cannot hold eigenvalues under about 10⁻¹⁷ of its largest. Rounding forgets what was learned beyond \
             that, as if a share of the uniform distribution had been mixed in."
            .into(),
        format!(
            "Computed exactly, with logarithms of the weights, the algorithms must climb back from where they are: tracking loses \
             {:.0} and not {:.0}, and anchored loses {:.0} and not {:.0}, which is no less than the best fixed plane: at this rate it is nearly \
             the leader.",
            total[0], total[1], total[4], total[5]
        ),
        format!(
            "Forgetting is a good idea on this stream, so it should be a parameter and not an accident. With a share of {ALPHA} \
             of the uniform distribution mixed in after each row tracking loses {:.0}, and {:.0} with the same share of the \
             average of the past.",
            total[2], total[3]
        ),
    ]
}
