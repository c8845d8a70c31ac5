//! Scores, alarms and events of the program.
#![allow(clippy::unwrap_used)]

use crate::common::{Place, unhinted};
use crate::tables::{Order, npy};
use eigenhedge::Random;

/// Returns a table with times. `b` is faulty in rows 300 to 319, and `c` is stuck in 420 to 459.
fn sensors(rows: usize) -> String {
    let mut random = Random::seeded(1);
    let mut table = "when,a,b,c,d\n".to_owned();
    let mut c = 0.0;
    for t in 0..rows {
        let (x, y) = (random.normal(), random.normal());
        let mut noise = || 0.3 * random.normal();
        let (a, b, d) = (x + noise(), x + y + noise(), y - x + noise());
        let fresh = y + noise();
        c = if (420..460).contains(&t) { c } else { fresh };
        let b = if (300..320).contains(&t) { b + 9.0 } else { b };
        table += &format!("{},{a:?},{b:?},{c:?},{d:?}\n", 1_700_000_000 + 60 * t);
    }
    table
}

const PLAIN: &str = "--warm-up 200 --time when";

fn cells(text: &str, line: usize) -> Vec<String> {
    text.lines().nth(line).unwrap().split(',').map(str::to_owned).collect()
}

#[test]
fn a_table_that_is_read_again_is_printed_once() {
    let place = Place::new();
    assert_eq!(place.run("make faults --rows 300 --dim 4 --out short.csv").status, 0);
    let printed = place.run("monitor short.csv --out - --quiet");
    assert_eq!(place.run("monitor short.csv --out scores.csv --quiet").status, 0);
    assert_eq!((printed.status, printed.out), (0, place.read("scores.csv")));
}

