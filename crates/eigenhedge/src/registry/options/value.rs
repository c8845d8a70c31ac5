//! Option values: parsing, checks and printing.

use crate::error::Error;
use crate::num::exact;
use serde::Serialize;
use std::fmt;

/// Value of an option.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A nonnegative integer.
    Count(u64),
    /// A Boolean flag.
    Flag(bool),
    /// A word, such as the name of a kernel, or a list of numbers as text.
    Text(String),
}

/// Type of the values of an option.
#[derive(Debug, Clone, Copy)]
pub enum Type {
    /// Number with a check, or a word that may replace it.
    Number(Check, Option<&'static str>),
    /// Integer with a minimum, or a word that may replace it.
    Count(u64, Option<&'static str>),
    /// Word from a list.
    Choice(fn() -> Vec<Choice>),
    /// Comma-separated finite numbers.
    Numbers,
    /// Flag, off by default.
    Flag,
    /// Text of a form that is described in words, with a check.
    Text(&'static str, fn(&str) -> bool),
}

/// Check of a number. Returns the number, or [`Error::Parameter`] with the name and the rule. NaN fails.
pub type Check = fn(&'static str, f64) -> Result<f64, Error>;

/// Word that an option accepts.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// Short form of the word.
    pub alias: Option<&'static str>,
    /// Check of the number after the word and a colon, as in `forget:0.9`.
    pub number: Option<Check>,
    /// One-line description.
    pub help: &'static str,
}

impl Choice {
    /// Returns the word with a placeholder for its number, e.g. `forget:F`.
    pub fn shown(&self) -> String {
        if self.number.is_some() { format!("{}:F", self.name) } else { self.name.to_owned() }
    }

    fn parse(&self, text: &str) -> Option<Value> {
        match (self.number, text.split_once(':')) {
            (Some(_), Some((word, number))) if word == self.name => {
                Some(Value::Text(format!("{word}:{}", exact(number.parse().ok()?))))
            }
            (None, _) if text == self.name || self.alias == Some(text) => Some(Value::from(self.name)),
            _ => None,
        }
    }
}

impl Type {
    /// Parses a value. Checks and minimums of numbers are not applied.
    pub fn parse(self, text: &str) -> Option<Value> {
        let value = match self {
            _ if self.word().is_some_and(|word| word == text) => Value::from(text),
            Self::Number(..) => Value::Number(text.parse().ok()?),
            Self::Count(..) => Value::Count(text.parse().ok()?),
            Self::Flag => Value::Flag(text.parse().ok()?),
            Self::Numbers => {
                let numbers = text.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<f64>>>()?;
                return numbers.iter().all(|number| number.is_finite()).then(|| Value::list(&numbers));
            }
            Self::Choice(list) => list().iter().find_map(|choice| choice.parse(text))?,
            Self::Text(_, accepts) => accepts(text).then(|| Value::from(text))?,
        };
        Some(value)
    }

    /// Returns true if the value has this type.
    pub fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Number(..), Value::Number(_))
            | (Self::Count(..), Value::Count(_))
            | (Self::Flag, Value::Flag(_)) => true,
            (_, Value::Text(text)) => self.parse(text).as_ref() == Some(value),
            _ => false,
        }
    }

    /// Returns the word that may replace a number.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Number(_, word) | Self::Count(_, word) => word,
            _ => None,
        }
    }

    /// Describes the values in a few words, e.g. "a number or auto".
    pub fn description(self) -> String {
        let plain = match self {
            Self::Number(..) => "a number".to_owned(),
            Self::Count(..) => "a whole number".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Numbers => "finite numbers with commas between them".to_owned(),
            Self::Text(form, _) => form.to_owned(),
            Self::Choice(list) => {
                format!("one of {}", list().iter().map(Choice::shown).collect::<Vec<_>>().join(", "))
            }
        };
        self.word().map_or(plain.clone(), |word| format!("{plain} or {word}"))
    }

    /// Returns the rule for numbers, e.g. "positive and finite".
    pub fn rule(self) -> Option<String> {
        match self {
            Self::Number(check, _) => match check("", f64::NAN) {
                Err(Error::Parameter { rule, .. }) => Some(rule.to_owned()),
                _ => None,
            },
            Self::Count(least, _) if least > 0 => Some(format!("at least {least}")),
            _ => None,
        }
    }
}

impl Value {
    /// Returns the number, or the number after a word and a colon, or NaN.
    pub fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Text(text) => text.split_once(':').and_then(|(_, number)| number.parse().ok()).unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }

    /// Creates a comma-separated list, or a single number if all numbers are equal.
    pub fn list(numbers: &[f64]) -> Self {
        let is_one = numbers.iter().all(|number| *number == numbers[0]);
        let written = &numbers[..if is_one { numbers.len().min(1) } else { numbers.len() }];
        Self::Text(written.iter().map(|number| exact(*number)).collect::<Vec<_>>().join(","))
    }

    /// Returns the numbers of a list.
    pub fn numbers(&self) -> Vec<f64> {
        self.text().split(',').filter_map(|number| number.parse().ok()).collect()
    }

    /// Returns the integer, or 0.
    pub fn count(&self) -> usize {
        match self {
            Self::Count(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            _ => 0,
        }
    }

    /// Returns the word, or an empty string.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.write_str(&exact(*number)),
            Self::Count(count) => count.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

macro_rules! values_from {
    ($($from:ty => $value:expr),*) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                $value(value)
            }
        })*
    };
}

values_from!(f64 => Self::Number, u64 => Self::Count, bool => Self::Flag);
values_from!(usize => |size| Self::Count(size as u64), &str => |text: &str| Self::Text(text.to_owned()));
