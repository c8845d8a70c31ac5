//! Table of all options.
//!
//! The command line, Python, the resume check, `inspect`, summaries and the book use the options in
//! this order. In texts, `{name}` is replaced by the option name as the program spells it.

use super::entry::{
    OptionEntry, Readers, best_methods, centers, coordinates, items, kernels, learners, missing_policies, mixing_rules,
    selects,
};
use super::{Type, Value, exact};
use crate::comparators::BestMethod;
use crate::error;
use crate::kernel::KERNELS;
use crate::mixing::Mixing;
use crate::registry::spec::{ALPHA, default_merge};
use crate::registry::{Family, Kind, Missing};
use crate::simplex::Multiplicity;
use crate::subspace::{NormBound, RunningCenter, check_center_prior};

impl OptionEntry {
    /// Returns the entry with this name, or `None` if there is no such option.
    pub fn find(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|option| option.name == name)
    }
}

const HEBBIAN: &[Kind] = &[Kind::Oja, Kind::Gha, Kind::Apex];
const TRACKING: &[Kind] = &[Kind::Tracking];
const UNRATED: &[Kind] = &[Kind::Auto, Kind::Leader, Kind::ForgettingLeader];

/// Value of `segments` that chooses the number of segments, up to 12: with the smallest bound relative to a changing
/// comparator, or else with the smallest loss plus cost of the changes.
pub const AUTO_SEGMENTS: usize = usize::MAX;

