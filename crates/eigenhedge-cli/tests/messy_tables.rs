//! Irregular tables. Each is read with few options, from a file and from a pipe.
#![allow(clippy::unwrap_used)]

use crate::common::{Outcome, Place, unhinted};
use eigenhedge::streams;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

fn numbers(rows: usize) -> Vec<Vec<f64>> {
    streams::three_subspaces(1).into_iter().cycle().take(rows).map(|row| row[..4].to_vec()).collect()
}

/// Returns a table with semicolons, decimal commas, day-first dates, Windows-1252, and CRLF.
fn german() -> Vec<u8> {
    let mut text = "Zeitstempel;Temp °C;Druck;x3;x4;Kommentar\r\n".to_owned();
    for (i, row) in numbers(700).iter().enumerate() {
        let (day, hour, minute) = (1 + i / 144, i / 6 % 24, i % 6 * 10);
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}").replace('.', ",")).collect();
        write!(text, "{day:02}.01.2024 {hour:02}:{minute:02};{};\r\n", cells.join(";")).unwrap();
    }
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

/// Returns a table with month-first dates, AM and PM, and two markers of missing numbers.
fn american() -> Vec<u8> {
    let mut text = "date,a,b,c,d\n".to_owned();
    for (i, row) in numbers(700).iter().enumerate() {
        let mut cells: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
        match i % 50 {
            3 => cells[i % 4] = "N/A".to_owned(),
            9 => cells[i % 3] = "---".to_owned(),
            _ => {}
        }
        let (day, hour, half) = (1 + i / 24, (i + 11) % 12 + 1, if i % 24 < 12 { "AM" } else { "PM" });
        writeln!(text, "01/{day:02}/2024 {hour}:00 {half},{}", cells.join(",")).unwrap();
    }
    text.into_bytes()
}

/// Returns a table of fifty machines with a thousand rows each, with a key, a time and a text.
fn machines() -> Vec<u8> {
    let mut text = "machine,time,a,b,c,d,status\n".to_owned();
    for (i, row) in numbers(50_000).iter().enumerate() {
        let (minute, machine) = (i / 50, i % 50);
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
        let time = format!("2024-01-01 {:02}:{:02}", minute / 60, minute % 60);
        writeln!(text, "m{machine:02},{time},{},ok", cells.join(",")).unwrap();
    }
    text.into_bytes()
}

/// Runs a command on a file and on a pipe. The outputs must be equal and have this `read as` line.
fn both_ways(table: &[u8], command: &str, read_as: &str) -> Outcome {
    let place = Place::new();
    place.write("t.csv", table);
    let file = place.run(&command.replace("INPUT", "t.csv"));
    // Lines that contain a speed, such as those about progress, differ from run to run.
    let timeless = |out: &str| out.lines().filter(|line| !line.contains(" second")).collect::<Vec<_>>().join("\n");
    assert_eq!((file.status, timeless(&file.err)), (0, format!("eigenhedge: read as: {read_as}")), "{command}");
    let pipe = place.feed(&command.replace("INPUT", "-"), table);
    assert_eq!((pipe.status, timeless(&pipe.err)), (0, timeless(&file.err)), "{command} through a pipe");
    assert_eq!(timeless(&pipe.out), timeless(&file.out), "{command}");
    file
}

#[test]
fn semicolons_decimal_commas_and_days_first_need_no_option() {
    let found = "delimiter \";\", decimal comma, Windows-1252, time = Zeitstempel (dd.mm.yyyy hh:mm), 4 columns of numbers, 1 \
                 left out: Kommentar";
    let table = german();
    both_ways(&table, "run INPUT -k 2", found);
    let out = both_ways(&table, "monitor INPUT --report page.html", found).out;
    assert!(out.contains("read       700 rows of 4 numbers"), "{out}");
    let place = Place::new();
    place.write("t.csv", &table);
    let outcome = place.run("run t.csv -k 2 --quiet --out out.csv");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert!(place.read("out.csv").starts_with("row;Zeitstempel;expected_loss;loss;z0;z1\n0;01.01.2024 00:00;"));
    // Other commands have no time option and leave the column out as text.
    let outcome = place.run("pca t.csv -k 2");
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    assert!(outcome.err.contains("4 columns of numbers, 2 left out: Zeitstempel, Kommentar"), "{}", outcome.err);
}

