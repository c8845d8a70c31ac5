//! Development commands. `cargo xtask help` lists them.

mod book;
mod count;
mod dist;
mod files;
mod processors;
mod python;
mod release;
mod spark;
mod targets;
mod web;

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
cargo xtask web            build target/web: eigenhedge.html, and the package for JavaScript; needs a compiler for WebAssembly
cargo xtask test web       compare the page with the program in a browser; needs node and chromium; PROGRAM
cargo xtask test windows   build the program for Windows and try it with wine; needs a cross compiler
cargo xtask wheel          build the Python wheel into target/wheels
cargo xtask bench doors    measure the time per row of the library and the program, compared with the bare learner; --quick
cargo xtask bench doors python  measure the doors of the Python package
cargo xtask bench calls    measure every command and public Python call, compared with its peers; --quick, --only NAME
cargo xtask bench python   measure the Python package against its limits
cargo xtask bench peers    compare speed and loss with other programs; --quick, --only PART, --threads N, --out FOLDER
cargo xtask bench evidence compare the default learner with tuned trackers; --quick, --only PART, --data FOLDER, --rows FILE, --k K, --out FOLDER
cargo xtask bench imputation  measure the errors of filled cells; --data FOLDER, --only NAME ...
cargo xtask bench missing  measure the cost of missing cells; --data FOLDER, --masks N
cargo xtask bench monitor  compare the monitor with its targets; NAMES, --data FOLDER; `peers` compares it with other detectors
cargo xtask bench serve    measure the throughput and latency of the service; --quick
cargo xtask bench sparse   compare sparse rows with dense ones and with scikit-learn; --quick, --learner NAME, --k K, --out FILE, -- OPTIONS
cargo xtask bench spark    compare the package on Spark with MLlib and the program; --quick, --only PART, --rows N
cargo xtask count          compare the instruction counts of hot paths with bench/instructions.json; --write updates the file
cargo xtask processors     compare losses and coordinates on processors with other vector instructions, with QEMU; ROWS, TABLES
cargo xtask soak           check every learner after every row of endless changing streams; --rows N, --seed S, --case NAME
cargo xtask soak service   cut requests to the service at random moments, with kills; --requests N, --seed S, --max-memory BYTES
cargo xtask soak memory    send every kind of load to the service and check its resident memory; --seconds N, --seed S
cargo xtask soak saved     save, read and continue random configurations, and compare bit for bit; --cases N, --seed S, --only CASE
cargo xtask fuzz           try hostile files and snapshots; --seconds N or --cases N, --seed S, --only TARGET
cargo xtask dist           build what is published into target/dist: wheel, sources, program, Debian package, page, checksums
cargo xtask dist try       install what is in target/dist as a user would, and try it; PARTS: wheel, deb, windows
cargo xtask release        check what a release needs; CHECKS: packages, oldest (compiler), source (distribution), dependencies
cargo xtask options        write the table of options into the book and the Python package
cargo xtask book           check README and book: length, reading ease, spelling, links, names, figures; build the book
cargo xtask pictures       draw the pictures of the book again
cargo xtask man            write the manual pages to target/man
cargo xtask help           print this help";

/// Builds the documentation, from which `xtask/api.py` reads the public interface.
const DOCUMENTATION: &str = "doc --workspace --no-deps --locked";

/// Names and cargo arguments of checks, from cheap to expensive. The tests include the Python package, which has no
/// Rust tests, so that its build can reuse the compiled dependencies.
const CHECKS: [(&str, &str); 6] = [
    ("format", "fmt --all --check"),
    ("clippy", "clippy --workspace --all-targets --locked -- -D warnings"),
    ("documentation", DOCUMENTATION),
    ("features", "check --workspace --no-default-features --locked"),
    ("packages", "package --workspace --exclude eigenhedge-python --exclude xtask --no-verify --locked --allow-dirty"),
    ("tests", "test --workspace --locked"),
];

