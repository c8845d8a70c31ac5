//! JSON Schema of the options of a stream, from the option tables. It accepts what the service accepts, except for the
//! rules in [`COMPARED`] and some spellings of numbers as text.

use super::notice_rules::{OF_HOOKS, OF_INCIDENTS, OF_NOTICES};
use super::option_rules::rules;
use super::options::{OF_ALL, OF_MODEL, spelling};
use eigenhedge::MONITOR_OPTIONS;
use eigenhedge::options::{Check, OPTIONS, Type};
use eigenhedge_io::Timezone;
use serde_json::{Map, Value, json};

const MOST: usize = 100;
const COUNT: &str = "^[0-9]{1,18}$";
const COUNT_FROM_1: &str = "^0{0,9}[1-9][0-9]{0,17}$";
/// Keeps positive numbers between 1e-90 and 1e90.
const EXPONENT: &str = "([eE][+-]?[0-7]?[0-9])?$";
/// A number strictly between 0 and 1.
const BETWEEN: &str = "0?\\.[0-9]{0,8}[1-9]$";
const TIME_FORMATS: [&str; 5] = ["iso", "s", "ms", "us", "ns"];
const TIME_FIELDS: &str = "YCymbBhdeaAjDFHkIlPpMSfRTzs";
const LASTING: &str = "^[1-9][0-9]{0,5}(ms|s|min|h|d|w)$";
pub const COMPARED: &str = "A schema cannot compare numbers with each other. Further rules (422): k is less than \
    feature_dim and at most max_rank and budget; warm_up, or the rows of mode freeze, are at least 20 more than lags; k of \
    a monitor is less than columns × (lags + 1), which is at most 4096.";

pub fn schema(hosts: &[String]) -> Value {
    let all =
        || OF_ALL.iter().chain(&OF_NOTICES).chain(&["group_by"]).map(|name| ((*name).to_owned(), general(name, hosts)));
    let mut model: Map<String, Value> = all().collect();
    OF_MODEL.iter().for_each(|name| _ = model.insert((*name).to_owned(), general(name, hosts)));
    for option in OPTIONS {
        model.insert(spelling(option.name), described(values(option.values), option.help, option.default));
    }
    let mut monitor: Map<String, Value> = all().collect();
    OF_INCIDENTS.iter().for_each(|name| _ = monitor.insert((*name).to_owned(), general(name, hosts)));
    for option in MONITOR_OPTIONS {
        monitor.insert(spelling(option.name), described(of_monitor(option.name), option.help, option.default));
    }
    model.insert("kind".to_owned(), json!({ "enum": ["model", null] }));
    model.insert("k".to_owned(), json!({ "anyOf": counts(1) }));
    monitor.insert("kind".to_owned(), json!({ "const": "monitor" }));
    let object = |properties: Map<String, Value>, required: &[&str]| {
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            "maxProperties": MOST })
    };
    let (mut model, mut monitor) = (object(model, &["k"]), object(monitor, &["kind"]));
    let without: Map<String, Value> = OF_HOOKS.iter().map(|name| ((*name).to_owned(), null_value())).collect();
    let with = json!({ "properties": { "webhook": { "type": "string" } }, "required": ["webhook"] });
    let of_hooks = json!({ "anyOf": [with, { "properties": without }] });
    monitor["allOf"] = json!([of_hooks]);
    model["allOf"] = rules().into_iter().chain([of_hooks]).collect();
    json!({ "description": COMPARED, "oneOf": [model, monitor] })
}

