//! Files that the program writes are replaced atomically, keep their permissions, and never
//! overwrite files of other programs. Standard output may be closed or full.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use crate::common::{Place, table, unhinted};
use eigenhedge::streams;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

fn place() -> Place {
    let place = Place::new();
    place.write("t.csv", table(&streams::switching(4, 1, 2, 30, 5)));
    place
}

/// Commands, the file that each of them writes, and the suffix of its staging file.
const WRITERS: [(&str, &str, &str); 9] = [
    ("run t.csv -k 1 --quiet --out FILE", "out.csv", "part"),
    ("run t.csv -k 1 --quiet --out FILE", "out.parquet", "part"),
    ("run t.csv -k 1 --quiet --out FILE", "out.parquet", "last"),
    ("run t.csv -k 1 --quiet --snapshot FILE", "run.snap", "next"),
    ("run t.csv -k 1 --quiet --report FILE", "page.html", "next"),
    ("run t.csv -k 1 --quiet --plot FILE", "page.svg", "next"),
    ("pca t.csv -k 1 --out FILE", "scores.csv", "part"),
    ("make iid --rows 5 --out FILE", "made.csv", "part"),
    ("compare t.csv -k 1 --learners leader --report FILE", "compared.html", "next"),
];

#[test]
fn a_planted_link_is_not_written_through() {
    let links: [fn(&Place, &str); 3] = [
        |place, name| symlink(place.path("victim"), place.path(name)).unwrap(),
        // Symbolic link to a file that does not exist yet.
        |place, name| symlink(place.path("born"), place.path(name)).unwrap(),
        |place, name| fs::hard_link(place.path("victim"), place.path(name)).unwrap(),
    ];
    for (command, file, staging) in WRITERS {
        for plant in links {
            let place = place();
            place.write("victim", "precious");
            let planted = format!(".{file}.eigenhedge-{staging}");
            plant(&place, &planted);
            let outcome = place.run(&command.replace("FILE", file));
            assert_eq!(outcome.status, 0, "{command}: {}", outcome.err);
            assert_eq!(place.read("victim"), "precious", "{command} {staging}");
            assert_eq!(
                place.files(),
                {
                    let mut files = ["t.csv", "victim", file];
                    files.sort();
                    files
                },
                "{command}"
            );
            assert!(fs::metadata(place.path(file)).unwrap().len() > 0);
        }
    }
}

#[test]
fn a_run_is_not_resumed_through_a_link() {
    let place = place();
    let command = "run t.csv -k 1 --quiet --out out.csv --snapshot run.snap --snapshot-every 20";
    assert_eq!(place.run(command).status, 0);
    // State after a run that was killed after its last snapshot.
    let answers = place.read("out.csv");
    fs::remove_file(place.path("out.csv")).unwrap();
    place.write("victim", answers.clone() + "precious\n");
    symlink(place.path("victim"), place.path(".out.csv.eigenhedge-part")).unwrap();
    let outcome = place.run(&format!("{command} --resume run.snap"));
    assert_eq!(outcome.status, 1, "{}", outcome.err);
    assert!(outcome.err.starts_with("eigenhedge: out.csv cannot be written: "), "{}", outcome.err);
    assert_eq!(place.read("victim"), answers + "precious\n");
}

#[test]
fn a_file_that_is_replaced_keeps_its_rights() {
    for (command, file, _) in WRITERS {
        for mode in [0o600, 0o640, 0o666] {
            let place = place();
            place.write(file, "");
            fs::set_permissions(place.path(file), Permissions::from_mode(mode)).unwrap();
            let outcome = place.run(&command.replace("FILE", file));
            assert_eq!(outcome.status, 0, "{command}: {}", outcome.err);
            let there = fs::metadata(place.path(file)).unwrap();
            assert!(there.len() > 0, "{command}");
            assert_eq!(there.permissions().mode() & 0o777, mode, "{command}");
        }
    }
}

#[test]
fn new_models_are_for_their_owner_alone_whatever_the_umask() {
    let place = place();
    place.write(
        "keys.csv",
        "key,a,b\n".to_owned() + &(0..90).map(|i| format!("k,{},{}\n", i % 7, i % 5)).collect::<String>(),
    );
    for command in [
        "run t.csv -k 1 --learner leader --quiet --snapshot FILE",
        "run keys.csv -k 1 --group-by key --quiet --snapshot FILE",
        "monitor keys.csv --warm-up 60 --quiet --snapshot FILE",
        "monitor keys.csv --warm-up 60 --group-by key --quiet --snapshot FILE",
        "merge model-0 model-0 --quiet --out FILE",
    ] {
        for umask in ["000", "022"] {
            let file = if command.starts_with("run t.csv") { "model-0" } else { "model" };
            let _ = fs::remove_file(place.path(file));
            let line =
                format!("umask {umask}; exec {} {}", env!("CARGO_BIN_EXE_eigenhedge"), command.replace("FILE", file));
            let output =
                std::process::Command::new("sh").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(fs::metadata(place.path(file)).unwrap().permissions().mode() & 0o777, 0o600, "{command}");
        }
    }
}

#[test]
fn a_link_to_a_file_and_a_device_stay_what_they_are() {
    for (command, file, _) in WRITERS {
        let place = place();
        place.write("real", "");
        symlink("real", place.path(file)).unwrap();
        let outcome = place.run(&command.replace("FILE", file));
        assert_eq!(outcome.status, 0, "{command}: {}", outcome.err);
        assert!(fs::symlink_metadata(place.path(file)).unwrap().is_symlink(), "{command}");
        assert!(fs::metadata(place.path("real")).unwrap().len() > 0, "{command}");
        if !file.ends_with("parquet") {
            symlink("/dev/null", place.path("null")).unwrap();
            assert_eq!(place.run(&command.replace("FILE", "null")).status, 0, "{command}");
            assert!(fs::symlink_metadata(place.path("null")).unwrap().is_symlink(), "{command}");
        }
    }
}

