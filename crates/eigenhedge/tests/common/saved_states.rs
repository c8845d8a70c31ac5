//! Random configurations over random streams, saved, read and compared bit for bit.
//!
//! A case is a random learner, kernel, budget, center, mixing, scale and stream. It runs as a model, as a fleet of
//! models, as a monitor, as a fleet of monitors, and as moments. A seed and a case number determine a case.
#![allow(clippy::unwrap_used)]

use super::hard_streams::HARD;
use eigenhedge::comparators::BestMethod;
use eigenhedge::kernel::{KERNELS, KernelParameters, TextItems, VectorKernel};
use eigenhedge::registry::{Family, REGISTRY};
use eigenhedge::simplex::{Multiplicity, Select};
use eigenhedge::{
    Choose, Columns, Error, Fleet, FleetMember, Kept, Kind, Limit, Missing, Mixing, Mode, Model, Moments, Monitor,
    MonitorOptions, NormBound, Random, Rebaseline, RunningCenter, Spec, Standardize, Standardizer, Store,
};
use std::io::{self, Cursor};

#[derive(Debug)]
pub struct Case {
    spec: Spec,
    length: usize,
    best: BestMethod,
    segments: usize,
    standardize: Standardize,
    door: Door,
    options: MonitorOptions,
    rows: Vec<Vec<f64>>,
    /// Rows of the model: lists of items if its kernel takes them.
    model_rows: Vec<Vec<f64>>,
    /// Indices of the rows before which the state is saved and read, in ascending order.
    cuts: Vec<usize>,
}

/// Method by which the model learns the rows.
#[derive(Debug, Clone, Copy)]
enum Door {
    Step,
    Block,
    Weighted,
    Filled,
}

const MONITORED: usize = 6;

#[derive(Debug, Default)]
pub struct Report {
    pub name: String,
    /// One message for each kind of object that violates a law.
    pub violated: Vec<String>,
    pub refused: Vec<String>,
}

fn pick<T: Clone>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len())].clone()
}

fn power(random: &mut Random, low: f64, high: f64) -> f64 {
    10f64.powf(low + (high - low) * random.uniform())
}

