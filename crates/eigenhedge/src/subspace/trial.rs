use super::choice::{DrawnDirections, Outside, finish_coordinates};
use super::{Instance, NormBound, Subspace, Working};
use crate::error::Error;
use crate::learner::{Learner, Loss, Upcoming};
use crate::num::exp;
use crate::random::Random;
use crate::simplex::{Complement, Select};
use crate::span::{SourceMove, Span};

impl<S: Span> Subspace<S> {
    pub(super) fn rescale(&mut self) {
        let norm_square = self.norm_square();
        let scale = match self.options.divergence {
            None => norm_square,
            Some(divergence) => norm_square.sqrt() * ((self.lost + norm_square) / divergence).sqrt(),
        };
        self.scale = scale.max(f64::MIN_POSITIVE);
    }

    fn shorten(&mut self) -> f64 {
        let (times, norm) = (self.options.clip, (self.scratch.0.square / self.scratch.0.row_weight).sqrt());
        let factor = self.clip.factor(times, norm);
        self.clip.count_in(times, norm, factor);
        factor
    }

    /// Returns the losses of the point in `scratch.columns`, divided by `unit_square`. `uncarried` is the squared
    /// length of the part for which no column was appended.
    fn charge(&mut self, uncarried: f64) -> Loss {
        let square = self.observe();
        let (lost, unresolved) = if self.span.loses_residuals() { (uncarried, 0.0) } else { (0.0, uncarried) };
        let Working { choice, kept_coordinates, dropped, observed, outside, .. } = &mut self.scratch.0;
        *outside = Outside { square, unresolved, lost };
        let coordinates = self.rule.directions().coordinates();
        let mut expected = self.rule.complement().log_weight.exp() * (square + unresolved) + lost;
        self.rule.log_weights().clone_into(dropped);
        exp(dropped);
        for (a, probability) in coordinates.iter().zip(&*dropped) {
            expected += probability * a * a;
        }
        let realised = outside.realise(choice, coordinates, self.rule.directions().outside(), kept_coordinates);
        finish_coordinates(kept_coordinates, self.kept, observed.unit_square);
        Loss { expected, realised }
    }

    /// Returns the loss of the row that sets the center.
    fn charge_first(&mut self) -> Loss {
        let Working { choice, kept_coordinates, observed, square, .. } = &mut self.scratch.0;
        let (unit_square, unit) = (observed.unit_square, observed.unit_square.sqrt());
        let part = square.sqrt() / unit;
        kept_coordinates.clear();
        let realised = choice.reach(&[part], kept_coordinates) * unit_square;
        finish_coordinates(kept_coordinates, self.kept, unit_square);
        Loss { expected: self.rule.complement().log_weight.exp() * *square, realised }
    }

    fn begin_center(&mut self, instance: &Instance<'_, S::Point>) {
        let point = match instance {
            Instance::Point(point) => point,
            Instance::Dyads(dyads) => dyads[0].1,
        };
        self.span.begin_at(point);
        self.trials += 1;
        self.center_weight = self.scratch.0.row_weight;
        self.learned.iter_mut().for_each(|learned| learned.begin(self.scratch.0.row_weight));
        let lost = self.span.end_trial();
        assert!(lost.is_none(), "there are no columns to lose");
    }

    pub(super) fn account(&mut self, weight: f64, shortening: f64) {
        if weight > 0.0 {
            let (before, now) = (self.largest_square, self.scratch.0.square * shortening * shortening);
            if self.options.norm_bound == NormBound::Running && now > before && before > 0.0 {
                self.surprise += (1.0 - before / now) * weight * self.scratch.0.expected;
            }
            self.largest_square = before.max(now);
        }
        self.lost += weight * self.scratch.0.expected;
        self.rescale();
        self.energy += self.scratch.0.square;
    }

    fn learn(&mut self, mut weight: f64, shortening: f64) {
        self.account(weight, shortening);
        if self.scratch.0.square == 0.0 {
            weight = 0.0;
        }
        self.scratch.0.observed.weights.iter_mut().for_each(|w| *w *= weight);
        self.rule.update(&self.scratch.0.observed, self.scale);
    }

    pub(super) fn move_center(&mut self, shortening: f64, learned: Option<SourceMove>) {
        let own = self.scratch.0.row_weight;
        if let Some(change) = learned {
            self.span.move_sources(&change, &self.scratch.0.columns, self.scratch.0.observed.unit_square.sqrt());
            self.center_weight += own;
        } else if let Some(center) = self.options.center {
            self.span.shift_origin(shortening * center.step(self.center_weight, own));
            self.center_weight = center.next_weight(self.center_weight, own);
        }
    }

    fn combine_columns(&mut self) {
        if let Some(rotation) = self.rule.rotation(self.span.max_pending_columns()) {
            self.span.combine(rotation);
            self.aligned.follow(rotation);
        }
    }

    fn evict_atoms(&mut self) {
        while self.span.over_budget() {
            self.gather_directions(usize::MAX);
            let Working { directions, importance, .. } = &self.scratch.0;
            if let Some(rotation) = self.span.evict(directions, importance) {
                self.rule.reduce(rotation);
                self.aligned.follow(rotation);
            }
        }
    }
}

