//! Processor time of this thread and of programs that have ended.

use std::fs::read_to_string;

/// Seconds that this thread has run.
pub fn thread_seconds() -> f64 {
    let text = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

/// Seconds, to a hundredth, that programs started here and waited for have run, in all their threads.
pub fn child_seconds() -> f64 {
    let text = read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold blanks.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// The middle of some numbers.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
