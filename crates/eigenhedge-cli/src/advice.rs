//! Suggestions for unknown options.

use crate::args::Cli;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options of other programs, with the option to use instead.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("--to", "--out writes the file"),
    ("--output", "--out writes answers"),
    ("--keep", "--copy-columns copies columns to the answers"),
    ("--json", "--summary json prints JSON"),
    ("--no-center", "--center none switches centering off"),
    ("--half", "--step-half-life sets it"),
    ("--n-components", "-k sets the number of directions"),
    ("--components", "-k sets the number of directions"),
    ("--sep", "--delimiter sets it; it is found by default"),
    ("--threshold", "--limit sets the rule for alarms"),
    ("--alpha-level", "--limit auto:0.01 sets the share of alarms"),
    ("--index-col", "--time names the column of times"),
];

/// Suggests an option of another command or with another name.
pub fn with_tip(mut message: clap::Error) -> clap::Error {
    if message.kind() != ErrorKind::UnknownArgument {
        return message;
    }
    let Some(ContextValue::String(option)) = message.get(ContextKind::InvalidArg) else { return message };
    let option = option.split(['=', ' ']).next().unwrap_or_default().to_owned();
    let renamed = OTHER_NAMES.iter().find(|(name, _)| *name == option).map(|(_, tip)| (*tip).to_owned());
    if let Some(tip) = renamed.or_else(|| of_other_commands(&option)) {
        message.remove(ContextKind::SuggestedArg);
        message.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    message
}

fn of_other_commands(option: &str) -> Option<String> {
    let long = option.strip_prefix("--")?;
    let program = Cli::command();
    let has = |command: &&clap::Command| command.get_arguments().any(|argument| argument.get_long() == Some(long));
    let names: Vec<&str> = program.get_subcommands().filter(has).map(clap::Command::get_name).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("only `eigenhedge {one}` has {option}")),
        [all @ .., last] => Some(format!("{option} is an option of {} and {last}", all.join(", "))),
    }
}
