//! Damaged stores: the service refuses to start and reports the loss, or the damage has no effect.

use super::child::Child;
use super::client::{Client, State, objects, rows, settings, state};
use eigenhedge::Random;
use eigenhedge_serve::service::Service;
use serde_json::json;
use std::fs;
use std::path::Path;

/// Environment variable: number of damaged stores.
const COUNT: &str = "EIGENHEDGE_DAMAGED_STORES";
const STORE: &str = "store.redb";
const NAMES: [&str; 3] = ["model", "monitor", "keys"];

fn states(client: Client) -> Vec<State> {
    NAMES.iter().map(|name| state(client, name)).collect()
}

/// Creates a store with snapshots and later commands. `old` is an earlier copy of its file.
fn make_store(folder: &Path, old: &Path) {
    let rows = objects(&rows(300, 51));
    let rows: Vec<String> = rows.iter().map(|row| format!("{{\"who\":\"{}\",{}", row.len() % 3, &row[1..])).collect();
    let child = Child::start(folder);
    child.client.make("model", &json!({"k": 2, "exclude": "who"}));
    child.client.make("monitor", &json!({"kind": "monitor", "warm_up": 100, "exclude": "who"}));
    child.client.make("keys", &json!({"k": 1, "learner": "tracking", "by": "who"}));
    NAMES.iter().for_each(|name| assert_eq!(child.client.rows(name, &rows[..150]).status, 200));
    child.stop();
    let child = Child::start(folder);
    for block in rows[150..].chunks(15) {
        NAMES.iter().for_each(|name| assert_eq!(child.client.rows(name, block).status, 200));
        if fs::metadata(old).is_err() {
            fs::copy(folder.join(STORE), old).unwrap();
        }
    }
    child.kill();
}

/// Damages a file in a random way. Returns a description.
fn damage(path: &Path, old: &Path, random: &mut Random) -> String {
    let mut bytes = fs::read(path).unwrap();
    let length = bytes.len();
    let mut overwrite = |random: &mut Random, limit: usize, most: usize| {
        let at = random.below(limit);
        let end = (at + 1 + random.below(most)).min(length);
        bytes[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8);
        format!("overwritten {at}..{end}")
    };
    let what = match random.below(9) {
        0 => overwrite(random, length, 4096),
        1 => overwrite(random, length, 64 << 10),
        2 => overwrite(random, 512, 4),
        3 => overwrite(random, 512, 300),
        4 => {
            let page = random.below(length / 4096);
            bytes[4096 * page..][..4096].fill(0);
            format!("zeros in page {page}")
        }
        5 => {
            let (at, bit) = (random.below(length), random.below(8));
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
        6 => {
            let at = if random.below(3) == 0 { random.below(600) } else { random.below(length) };
            bytes.truncate(at);
            format!("truncated to {at} of {length}")
        }
        7 => {
            let more = 1 + random.below(9000);
            bytes.extend((0..more).map(|_| random.below(256) as u8));
            format!("{more} bytes more")
        }
        _ => {
            bytes = fs::read(old).unwrap();
            "an older file".to_owned()
        }
    };
    fs::write(path, bytes).unwrap();
    what
}

#[test]
fn a_damaged_store_is_refused_in_a_sentence_or_loses_nothing() {
    let count: u64 = std::env::var(COUNT).ok().and_then(|text| text.parse().ok()).unwrap_or(18);
    let folders = tempfile::tempdir().unwrap();
    let (killed, stopped, old) = (folders.path().join("a"), folders.path().join("b"), folders.path().join("old"));
    make_store(&killed, &old);
    copy(&killed, &stopped);
    let child = Child::start(&stopped);
    child.client.wait();
    let wanted = states(child.client);
    child.stop();
    let (mut harmless, mut refused) = (0, 0);
    for seed in 0..count {
        let mut random = Random::seeded(seed);
        let (from, folder) = (if seed % 2 == 0 { &killed } else { &stopped }, folders.path().join(seed.to_string()));
        copy(from, &folder);
        let what = format!("seed {seed}, {}", damage(&folder.join(STORE), &old, &mut random));
        // A second start must not accept a store that the first has refused.
        for _ in 0..2 {
            match Child::try_start(&folder, None) {
                Ok(child) => {
                    child.client.wait();
                    assert!(states(child.client) == wanted, "{what}: the states differ");
                    if random.below(2) == 0 {
                        child.stop()
                    } else {
                        child.kill()
                    }
                    harmless += 1;
                }
                Err((status, text)) => {
                    assert_eq!((status, text.lines().count()), (Some(1), 1), "{what}: {text}");
                    assert!(text.contains(STORE) && text.contains("to restore a backup"), "{what}: {text}");
                    assert!(!text.contains("panicked"), "{what}: {text}");
                    refused += 1;
                }
            }
        }
        fs::remove_dir_all(&folder).unwrap();
    }
    println!("{count} damaged stores, each started twice: {refused} refused, {harmless} without loss");
    assert!(refused > harmless / 2 && harmless > 0);
}

#[test]
fn a_store_whose_file_is_gone_is_not_replaced_by_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let (service, client) = super::client::start(folder.path());
    client.make("s", &json!({"k": 1}));
    service.stop();
    let backup = fs::read(folder.path().join(STORE)).unwrap();
    for bytes in [None, Some(&backup[..0])] {
        match bytes {
            None => fs::remove_file(folder.path().join(STORE)).unwrap(),
            Some(bytes) => fs::write(folder.path().join(STORE), bytes).unwrap(),
        }
        let reason = Service::start(settings(folder.path())).err().unwrap();
        assert!(reason.contains("its most recent 1 of 1 commits are lost"), "{reason}");
    }
    // Follow the advice in the message.
    fs::remove_file(folder.path().join("commits")).unwrap();
    let (service, client) = super::client::start(folder.path());
    assert_eq!(client.get("/v1/streams/s").status, 404);
    service.stop();
    let restored = tempfile::tempdir().unwrap();
    fs::write(restored.path().join(STORE), backup).unwrap();
    let (_service, client) = super::client::start(restored.path());
    assert_eq!(client.get("/v1/streams/s").status, 200);
}

/// A disk failure during operation causes error responses, and no panic stops the service.
#[test]
fn damage_during_operation_gives_problems() {
    let folder = tempfile::tempdir().unwrap();
    let child = Child::start(folder.path());
    child.client.make("s", &json!({"k": 2}));
    let rows = objects(&rows(400, 52));
    rows.chunks(40).for_each(|block| assert_eq!(child.client.rows("s", block).status, 200));
    let path = folder.path().join(STORE);
    let length = fs::metadata(&path).unwrap().len() as usize;
    fs::write(&path, vec![0xa5; length]).unwrap();
    for block in rows.chunks(100) {
        let status = child.client.rows("s", block).status;
        assert!([200, 503, 507].contains(&status), "{status}");
        let status = child.client.get("/v1/backup").status;
        assert!([200, 503, 507].contains(&status), "{status}");
        let name = format!("t{}", block[0].len());
        let status = child.client.put(&format!("/v1/streams/{name}"), &json!({"k": 1})).status;
        assert!([200, 201, 503, 507].contains(&status), "{status}");
    }
    assert_eq!(child.client.get("/health").status, 200);
    child.kill();
    let (status, text) = Child::try_start(folder.path(), None).err().unwrap();
    assert_eq!((status, text.lines().count()), (Some(1), 1), "{text}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
