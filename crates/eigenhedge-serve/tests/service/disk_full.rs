//! A full disk: the service responds with 507, loses no answered row, and resumes when there is room.

use super::client::{objects, rows, start};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};

/// A small file system in memory, unmounted on drop.
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

/// Environment variable: how often to fill the disk. The default is once.
const RUNS: &str = "EIGENHEDGE_FULL_DISKS";

#[test]
fn a_full_disk_refuses_rows_and_recovers() {
    let runs: u64 = std::env::var(RUNS).ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    for run in 0..runs {
        let folder = tempfile::tempdir().unwrap();
        let Some(_disk) = SmallDisk::new(folder.path(), &format!("{}k", 6000 + 37 * run)) else {
            println!("skipped: no file system can be mounted here");
            return;
        };
        fill_and_recover(folder.path(), run);
    }
    println!("{runs} full disks");
}

fn fill_and_recover(folder: &Path, run: u64) {
    let (service, client) = start(folder);
    client.make("s", &json!({"k": 2, "learner": "tracking"}));
    let all = objects(&rows(400, 31 + run));
    let mut answered = Vec::new();
    let ballast = folder.join("ballast");
    let mut refused = 0;
    for (i, block) in all.chunks(20).enumerate() {
        if i == 5 {
            // Another program fills the disk to the last byte.
            let _ =
                Command::new("dd").args(["if=/dev/zero", "bs=4096"]).arg(format!("of={}", ballast.display())).output();
        }
        if i == 12 {
            std::fs::remove_file(&ballast).unwrap();
        }
        let answer = client.rows("s", block);
        match answer.status {
            200 => answered.extend_from_slice(block),
            507 => {
                refused += 1;
                assert!(answer.detail().contains("full") || answer.detail().contains("store"), "{}", answer.text());
            }
            other => panic!("{other}: {}", answer.text()),
        }
        assert_eq!(answer.status == 507, (5..12).contains(&i), "request {i}");
    }
    assert_eq!(refused, 7);
    let state = |client: super::client::Client| client.get("/v1/streams/s/model").body;
    let before = state(client);
    service.stop();
    let (_service, client) = start(folder);
    assert!(state(client) == before, "a restart changes nothing");
    let calm = tempfile::tempdir().unwrap();
    let (_service, calm) = start(calm.path());
    calm.make("s", &json!({"k": 2, "learner": "tracking"}));
    answered.chunks(20).for_each(|block| _ = calm.rows("s", block));
    assert!(state(calm) == before, "exactly the answered rows were learned");
}
