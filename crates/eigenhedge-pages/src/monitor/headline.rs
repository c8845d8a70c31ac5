//! Sentences about incidents and about the state of monitors.

use super::occurrence::Occurrence;
use super::track::Track;
use super::{Facts, Journal};
use crate::counted;
use eigenhedge::grade;
use eigenhedge_io::printable;

const TOLD: usize = 5;

/// Describes the state of all monitors, now or at the end, and their most severe incidents, in sentences.
pub fn state(journal: &Journal, facts: &Facts, listed: &[&Occurrence]) -> Vec<String> {
    match (&facts.by, journal.tracks.first()) {
        (Some(_), _) => fleet_headline(journal, facts, listed),
        (None, Some(track)) => headline(facts, track, listed),
        (None, None) => Vec::new(),
    }
}

pub fn headline(facts: &Facts, track: &Track, listed: &[&Occurrence]) -> Vec<String> {
    if facts.running.is_some() && track.in_table.rows == 0 {
        return vec!["No rows yet.".to_owned()];
    }
    if let Some(warm_up) = facts.running.filter(|_| !track.is_ready) {
        return vec![format!("Learning what is normal: {} of {warm_up} rows.", track.in_table.rows)];
    }
    if !track.is_ready {
        return vec![format!("{} were too few for a reference.", counted(track.in_table.rows, "row"))];
    }
    let when = if facts.running.is_some() { "now" } else { "at the end" };
    let (over, open): (Vec<&Occurrence>, Vec<_>) =
        most_severe(listed, usize::MAX).into_iter().partition(|one| is_over(one));
    if over.is_empty() && open.is_empty() {
        return vec![format!("No incident in {}. Normal {when}.", counted(track.in_table.scored, "row"))];
    }
    let mut told = vec![format!("{} {when}.", if open.is_empty() { "Normal" } else { "Not normal" })];
    told.extend(open.iter().chain(over.iter().take(TOLD)).map(|one| format!("{}.", sentence(one))));
    if let more @ 1.. = over.len().saturating_sub(TOLD) {
        told.push(format!("And {} of less severity.", counted(more as u64, "incident")));
    }
    told
}

pub(super) fn most_severe<'a>(listed: &[&'a Occurrence], most: usize) -> Vec<&'a Occurrence> {
    let mut incidents: Vec<&Occurrence> = listed.iter().copied().filter(|one| one.is_incident()).collect();
    incidents.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(a.start.cmp(&b.start)));
    incidents.truncate(most);
    incidents
}

pub(super) fn is_over(one: &Occurrence) -> bool {
    one.incident.as_ref().is_none_or(|facts| facts.is_over)
}

/// Names the first cause of an incident and its behavior.
pub(super) fn what(one: &Occurrence) -> String {
    let signs = one.incident.as_ref().map_or("", |facts| &facts.signs);
    if signs == "silent" && one.causes.is_empty() {
        return "no rows".to_owned();
    }
    let what = ["silent", "stuck", "moved", "drift", "shift", "spike"].into_iter().find(|sign| signs.contains(sign));
    let what = match what {
        Some("silent") => "has no values",
        Some("stuck") => "stuck",
        Some("moved") => "left its constant value",
        Some("drift") => "drifting",
        Some("spike") => "spike",
        _ => "unusual",
    };
    let column = one.causes.first().map_or_else(|| "the rows".to_owned(), |(name, _)| printable(name));
    // Another column than the main cause may be stuck.
    let stuck = one.incident.as_ref().map(|facts| printable(&facts.stuck)).filter(|stuck| !stuck.is_empty());
    let column = match stuck.filter(|stuck| what == "stuck" && *stuck != column) {
        Some(stuck) => format!("{column} unusual and {stuck}"),
        None => column,
    };
    format!("{column} {what}")
}

pub fn sentence(one: &Occurrence) -> String {
    let (start, end) = (moment(&one.start_time, one.start), moment(&one.end_time, one.end));
    let when = match is_over(one) {
        false => format!("since {start}"),
        true if one.start == one.end => format!("at {start}"),
        true => format!("from {start} to {end}"),
    };
    let key = if one.key.is_empty() { String::new() } else { format!("{}: ", printable(&one.key)) };
    format!("{key}{} {when} ({})", what(one), grade(one.strength))
}

fn fleet_headline(journal: &Journal, facts: &Facts, listed: &[&Occurrence]) -> Vec<String> {
    let open: Vec<&Occurrence> = listed.iter().copied().filter(|one| !is_over(one)).collect();
    let (open, keys) = (most_severe(&open, usize::MAX), journal.tracks.len());
    let with_incidents = journal.tracks.iter().filter(|track| track.in_table.incidents > 0).count();
    let when = if facts.running.is_some() { "now" } else { "at the end" };
    let told = match open.len() {
        0 => format!("All {keys} are normal {when}; {with_incidents} had incidents."),
        open => format!("{open} of {keys} are not normal {when}; {with_incidents} had incidents."),
    };
    std::iter::once(told).chain(open.iter().take(TOLD).map(|one| format!("{}.", sentence(one)))).collect()
}

fn moment(time: &str, row: u64) -> String {
    if time.is_empty() { format!("row {row}") } else { printable(time) }
}

pub fn causes(one: &Occurrence) -> String {
    one.causes.iter().map(|(name, _)| printable(name)).collect::<Vec<_>>().join(", ")
}