#[test]
fn months_first_and_signs_for_missing_numbers_need_only_a_rule_for_missing_cells() {
    let found = "time = date (mm/dd/yyyy hh:mm AM/PM), 4 columns of numbers";
    let table = american();
    both_ways(&table, "run INPUT -k 2 --missing fill", found);
    let out = both_ways(&table, "monitor INPUT --report page.html", found).out;
    assert!(out.contains("read       700 rows of 4 numbers; 28 rows with missing cells filled in"), "{out}");
    let place = Place::new();
    place.write("t.csv", &table);
    let outcome = place.run("run t.csv -k 2");
    assert_eq!(outcome.status, 1);
    assert!(outcome.err.contains("got \"N/A\"; --missing skip passes such rows over"), "{}", outcome.err);
}

#[test]
fn a_key_a_time_after_it_and_a_text_need_only_the_key() {
    let found = "time = time (ISO 8601), 4 columns of numbers, 1 left out: status";
    let table = machines();
    let out = both_ways(&table, "run INPUT -k 2 --group-by machine", found).out;
    assert!(out.contains("50 models"), "{out}");
    let out = both_ways(&table, "monitor INPUT --group-by machine", found).out;
    assert!(out.contains("50 monitors by key"), "{out}");
}

#[test]
fn a_clock_since_1970_is_the_time_and_a_column_that_is_named_is_a_feature() {
    let table = |unit: u64, step: u64| {
        let mut text = "ts,a,b,c,d\n".to_owned();
        for (i, row) in (0..).zip(numbers(60)) {
            let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
            writeln!(text, "{},{}", 1_700_000_000 * unit + i * step, cells.join(",")).unwrap();
        }
        text.into_bytes()
    };
    both_ways(&table(1, 60), "run INPUT -k 2", "time = ts (s since 1970), 4 columns of numbers");
    both_ways(&table(1000, 250), "run INPUT -k 2", "time = ts (ms since 1970), 4 columns of numbers");
    let place = Place::new();
    place.write("t.csv", table(1, 60));
    let outcome = place.run("run t.csv -k 2 --columns ts,a,b --snapshot m.eh");
    assert!(outcome.status == 0 && outcome.out.contains("60 rows of 3 numbers"), "{}", outcome.out);
    // Columns of the model are features, even if they look like times.
    let outcome = place.run("run t.csv --start-from m.eh");
    assert!(outcome.status == 0 && outcome.out.contains("120 rows of 3 numbers"), "{}{}", outcome.out, outcome.err);
    // Times may go back once. Numbers that are too small for times are features.
    for (from, to, columns) in [("1700000000", "1700000999", 4), ("17000", "170", 5)] {
        place.write("t.csv", String::from_utf8(table(1, 60)).unwrap().replace(from, to));
        let outcome = place.run("run t.csv -k 2");
        let read = format!("60 rows of {columns} numbers");
        assert!(outcome.status == 0 && outcome.out.contains(&read), "{}", outcome.out);
    }
}

#[test]
fn comments_before_a_table_and_the_index_of_a_frame_are_left_out() {
    let text = |head: &str, index: bool, time: bool| {
        let mut text = head.to_owned();
        for (i, row) in numbers(300).iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
            let first = if index { format!("{i},") } else { String::new() };
            let time = if time { format!("2024-01-01 {:02}:{:02},", i / 60, i % 60) } else { String::new() };
            writeln!(text, "{first}{time}{}", cells.join(",")).unwrap();
        }
        text.into_bytes()
    };
    both_ways(&text(",a,b,c,d\n", true, false), "run INPUT -k 2", "4 columns of numbers, 1 left out: column 0");
    let found = "time = when (ISO 8601), 4 columns of numbers, 1 left out: column 0";
    both_ways(&text(",when,a,b,c,d\n", true, true), "run INPUT -k 2", found);
    let place = Place::new();
    let plain = text("a,b,c,d\n", false, false);
    place.write("plain.csv", &plain);
    let wanted = place.run("run plain.csv -k 2 --summary json --out -");
    for head in ["# logger 2\n# site 7, \"north\n\na,b,c,d\n", "\u{feff}#x\na,b,c,d\n"] {
        let mut table = text(head, false, false);
        place.write("t.csv", &table);
        let outcome = place.run("run t.csv -k 2 --summary json --out -");
        assert_eq!((outcome.status, &outcome.out), (0, &wanted.out), "{}", outcome.err);
        // A resumed run continues correctly after comments.
        place.run("run t.csv -k 2 --out o.csv --snapshot s.eh");
        table.extend_from_slice(b"0.1,0.2,0.3,0.4\n");
        place.write("t.csv", &table);
        let outcome = place.run("run t.csv -k 2 --out o.csv --snapshot s.eh --resume s.eh");
        assert!(outcome.status == 0 && outcome.out.contains("301 rows of 4 numbers"), "{}{}", outcome.out, outcome.err);
    }
    // A header may start with `#`.
    place.write("t.csv", text("#a,b,c,d\n", false, false));
    let outcome = place.run("run t.csv -k 2");
    assert!(outcome.status == 0 && outcome.out.contains("300 rows of 4 numbers"), "{}", outcome.err);
    // A column of numbers that do not count the rows is a feature, even without a name.
    place.write("t.csv", text(",b,c,d\n", false, false));
    let outcome = place.run("run t.csv -k 2");
    assert!(outcome.status == 0 && outcome.out.contains("300 rows of 4 numbers"), "{}", outcome.err);
}

