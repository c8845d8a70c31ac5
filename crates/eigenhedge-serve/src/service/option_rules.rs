//! Rules between the options of a model, as JSON Schema, from the option tables. Words and values of k that a learner or
//! a kernel refuses are found by trying [`StreamOptions::new`].

use super::options::{MOST_DIRECTIONS, StreamOptions, spelling};
use eigenhedge::Kind;
use eigenhedge::kernel::{KERNELS, KernelEntry};
use eigenhedge::options::{OPTIONS, OptionEntry, Readers, Type};
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

pub fn rules() -> Vec<Value> {
    static RULES: OnceLock<Vec<Value>> = OnceLock::new();
    let find = || {
        let mut rules = vec![json!({ "anyOf": learners() }), json!({ "anyOf": kernels() })];
        rules.extend(between_values());
        rules
    };
    RULES.get_or_init(find).clone()
}

fn is_accepted(options: &[(&str, Value)]) -> bool {
    let mut given = json!({ "k": 1 });
    options.iter().for_each(|(name, value)| given[*name] = value.clone());
    StreamOptions::new(&given).is_ok()
}

fn words(option: &OptionEntry) -> Vec<&'static str> {
    match option.values {
        Type::Choice(list) => {
            list().iter().filter(|choice| choice.number.is_none()).map(|choice| choice.name).collect()
        }
        other => other.word().into_iter().collect(),
    }
}

fn names_of(option: &str) -> Vec<&'static str> {
    OptionEntry::find(option).map(words).unwrap_or_default()
}

/// Excludes words that are accepted alone but refused with the option `with`.
fn refuse_words(properties: &mut Map<String, Value>, option: &OptionEntry, with: (&str, &str)) {
    let name = spelling(option.name);
    let refused = |word: &&str| {
        let own = (name.as_str(), Value::from(*word));
        is_accepted(std::slice::from_ref(&own)) && !is_accepted(&[(with.0, with.1.into()), own])
    };
    let refused: Vec<&str> = words(option).into_iter().filter(refused).collect();
    if !refused.is_empty() {
        properties.insert(name, json!({ "not": { "enum": refused } }));
    }
}

/// An option without effect must be null or neutral.
fn learners() -> Vec<Value> {
    let of_learner = |name: &'static str| {
        let mut properties = Map::new();
        let is_default = name == "auto";
        let learner = if is_default { json!({ "enum": [name, null] }) } else { json!({ "const": name }) };
        properties.insert("learner".to_owned(), learner);
        properties.insert("k".to_owned(), most(largest_k(name)));
        for option in OPTIONS.iter().filter(|option| option.name != "learner") {
            if name.parse::<Kind>().is_ok_and(|kind| option.is_read_by(kind)) {
                refuse_words(&mut properties, option, ("learner", name));
            } else {
                let neutral = option.neutral.map(|word| {
                    word.parse::<bool>().map_or(vec![word.into()], |flag| vec![Value::from(word), flag.into()])
                });
                let values: Vec<Value> = neutral.into_iter().flatten().chain([Value::Null]).collect();
                properties.insert(spelling(option.name), json!({ "enum": values }));
            }
        }
        let required: &[&str] = if is_default { &[] } else { &["learner"] };
        json!({ "properties": properties, "required": required })
    };
    names_of("learner").into_iter().map(of_learner).collect()
}

fn largest_k(learner: &str) -> u64 {
    let (mut accepted, mut refused) = (1, MOST_DIRECTIONS as u64 + 1);
    while refused - accepted > 1 {
        let middle = u64::midpoint(accepted, refused);
        let is_accepted = is_accepted(&[("learner", learner.into()), ("k", middle.into())]);
        *(if is_accepted { &mut accepted } else { &mut refused }) = middle;
    }
    accepted
}

/// Schema of a number of at most `most`. Given as text, it has fewer digits than `most`, or is one digit.
fn most(most: u64) -> Value {
    let text = match most.ilog10() {
        0 => format!("^0{{0,9}}[1-{most}]$"),
        digits => format!("^0{{0,9}}[1-9][0-9]{{0,{}}}$", digits - 1),
    };
    json!({ "anyOf": [{ "type": "integer", "maximum": most }, { "type": "string", "pattern": text }] })
}

