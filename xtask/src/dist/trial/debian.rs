//! Trial of the Debian package: it is installed by apt, used and removed.

use crate::files::{output, read, with_ending};
use crate::{python, run};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PROGRAM: &str = "/usr/bin/eigenhedge";

/// Installs the package, runs the program as a user would, and removes the package. Without root or apt-get, the trial
/// is skipped.
pub fn install(root: &Path) -> Result<String, String> {
    let package = with_ending(&root.join("target/dist"), ".deb")?;
    if output(Command::new("id").arg("-u"))?.trim() != "0" || Command::new("apt-get").arg("--version").output().is_err()
    {
        return Ok("   deb: skipped, needs root and apt-get\n".to_owned());
    }
    if Path::new(PROGRAM).exists() {
        return Err(format!(
            "{PROGRAM} exists: another package is installed; remove it with `apt-get remove eigenhedge`"
        ));
    }
    let apt = |words: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.args(["-qq", "-y"]).args(words).env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    run(apt(&["install", "--no-install-recommends"]).arg(&package))?;
    let outcome = use_program();
    run(&mut apt(&["purge", "eigenhedge"]))?;
    let report = outcome?;
    if Path::new(PROGRAM).exists() || Path::new("/usr/share/doc/eigenhedge").exists() {
        return Err("files are left after the removal".to_owned());
    }
    Ok(report + "   deb, removed: nothing is left\n")
}

/// Runs commands of the installed program in a temporary folder. Returns a report.
fn use_program() -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("eigenhedge-deb-{}", std::process::id()));
    python::empty(&folder)?;
    let run_in = |line: &str| output(Command::new(PROGRAM).args(line.split(' ')).current_dir(&folder));
    let version = run_in("--version")?;
    let mut report = format!("   deb, --version: {}", version);
    let demo = run_in("demo --draws 2 --no-report")?;
    report += &format!("   deb, demo: {} lines\n", demo.lines().count());
    run_in("make faults --rows 3000 --out sensors.csv")?;
    run_in("monitor sensors.csv --warm-up 400 --out alarms.csv --report page.html --quiet")?;
    let alarms = read(&folder.join("alarms.csv"))?;
    report += &format!("   deb, monitor: {} answers\n", alarms.lines().count() - 1);
    run_in("run sensors.csv -k 2 --live 0 --live-exit --quiet")?;
    report += "   deb, run --live: passed\n";
    report += &serve(&folder)?;
    for file in ["man/man1/eigenhedge.1.gz", "bash-completion/completions/eigenhedge"] {
        let path = Path::new("/usr/share").join(file);
        if !path.is_file() {
            return Err(format!("{} is missing", path.display()));
        }
    }
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(report)
}

/// Starts the service, checks that it is ready, and stops it.
fn serve(folder: &Path) -> Result<String, String> {
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "store"]).current_dir(folder);
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(|error| format!("serve: {error}"))?;
    let answer = ask(&mut child);
    // This sends SIGTERM, which ends the service cleanly.
    run(Command::new("kill").arg(child.id().to_string()))?;
    let status = child.wait().map_err(|error| format!("serve: {error}"))?;
    Ok(format!("   deb, serve: {}, ended with {status}\n", answer?.trim()))
}

/// Requests `/ready` from the service. Returns the response.
fn ask(child: &mut Child) -> Result<String, String> {
    let lines = BufReader::new(child.stderr.take().ok_or("serve: no output")?).lines();
    let address = lines.map_while(Result::ok).find_map(|line| line.find("http://").map(|at| line[at..].to_owned()));
    let address = address.ok_or("serve: prints no address")?;
    output(Command::new("curl").args(["--fail", "--silent", &format!("{}/ready", address.trim_end_matches('/'))]))
}
