//! Trials of the files in `target/dist`: each installs a file as a user would, and uses it.

mod debian;
mod program;
mod wheels;
mod windows;

use std::path::Path;

type Part = (&'static str, fn(&Path) -> Result<String, String>);

const PARTS: [Part; 3] = [("wheel", wheels::install), ("deb", debian::install), ("windows", windows::install)];

pub use windows::test as test_windows;

pub fn run(root: &Path, names: &[&str]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|name| PARTS.iter().all(|(part, _)| part != *name)) {
        return Err(format!("{unknown} is not a part; parts are {}", PARTS.map(|(name, _)| name).join(", ")));
    }
    let mut report = String::new();
    for (name, part) in PARTS.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        println!("== try {name}");
        report += &part(root).map_err(|reason| format!("{name}: {reason}"))?;
    }
    print!("== tried\n{report}");
    Ok(())
}
