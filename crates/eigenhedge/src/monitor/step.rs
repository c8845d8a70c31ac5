//! Processing of a row after the warm-up: scores on all channels, then updates of the state.

use super::channel::{Channel, Scored};
use super::events::{Alarm, Events};
use super::incidents::Columns;
use super::lags::Lags;
use super::last_rows::LastRows;
use super::{Differences, Fitted, Mode, Monitor, MonitorOptions, MonitorTotals, Verdict};

/// Recent score of the flags above which a constant column has newly moved.
const MOVED: f64 = 6.0;

impl MonitorTotals {
    pub(super) fn count(&mut self, verdict: &Verdict) {
        self.scored += u64::from(!verdict.score.is_nan());
        self.alarms += u64::from(verdict.alarm);
        self.events += u64::from(verdict.event.is_some());
        self.changes += u64::from(verdict.change.is_some());
        self.incident_rows += u64::from(verdict.incident.is_some());
        self.incidents += u64::from(verdict.opened.is_some());
    }
}

impl Fitted {
    /// Scores a row in standard units. `position` counts all earlier rows, and `of_whole` those that were not skipped.
    pub(super) fn step(
        &mut self,
        raw: &[f64],
        row: &mut [f64],
        (number, position, of_whole): (u64, u64, u64),
        options: &MonitorOptions,
    ) -> Verdict {
        let mut verdict = Verdict::without_score(number);
        let follows = options.mode == Mode::Adapt;
        self.repeats.push(raw);
        self.last_rows.push(raw);
        let stuck = self.repeats.stuck();
        verdict.stuck = stuck.map(|(column, _)| column);
        let of_flags = self.flags.enter(raw, follows);
        verdict.moved = self.flags.moved();
        self.prepare(raw, row);
        let Self { levels, lags, differences, flags, repeats, incidents, changes, events, causes, .. } = self;
        verdict.event = events.close_before(position, options.event_gap);
        let causes = &mut causes.0;
        causes.reset(row.len());
        let mut ratio = 0.0;
        let vector = lags.row();
        if let Some(vector) = vector {
            let scored = levels.look(vector, of_flags, options.mode);
            (verdict.score, verdict.q, verdict.t2, ratio) = (scored.score, scored.q, scored.t2, scored.ratio);
            causes.load(&levels.shape, &levels.reference_parts.0);
            flags.add_deviations(&mut causes.ranks);
            verdict.change = changes.enter(number, scored.score, row, causes);
            // An alarm is caused by columns that left the recent level, not by an older incident.
            if scored.ratio > 1.0 && follows {
                causes.rank(&levels.shape, &levels.recent_parts.0);
                flags.add_deviations(&mut causes.ranks);
            }
            if follows {
                levels.follow(vector, &scored);
            }
        }
        let mut blamed = &mut *causes;
        if let Some(differences) = differences
            && let Some(scored) = differences.step(row, options.mode)
            && !(scored.ratio <= ratio)
            && !verdict.score.is_nan()
        {
            ratio = scored.ratio;
            verdict.of_differences = true;
            blamed = &mut differences.causes.0;
        }
        if let Some((column, _)) = stuck {
            blamed.blame(column);
        }
        verdict.causes = blamed.named();
        // Score that this row would need for an alarm.
        let limit = levels.limit(options.mode);
        verdict.limit = if verdict.score.is_nan() { f64::NAN } else { limit_of(verdict.score, ratio, limit) };
        verdict.alarm = ratio > 1.0;
        if let Some(vector) = vector {
            let moved = verdict.moved.map(|column| (column, of_flags[1] > MOVED));
            let columns = Columns { stuck, moved, silent: repeats.silent() };
            let alone = &mut self.incident_causes.0;
            alone.reset(row.len());
            let rows = (number, of_whole);
            let of_columns = (&*flags, &*repeats, alone);
            let step = incidents.enter(rows, (vector, of_flags[1]), columns, of_columns, (follows, verdict.alarm));
            (verdict.incident, verdict.opened, verdict.closed) = (step.inside, step.opened, step.closed);
            verdict.alarm = follows && step.opened.is_some() || verdict.alarm && !step.is_quiet;
            if let Some(opened) = step.opened.filter(|_| ratio <= 1.0) {
                verdict.causes = opened.causes;
            }
        }
        if verdict.alarm {
            let (is_stuck, is_moved) = (verdict.stuck.is_some(), verdict.moved.is_some());
            events.enter(Alarm { row: number, position, score: verdict.score, ratio, is_stuck, is_moved }, blamed);
        }
        verdict
    }