impl Case {
    pub fn new(seed: u64, number: u64) -> Self {
        let random = &mut Random::seeded(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number));
        let length = if random.below(30) == 0 { 20 + random.below(180) } else { 1 + random.below(9) };
        let kernel = (random.below(5) < 3).then(|| kernel(random, length));
        let spec = spec(random, length, kernel);
        let grows = spec.kernel.is_some() && spec.budget.is_none();
        let count = if grows || length > 20 { 30 + random.below(40) } else { 40 + random.below(80) };
        let model_rows = stream(random, length, count, spec.missing != Missing::Fail);
        let rows: Vec<Vec<f64>> = model_rows.iter().map(|row| row[..length.min(MONITORED)].to_vec()).collect();
        let takes_items = spec.kernel.as_ref().is_some_and(VectorKernel::takes_items);
        let model_rows = if takes_items { texts(random, count) } else { model_rows };
        let mut cuts: Vec<usize> = (0..6).map(|_| random.below(count)).chain([0, count]).collect();
        cuts.sort_unstable();
        let doors = [Door::Step, Door::Step, Door::Block, Door::Weighted, Door::Filled];
        let how = [Standardize::None, Standardize::None, Standardize::Running, Standardize::Warmup(10)];
        let standardize = if takes_items { Standardize::None } else { pick(random, &how) };
        let is_subspace = spec.learner.entry().family != Family::Hebbian && spec.missing == Missing::Fail;
        let is_plain = standardize == Standardize::None && spec.kernel.is_none() && is_subspace;
        Self {
            best: if random.below(2) == 0 { BestMethod::Auto } else { BestMethod::None },
            segments: if random.below(4) == 0 && !takes_items { 3 } else { 0 },
            standardize,
            door: if is_plain { pick(random, &doors) } else { Door::Step },
            options: options(random),
            length: if takes_items { 1 } else { length },
            spec,
            rows,
            model_rows,
            cuts,
        }
    }

    /// Returns cases whose saved state once could not be read.
    pub fn known() -> Vec<Self> {
        let mut random = Random::seeded(1);
        let mut cases = Vec::new();
        let mut add = |spec: Spec, rows: Vec<Vec<f64>>| {
            let plain = Self::new(0, 0);
            let cuts = (0..=rows.len()).collect();
            let (length, standardize, door) = (rows[0].len(), Standardize::None, Door::Step);
            cases.push(Self { spec, length, standardize, door, model_rows: rows.clone(), rows, cuts, ..plain });
        };
        let mut normal = |count: usize, length: usize| -> Vec<Vec<f64>> {
            (0..count).map(|_| (0..length).map(|_| random.normal()).collect()).collect()
        };
        let named = |name: &str, length: usize| VectorKernel::from_name(name, &KernelParameters::default(), length);
        let mut far = normal(60, 5);
        far[30].iter_mut().for_each(|x| *x *= 1e3);
        let kinds = [Kind::Leader, Kind::Anchored, Kind::ForgettingLeader, Kind::PerturbedLeader, Kind::ProductSets];
        for kind in kinds {
            let base = Spec { center: None, kernel: named("polynomial", 5), ..Spec::new(kind, 2) };
            add(Spec { budget: Some(10), ..base }, far.clone());
        }
        for (kind, kept) in [(Kind::Gha, 2), (Kind::Apex, 2), (Kind::Oja, 1)] {
            for center in [None, Some(RunningCenter::MEAN)] {
                add(Spec { kernel: named("sigmoid", 5), center, ..Spec::new(kind, kept) }, normal(60, 5));
            }
        }
        for period in 1..5 {
            for kept in 2..4 {
                let rows = normal(period, 5);
                add(Spec::new(Kind::Gha, kept), (0..60).map(|t| rows[t % period].clone()).collect());
            }
        }
        far[30].iter_mut().for_each(|x| *x *= 1e7);
        add(Spec { kernel: named("linear", 5), budget: Some(5), ..Spec::new(Kind::PerturbedLeader, 2) }, far);
        cases
    }

    /// Runs every kind of saved object over the rows and reports violated laws.
    pub fn check(&self) -> Report {
        let mut report = Report::default();
        let Spec { kernel, budget, .. } = &self.spec;
        let kernel = kernel.as_ref().map_or("no", VectorKernel::name);
        report.name = format!("{}, {kernel} kernel, budget {budget:?}", self.spec.label());
        match self.model() {
            Ok(model) => {
                self.law("model", Single(model.clone(), self.door), &self.model_rows, &mut report);
                if let Ok(fleet) = Fleet::new(model) {
                    self.law("fleet of models", Many(fleet), &self.model_rows, &mut report);
                }
            }
            Err(error) => report.refused.push(format!("not built: {error}")),
        }
        let width = self.rows[0].len();
        if let Ok(monitor) = Monitor::new(self.options.clone(), width) {
            self.law("monitor", Watch(monitor.clone()), &self.rows, &mut report);
            self.law("fleet of monitors", ManyWatches(Fleet::of_monitors(monitor).unwrap()), &self.rows, &mut report);
        }
        let moments = Moments::new(width, 1, Missing::Skip).unwrap();
        self.law("moments", Folded(moments), &self.rows, &mut report);
        report
    }

    fn model(&self) -> Result<Model, Error> {
        let mut model = Model::with_comparators(self.spec.clone(), self.length, 1, self.best, self.segments)?;
        if self.standardize != Standardize::None {
            model = model.with_columns(Columns::new(None, Standardizer::new(self.standardize, self.length)));
        }
        if let Standardize::Warmup(rows) = self.standardize {
            model.warm_up(&self.model_rows[..rows as usize]).map_err(|(_, error)| error)?;
            model.settle();
        }
        Ok(model)
    }

    /// Runs an object, and a copy of it that is saved and read, over the rows. Both must give the
    /// same results and the same bytes. A rejected row must leave the state unchanged.
    fn law<T: Saved>(&self, name: &str, own: T, rows: &[Vec<f64>], report: &mut Report) {
        let run = || self.run(name, own, rows, &mut report.refused);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        report.violated.extend(outcome.unwrap_or_else(|_| Err(format!("{name}: panic"))).err());
    }

    fn run<T: Saved>(
        &self,
        name: &str,
        mut own: T,
        rows: &[Vec<f64>],
        refused: &mut Vec<String>,
    ) -> Result<(), String> {
        let within = |t: usize, what: String| format!("{name}, row {t}: {what}");
        let mut copy: Option<T> = None;
        for t in 0..=rows.len() {
            if self.cuts.contains(&t) {
                let bytes = own.bytes();
                let mut read = T::read(&bytes).map_err(|refusal| within(t, format!("the saved file {refusal}")))?;
                if read.bytes() != bytes {
                    return Err(within(t, "other bytes are saved after reading".to_owned()));
                }
                if t < rows.len() {
                    copy = Some(read);
                }
            }
            let Some(row) = rows.get(t) else { break };
            let outcome = own.learn(t, row).map_err(|what| within(t, what))?;
            let Some(copy) = &mut copy else { continue };
            if let Err(error) = &outcome {
                if own.bytes() != copy.bytes() {
                    return Err(within(t, format!("a refused row changes the state: {error}")));
                }
                refused.push(format!("{name}: {error}"));
            }
            let again = copy.learn(t, row).map_err(|what| within(t, what))?;
            if outcome != again {
                return Err(within(t, format!("{outcome:?} without saving, {again:?} after reading")));
            }
        }
        let Some(mut copy) = copy else { return Ok(()) };
        if own.bytes() != copy.bytes() || own.summary() != copy.summary() {
            return Err(within(rows.len(), "the last states differ".to_owned()));
        }
        Ok(())
    }
}

