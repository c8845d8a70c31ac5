//! Development commands. `cargo xtask help` lists them.

mod api;
mod book;
mod circles;
mod count;
mod dist;
mod layers;
mod processors;
mod python;
mod release;
mod source_tokens;
mod spark;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const HELP: &str = "\
cargo xtask test           run every check; stop at the first that fails
cargo xtask quick          run the checks for everyday work: format, layers, clippy, unit tests
cargo xtask test python    run only the checks of the Python package
cargo xtask test spark     run only the checks of the package on Spark, in a separate environment; needs Java 17
cargo xtask layers         compare imports with the order of modules in ARCHITECTURE.md
cargo xtask api            compare the public Rust interface with its snapshots in xtask/api; --write renews them
cargo xtask saved          add the missing files of the present saved form to crates/eigenhedge/tests/saved
cargo xtask wheel          build the Python wheel into target/wheels
cargo xtask bench doors    measure the time per row of the library and the program, compared with the bare learner; --quick
cargo xtask bench doors python  measure the doors of the Python package
cargo xtask bench calls    measure every command and public Python call, compared with its peers; --quick, --only NAME
cargo xtask bench python   measure the Python package against its limits
cargo xtask bench peers    compare speed and loss with other programs; --quick, --only PART, --threads N, --out FOLDER
cargo xtask bench evidence compare the default learner with tuned trackers; --quick, --only PART, --data FOLDER, --rows FILE, --k K, --out FOLDER
cargo xtask bench missing  measure the cost of missing cells; --data FOLDER, --masks N
cargo xtask bench monitor  compare the monitor with its targets; NAMES, --data FOLDER; `peers` compares it with other detectors
cargo xtask bench serve    measure the throughput and latency of the service; --quick
cargo xtask bench sparse   compare sparse rows with dense ones and with scikit-learn; --quick, --learner NAME, --k K, --out FILE, -- OPTIONS
cargo xtask bench spark    compare the package on Spark with MLlib and the program; --quick, --only PART, --rows N
cargo xtask count          compare the instruction counts of hot paths with bench/instructions.toml; --write updates the file
cargo xtask processors     compare losses and coordinates on processors with other vector instructions, with QEMU; ROWS, TABLES
cargo xtask soak           check every learner after every row of endless changing streams; --rows N, --seed S, --case NAME
cargo xtask soak service   cut requests to the service at random moments, with kills; --requests N, --seed S, --max-memory BYTES
cargo xtask soak memory    send every kind of load to the service and check its resident memory; --seconds N, --seed S
cargo xtask soak saved     save, read and continue random configurations, and compare bit for bit; --cases N, --seed S, --only CASE
cargo xtask fuzz           try hostile files and snapshots; --seconds N or --cases N, --seed S, --only TARGET
cargo xtask dist           build what is published into target/dist: wheel, sources, program, Debian package, checksums
cargo xtask dist try       install what is in target/dist as a user would, and try it; PARTS: wheel, deb, sdist, crates
cargo xtask release        check what a release needs; CHECKS: packages, oldest (compiler), source (distribution), dependencies
cargo xtask options        write the table of options into the book and the Python package
cargo xtask book           check README and book: length, reading ease, spelling, links, names, figures; build the book
cargo xtask pictures       draw the pictures of the book again
cargo xtask man            write the manual pages to target/man
cargo xtask help           print this help";

/// Check that runs cargo: name, arguments, and an optional environment variable.
struct Step {
    name: &'static str,
    arguments: &'static str,
    variable: Option<(&'static str, &'static str)>,
}

const fn step(name: &'static str, arguments: &'static str) -> Step {
    Step { name, arguments, variable: None }
}

/// Checks, from cheap to expensive. Clippy compiles all targets, including benches, without code generation. A release
/// build would take minutes and check nothing more. Tests select the whole workspace, although the Python package has
/// no Rust tests, so that the build of the package reuses the compiled dependencies.
const CHECKS: &[Step] = &[
    step("format", "fmt --all --check"),
    step("clippy", "clippy --workspace --all-targets --locked --features eigenhedge-cli/serve -- -D warnings"),
    Step {
        variable: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..step("documentation", "doc --workspace --no-deps --locked")
    },
    step("features", "check --workspace --no-default-features --locked"),
    step(
        "packages",
        "package --workspace --exclude eigenhedge-python --exclude xtask --no-verify --locked --allow-dirty",
    ),
    step("tests", "test --workspace --locked --features eigenhedge-cli/serve"),
];