/// One schema without a kernel, and one for each set of kernels with equal parameters.
fn kernels() -> Vec<Value> {
    let features = || OPTIONS.iter().filter(|option| matches!(option.readers, Readers::Features));
    let none = features().map(|option| (spelling(option.name), json!({ "type": "null" })));
    let none = none.chain([("kernel".to_owned(), json!({ "type": "null" }))]).collect::<Map<_, _>>();
    let mut all = vec![json!({ "properties": none })];
    // Streams have rows of numbers, so kernels of texts and sets are left out.
    let kernels: Vec<&KernelEntry> = KERNELS.iter().filter(|kernel| !kernel.takes_items()).collect();
    for (i, first) in kernels.iter().enumerate() {
        if kernels[..i].iter().any(|kernel| kernel.reads == first.reads) {
            continue;
        }
        let alias =
            names_with_alias(kernels.iter().filter(|kernel| kernel.reads == first.reads).map(|kernel| kernel.name));
        let mut properties = Map::from_iter([("kernel".to_owned(), json!({ "enum": alias }))]);
        for option in features().filter(|option| option.name != "budget" && !first.reads.contains(&option.name)) {
            properties.insert(spelling(option.name), json!({ "type": "null" }));
        }
        for option in OPTIONS.iter().filter(|option| !matches!(option.readers, Readers::Features)) {
            if option.name != "kernel" {
                refuse_words(&mut properties, option, ("kernel", first.name));
            }
        }
        properties.insert("start_center".to_owned(), json!({ "type": "null" }));
        if first.reads.contains(&"coef0") && !is_accepted(&[("kernel", first.name.into()), ("coef0", (-1).into())]) {
            properties.insert("coef0".to_owned(), json!({ "minimum": 0, "pattern": "^[^-]" }));
        }
        all.push(json!({ "properties": properties, "required": ["kernel"] }));
    }
    all
}

fn names_with_alias(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let Some(Type::Choice(list)) = OptionEntry::find("kernel").map(|option| option.values) else { return Vec::new() };
    let list = list();
    let of_name = |name: &'static str| {
        let alias = list.iter().find(|choice| choice.name == name).and_then(|choice| choice.alias);
        [Some(name), alias].into_iter().flatten()
    };
    names.flat_map(of_name).collect()
}

