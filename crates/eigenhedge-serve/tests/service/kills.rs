//! `kill -9` at any moment: no answered row is lost, none is learned twice, and every bit is equal.

use super::client::{Client, objects, rows, settings};
use eigenhedge::Random;
use eigenhedge_serve::service::Service;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Environment variable: the store's folder, for a service in a child process.
const CHILD: &str = "EIGENHEDGE_TEST_STORE";
/// Environment variable: the number of kills.
const KILLS: &str = "EIGENHEDGE_KILLS";

/// The service to kill: this test program, started again.
#[test]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let service = Service::start(settings(Path::new(&folder))).unwrap();
    println!("address {}", service.address());
    std::thread::sleep(Duration::from_secs(3600));
}

fn spawn(folder: &Path) -> (Child, Client) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::child", "--nocapture"])
        .env(CHILD, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address = lines.find_map(|line| Some(line.split_once("address ")?.1.to_owned()));
    // After a minute the test program prints a message. It would fail if nobody read its output.
    std::thread::spawn(move || lines.for_each(drop));
    let client = Client(address.expect("the service starts").parse().unwrap());
    (child, client)
}

#[test]
fn kills_lose_nothing_and_double_nothing() {
    let kills: usize = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::seeded(21);
    let options = [json!({"k": 2, "learner": "tracking"}), json!({"kind": "monitor", "warm_up": 100})];
    let names = ["model", "monitor"];
    let all = objects(&rows(20 * kills.max(8) * 25, 22));
    let blocks: Vec<&[String]> = all.chunks(25).collect();
    let (mut child, mut client) = spawn(folder.path());
    let mut answers = vec![Vec::new(); 2];
    let mut sent = [0; 2];
    let mut killed = 0;
    let mut next_kill = Instant::now() + Duration::from_millis(300);
    while sent.iter().any(|sent| *sent < blocks.len()) {
        if killed < kills && Instant::now() >= next_kill {
            child.kill().unwrap();
            child.wait().unwrap();
            (child, client) = spawn(folder.path());
            killed += 1;
            next_kill = Instant::now() + Duration::from_millis(20 + (random.uniform() * 300.0) as u64);
        }
        for (i, name) in names.iter().enumerate() {
            // Creation and request are repeated until they are answered.
            let _ = client.try_send("PUT", &format!("/v1/streams/{name}"), "", options[i].to_string().as_bytes());
            let Some(block) = blocks.get(sent[i]) else { continue };
            let headers = format!("Content-Type: application/x-ndjson\r\nIdempotency-Key: {}\r\n", sent[i]);
            let path = format!("/v1/streams/{name}/rows");
            // Another thread kills the service while a request is in flight.
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
                child.wait().unwrap();
                (child, client) = spawn(folder.path());
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
    client.wait();
    compare(client, &names, &options, &blocks, &answers);
    child.kill().unwrap();
    child.wait().unwrap();
    println!("{killed} kills, {} rows for each of 2 streams", all.len());
}

/// Compares answers and states with those of a service that was not killed.
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
