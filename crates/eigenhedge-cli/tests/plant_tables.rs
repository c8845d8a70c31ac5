//! Tables in the formats of plants, with the same planted fault. One command must find the sensor and
//! the time of the fault, from a file or a pipe, or its error must name the option that is missing.
#![allow(clippy::unwrap_used)]

use crate::common::Place;
use crate::plant_cases::*;
use std::fmt::Write as _;
use std::io::Write as _;

#[test]
fn the_fault_is_found_named_and_dated_in_every_table() {
    let mut failed = Vec::new();
    for Case { name, file, bytes, options, read_as, time, pipe } in cases() {
        let place = Place::new();
        place.write(file, &bytes);
        let mut check = |way: &str, outcome: crate::common::Outcome| {
            let text = format!("{}{}", outcome.out, outcome.err);
            if outcome.status != 0 || !text.contains(read_as) || !finds_fault(&text, time) {
                failed.push(format!("{name} by {way}: status {}\n{text}", outcome.status));
            }
        };
        check("file", place.run(&format!("monitor {file} {options}")));
        if pipe {
            check("pipe", place.feed(&format!("monitor - {options}"), &bytes));
        }
        let missing = if options.contains("na-values") || name.contains("empty") { "--missing skip" } else { "" };
        let outcome = place.run(&format!("run {file} {options} {missing}"));
        if outcome.status != 0 || !outcome.err.contains("-k ") || !outcome.out.contains(" rows of ") {
            failed.push(format!("{name} by run: {}{}", outcome.out, outcome.err));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn answers_are_written_in_the_dialect_of_the_table() {
    let place = Place::new();
    place.write("t.csv", semicolons().bytes());
    assert_eq!(place.run("monitor t.csv --quiet --out o.csv --events e.csv").status, 0);
    let (out, events) = (place.read("o.csv"), place.read("e.csv"));
    assert!(out.starts_with("row;Zeit;score;"), "{}", &out[..60]);
    let line = out.lines().nth(FAULT + 1).unwrap();
    assert!(
        line.contains(',')
            && !line.contains(", ")
            && line.split(';').count() == out.lines().next().unwrap().split(';').count(),
        "{line}"
    );
    assert!(events.lines().count() > 1 && events.lines().all(|line| line.contains(';')), "{events}");
    assert_eq!(place.run("monitor t.csv --quiet --out p.csv --answers-as csv").status, 0);
    assert!(place.read("p.csv").starts_with("row,Zeit,score,"));
    assert_eq!(place.run("run t.csv -k 2 --quiet --out r.csv").status, 0);
    assert!(place.read("r.csv").starts_with("row;Zeit;expected_loss;"));
}

#[test]
fn a_time_zone_tells_the_repeated_hour_apart() {
    let place = Place::new();
    place.write("t.csv", Writer { time: berlin, ..semicolons() }.bytes());
    let outcome = place.run("monitor t.csv --quiet --out o.csv --answers-as csv --timezone Europe/Berlin");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    let out = place.read("o.csv");
    let line = |row: usize| out.lines().nth(row + 1).unwrap();
    assert!(line(299).starts_with("299,2024-10-27T02:50:00+02:00,"), "{}", line(299));
    assert!(line(300).starts_with("300,2024-10-27T02:00:00+01:00,"), "{}", line(300));
    let outcome = place.run("monitor t.csv --report r.html");
    assert!(
        outcome.err.contains("the clock goes back an hour before row 300, the end of summer time"),
        "{}",
        outcome.err
    );
    let outcome = place.run("monitor t.csv --timezone Europe/Nowhere");
    assert!(outcome.status == 2 && outcome.err.contains("must be the name of a time zone"), "{}", outcome.err);
}

/// Returns a long table, sorted by time or by tag.
fn long(by_tag: bool) -> String {
    let rows = rows();
    let mut lines = Vec::new();
    for (t, row) in rows.iter().enumerate() {
        lines.extend((0..5).map(|j| {
            (if by_tag { j * ROWS + t } else { 5 * t + j }, format!("{},{},{:.3}\n", iso(t), NAMES[j], row[j]))
        }));
    }
    lines.sort();
    format!("timestamp,tag,value\n{}", lines.into_iter().map(|(_, line)| line).collect::<String>())
}

#[test]
fn a_long_table_is_recognized_and_pivoted() {
    for by_tag in [false, true] {
        let place = Place::new();
        place.write("t.csv", long(by_tag));
        let outcome = place.run("monitor t.csv");
        let question = "is a long table: ";
        let answer =
            "in the column tag and one value in each row; --pivot timestamp,tag,value makes a column of each tag";
        // The first rows of a table sorted by tag contain a single tag.
        if !by_tag {
            assert_eq!(outcome.status, 1);
            assert!(outcome.err.contains(question) && outcome.err.contains(answer), "{}", outcome.err);
        }
        for options in [
            "--pivot timestamp,tag,value",
            "--pivot timestamp,tag,value --every 10min",
            "--pivot 0,1,2 --every 10min:mean",
        ] {
            let outcome = place.run(&format!("monitor t.csv {options}"));
            let time = |row: usize| iso(row).replace(' ', "T");
            assert!(
                outcome.status == 0 && finds_fault(&outcome.out, time),
                "{options}: {}{}",
                outcome.out,
                outcome.err
            );
            assert!(outcome.out.contains("900 rows of 5 numbers"), "{options}: {}", outcome.out);
        }
        let outcome = place.run("run t.csv --pivot timestamp,tag,value --exclude TI502 --quiet --summary json");
        assert!(outcome.status == 0 && outcome.out.contains("\"rows\":900"), "{}{}", outcome.out, outcome.err);
    }
    let place = Place::new();
    let outcome = place.feed("monitor - --pivot timestamp,tag,value", long(false));
    assert!(outcome.status == 0 && outcome.out.contains("900 rows of 5 numbers"), "{}{}", outcome.out, outcome.err);
    let outcome = place.feed(
        "monitor - --pivot timestamp,tag,value",
        long(false) + "2024-01-08 00:00:00,FI101,3\n2024-02-08 00:00:00,other,3\n",
    );
    assert!(outcome.err.contains("1 late values left out, 1 values of later tags left out"), "{}", outcome.err);
}

#[test]
fn folders_and_patterns_are_read_in_the_order_of_names() {
    let place = Place::new();
    let text = plain().text();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::create_dir(place.path("plant")).unwrap();
    for part in 0..3 {
        let piece: Vec<&str> =
            std::iter::once(lines[0]).chain(lines[1 + 300 * part..301 + 300 * part].iter().copied()).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all((piece.join("\n") + "\n").as_bytes()).unwrap();
        place.write(&format!("plant/day_{}.csv.gz", part + 9), gzip.finish().unwrap());
    }
    place.write("plant/notes.html", "no table");
    for input in ["plant", "plant/day_*.csv.gz", "plant/day_?.csv.gz plant/day_1*"] {
        let outcome = place.run(&format!("monitor {input}"));
        assert!(outcome.status == 0 && finds_fault(&outcome.out, iso), "{input}: {}{}", outcome.out, outcome.err);
        assert!(!outcome.err.contains("times:"), "{}", outcome.err);
    }
    let outcome = place.run("monitor plant/night_*.csv");
    assert!(outcome.status == 2 && outcome.err.contains("no file matches plant/night_*.csv"), "{}", outcome.err);
    // Compressed bytes are recognized in a pipe and in a file with another extension.
    let packed = std::fs::read(place.path("plant/day_9.csv.gz")).unwrap();
    place.write("t.csv", &packed);
    for outcome in [place.run("monitor t.csv --warm-up 100"), place.feed("monitor - --warm-up 100", &packed)] {
        assert!(outcome.status == 0 && outcome.out.contains("300 rows of 5 numbers"), "{}{}", outcome.out, outcome.err);
    }
    place.write("t.csv.bz2", b"BZh91AY&SY\x00\x00");
    let outcome = place.run("monitor t.csv.bz2");
    assert!(
        outcome.status == 1 && outcome.err.contains("is compressed by bzip2, which is not read: bzcat unpacks it"),
        "{}",
        outcome.err
    );
}

#[cfg(all(feature = "workbook", feature = "parquet"))]
#[test]
fn sheets_of_workbooks_are_read_like_text() {
    use crate::tables::{sheet, workbook};
    let place = Place::new();
    let table = Writer { time: excel, ..plain() }.text().replacen('\n', "\n,m3/h,bar,°C,°C,%\n", 1);
    let sheets = [("Notes", sheet("Plant 7\nnorth\n")), ("Data", sheet(&format!("Plant 7\n\n{table}")))];
    place.write("t.xlsx", workbook(&sheets));
    for options in ["", "--sheet Data"] {
        let outcome = place.run(&format!("monitor t.xlsx {options}"));
        assert!(outcome.status == 0 && finds_fault(&outcome.out, iso), "{}{}", outcome.out, outcome.err);
        assert!(
            outcome.err.contains("the first 2 lines before the header skipped, units in line 4"),
            "{}",
            outcome.err
        );
        assert_eq!(outcome.err.contains("sheet Data"), options.is_empty(), "{}", outcome.err);
    }
    assert!(place.run("run t.xlsx").status == 0);
    let outcome = place.run("monitor t.xlsx --sheet Daten");
    let sentence = "t.xlsx: there is no sheet \"Daten\"; the sheets are Notes, Data; did you mean \"Data\"?";
    assert!(outcome.status == 1 && outcome.err.contains(sentence), "{}", outcome.err);
    let outcome = place.run("monitor t.csv --sheet Data");
    assert!(outcome.status == 2 && outcome.err.contains("--sheet has no effect with t.csv"), "{}", outcome.err);
}

#[test]
fn lines_of_json_may_lack_keys() {
    let place = Place::new();
    let mut text = String::new();
    for (t, row) in rows().iter().enumerate() {
        let cells = NAMES.iter().zip(row).enumerate().filter(|(j, _)| (t + j) % 9 > 0 && !(t == 0 && *j == 3));
        let cells: Vec<String> = cells.map(|(_, (name, x))| format!("\"{name}\":{x:.3}")).collect();
        writeln!(text, "{{\"ts\":{},{},\"pump\":{}}}", seconds(t), cells.join(","), t % 7 < 3).unwrap();
    }
    // One array of rows, and rows over several lines, are read like JSON lines.
    let array = format!("[{}]", text.trim_end().replace('\n', ","));
    let pretty = text.replace("{\"ts", "{\n  \"ts").replace("}\n", "\n}\n");
    place.write("t.jsonl", &text);
    place.write("array.json", &array);
    let outcomes = [
        place.run("monitor t.jsonl"),
        place.run("monitor array.json"),
        place.feed("monitor - --format jsonl", &text),
        place.feed("monitor - --format jsonl", &array),
        place.feed("monitor - --format jsonl", &pretty),
    ];
    for outcome in outcomes {
        assert!(outcome.status == 0 && finds_fault(&outcome.out, seconds), "{}{}", outcome.out, outcome.err);
        assert!(outcome.out.contains("900 rows of 6 numbers"), "{}", outcome.out);
    }
}

#[test]
fn a_date_in_several_columns_of_numbers_is_left_out() {
    let place = Place::new();
    let mut text = format!("Year,Month,Day,Hour,Minute,{}\n", NAMES.join(","));
    for (t, row) in rows().iter().enumerate() {
        let (day, hour, minute, _) = date(t);
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.3}")).collect();
        writeln!(text, "2024,1,{day},{hour},{minute},{}", cells.join(",")).unwrap();
    }
    place.write("t.csv", &text);
    for outcome in [place.run("monitor t.csv"), place.feed("monitor -", &text)] {
        let read = "5 columns of numbers, 5 left out: Year, Month, Day, Hour, Minute";
        assert!(outcome.status == 0 && outcome.err.contains(read), "{}{}", outcome.out, outcome.err);
        assert!(outcome.out.contains("TI502") && !outcome.out.contains("Hour"), "{}", outcome.out);
    }
}

#[test]
fn seconds_since_the_start_are_left_out() {
    let place = Place::new();
    for step in ["1", "0.5", "600"] {
        let mut text = format!("t_s,{}\n", NAMES.join(","));
        for (t, row) in rows().iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|x| format!("{x:.3}")).collect();
            let elapsed = step.parse::<f64>().unwrap() * t as f64;
            writeln!(text, "{elapsed:.1},{}", cells.join(",")).unwrap();
        }
        place.write("t.csv", &text);
        let outcome = place.run("monitor t.csv");
        let is_read = outcome.err.contains("5 columns of numbers, 1 left out: t_s");
        assert!(outcome.status == 0 && is_read, "{}{}", outcome.out, outcome.err);
        assert!(outcome.out.contains("TI502"), "{}", outcome.out);
    }
}

