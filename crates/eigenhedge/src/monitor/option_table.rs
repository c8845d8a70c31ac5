//! Option table of monitors. Each option occurs once, with its texts and its field of [`MonitorOptions`].
//!
//! The command line, the service and Python take names, help texts, defaults and checks from this table.

use super::options::{
    Choose, Limit, Mode, MonitorOptions, Rebaseline, between_0_and_1, check_change_time, check_incident_time,
};
use super::shape::Kept;
use crate::registry::Missing;
use crate::registry::options::{OptionOf, Type, Value};

/// Description of an option of a monitor.
///
/// ```
/// use eigenhedge::{Choose, MonitorOption, MonitorOptions};
///
/// let lags = MonitorOption::find("lags").unwrap();
/// let mut options = MonitorOptions::default();
/// lags.read(&mut options, "auto")?;
/// assert_eq!(options.lags, Choose::Auto);
/// let error = lags.read(&mut options, "many").unwrap_err();
/// assert_eq!(error.to_string(), "lags must be a whole number or auto, got 'many'");
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub type MonitorOption = OptionOf<MonitorOptions>;

impl MonitorOption {
    /// Returns the option with this name, or `None` if there is none.
    pub fn find(name: &str) -> Option<&'static Self> {
        MONITOR_OPTIONS.iter().find(|option| option.name == name)
    }
}

