//! `kill -9` at random moments: no answered row is lost, and none is learned twice.

use super::child::Child;
use super::client::{Client, objects, rows};
use eigenhedge::Random;
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

/// Environment variable: number of kills.
const KILLS: &str = "EIGENHEDGE_KILLS";

#[test]
fn kills_lose_nothing_and_double_nothing() {
    let kills: usize = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::seeded(21);
    let options = [json!({"k": 2, "learner": "tracking"}), json!({"kind": "monitor", "warm_up": 100})];
    let names = ["model", "monitor"];
    let all = objects(&rows(20 * kills.max(8) * 25, 22));
    let blocks: Vec<&[String]> = all.chunks(25).collect();
    let mut child = Child::start(folder.path());
    let mut answers = vec![Vec::new(); 2];
    let mut sent = [0; 2];
    let mut killed = 0;
    let mut next_kill = Instant::now() + Duration::from_millis(300);
    while sent.iter().any(|sent| *sent < blocks.len()) {
        if killed < kills && Instant::now() >= next_kill {
            child.kill();
            child = Child::start(folder.path());
            killed += 1;
            next_kill = Instant::now() + Duration::from_millis(20 + (random.uniform() * 300.0) as u64);
        }
        for (i, name) in names.iter().enumerate() {
            let client = child.client;
            // Both requests are repeated until they are answered.
            let _ = client.try_send("PUT", &format!("/v1/streams/{name}"), "", options[i].to_string().as_bytes());
            let Some(block) = blocks.get(sent[i]) else { continue };
            let headers = format!("Content-Type: application/x-ndjson\r\nIdempotency-Key: {}\r\n", sent[i]);
            let path = format!("/v1/streams/{name}/rows");
            // A thread kills the service while a request is running.
            let will_kill = killed < kills && random.uniform() < 0.02;
            let pid = child.id();
            let killer = will_kill.then(|| {
                let wait = Duration::from_micros((random.uniform() * 4000.0) as u64);
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
                })
            });
            let answer = client.try_send("POST", &path, &headers, block.join("\n").as_bytes());
            if let Some(killer) = killer {
                killer.join().unwrap();
                child.kill();
                child = Child::start(folder.path());
                killed += 1;
            }
            if let Ok(answer) = answer.as_ref()
                && answer.status == 200
            {
                answers[i].extend(answer.body.clone());
                sent[i] += 1;
            }
        }
    }
    assert!(killed >= kills.min(4), "{killed}");
    child.client.wait();
    compare(child.client, &names, &options, &blocks, &answers);
    child.kill();
    println!("{killed} kills, {} rows for each of 2 streams", all.len());
}

/// Compares answers and states with those of a service that was never killed.
fn compare(client: Client, names: &[&str], options: &[serde_json::Value], blocks: &[&[String]], answers: &[Vec<u8>]) {
    let folder = tempfile::tempdir().unwrap();
    let (_service, calm) = super::client::start(folder.path());
    for (i, name) in names.iter().enumerate() {
        calm.make(name, &options[i]);
        let wanted: Vec<u8> = blocks.iter().flat_map(|block| calm.rows(name, block).body).collect();
        assert!(answers[i] == wanted, "the answers of {name} differ");
        for path in ["summary", "model"] {
            let path = format!("/v1/streams/{name}/{path}");
            assert!(calm.get(&path).body == client.get(&path).body, "{path} differs");
        }
    }
}