#[test]
fn lines_of_json_may_have_objects_and_numbers_in_quotes() {
    let place = Place::new();
    let mut text = String::new();
    for (t, [a, b, c, d, e]) in rows().into_iter().enumerate() {
        let bad = if t % 40 == 7 { "Bad".to_owned() } else { format!("{e:.3}") };
        writeln!(
            text,
            "{{\"ts\":{:?},\"north\":{{\"FI101\":\"{a:.3}\",\"pump\":{{\"PI201\":{b}}}}},\"TI501\":\"{c:e}\",\"TI502\":{d},\"LI301\":\"{bad}\"}}",
            iso(t)
        )
        .unwrap();
    }
    place.write("t.jsonl", &text);
    let array = text.trim_end().replace('\n', ",\n");
    place.write("t.json", format!("{{\"data\": [\n{array}],\n\"count\": 900}}\n"));
    for outcome in
        [place.run("monitor t.jsonl"), place.run("monitor t.json"), place.feed("monitor - --format jsonl", &text)]
    {
        assert!(outcome.status == 0 && finds_fault(&outcome.out, iso), "{}{}", outcome.out, outcome.err);
        assert!(outcome.out.contains("900 rows of 5 numbers"), "{}", outcome.out);
    }
    let outcome =
        place.run("run t.jsonl -k 2 --columns north.FI101,north.pump.PI201,TI502 --quiet --reconstruct r.jsonl");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert!(place.read("r.jsonl").contains("\"north.pump.PI201\":"));
    // A new key in an inner object is an error, as in an outer object.
    place.write("t.jsonl", "{\"a\":1,\"b\":{\"c\":2}}\n".repeat(400) + "{\"a\":1,\"b\":{\"c\":2,\"d\":3}}\n");
    let outcome = place.run("run t.jsonl -k 1");
    assert!(outcome.status == 1 && outcome.err.contains("\"b.d\""), "{}", outcome.err);
}