#[test]
fn the_five_faults_of_a_plant_are_its_five_gravest_incidents() {
    let place = Place::new();
    let days = ["", "--warm-up 10d", "--warm-up 14d"];
    for (rows, seed, options) in [(8640, 1, days[0]), (8640, 1, days[1]), (25_920, 1, days[2]), (25_920, 3, days[2])] {
        assert_eq!(place.run(&format!("make plant --rows {rows} --seed {seed} --out plant.csv")).status, 0);
        let outcome = place.run(&format!("monitor plant.csv {options} --events events.csv --quiet"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
        let events = place.read("events.csv");
        let mut incidents: Vec<Vec<&str>> = events.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let severity = |incident: &[&str]| incident[8].parse::<f64>().unwrap();
        incidents.sort_by(|a, b| severity(b).total_cmp(&severity(a)));
        let mut blamed: Vec<&str> = incidents[..5].iter().map(|incident| incident[15]).collect();
        blamed.sort_unstable();
        assert_eq!(blamed, ["AI701", "FI101", "LI401", "PI301", "TI202"], "{seed} {options}: {events}");
        // Each incident begins at most one day before its fault or after the end of its fault.
        let faults = eigenhedge::streams::plant(rows, seed).faults;
        let is_near = |row: usize| faults.iter().any(|f| row + 288 >= f.rows.start && row <= f.rows.end + 288);
        assert!(
            incidents[..5].iter().all(|incident| is_near(incident[3].parse().unwrap())),
            "{seed} {options}: {events}"
        );
    }
}

#[test]
fn incidents_below_the_least_severity_and_duration_are_not_reported() {
    let place = Place::new();
    assert_eq!(place.run("make plant --rows 25920 --seed 1 --out plant.csv").status, 0);
    let listed = |options: &str| {
        let outcome = place.run(&format!("monitor plant.csv --warm-up 14d --events e.csv --fail-on-alarm {options}"));
        assert!([0, 3].contains(&outcome.status), "{}", outcome.err);
        let incidents = place.read("e.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        (incidents, outcome)
    };
    let (all, _) = listed("");
    let is_severe = |line: &String| line.split(',').nth(8).unwrap().parse::<f64>().unwrap() >= 3.0;
    let is_long = |line: &String| line.split(',').nth(11).unwrap().parse::<u64>().unwrap() >= 12;
    let (severe, outcome) = listed("--min-severity critical");
    assert_eq!(severe, all.iter().filter(|line| is_severe(line)).cloned().collect::<Vec<_>>());
    assert!(severe.len() < all.len() && severe.len() >= 5, "{all:?}");
    assert!(outcome.out.contains(&format!("{}, ", severe.len())) && outcome.status == 3, "{}", outcome.out);
    assert_eq!(listed("--min-duration 12").0, all.iter().filter(|line| is_long(line)).cloned().collect::<Vec<_>>());
    assert!(listed("--min-duration 2h").0.len() < all.len());
    let (none, outcome) = listed("--min-severity 1e6");
    assert_eq!((none.len(), outcome.status), (0, 0));
    assert!(outcome.out.contains("No incident in"), "{}", outcome.out);
    // Unreported incidents are listed with --events-detail.
    let (detail, _) = listed("--min-severity critical --events-detail");
    let count = |kind: &str| detail.iter().filter(|line| line.starts_with(kind)).count();
    assert_eq!((count("incident,"), count("unreported,")), (severe.len(), all.len() - severe.len()));
    for (option, words) in [("--min-severity bad", "minor, major, critical"), ("--min-duration x", "a number of rows")]
    {
        let outcome = place.run(&format!("monitor plant.csv {option}"));
        assert!(outcome.status == 2 && outcome.err.contains(words), "{}", outcome.err);
    }
    place.write("plain.csv", "a,b\n1,2\n3,4\n");
    let outcome = place.run("monitor plain.csv --min-duration 1h");
    assert!(outcome.err.contains("--min-duration must be a number of rows: the table has no times"), "{}", outcome.err);
}

#[test]
fn alarms_causes_and_events_are_written_and_summed_up() {
    let place = Place::new();
    place.write("t.csv", sensors(600));
    let outcome = place.run(&format!("monitor t.csv {PLAIN} --out s.csv --events e.csv --events-detail"));
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    let scores = place.read("s.csv");
    assert_eq!(
        scores.lines().next().unwrap(),
        "row,when,score,q,t2,limit,alarm,state,incident,change,cause_1,share_1,cause_2,share_2,cause_3,share_3"
    );
    assert_eq!(scores.lines().count(), 601);
    assert_eq!(cells(&scores, 200)[2..10], ["", "", "", "", "0", "unscored", "", ""]);
    let fault = cells(&scores, 306);
    assert_eq!(fault[..1], ["305"]);
    assert_eq!((&fault[7..9], fault[10].as_str()), (&["incident", "1"].map(str::to_owned)[..], "b"));
    let events = place.read("e.csv");
    let head = "kind,incident,start,reported,end,start_time,reported_time,end_time,severity,grade,signs,rows,alarms,peak,peak_time,\
                strength,cause_1";
    assert!(events.starts_with(head), "{events}");
    assert!(events.lines().any(|line| line.starts_with("alarms,,300,,3") && line.contains(",b,")), "{events}");
    let of_fault = events.lines().find(|line| line.starts_with("incident,1,300,30")).unwrap();
    assert!(of_fault.contains(",1700018000,17000180") && of_fault.contains(",b,"), "{of_fault}");
    assert!(events.lines().any(|line| line.starts_with("incident,") && line.contains("stuck") && line.contains(",c,")));
    // Without --events-detail, only incidents are listed.
    assert_eq!(place.run(&format!("monitor t.csv {PLAIN} --events i.csv --quiet")).status, 0);
    let incidents = place.read("i.csv");
    assert!(incidents.lines().skip(1).all(|line| line.starts_with("incident,")), "{incidents}");
    assert_eq!(incidents.lines().count() - 1, events.lines().filter(|line| line.starts_with("incident,")).count());
    assert!(events.lines().any(|line| line.starts_with("rise,") && line.contains(",b,")), "{events}");
    for wanted in [
        "600 rows of 4 numbers",
        "the first 200 rows",
        "b unusual from 1700018000 to 17000",
        "auto:0.01",
        "c stuck from 17000",
    ] {
        assert!(outcome.out.contains(wanted), "{wanted}: {}", outcome.out);
    }
    assert_eq!(place.run(&format!("monitor t.csv {PLAIN} --quiet --fail-on-alarm")).status, 3);
    let calm: String = sensors(600).lines().take(290).map(|line| line.to_owned() + "\n").collect();
    place.write("calm.csv", calm);
    let calm =
        place.run(&format!("monitor calm.csv {PLAIN} --limit auto:1e-9 --incident-time 1000000 --fail-on-alarm"));
    assert_eq!((calm.status, calm.err.as_str()), (0, ""));
}

#[test]
fn json_lines_go_to_a_pipe_as_rows_come() {
    let place = Place::new();
    let outcome = place.feed("monitor - --warm-up 200 --exclude when --out - --out-format jsonl --quiet", sensors(330));
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    let lines: Vec<serde_json::Value> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 330);
    assert!(lines[10]["score"].is_null() && lines[10]["alarm"] == 0);
    let fault = &lines[304];
    assert!(fault["cause_1"] == "b" && fault["share_1"].as_f64().unwrap() > 0.2, "{fault}");
    assert!(fault["state"] == "incident" && fault["incident"] == 1 && lines[300]["alarm"] == 1, "{fault}");
}

#[test]
fn a_monitor_that_was_stopped_goes_on_with_the_same_bytes() {
    let place = Place::new();
    let table = sensors(600);
    place.write("t.csv", &table);
    let whole = place.run(&format!("monitor t.csv {PLAIN} --out s.csv --events e.csv --lags 2"));
    assert_eq!(whole.status, 0, "{}", whole.err);
    let (scores, events) = (place.read("s.csv"), place.read("e.csv"));
    let part: String = table.lines().take(311).map(|line| line.to_owned() + "\n").collect();
    place.write("t.csv", part);
    let command = format!("monitor t.csv {PLAIN} --out s.csv --events e.csv --lags 2 --snapshot m.snap");
    assert_eq!(place.run(&format!("{command} --snapshot-every 100")).status, 0);
    place.write("t.csv", &table);
    let again = place.run(&format!("{command} --resume m.snap"));
    assert_eq!(again.status, 0, "{}", again.err);
    assert_eq!(place.read("s.csv"), scores);
    let summary = |text: &str| text.lines().filter(|line| !line.starts_with("list")).collect::<Vec<_>>().join("\n");
    assert_eq!(summary(&again.out), summary(&whole.out));
    assert_eq!(place.read("e.csv").lines().count(), events.lines().count());
    let other = place.run(&format!("monitor t.csv {PLAIN} --out s.csv --lags 3 --snapshot m.snap --resume m.snap"));
    assert_eq!(other.status, 1);
    assert!(other.err.contains("must be as in m.snap"), "{}", other.err);
}

#[test]
fn another_reading_of_the_table_is_refused() {
    let place = Place::new();
    let line = |(i, line): (usize, &str)| {
        let cell = |(j, value): (usize, &str)| format!("2024-01-01 {:02}:{:02},x{j},{value}\n", i / 60, i % 60);
        line.split(',').enumerate().map(cell).collect::<String>()
    };
    let long: String = sensors(400).lines().skip(1).enumerate().map(line).collect();
    place.write("long.csv", format!("when,tag,value\n{long}"));
    let command = |every: &str| format!("monitor long.csv --warm-up 200 --pivot when,tag,value --every {every}");
    let first = place.run(&format!("{} --snapshot m.snap", command("1min")));
    assert_eq!(first.status, 0, "{}", first.err);
    place.write("other.csv", format!("when,tag,value\n{}", long.replacen("x0,", "x0,1", 1)));
    for (given, message) in [
        (
            command("1min").replace("long.csv", "other.csv"),
            "the table must be that of m.snap, but its first row is another one",
        ),
        (command("1min:mean"), "--every must be as in m.snap, 60s, got 60s:mean"),
        (format!("{} --thousands ,", command("1min")), "--thousands must be as in m.snap, none, got ,"),
    ] {
        let other = place.run(&format!("{given} --snapshot m.snap --resume m.snap"));
        assert!(other.status == 1 && other.err.contains(message), "{}", other.err);
    }
}

#[test]
fn another_table_can_teach_and_a_saved_monitor_can_begin() {
    let place = Place::new();
    let table = sensors(600);
    let lines: Vec<&str> = table.lines().collect();
    let normal: Vec<&str> = lines[..251].to_vec();
    place.write("normal.csv", normal.join("\n") + "\n");
    // The columns are in another order, and one is added.
    let turned = |line: &&str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{},{},{},{},{}\n", cells[4], cells[3], cells[0], cells[2], cells[1])
    };
    let new: String = lines[..1].iter().chain(&lines[251..]).map(turned).collect();
    place.write("new.csv", new);
    let outcome = place.run("monitor new.csv --train normal.csv --exclude when --out s.csv --snapshot m.snap");
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    let scores = place.read("s.csv");
    assert!(!cells(&scores, 1)[1].is_empty() && cells(&scores, 55)[6] == "incident" && cells(&scores, 55)[9] == "b");
    let began = place.run("monitor normal.csv --start-from m.snap --out again.csv");
    assert_eq!(began.status, 0, "{}", began.err);
    assert!(!cells(&place.read("again.csv"), 1)[1].is_empty());
    let told = place.run("inspect m.snap").out;
    assert!(
        told.starts_with("monitor    ") && told.contains("limit      about 1 % of normal rows exceed it"),
        "{told}"
    );
    let told: serde_json::Value = serde_json::from_str(&place.run("inspect m.snap --summary json").out).unwrap();
    assert!(told["monitors"][0]["limit"].as_f64().unwrap() > 0.0);
    let used = place.run("transform m.snap normal.csv").err;
    assert!(used.contains("m.snap: holds one monitor, not one model"), "{used}");
    let summary = place.run("monitor normal.csv --start-from m.snap --summary json").out;
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((summary["rows"].as_u64(), summary["monitors"][0]["lags"].as_u64()), (Some(250), Some(0)));
}

/// A fault that lasts overnight is reported the next day, with rows and times of the new table.
#[test]
fn an_incident_that_goes_on_in_the_next_table_is_reported() {
    let place = Place::new();
    let mut random = eigenhedge::Random::seeded(3);
    let mut line = |t: usize, shift: f64| {
        let (u, v) = (random.normal(), random.normal());
        format!("{:02}.03.2026 {:02}:00,{u},{},{v},{}\n", 1 + t / 24, t % 24, u + v + shift, v - u)
    };
    let mut table = |rows: std::ops::Range<usize>, fault: std::ops::Range<usize>| {
        let head = "when,a,b,c,d\n".to_owned();
        rows.fold(head, |text, t| text + &line(t, if fault.contains(&t) { 9.0 } else { 0.0 }))
    };
    place.write("one.csv", table(0..600, 500..600));
    place.write("two.csv", table(600..660, 600..660));
    place.write("three.csv", table(660..740, 660..690));
    assert_eq!(place.run("monitor one.csv --snapshot m.eh -q --fail-on-alarm").status, 3);
    let second =
        place.run("monitor two.csv --start-from m.eh --snapshot m.eh --events e.csv --report p.html --fail-on-alarm");
    assert_eq!(second.status, 3, "{}", second.out);
    assert!(second.out.contains("state      "), "{}", second.out);
    assert!(second.out.contains("b unusual since 26.03.2026 00:00"), "{}", second.out);
    let events = place.read("e.csv");
    assert!(events.contains(",0,0,,26.03.2026 00:00,26.03.2026 00:00,,"), "{events}");
    assert!(place.read("p.html").contains("b unusual since 26.03.2026 00:00"));
    let third = place.run("monitor three.csv --start-from m.eh --events e.csv --report p.html --out s.csv");
    assert!(third.out.contains("b unusual from 28.03.2026 12:00 to "), "{}", third.out);
    let events = place.read("e.csv");
    let ended: Vec<&str> = events.lines().nth(1).unwrap().split(',').collect();
    // All row numbers are those of the new table.
    assert!(ended[2] == "0" && (2..5).all(|i| ended[i].parse::<u64>().unwrap() < 80), "{events}");
    let numbers: Vec<String> =
        place.read("s.csv").lines().skip(1).map(|line| line.split(',').nth(8).unwrap().to_owned()).collect();
    assert!(numbers[0] == ended[1] && numbers[79].is_empty(), "{numbers:?}");
}

#[test]
fn each_key_has_a_monitor_like_one_alone() {
    let place = Place::new();
    let (table, mut mixed) = (sensors(600), "machine,a,b,c,d\n".to_owned());
    for line in table.lines().skip(1) {
        let cells = line.split_once(',').unwrap().1;
        mixed += &format!("left,{cells}\nright,{cells}\n");
    }
    place.write("t.csv", &table);
    place.write("mixed.csv", mixed);
    assert_eq!(place.run("monitor t.csv --exclude when --warm-up 200 --out one.csv").status, 0);
    let outcome = place.run("monitor mixed.csv --group-by machine --warm-up 200 --out two.csv --events e.csv");
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    let (one, two) = (place.read("one.csv"), place.read("two.csv"));
    for (i, line) in one.lines().skip(1).enumerate() {
        let alone = line.split_once(',').unwrap().1;
        for (side, key) in ["left", "right"].iter().enumerate() {
            let row = 2 * i + side;
            let wanted: Vec<&str> = alone.split(',').collect();
            let found = cells(&two, row + 1);
            assert_eq!((found[0].as_str(), found[1].as_str()), (row.to_string().as_str(), *key));
            // Rows of changes refer to the table. Before row 200, the keys share a reference.
            let same = (0..wanted.len()).filter(|j| ![6, 7].contains(j)).all(|j| wanted[j] == found[j + 2]);
            let same = same || i < 200;
            assert!(same, "{row}: {wanted:?} {found:?}");
        }
    }
    assert!(place.read("e.csv").starts_with("kind,machine,incident,start,reported,end,severity"));
}

#[test]
fn keys_with_few_rows_share_a_reference_and_short_tables_have_a_short_warm_up() {
    let place = Place::new();
    let table = sensors(600);
    let lines: Vec<&str> = table.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
    let mut fleet = "machine,a,b,c,d\n".to_owned();
    // Six machines alternate, with 40 rows each. The fault is in later rows.
    (0..240).for_each(|t| fleet += &format!("m{},{}\n", t % 6, lines[t]));
    place.write("fleet.csv", fleet);
    let outcome = place.run("monitor fleet.csv --group-by machine --out s.csv");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.contains("used a reference pooled over all keys"), "{}", outcome.out);
    let scores = place.read("s.csv");
    let scored =
        |scores: &str| scores.lines().skip(1).filter(|line| !line.split(',').nth(2).unwrap().is_empty()).count();
    assert!(scored(&scores) > 100, "{}", scored(&scores));
    // Ten machines alternate. The run is stopped before and after the shared reference is complete.
    let mut fleet = "machine,a,b,c,d\n".to_owned();
    (0..300).for_each(|t| fleet += &format!("m{},{}\n", t % 10, lines[t]));
    place.write("t.csv", &fleet);
    let command = "monitor t.csv --group-by machine --warm-up 40 --out s.csv --snapshot m.snap";
    assert_eq!(place.run(command).status, 0);
    let whole = place.read("s.csv");
    // Each machine has scores from its 20th row on.
    assert_eq!(scored(&whole), 100);
    for stop in [20, 150, 250] {
        place.write("t.csv", fleet.lines().take(stop).map(|line| line.to_owned() + "\n").collect::<String>());
        place.run(command);
        place.write("t.csv", &fleet);
        let resumed = place.run(&format!("{command} --resume m.snap"));
        assert_eq!((resumed.status, resumed.err.as_str()), (0, ""), "{stop}");
        assert_eq!(place.read("s.csv"), whole, "{stop}");
    }
    let short: String = table.lines().take(121).map(|line| line.to_owned() + "\n").collect();
    place.write("short.csv", short);
    let outcome = place.run("monitor short.csv --time when --out s.csv");
    assert!(outcome.status == 0 && outcome.out.contains("normal     the first 40 rows"), "{}", outcome.out);
    assert_eq!(scored(&place.read("s.csv")), 80);
}