fn general(name: &str, hosts: &[String]) -> Value {
    let text = json!({ "type": ["string", "number", "null"] });
    match name {
        "columns" | "exclude" | "copy_columns" | "na_values" | "na_values_only" => {
            json!({ "anyOf": [text, { "type": "array", "items": { "type": ["string", "number"] } }] })
        }
        "by" | "group_by" => json!({ "type": ["string", "number", "null"], "pattern": "^[^*?]*$" }),
        "time_format" => {
            let pattern = format!("^[^%]*(%[{TIME_FIELDS}][^%]*)+$");
            json!({ "anyOf": [{ "type": "string", "enum": TIME_FORMATS }, { "type": "string", "pattern": pattern },
                { "type": "null" }] })
        }
        "decimal" | "thousands" => json!({ "enum": [".", ",", null] }),
        "skip_lines" => json!({ "anyOf": counts(0).into_iter().chain([null_value()]).collect::<Vec<_>>() }),
        "time" => json!({ "anyOf": [{ "type": ["string", "number", "null"], "pattern": "^[^*?]*$" }, { "type": "array",
            "items": { "type": ["string", "number"], "pattern": "^[^*?]*$" }, "minItems": 1, "maxItems": 2 }] }),
        "timezone" => {
            let names: Vec<Value> = Timezone::names().map(Value::from).chain([Value::Null]).collect();
            json!({ "enum": names, "description": "Name of a time zone such as Europe/Berlin." })
        }
        "delimiter" => {
            json!({ "anyOf": [{ "type": "string", "pattern": "^([\\x00-\\x09\\x0b\\x0c\\x0e-!#-\\x7f]|tab)$" },
            { "type": "integer", "minimum": 0, "maximum": 9 }, { "type": "null" }] })
        }
        "on_bad_row" => json!({ "enum": ["fail", "skip", null] }),
        "standardize" => json!({ "enum": ["none", "running", null] }),
        "webhook" => {
            let of_host = |host: &String| {
                let escaped = host.replace('.', "\\.");
                let short = [("http", ":80"), ("https", ":443")]
                    .map(|(scheme, port)| escaped.strip_suffix(port).map(|name| format!("|{scheme}://{name}")))
                    .into_iter()
                    .flatten()
                    .collect::<String>();
                json!({ "type": "string", "pattern": format!("^(https?://{escaped}{short})(/[!-~]*)?$") })
            };
            let hosts: Vec<Value> = hosts.iter().map(of_host).chain([json!({ "type": "null" })]).collect();
            json!({ "anyOf": hosts, "description": "URL on a host that --webhook-host allows." })
        }
        "template" => json!({ "type": ["string", "null"],
            "description": "json, slack, teams, text, or the name of a file of --webhook-template." }),
        "notices_per_hour" => json!({ "anyOf": counts(1).into_iter().chain([null_value()]).collect::<Vec<_>>() }),
        "quiet_hours" => {
            let hour = "([01]?[0-9]|2[0-3]):[0-5]?[0-9]";
            json!({ "type": ["string", "null"], "pattern": format!("^{hour}-{hour}( [A-Za-z/_+-]+)?$"),
                "description": "Hours without notices, such as 22:00-06:00 or 22:00-06:00 Europe/Berlin." })
        }
        "min_severity" => json!({ "anyOf": [{ "enum": ["minor", "major", "critical", null] },
            { "type": "number", "minimum": 0 }, { "type": "string", "pattern": "^[0-9]{1,3}(\\.[0-9]{1,9})?$" }],
            "description": "Least severity of an incident for a notice." }),
        "min_duration" => {
            json!({ "anyOf": [{ "type": "string", "pattern": LASTING }, null_value(), counts(0)[0], counts(0)[1]],
            "description": "Least duration of an incident for a notice, as a time or a number of rows." })
        }
        "silent_after" => json!({ "anyOf": [{ "type": "string", "pattern": LASTING }, { "enum": ["auto", null] }],
            "description": "Time without rows after which a key is silent; auto learns it from the intervals of the key." }),
        _ => text,
    }
}

fn of_monitor(name: &str) -> Value {
    let number =
        |range: Value, text: &str| json!({ "anyOf": [range, { "type": "string", "pattern": text }, null_value()] });
    let from_to = |least: f64, most: f64| json!({ "type": "number", "minimum": least, "maximum": most });
    let inside = json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 });
    let least = |count: u64| json!({ "type": "integer", "minimum": count, "maximum": u64::MAX });
    let rows = |word: &str, other: &str, least: &str| json!({ "anyOf": [{ "enum": [word, null] }, { "type": "string", "pattern": format!("^{other}:0{{0,9}}{least}$") }] });
    match name {
        "share" => number(inside, &format!("^{BETWEEN}")),
        "k" => number(json!({ "type": "integer", "minimum": 1, "maximum": 4095 }), "^0{0,9}[1-9][0-9]{0,2}$"),
        "mode" => rows("adapt", "freeze", "([2-9][0-9]|[1-9][0-9]{2,17})"),
        "rebaseline" => rows("never", "after", "[1-9][0-9]{0,17}"),
        "limit" => number(inside, &format!("^((auto|conformal):)?{BETWEEN}")),
        "lags" => {
            let lags = json!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 100 }, { "const": "auto" }] });
            number(lags, "^0{0,9}([0-9]|[1-9][0-9]|100)$")
        }
        "differences" => json!({ "enum": ["auto", "on", "off", true, false, "true", "false", null] }),
        "standardize" => json!({ "enum": [true, false, "true", "false", "none", null] }),
        "missing" => json!({ "enum": ["fail", "skip", "fill", null] }),
        "warm-up" => number(least(1), COUNT_FROM_1),
        "event-gap" => number(least(0), COUNT),
        "change-time" => number(from_to(10.0, 1e9), "^[1-9][0-9]{1,8}$"),
        "incident-time" => number(from_to(100.0, 1e9), "^[1-9][0-9]{2,8}$"),
        _ => json!({ "type": ["string", "number", "boolean", "null"] }),
    }
}

fn null_value() -> Value {
    json!({ "type": "null" })
}