#[test]
fn what_is_doubtful_is_asked_with_the_answers() {
    let place = Place::new();
    let ambiguous = |t: usize| format!("0{}/02/2024 {:02}:{:02}", 3 + t / 500, t / 60 % 8, t % 60);
    let mut text = format!("time,{}\n", NAMES.join(","));
    rows()
        .iter()
        .enumerate()
        .take(450)
        .for_each(|(t, row)| writeln!(text, "{},{}", ambiguous(t), row.map(|x| format!("{x:.3}")).join(",")).unwrap());
    place.write("t.csv", &text);
    let outcome = place.run("monitor t.csv");
    let question = "t.csv, column 0 (\"time\"): \"03/02/2024 00:00\" can be two dates: 2024-02-03 with --time-format";
    assert!(
        outcome.status == 1 && outcome.err.contains(question) && outcome.err.contains("2024-03-02 with --time-format"),
        "{}",
        outcome.err
    );
    // A single group of thousands is ambiguous.
    place.write("t.csv", "a,b\n".to_owned() + &"\"1,234\",2\n".repeat(50));
    let outcome = place.run("monitor t.csv");
    assert!(
        outcome.err.contains("--decimal , reads a decimal comma, --thousands , a sign between thousands"),
        "{}",
        outcome.err
    );
    for (options, wanted) in [("--decimal ,", "1.234"), ("--thousands ,", "1234.0")] {
        assert_eq!(
            place.run(&format!("run t.csv {options} -k 1 --quiet --missing skip --reconstruct r.jsonl")).status,
            0
        );
        assert!(place.read("r.jsonl").contains(&format!("{{\"a\":{wanted}")), "{}", place.read("r.jsonl"));
    }
}

