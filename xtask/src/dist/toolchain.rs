//! Tools and settings of a reproducible build.

use crate::files::output;
use crate::python;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Oldest version of the GNU C library on which the binaries run.
pub const GLIBC: &str = "2.17";

pub const BUILDER: &str = "cargo-zigbuild";

pub struct Toolchain {
    pub root: PathBuf,
    pub version: String,
    /// Time of the commit in seconds since 1970.
    pub epoch: String,
    environment: PathBuf,
}

impl Toolchain {
    pub fn new(root: &Path) -> Result<Self, String> {
        let requirements = root.join("xtask/dist-requirements.txt");
        let environment = python::environment_with(root.join("target/python/dist"), &requirements)?;
        let mut log = Command::new("git");
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(epoch) => epoch,
            Err(_) => output(log.args(["log", "-1", "--format=%ct"]).current_dir(root))?.trim().to_owned(),
        };
        if epoch.parse::<u64>().is_err() {
            return Err(format!("the time of the commit must be a number of seconds, got {epoch:?}"));
        }
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { root: root.to_owned(), version, epoch, environment })
    }

    /// Returns a command that runs a tool of the environment. Each tool has its own target folder, because the program
    /// and the Python module enable different features of dependencies.
    pub fn command(&self, program: &str) -> Command {
        let tools = self.environment.join("bin");
        let mut command = Command::new(tools.join(program));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(tools).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(paths).unwrap_or(path));
        command.env("SOURCE_DATE_EPOCH", &self.epoch);
        reproducible(&mut command, &self.root);
        command.env("CARGO_TARGET_DIR", self.target(program)).current_dir(&self.root);
        command
    }

    fn target(&self, program: &str) -> PathBuf {
        self.root.join("target/dist-build").join(program)
    }

    pub fn program(&self) -> PathBuf {
        self.target(BUILDER).join(TARGET).join("release/eigenhedge")
    }
}

/// Configures a command to compile without folder names of this machine, and without symbols.
pub fn reproducible(command: &mut Command, root: &Path) {
    let folders = [(root.to_owned(), "/eigenhedge"), (cargo_home(), "/cargo")];
    let flags = folders.map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display())).join(" ");
    command.env("RUSTFLAGS", flags).env("CARGO_PROFILE_RELEASE_STRIP", "symbols").env("CARGO_INCREMENTAL", "0");
    command.env("CFLAGS", format!("-ffile-prefix-map={}=/cargo -g0", cargo_home().display()));
}

fn cargo_home() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo");
    std::env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}
