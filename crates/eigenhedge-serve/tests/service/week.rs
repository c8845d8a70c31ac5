//! A week of 50 devices with faults, stopped and new devices, outages and kills.

use super::child::Child;
use super::client::Client;
use super::receiver::{Receiver, json as body};
use eigenhedge::Random;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Number of rows of a device per hour. The week has [`HOURS`] hours.
const RATE: usize = 6;
const HOURS: usize = 168;
/// Hours in which the receiver is down. The service is killed at the hours [`KILLS`].
const DOWN: std::ops::Range<usize> = 98..104;
const KILLS: [usize; 2] = [99, 102];

/// Device with its own operating point and two slowly varying factors.
struct Device {
    random: Random,
    factors: [f64; 2],
    offset: [f64; 6],
    stuck: f64,
}

impl Device {
    fn new(seed: u64) -> Self {
        let mut random = Random::seeded(seed);
        let offset = std::array::from_fn(|_| 20.0 + 5.0 * random.normal());
        Self { random, factors: [0.0; 2], offset, stuck: 0.0 }
    }

    /// Returns the row of a device at an hour, including its planted faults.
    fn row(&mut self, device: usize, hour: f64) -> [f64; 6] {
        let random = &mut self.random;
        self.factors = self.factors.map(|x| 0.8 * x + 0.6 * random.normal());
        let [u, v] = self.factors;
        let mixed = [u, u + v, v, u - v, 2.0 * u, v - 0.5 * u];
        let mut row: [f64; 6] = std::array::from_fn(|i| self.offset[i] + mixed[i] + 0.3 * random.normal());
        match device {
            // Pressure that is 6 units too high for half a day.
            3 if (80.0..92.0).contains(&hour) => row[1] += 6.0,
            // Drifting sensor.
            11 if hour >= 96.0 => row[2] += (0.25 * (hour - 96.0)).min(8.0),
            // Stuck sensor.
            19 if hour >= 110.0 => row[4] = self.stuck,
            // Coupling that is lost for half a day.
            27 if (125.0..137.0).contains(&hour) => row[5] += 5.0 * random.normal(),
            // Leak: two sensors move in opposite directions.
            42 if hour >= 140.0 => (row[0], row[3]) = (row[0] - 4.0, row[3] + 4.0),
            _ => self.stuck = row[4],
        }
        row
    }
}

fn waiting(client: Client) -> f64 {
    let metrics = client.get("/metrics").text();
    let lines = metrics.lines().filter(|line| line.starts_with("eigenhedge_notices_waiting{"));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[test]
fn a_week_of_fifty_devices_gives_a_dozen_notices() {
    let (folder, receiver) = (tempfile::tempdir().unwrap(), Receiver::start());
    let mut child = Child::with_host(folder.path(), &receiver.host);
    let url = format!("http://{}/", receiver.host);
    let base = json!({
        "kind": "monitor", "group_by": "device", "time": "at", "warm_up": 240, "silent_after": "auto", "webhook": url,
    });
    let mut told = base.clone();
    (told["min_severity"], told["min_duration"]) = ("critical".into(), "1h".into());
    child.client.make("plant", &told);
    // Receives the same rows, with the default severity and without a minimum duration.
    child.client.make("default", &base);
    let seed = std::env::var("EIGENHEDGE_WEEK").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let mut devices: Vec<Device> = (0..51).map(|device| Device::new(seed + device)).collect();
    let start = Instant::now();
    for hour in 0..HOURS {
        receiver.is_down.store(DOWN.contains(&hour), Ordering::SeqCst);
        let mut lines = Vec::new();
        for step in 0..RATE {
            let now = hour as f64 + step as f64 / RATE as f64;
            for (i, device) in devices.iter_mut().enumerate() {
                // Two devices stop, and one starts later.
                let is_there = match i {
                    7 => now < 100.5,
                    33 => now < 118.0,
                    50 => now >= 72.0,
                    _ => true,
                };
                let row = device.row(i, now);
                if is_there {
                    let at = format!("2026-03-{:02}T{:02}:{:02}:00Z", 2 + hour / 24, hour % 24, 10 * step);
                    let cells: Vec<String> =
                        row.iter().zip("abcdef".chars()).map(|(x, name)| format!("\"{name}\":{x:.4}")).collect();
                    lines.push(format!("{{\"at\":\"{at}\",\"device\":\"device {i:02}\",{}}}", cells.join(",")));
                }
            }
        }
        let headers = format!("Content-Type: application/x-ndjson\r\nIdempotency-Key: {hour}\r\n");
        for stream in ["plant", "default"] {
            let path = format!("/v1/streams/{stream}/rows");
            let answer = child.client.send("POST", &path, &headers, lines.join("\n").as_bytes());
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        if KILLS.contains(&hour) {
            assert!(waiting(child.client) > 0.0, "notices wait when the service is killed at hour {hour}");
            child.kill();
            child = Child::with_host(folder.path(), &receiver.host);
            child.client.wait();
        }
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while waiting(child.client) > 0.0 {
        assert!(Instant::now() < deadline, "notices wait");
        std::thread::sleep(Duration::from_millis(100));
    }
    let all: Vec<serde_json::Value> = receiver.got().iter().map(body).collect();
    for stream in ["plant", "default"] {
        let told: Vec<&serde_json::Value> = all.iter().filter(|one| one["stream"] == stream).collect();
        for (i, one) in told.iter().enumerate() {
            println!("{:2} {} {}", i + 1, one["time"].as_str().unwrap(), one["text"].as_str().unwrap());
        }
        let opened = |device: usize| {
            told.iter().any(|one| one["kind"] == "opened" && one["key"] == format!("device {device:02}"))
        };
        for device in [3, 11, 19, 27, 42, 7, 33] {
            assert!(opened(device), "{stream}: device {device} is told");
        }
        assert!(told.len() <= 12, "{stream}: {} notices", told.len());
        let mut ids: Vec<u64> = told.iter().map(|one| one["id"].as_u64().unwrap()).collect();
        let sent = ids.clone();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(sent, ids, "{stream}: in order, once each");
    }
    println!("{} notices in {:.1} s", all.len(), start.elapsed().as_secs_f64());
}
