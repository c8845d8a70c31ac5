//! Memory limit for reading a table. A few bytes of a file can request any amount of memory, for example by a number of
//! rows in a header. Every reader checks a [`MaxMemory`] before it allocates.

use crate::error::Fault;

/// Maximum number of bytes that a reader may allocate for a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaxMemory {
    bytes: u64,
    pub(crate) line: u64,
}

const UNITS: [(char, u32); 4] = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// Maximum memory per byte of a line, for cells, names and positions. It limits the line length.
const LINE_FACTOR: u64 = 16;

const LONGEST_LINE: u64 = 64 << 20;

impl MaxMemory {
    /// Creates a limit of this many bytes. A line of text may have at most a sixteenth of them.
    pub fn of_bytes(bytes: u64) -> Self {
        Self { bytes, line: (bytes / LINE_FACTOR).max(1) }
    }

    /// Creates a limit of half of the memory of the machine or process. A line may have at most 64 MiB.
    pub fn of_machine() -> Self {
        const UNKNOWN: u64 = 8 << 30;
        let all = Self::of_bytes(system_memory().unwrap_or(UNKNOWN) / 2);
        Self { line: all.line.min(LONGEST_LINE), ..all }
    }

    /// Parses a positive number of bytes with an optional binary unit, such as `500M` or `1.5G`.
    pub fn from_text(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_uppercase();
        let text = text.strip_suffix("IB").or_else(|| text.strip_suffix('B')).unwrap_or(&text);
        let unit = UNITS.iter().find_map(|(letter, power)| Some((text.strip_suffix(*letter)?, *power)));
        let (number, power) = unit.unwrap_or((text, 0));
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(1 << power).filter(|bytes| *bytes > 0).map(Self::of_bytes);
        }
        let bytes = number.parse::<f64>().ok()? * (1u64 << power) as f64;
        (bytes >= 1.0 && bytes < u64::MAX as f64 && power > 0).then_some(Self::of_bytes(bytes as u64))
    }

    /// Returns the limit in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    pub(crate) fn long_line(self) -> Fault {
        let limit = match self == Self::of_bytes(self.bytes) {
            true => format!(", a sixteenth of --max-memory, {self}"),
            false => ", unless a sixteenth of --max-memory is more".to_owned(),
        };
        Fault::Table(format!("must be at most {} bytes long{limit}", self.line))
    }

    /// Returns an error if the `wanted` bytes for `what` exceed the limit, or if the system cannot allocate them.
    pub(crate) fn allow(self, what: impl std::fmt::Display, wanted: u128) -> Result<(), Fault> {
        if wanted > u128::from(self.bytes) {
            let (wanted, limit) = (shown(wanted), shown(self.bytes.into()));
            return Err(Fault::Table(format!("{what} would take {wanted} of memory, and --max-memory allows {limit}")));
        }
        // Reserving memory and releasing it at once is cheap and tests if the system allows it.
        const WORTH_ASKING: u128 = 1 << 20;
        let probe = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if wanted < WORTH_ASKING || usize::try_from(wanted).is_ok_and(probe) {
            return Ok(());
        }
        let wanted = shown(wanted);
        Err(Fault::Table(format!("{what} would take {wanted} of memory, and the system does not give that")))
    }
}

impl Default for MaxMemory {
    fn default() -> Self {
        Self::of_machine()
    }
}

impl std::fmt::Display for MaxMemory {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&shown(self.bytes.into()))
    }
}

fn shown(bytes: u128) -> String {
    match UNITS.iter().rev().find(|(_, power)| bytes >> power > 0) {
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
        Some((letter, power)) if bytes.is_multiple_of(1 << power) => format!("{}{letter}", bytes >> power),
        Some((letter, power)) => format!("{:.1}{letter}", bytes as f64 / (1u64 << power) as f64),
    }
}

#[cfg(target_os = "linux")]
fn system_memory() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    let machine = rustix::system::sysinfo();
    let machine = (machine.totalram as u64).saturating_mul(machine.mem_unit.into());
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let limits = [group, getrlimit(Resource::As).current, getrlimit(Resource::Data).current];
    Some(limits.into_iter().flatten().fold(machine, u64::min))
}

#[cfg(not(target_os = "linux"))]
fn system_memory() -> Option<u64> {
    None
}

#[cfg(feature = "parquet")]
pub(crate) fn most_unpacked(packed: u64, ratio: Ratio) -> u64 {
    const SLACK: u64 = 1 << 10;
    packed.saturating_mul(ratio as u64).saturating_add(SLACK)
}

/// Maximum compression ratio of each method.
#[cfg(feature = "parquet")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ratio {
    Plain = 1,
    /// Snappy: a copy of 64 bytes takes 3 bytes.
    Snappy = 22,
    /// LZ4: a length byte represents at most 255 bytes.
    Lz4 = 255,
    /// Deflate: a match of 258 bytes takes 2 bits.
    Deflate = 1032,
    /// Zstandard: a block of 128 KiB takes 4 bytes.
    Zstd = 1 << 15,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown_with_their_units() {
        let cases = [
            ("1", Some(1), "1 byte"),
            ("500M", Some(500 << 20), "500M"),
            ("2G", Some(2 << 30), "2G"),
            ("1.5g", Some(3 << 29), "1.5G"),
            ("64 KiB", None, ""),
            ("64KiB", Some(1 << 16), "64K"),
            ("3tb", Some(3 << 40), "3T"),
            ("0", None, ""),
            ("-1G", None, ""),
            ("nanG", None, ""),
            ("infG", None, ""),
            ("1.5", None, ""),
            ("99999999999T", None, ""),
            ("", None, ""),
            ("G", None, ""),
        ];
        for (text, wanted, back) in cases {
            let found = MaxMemory::from_text(text);
            assert_eq!(found.map(MaxMemory::bytes), wanted, "{text:?}");
            assert_eq!(found.map_or(String::new(), |limit| limit.to_string()), back, "{text:?}");
        }
    }

    #[test]
    fn what_is_allowed_is_what_is_not_more() {
        let limit = MaxMemory::of_bytes(1 << 30);
        assert!(limit.allow("it", 1 << 30).is_ok());
        let refused = limit.allow("it", (1 << 30) + 1).unwrap_err().to_string();
        assert_eq!(refused, "it would take 1.0G of memory, and --max-memory allows 1G");
        // Larger than any address space.
        let refused = MaxMemory::of_bytes(u64::MAX).allow("it", 1 << 62).unwrap_err().to_string();
        assert_eq!(refused, "it would take 4194304T of memory, and the system does not give that");
    }
}
