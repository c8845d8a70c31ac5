//! Full disk: requests have status 507, no answered row is lost, and the service recovers.

use super::client::{Client, objects, rows, settings, start, state};
use eigenhedge::Random;
use eigenhedge_serve::service::Service;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Small file system in memory, which is unmounted on drop.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn new(folder: &'a Path, size: &str) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Environment variable: number of runs. The default is three.
const RUNS: &str = "EIGENHEDGE_FULL_DISKS";

/// Options from which those of a stream are drawn.
const OPTIONS: [&str; 3] = [
    r#"{"k": 2, "exclude": "who"}"#,
    r#"{"kind": "monitor", "warm_up": 40, "exclude": "who"}"#,
    r#"{"k": 1, "learner": "tracking", "by": "who"}"#,
];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[test]
fn a_full_disk_refuses_requests_and_recovers() {
    let runs: u64 = std::env::var(RUNS).ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let mut refused = [0; 2];
    for run in 0..runs {
        let folder = tempfile::tempdir().unwrap();
        let Some(_disk) = SmallDisk::new(folder.path(), &format!("{}k", 7000 + 37 * run)) else {
            println!("skipped: no file system can be mounted here");
            return;
        };
        let more = fill_and_recover(folder.path(), run);
        refused = [refused[0] + more[0], refused[1] + more[1]];
    }
    println!("{runs} full disks; refused requests: {} before and {} during a commit", refused[0], refused[1]);
    assert!(refused[0] >= runs);
}

/// Fills the disk with another file, except for `left` bytes.
fn fill(folder: &Path, left: u64) {
    let output = Command::new("df").args(["--output=avail", "-B1"]).arg(folder).output().unwrap();
    let free: u64 = String::from_utf8_lossy(&output.stdout).split_whitespace().nth(1).unwrap().parse().unwrap();
    // The service may use some of the space at the same time.
    let _ = std::fs::write(folder.join("ballast"), vec![0; free.saturating_sub(left) as usize]);
}

/// Sends requests while the disk is full at times, and accepted ones also to a second service.
/// Returns the numbers of requests refused before and during a commit.
fn fill_and_recover(folder: &Path, run: u64) -> [u64; 2] {
    let mut random = Random::seeded(300 + run);
    let calm = tempfile::tempdir().unwrap();
    let (_calm, calm) = start(calm.path());
    let (mut service, mut client) = start(folder);
    // In every second run, a thread fills and frees the disk, also during commits.
    let is_busy = run % 2 == 1;
    let has_ended = Arc::new(AtomicBool::new(!is_busy));
    let (other, ended) = (folder.to_owned(), Arc::clone(&has_ended));
    let other = std::thread::spawn(move || {
        let mut random = Random::seeded(run);
        while !ended.load(Ordering::Relaxed) {
            fill(&other, 0);
            std::thread::sleep(Duration::from_micros(random.below(3000) as u64));
            let _ = std::fs::remove_file(other.join("ballast"));
            std::thread::sleep(Duration::from_micros(random.below(3000) as u64));
        }
    });
    let (mut is_full, mut refused) = (is_busy, [0; 2]);
    for step in 0..60 {
        if !is_busy && (random.below(if is_full { 8 } else { 12 }) == 0 || (step == 30 && !is_full)) {
            match is_full {
                true => std::fs::remove_file(folder.join("ballast")).unwrap(),
                // Close to this limit, the disk becomes full in the middle of a commit.
                false => fill(folder, if random.below(2) == 0 { 0 } else { (1 << 20) + random.below(1 << 20) as u64 }),
            }
            is_full = !is_full;
        }
        let name = NAMES[random.below(NAMES.len())];
        let path = format!("/v1/streams/{name}");
        let block = objects(&rows(1 + random.below(60), 31 + 100 * run + step));
        let keyed = |row: &String| format!("{{\"who\":\"{}\",{}", row.len() % 3, &row[1..]);
        let block = block.iter().map(keyed).collect::<Vec<_>>().join("\n");
        let (method, end, body) = match random.below(12) {
            0..3 => ("PUT", "", OPTIONS[random.below(3)]),
            3 => ("DELETE", "", ""),
            4 => ("POST", "/accept", ""),
            5 => {
                service.stop();
                (service, client) = restart(folder, is_busy, &mut is_full);
                continue;
            }
            6 => {
                let status = client.get("/v1/backup").status;
                assert!(status == 200 || (is_full && status == 507), "{status}");
                continue;
            }
            _ => ("POST", "/rows", block.as_str()),
        };
        let send = |client: Client| {
            let headers = "Content-Type: application/x-ndjson\r\n";
            client.send(method, &format!("{path}{end}"), headers, body.as_bytes())
        };
        let answer = send(client);
        if answer.status == 507 {
            assert!(is_full && (answer.detail().contains("full") || answer.detail().contains("store")), "{answer:?}");
            refused[usize::from(answer.detail().contains("cannot be written"))] += 1;
        } else {
            assert_eq!(answer.status, send(calm).status, "{method} {path}{end}: {}", answer.text());
        }
        // The model file of a fleet needs disk space.
        let is_equal = |(found, wanted): (&(u16, Vec<u8>), _)| found == wanted || (is_full && found.0 == 507);
        let (found, wanted) = (state(client, name), state(calm, name));
        assert!(found.iter().zip(&wanted).all(is_equal), "{method} {path}{end}: {}", answer.text());
    }
    has_ended.store(true, Ordering::Relaxed);
    other.join().unwrap();
    service.stop();
    let _ = std::fs::remove_file(folder.join("ballast"));
    let (_service, client) = start(folder);
    NAMES.iter().for_each(|name| assert!(state(client, name) == state(calm, name), "{name} differs after a restart"));
    refused
}

/// Starts the service. If the disk is too full, tries again when there is space.
fn restart(folder: &Path, is_busy: bool, is_full: &mut bool) -> (Service, Client) {
    loop {
        match Service::start(settings(folder)) {
            Ok(service) => {
                let client = Client(service.address());
                client.wait();
                return (service, client);
            }
            Err(reason) => assert!(*is_full && reason.contains("cannot be opened"), "{reason}"),
        }
        if !is_busy {
            std::fs::remove_file(folder.join("ballast")).unwrap();
            *is_full = false;
        }
    }
}
