//! The program as an archive and as a Debian package, and the checksums of all files.

use super::toolchain::{GLIBC, Toolchain};
use crate::files::{entries, output, write};
use crate::run;
use std::path::Path;
use std::process::Command;

pub fn tarball(toolchain: &Toolchain, tree: &Path, folder: &Path) -> Result<(), String> {
    let name = format!("eigenhedge-{}-x86_64-linux", toolchain.version);
    let archive = folder.join(format!("{name}.tar"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"]);
    tar.arg(format!("--mtime=@{}", toolchain.epoch)).arg(format!("--transform=s,^usr,{name},"));
    run(tar.arg("--directory").arg(tree).arg("--create").arg("--file").arg(&archive).arg("usr"))?;
    run(Command::new("gzip").args(["-9", "--no-name", "--force"]).arg(archive))
}

pub fn debian_package(toolchain: &Toolchain, tree: &Path, folder: &Path) -> Result<(), String> {
    write(
        &tree.join("usr/share/doc/eigenhedge/copyright"),
        "MIT OR Apache-2.0: see LICENSE-MIT and LICENSE-APACHE.\n",
    )?;
    let size = output(Command::new("du").args(["--apparent-size", "--summarize", "--block-size=1k"]).arg(tree))?;
    let size = size.split_whitespace().next().unwrap_or("0");
    let control = format!(
        "Package: eigenhedge\nVersion: {}\nArchitecture: amd64\nMaintainer: eigenhedge maintainers <maintainers@eigenhedge.invalid>\n\
         Installed-Size: {size}\nDepends: libc6 (>= {GLIBC})\nSection: math\nPriority: optional\n\
         Homepage: https://github.com/eigenhedge/eigenhedge\nDescription: Online PCA and online kernel PCA with guarantees\n \
         Learns directions from rows that arrive one at a time, reports its loss and a bound\n \
         on it, and monitors sensors: scores, alarms, causes, drift.\n",
        toolchain.version
    );
    write(&tree.join("DEBIAN/control"), control)?;
    // File permissions in the package must not depend on the umask.
    run(Command::new("chmod").arg("-R").arg("u=rwX,go=rX").arg(tree))?;
    let package = folder.join(format!("eigenhedge_{}_amd64.deb", toolchain.version));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]).arg(tree).arg(package);
    run(build.env("SOURCE_DATE_EPOCH", &toolchain.epoch))
}

pub fn checksums(folder: &Path) -> Result<(), String> {
    let files = entries(folder)?;
    let names = files.iter().filter_map(|path| path.file_name());
    let sums = output(Command::new("sha256sum").args(names).current_dir(folder))?;
    write(&folder.join("SHA256SUMS"), sums)
}