/// The number of rows of an NPY file is known before they are read. That of a text file is not.
#[test]
fn a_warm_up_longer_than_the_table_is_said_before_the_rows_are_read() {
    let place = Place::new();
    let rows = eigenhedge::streams::iid(150, 2, 0.3, 300, 1).rows;
    place.write("t.npy", npy(&rows, Order::C));
    let line = |row: &Vec<f64>| row.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",") + "\n";
    let header = (0..150).map(|j| format!("x{j}")).collect::<Vec<_>>().join(",") + "\n";
    place.write("t.csv", header + &rows.iter().map(line).collect::<String>());
    let sentences = [
        ("t.npy", "eigenhedge: the table is short: the first 100 rows are the warm-up, which --warm-up changes\n"),
        ("t.csv", "eigenhedge: the first 450 rows are the warm-up, which --warm-up changes\n"),
        ("t.npy --warm-up 100", ""),
    ];
    for (table, sentence) in sentences {
        let outcome = place.run(&format!("monitor {table} --out {}.scores", &table[..5]));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, sentence), "{table}");
        assert!(outcome.out.contains("normal     the first 100 rows"), "{}", outcome.out);
        assert_eq!(place.run(&format!("monitor {table} --quiet")).err, "", "{table}");
    }
    let scores = |file: &str| {
        place.read(file).lines().map(|line| line.split(',').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(scores("t.npy.scores"), scores("t.csv.scores"));
    // A table that is too short for any warm-up is an error.
    place.write("t.npy", npy(&rows[..30].to_vec(), Order::C));
    let outcome = place.run("monitor t.npy");
    assert!(
        outcome.status == 1 && outcome.err.contains("must have more rows than the warm-up, 450, got 30"),
        "{}",
        outcome.err
    );
}

#[test]
fn a_state_is_accepted_at_a_row_and_the_stop_between_changes_nothing() {
    let place = Place::new();
    let mut table = "a,b,c,d\n".to_owned();
    for (t, line) in sensors(900).lines().skip(1).enumerate() {
        let mut cells: Vec<f64> = line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
        cells[0] += if t >= 480 { 9.0 } else { 0.0 };
        table += &format!("{:?},{:?},{:?},{:?}\n", cells[0], cells[1], cells[2], cells[3]);
    }
    place.write("t.csv", &table);
    let state = |file: &str, row: usize| cells(&place.read(file), row + 1)[6].clone();
    assert_eq!(place.run("monitor t.csv --warm-up 200 --out never.csv --quiet").status, 0);
    assert_ne!(state("never.csv", 890), "normal");
    let command =
        "monitor t.csv --warm-up 200 --accept 482 --out s.csv --events e.csv --events-detail --snapshot m.snap";
    let whole = place.run(command);
    assert_eq!(whole.status, 0, "{}", whole.err);
    let (scores, events) = (place.read("s.csv"), place.read("e.csv"));
    // The new reference needs at least twenty rows.
    let accepted = events.lines().find(|line| line.starts_with("accepted,")).unwrap();
    let row: u64 = accepted.split(',').nth(2).unwrap().parse().unwrap();
    assert!((482..510).contains(&row), "{accepted}");
    for stop in [470, 490, 530] {
        let part: String = table.lines().take(stop).map(|line| line.to_owned() + "\n").collect();
        place.write("t.csv", part);
        assert_eq!(place.run(command).status, 0);
        place.write("t.csv", &table);
        assert_eq!(place.run(&format!("{command} --resume m.snap")).status, 0);
        assert_eq!(place.read("s.csv"), scores, "{stop}");
    }
    let by_itself =
        place.run("monitor t.csv --warm-up 200 --rebaseline after:100 --events e.csv --events-detail --quiet");
    assert_eq!(by_itself.status, 0, "{}", by_itself.err);
    assert!(place.read("e.csv").lines().any(|line| line.starts_with("accepted,")));
    // A time means the first row at or after it.
    assert_eq!(place.run("make plant --out plant.csv").status, 0);
    let time = place.read("plant.csv").lines().nth(5002).unwrap().split(',').next().unwrap().to_owned();
    let listed = |accept: &str| {
        let outcome = place.run(&format!("monitor plant.csv --events e.csv --events-detail --quiet --accept {accept}"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
        place.read("e.csv")
    };
    let row = place.read("plant.csv").lines().take_while(|line| !line.starts_with(&time)).count() - 1;
    assert!(listed(&time.replace(' ', "T")).contains("accepted,"), "{time}");
    assert_eq!(listed(&time.replace(' ', "T")), listed(&row.to_string()));
    let wrong = place.run("monitor plant.csv --accept soon");
    assert!(wrong.err.contains("--accept must be a row or a time of the table, got soon"), "{}", wrong.err);
}

#[test]
fn modes_are_suggested_and_rows_after_a_change_have_no_score() {
    let place = Place::new();
    // The mode changes every 60 rows, and its level is reached after 6 rows. A column is biased in rows 1570 to 1579.
    let (mut table, mut random) = ("a,b,c,d,mode\n".to_owned(), Random::seeded(1));
    for t in 0..1800 {
        let mode = t / 60 % 2;
        let rest = if t >= 60 { 25.0 * (1.0 - f64::from(t % 60) / 6.0).max(0.0) } else { 0.0 };
        let level = if mode == 1 { 25.0 - rest } else { rest };
        let (x, y) = (random.normal(), random.normal());
        let mut cell = |mean: f64| mean + level + 0.3 * random.normal();
        let bias = if (1570..1580).contains(&t) { 6.0 } else { 0.0 };
        let (a, b, c, d) = (cell(x), cell(y + bias), cell(x + y), cell(x - y));
        table += &format!("{a:?},{b:?},{c:?},{d:?},{}\n", ["idle", "run"][mode as usize]);
    }
    place.write("t.csv", &table);
    let alone = place.run("monitor t.csv --exclude mode --warm-up 50");
    assert!(alone.out.contains("--group-by gives each mode its own"), "{}", alone.out);
    let command = "monitor t.csv --group-by mode --warm-up 200 --out s.csv --events e.csv --snapshot m.snap --quiet";
    let settled = format!("{command} --settle 6");
    let scores = |command: &str| {
        let outcome = place.run(command);
        assert_eq!(outcome.status, 0, "{}", outcome.err);
        place.read("s.csv")
    };
    let severity = || {
        let events = place.read("e.csv");
        let severities = events.lines().skip(1).map(|line| line.split(',').nth(6).unwrap().parse::<f64>().unwrap());
        severities.fold(0.0, f64::max)
    };
    scores(command);
    let unsettled = severity();
    let whole = scores(&settled);
    assert!(severity() > 2.0 * unsettled.max(1.0), "{} {unsettled}", severity());
    for (t, line) in whole.lines().skip(1).enumerate() {
        let has_score = !line.split(',').nth(2).unwrap().is_empty();
        let settles = t >= 60 && t % 60 < 6;
        assert!(!has_score || !settles, "{t}: {line}");
        assert!(has_score || settles || t < 600, "{t}: {line}");
    }
    for stop in [603, 609] {
        let part: String = table.lines().take(stop).map(|line| line.to_owned() + "\n").collect();
        place.write("t.csv", part);
        scores(&settled);
        place.write("t.csv", &table);
        assert_eq!(scores(&format!("{settled} --resume m.snap")), whole, "{stop}");
    }
    let refused = place.run(&format!("{command} --settle 6 --missing fail"));
    assert!(refused.err.contains("--settle needs --missing fill"), "{}", refused.err);
}

#[test]
fn what_cannot_be_monitored_is_said() {
    let place = Place::new();
    place.write("t.csv", sensors(60));
    place.write("few.csv", sensors(30));
    place.write("gap.csv", "a,b\n1,2\n,3\n");
    let cases = [
        ("monitor few.csv", 1, "few.csv: must have more rows than the warm-up, 400, got 30; --warm-up takes fewer"),
        ("monitor t.csv --warm-up 5", 1, "--warm-up must be at least 20 rows more than the lags, got 5"),
        ("monitor t.csv -k 9", 1, "-k must be less than the number of selected columns times (lags + 1), 4, got 9"),
        ("monitor t.csv --lags 500", 1, "--lags must be at most 100, got 500"),
        ("monitor gap.csv --warm-up 30 --missing fail", 1, "--missing"),
        ("monitor t.csv --limit auto:2", 2, "must be ALPHA, auto:ALPHA or conformal:P"),
        ("monitor t.csv --mode frozen", 2, "must be adapt or freeze:ROWS"),
        ("monitor t.csv --standardize running", 2, "--standardize must be none or warmup:ROWS"),
        ("monitor t.csv --rebaseline soon", 2, "must be never or after:ROWS"),
        ("monitor t.csv --incident-time 3", 2, "must be from 100 to 1e9"),
        ("monitor t.csv --accept 9 --group-by when", 2, "cannot be used with"),
        ("monitor t.csv --events t.csv", 2, "--events must not be the input"),
        ("monitor t.csv --out o.csv --events ./o.csv", 2, "--events must not be --out"),
        ("monitor t.csv --mode freeze:30 --warm-up 40", 2, "--mode freeze:30 must be as long as --warm-up 40"),
        ("monitor t.csv --start-from t.csv", 1, "t.csv: is not a file saved by eigenhedge"),
        ("monitor t.csv --start-from t.csv --lags 2", 2, "cannot be used with"),
        ("monitor t.csv --train missing.csv", 1, "missing.csv: there is no such file"),
    ];
    for (command, status, sentence) in cases {
        let outcome = place.run(command);
        assert_eq!(outcome.status, status, "{command}: {}", outcome.err);
        assert!(unhinted(&outcome.err).contains(sentence), "{command}: {}", outcome.err);
    }
    place.write("m.csv", sensors(100).replace(",0", ","));
    let filled =
        place.run("monitor t.csv --warm-up 30 --exclude when --missing fill --limit conformal:0.01 --mode adapt");
    assert_eq!(filled.status, 0, "{}", filled.err);
}

#[test]
fn a_command_is_run_for_each_event_and_numbers_are_written_for_a_collector() {
    let place = Place::new();
    place.write("t.csv", sensors(600));
    let outcome = place.run(&format!("monitor t.csv {PLAIN} --events - --on-alarm true --metrics m.prom"));
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    let events: Vec<serde_json::Value> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!events.is_empty() && events.iter().all(|event| event["kind"].is_string()), "{}", outcome.out);
    assert!(outcome.err.contains("alarms"), "the summary stands on standard error: {}", outcome.err);
    let metrics = place.read("m.prom");
    for line in ["# TYPE eigenhedge_alarms_total counter", "eigenhedge_rows_total 600", "eigenhedge_in_incident "] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    // The shell command contains spaces, so it is passed as one argument.
    let mut command = place.command(&format!("monitor t.csv {PLAIN} --quiet --events e.csv --on-alarm"));
    assert!(command.arg("cat >> told.jsonl").status().unwrap().success());
    let told: Vec<serde_json::Value> =
        place.read("told.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let listed = place.read("e.csv");
    let of = |kind: &str| told.iter().filter(|notice| notice["kind"] == kind).count();
    let is_open = |line: &&str| line.split(',').nth(4) == Some("");
    assert_eq!(of("opened"), listed.lines().count() - 1);
    assert_eq!(of("opened") - of("closed"), listed.lines().filter(is_open).count());
    assert!(told.iter().all(|notice| notice["causes"].is_array() && notice["row"].is_u64()));
    // A failing command is reported and does not stop the monitor.
    let failing = place.run(&format!("monitor t.csv {PLAIN} --quiet --on-alarm false"));
    assert!(failing.status == 0 && failing.err.contains("--on-alarm: the command failed"), "{}", failing.err);
    for (arguments, sentence) in [
        ("--out - --events -", "--out and --events must not both be -"),
        ("--events e.html", "--events writes csv, tsv, jsonl, parquet or npy"),
        ("--metrics t.csv", "--metrics must not be the input"),
    ] {
        let outcome = place.run(&format!("monitor t.csv {arguments}"));
        assert!(outcome.status == 2 && outcome.err.contains(sentence), "{arguments}: {}", outcome.err);
    }
}
