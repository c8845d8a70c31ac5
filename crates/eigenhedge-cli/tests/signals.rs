//! A signal ends a run between two rows without loss of data.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table};
use eigenhedge::streams;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn rows() -> Vec<String> {
    table(&streams::switching(6, 2, 2, 60, 3)).lines().map(|line| line.to_owned() + "\n").collect()
}

/// Waits until the process handles SIGTERM. Where this is not visible, waits half a second.
fn wait_for_handler(child: &Child) {
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? >> 14 & 1 == 1)
    };
    for _ in 0..1200 {
        match caught() {
            Some(true) => return,
            Some(false) => sleep(Duration::from_millis(50)),
            None => return sleep(Duration::from_millis(500)),
        }
    }
    panic!("no handler after a minute");
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Sends some rows and half of the next, waits for the results, and sends the signals. Returns the
/// results, the error output and the exit status.
fn stopped(place: &Place, arguments: &str, names: &[&str], sent: usize) -> (String, String, i32) {
    let rows = rows();
    let mut command = place.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut answers = String::new();
    for line in &rows[..=sent] {
        pipe.write_all(line.as_bytes()).unwrap();
    }
    pipe.write_all(&rows[sent + 1].as_bytes()[..3]).unwrap();
    for _ in 0..=sent {
        out.read_line(&mut answers).unwrap();
    }
    names.iter().for_each(|name| signal(&child, name));
    // The pipe stays open, and the program must not wait for its end.
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    out.read_to_string(&mut answers).unwrap();
    drop(pipe);
    (answers, said, status.code().unwrap())
}

#[test]
fn a_waiting_run_saves_and_ends_and_goes_on() {
    let place = Place::new();
    let whole = place.feed("run - -k 2 --out -", rows().concat()).out;
    // `timeout` sends two signals.
    for (names, sent) in [(&["-INT"][..], 30), (&["-TERM"], 1), (&["-HUP"], 12), (&["-TERM", "-TERM"], 25)] {
        let (mut answers, said, status) = stopped(&place, "run - -k 2 --out - --snapshot run.snap", names, sent);
        let rows_text = format!("stopped after {sent} rows");
        assert_eq!(status, 0, "{said}");
        assert!(said.contains(&rows_text) && said.contains("--resume run.snap"), "{said}");
        let resumed = place.feed("run - -k 2 --out - --resume run.snap", rows().concat());
        assert_eq!(resumed.status, 0, "{}", resumed.err);
        answers += &resumed.out;
        assert!(answers == whole, "{names:?}: the answers differ");
    }
}

#[test]
fn without_a_snapshot_a_signal_is_the_end_of_the_table() {
    let place = Place::new();
    let (answers, said, status) = stopped(&place, "run - -k 2 --out -", &["-INT"], 20);
    assert_eq!(status, 0);
    assert!(said.contains("stopped after 20 rows") && said.contains("20 rows of 6 numbers"), "{said}");
    let whole = place.feed("run - -k 2 --out -", rows()[..=20].concat());
    assert_eq!(answers, whole.out);
}

#[test]
fn before_the_first_row_there_is_nothing_to_save() {
    let place = Place::new();
    let mut command = place.command("run - -k 2 --snapshot run.snap");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Only the header is sent. The program handles signals before it reads rows.
    child.stdin.as_mut().unwrap().write_all(rows()[0].as_bytes()).unwrap();
    wait_for_handler(&child);
    signal(&child, "-TERM");
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), "eigenhedge: stopped before the first row\n"));
    assert_eq!(place.files(), Vec::<String>::new());
}
