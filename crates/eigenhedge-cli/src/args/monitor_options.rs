//! Options of a monitor as typed, derived from the option table of the library.

use super::directions;
use super::options::{HasOptions, OptionArgs};
use clap::Arg;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use eigenhedge::{Error as Refused, MONITOR_OPTIONS, Missing, MonitorOption, MonitorOptions};
use eigenhedge_pages::monitor::in_rows;

/// Options of a monitor, with their checked texts. `--standardize` is a table option instead.
#[derive(Debug, Clone)]
pub struct OfMonitor;

impl HasOptions for OfMonitor {
    type Value = String;

    fn arguments() -> impl Iterator<Item = (&'static str, Arg)> {
        let own = MONITOR_OPTIONS.iter().filter(|option| option.name != "standardize");
        own.map(|option| (option.name, argument(option)))
    }
}

impl OptionArgs<OfMonitor> {
    pub fn duration(&self) -> Option<&'static str> {
        let is_duration = |(option, text): &(&MonitorOption, &String)| in_rows(option, text, 1.0).is_some();
        self.texts().find(is_duration).map(|(option, _)| option.name)
    }

    /// Returns all options, with defaults for those not given. `step` is the usual time between two rows in seconds.
    pub fn options(&self, step: f64) -> Result<MonitorOptions, Refused> {
        let mut options = MonitorOptions::default();
        for (option, text) in self.texts() {
            option.read(&mut options, in_rows(option, text, step).as_ref().unwrap_or(text))?;
        }
        Ok(options)
    }

    fn texts(&self) -> impl Iterator<Item = (&'static MonitorOption, &String)> {
        self.given.iter().filter_map(|(name, text)| Some((MonitorOption::find(name)?, text)))
    }
}

fn argument(option: &'static MonitorOption) -> Arg {
    let default = match option.name {
        "k" => "as many as explain --share of the energy".to_owned(),
        "missing" => "fill, or as in the file of --start-from".to_owned(),
        _ => (option.get)(&MonitorOptions::default()).map_or(option.default.to_owned(), |value| value.to_string()),
    };
    let argument = Arg::new(option.name)
        .value_name(option.placeholder)
        .value_parser(parser(option))
        .help(format!("{} [default: {default}]", option.help));
    match option.name {
        "k" => argument.short('k').conflicts_with_all(["share", "start_from"]),
        "missing" => argument.long(option.name),
        "warm-up" => argument.long(option.name).conflicts_with_all(["train", "start_from"]),
        name => argument.long(name).conflicts_with("start_from"),
    }
}

fn parser(option: &'static MonitorOption) -> ValueParser {
    let try_out = move |text: &str| option.read(&mut MonitorOptions::default(), text);
    let check = move |text: &str| match try_out(in_rows(option, text, 1.0).as_deref().unwrap_or(text)) {
        Ok(()) => Ok(text.to_owned()),
        Err(_) if option.name == "k" => directions(text).map(|k| k.to_string()),
        Err(Refused::Name { rule, .. }) => Err(format!("must be {rule}")),
        Err(Refused::Parameter { rule, .. }) => Err(format!("must be {rule}")),
        Err(error) => Err(error.to_string()),
    };
    if option.name != "missing" {
        return ValueParser::new(check);
    }
    let help = |what: Missing| match what {
        Missing::Skip => "Pass the row over",
        Missing::Fill => "Fill the cell in",
        _ => "End the run",
    };
    let values = Missing::ALL.map(|what| PossibleValue::new(what.name()).help(help(what)));
    ValueParser::new(PossibleValuesParser::new(values).try_map(move |text| check(&text)))
}
