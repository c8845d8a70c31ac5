//! JSON Schema of the options of a stream, from the option tables of the library.
//!
//! Values may be given as texts, as on the command line, and null means the default. A schema cannot state which options
//! belong together. The service refuses options that have no effect with the learner, or that contradict each other.

use super::options::{OF_ALL, OF_MODEL, spelling};
use eigenhedge::MONITOR_OPTIONS;
use eigenhedge::options::{Check, OPTIONS, Type};
use serde_json::{Map, Value, json};

/// Maximum number of options.
const MOST: usize = 100;
/// Number as text.
const NUMBER: &str = "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$";

/// Returns the schema of the options: those of a model, or those of a monitor.
pub fn schema() -> Value {
    let all = || OF_ALL.iter().chain(OF_MODEL.iter()).map(|name| ((*name).to_owned(), general(name)));
    let mut model: Map<String, Value> = all().collect();
    for option in OPTIONS {
        let described = described(values(option.values), option.help, option.default);
        model.insert(spelling(option.name), described);
    }
    let mut monitor: Map<String, Value> = all().collect();
    for option in MONITOR_OPTIONS {
        let described =
            described(json!({ "type": ["string", "number", "boolean", "null"] }), option.help, option.default);
        monitor.insert(spelling(option.name), described);
    }
    model.insert("kind".to_owned(), json!({ "enum": ["model", null] }));
    monitor.insert("kind".to_owned(), json!({ "const": "monitor" }));
    let object = |properties: Map<String, Value>, required: &[&str]| {
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            "maxProperties": MOST })
    };
    json!({
        "description": "Options that have no effect with the learner, or that contradict each other, are refused (422).",
        "oneOf": [object(model, &["k"]), object(monitor, &["kind"])],
    })
}

/// Returns the schema of an option that models and monitors have.
fn general(name: &str) -> Value {
    let text = json!({ "type": ["string", "number", "null"] });
    match name {
        "k" => {
            json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": "^[+]?[0-9]+$" }] })
        }
        "columns" | "exclude" | "copy_columns" | "na_values" => {
            json!({ "anyOf": [text, { "type": "array", "items": { "type": ["string", "number"] } }] })
        }
        "decimal" => json!({ "enum": [".", ",", null] }),
        "delimiter" => {
            json!({ "anyOf": [{ "type": "string", "pattern": "^([\\x00-\\x09\\x0b\\x0c\\x0e-!#-\\x7f]|tab)$" },
            { "type": "integer", "minimum": 0, "maximum": 9 }, { "type": "null" }] })
        }
        "on_bad_row" => json!({ "enum": ["fail", "skip", null] }),
        "standardize" => json!({ "enum": ["none", "running", null] }),
        _ => text,
    }
}

/// Adds the help and the default of an option to the schema of its values.
fn described(mut schema: Value, help: &str, default: &str) -> Value {
    let default = if default.is_empty() { String::new() } else { format!(" Default: {default}.") };
    schema["description"] = format!("{help}.{default}").into();
    schema
}

/// Returns the schema of the values of a type.
fn values(values: Type) -> Value {
    let word = values.word();
    let mut any = vec![json!({ "enum": [word, null] })];
    match values {
        Type::Number(check, _) => {
            any.push(range(check));
            any.push(json!({ "type": "string", "pattern": NUMBER }));
        }
        Type::Count(least, _) => {
            any.push(json!({ "type": "integer", "minimum": least, "maximum": u64::MAX }));
            any.push(json!({ "type": "string", "pattern": "^[+]?[0-9]+$" }));
        }
        Type::Flag => any.push(json!({ "enum": [true, false, "true", "false"] })),
        Type::Numbers => {
            any.push(json!({ "type": ["number", "string"] }));
            any.push(json!({ "type": "array", "items": { "type": ["number", "string"] } }));
        }
        Type::Choice(list) => {
            let list = list();
            let names = list.iter().filter(|choice| choice.number.is_none());
            let names: Vec<&str> = names.flat_map(|choice| [Some(choice.name), choice.alias]).flatten().collect();
            any.push(json!({ "enum": names }));
            for choice in list.iter().filter(|choice| choice.number.is_some()) {
                any.push(json!({ "type": "string", "pattern": format!("^{}:[-+.0-9eE]+$", choice.name) }));
            }
        }
    }
    json!({ "anyOf": any })
}

/// Returns the range of the numbers that a check accepts. Ranges begin at 0 or 1 and end at 1, or have no ends.
fn range(check: Check) -> Value {
    let accepts = |number: f64| check("", number).is_ok();
    let mut range = json!({ "type": "number" });
    let least = [(-1.0, None), (0.0, Some(("minimum", 0))), (1e-9, Some(("exclusiveMinimum", 0)))];
    let least = least.into_iter().find(|(number, _)| accepts(*number)).map_or(Some(("minimum", 1)), |(_, rule)| rule);
    let most = [(2.0, None), (1.0, Some(("maximum", 1)))];
    let most =
        most.into_iter().find(|(number, _)| accepts(*number)).map_or(Some(("exclusiveMaximum", 1)), |(_, rule)| rule);
    least.into_iter().chain(most).for_each(|(name, end)| range[name] = end.into());
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_described_and_ranges_are_those_of_the_checks() {
        let schema = schema();
        let [model, monitor] = [0, 1].map(|i| schema["oneOf"][i]["properties"].as_object().unwrap().clone());
        for option in OPTIONS {
            let found = &model[&spelling(option.name)];
            assert!(found["description"].as_str().unwrap().starts_with(option.help), "{}", option.name);
            let Type::Number(check, _) = option.values else { continue };
            let range = &found["anyOf"][1];
            let is_inside = |x: f64| {
                let end = |name: &str| range.get(name).and_then(Value::as_f64);
                end("minimum").is_none_or(|end| x >= end)
                    && end("exclusiveMinimum").is_none_or(|end| x > end)
                    && end("maximum").is_none_or(|end| x <= end)
                    && end("exclusiveMaximum").is_none_or(|end| x < end)
            };
            for x in [-3.0, -1.0, -0.5, 0.0, 1e-9, 0.3, 0.999, 1.0, 1.5, 7.0, 1e9] {
                assert_eq!(check("", x).is_ok(), is_inside(x), "{} {x}", option.name);
            }
        }
        MONITOR_OPTIONS.iter().for_each(|option| assert!(monitor.contains_key(&spelling(option.name))));
    }
}
