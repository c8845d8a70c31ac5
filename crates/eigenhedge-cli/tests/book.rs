//! Every command of the README and the book works and prints the output shown there.
//!
//! A `console` block holds commands after `$ `. The lines below a command must occur in its output,
//! in order. `...` matches anything. An `sh` block holds one command per line. A block below a line
//! `<!-- not run: REASON -->` is left out. All blocks of a page share one folder.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

struct Step {
    command: String,
    expected: Vec<String>,
}

/// Pages whose `sh` blocks start a server, which runs until it is stopped.
const SERVERS: [&str; 4] = ["service.md", "deployment.md", "notices.md", "no-install.md"];

/// Returns the commands of a page. `has_sh` includes the `sh` blocks.
fn steps(page: &str, has_sh: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut language, mut above) = (None, "");
    for line in page.lines() {
        match (language, line.strip_prefix("```")) {
            (None, Some(_)) if above.starts_with("<!-- not run: ") => language = Some("left out"),
            (None, Some(started)) => language = Some(started),
            (Some(_), Some(_)) => language = None,
            (Some("sh"), None) if has_sh && !line.is_empty() => {
                steps.push(Step { command: line.to_owned(), expected: Vec::new() });
            }
            (Some("console"), None) => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step { command: command.to_owned(), expected: Vec::new() }),
                (None, Some(step)) if line != "..." && !line.is_empty() => step.expected.push(line.to_owned()),
                _ => {}
            },
            _ => {}
        }
        above = line;
    }
    steps
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages
}

#[test]
fn every_command_of_the_book_works() {
    let program = Path::new(env!("CARGO_BIN_EXE_eigenhedge"));
    let search = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    let mut tried = 0;
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    for page in pages().into_iter().chain([readme]) {
        let folder = tempfile::tempdir().unwrap();
        let has_sh = !SERVERS.contains(&&*page.file_name().unwrap().to_string_lossy());
        for step in steps(&std::fs::read_to_string(&page).unwrap(), has_sh) {
            let output = Command::new("sh")
                .args(["-c", &step.command])
                .current_dir(folder.path())
                .env("PATH", &search)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            let place = format!("{}: {}", page.display(), step.command);
            assert!(output.status.success(), "{place}\n{}", String::from_utf8_lossy(&output.stderr));
            let mut rest = &text[..];
            for line in &step.expected {
                let at = rest.find(line).unwrap_or_else(|| panic!("{place}: no {line:?} in\n{text}"));
                rest = &rest[at + line.len()..];
            }
            tried += 1;
        }
    }
    assert!(tried > 15, "{tried}");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let contents = std::fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    for page in pages() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name == "SUMMARY.md" || contents.contains(&format!("({name})")), "{name}");
    }
    for name in contents.split('(').skip(1).filter_map(|part| part.split(')').next()) {
        assert!(folder.join(name).exists(), "{name}");
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts: Vec<PathBuf> = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    texts.retain(|path| path.extension().is_some_and(|end| end == "md"));
    texts.extend(pages());
    let mut followed = 0;
    for text in texts {
        let page = std::fs::read_to_string(&text).unwrap();
        for target in page.split("](").skip(1).filter_map(|part| part.split(')').next()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { text.clone() } else { text.parent().unwrap().join(file) };
            assert!(file.exists(), "{}: {target} leads nowhere", text.display());
            let headings = || std::fs::read_to_string(&file).unwrap();
            let leads = |text: &str| {
                text.lines()
                    .filter(|line| line.starts_with('#'))
                    .any(|line| anchor(line.trim_start_matches('#')) == place)
            };
            assert!(place.is_empty() || leads(&headings()), "{}: {target} has no such heading", text.display());
            followed += 1;
        }
    }
    assert!(followed > 60, "{followed}");
}

/// Returns the long options in the help of a command, except `help` and `version`.
fn options(program: &Path, command: &str) -> Vec<String> {
    let output = Command::new(program).args([command, "--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let names = lines
        .filter_map(|line| line.split_once("--"))
        .map(|(_, rest)| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect::<String>());
    names.filter(|name| name != "help" && name != "version").collect()
}

#[test]
fn every_command_and_option_is_in_the_reference() {
    let program = Path::new(env!("CARGO_BIN_EXE_eigenhedge"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let reference: String =
        ["commands.md", "options.md", "formats.md", "times.md", "snapshots.md", "run-summary.md"].map(read).concat();
    let has = |name: &str| {
        reference.match_indices(name).any(|(at, _)| {
            !reference[at + name.len()..].starts_with(|next: char| next.is_ascii_alphanumeric() || next == '-')
        })
    };
    let help = Command::new(program).arg("--help").output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let names = list.lines().take_while(|line| line.starts_with("  ")).filter_map(|line| line.strip_prefix("  "));
    // The further lines of a command's summary are indented more.
    let names = names.filter(|line| !line.starts_with(' '));
    let commands: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(has(&format!("`{command}")), "the reference lacks the command {command}");
        for option in options(program, command) {
            assert!(has(&format!("--{option}")), "the reference lacks --{option} of {command}");
        }
    }
}