/// Ten seconds of the soak test.
const SOAKED: &str = "300000";
/// Ten seconds of the fuzz test.
const FUZZED: &str = "10000";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command(&root(), &arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(reason)) => {
            eprintln!("== FAILED ({reason})");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("xtask: no such command\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn command(root: &Path, words: &[&str]) -> Option<Result<(), String>> {
    Some(match words {
        ["test"] => test(root),
        ["quick"] => quick(root),
        ["man"] => run(&mut cargo("run --package eigenhedge-cli --locked -- man --out target/man")),
        ["api"] => run(&mut cargo(DOCUMENTATION)).and_then(|()| script(root, "xtask/api.py", &[])),
        ["api", "--write"] => run(&mut cargo(DOCUMENTATION)).and_then(|()| script(root, "xtask/api.py", &["--write"])),
        ["options"] => writing("test --package eigenhedge --test all --locked texts_made_from_the_table"),
        ["saved"] => writing("test --workspace --locked --test all saved_files"),
        ["pictures"] => book::pictures(root),
        ["book"] => book::check(root),
        ["test", "python"] => python::test(root),
        ["test", "spark"] => spark::test(root),
        ["test", "windows"] => dist::test_windows(root),
        ["web"] => web::build(root).map(drop),
        ["test", "web", rest @ ..] => web::test(root, rest.first().copied()),
        ["layers"] => script(root, "xtask/layers.py", &[]),
        ["wheel"] => python::wheel(root),
        ["bench", "doors", "python", rest @ ..] => python::measure(root, "bench/doors.py", rest),
        ["bench", "doors", rest @ ..] => {
            run(cargo("bench --locked --package eigenhedge-cli --bench doors --").args(rest))
        }
        ["bench", "calls", rest @ ..] => python::calls(root, rest),
        ["bench", "python"] => python::measure(root, "python/benches/ratios.py", &[]),
        ["bench", "peers", rest @ ..] => python::peers(root, rest),
        ["bench", "monitor", "peers", rest @ ..] => python::measure(root, "bench/monitor_peers.py", rest),
        ["bench", "spark", rest @ ..] => spark::bench(root, rest),
        ["bench", name @ ("evidence" | "imputation" | "missing"), rest @ ..] => {
            python::measure(root, &format!("bench/{name}.py"), rest)
        }
        ["bench", name @ ("monitor" | "serve" | "sparse"), rest @ ..] => {
            python::measure_program(root, &format!("bench/{name}.py"), rest)
        }
        ["dist"] => dist::build(root),
        ["dist", "try", rest @ ..] => dist::try_out(root, rest),
        ["release", rest @ ..] => release::check(rest),
        ["count"] => count::compare(root),
        ["count", "--write"] => count::write(root),
        ["processors", rest @ ..] => processors::compare(root, rest),
        ["soak", "service", rest @ ..] => {
            soak_service("cut::", ("--requests", "EIGENHEDGE_CUT_REQUESTS", "1000"), rest)
        }
        ["soak", "memory", rest @ ..] => {
            soak_service("memory::", ("--seconds", "EIGENHEDGE_SOAK_SECONDS", "600"), rest)
        }
        [program @ ("soak" | "fuzz"), rest @ ..] => example(program, rest),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        _ => return None,
    })
}

fn cargo(arguments: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments.split(' ')).current_dir(root());
    command.envs((arguments == DOCUMENTATION).then_some(("RUSTDOCFLAGS", "-D warnings")));
    command
}

/// Runs a check that compares texts. It is written in Python and needs only the standard library.
fn script(root: &Path, path: &str, arguments: &[&str]) -> Result<(), String> {
    run(Command::new("python3").arg("-B").arg(root.join(path)).args(arguments))
}

fn writing(arguments: &str) -> Result<(), String> {
    run(cargo(arguments).env("EIGENHEDGE_WRITE", "1"))
}

fn quick(root: &Path) -> Result<(), String> {
    const UNIT_TESTS: &str = "test --workspace --lib --bins --locked";
    script(root, "xtask/layers.py", &[])?;
    [CHECKS[0].1, CHECKS[1].1, UNIT_TESTS].iter().try_for_each(|line| run(&mut cargo(line)))
}

fn test(root: &Path) -> Result<(), String> {
    let start = Instant::now();
    let mut times = String::new();
    let mut timed = |name: &str, work: &dyn Fn() -> Result<(), String>| {
        println!("== {name}");
        let began = Instant::now();
        work().map_err(|reason| format!("{name}: {reason}"))?;
        let seconds = began.elapsed().as_secs_f64();
        println!("== {name}: passed in {seconds:.1} s\n");
        times += &format!("   {name:<14} {seconds:>7.1} s\n");
        Ok::<(), String>(())
    };
    // Python packages are downloaded during compilation. The steps that need them report errors.
    let folder = root.to_owned();
    let environments = std::thread::spawn(move || (python::environment(&folder), spark::environment(&folder)));
    timed("layers", &|| script(root, "xtask/layers.py", &[]))?;
    timed("book", &|| book::check(root))?;
    CHECKS.iter().try_for_each(|(name, line)| timed(name, &|| run(&mut cargo(line))))?;
    timed("interface", &|| script(root, "xtask/api.py", &[]))?;
    // These steps come last, because they use the programs built by the tests.
    timed("instructions", &|| count::compare(root))?;
    timed("soak", &|| example("soak", &["--rows", SOAKED]))?;
    timed("fuzz", &|| example("fuzz", &["--cases", FUZZED]))?;
    drop(environments.join());
    timed("wheel", &|| python::prepare(root))?;
    // The Python tests and the Spark tests run in parallel, because neither keeps two cores busy.
    timed("python, spark", &|| spark::test_beside(root, || python::check(root)))?;
    println!("== every check passed in {:.1} s\n{times}", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs a soak test of the service. `size` contains the option for its length, the environment variable that passes the
/// length to the test, and the default length.
fn soak_service(test: &str, size: (&str, &str, &str), arguments: &[&str]) -> Result<(), String> {
    let mut command = cargo("test --workspace --locked --test service");
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

fn example(name: &str, arguments: &[&str]) -> Result<(), String> {
    let programs = count::build(&root(), &[name])?;
    programs.iter().try_for_each(|program| run(Command::new(program).args(arguments).current_dir(root())))
}

fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

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

    /// Checks that every test file is listed in `tests/main.rs` or in the manifest. Cargo does not
    /// find test files automatically in these crates, so an unlisted file would never run.
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
