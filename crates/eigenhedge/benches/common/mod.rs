//! How the benches measure: a clock, a low percentile, an exponent.

use std::time::Instant;

/// A clock that stands still while other processes have the processor, as far as it can.
pub struct Clock {
    start: Instant,
    ran: Option<f64>,
}

/// Samples longer than this are interrupted now and then: the scheduler's count, exact to some milliseconds, is better.
const LONG: f64 = 0.05;

impl Clock {
    /// Starts now.
    pub fn start() -> Self {
        Self { ran: Self::ran(), start: Instant::now() }
    }

    /// Seconds that this thread has run, where the system tells.
    fn ran() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
    }

    /// Seconds since the start, whoever had the processor.
    #[allow(dead_code, reason = "not every bench has threads")]
    pub fn wall(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds that this thread has run since the start.
    pub fn seconds(&self) -> f64 {
        let wall = self.start.elapsed().as_secs_f64();
        match (self.ran, Self::ran()) {
            (Some(before), Some(after)) if wall > LONG => (after - before).min(wall),
            _ => wall,
        }
    }
}

/// The time that a fifth of the samples undercut: what other processes do to the rest is not counted.
pub fn low(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 5]
}

/// The power of the size that fits the times best: least squares between logarithms.
pub fn exponent(samples: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = samples.iter().map(|(size, seconds)| (size.ln(), seconds.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), log| (x + log.0 / count, y + log.1 / count));
    let covariance: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
    covariance / logs.iter().map(|log| (log.0 - x).powi(2)).sum::<f64>()
}