fn kernel(random: &mut Random, length: usize) -> VectorKernel {
    let gamma = (random.below(2) == 0).then(|| power(random, -3.0, 1.0));
    let parameters = KernelParameters {
        gamma,
        degree: Some(1 + random.below(5) as u32),
        coef0: pick(random, &[None, None, Some(0.0), Some(100.0)]),
        ..KernelParameters::default()
    };
    let single = |random: &mut Random| {
        // The kernels that failed most often are three times as likely.
        let often = ["linear", "linear", "polynomial", "polynomial", "sigmoid", "sigmoid"];
        let name = random.below(KERNELS.len() + often.len());
        let name = KERNELS.get(name).map_or_else(|| often[name - KERNELS.len()], |entry| entry.name);
        VectorKernel::from_name(name, &parameters, length).unwrap()
    };
    let first = single(random);
    let second = single(random);
    if random.below(6) > 0 || first.takes_items() || second.takes_items() {
        return first;
    }
    if random.below(2) == 0 { first.plus(second.scaled(0.5)) } else { first.times(second) }
}

fn spec(random: &mut Random, length: usize, kernel: Option<VectorKernel>) -> Spec {
    // Hebbian learners are twice as likely.
    let entry =
        REGISTRY.get(random.below(REGISTRY.len() + 3)).unwrap_or(&REGISTRY[REGISTRY.len() - 1 - random.below(3)]);
    let kept = if entry.kind == Kind::Oja { 1 } else { 1 + random.below(3.min(length)) };
    let base = if random.below(2) == 0 { Spec::new(entry.kind, kept) } else { Spec::bare(entry.kind, kept) };
    let centers = [
        None,
        None,
        Some(RunningCenter::MEAN),
        Some(RunningCenter::forgetting(0.6)),
        Some(RunningCenter { prior: 2.5, ..RunningCenter::forgetting(0.9) }),
    ];
    let mixings = [
        Mixing::None,
        Mixing::FixedShare { alpha: 1e-3 },
        Mixing::FixedShare { alpha: 0.3 },
        Mixing::PastAverage { alpha: 1e-2 },
    ];
    let is_hebbian = entry.family == Family::Hebbian;
    let rates: &[f64] = if is_hebbian { &[0.01, 0.05, 0.5, 1.0] } else { &[0.1, 1.0, 8.0, 1000.0] };
    let reads = |option: &str| entry.kind.reads(option);
    let missing = if random.below(5) > 0 {
        Missing::Fail
    } else if is_hebbian || kernel.is_some() {
        Missing::Skip
    } else {
        Missing::Fill
    };
    let infinite = kernel.as_ref().is_some_and(|kernel| kernel.dimension(length) == Multiplicity::Infinite);
    Spec {
        eta: pick(random, rates),
        center: if reads("center") { pick(random, &centers) } else { None },
        mixing: if reads("mixing") { pick(random, &mixings) } else { Mixing::None },
        forget: pick(random, &[0.3, 0.95, 0.999]),
        self_confident: reads("eta") && !is_hebbian && random.below(2) == 0 || base.self_confident,
        clip: (random.below(5) == 0).then_some(3.0),
        budget: kernel.as_ref().and_then(|_| pick(random, &[None, Some(3), Some(5), Some(10), Some(20)])),
        novelty: pick(random, &[1e-6, 1e-3, 0.1]),
        max_rank: (reads("max-rank") && random.below(3) == 0).then(|| kept + random.below(4)),
        select: pick(random, &Select::ALL),
        norm_bound: if random.below(8) == 0 { NormBound::Given(50.0) } else { NormBound::Running },
        dimension: (entry.kind == Kind::ProductSets && infinite).then_some(Multiplicity::Finite(1000)),
        beta: pick(random, &[1.0, 2.0]),
        stage: (random.below(3) == 0).then_some(7),
        step_half_life: (random.below(3) == 0).then_some(20.0),
        missing,
        kernel,
        ..base
    }
}

