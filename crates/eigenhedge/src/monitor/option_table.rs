//! Option table of monitors. Each option occurs once, with its texts and its field of [`MonitorOptions`].
//!
//! The command line, the service and Python take names, help texts, defaults and checks from this table.

use super::options::{Choose, MonitorOptions};
use super::shape::Kept;
use crate::error::Error;
use crate::registry::options::Value;
use std::str::FromStr;

/// Description of an option of a monitor.
///
/// ```
/// use eigenhedge::{Choose, MonitorOption, MonitorOptions};
///
/// let lags = MonitorOption::find("lags").unwrap();
/// let mut options = MonitorOptions::default();
/// lags.set(&mut options, "auto")?;
/// assert_eq!(options.lags, Choose::Auto);
/// let error = lags.set(&mut options, "many").unwrap_err();
/// assert_eq!(error.to_string(), "lags must be a whole number or auto, got 'many'");
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MonitorOption {
    /// Name of the option, with hyphens.
    pub name: &'static str,
    /// Placeholder for the value in the command-line help.
    pub placeholder: &'static str,
    /// Help text: one sentence without a full stop.
    pub help: &'static str,
    /// Default in words, or empty if [`Self::get`] returns a value for the default options.
    pub default: &'static str,
    set: fn(&mut MonitorOptions, &str) -> Result<(), Error>,
    get: fn(&MonitorOptions) -> Option<Value>,
}

impl MonitorOption {
    const fn new(name: &'static str, placeholder: &'static str, help: &'static str) -> Self {
        Self { name, placeholder, help, default: "", set: |_, _| Ok(()), get: |_| None }
    }

    /// Returns the option with this name, or `None` if there is none.
    pub fn find(name: &str) -> Option<&'static Self> {
        MONITOR_OPTIONS.iter().find(|option| option.name == name)
    }

    /// Parses a value and stores it. On an error the options are unchanged.
    /// [`MonitorOptions::check`] checks the rules that depend on the number of columns.
    pub fn set(&self, options: &mut MonitorOptions, text: &str) -> Result<(), Error> {
        let mut changed = options.clone();
        (self.set)(&mut changed, text)?;
        *options = changed;
        Ok(())
    }

    /// Returns the value of the option, or `None` if the option is not set.
    pub fn get(&self, options: &MonitorOptions) -> Option<Value> {
        (self.get)(options)
    }
}

