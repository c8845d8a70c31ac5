//! Trial of the program: tables, pages, a run that is killed and resumed, and the service.

use crate::files::{output, read};
use crate::{python, run};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time after which a run must have written its first snapshot.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs commands of the program in a temporary folder whose name has a space and an umlaut. Returns a report.
pub fn try_program(name: &str, start: &dyn Fn() -> Command) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("eigenhedge {name} für {}", std::process::id()));
    python::empty(&folder)?;
    let run_in = |line: &str| output(start().args(line.split(' ')).current_dir(&folder));
    let version = run_in("--version")?;
    let mut report = format!("   {name}, --version: {}\n", version.trim());
    let demo = run_in("demo --draws 2 --no-report")?;
    report += &format!("   {name}, demo: {} lines\n", demo.lines().count());
    run_in("make faults --rows 3000 --out Meßwerte.csv")?;
    run_in("monitor Meßwerte.csv --warm-up 400 --out alarms.csv --report page.html --quiet")?;
    let alarms = read(&folder.join("alarms.csv"))?;
    report += &format!("   {name}, monitor: {} answers\n", alarms.lines().count() - 1);
    run_in("run Meßwerte.csv -k 2 --live 0 --live-exit --quiet")?;
    report += &format!("   {name}, run --live: passed\n");
    resume(&folder, start)?;
    report += &format!("   {name}, run killed and resumed: passed\n");
    report += &format!("   {name}, serve: {}\n", serve(&folder, start)?);
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(report)
}

fn resume(folder: &Path, start: &dyn Fn() -> Command) -> Result<(), String> {
    const SAVE: &str = "run long.csv -k 2 --quiet --out part.csv --snapshot run.eh --snapshot-every 500";
    let command = |line: &str| {
        let mut command = start();
        command.args(line.split(' ')).current_dir(folder);
        command
    };
    output(&mut command("make faults --rows 60000 --out long.csv"))?;
    output(&mut command("run long.csv -k 2 --quiet --out whole.csv"))?;
    let mut child = command(SAVE).spawn().map_err(|error| format!("run: {error}"))?;
    let began = Instant::now();
    while !folder.join("run.eh").exists() && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(2));
    }
    let ended = child.try_wait().map_err(|error| error.to_string())?;
    child.kill().and_then(|()| child.wait()).map_err(|error| format!("run: {error}"))?;
    if let Some(status) = ended {
        return Err(format!("run: ended with {status} before it was killed"));
    }
    output(&mut command(&format!("{SAVE} --resume run.eh")))?;
    let [whole, part] = ["whole.csv", "part.csv"].map(|name| read(&folder.join(name)));
    if whole? == part? { Ok(()) } else { Err("run: the results differ after a kill and --resume".to_owned()) }
}

fn serve(folder: &Path, start: &dyn Fn() -> Command) -> Result<String, String> {
    let mut command = start();
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "store"]).current_dir(folder);
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| format!("serve: {error}"))?;
    let answer = ask(&mut child, folder);
    run(Command::new("kill").arg(child.id().to_string()))?;
    let status = child.wait().map_err(|error| format!("serve: {error}"))?;
    Ok(format!("{}, ended with {status}", answer?))
}

fn ask(child: &mut Child, folder: &Path) -> Result<String, String> {
    let lines = BufReader::new(child.stderr.take().ok_or("serve: no output")?).lines();
    let address = lines.map_while(Result::ok).find_map(|line| line.find("http://").map(|at| line[at..].to_owned()));
    let address = address.ok_or("serve: prints no address")?;
    let ask = |path: &str, words: &[&str]| {
        let address = format!("{}{path}", address.trim_end_matches('/'));
        output(Command::new("curl").args(["--fail", "--silent"]).args(words).arg(address).current_dir(folder))
    };
    let ready = ask("/ready", &[])?;
    ask("/v1/streams/press", &["--request", "PUT", "--data", r#"{"kind": "monitor"}"#])?;
    let rows = ["--header", "Content-Type: text/csv", "--data-binary", "@Meßwerte.csv"];
    let answers = ask("/v1/streams/press/rows", &rows)?;
    Ok(format!("{}, {} bytes of answers to rows", ready.trim(), answers.len()))
}