fn options(random: &mut Random) -> MonitorOptions {
    let lags = random.below(3);
    let rows = 20 + lags as u64 + random.below(15) as u64;
    let mode = if random.below(4) == 0 { Mode::Freeze(rows) } else { Mode::Adapt };
    MonitorOptions {
        kept: if random.below(2) == 0 { Kept::Share(0.9) } else { Kept::Count(1 + random.below(3)) },
        mode,
        limit: if random.below(2) == 0 { Limit::Auto(0.02) } else { Limit::Conformal(0.05) },
        lags: Choose::Fixed(lags),
        differences: pick(random, &[Choose::Auto, Choose::Fixed(true), Choose::Fixed(false)]),
        standardize: random.below(3) > 0,
        warm_up: Some(rows),
        incident_time: 100.0,
        change_time: 100.0,
        rebaseline: if random.below(3) == 0 { Rebaseline::After(5) } else { Rebaseline::Never },
        ..MonitorOptions::default()
    }
}

fn texts(random: &mut Random, count: usize) -> Vec<Vec<f64>> {
    let words = ["disk", "fan", "full", "slow", "node", "a", "b", "c"];
    let row = |_| {
        let mut row = Vec::new();
        (0..random.below(6)).for_each(|_| TextItems::Words.append(words[random.below(words.len())], &mut row));
        row
    };
    (0..count).map(row).collect()
}

/// Generates a stream that is normal, hard or distorted.
fn stream(random: &mut Random, length: usize, count: usize, has_gaps: bool) -> Vec<Vec<f64>> {
    let normal = |random: &mut Random| (0..length).map(|_| random.normal()).collect::<Vec<f64>>();
    let mut rows: Vec<Vec<f64>> = if random.below(2) == 0 {
        (0..count).map(|_| normal(random)).collect()
    } else {
        (HARD[random.below(HARD.len())].rows)(length, count, random.below(1 << 30) as u64)
    };
    for _ in 0..random.below(3) {
        distort(random, &mut rows);
    }
    if length > 20 && random.below(2) == 0 {
        // The rows are sparse enough for sparse columns.
        rows.iter_mut().flatten().filter(|_| random.below(50) > 0).for_each(|x| *x = 0.0);
    }
    if has_gaps {
        for x in rows.iter_mut().flatten() {
            if random.below(10) == 0 {
                *x = f64::NAN;
            }
        }
    }
    rows
}

