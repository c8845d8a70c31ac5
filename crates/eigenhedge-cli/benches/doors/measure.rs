//! Processor time of this thread and of finished child processes.

use std::fs::read_to_string;

/// Returns the processor time of this thread, in seconds.
pub fn thread_seconds() -> f64 {
    let text = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

/// Returns the processor time of all child processes that have been waited for, in all their threads, to a hundredth of
/// a second.
pub fn child_seconds() -> f64 {
    let text = read_to_string("/proc/self/stat").unwrap_or_default();
    // The program name, in parentheses, may contain spaces.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Returns the median.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
