//! Fuzz targets for saved models and moments. Most inputs get a correct length and checksum.

use crate::{Outcome, Target, mutate};
use eigenhedge::comparators::BestMethod;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::options::Options;
use eigenhedge::{
    Columns, Kind, Missing, Mixing, Model, Moments, Random, RunningCenter, Spec, Standardize, Standardizer, streams,
};
use std::path::Path;

const HEAD: usize = 28;
/// Number of rows that a restored model learns.
const STEPS: usize = 50;

struct Saved {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
}

fn saved(spec: &Spec, length: usize, rows: usize, (best, segments): (BestMethod, usize)) -> Vec<u8> {
    let names = (0..length).map(|i| format!("x{i}")).collect();
    let columns = Columns::new(Some(names), Standardizer::new(Standardize::Running, length));
    let mut model = Model::with_comparators(spec.clone(), length, 1, best, segments).unwrap().with_columns(columns);
    let stream = streams::recurring(length, 2, &[1, 2, 1], rows.div_ceil(3), 1).rows;
    stream.iter().take(rows).for_each(|row| _ = model.step(row).unwrap());
    model.resume_state = br#"{"columns":["a"]}"#.to_vec();
    model.to_bytes().unwrap()
}

pub fn targets() -> Vec<Box<dyn Target>> {
    let rbf = || Some(VectorKernel::Rbf { gamma: 1.0 }.plus(VectorKernel::Linear.scaled(0.5)));
    let quadratic = || Some(VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 1.0 });
    let past = Mixing::PastAverage { alpha: 0.01 };
    let share = Mixing::FixedShare { alpha: 0.01 };
    let centered = |spec: Spec| Spec { center: Some(RunningCenter::MEAN), ..spec };
    let hebbian = |kind, kept| Spec { eta: 0.1, ..Spec::bare(kind, kept) };
    let plain = vec![
        centered(Spec::bare(Kind::Auto, 2)),
        Spec { center: Some(RunningCenter::forgetting(0.6)), clip: Some(1.5), ..Spec::bare(Kind::Leader, 2) },
        Spec { mixing: past, ..Spec::bare(Kind::Tracking, 2) },
        centered(Spec { mixing: share, merge: 0.25, ..Spec::bare(Kind::Tracking, 2) }),
        Spec { max_rank: Some(3), ..Spec::bare(Kind::Anchored, 2) },
        centered(Spec::bare(Kind::ForgettingLeader, 2)),
        Spec { as_printed: true, ..Spec::bare(Kind::Anchored, 2) },
        Spec::bare(Kind::PerturbedLeader, 2),
        Spec::bare(Kind::ProductSets, 2),
        centered(Spec::bare(Kind::Additive, 2)),
    ];
    let features = vec![
        centered(Spec { kernel: rbf(), budget: Some(10), ..Spec::bare(Kind::Anchored, 2) }),
        Spec { kernel: rbf(), ..Spec::bare(Kind::Auto, 2) },
        Spec { kernel: quadratic(), budget: Some(8), mixing: past, ..Spec::bare(Kind::Tracking, 2) },
        centered(Spec { kernel: quadratic(), ..Spec::bare(Kind::PerturbedLeader, 2) }),
    ];
    let vectors = vec![
        hebbian(Kind::Oja, 1),
        hebbian(Kind::Apex, 2),
        Spec { kernel: rbf(), budget: Some(10), ..hebbian(Kind::Gha, 2) },
        Spec { kernel: quadratic(), ..hebbian(Kind::Apex, 2) },
    ];
    let all = |name, specs: Vec<Spec>, segments: usize| {
        let seeds = specs
            .iter()
            .flat_map(|spec| [0, 7, 60].map(|rows| saved(spec, 5, rows, (BestMethod::Auto, segments))))
            .collect();
        Saved { name, seeds }
    };
    let long = vec![
        // These files contain pending columns, unmultiplied factors, and a sketch.
        saved(&centered(Spec::bare(Kind::Auto, 1)), 520, 12, (BestMethod::None, 0)),
        saved(&Spec::bare(Kind::ForgettingLeader, 2), 160, 150, (BestMethod::None, 0)),
        saved(&centered(Spec::bare(Kind::Tracking, 1)), 4100, 3, (BestMethod::Auto, 0)),
    ];
    let moments = [(5, 0), (5, 70), (4100, 3)].map(|(length, rows)| {
        let mut moments = Moments::new(length, 1, Missing::Skip).unwrap();
        let stream = streams::recurring(length, 2, &[1, 2, 1], 24, 1).rows;
        moments.update(&stream.iter().take(rows).map(Vec::as_slice).collect::<Vec<_>>(), None).unwrap();
        moments.to_bytes().unwrap()
    });
    vec![
        Box::new(Folded(Saved { name: "moments", seeds: moments.into() })),
        Box::new(all("snapshot-plain", plain, 3)),
        Box::new(all("snapshot-kernel", features, 0)),
        Box::new(all("snapshot-hebbian", vectors, 0)),
        Box::new(Saved { name: "snapshot-long-rows", seeds: long }),
    ]
}