    /// Removes flags, fills in missing cells, adds the row to the lagged rows, and removes what rounding explains.
    fn prepare(&mut self, raw: &[f64], row: &mut [f64]) {
        self.flags.blank(row);
        fill(&mut self.levels, &mut self.lags, row);
        if self.rounding.push(raw, &mut self.half_steps.0)
            && let Some(vector) = self.lags.row_mut()
        {
            self.incidents.scales.unround(vector, &self.half_steps.0);
            row.copy_from_slice(self.lags.last_mut());
        }
    }

    /// Clears the state that depends on single rows of a stream, before the first row of another stream.
    pub(super) fn forget_state(&mut self, width: usize) {
        self.repeats.clear();
        self.rounding.begin_table();
        self.events = Events::new(width);
        self.last_rows = LastRows::empty(width, self.last_rows.most);
    }
}

impl Monitor {
    /// Returns the contribution of each column, summed over lags, to the Q of the most recent row, whose verdict is
    /// given. The list is empty if the verdict has no score.
    pub fn column_contributions(&self, verdict: &Verdict) -> &[f64] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return &[] };
        &fitted.causes.0.contributions
    }

    /// Returns the values of Q and of T² that the requested share of warm-up rows exceed, or half of it if differences
    /// are scored too. Both are NaN for a verdict without a score. Alarms depend only on the score.
    pub fn statistic_limits(&self, verdict: &Verdict) -> [f64; 2] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return [f64::NAN; 2] };
        fitted.levels.statistic_limits()
    }
}

/// Returns the score above which a row would be an alarm: for a row without one, at least `least`.
fn limit_of(score: f64, ratio: f64, least: f64) -> f64 {
    let limit = score / ratio;
    match ratio > 1.0 {
        true => limit,
        false if limit.is_finite() => limit.max(least),
        // A ratio of zero gives no finite limit.
        false => 2.0 * score.max(least),
    }
}

impl Differences {
    /// Scores the difference from the previous row. Returns `None` for too few rows, or if the difference overflows.
    fn step(&mut self, row: &[f64], mode: Mode) -> Option<Scored> {
        let Self { channel, lags, standardizer, previous, step, causes } = self;
        if previous.is_empty() {
            previous.extend_from_slice(row);
            return None;
        }
        previous.iter_mut().zip(row).for_each(|(x, now)| *x = now - *x);
        let is_finite = standardizer.apply(previous, &mut step.0).is_ok();
        lags.push(&step.0);
        previous.copy_from_slice(row);
        if !is_finite {
            lags.clear();
        }
        let vector = lags.row()?;
        let scored = channel.look(vector, [0.0; 2], mode);
        causes.0.reset(row.len());
        causes.0.load(&channel.shape, &channel.reference_parts.0);
        if mode == Mode::Adapt {
            channel.follow(vector, &scored);
        }
        Some(scored)
    }
}

/// Adds a row to the lagged rows. Fills in its missing cells, with the recent level if there are too few previous rows.
fn fill(levels: &mut Channel, lags: &mut Lags, row: &mut [f64]) {
    lags.push(row);
    if !row.iter().any(|x| x.is_nan()) {
        return;
    }
    match lags.row_mut() {
        Some(vector) => levels.fill(vector),
        None => lags.last_mut().iter_mut().zip(&levels.level).for_each(|(x, level)| {
            if x.is_nan() {
                *x = *level;
            }
        }),
    }
    row.copy_from_slice(lags.last_mut());
}
