//! Laws of the table of options and of the texts generated from it.
#![allow(clippy::unwrap_used)]

use eigenhedge::options::{Misuse, OPTIONS, OptionEntry, Options, Readers, Type, Value, fill};
use eigenhedge::registry::REGISTRY;
use eigenhedge::{AnyLearner, Kind, Spec};
use std::fmt::Write;
use std::path::Path;

fn plain(name: &str) -> String {
    name.to_owned()
}

fn typed(text: &str) -> Vec<(&'static str, Value)> {
    let mut given = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let option = OptionEntry::find(word.trim_start_matches("--")).unwrap_or_else(|| panic!("{word} in {text}"));
        let value = if matches!(option.values, Type::Flag) { "true" } else { words.next().unwrap() };
        given.push((option.name, option.values.parse(value).unwrap_or_else(|| panic!("{value} in {text}"))));
    }
    given
}

fn example(option: &OptionEntry) -> Value {
    let given = typed(option.example).into_iter().find(|(name, _)| *name == option.name);
    given.unwrap_or_else(|| panic!("no {} in its example", option.name)).1
}

fn options(given: &[(&'static str, Value)]) -> Options {
    given.iter().fold(Options::new(Kind::Auto, 1), |options, (name, value)| options.with(name, value.clone()))
}

#[test]
fn every_learner_has_defaults_that_build() {
    for entry in REGISTRY {
        let setup = Options::new(entry.kind, 1).resolve(plain).unwrap().for_rows(5).unwrap();
        assert!(AnyLearner::new(&setup.spec, 5).is_ok(), "{}", entry.name);
        // The library's defaults equal those of the command line.
        assert_eq!(setup.spec, Spec::new(entry.kind, 1), "{}", entry.name);
    }
}

#[test]
fn the_example_of_every_option_sets_it_and_changes_the_setup() {
    for option in OPTIONS {
        let mut given = typed(option.example);
        let setup = options(&given).resolve(plain).unwrap_or_else(|misuse| panic!("{}: {misuse}", option.name));
        let setup = setup.for_rows(5).unwrap();
        assert_eq!((option.get)(&setup), Some(example(option)), "{}", option.name);
        AnyLearner::new(&setup.spec, 5).unwrap_or_else(|error| panic!("{}: {error}", option.name));
        given.retain(|(name, _)| *name != option.name);
        let without = options(&given).resolve(plain).unwrap().for_rows(5).unwrap();
        assert_ne!((option.get)(&without), (option.get)(&setup), "{}", option.name);
    }
}

#[test]
fn every_word_that_an_option_accepts_is_set_and_comes_back() {
    for option in OPTIONS {
        let choices = match option.values {
            Type::Choice(list) => {
                list().iter().filter(|choice| choice.number.is_none()).map(|choice| choice.name).collect()
            }
            _ => Vec::new(),
        };
        for word in choices.into_iter().chain(option.values.word()) {
            let mut given = typed(option.example);
            given.retain(|(name, _)| *name != option.name);
            given.push((option.name, word.into()));
            let setup = options(&given).resolve(plain).unwrap().for_rows(5).unwrap();
            assert_eq!((option.get)(&setup), Some(word.into()), "{} {word}", option.name);
        }
    }
}

#[test]
fn an_initial_center_of_any_length_is_tried_out() {
    for (kept, list) in [(1, "0.5"), (2, "0.5"), (2, "1,2,3,4"), (4, "1,2,3,4"), (3, "1,2")] {
        for learner in [Kind::Auto, Kind::Tracking] {
            let given = typed(&format!("--center-prior 10 --start-center {list}"));
            let none = Options::new(learner, kept);
            let options = given.iter().fold(none, |options, (name, value)| options.with(name, value.clone()));
            AnyLearner::try_out(&options.resolve(plain).unwrap()).unwrap();
        }
    }
}

#[test]
fn an_option_is_refused_by_exactly_the_learners_that_do_not_read_it() {
    for (option, entry) in OPTIONS.iter().flat_map(|option| REGISTRY.iter().map(move |entry| (option, entry))) {
        let value = example(option);
        let alone = Options::new(entry.kind, 1).with(option.name, value.clone()).resolve(plain);
        let refused = format!("{} has no effect with the learner {}", option.name, entry.name);
        let is_refused = alone == Err(Misuse(refused));
        let is_neutral = option.neutral == Some(&value.to_string());
        let is_other = option.name == "learner";
        assert_eq!(
            is_refused,
            !is_other && !is_neutral && !entry.kind.reads(option.name),
            "{} {}",
            option.name,
            entry.name
        );
    }
}

#[test]
fn values_are_printed_as_they_are_read() {
    for option in OPTIONS {
        let value = example(option);
        assert_eq!(option.values.parse(&value.to_string()), Some(value.clone()), "{}", option.name);
        assert!(option.values.accepts(&value), "{}", option.name);
        let words = option.values.word().into_iter().chain(option.neutral);
        assert!(words.clone().all(|word| option.values.parse(word).is_some()), "{}", option.name);
        for wrong in ["", "wrong", "-"] {
            assert_eq!(option.values.parse(wrong), None, "{}", option.name);
        }
    }
}

#[test]
fn texts_name_options_of_the_table() {
    for option in OPTIONS {
        assert!(!fill(option.help, plain).contains('{'), "{}", option.help);
        assert!(!option.help.is_empty() && !option.help.ends_with('.'), "{}", option.help);
    }
}

#[test]
fn misuse_is_one_sentence() {
    let cases = [
        ("--learner tracking --eta -1", "eta must be positive and finite, got -1"),
        ("--learner oja --eta auto", "eta auto is not for the learner oja"),
        ("--learner tracking --eta 2 --norm-bound 3 --ceiling 4", "ceiling has an effect only with eta auto"),
        ("--learner anchored --ceiling 4", "ceiling needs a norm-bound"),
        ("--learner tracking --mixing past-average --merge 0.1", "merge has an effect only with mixing fixed-share"),
        ("--center forget:1.5", "center must be forget:F with F at least 0 and less than 1, got 1.5"),
        ("--learner gha --as-printed", "as-printed has no effect with the learner gha"),
        ("--clip 0", "clip must be positive and finite, got 0"),
        ("--gamma 2", "gamma needs a kernel"),
        ("--start-center 1,2", "start-center needs a center-prior, the number of rows that it counts for"),
        ("--kernel rbf --degree 2", "degree has no effect with the kernel rbf"),
        ("--kernel rbf --budget 0", "budget must be at least 1, got 0"),
    ];
    for (text, sentence) in cases {
        assert_eq!(options(&typed(text)).resolve(plain), Err(Misuse(sentence.into())), "{text}");
    }
    let odd = Options::new(Kind::Auto, 1).with("select", 3.0).resolve(plain).unwrap_err();
    assert_eq!(odd.to_string(), "select must be one of systematic, corners, top, got 3");
    let unknown = Options::new(Kind::Auto, 1).with("etta", 3.0).resolve(plain).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no option etta");
}

fn book() -> String {
    let mut text = String::from("| option | default | read by | meaning | example |\n|---|---|---|---|---|\n");
    for option in OPTIONS {
        let name = format!("--{} {}", option.name, option.placeholder).trim_end().replace('|', "\\|");
        let readers = match option.readers {
            Readers::All => "all".to_owned(),
            Readers::Features => "all, with a kernel".to_owned(),
            Readers::AllBut(others) => format!("all but {}", names(others)),
            Readers::Only(readers) => names(readers),
        };
        let rule = option.values.rule().map_or(String::new(), |rule| format!("; {rule}"));
        let choices = match option.values {
            Type::Choice(list) if list().len() < 5 => {
                format!(": {}", list().iter().map(|choice| choice.shown()).collect::<Vec<_>>().join(", "))
            }
            _ => String::new(),
        };
        let help = fill(option.help, |name| format!("`--{name}`"));
        let (default, example) = (option.default, option.example);
        writeln!(text, "| `{name}` | {default} | {readers} | {help}{choices}{rule} | `{example}` |").unwrap();
    }
    text
}

/// Generates the types of Python's keyword arguments: the names of learners and kernels, and
/// options grouped by signature. A signature cannot name an option that is part of its group.
fn python() -> String {
    let mut text = String::new();
    for (alias, option) in [("LearnerName", "learner"), ("KernelName", "kernel")] {
        let words: String = words(option).iter().map(|word| format!("    \"{word}\",\n")).collect();
        writeln!(text, "{alias}: TypeAlias = Literal[\n{words}]").unwrap();
    }
    let groups: [(&str, &str, &str, &[&str]); 6] = [
        (
            "SharedOptions",
            "TypedDict, total=False",
            "Options of models and estimators. None means the default of an option.",
            &[],
        ),
        ("KernelParameters", "TypedDict, total=False", "Parameters of kernels, except gamma.", &KERNEL_PARAMETERS),
        ("FeatureOptions", "SharedOptions, KernelParameters, total=False", "Options of kernel PCA.", &["budget"]),
        ("PlainOptions", "SharedOptions, total=False", "Options of online PCA without a kernel.", &["segments"]),
        ("StreamOptions", "FeatureOptions, total=False", "Options for River.", &["kernel", "gamma", "segments"]),
        ("Options", "StreamOptions, total=False", "All options.", &["learner", "seed"]),
    ];
    let is_shared = |name: &str| groups.iter().all(|group| !group.3.contains(&name));
    for (group, bases, summary, members) in groups {
        write!(text, "\n\nclass {group}({bases}):\n    \"\"\"{summary}\"\"\"\n\n").unwrap();
        for option in OPTIONS {
            let is_member = if members.is_empty() { is_shared(option.name) } else { members.contains(&option.name) };
            if is_member {
                writeln!(text, "    {}: {} | None", option.name.replace('-', "_"), python_type(option)).unwrap();
            }
        }
    }
    text + "\n\n"
}

const KERNEL_PARAMETERS: [&str; 5] = ["degree", "coef0", "length-scale", "items", "substring"];

/// Returns the words that an option accepts, including aliases.
fn words(option: &str) -> Vec<&'static str> {
    match OptionEntry::find(option).map(|option| option.values) {
        Some(Type::Choice(list)) => {
            list().iter().flat_map(|choice| [Some(choice.name), choice.alias]).flatten().collect()
        }
        _ => Vec::new(),
    }
}

fn python_type(option: &OptionEntry) -> String {
    let kind = match option.values {
        Type::Number(..) => "float".to_owned(),
        Type::Count(..) => "int".to_owned(),
        Type::Flag => "bool".to_owned(),
        Type::Text(..) => "str".to_owned(),
        Type::Numbers => "ArrayLike".to_owned(),
        Type::Choice(_) if option.name == "learner" => "LearnerName".to_owned(),
        Type::Choice(_) if option.name == "kernel" => "KernelName | Callable[[Any, Any], float]".to_owned(),
        // Words that take a number after a colon have no separate type.
        Type::Choice(list) if list().iter().any(|choice| choice.number.is_some()) => "str | bool".to_owned(),
        Type::Choice(_) => format!("Literal[\"{}\"]", words(option.name).join("\", \"")),
    };
    kind + &option.values.word().map_or(String::new(), |word| format!(" | Literal[\"{word}\"]"))
}

fn names(learners: &[Kind]) -> String {
    learners.iter().map(|learner| learner.entry().name).collect::<Vec<_>>().join(", ")
}

/// With EIGENHEDGE_WRITE (`cargo xtask options`), this test writes the texts instead.
#[test]
fn texts_made_from_the_table_are_up_to_date() {
    let files = [
        ("docs/src/options.md", "<!-- begin of options -->\n", "<!-- end of options -->", book()),
        ("python/eigenhedge/_option_types.py", "`cargo xtask options` writes them\n", "# end of options", python()),
    ];
    for (file, begin, end, wanted) in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        // A package outside the repository has no book.
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{file} has no {begin}"));
        let (found, after) = rest.split_once(end).unwrap_or_else(|| panic!("{file} has no {end}"));
        if std::env::var_os("EIGENHEDGE_WRITE").is_some() {
            std::fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
        } else {
            assert_eq!(found, wanted, "{file} is stale: run `cargo xtask options`");
        }
    }
}
