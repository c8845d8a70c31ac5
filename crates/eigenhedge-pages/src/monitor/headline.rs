//! One-sentence descriptions of the state of monitors.

use super::occurrence::Occurrence;
use super::track::Track;
use super::{Facts, Journal};
use crate::counted;
use eigenhedge_io::{CAUSES, printable};

/// Minimum share of an unusual column, as a fraction of the largest share.
const FAIR_SHARE: f64 = 1.0 / 3.0;

/// Returns a sentence about the state of one monitor, at the end of the table or while the stream is running.
pub fn headline(journal: &Journal, facts: &Facts, track: &Track, listed: &[&Occurrence]) -> String {
    let columns = facts.columns.len();
    if facts.running.is_some() && track.in_table.rows == 0 {
        return "No rows yet.".to_owned();
    }
    if let Some(warm_up) = facts.running.filter(|_| !track.is_ready) {
        return format!("Learning what is normal: {} of {warm_up} rows.", track.in_table.rows);
    }
    if !track.is_ready {
        return format!("{} were too few for a reference.", counted(track.in_table.rows, "row"));
    }
    if let Some(since) = track.drift_since {
        let drift = listed.iter().rev().find(|one| one.kind == "drift" && one.start == since);
        let when = drift.map_or_else(|| format!("row {since}"), |one| moment(&one.start_time, one.start));
        let named = drift.map_or(0, |one| unusual_columns(&one.causes));
        let first = drift
            .and_then(|one| one.causes.first())
            .map_or(String::new(), |(name, _)| format!("; mainly {}", printable(name)));
        return match named {
            0 => format!("Unusual since {when}."),
            named => {
                // Only the first `CAUSES` columns are named.
                let least = if named == CAUSES && columns > CAUSES { "At least " } else { "" };
                format!("{least}{named} of {} unusual since {when}{first}.", counted(columns as u64, "column"))
            }
        };
    }
    let events = listed.iter().filter(|one| !one.is_change() && !one.is_drift());
    match events.max_by_key(|one| one.end) {
        None if track.in_table.drift_rows > 0 => {
            let drift = listed.iter().rev().find(|one| one.kind == "returned");
            let of =
                drift.filter(|one| !one.causes.is_empty()).map_or(String::new(), |one| format!(" ({})", causes(one)));
            let until = drift.map_or(String::new(), |one| format!(" until {}", moment(&one.end_time, one.end)));
            let when = if facts.running.is_some() { "now" } else { "at the end" };
            format!("In drift for {}{until}{of}. Normal {when}.", counted(track.in_table.drift_rows, "row"))
        }
        None => format!("Nothing unusual in {}.", counted(track.in_table.scored, "row")),
        Some(last) => {
            let of = if last.causes.is_empty() { String::new() } else { format!(" ({})", causes(last)) };
            let (alarms, events) = (counted(track.in_table.alarms, "alarm"), counted(track.in_table.events, "event"));
            let (events, state) = match facts.running {
                None => (events, "Normal at the end."),
                // An event is counted when it is over.
                Some(_) if journal.is_open(last) => (counted(track.in_table.events + 1, "event"), "Alarm now."),
                Some(_) => (events, "Normal now."),
            };
            format!("{state} {alarms} in {events}; the last at {}{of}.", moment(&last.start_time, last.start))
        }
    }
}

/// Returns a sentence about the states of the monitors of all keys.
pub fn fleet_headline(journal: &Journal, facts: &Facts) -> String {
    let tracks = &journal.tracks;
    let count = |is: &dyn Fn(&Track) -> bool| tracks.iter().filter(|track| is(track)).count();
    let (drifting, keys) = (count(&|track| track.drift_since.is_some()), tracks.len());
    let with_alarms = count(&|track| track.in_table.alarms > 0);
    let when = if facts.running.is_some() { "now" } else { "at the end" };
    match drifting {
        0 => format!("None of {keys} is in drift {when}; {with_alarms} had alarms."),
        drifting => format!("{drifting} of {keys} are in drift {when}; {with_alarms} had alarms."),
    }
}

/// Returns the number of causes whose share is at least `FAIR_SHARE` times the largest share. The largest must be
/// first.
fn unusual_columns(causes: &[(String, f64)]) -> usize {
    let largest = causes.first().map_or(0.0, |(_, share)| *share);
    causes.iter().filter(|(_, share)| *share >= FAIR_SHARE * largest).count()
}

fn moment(time: &str, row: u64) -> String {
    if time.is_empty() { format!("row {row}") } else { printable(time) }
}

/// Returns the names of the columns that caused an entry, separated by commas.
pub fn causes(one: &Occurrence) -> String {
    one.causes.iter().map(|(name, _)| printable(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::unusual_columns;

    #[test]
    fn columns_with_a_small_share_are_not_called_unusual() {
        let causes = |shares: &[f64]| shares.iter().map(|share| (String::new(), *share)).collect::<Vec<_>>();
        assert_eq!(unusual_columns(&causes(&[0.8, 0.15, 0.05])), 1);
        assert_eq!(unusual_columns(&causes(&[0.5, 0.4, 0.1])), 2);
        assert_eq!(unusual_columns(&causes(&[])), 0);
    }
}
