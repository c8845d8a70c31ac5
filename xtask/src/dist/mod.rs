//! Files of a release in `target/dist`. Builds are reproducible: all times are that of the commit, binaries contain no
//! paths of the machine, and archives are sorted.

mod archives;
mod bill_of_materials;
mod dependencies;
mod licences;
mod package;
mod program;
mod toolchain;
mod trial;
mod windows;

use crate::{files, python, web};
use std::path::Path;
use std::time::Instant;
use toolchain::Toolchain;

pub fn build(root: &Path) -> Result<(), String> {
    let start = Instant::now();
    let toolchain = Toolchain::new(root)?;
    let output = python::empty(&root.join("target/dist"))?;
    let mut times = Vec::new();
    let mut timed = |name: &'static str, work: &mut dyn FnMut() -> Result<(), String>| {
        println!("== {name}");
        let began = Instant::now();
        work().map_err(|reason| format!("{name}: {reason}"))?;
        times.push((name, began.elapsed().as_secs_f64()));
        Ok::<(), String>(())
    };
    let dependencies = dependencies::of_the_program(root)?;
    let licences = licences::text(root, &dependencies)?;
    let mut page = None;
    timed("page", &mut || {
        page = web::build(root)?;
        page.iter().try_for_each(|page| files::copy(page, &output.join("eigenhedge.html")))
    })?;
    timed("Windows", &mut || {
        let Toolchain { version, epoch, .. } = &toolchain;
        windows::archive(root, version, epoch, &licences, page.as_deref())
    })?;
    timed("program", &mut || program::build(&toolchain))?;
    timed("archives", &mut || {
        let tree = program::stage(&toolchain, &licences, page.as_deref())?;
        archives::tarball(&toolchain, &tree, &output)?;
        archives::debian_package(&toolchain, &tree, &output)
    })?;
    timed("wheel", &mut || package::wheel(&toolchain, &licences, &output))?;
    timed("source distribution", &mut || package::source_distribution(&toolchain, &output))?;
    timed("bill of materials", &mut || bill_of_materials::write(&toolchain, &dependencies, &output))?;
    archives::checksums(&output)?;
    print!("{}", files::listing(&output)?);
    for (name, seconds) in times {
        println!("   {name:<20} {seconds:>7.1} s");
    }
    println!("== target/dist in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

pub use toolchain::reproducible;
pub use trial::run as try_out;
pub use trial::test_windows;