#[test]
fn many_skipped_rows_are_told_and_most_are_refused() {
    let place = Place::new();
    let spoiled = |every: usize| {
        Writer { ..plain() }
            .text()
            .lines()
            .enumerate()
            .map(|(i, line)| if i > 0 && i % every == 0 { "x,y\n".to_owned() } else { format!("{line}\n") })
            .collect::<String>()
    };
    place.write("t.csv", spoiled(5));
    let outcome = place.run("monitor t.csv --on-bad-row skip");
    assert!(
        outcome.status == 0 && outcome.out.starts_with("caution    180 of 900 rows (20 %) were skipped as bad"),
        "{}{}",
        outcome.out,
        outcome.err
    );
    let half = spoiled(3)
        .lines()
        .enumerate()
        .map(|(i, line)| if i > 0 && i % 2 == 0 { "x,y\n".to_owned() } else { format!("{line}\n") })
        .collect::<String>();
    place.write("t.csv", half);
    for command in ["monitor t.csv --on-bad-row skip", "run t.csv --on-bad-row skip"] {
        let outcome = place.run(command);
        let sentence = "600 of 900 rows (67 %) were skipped as bad, so that the result is about the others; --allow-skipped permits that";
        assert!(outcome.status == 1 && outcome.err.contains(sentence), "{}{}", outcome.out, outcome.err);
        assert_eq!(
            place
                .run(
                    &format!("{command} --allow-skipped --warm-up 100")
                        .replace(if command.starts_with("run") { " --warm-up 100" } else { "none" }, "")
                )
                .status,
            0
        );
    }
}

