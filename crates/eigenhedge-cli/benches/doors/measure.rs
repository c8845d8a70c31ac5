//! Processor time of this thread and of finished child processes.

use std::fs::read_to_string;

pub fn thread_seconds() -> f64 {
    let text = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

/// Returns the processor time of all child processes that have been waited for, in all their threads, in seconds.
#[cfg(unix)]
pub fn child_seconds() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts processor time");
    let seconds = |time: TimeVal| time.tv_sec() as f64 + 1e-6 * time.tv_usec() as f64;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// Returns NaN, because processor time is measured only on Unix.
#[cfg(not(unix))]
pub fn child_seconds() -> f64 {
    f64::NAN
}

/// Returns the median. Of two middle numbers, it is the larger one.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