/// Repairs the length and the checksum, so that the mutated body is parsed.
fn seal(bytes: &mut [u8]) {
    if bytes.len() >= HEAD {
        let length = (bytes.len() - HEAD) as u64;
        bytes[16..24].copy_from_slice(&length.to_le_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[8..24]);
        hasher.update(&bytes[HEAD..]);
        let checksum = hasher.finalize();
        bytes[24..28].copy_from_slice(&checksum.to_le_bytes());
    }
}

impl Target for Saved {
    fn name(&self) -> String {
        self.name.into()
    }

    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (seed, other) = (&self.seeds[random.below(self.seeds.len())], &self.seeds[random.below(self.seeds.len())]);
        let mut bytes = seed.clone();
        if random.below(2) == 0 {
            for _ in 0..1 + random.below(3) {
                let at = HEAD + random.below(bytes.len() - HEAD);
                mutate::change_number(&mut bytes, at, random);
            }
        } else {
            let mut body = bytes.split_off(HEAD);
            mutate::change(&mut body, &other[HEAD..], random);
            bytes.extend(body);
        }
        if random.below(50) > 0 {
            seal(&mut bytes);
        }
        bytes
    }

    fn try_input(&self, input: &[u8], _: &Path, random: &mut Random) -> Result<Outcome, String> {
        let Ok(mut model) = Model::from_bytes(input) else { return Ok(Outcome::Refused) };
        inspect(&mut model)?;
        let length = model.length();
        for step in 0..STEPS {
            let size = if step % 10 == 0 { 3.0 } else { 0.5 };
            let row: Vec<f64> = (0..length).map(|_| size * random.normal()).collect();
            // An error leaves the model unchanged.
            let Ok(loss) = model.step(&row) else { continue };
            finite("a loss", &[loss.expected, loss.realised])?;
            finite("a coordinate", model.coordinates())?;
            if model.coordinates().len() != model.spec().kept {
                return Err("coordinates of another number than k".into());
            }
        }
        inspect(&mut model)?;
        // The steps may have moved the model out of the valid range. Loading then returns an error.
        let again = Model::from_bytes(&model.to_bytes().map_err(|error| error.to_string())?);
        Ok(if again.is_ok() { Outcome::Accepted } else { Outcome::Refused })
    }
}

struct Folded(Saved);

impl Target for Folded {
    fn name(&self) -> String {
        self.0.name()
    }

    fn input(&self, random: &mut Random) -> Vec<u8> {
        self.0.input(random)
    }

    fn try_input(&self, input: &[u8], _: &Path, random: &mut Random) -> Result<Outcome, String> {
        let Ok(moments) = Moments::from_bytes(input) else { return Ok(Outcome::Refused) };
        let (length, standardize) = (moments.length(), random.below(2) == 0);
        let row: Vec<f64> = (0..length).map(|_| random.normal()).collect();
        let mut merged = moments.clone();
        // An error leaves the moments unchanged.
        let _ = merged.update(&[&row], None);
        let Ok(merged) = merged.merge(moments) else { return Ok(Outcome::Refused) };
        let best = merged.best(1, true, standardize);
        finite("the best loss", &[best.low(), best.high()])?;
        let setup = Options::new(Kind::Leader, 1).resolve(str::to_owned).map_err(|misuse| misuse.to_string())?;
        let Ok(mut model) = merged.finish(&setup, standardize) else { return Ok(Outcome::Refused) };
        inspect(&mut model)?;
        if let Ok(loss) = model.step(&row) {
            finite("a loss", &[loss.expected, loss.realised])?;
        }
        Ok(Outcome::Accepted)
    }
}

/// Returns an error if a result of `inspect` or `transform` is not finite or has a wrong length.
fn inspect(model: &mut Model) -> Result<(), String> {
    let summary = model.summary();
    finite("a total", &[summary.expected_loss, summary.loss, summary.rank_mean])?;
    if let Some(best) = summary.best_loss {
        finite("the best loss", &[best.low(), best.high()])?;
    }
    summary.partitions.iter().try_for_each(|partition| finite("the loss of a partition", &[partition.loss]))?;
    serde_json::to_string(&summary).map_err(|error| error.to_string())?;
    let mut embedding = model.embedding();
    finite("a probability", &embedding.inclusion)?;
    if let Some(map) = embedding.linear_map(None) {
        finite("a mean", &map.mean)?;
        finite("a scale", &map.scale)?;
    }
    let (row, mut coordinates) = (vec![0.25; model.length()], Vec::new());
    let Ok(loss) = embedding.transform(&row, &mut coordinates) else { return Ok(()) };
    finite("the loss of a transformed row", &[loss])?;
    finite("a coordinate of a transformed row", &coordinates)?;
    if coordinates.len() != model.spec().kept {
        return Err("a transformed row with another number of coordinates than k".into());
    }
    if let Some((energies, total)) = model.energies(&embedding) {
        finite("an energy", &energies)?;
        finite("an energy", &[total])?;
    }
    Ok(())
}

fn finite(what: &str, numbers: &[f64]) -> Result<(), String> {
    match numbers.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(x) => Err(format!("{what} that is {x}")),
    }
}