fn distort(random: &mut Random, rows: &mut [Vec<f64>]) {
    let (count, length) = (rows.len(), rows[0].len());
    let scale = |row: &mut Vec<f64>, factor: f64| row.iter_mut().for_each(|x| *x *= factor);
    match random.below(9) {
        0 => {
            let period = 1 + random.below(5);
            (period..count).for_each(|t| rows[t] = rows[t - period].clone());
        }
        1 => {
            let (column, value) = (random.below(length), random.normal());
            rows.iter_mut().for_each(|row| row[column] = value);
        }
        2 => scale(&mut rows[random.below(count)], power(random, 3.0, 10.0)),
        3 => {
            let (column, factor) = (random.below(length), power(random, 3.0, 7.0));
            rows.iter_mut().for_each(|row| row[column] *= factor);
        }
        4 => rows.iter_mut().flatten().for_each(|x| {
            if random.below(4) > 0 {
                *x = 0.0;
            }
        }),
        5 => {
            let factor = power(random, -100.0, 100.0);
            rows.iter_mut().for_each(|row| scale(row, factor));
        }
        6 => rows.iter_mut().for_each(|row| {
            if random.below(10) == 0 {
                scale(row, power(random, -100.0, 100.0));
            }
        }),
        7 => rows.iter_mut().flatten().for_each(|x| *x += 1e6),
        _ => {
            let (first, factor) = (random.below(count), power(random, -12.0, 12.0));
            rows[first..].iter_mut().for_each(|row| scale(row, factor));
        }
    }
}

trait Saved: Sized {
    /// Learns a row. Returns the results as text that differs for different bits, or the error
    /// message of a rejected row. The outer `Err` means that a result is not a number.
    fn learn(&mut self, number: usize, row: &[f64]) -> Result<Result<String, String>, String>;
    fn bytes(&mut self) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Result<Self, String>;
    fn summary(&self) -> String;
}

/// Formats a result or an error. The outer `Err` means that the result is not a number.
fn told<T>(outcome: Result<T, Error>, text: impl FnOnce(T) -> String) -> Result<Result<String, String>, String> {
    let told = outcome.map(text).map_err(|error| error.to_string());
    match &told {
        Ok(text) if text.contains("NaN") || text.contains("inf") => Err(format!("a result is not a number: {text}")),
        _ => Ok(told),
    }
}

struct Single(Model, Door);

impl Saved for Single {
    fn learn(&mut self, number: usize, row: &[f64]) -> Result<Result<String, String>, String> {
        let Self(model, door) = self;
        model.ask_for_coordinates(true);
        let loss = match door {
            Door::Step => model.step(row),
            Door::Block => {
                let mut loss = Default::default();
                model.step_each(&[row], |_, now| loss = now).map(|()| loss).map_err(|(_, error)| error)
            }
            Door::Weighted => model.step_batch(&[row], Some(&[[1.0, 0.5, 1e-3, 7.0][number % 4]])),
            Door::Filled => {
                let filled: Vec<u32> = (0..row.len() as u32).filter(|i| row[*i as usize] != 0.0).collect();
                model.step_filled(row, &filled)
            }
        };
        told(loss, |loss| format!("{loss:?} {:?}", model.coordinates()))
    }

    fn bytes(&mut self) -> Vec<u8> {
        [&[self.1 as u8][..], &self.0.to_bytes().unwrap()].concat()
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        let door = [Door::Step, Door::Block, Door::Weighted, Door::Filled][bytes[0] as usize];
        Model::from_bytes(&bytes[1..]).map(|model| Self(model, door)).map_err(|refusal| refusal.to_string())
    }

