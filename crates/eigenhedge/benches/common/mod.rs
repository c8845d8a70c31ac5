//! Measurement functions of the benches: a clock, a low percentile and a growth exponent.

use std::time::Instant;

pub struct Clock {
    start: Instant,
    ran: Option<f64>,
}

/// Minimum seconds of a sample for which the scheduler's count of CPU time is used. Longer samples
/// are sometimes interrupted, and the count is accurate to a few milliseconds.
const LONG: f64 = 0.05;

impl Clock {
    pub fn start() -> Self {
        Self { ran: Self::ran(), start: Instant::now() }
    }

    /// Returns the total CPU seconds of this thread, or `None` if the system does not report them.
    fn ran() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
    }

    #[allow(dead_code, reason = "not every bench has threads")]
    pub fn wall(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Returns the seconds since the start: CPU seconds of this thread for long samples, if the
    /// system reports them, and otherwise wall-clock seconds.
    pub fn seconds(&self) -> f64 {
        let wall = self.start.elapsed().as_secs_f64();
        match (self.ran, Self::ran()) {
            (Some(before), Some(after)) if wall > LONG => (after - before).min(wall),
            _ => wall,
        }
    }
}

/// Returns the 20th percentile of the samples, which other processes affect little.
pub fn low(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 5]
}

/// Returns the growth exponent of the times, by least squares between logarithms.
pub fn exponent(samples: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = samples.iter().map(|(size, seconds)| (size.ln(), seconds.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), log| (x + log.0 / count, y + log.1 / count));
    let covariance: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
    covariance / logs.iter().map(|log| (log.0 - x).powi(2)).sum::<f64>()
}