fn described(mut schema: Value, help: &str, default: &str) -> Value {
    let default = if default.is_empty() { String::new() } else { format!(" Default: {default}.") };
    schema["description"] = format!("{help}.{default}").into();
    schema
}

fn counts(least: u64) -> [Value; 2] {
    let pattern = if least == 0 { COUNT } else { COUNT_FROM_1 };
    [
        json!({ "type": "integer", "minimum": least, "maximum": u64::MAX }),
        json!({ "type": "string", "pattern": pattern }),
    ]
}

fn values(values: Type) -> Value {
    let mut any =
        vec![json!({ "enum": values.word().map(Value::from).into_iter().chain([Value::Null]).collect::<Vec<_>>() })];
    match values {
        Type::Number(check, _) => any.extend(numbers(check)),
        Type::Count(least, _) => any.extend(counts(least)),
        Type::Flag => any.push(json!({ "enum": [true, false, "true", "false"] })),
        Type::Text(..) => any.push(json!({ "type": ["string", "number", "boolean"] })),
        Type::Numbers => {
            let [number, text] = numbers(|_, number| Ok(number));
            let list =
                text["pattern"].as_str().unwrap_or_default().trim_start_matches('^').trim_end_matches('$').to_owned();
            any.extend([number.clone(), json!({ "type": "string", "pattern": format!("^{list}(, ?{list})*$") })]);
            any.push(json!({ "type": "array", "minItems": 1, "items": { "anyOf": [number, text] } }));
        }
        Type::Choice(list) => {
            let list = list();
            let names = list.iter().filter(|choice| choice.number.is_none());
            let names: Vec<&str> = names.flat_map(|choice| [Some(choice.name), choice.alias]).flatten().collect();
            any.push(json!({ "enum": names }));
            for choice in list.iter() {
                let Some([_, text]) = choice.number.map(numbers) else { continue };
                let pattern = text["pattern"].as_str().unwrap_or_default().trim_start_matches('^');
                any.push(json!({ "type": "string", "pattern": format!("^{}:{pattern}", choice.name) }));
            }
        }
    }
    json!({ "anyOf": any })
}

fn numbers(check: Check) -> [Value; 2] {
    let accepts = |number: f64| check("", number).is_ok();
    let mut range = json!({ "type": "number" });
    match () {
        () if accepts(-f64::MAX) => range["minimum"] = (-f64::MAX).into(),
        () if accepts(0.0) && accepts(f64::from_bits(1)) => range["minimum"] = 0.into(),
        () if accepts(f64::from_bits(1)) => range["exclusiveMinimum"] = 0.into(),
        () => range["minimum"] = end(accepts, [0.5, f64::from_bits(1)]).into(),
    }
    match () {
        () if accepts(f64::MAX) => range["maximum"] = f64::MAX.into(),
        () if accepts(1.0) && !accepts(2.0) => range["maximum"] = 1.into(),
        () if accepts(0.5) && !accepts(1.0) => range["exclusiveMaximum"] = 1.into(),
        () => range["maximum"] = end(accepts, [2.0, f64::MAX]).into(),
    }
    let (has_zero, has_one) = (accepts(0.0), accepts(1.0));
    let text = match (accepts(2.0), has_zero) {
        (true, _) if accepts(-1.0) => format!("^[+-]?([0-9]{{1,9}}\\.?[0-9]{{0,9}}|\\.[0-9]{{1,9}}){EXPONENT}"),
        (true, true) => format!("^([0-9]{{1,9}}\\.?[0-9]{{0,9}}|\\.[0-9]{{1,9}}){EXPONENT}"),
        (true, false) => format!("^(0{{0,9}}[1-9][0-9]{{0,9}}\\.?[0-9]{{0,9}}|0{{0,9}}\\.[0-9]{{0,8}}[1-9]){EXPONENT}"),
        (false, true) => "^(0|0?\\.[0-9]{1,9})$".to_owned(),
        (false, false) if has_one => format!("^(1|{}$", BETWEEN.replace('$', ")")),
        (false, false) => format!("^{BETWEEN}"),
    };
    let is_split = has_zero && !accepts(f64::from_bits(1));
    let range = if is_split { json!({ "anyOf": [{ "const": 0 }, range] }) } else { range };
    [range, json!({ "type": "string", "pattern": text })]
}

/// Bisects between an accepted and a refused positive number.
fn end(accepts: impl Fn(f64) -> bool, [mut accepted, mut refused]: [f64; 2]) -> f64 {
    // Between positive numbers, the mean of their bits bisects magnitudes.
    while accepted.to_bits().abs_diff(refused.to_bits()) > 1 {
        let middle = f64::from_bits(accepted.to_bits().midpoint(refused.to_bits()));
        *(if accepts(middle) { &mut accepted } else { &mut refused }) = middle;
    }
    accepted
}