/// All options of a monitor. Callers set options in this order, so that `k` takes precedence over `share`.
pub const MONITOR_OPTIONS: &[MonitorOption] = &[
    MonitorOption {
        set: |options, text| {
            let is_share = |share: &f64| *share > 0.0 && *share < 1.0;
            parse("share", "a number between 0 and 1", text, is_share).map(|share| options.kept = Kept::Share(share))
        },
        get: |options| match options.kept {
            Kept::Share(share) => Some(Value::Number(share)),
            Kept::Count(_) => None,
        },
        ..MonitorOption::new("share", "F", "Share of the energy of normal rows that the directions must explain")
    },
    MonitorOption {
        default: "as many as explain the share of the energy",
        set: |options, text| {
            parse("k", "a whole number of at least 1", text, |k| *k > 0).map(|k| options.kept = Kept::Count(k))
        },
        get: |options| match options.kept {
            Kept::Count(k) => Some(Value::Count(k as u64)),
            Kept::Share(_) => None,
        },
        ..MonitorOption::new("k", "K", "Number of directions to keep")
    },
    MonitorOption {
        help: "Adaptation: adapt (the alarm limit follows the last rows), or freeze:ROWS (nothing changes after the first \
               ROWS rows)",
        set: |options, text| text.parse().map(|mode| options.mode = mode),
        get: |options| Some(Value::Text(options.mode.to_string())),
        ..MonitorOption::new("mode", "MODE", "")
    },
    MonitorOption {
        help: "Alarm limit: auto:ALPHA or conformal:P, a quantile of the last scores that this share of normal rows exceeds",
        set: |options, text| text.parse().map(|limit| options.limit = limit),
        get: |options| Some(Value::Text(options.limit.to_string())),
        ..MonitorOption::new("limit", "RULE", "")
    },
    MonitorOption {
        help: "Number of previous rows to append to each row, or auto: about 5 for 10 columns, 2 for 50",
        set: |options, text| {
            options.lags = match text {
                "auto" => Choose::Auto,
                _ => Choose::Fixed(parse("lags", "a whole number or auto", text, |_| true)?),
            };
            Ok(())
        },
        get: |options| {
            Some(match options.lags {
                Choose::Auto => "auto".into(),
                Choose::Fixed(lags) => lags.into(),
            })
        },
        ..MonitorOption::new("lags", "W|auto", "")
    },
    MonitorOption {
        help: "Also score the differences between rows: auto (if levels are strongly autocorrelated), on or off",
        set: |options, text| {
            options.differences = match text {
                "auto" => Choose::Auto,
                "on" | "true" => Choose::Fixed(true),
                "off" | "false" => Choose::Fixed(false),
                _ => return Err(Error::name("differences", &["auto", "on", "off"], text)),
            };
            Ok(())
        },
        get: |options| {
            Some(match options.differences {
                Choose::Auto => "auto".into(),
                Choose::Fixed(is_on) => is_on.into(),
            })
        },
        ..MonitorOption::new("differences", "WHEN", "")
    },
    MonitorOption {
        help: "Standardize each column with its mean and standard deviation over the normal rows",
        set: |options, text| {
            options.standardize = match text {
                "true" => true,
                "false" | "none" => false,
                _ => return Err(Error::name("standardize", &["true", "none"], text)),
            };
            Ok(())
        },
        get: |options| Some(Value::Flag(options.standardize)),
        ..MonitorOption::new("standardize", "BOOL", "")
    },
    MonitorOption {
        default: "400, or 3 × columns × (lags + 1) if that is more",
        set: |options, text| {
            let rows = parse("warm-up", "a whole number of rows", text, |rows| *rows > 0);
            rows.map(|rows| options.warm_up = Some(rows))
        },
        get: |options| options.warm_up.map(Value::Count),
        ..MonitorOption::new("warm-up", "ROWS", "Number of first rows that count as normal and have no score")
    },
    MonitorOption {
        help: "Handling of empty, NaN or null cells: fail, skip the row, or fill (from the other cells and the directions)",
        set: |options, text| text.parse().map(|missing| options.missing = missing),
        get: |options| Some(options.missing.name().into()),
        ..MonitorOption::new("missing", "WHAT", "")
    },
    MonitorOption {
        set: |options, text| {
            parse("event-gap", "a whole number of rows", text, |_| true).map(|gap| options.event_gap = gap)
        },
        get: |options| Some(Value::Count(options.event_gap)),
        ..MonitorOption::new("event-gap", "ROWS", "Alarms with at most this many rows between them form one event")
    },
    MonitorOption {
        set: |options, text| {
            options.change_time = parse("change-time", "a number of rows", text, |_| true)?;
            options.check_times()
        },
        get: |options| Some(Value::Number(options.change_time)),
        ..MonitorOption::new("change-time", "ROWS", "Average number of rows between false reports of a change")
    },
    MonitorOption {
        set: |options, text| {
            options.incident_time = parse("incident-time", "a number of rows", text, |_| true)?;
            options.check_times()
        },
        get: |options| Some(Value::Number(options.incident_time)),
        ..MonitorOption::new("incident-time", "ROWS", "Average number of rows between false incidents")
    },
    MonitorOption {
        help: "Automatic acceptance of an incident as the new reference: never, or after:ROWS",
        set: |options, text| text.parse().map(|rebaseline| options.rebaseline = rebaseline),
        get: |options| Some(Value::Text(options.rebaseline.to_string())),
        ..MonitorOption::new("rebaseline", "WHEN", "")
    },
];

fn parse<T: FromStr>(name: &'static str, rule: &str, text: &str, is_valid: impl Fn(&T) -> bool) -> Result<T, Error> {
    text.parse().ok().filter(is_valid).ok_or_else(|| Error::name(name, &[rule], text))
}

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
            option.set(&mut once, text).unwrap();
            assert_ne!(once, twice, "{name} has an effect");
            option.set(&mut twice, &option.get(&once).unwrap().to_string()).unwrap();
            assert_eq!(once, twice, "{name}");
            let before = once.clone();
            assert!(option.set(&mut once, "-1").unwrap_err().to_string().contains("must be"), "{name}");
            assert_eq!(once, before, "{name} is unchanged after an error");
        }
    }

    #[test]
    fn defaults_are_values_of_the_options_or_described_in_words() {
        for option in MONITOR_OPTIONS {
            assert_eq!(option.get(&MonitorOptions::default()).is_none(), !option.default.is_empty(), "{}", option.name);
        }
    }
}