/// Number of rows in the soak test, which takes about ten seconds.
const SOAKED: &str = "300000";
/// Number of hostile inputs in the fuzz test, which takes about ten seconds.
const FUZZED: &str = "10000";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => test(),
        ["quick"] => outcome(quick()),
        ["man"] => {
            outcome(run(&mut step("man", "run --package eigenhedge-cli --locked -- man --out target/man").command()))
        }
        ["api"] => outcome(api::compare(&root())),
        ["api", "--write"] => outcome(api::write(&root())),
        ["options"] => {
            let write = step("options", "test --package eigenhedge --test all --locked texts_made_from_the_table");
            outcome(run(&mut Step { variable: Some(("EIGENHEDGE_WRITE", "1")), ..write }.command()))
        }
        ["saved"] => {
            let line = "test --workspace --locked --features eigenhedge-cli/serve --test all saved_files";
            outcome(run(&mut Step { variable: Some(("EIGENHEDGE_WRITE", "1")), ..step("saved", line) }.command()))
        }
        ["pictures"] => outcome(book::pictures(&root())),
        ["book"] => outcome(book::check(&root())),
        ["test", "python"] => outcome(python::test(&root())),
        ["test", "spark"] => outcome(spark::test(&root())),
        ["layers"] => outcome(layers::check(&root())),
        ["wheel"] => outcome(python::wheel(&root())),
        ["bench", "doors", "python", rest @ ..] => outcome(python::measure(&root(), "doors.py", rest)),
        ["bench", "doors", rest @ ..] => outcome(doors(rest)),
        ["bench", "calls", rest @ ..] => outcome(python::calls(&root(), rest)),
        ["bench", "python"] => outcome(python::bench(&root())),
        ["bench", "peers", rest @ ..] => outcome(python::peers(&root(), rest)),
        ["bench", "evidence", rest @ ..] => outcome(python::measure(&root(), "evidence.py", rest)),
        ["bench", "missing", rest @ ..] => outcome(python::measure(&root(), "missing.py", rest)),
        ["bench", "monitor", "peers", rest @ ..] => outcome(python::measure(&root(), "monitor_peers.py", rest)),
        ["bench", "monitor", rest @ ..] => outcome(python::monitor(&root(), rest)),
        ["bench", "serve", rest @ ..] => outcome(python::serve(&root(), rest)),
        ["bench", "sparse", rest @ ..] => outcome(python::sparse(&root(), rest)),
        ["bench", "spark", rest @ ..] => outcome(spark::bench(&root(), rest)),
        ["dist"] => outcome(dist::build(&root())),
        ["dist", "try", rest @ ..] => outcome(dist::try_out(&root(), rest)),
        ["release", rest @ ..] => outcome(release::check(rest)),
        ["count"] => outcome(count::compare(&root())),
        ["count", "--write"] => outcome(count::write(&root())),
        ["processors", rest @ ..] => outcome(processors::compare(&root(), rest)),
        ["soak", "service", rest @ ..] => {
            outcome(soak_service("cut::", ("--requests", "EIGENHEDGE_CUT_REQUESTS", "1000"), rest))
        }
        ["soak", "memory", rest @ ..] => {
            outcome(soak_service("memory::", ("--seconds", "EIGENHEDGE_SOAK_SECONDS", "600"), rest))
        }
        [program @ ("soak" | "fuzz"), rest @ ..] => outcome(example(program, rest)),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("xtask: no such command\n{HELP}");
            ExitCode::from(2)
        }
    }
}

/// Runs the quick checks, which take about a minute if everything is compiled.
fn quick() -> Result<(), String> {
    const UNIT_TESTS: &str = "test --workspace --lib --bins --locked --features eigenhedge-cli/serve";
    layers::check(&root())?;
    let steps = CHECKS.iter().filter(|step| ["format", "clippy"].contains(&step.name));
    steps.chain([&step("unit tests", UNIT_TESTS)]).try_for_each(|step| run(&mut step.command()))
}

