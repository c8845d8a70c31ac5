//! Numbers of the last row that pictures show next to its verdict.

use super::{Monitor, Verdict};

impl Monitor {
    /// Contributions of the columns, each with its lags, to the Q of a verdict: they sum to it. Empty unless it is the verdict of
    /// the last row, with a score.
    pub fn column_contributions(&self, verdict: &Verdict) -> &[f64] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return &[] };
        &fitted.causes.0.contributions
    }

    /// Values of Q and of T² that normal rows pass at the asked rate, by their distributions in the warm-up; NaN for a verdict without a score. An alarm comes from the score alone.
    pub fn statistic_limits(&self, verdict: &Verdict) -> [f64; 2] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return [f64::NAN; 2] };
        fitted.levels.statistic_limits()
    }
}
