//! A run that is killed at any time and resumed gives the results of an uninterrupted run.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table};
use eigenhedge::streams;
use serde_json::Value;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Returns the number of kills, which the variable EIGENHEDGE_KILLS can set.
fn kills() -> u64 {
    std::env::var("EIGENHEDGE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

fn summary(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    let object = value.as_object_mut().unwrap();
    assert!(object.remove("seconds").is_some() && object.remove("rows_per_second").is_some());
    value
}

struct Whole {
    out: Vec<u8>,
    page: Vec<u8>,
    plot: Vec<u8>,
    summary: Value,
    took: Duration,
}

const FORMS: [&str; 3] = ["csv", "jsonl", "parquet"];

fn command(form: &str, more: &str) -> String {
    format!(
        "run data.csv -k 2 --standardize running --out out.{form} --report page.html --plot page.svg --summary json \
         --on-bad-row skip {more}"
    )
}

fn data() -> String {
    let mut lines: Vec<String> = table(&streams::switching(8, 2, 3, 250, 5)).lines().map(str::to_owned).collect();
    for bad in [7, 300, 501] {
        lines[bad] = "1,2,oops,4,5,6,7,8".into();
    }
    lines.join("\n") + "\n"
}

fn whole(form: &str) -> Whole {
    let place = Place::new();
    place.write("data.csv", data());
    let start = Instant::now();
    let outcome = place.run(&command(form, "--snapshot run.snap --snapshot-every 20"));
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    let took = start.elapsed();
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    let (out, page, plot) = (read(&format!("out.{form}")), read("page.html"), read("page.svg"));
    Whole { out, page, plot, summary: summary(&outcome.out), took }
}

#[test]
fn a_run_killed_at_any_moment_and_resumed_gives_the_same_bytes() {
    let whole = FORMS.map(whole);
    let mut noise = 12345u64;
    let mut share = move || {
        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (noise >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut resumed = 0;
    for kill in 0..kills() {
        let (form, whole) = (FORMS[kill as usize % 3], &whole[kill as usize % 3]);
        let place = Place::new();
        place.write("data.csv", data());
        // Every other run is killed twice.
        for _ in 0..1 + kill % 2 {
            let resume = if place.path("run.snap").exists() { "--resume run.snap" } else { "" };
            let more = format!("--snapshot run.snap --snapshot-every 20 {resume}");
            let mut command = place.command(&command(form, &more));
            let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            sleep(whole.took.mul_f64(1.1 * share()));
            child.kill().unwrap();
            child.wait().unwrap();
            let out = place.path(&format!("out.{form}"));
            // The file is either complete or absent.
            assert!(!out.exists() || std::fs::read(&out).unwrap() == whole.out, "kill {kill}");
        }
        let is_resumed = place.path("run.snap").exists();
        resumed += u32::from(is_resumed);
        let outcome = place.run(&command(form, if is_resumed { "--resume run.snap" } else { "" }));
        assert_eq!(outcome.status, 0, "kill {kill}: {}", outcome.err);
        let same = |name: &str, bytes: &[u8]| std::fs::read(place.path(name)).unwrap() == bytes;
        assert!(same(&format!("out.{form}"), &whole.out), "kill {kill}: the answers differ");
        assert!(same("page.html", &whole.page) && same("page.svg", &whole.plot), "kill {kill}: the pictures differ");
        assert_eq!(summary(&outcome.out), whole.summary, "kill {kill}");
        assert!(outcome.err.contains("skipped") && outcome.err.contains("oops"), "{}", outcome.err);
        let parts: Vec<String> = place.files().into_iter().filter(|name| name.contains("eigenhedge-part")).collect();
        assert!(parts.is_empty(), "{parts:?}");
    }
    assert!(resumed > 0, "every run was killed before its first snapshot: nothing was tested");
}