    fn summary(&self) -> String {
        format!("{:?}", self.0.summary())
    }
}

fn key(number: usize) -> &'static str {
    ["left", "right", "rare"][if number.is_multiple_of(7) { 2 } else { number % 2 }]
}

#[derive(Default)]
struct Shelf(Vec<Vec<u8>>);

impl Store for Shelf {
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.0.push(bytes.to_vec());
        Ok(self.0.len() as u64 - 1)
    }
    fn get(&mut self, place: u64) -> io::Result<Vec<u8>> {
        Ok(self.0[place as usize].clone())
    }
    fn free(&mut self, _: u64) {}
}

fn write_fleet<T: FleetMember>(fleet: &mut Fleet<T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    fleet.write(b"{}", &mut bytes).unwrap();
    bytes
}

/// Reads a fleet that keeps two members in memory.
fn read_fleet<T: FleetMember>(bytes: &[u8]) -> Result<Fleet<T>, String> {
    let index = Fleet::<T>::index(&mut Cursor::new(bytes)).map_err(|refusal| refusal.to_string())?;
    let parts = index.parts.iter().map(|(_, at, length)| bytes[*at as usize..(at + length) as usize].to_vec());
    let store = Shelf(parts.collect());
    for part in &store.0 {
        T::from_bytes(part).map_err(|refusal| format!("of a key {refusal}"))?;
    }
    index.open(2, Box::new(store), |i| i as u64).map(|(fleet, _)| fleet).map_err(|error| error.to_string())
}

struct Many(Fleet<Model>);

impl Saved for Many {
    fn learn(&mut self, number: usize, row: &[f64]) -> Result<Result<String, String>, String> {
        told(self.0.step(key(number), row), |(loss, model)| format!("{loss:?} {:?}", model.coordinates()))
    }

    fn bytes(&mut self) -> Vec<u8> {
        write_fleet(&mut self.0)
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        read_fleet(bytes).map(Self)
    }

    fn summary(&self) -> String {
        String::new()
    }
}

struct Watch(Monitor);

impl Saved for Watch {
    fn learn(&mut self, _: usize, row: &[f64]) -> Result<Result<String, String>, String> {
        // NaN is allowed here, because it means that a row has no score.
        Ok(self.0.step(row).map(|verdict| format!("{verdict:?}")).map_err(|error| error.to_string()))
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.0.to_bytes().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        Monitor::from_bytes(bytes).map(Self).map_err(|refusal| refusal.to_string())
    }

    fn summary(&self) -> String {
        format!("{:?} {:?}", self.0.totals(), self.0.contributions())
    }
}

struct ManyWatches(Fleet<Monitor>);

impl Saved for ManyWatches {
    fn learn(&mut self, number: usize, row: &[f64]) -> Result<Result<String, String>, String> {
        let verdict = self.0.with_pool(key(number), 2, |monitor| monitor.step(row));
        Ok(verdict.map(|verdict| format!("{verdict:?}")).map_err(|error| error.to_string()))
    }

    fn bytes(&mut self) -> Vec<u8> {
        write_fleet(&mut self.0)
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        read_fleet(bytes).map(Self)
    }

    fn summary(&self) -> String {
        String::new()
    }
}

struct Folded(Moments);

impl Saved for Folded {
    fn learn(&mut self, _: usize, row: &[f64]) -> Result<Result<String, String>, String> {
        let outcome = self.0.update(&[row], None).map_err(|error| format!("{error:?}"));
        Ok(outcome.map(|()| String::new()))
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.0.to_bytes().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Self, String> {
        Moments::from_bytes(bytes).map(Self).map_err(|refusal| refusal.to_string())
    }

    fn summary(&self) -> String {
        format!("{:?} {:?}", self.0.mean(), self.0.best(1, true, false))
    }
}
