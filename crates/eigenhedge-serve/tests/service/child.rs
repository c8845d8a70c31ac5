//! Service in a child process, which tests can kill. The child is this test program.

use super::client::{Client, settings};
use eigenhedge_serve::service::Service;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{self, Command, Stdio};

/// Environment variable: store folder of the service in a child process.
const CHILD: &str = "EIGENHEDGE_TEST_STORE";
/// Environment variable: `HOST:PORT` to which the service may send notices.
const HOST: &str = "EIGENHEDGE_TEST_HOST";
/// Environment variable: address of the service. By default, the port is arbitrary.
const LISTEN: &str = "EIGENHEDGE_TEST_LISTEN";
/// Environment variable: memory limit of the service in bytes.
const MEMORY: &str = "EIGENHEDGE_TEST_MEMORY";

/// In a child process, runs the service until standard input ends. Does nothing otherwise.
#[test]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let mut settings = settings(Path::new(&folder));
    if let Some(bytes) = std::env::var(MEMORY).ok().and_then(|text| text.parse().ok()) {
        settings.max_memory = bytes;
    }
    if let Some(address) = std::env::var(LISTEN).ok().and_then(|text| text.parse().ok()) {
        settings.listen = address;
    }
    settings.webhooks.hosts.extend(std::env::var(HOST));
    match Service::start(settings) {
        Ok(service) => {
            println!("address {}", service.address());
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            service.stop();
            process::exit(0);
        }
        Err(reason) => {
            eprintln!("{reason}");
            process::exit(1);
        }
    }
}

/// Service in a child process, which is killed on drop.
pub struct Child {
    process: process::Child,
    pub client: Client,
}

impl Child {
    /// Starts a service. If it ends at once, returns its exit status and its messages.
    pub fn try_start(folder: &Path, memory: Option<u64>) -> Result<Self, (Option<i32>, String)> {
        Self::try_with(folder, memory.map(|bytes| (MEMORY, bytes.to_string())))
    }

    pub fn with_host(folder: &Path, host: &str) -> Self {
        Self::try_with(folder, Some((HOST, host.to_owned()))).unwrap_or_else(|(_, text)| panic!("{text}"))
    }

    pub fn at(folder: &Path, address: SocketAddr) -> Self {
        Self::try_with(folder, Some((LISTEN, address.to_string()))).unwrap_or_else(|(_, text)| panic!("{text}"))
    }

    fn try_with(folder: &Path, variable: Option<(&str, String)>) -> Result<Self, (Option<i32>, String)> {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::child", "--nocapture"])
            .env(CHILD, folder)
            .envs(variable)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut messages = process.stderr.take().unwrap();
        match lines.find_map(|line| Some(line.split_once("address ")?.1.to_owned())) {
            Some(address) => {
                // The test program fails if its output is not read.
                std::thread::spawn(move || lines.for_each(drop));
                std::thread::spawn(move || {
                    for line in BufReader::new(messages).lines().map_while(Result::ok) {
                        // Lines of the log are JSON.
                        if !line.starts_with('{') {
                            eprintln!("service: {line}");
                        }
                    }
                });
                Ok(Self { process, client: Client(address.parse().unwrap()) })
            }
            None => {
                let mut text = String::new();
                messages.read_to_string(&mut text).unwrap();
                Err((process.wait().unwrap().code(), text))
            }
        }
    }

    pub fn start(folder: &Path) -> Self {
        Self::try_start(folder, None).unwrap_or_else(|(status, text)| panic!("{status:?}: {text}"))
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub fn stop(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