#[test]
fn one_column_is_monitored_and_durations_count_rows() {
    let place = Place::new();
    let text = plain().text();
    let column: String = text
        .lines()
        .map(|line| format!("{},{}\n", line.split(',').next().unwrap(), line.split(',').nth(4).unwrap()))
        .collect();
    place.write("one.csv", column);
    let outcome = place.run("monitor one.csv");
    assert!(
        outcome.status == 0 && finds_fault(&outcome.out, iso) && !outcome.out.contains("constant"),
        "{}",
        outcome.out
    );
    place.write("t.csv", text);
    let by_rows = place.run("monitor t.csv --warm-up 432 --event-gap 3 --out a.csv --quiet");
    let by_time = place.run("monitor t.csv --warm-up 3d --event-gap 30min --out b.csv --quiet");
    assert_eq!((by_rows.status, by_time.status), (0, 0), "{}", by_time.err);
    assert_eq!(place.read("a.csv"), place.read("b.csv"));
    let outcome = place.feed("monitor - --warm-up 3d", "a,b\n1,2\n");
    assert!(outcome.status == 2 && outcome.err.contains("--warm-up must be a number of rows"), "{}", outcome.err);
    // Commands work without -k.
    for command in [
        "run t.csv",
        "compare t.csv --learners leader",
        "pca t.csv",
        "run t.csv -k 0.5",
        "kernel-pca t.csv --gamma 1e-4",
    ] {
        let outcome = place.run(command);
        assert!(
            outcome.status == 0 && outcome.err.contains("-k ") && outcome.err.contains(" % of the first "),
            "{command}: {}",
            outcome.err
        );
    }
    assert_eq!(place.run("mmd t.csv t.csv --splits 9").status, 0);
}

/// Returns a local time in Berlin and its offset, every 10 minutes from 26 October 2024. Summer time ends before row 162.
fn autumn(row: usize) -> (String, &'static str) {
    let (offset, seconds) = if row < 162 { ("+02:00", 600 * row) } else { ("+01:00", 600 * row - 3600) };
    let (day, hour, minute) = (26 + seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60);
    (format!("2024-10-{day:02}T{hour:02}:{minute:02}:00"), offset)
}

/// Returns a table whose lines are made from a row number and two random cells. The first line is `header`.
fn autumn_table(header: &str, line: impl Fn(usize, f64, f64) -> String) -> Vec<String> {
    let mut random = eigenhedge::Random::seeded(4);
    let lines = (0..700).map(|row| line(row, random.normal(), random.normal()));
    std::iter::once(format!("{header}\n")).chain(lines).collect()
}