#[test]
fn a_second_run_with_the_same_snapshot_is_refused() {
    let place = place();
    let mut first = place
        .command("run - -k 1 --out - --quiet --snapshot run.snap --snapshot-every 2")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = first.stdin.take().unwrap();
    let mut out = BufReader::new(first.stdout.take().unwrap());
    // Tested once at the start, and once after a snapshot exists.
    for rows in ["a,b\n1,2\n", "3,1\n2,5\n"] {
        pipe.write_all(rows.as_bytes()).unwrap();
        out.read_line(&mut String::new()).unwrap();
        let second = place.run("run t.csv -k 1 --snapshot run.snap");
        assert_eq!(second.status, 1, "{}", second.out);
        assert_eq!(second.err, "eigenhedge: run.snap is being written by another run\n");
    }
    drop(pipe);
    assert!(first.wait().unwrap().success());
    assert_eq!(place.files(), ["run.snap", "t.csv"]);
    assert_eq!(place.run("run t.csv -k 1 --quiet --snapshot run.snap").status, 0);
    assert_eq!(place.files(), ["run.snap", "t.csv"]);
}

#[test]
fn what_a_killed_run_has_left_does_not_stop_the_next() {
    let place = place();
    for name in [".run.snap.eigenhedge-lock", ".run.snap.eigenhedge-next", ".out.csv.eigenhedge-part"] {
        place.write(name, "left");
    }
    let outcome = place.run("run t.csv -k 1 --quiet --out out.csv --snapshot run.snap");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert_eq!(place.files(), ["out.csv", "run.snap", "t.csv"]);
}

/// Returns the exit status and the error output of a command whose standard output is redirected.
fn with_output(place: &Place, arguments: &str, redirection: &str) -> (i32, String) {
    let plain = place.command(arguments);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("exec \"$0\" \"$@\" {redirection}")).arg(plain.get_program()).args(plain.get_args());
    let output = shell.current_dir(plain.get_current_dir().unwrap()).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_no_success() {
    let place = place();
    assert_eq!(place.run("run t.csv -k 1 --quiet --snapshot m.snap").status, 0);
    place.write("z.csv", "z0\n1\n2\n");
    place.write("losses.csv", "0.1,0.2\n0.3,0.4\n");
    let commands = [
        "compare t.csv -k 1 --learners leader",
        "run t.csv -k 1",
        "run t.csv -k 1 --summary json",
        "run t.csv -k 1 --quiet --out -",
        "transform m.snap t.csv",
        "reconstruct m.snap z.csv",
        "inspect m.snap",
        "make iid --rows 5",
        "pair t.csv t.csv -k 1",
        "experts losses.csv -k 1",
        "pca t.csv -k 1",
        "kernel-pca t.csv -k 1",
        "kernel-ridge t.csv --target x0",
        "preimage t.csv -k 1",
        "demo --no-report --draws 1",
        "reproduce list",
        "completions bash",
        "--version",
        "--help",
        "run --help",
    ];
    for command in commands {
        for (redirection, reason) in [(">&-", "it is closed"), (">/dev/full", "No space left on device (os error 28)")]
        {
            let (status, err) = with_output(&place, command, redirection);
            assert_eq!(status, 1, "{command} {redirection}: {err}");
            assert!(
                err.ends_with(&format!("standard output cannot be written: {reason}\n")),
                "{command} {redirection}: {err}"
            );
        }
    }
    assert_eq!(with_output(&place, "run t.csv -k 1 --quiet --out out.csv", ">&-").0, 0);
    // The reader of the pipe closes it early.
    let (status, err) = with_output(&place, "make iid --rows 50000", "| head -n 1 >&2");
    assert!(status == 0 && !err.contains("eigenhedge:"), "{err}");
}

#[test]
fn names_of_files_cannot_command_a_terminal() {
    let place = Place::new();
    let name = "a\u{1b}[2Jb\n\u{202e}c.csv";
    place.write(name, "x,y\n1,2\n3,oops\n2,2\n");
    let run = |arguments: &[&str]| {
        let output = place.command("").args(arguments).output().unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let shown = "a\\u{1b}[2Jb\\n\\u{202e}c.csv";
    let (status, _, err) = run(&["run", name, "-k", "1"]);
    assert_eq!(status, 1);
    let err = unhinted(&err);
    assert_eq!(err, format!("eigenhedge: {shown}, line 3, column 1 (\"y\"): must be a finite number, got \"oops\"\n"));
    let (status, out, err) =
        run(&["run", name, "-k", "1", "--on-bad-row", "skip", "--report", &format!("{name}.html")]);
    assert_eq!(status, 0);
    assert!(out.contains(&format!("{shown}.html")), "{out}");
    assert!(err.contains(shown), "{err}");
    for arguments in [
        &["inspect", name][..],
        &["run", "no", "-k", "1", "--resume", name],
        &["run", name, "-k", "1", "--out", name],
        &["run", name, "-k", "1", "--report", "no\u{1b}[2J/x"],
        &["pca", name, "-k", "1", "--out", "no\u{1b}[2J/x"],
        &["pca", name, "-k", "1", "--on-bad-row", "skip", "--out", "no\u{1b}[2J/x"],
        &["reproduce", "all", "--data", "no\u{1b}[2J"],
    ] {
        let (status, out, err) = run(arguments);
        assert_ne!(status, 0, "{arguments:?}");
        assert!(!(out.clone() + &err).contains('\u{1b}') && err.lines().count() == 1, "{out:?} {err:?}");
    }
}
