//! Time zone of local times.

use crate::dates::iso_time;
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};

/// Time zone of times that have no zone of their own, such as `Europe/Berlin`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timezone(chrono_tz::Tz);

impl Timezone {
    /// Returns the zone with this name in the database of time zones, or `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok().map(Self)
    }

    /// Returns the names of all zones.
    pub fn names() -> impl Iterator<Item = &'static str> {
        chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name())
    }

    /// Returns the seconds since 1970 of a local time, given as if it were UTC. In a repeated hour, a time that is not
    /// after `last` (or before it, if the newest come first) is in the second pass. A skipped hour has the offset of
    /// the day before.
    pub(crate) fn utc(self, local: f64, last: Option<f64>, is_newest_first: bool) -> f64 {
        let shift = |offset: i32| local - f64::from(offset);
        let Some(naive) = naive(local) else { return local };
        match self.0.offset_from_local_datetime(&naive) {
            MappedLocalTime::Single(offset) => shift(offset.fix().local_minus_utc()),
            MappedLocalTime::Ambiguous(one, other) => {
                let (one, other) = (shift(one.fix().local_minus_utc()), shift(other.fix().local_minus_utc()));
                let (first, second) = (one.min(other), one.max(other));
                let is_second = match last {
                    Some(last) if is_newest_first => second < last,
                    Some(last) => first <= last,
                    None => is_newest_first,
                };
                if is_second { second } else { first }
            }
            MappedLocalTime::None => shift(self.offset(local - 86400.0)),
        }
    }

    /// Returns the offset of local time from UTC in seconds, at `utc` seconds since 1970.
    pub fn offset(self, utc: f64) -> i32 {
        naive(utc).map_or(0, |naive| self.0.offset_from_utc_datetime(&naive).fix().local_minus_utc())
    }

    /// Returns the start of the interval that contains a time. Intervals of `length` seconds start at local midnight.
    pub(crate) fn start_of(self, utc: f64, length: f64) -> f64 {
        let local = utc + f64::from(self.offset(utc));
        let start = (local / length).floor() * length;
        if length <= 3600.0 { utc - (local - start) } else { self.utc(start, None, false) }
    }

    pub(crate) fn clock(self, utc: f64) -> String {
        iso_time(utc + f64::from(self.offset(utc)))
    }

    pub(crate) fn text(self, utc: f64) -> String {
        let offset = self.offset(utc);
        let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
        format!("{}{sign}{:02}:{:02}", self.clock(utc), minutes / 60, minutes % 60)
    }
}

impl std::fmt::Display for Timezone {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.0.name())
    }
}

fn naive(seconds: f64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp(seconds.floor() as i64, 0).map(|moment| moment.naive_utc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates::seconds;

    #[test]
    fn the_repeated_hour_is_told_apart_by_order_and_the_lost_hour_is_not_lost() {
        let zone = Timezone::from_name("Europe/Berlin").unwrap();
        let utc = |text: &str, last: Option<&str>| {
            let found = zone.utc(seconds(text).unwrap(), last.map(|last| seconds(last).unwrap()), false);
            (iso_time(found), zone.text(found))
        };
        let wanted = |utc: &str, text: &str| (utc.to_owned(), text.to_owned());
        assert_eq!(utc("2024-07-01 12:00", None), wanted("2024-07-01T10:00:00", "2024-07-01T12:00:00+02:00"));
        assert_eq!(utc("2024-10-27 02:30", None), wanted("2024-10-27T00:30:00", "2024-10-27T02:30:00+02:00"));
        let second = utc("2024-10-27 02:30", Some("2024-10-27T00:50:00Z"));
        assert_eq!(second, wanted("2024-10-27T01:30:00", "2024-10-27T02:30:00+01:00"));
        let back = |last: &str| iso_time(zone.utc(seconds("2024-10-27 02:30").unwrap(), seconds(last), true));
        assert_eq!(back("2024-10-27T02:00:00Z"), "2024-10-27T01:30:00");
        assert_eq!(back("2024-10-27T01:10:00Z"), "2024-10-27T00:30:00");
        assert_eq!(utc("2024-03-31 02:30", None).0, "2024-03-31T01:30:00");
        assert_eq!(Timezone::from_name("Europe/Nowhere"), None);
    }
}