#[test]
fn local_times_of_every_order_and_form_get_the_right_offsets() {
    let place = Place::new();
    let wide = autumn_table("t,a,b", |row, a, b| format!("{},{a:.3},{b:.3}\n", autumn(row).0));
    let long = autumn_table("t,tag,value", |row, a, b| {
        let time = autumn(row).0;
        format!("{time},a,{a:.3}\n{time},b,{b:.3}\n")
    });
    place.write("wide.csv", wide.concat());
    place.write("newest.csv", wide[..1].iter().chain(wide[1..].iter().rev()).cloned().collect::<String>());
    place.write("long.csv", long.concat());
    let times = |options: &str| {
        let outcome = place.run(&format!("run {options} -k 1 --timezone Europe/Berlin --quiet --out o.csv"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""), "{options}");
        let out = place.read("o.csv");
        out.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut wanted: Vec<String> = (0..700).map(autumn).map(|(time, offset)| time + offset).collect();
    assert_eq!(times("wide.csv"), wanted);
    assert_eq!(times("long.csv --pivot t,tag,value"), wanted);
    wanted.reverse();
    assert_eq!(times("newest.csv"), wanted);
    let days: Vec<String> = ["26T00:00:00+02:00", "27T00:00:00+02:00", "28T00:00:00+01:00", "29T00:00:00+01:00"]
        .map(|day| format!("2024-10-{day}"))
        .into();
    assert_eq!(times("long.csv --pivot t,tag,value --every 1d:mean")[..4], days);
}

#[test]
fn a_time_to_accept_is_the_instant_or_the_time_of_the_clock() {
    let place = Place::new();
    let line = |has_offset: bool| {
        move |row: usize, a: f64, b: f64| {
            let ((time, offset), level) = (autumn(row), if row < 450 { 0.0 } else { 9.0 });
            format!("{time}{},{:.3},{b:.3}\n", if has_offset { offset } else { "" }, a + level)
        }
    };
    place.write("local.csv", autumn_table("t,a,b", line(false)).concat());
    place.write("offset.csv", autumn_table("t,a,b", line(true)).concat());
    let listed = |options: &str, accept: &str| {
        let outcome = place
            .run(&format!("monitor {options} --warm-up 200 --events e.csv --events-detail --quiet --accept {accept}"));
        assert_eq!((outcome.status, outcome.err.as_str()), (0, ""), "{options} {accept}");
        place.read("e.csv")
    };
    let (time, offset) = autumn(600);
    let utc = "2024-10-30T02:00:00Z";
    assert_eq!((time.as_str(), offset), ("2024-10-30T03:00:00", "+01:00"));
    for options in ["local.csv --timezone Europe/Berlin", "offset.csv"] {
        let wanted = listed(options, "600");
        assert!(wanted.contains("accepted,"), "{wanted}");
        for accept in [time.as_str(), utc, &format!("{time}{offset}")] {
            assert_eq!(listed(options, accept), wanted, "{options} {accept}");
        }
    }
}

#[test]
fn durations_hold_in_a_table_that_begins_with_the_newest_row() {
    let place = Place::new();
    let table = autumn_table("t,a,b", |row, a, b| {
        let level = if (300..400).contains(&row) { 9.0 } else { 0.0 };
        format!("{},{:.3},{b:.3}\n", autumn(row).0, a + level)
    });
    place.write("t.csv", table[..1].iter().chain(table[1..].iter().rev()).cloned().collect::<String>());
    for duration in ["10", "2h"] {
        let outcome = place.run(&format!("monitor t.csv --warm-up 200 --fail-on-alarm --min-duration {duration}"));
        assert_eq!(outcome.status, 3, "{duration}: {}{}", outcome.out, outcome.err);
    }
    let outcome = place.run("monitor t.csv --warm-up 1d --min-duration 3d --fail-on-alarm");
    assert_eq!(outcome.status, 0, "{}{}", outcome.out, outcome.err);
}
