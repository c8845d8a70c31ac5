//! Every claim holds in a quick run, and every file is written.

use eigenhedge_lab::{REPRODUCTIONS, Setting, Tally, run_all};

#[test]
fn every_claim_holds_and_every_picture_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    let all: Vec<_> = REPRODUCTIONS.iter().collect();
    let setting = Setting { quick: true, seed: 1, data: None };
    let tally = run_all(&all, &setting, folder.path(), &|_, _| {}, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert_eq!(tally.failed, 0, "{lines}");
    assert_eq!(tally, Tally { passed: lines.lines().filter(|line| line.starts_with("PASS ")).count(), failed: 0 });
    for reproduction in REPRODUCTIONS {
        let name = reproduction.name;
        assert!(lines.contains(&format!("PASS {name}: ")), "{name} claims nothing");
        let files = ["csv", "svg"].map(|kind| format!("{name}.{kind}")).into_iter().chain(["index.html".into()]);
        for file in files {
            let text = std::fs::read_to_string(folder.path().join(name).join(&file)).unwrap();
            assert!(text.len() > 100 && !text.contains("NaN"), "{file}");
        }
    }
}
