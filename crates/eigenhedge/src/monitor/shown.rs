//! Values of the last row that plots show together with its verdict.

use super::{Monitor, Verdict};

impl Monitor {
    /// Returns the contributions of the columns, summed over lags, to the Q of a verdict. They sum to Q. Empty unless it is the
    /// verdict of the last row and has a score.
    pub fn column_contributions(&self, verdict: &Verdict) -> &[f64] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return &[] };
        &fitted.causes.0.contributions
    }

    /// Returns the values of Q and of T² that normal rows exceed at the requested rate, by their distributions in the warm-up;
    /// NaN for a verdict without a score. Alarms depend on the score only.
    pub fn statistic_limits(&self, verdict: &Verdict) -> [f64; 2] {
        let Some(fitted) = self.fitted.as_ref().filter(|_| !verdict.score.is_nan()) else { return [f64::NAN; 2] };
        fitted.levels.statistic_limits()
    }
}