fn test() -> ExitCode {
    let start = Instant::now();
    let mut times = String::new();
    let mut timed = |name: &str, work: &dyn Fn() -> Result<(), String>| {
        println!("== {name}");
        let began = Instant::now();
        work().map_err(|reason| format!("{name}: {reason}"))?;
        let seconds = began.elapsed().as_secs_f64();
        println!("== {name}: passed in {seconds:.1} s\n");
        times += &format!("   {name:<14} {seconds:>7.1} s\n");
        Ok(())
    };
    // Python packages are downloaded during compilation. The step that needs them reports errors.
    let environments = std::thread::spawn(|| (python::environment(&root()), spark::environment(&root())));
    let layers = timed("layers", &|| layers::check(&root())).and_then(|()| timed("book", &|| book::check(&root())));
    let checks =
        layers.and_then(|()| CHECKS.iter().try_for_each(|step| timed(step.name, &|| run(&mut step.command()))));
    // These steps come last, because they use the programs built by the tests.
    let result = checks
        .and_then(|()| timed("instructions", &|| count::compare(&root())))
        .and_then(|()| timed("soak", &|| example("soak", &["--rows", SOAKED])))
        .and_then(|()| timed("fuzz", &|| example("fuzz", &["--cases", FUZZED])))
        .and_then(|()| {
            drop(environments.join());
            timed("wheel", &|| python::prepare(&root()))
        })
        // Both run in parallel, because neither keeps two cores busy.
        .and_then(|()| timed("python, spark", &|| spark::test_beside(&root(), || python::check(&root()))));
    if result.is_ok() {
        println!("== every check passed in {:.1} s\n{times}", start.elapsed().as_secs_f64());
    }
    outcome(result)
}

/// Runs a test of the service for longer. `size` is an option with its variable and default. `--seed S` and the
/// `--max-memory BYTES` of the cut requests are the other options.
fn soak_service(test: &str, size: (&str, &str, &str), arguments: &[&str]) -> Result<(), String> {
    let mut command =
        step("soak service", "test --workspace --locked --features eigenhedge-cli/serve --test service").command();
    command.args([test, "--", "--nocapture", "--test-threads=1"]).env(size.1, size.2);
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if *name == size.0 => command.env(size.1, value),
            ["--seed", seed] => command.env("EIGENHEDGE_SEED", seed),
            ["--max-memory", bytes] => command.env("EIGENHEDGE_CUT_MEMORY", bytes),
            other => {
                return Err(format!("the soak takes {} N, --seed S and --max-memory BYTES, got {other:?}", size.0));
            }
        };
    }
    run(&mut command)
}

/// Builds and runs an example that performs checks.
fn example(name: &str, arguments: &[&str]) -> Result<(), String> {
    let programs = count::build(&root(), &[name])?;
    programs.iter().try_for_each(|program| run(Command::new(program).args(arguments).current_dir(root())))
}

/// Measures the time per row of the library and of the program, with a release build.
fn doors(arguments: &[&str]) -> Result<(), String> {
    let mut cargo = Command::new(env!("CARGO"));
    run(cargo
        .args(["bench", "--locked", "--package", "eigenhedge-cli", "--bench", "doors", "--"])
        .args(arguments)
        .current_dir(root()))
}

fn outcome(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("== FAILED ({reason})");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

impl Step {
    fn command(&self) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(self.arguments.split(' ')).current_dir(root()).envs(self.variable);
        command
    }
}

/// Prints a command line and runs the command.
fn run(command: &mut Command) -> Result<(), String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    println!("$ {}", line.join(" "));
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("{} could not be started: {error}", line[0])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that every test file is listed in `tests/main.rs`. Cargo does not search for tests there, so an
    /// unlisted file would never run.
    #[test]
    fn every_file_of_tests_is_part_of_a_program() {
        let crates = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
        let listing: Vec<PathBuf> = crates.filter(|path| path.join("tests/main.rs").is_file()).collect();
        assert_eq!(listing.len(), 3, "{listing:?}");
        for path in listing {
            let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
            let (program, manifest) = (read("tests/main.rs"), read("Cargo.toml"));
            for entry in std::fs::read_dir(path.join("tests")).unwrap().map(|entry| entry.unwrap().path()) {
                let name = entry.file_stem().unwrap().to_string_lossy().into_owned();
                let listed =
                    program.contains(&format!("mod {name};")) || manifest.contains(&format!("name = \"{name}\""));
                assert!(listed || name == "main" || !entry.is_file(), "{} is never run", entry.display());
            }
        }
    }
}