#[test]
fn what_was_found_is_kept_when_a_run_is_resumed() {
    let place = Place::new();
    let table = german();
    let lines: Vec<&[u8]> = table.split_inclusive(|byte| *byte == b'\n').collect();
    place.write("all.csv", &table);
    assert_eq!(place.run("run all.csv -k 2 --out whole.csv --quiet").status, 0);
    // Comments are empty in the first part. Detection from the whole table could differ.
    place.write("t.csv", lines[..400].concat());
    assert_eq!(place.run("run t.csv -k 2 --out out.csv --quiet --snapshot run.snap").status, 0);
    let with_comments: Vec<u8> =
        lines[400..].iter().flat_map(|line| [&line[..line.len() - 2], &b"new"[..], b"\r\n"].concat()).collect();
    place.write("t.csv", [lines[..400].concat(), with_comments].concat());
    let outcome = place.run("run t.csv -k 2 --out out.csv --quiet --resume run.snap");
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert_eq!(place.read("out.csv"), place.read("whole.csv"));
    let outcome = place.feed("run - -k 2 --out pipe.csv --quiet --snapshot pipe.snap", lines[..400].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    let outcome = place.feed("run - -k 2 --out pipe.csv --quiet --resume pipe.snap", &table);
    assert_eq!((outcome.status, outcome.err.as_str()), (0, ""));
    assert_eq!(place.read("pipe.csv"), place.read("whole.csv"));
}

#[test]
fn a_chosen_number_of_directions_is_kept_when_a_run_is_resumed() {
    // One column has most of the energy in the first part, and another one afterwards.
    let cell = |t: usize, j: usize, scale: f64| scale * (((7 * t + 3 * j) * (t + 5)) % 11) as f64;
    let line = |t: usize| {
        let scale = if t < 100 { 0.01 } else { 50.0 };
        format!("{},{},{}\n", cell(t, 0, 9.0), cell(t, 1, scale), cell(t, 2, 0.5 * scale))
    };
    let table = |rows: usize| format!("a,b,c\n{}", (0..rows).map(line).collect::<String>());
    for share in ["-k 0.6", ""] {
        let place = Place::new();
        place.write("t.csv", table(100));
        assert_eq!(place.run(&format!("run t.csv {share} --quiet --snapshot m.snap")).status, 0);
        place.write("t.csv", table(400));
        let outcome = place.run(&format!("run t.csv {share} --snapshot m.snap --resume m.snap"));
        assert!(outcome.status == 0 && !outcome.err.contains("-k"), "{share}: {}", outcome.err);
        assert!(outcome.out.contains("400 rows of 3 numbers"), "{}", outcome.out);
        let outcome = place.run("run t.csv -k 2 --snapshot m.snap --resume m.snap");
        assert!(outcome.status == 1 && outcome.err.contains("-k must be as in m.snap, 1, got 2"), "{}", outcome.err);
    }
}

#[test]
fn times_out_of_order_are_told_once_and_over_a_stop() {
    let place = Place::new();
    let row = |i: usize, time: &str| format!("{time},{},{},{}\n", i % 7, i % 5, i % 3);
    let mut lines: Vec<String> = (0..50).map(|i| row(i, &format!("2024-01-01T{:02}:{:02}", i / 60, i % 60))).collect();
    lines[20] = row(20, "2024-01-01T00:19");
    lines[30] = row(30, "2023-12-31T00:00");
    lines.push(row(50, "2024-01-31T00:00"));
    let table = |count: usize| format!("t,a,b,c\n{}", lines[..count].concat());
    place.write("t.csv", table(51));
    let found = "eigenhedge: read as: time = t (ISO 8601), 3 columns of numbers\n";
    let told = "eigenhedge: times: 1 goes back, 1 is doubled, longest gap 30 days before row 50\n";
    assert_eq!(place.run("run t.csv -k 1").err, format!("{found}{told}"));
    assert_eq!(place.run("monitor t.csv --warm-up 30").err, format!("{found}{told}"));
    place.write("t.csv", table(40));
    assert_eq!(place.run("run t.csv -k 1 --snapshot s").status, 0);
    place.write("t.csv", table(51));
    assert_eq!(place.run("run t.csv -k 1 --resume s").err, told);
}

#[test]
fn rows_of_a_live_pipe_do_not_wait_for_later_ones() {
    for first in ["2024-01-01,1,2,3\n", "when;a;b;c\n03.04.2024;1,5;2;3\n", "1,2,3\n"] {
        let place = Place::new();
        let mut child =
            place.command("run - -k 1 --out - --quiet").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(first.as_bytes()).unwrap();
        pipe.flush().unwrap();
        // A result must be printed while the pipe is still open.
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(answers.next().unwrap().unwrap().starts_with("row"), "{first}");
        assert!(answers.next().unwrap().unwrap().starts_with("0"), "{first}");
        drop(pipe);
        assert!(child.wait().unwrap().success(), "{first}");
    }
}

#[test]
fn doubtful_tables_are_refused_with_the_options_that_settle_them() {
    let cases = [
        (
            "t,a,b\n03/04/2024,1,2\n03/04/2024,2,1\n",
            "",
            1,
            "t.csv, column 0 (\"t\"): \"03/04/2024\" can be two dates: 2024-04-03 with --time-format %d/%m/%Y, 2024-03-04 with \
             --time-format %m/%d/%Y",
        ),
        (
            "a;b\n1,5;2\n1.2345,5;3\n",
            "",
            1,
            "t.csv, line 3, column 0 (\"a\"): must be a finite number, got \"1.2345,5\"",
        ),
        (
            "a,b\n\"1,5\",2.5\n",
            "",
            1,
            "t.csv, line 2, column 0 (\"a\"): must be a finite number, got \"1,5\"; --decimal , reads decimal commas",
        ),
        ("a,b\n1,2\n3,\"4\n5,6\n7,8\n", "", 1, "t.csv, line 3: a quote is opened here and not closed"),
        (
            "t,a,b\n01.02.2024 24:30,1,2\n01.02.2024 10:00,1,3\n",
            "--time t",
            1,
            "t.csv, line 2, column 0 (\"t\"): must be a time of the form dd.mm.yyyy hh:mm, got \"01.02.2024 24:30\"",
        ),
        ("a,b\n1,2\n", "--time-format iso", 1, "t.csv: has no column of times for --time-format; --time names one"),
        ("a,b\n1,2\n", "--time-format yesterday", 2, "must be iso, s, ms, us, ns, excel, or a strftime pattern"),
        ("a,b\n1,2\n", "--decimal ;", 2, "must be . or ,"),
    ];
    for (table, options, status, sentence) in cases {
        let place = Place::new();
        place.write("t.csv", table);
        let outcome = place.run(&format!("run t.csv -k 1 --quiet {options}"));
        assert_eq!(outcome.status, status, "{table:?} {options}: {}", outcome.err);
        assert!(unhinted(&outcome.err).contains(sentence), "{table:?} {options}: {}", outcome.err);
        assert!(status == 2 || unhinted(&outcome.err) == format!("eigenhedge: {sentence}\n"), "{}", outcome.err);
    }
}

#[test]
fn options_settle_what_the_first_lines_do_not() {
    let place = Place::new();
    place
        .write("t.csv", "t,a,b,c\n03/04/2024,1,2,-999\n04/04/2024,\"1,5\",off,1\n05/04/2024,2,1,3\n06/04/2024,1,1,3\n");
    let outcome = place.run(
        "run t.csv -k 1 --time-format %d/%m/%Y --decimal , --na-values -999,off --missing skip --summary json --out out.csv",
    );
    assert_eq!(outcome.status, 0, "{}", outcome.err);
    assert!(outcome.out.starts_with("{\"rows\":2,\"skipped_rows\":2,"), "{}", outcome.out);
    assert!(!outcome.err.contains("times:"), "{}", outcome.err);
    place.write("f.csv", "id,a,b,c\n=1+2,1,2,3\n-5,2,3,5\n@x,1,1,1\nplain,1,3,1\n");
    for (options, wanted) in [("", "=1+2 -5 @x plain"), ("--safe-cells", "'=1+2 -5 '@x plain")] {
        assert_eq!(place.run(&format!("run f.csv -k 1 --copy-columns id --quiet --out f.out {options}")).status, 0);
        let copied: Vec<String> =
            place.read("f.out").lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect();
        assert_eq!(copied.join(" "), wanted);
    }
}

#[test]
fn a_line_beyond_the_default_limit_is_refused_by_its_number() {
    // The error names the line and the default limit. `hostile_files` tests other limits.
    let place = Place::new();
    let endless = [b"a,b\n1,2\n".to_vec(), vec![b'x'; 70 << 20]].concat();
    let outcome = place.feed("run - -k 1 --quiet", endless);
    let sentence = "eigenhedge: standard input, line 3: must be at most 67108864 bytes long, unless a sixteenth of --max-memory is more\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (1, sentence));
}