/// All options.
pub const OPTIONS: &[OptionEntry] = &[
    OptionEntry {
        default: "auto",
        get: |setup| Some(setup.spec.learner.entry().name.into()),
        example: "--learner tracking",
        help: "Learning algorithm",
        ..OptionEntry::new("learner", Type::Choice(learners), "NAME")
    },
    OptionEntry {
        default: "auto for anchored, 0.05 for oja, gha and apex, 1 for the others",
        readers: Readers::AllBut(UNRATED),
        neutral: Some("auto"),
        set: |setup, value| match value {
            Value::Number(eta) => (setup.spec.eta, setup.spec.self_confident) = (*eta, false),
            _ => setup.spec.self_confident = true,
        },
        get: |setup| {
            let is_tuned = setup.spec.self_confident || setup.ceiling.is_some() || setup.horizon.is_some();
            Some(if is_tuned { "auto".into() } else { setup.spec.eta.into() })
        },
        conflict: |_, setup| {
            let learner = setup.spec.learner;
            (setup.spec.self_confident && HEBBIAN.contains(&learner))
                .then(|| format!("{{eta}} auto is not for the learner {}", learner.entry().name))
        },
        example: "--learner tracking --eta 4",
        help: "Learning rate, for rows of norm at most one; `auto` tunes it to the learner's own loss, or to {ceiling} or {horizon}",
        ..OptionEntry::new("eta", Type::Number(error::positive, Some("auto")), "F|auto")
    },
    OptionEntry {
        readers: Readers::Only(&[Kind::Tracking, Kind::Anchored]),
        set: |setup, value| setup.ceiling = Some(value.number()),
        get: |setup| setup.ceiling.map(Value::from),
        conflict: |options, setup| match setup.spec.norm_bound {
            _ if matches!(options.given.get("eta"), Some(Value::Number(_))) => {
                Some("{ceiling} has an effect only with {eta} auto".into())
            }
            NormBound::Running => Some("{ceiling} needs a {norm-bound}".into()),
            NormBound::Given(_) => None,
        },
        example: "--learner tracking --eta auto --norm-bound 10 --ceiling 500",
        help: "Upper bound on the loss of the best subspace; {eta} auto is then tuned by the papers' formula, with the constant \
             d log(N/d) in place of their larger k log(N/k); needs {norm-bound}",
        ..OptionEntry::new("ceiling", Type::Number(error::positive, None), "F")
    },
    OptionEntry {
        readers: Readers::Only(&[Kind::Additive]),
        set: |setup, value| setup.horizon = Some(value.count() as u64),
        get: |setup| setup.horizon.map(Value::from),
        conflict: |options, _| {
            matches!(options.given.get("eta"), Some(Value::Number(_)))
                .then(|| "{horizon} has an effect only with {eta} auto".into())
        },
        example: "--learner additive --eta auto --horizon 1000",
        help: "Number of rows to expect; {eta} auto is then tuned to it, and the regret of additive is at most Q² √(k ROWS) for \
             rows of norm at most Q",
        ..OptionEntry::new("horizon", Type::Count(1, None), "ROWS")
    },
    OptionEntry {
        default: "fixed-share for tracking, none for the others",
        readers: Readers::Only(TRACKING),
        neutral: Some("none"),
        set: |setup, value| {
            let (mixing, merge) = match value.text() {
                "fixed-share" => (Mixing::FixedShare { alpha: ALPHA }, default_merge(setup.spec.kept)),
                "past-average" => (Mixing::PastAverage { alpha: ALPHA }, 0.0),
                _ => (Mixing::None, 0.0),
            };
            (setup.spec.mixing, setup.spec.merge) = (mixing, merge);
        },
        get: |setup| Some(setup.spec.mixing.name().into()),
        example: "--learner tracking --mixing past-average",
        help: "Distribution that is mixed in after each row, so that the learner can follow changes",
        ..OptionEntry::new("mixing", Type::Choice(mixing_rules), "RULE")
    },
    OptionEntry {
        default: "0.001",
        readers: Readers::Only(TRACKING),
        set: |setup, value| match &mut setup.spec.mixing {
            Mixing::None => {}
            Mixing::FixedShare { alpha } | Mixing::PastAverage { alpha } => *alpha = value.number(),
        },
        get: |setup| (setup.spec.mixing != Mixing::None).then(|| setup.spec.mixing.alpha().into()),
        conflict: |_, setup| {
            (setup.spec.mixing == Mixing::None).then(|| "{alpha} has no effect with {mixing} none".into())
        },
        example: "--learner tracking --alpha 0.01",
        help: "Share of the distribution that is mixed in",
        ..OptionEntry::new("alpha", Type::Number(error::fraction, None), "F")
    },
    OptionEntry {
        default: "0.95",
        readers: Readers::Only(&[Kind::ForgettingLeader]),
        set: |setup, value| setup.spec.forget = value.number(),
        get: |setup| Some(setup.spec.forget.into()),
        example: "--learner forgetting-leader --forget 0.99",
        help: "Factor by which the forgetting leader multiplies the weight of earlier rows at each row",
        ..OptionEntry::new("forget", Type::Number(error::factor, None), "F")
    },
    OptionEntry {
        default: "none, a constant step",
        readers: Readers::Only(HEBBIAN),
        set: |setup, value| setup.spec.step_half_life = Some(value.number()),
        get: |setup| setup.spec.step_half_life.map(Value::from),
        example: "--learner gha --step-half-life 1000",
        help: "Number of rows until the step {eta} has halved; it then continues to fall like one over the number of rows",
        ..OptionEntry::new("step-half-life", Type::Number(error::positive, None), "ROWS")
    },
    OptionEntry {
        default: "1",
        readers: Readers::Only(&[Kind::Gha]),
        set: |setup, value| setup.spec.beta = value.number(),
        get: |setup| Some(setup.spec.beta.into()),
        example: "--learner gha --beta 0.5",
        help: "Deflation weight of the earlier vectors: 1 is the generalized Hebbian algorithm, 2 is stochastic gradient ascent",
        ..OptionEntry::new("beta", Type::Number(error::positive, None), "F")
    },
    OptionEntry {
        default: "none: all vectors learn from the first row on",
        readers: Readers::Only(&[Kind::Apex]),
        set: |setup, value| setup.spec.stage = Some(value.count() as u64),
        get: |setup| setup.spec.stage.map(Value::from),
        example: "--learner apex --stage 200",
        help: "Number of rows that each vector learns before it is frozen and the next one starts; the last vector is never frozen",
        ..OptionEntry::new("stage", Type::Count(1, None), "ROWS")
    },
    OptionEntry {
        default: "running",
        neutral: Some("none"),
        set: |setup, value| {
            setup.spec.center = match value.text() {
                "none" => None,
                "running" => Some(RunningCenter::MEAN),
                "last" => Some(RunningCenter::forgetting(0.0)),
                "learned" => Some(RunningCenter::LEARNED),
                _ => Some(RunningCenter::forgetting(value.number())),
            }
        },
        get: |setup| {
            Some(match setup.spec.center {
                None => "none".into(),
                Some(center) if center.learned => "learned".into(),
                Some(center) if center.is_mean() => "running".into(),
                Some(center) if center.forget == 0.0 => "last".into(),
                Some(center) => Value::Text(format!("forget:{}", exact(center.forget))),
            })
        },
        conflict: |_, setup| {
            let is_learned = setup.spec.center.is_some_and(|center| center.learned);
            let family = setup.spec.learner.entry().family;
            match (is_learned, setup.kernel) {
                (true, Some(_)) => Some("{center} learned needs plain rows and cannot be used with a {kernel}".into()),
                (true, None) if family == Family::Hebbian => {
                    Some("{center} learned needs a learner over subspaces, which this one is not".into())
                }
                _ => None,
            }
        },
        example: "--center none",
        help: "Center to subtract: the mean of the earlier rows, a forgetting mean (earlier rows are multiplied by F at each \
             row), the last row, a learned combination of these, or nothing; with `running`, auto also has members with \
             forgetting and learned centers",
        ..OptionEntry::new("center", Type::Choice(centers), "running|forget:F|last|learned|none")
    },
    OptionEntry {
        default: "0",
        set: |setup, value| setup.spec.center.iter_mut().for_each(|center| center.prior = value.number()),
        get: |setup| setup.spec.center.map(|center| center.prior.into()),
        conflict: |_, setup| match setup.spec.center {
            None => Some("{center-prior} has no effect with {center} none".into()),
            Some(center) if center.learned => Some("{center-prior} cannot be used with {center} learned".into()),
            Some(_) => None,
        },
        example: "--center-prior 10",
        help: "Number of imaginary rows at the origin, or at {start-center}, with which the running mean starts",
        ..OptionEntry::new("center-prior", Type::Number(check_center_prior, None), "F")
    },
    OptionEntry {
        readers: Readers::AllBut(HEBBIAN),
        set: |setup, value| setup.spec.start = Some(value.numbers()),
        get: |setup| setup.spec.start.as_deref().map(Value::list),
        conflict: |_, setup| {
            let counts = setup.spec.center.is_some_and(|center| center.prior > 0.0);
            match (setup.kernel, counts) {
                (Some(_), _) => Some("{start-center} is a row of numbers and cannot be used with a {kernel}".into()),
                (None, false) => {
                    Some("{start-center} needs a {center-prior}, the number of rows that it counts for".into())
                }
                (None, true) => None,
            }
        },
        example: "--center-prior 10 --start-center 0.5",
        help: "Position of the imaginary rows of {center-prior}: a number for each column, or one number for all columns",
        ..OptionEntry::new("start-center", Type::Numbers, "LIST")
    },
    OptionEntry {
        default: "none",
        neutral: Some("none"),
        set: |setup, value| {
            setup.spec.clip = match value {
                Value::Number(clip) => Some(*clip),
                _ => None,
            }
        },
        get: |setup| Some(setup.spec.clip.map_or("none".into(), Value::from)),
        example: "--clip 10",
        help: "Learn from a row as if its norm were at most C times the median norm of the last 101 rows, which limits the \
             influence of outliers; the loss is not clipped. Try 10",
        ..OptionEntry::new("clip", Type::Number(error::positive, Some("none")), "C|none")
    },
    OptionEntry {
        default: "fail",
        set: |setup, value| setup.spec.missing = value.text().parse().unwrap_or_default(),
        get: |setup| Some(setup.spec.missing.name().into()),
        conflict: |_, setup| {
            let learner = setup.spec.learner;
            match setup.spec.missing {
                Missing::Fill if setup.kernel.is_some() => {
                    Some("{missing} fill is for plain rows: the features of a {kernel} need all cells".into())
                }
                Missing::Fill if HEBBIAN.contains(&learner) => {
                    Some(format!("{{missing}} fill is not for the learner {}", learner.entry().name))
                }
                Missing::Fill if setup.segments > 0 => Some("{segments} has no effect with {missing} fill".into()),
                _ => None,
            }
        },
        example: "--missing fill",
        help: "Handling of a missing cell: an error, skipping the row, or filling in the cell from the other cells of the row; \
             only these count for the loss then",
        ..OptionEntry::new("missing", Type::Choice(missing_policies), "WHAT")
    },
    OptionEntry {
        default: "auto",
        set: |setup, value| {
            setup.spec.norm_bound = match value {
                Value::Number(bound) => NormBound::Given(*bound),
                _ => NormBound::Running,
            }
        },
        get: |setup| {
            Some(match setup.spec.norm_bound {
                NormBound::Given(bound) => bound.into(),
                NormBound::Running => "auto".into(),
            })
        },
        example: "--norm-bound 10",
        help: "Norm that no row exceeds, or `auto` for the largest norm so far",
        ..OptionEntry::new("norm-bound", Type::Number(|_, bound| error::norm_bound(bound), Some("auto")), "F|auto")
    },
    OptionEntry {
        set: |setup, value| setup.kernel = KERNELS.iter().map(|entry| entry.name).find(|name| *name == value.text()),
        get: |setup| setup.spec.kernel.as_ref().map(|kernel| kernel.name().into()),
        example: "--kernel rbf",
        help: "Learn from features of rows: the kernel's name",
        ..OptionEntry::new("kernel", Type::Choice(kernels), "NAME")
    },
    OptionEntry {
        default: "one over the median of what γ multiplies in the first rows; without a table, one over the number of columns",
        readers: Readers::Features,
        set: |setup, value| setup.parameters.gamma = Some(value.number()),
        get: |setup| setup.spec.kernel.as_ref()?.parameters().gamma.map(Value::from),
        example: "--kernel rbf --gamma 0.5",
        help: "γ of the kernel",
        ..OptionEntry::new("gamma", Type::Number(error::positive, None), "F")
    },
    OptionEntry {
        default: "3",
        readers: Readers::Features,
        set: |setup, value| setup.parameters.degree = Some(u32::try_from(value.count()).unwrap_or(u32::MAX)),
        get: |setup| Some(Value::Count(setup.spec.kernel.as_ref()?.parameters().degree?.into())),
        example: "--kernel polynomial --degree 2",
        help: "Degree of the polynomial kernel",
        ..OptionEntry::new("degree", Type::Count(1, None), "N")
    },
    OptionEntry {
        default: "1",
        readers: Readers::Features,
        set: |setup, value| setup.parameters.coef0 = Some(value.number()),
        get: |setup| setup.spec.kernel.as_ref()?.parameters().coef0.map(Value::from),
        example: "--kernel polynomial --coef0 0",
        help: "Constant of the polynomial or sigmoid kernel",
        // The kernel that uses the number checks it.
        ..OptionEntry::new("coef0", Type::Number(|_, number| Ok(number), None), "F")
    },
    OptionEntry {
        default: "1/√(2γ)",
        readers: Readers::Features,
        set: |setup, value| setup.parameters.length_scale = Some(value.number()),
        get: |setup| setup.spec.kernel.as_ref()?.parameters().length_scale.map(Value::from),
        example: "--kernel matern32 --length-scale 2",
        help: "Length scale of a Matérn kernel",
        ..OptionEntry::new("length-scale", Type::Number(error::positive, None), "F")
    },
    OptionEntry {
        default: "chars for spectrum, words for sets",
        readers: Readers::Features,
        set: |setup, value| setup.parameters.items = value.text().parse().ok(),
        get: |setup| Some(setup.spec.kernel.as_ref()?.parameters().items?.name().into()),
        example: "--kernel spectrum --items words",
        help: "Kind of items in a text, for kernels on texts and sets",
        ..OptionEntry::new("items", Type::Choice(items), "WHAT")
    },
    OptionEntry {
        default: "3",
        readers: Readers::Features,
        set: |setup, value| setup.parameters.substring = Some(value.count()),
        get: |setup| setup.spec.kernel.as_ref()?.parameters().substring.map(Value::from),
        example: "--kernel spectrum --substring 2",
        help: "Number of items per substring of the spectrum kernel",
        ..OptionEntry::new("substring", Type::Count(1, None), "N")
    },
    OptionEntry {
        readers: Readers::Features,
        set: |setup, value| setup.spec.budget = Some(value.count()),
        get: |setup| setup.spec.budget.map(Value::from),
        example: "--kernel rbf --budget 300",
        help: "Maximum number of rows that a kernel model stores",
        ..OptionEntry::new("budget", Type::Count(1, None), "ATOMS")
    },
    OptionEntry {
        readers: Readers::Only(&[Kind::Anchored]),
        neutral: Some("false"),
        set: |setup, value| setup.spec.as_printed = *value == Value::Flag(true),
        get: |setup| Some(setup.spec.as_printed.into()),
        example: "--learner anchored --as-printed",
        help: "Cap only the directions seen so far (ICML Algorithm 6 as printed)",
        ..OptionEntry::new("as-printed", Type::Flag, "")
    },
    OptionEntry {
        default: "0.25, from k = 32 on 1",
        readers: Readers::Only(TRACKING),
        set: |setup, value| setup.spec.merge = value.number(),
        get: |setup| matches!(setup.spec.mixing, Mixing::FixedShare { .. }).then(|| setup.spec.merge.into()),
        // A value of 0, which merges nothing, is valid for every mixing rule.
        conflict: |_, setup| match setup.spec.mixing {
            Mixing::None | Mixing::PastAverage { .. } if setup.spec.merge != 0.0 => {
                Some("{merge} has an effect only with {mixing} fixed-share".into())
            }
            _ => None,
        },
        example: "--learner tracking --merge 0",
        help: "Maximum cost of merging directions whose weights are almost equal, as a share of the cost of fixed share; 0 \
             turns merging off",
        ..OptionEntry::new("merge", Type::Number(error::not_negative, None), "SHARE")
    },
    OptionEntry {
        readers: Readers::Only(&[Kind::Auto, Kind::Tracking, Kind::Anchored, Kind::Leader, Kind::ForgettingLeader]),
        set: |setup, value| setup.spec.max_rank = Some(value.count()),
        get: |setup| setup.spec.max_rank.map(Value::from),
        example: "--max-rank 20",
        help: "Maximum number of explicit directions, which limits the memory for every stream; the summary prints the cost",
        ..OptionEntry::new("max-rank", Type::Count(1, None), "R")
    },
    OptionEntry {
        set: |setup, value| setup.segments = if value.text() == "auto" { AUTO_SEGMENTS } else { value.count() },
        get: |setup| Some(if setup.segments == AUTO_SEGMENTS { "auto".into() } else { setup.segments.into() }),
        example: "--segments 3",
        help: "Also compare with the best partition of the stream into at most this many segments; `auto` chooses the number",
        ..OptionEntry::new("segments", Type::Count(0, Some("auto")), "S|auto")
    },
    OptionEntry {
        set: |setup, value| {
            setup.spec.dimension = Some(match value {
                Value::Count(dimension) => Multiplicity::Finite(*dimension),
                _ => Multiplicity::Infinite,
            })
        },
        get: |setup| {
            Some(match setup.spec.dimension? {
                Multiplicity::Finite(dimension) => dimension.into(),
                Multiplicity::Infinite => "inf".into(),
            })
        },
        example: "--feature-dim inf",
        help: "Dimension of the space of the rows or their features, if it is larger than that of a row or of the kernel",
        ..OptionEntry::new("feature-dim", Type::Count(0, Some("inf")), "N|inf")
    },
    OptionEntry {
        default: "systematic",
        set: |setup, value| setup.spec.select = value.text().parse().unwrap_or_default(),
        get: |setup| Some(setup.spec.select.name().into()),
        example: "--select top",
        help: "Method of drawing the kept directions",
        ..OptionEntry::new("select", Type::Choice(selects), "HOW")
    },
    OptionEntry {
        default: "aligned",
        set: |setup, value| setup.coordinates = value.text().parse().unwrap_or_default(),
        get: |setup| Some(setup.coordinates.name().into()),
        example: "--coordinates drawn",
        help: "Directions in which coordinates are reported",
        ..OptionEntry::new("coordinates", Type::Choice(coordinates), "HOW")
    },
    OptionEntry {
        default: "auto",
        set: |setup, value| setup.best = value.text().parse().unwrap_or_default(),
        get: |setup| Some(setup.best.name().into()),
        conflict: |_, setup| {
            let is_chosen = matches!(setup.best, BestMethod::Exact | BestMethod::Sketch);
            (is_chosen && setup.kernel.is_some())
                .then(|| format!("{{best}} {} is for plain rows, without a {{kernel}}", setup.best))
        },
        example: "--best none",
        help: "Method of computing the best fixed subspace in hindsight",
        ..OptionEntry::new("best", Type::Choice(best_methods), "HOW")
    },
    OptionEntry {
        default: "0",
        set: |setup, value| setup.seed = Some(value.count() as u64),
        get: |setup| setup.seed.map(Value::from),
        example: "--seed 7",
        help: "Seed of the random draws",
        ..OptionEntry::new("seed", Type::Count(0, None), "N")
    },
];
