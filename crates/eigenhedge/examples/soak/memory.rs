//! Resident memory of this process, measured during the run.

/// Maximum resident memory in megabytes.
const MOST: f64 = 500.0;
/// Maximum growth from the first half of the run to the second, in megabytes.
const GROWTH: f64 = 32.0;

/// Current resident memory and its peaks in both halves of the run, in megabytes.
#[derive(Default)]
pub struct Memory {
    now: f64,
    first_half: f64,
    second_half: f64,
}

impl Memory {
    /// Measures memory. `done` is the completed fraction of the work.
    pub fn look(&mut self, done: f64) {
        self.now = resident().unwrap_or(0.0);
        let half = if done < 0.5 { &mut self.first_half } else { &mut self.second_half };
        *half = half.max(self.now);
    }

    pub fn fault(&self) -> Option<String> {
        let Self { first_half, second_half, .. } = self;
        if first_half.max(*second_half) > MOST {
            return Some(format!("{:.0} MB resident, at most {MOST} are allowed", first_half.max(*second_half)));
        }
        (*first_half > 0.0 && second_half - first_half > GROWTH).then(|| {
            format!("resident memory grows: {first_half:.0} MB in the first half, {second_half:.0} in the second")
        })
    }
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.now == 0.0 {
            return write!(f, "memory not measured: no /proc/self/status here");
        }
        write!(f, "{:.0} MB resident, at most {:.0}", self.now, self.first_half.max(self.second_half))
    }
}

/// Returns resident memory in megabytes, or `None` if the system does not report it.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}
