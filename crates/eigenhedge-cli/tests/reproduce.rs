//! `reproduce` lists and writes reproductions and checks their claims.

use crate::common::Place;

#[test]
fn the_list_names_every_figure_with_its_title() {
    let outcome = Place::new().run("reproduce list");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    let names: Vec<&str> = outcome.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, eigenhedge_lab::REPRODUCTIONS.iter().map(|one| one.name).collect::<Vec<_>>());
    assert_eq!(Place::new().run("reproduce").out, outcome.out);
}

#[test]
fn a_figure_leaves_data_picture_and_page_and_its_claims_pass() {
    let place = Place::new();
    let outcome = place.run("reproduce jmlr-example-6 --quick --out figures");
    assert_eq!(outcome.status, 0, "{}{}", outcome.out, outcome.err);
    let mut lines: Vec<&str> = outcome.out.lines().collect();
    assert_eq!(lines.pop(), Some("6 passed, 0 failed"));
    assert!(lines.iter().all(|line| line.starts_with("PASS jmlr-example-6: ")), "{lines:?}");
    assert!(place.read("figures/jmlr-example-6/jmlr-example-6.csv").starts_with("expert,weight,capped,"));
    assert!(place.read("figures/jmlr-example-6/jmlr-example-6.svg").contains("</svg>"));
    assert!(place.read("figures/jmlr-example-6/index.html").contains("PASS"));
    assert_eq!(place.files(), ["figures"]);
}

#[test]
fn names_that_are_none_and_folders_that_are_none_are_refused() {
    let outcome = Place::new().run("reproduce jmlr-figure-44");
    assert_eq!((outcome.status, outcome.out.as_str()), (2, ""));
    assert!(outcome.err.contains("jmlr-figure-4"), "{}", outcome.err);
    let outcome = Place::new().run("reproduce jmlr-figure-6 --data nowhere");
    assert_eq!((outcome.status, outcome.err.as_str()), (1, "eigenhedge: --data must be a folder, got nowhere\n"));
}
