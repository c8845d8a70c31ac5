//! Values of the most recent row that plots show in addition to its verdict.

use super::{Monitor, Verdict};

impl Monitor {
    /// Returns the contribution of each column, summed over lags, to the Q of the most recent row. The contributions
    /// sum to Q. `verdict` must be that of the most recent row. The list is empty if the verdict has no score.
    pub fn column_contributions(&self, verdict: &Verdict) -> &[f64] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return &[] };
        &fitted.causes.0.contributions
    }

    /// Returns the values of Q and of T² that the requested share of normal rows exceed, according to their
    /// distributions in the warm-up. If differences are scored too, it is half the share. Both are NaN for a verdict
    /// without a score. Alarms depend only on the score, not on these values.
    pub fn statistic_limits(&self, verdict: &Verdict) -> [f64; 2] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return [f64::NAN; 2] };
        fitted.levels.statistic_limits()
    }
}
