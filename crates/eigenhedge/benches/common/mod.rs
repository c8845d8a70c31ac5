//! Measurement for the benches: a clock, a low percentile, an exponent.

use std::time::Instant;

/// A clock that excludes the time of other processes as far as possible.
pub struct Clock {
    start: Instant,
    ran: Option<f64>,
}

/// Longer samples are interrupted sometimes. The scheduler's count, accurate to some milliseconds, is then better.
const LONG: f64 = 0.05;

impl Clock {
    /// Starts the clock.
    pub fn start() -> Self {
        Self { ran: Self::ran(), start: Instant::now() }
    }

    /// Returns the seconds that this thread has run, if the system reports them.
    fn ran() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
    }

    /// Returns wall-clock seconds since the start.
    #[allow(dead_code, reason = "not every bench has threads")]
    pub fn wall(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Returns the seconds that this thread has run since the start.
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

/// Returns the exponent that fits the times best: least squares between logarithms.
pub fn exponent(samples: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = samples.iter().map(|(size, seconds)| (size.ln(), seconds.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), log| (x + log.0 / count, y + log.1 / count));
    let covariance: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
    covariance / logs.iter().map(|log| (log.0 - x).powi(2)).sum::<f64>()
}