fn between_values() -> Vec<Value> {
    let given = |name: &str| json!({ "required": [name], "properties": { name: { "not": { "type": "null" } } } });
    let is = |name: &str, value: Value| json!({ "required": [name], "properties": { name: { "enum": [value] } } });
    let rule = |condition: Value, result: Value| json!({ "if": condition, "then": result });
    let not = |name: &str, value: &str| json!({ "properties": { name: { "not": { "const": value } } } });
    let positive = json!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "type": "string", "pattern": "^[^eE]*[1-9]" }] });
    let tuned = json!({ "properties": { "eta": { "enum": ["auto", null] } } });
    vec![
        rule(given("ceiling"), json!({ "allOf": [tuned, given("norm_bound"), not("norm_bound", "auto")] })),
        rule(given("horizon"), tuned.clone()),
        rule(given("alpha"), not("mixing", "none")),
        rule(
            json!({ "required": ["merge"], "properties": { "merge": positive } }),
            json!({ "properties": { "mixing": { "enum": ["fixed-share", null] } } }),
        ),
        rule(given("center_prior"), json!({ "allOf": [not("center", "none"), not("center", "learned")] })),
        rule(
            given("start_center"),
            json!({ "required": ["center_prior"], "properties": { "center_prior": positive } }),
        ),
        rule(is("missing", "fill".into()), json!({ "properties": { "segments": { "enum": [0, "0", null] } } })),
        rule(
            json!({ "required": ["as_printed"], "properties": { "as_printed": { "enum": [true, "true"] } } }),
            json!({ "properties": { "max_rank": { "type": "null" } } }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::option_schema::schema;
    use eigenhedge::{MONITOR_OPTIONS, Random};

    fn has_type(value: &Value, name: &str) -> bool {
        match name {
            "null" => value.is_null(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            _ => value.is_number(),
        }
    }

    /// Compares values as JSON Schema does: 0 and 0.0 are equal.
    fn is_equal(one: &Value, other: &Value) -> bool {
        one == other || one.is_number() && one.as_f64() == other.as_f64()
    }

    fn list(value: &Value) -> impl Iterator<Item = &Value> {
        value.as_array().into_iter().flatten()
    }

    /// Returns true if the value is valid under the schema. Ignores `pattern`, `minItems` and `maxProperties`, on which the
    /// validity of the values drawn by these tests does not depend.
    fn is_valid(value: &Value, schema: &Value) -> bool {
        let number = value.as_f64();
        schema.as_object().unwrap().iter().all(|(keyword, rule)| match keyword.as_str() {
            "description" | "maxProperties" | "pattern" | "then" | "minItems" => true,
            "type" if rule.is_string() => has_type(value, rule.as_str().unwrap()),
            "type" => list(rule).any(|name| has_type(value, name.as_str().unwrap())),
            "const" => is_equal(value, rule),
            "enum" => list(rule).any(|one| is_equal(value, one)),
            "minimum" => number.is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => number.is_none_or(|number| number <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => number.is_none_or(|number| number > rule.as_f64().unwrap()),
            "exclusiveMaximum" => number.is_none_or(|number| number < rule.as_f64().unwrap()),
            "anyOf" => list(rule).any(|one| is_text_free(one) && is_valid(value, one)),
            "oneOf" => list(rule).filter(|one| is_valid(value, one)).count() == 1,
            "allOf" => list(rule).all(|one| is_valid(value, one)),
            "not" => !is_valid(value, rule),
            "if" => !is_valid(value, rule) || is_valid(value, &schema["then"]),
            "items" => list(value).all(|item| is_valid(item, rule)),
            "required" => list(rule).all(|name| value.get(name.as_str().unwrap()).is_some()),
            "properties" => rule
                .as_object()
                .unwrap()
                .iter()
                .all(|(name, rule)| value.get(name).is_none_or(|value| is_valid(value, rule))),
            "additionalProperties" => {
                let known = &schema["properties"];
                value.as_object().into_iter().flatten().all(|(name, _)| known.get(name).is_some())
            }
            other => panic!("{other}"),
        })
    }

    /// Returns false for the schema of numbers given as text.
    fn is_text_free(schema: &Value) -> bool {
        !(schema["type"] == "string" && schema.get("pattern").is_some())
    }

    /// Returns the words, numbers at the ends of ranges, and values of other types.
    fn values(words: &[&str]) -> Vec<Value> {
        let mut values: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
        let numbers =
            [-f64::MAX, -1.0, 0.0, 5e-324, 1e-160, 1e-120, 0.5, 1.0, 1.5, 8.0, 100.0, 101.0, 1e9, 2e9, 1e160, f64::MAX];
        values.extend(numbers.map(Value::from));
        values.extend([json!(8), json!(50), json!(u64::MAX), json!(true), json!(false), json!(null), json!([0.5])]);
        values.extend([json!({}), json!("other")]);
        values
    }

    /// Compares the schema with the service. `draw` returns `None` for options to skip.
    fn compare(mut draw: impl FnMut(&mut Random) -> Option<Value>) {
        let (schema, mut random, mut counts) = (schema(&[]), Random::seeded(1), [0, 0]);
        for i in 0..3000 {
            let Some(given) = draw(&mut random) else { continue };
            let outcome = StreamOptions::new(&given);
            counts[usize::from(outcome.is_ok())] += 1;
            let reason = outcome.as_ref().map_or_else(|problem| problem.detail.as_str(), |_| "accepted");
            assert_eq!(is_valid(&given, &schema), outcome.is_ok(), "case {i}: {given}: {reason}");
        }
        assert!(counts.iter().all(|count| *count > 300), "{counts:?}");
    }

    #[test]
    fn the_schema_accepts_exactly_the_models_that_the_service_accepts() {
        compare(|random| {
            let k = [json!(1), json!(2), json!(3.0)][random.below(3)].clone();
            let mut given = json!({ "k": k });
            let learner = names_of("learner")[random.below(names_of("learner").len())];
            let kind: Kind = learner.parse().unwrap();
            if random.below(4) > 0 {
                given["learner"] = learner.into();
            }
            for _ in 0..random.below(4) {
                let option = &OPTIONS[1 + random.below(OPTIONS.len() - 1)];
                let values = values(&words(option));
                let value = &values[random.below(values.len())];
                // Most options have an effect, so that many requests are accepted.
                if random.below(8) == 0 || option.is_read_by(kind) {
                    given[spelling(option.name)] = value.clone();
                }
            }
            // A schema cannot compare numbers.
            let number = |name: &str| given.get(name).and_then(Value::as_f64);
            let k = number("k").unwrap();
            let is_below = |name: &str, least: f64| number(name).is_some_and(|number| number < least);
            let is_compared = is_below("feature_dim", k + 1.0) || is_below("max_rank", k) || is_below("budget", k);
            (!is_compared).then_some(given)
        });
    }

    #[test]
    fn the_schema_accepts_exactly_the_monitors_that_the_service_accepts() {
        let words = ["auto", "on", "off", "adapt", "never", "none", "true", "fail", "skip", "fill"];
        compare(|random| {
            let mut given = json!({ "kind": "monitor" });
            for _ in 0..random.below(3) {
                let name = MONITOR_OPTIONS[random.below(MONITOR_OPTIONS.len())].name;
                let values = values(&words);
                given[spelling(name)] = values[random.below(values.len())].clone();
            }
            let number = |name: &str| given.get(name).and_then(Value::as_f64).unwrap_or(0.0);
            let is_compared = (1.0..120.0).contains(&number("warm_up")) || number("k") > 3000.0;
            (!is_compared).then_some(given)
        });
    }
}