impl<S: Span> Learner<Instance<'_, S::Point>> for Subspace<S> {
    fn check(&mut self, instance: &Instance<'_, S::Point>) -> Result<(), Error> {
        let square = self.instance_square(instance)?;
        self.within_bound(square)?;
        self.admit(square);
        self.scratch.0.is_loaded = matches!(instance, Instance::Point(_));
        Ok(())
    }

    fn choose(&mut self, random: &mut Random) {
        let Self { scratch, rule, options, .. } = self;
        rule.perturb(random);
        scratch.0.choice.draw(options.select, rule.log_weights(), rule.complement(), random);
    }

    fn incur(&mut self, instance: &Instance<'_, S::Point>) -> Loss {
        self.scratch.0.observed.weights.clear();
        self.scratch.0.observed.coordinates.resize(0, 0);
        let single;
        let dyads = match instance {
            Instance::Point(point) => {
                single = [(1.0, *point)];
                &single[..]
            }
            Instance::Dyads(dyads) => dyads,
        };
        if self.fixes_center() {
            return self.charge_first();
        }
        let mut total = Loss::default();
        for (weight, point) in dyads {
            let mut square = self.scratch.0.square;
            if !self.scratch.0.is_loaded {
                let loaded = self.or_negligible(|span| span.load_point(point));
                square = loaded.unwrap_or_else(|_| unreachable!("the instance was checked"));
            }
            self.scratch.0.is_loaded = false;
            let residual = self.project(point, square);
            let uncarried = self.append(residual, point);
            let to_unit = self.to_unit();
            if to_unit != 1.0 {
                self.scratch.0.columns.iter_mut().for_each(|c| *c *= to_unit);
            }
            self.observe_sources();
            let loss = self.charge(uncarried);
            total.expected += weight * loss.expected;
            total.realised += weight * loss.realised;
            let Working { observed, columns, .. } = &mut self.scratch.0;
            observed.coordinates.push_column(columns);
            observed.weights.push(*weight);
        }
        let unit_square = self.scratch.0.observed.unit_square;
        let total = Loss { expected: total.expected * unit_square, realised: total.realised * unit_square };
        self.scratch.0.expected = total.expected;
        total
    }

    fn update(&mut self, instance: &Instance<'_, S::Point>) {
        if self.fixes_center() {
            return self.begin_center(instance);
        }
        let shortening = self.shorten();
        let learned = self.learn_coefficients(true);
        let own = self.scratch.0.row_weight;
        let share = self.options.center.map_or(1.0, |center| center.learned_share(self.center_weight, own));
        self.learn(share * shortening * shortening, shortening);
        self.trials += 1;
        self.move_center(shortening, learned);
        self.combine_columns();
        self.evict_atoms();
        if let Some(rotation) = self.span.end_trial() {
            self.rule.reduce(rotation);
            self.aligned.follow(rotation);
        }
    }

    fn prefetch(&mut self, upcoming: Upcoming<'_, Instance<'_, S::Point>>) {
        let mut points = upcoming.instances().iter().map_while(|instance| match instance {
            Instance::Point(point) => Some(*point),
            Instance::Dyads(_) => None,
        });
        let weight = self.center_weight;
        match self.options.center {
            None => self.span.prefetch(&mut points, None),
            // If the steps of the center depend on the rows, the points cannot be centered in advance.
            Some(center) if center.learned || self.options.clip.is_some() => {}
            Some(center) => self.span.prefetch(&mut points, Some(&|later| center.later_step(weight, later))),
        }
    }
}

// Record of a trial, from which its choice can be drawn after later rows were learned, with the same bits: the state of
// a learner does not depend on its choices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    pub expected: f64,
    pub square: f64,
    pub rank: usize,
    kept: usize,
    select: Select,
    log_weights: Vec<f64>,
    complement: Complement,
    coordinates: Vec<f64>,
    part: Vec<f64>,
    outside: Outside,
    unit_square: f64,
}

impl<S: Span> Subspace<S> {
    /// [`Self::fixes_center`] must be false, and the rule must have no noise.
    pub(crate) fn trial_without_choice(&mut self, point: &S::Point, trace: &mut Trace) -> Result<(), Error> {
        let instance = Instance::Point(point);
        self.check(&instance)?;
        self.scratch.0.choice.clear();
        (trace.kept, trace.select) = (self.kept, self.options.select);
        self.rule.log_weights().clone_into(&mut trace.log_weights);
        trace.complement = *self.rule.complement();
        trace.expected = self.incur(&instance).expected;
        let Working { outside, observed, square, .. } = &self.scratch.0;
        (trace.outside, trace.unit_square, trace.square) = (*outside, observed.unit_square, *square);
        self.rule.directions().coordinates().clone_into(&mut trace.coordinates);
        self.rule.directions().outside().clone_into(&mut trace.part);
        self.update(&instance);
        trace.rank = self.rank();
        Ok(())
    }

    pub(crate) fn show(&mut self, drawn: &Drawn) {
        self.scratch.0.kept_coordinates.clone_from(&drawn.coordinates);
        self.scratch.0.square = drawn.square;
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Drawn {
    choice: DrawnDirections,
    pub coordinates: Vec<f64>,
    square: f64,
}

impl Trace {
    pub fn draw(&self, random: &mut Random, drawn: &mut Drawn) -> f64 {
        let Drawn { choice, coordinates, square } = drawn;
        choice.draw(self.select, &self.log_weights, &self.complement, random);
        let realised = self.outside.realise(choice, &self.coordinates, &self.part, coordinates);
        finish_coordinates(coordinates, self.kept, self.unit_square);
        *square = self.square;
        realised * self.unit_square
    }
}