/// All options of a monitor. Callers set options in this order, so that `k` takes precedence over `share`.
/// [`MonitorOptions::check`] checks the rules that depend on the number of columns.
pub const MONITOR_OPTIONS: &[MonitorOption] = &[
    MonitorOption {
        set: |options, value| options.kept = Kept::Share(value.number()),
        get: |options| match options.kept {
            Kept::Share(share) => Some(Value::Number(share)),
            Kept::Count(_) => None,
        },
        help: "Share of the energy of normal rows that the directions must explain",
        ..MonitorOption::new("share", Type::Number(between_0_and_1, None), "F")
    },
    MonitorOption {
        default: "as many as explain the share of the energy",
        set: |options, value| options.kept = Kept::Count(value.count()),
        get: |options| match options.kept {
            Kept::Count(k) => Some(k.into()),
            Kept::Share(_) => None,
        },
        help: "Number of directions to keep",
        ..MonitorOption::new("k", Type::Count(1, None), "K")
    },
    MonitorOption {
        set: |options, value| options.mode = value.text().parse().unwrap_or_default(),
        get: |options| Some(Value::Text(options.mode.to_string())),
        help: "Adaptation: adapt (the alarm limit follows the last rows), or freeze:ROWS (nothing changes after the first \
               ROWS rows)",
        ..MonitorOption::new("mode", Type::Text("adapt or freeze:ROWS", |text| text.parse::<Mode>().is_ok()), "MODE")
    },
    MonitorOption {
        set: |options, value| options.limit = value.text().parse().unwrap_or_default(),
        get: |options| Some(Value::Text(options.limit.to_string())),
        help: "Alarm limit: auto:ALPHA or conformal:P, a quantile of the last scores that this share of normal rows exceeds",
        ..MonitorOption::new("limit", Type::Text(Limit::FORM, |text| text.parse::<Limit>().is_ok()), "RULE")
    },
    MonitorOption {
        set: |options, value| {
            options.lags = if value.text() == "auto" { Choose::Auto } else { Choose::Fixed(value.count()) }
        },
        get: |options| match options.lags {
            Choose::Auto => Some("auto".into()),
            Choose::Fixed(lags) => Some(lags.into()),
        },
        help: "Number of previous rows to append to each row, or auto: about 5 for 10 columns, 2 for 50",
        ..MonitorOption::new("lags", Type::Count(0, Some("auto")), "W|auto")
    },
    MonitorOption {
        set: |options, value| {
            options.differences = match value.text() {
                "auto" => Choose::Auto,
                text => Choose::Fixed(["on", "true"].contains(&text)),
            }
        },
        get: |options| match options.differences {
            Choose::Auto => Some("auto".into()),
            Choose::Fixed(is_on) => Some(is_on.into()),
        },
        help: "Also score the differences between rows: auto (if levels are strongly autocorrelated), on or off",
        ..MonitorOption::new(
            "differences",
            Type::Text("auto, on or off", |text| ["auto", "on", "true", "off", "false"].contains(&text)),
            "WHEN",
        )
    },
    MonitorOption {
        set: |options, value| options.standardize = value.text() == "true",
        get: |options| Some(Value::Flag(options.standardize)),
        help: "Standardize each column with its mean and standard deviation over the normal rows",
        ..MonitorOption::new(
            "standardize",
            Type::Text("true or none", |text| ["true", "false", "none"].contains(&text)),
            "BOOL",
        )
    },
    MonitorOption {
        default: "400, or 3 × columns × (lags + 1) if that is more",
        set: |options, value| options.warm_up = Some(value.count() as u64),
        get: |options| options.warm_up.map(Value::from),
        help: "Number of first rows that count as normal and have no score",
        ..MonitorOption::new("warm-up", Type::Count(1, None), "ROWS")
    },
    MonitorOption {
        set: |options, value| options.missing = value.text().parse().unwrap_or_default(),
        get: |options| Some(options.missing.name().into()),
        help: "Handling of empty, NaN or null cells: fail, skip the row, or fill (from the other cells and the directions)",
        ..MonitorOption::new(
            "missing",
            Type::Text("fail, skip or fill", |text| text.parse::<Missing>().is_ok()),
            "WHAT",
        )
    },
    MonitorOption {
        set: |options, value| options.event_gap = value.count() as u64,
        get: |options| Some(options.event_gap.into()),
        help: "Alarms with at most this many rows between them form one event",
        ..MonitorOption::new("event-gap", Type::Count(0, None), "ROWS")
    },
    MonitorOption {
        set: |options, value| options.change_time = value.number(),
        get: |options| Some(options.change_time.into()),
        help: "Average number of rows between false reports of a change",
        ..MonitorOption::new("change-time", Type::Number(check_change_time, None), "ROWS")
    },
    MonitorOption {
        set: |options, value| options.incident_time = value.number(),
        get: |options| Some(options.incident_time.into()),
        help: "Average number of rows between false incidents",
        ..MonitorOption::new("incident-time", Type::Number(check_incident_time, None), "ROWS")
    },
    MonitorOption {
        set: |options, value| options.rebaseline = value.text().parse().unwrap_or_default(),
        get: |options| Some(Value::Text(options.rebaseline.to_string())),
        help: "Automatic acceptance of an incident as the new reference: never, or after:ROWS",
        ..MonitorOption::new(
            "rebaseline",
            Type::Text("never or after:ROWS", |text| text.parse::<Rebaseline>().is_ok()),
            "WHEN",
        )
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_reads_the_values_it_writes() {
        let examples = [
            ("share", "0.5"),
            ("k", "3"),
            ("mode", "freeze:70"),
            ("limit", "conformal:0.02"),
            ("lags", "auto"),
            ("differences", "on"),
            ("standardize", "none"),
            ("warm-up", "120"),
            ("missing", "skip"),
            ("event-gap", "9"),
            ("change-time", "500"),
            ("incident-time", "300"),
            ("rebaseline", "after:80"),
        ];
        assert_eq!(examples.map(|(name, _)| name).to_vec(), MONITOR_OPTIONS.iter().map(|o| o.name).collect::<Vec<_>>());
        for (name, text) in examples {
            let option = MonitorOption::find(name).unwrap();
            let (mut once, mut twice) = (MonitorOptions::default(), MonitorOptions::default());
            option.read(&mut once, text).unwrap();
            assert_ne!(once, twice, "{name} has an effect");
            option.read(&mut twice, &(option.get)(&once).unwrap().to_string()).unwrap();
            assert_eq!(once, twice, "{name}");
            let before = once.clone();
            assert!(option.read(&mut once, "-1").unwrap_err().to_string().contains("must be"), "{name}");
            assert_eq!(once, before, "{name} is unchanged after an error");
        }
    }

    #[test]
    fn defaults_are_values_of_the_options_or_described_in_words() {
        for option in MONITOR_OPTIONS {
            assert_eq!(
                (option.get)(&MonitorOptions::default()).is_none(),
                !option.default.is_empty(),
                "{}",
                option.name
            );
        }
    }
}
