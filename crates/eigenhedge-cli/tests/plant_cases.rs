//! Tables in the formats that plants export. All have the same rows and the same planted fault.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

pub const ROWS: usize = 900;
/// First row at which TI502 is too high.
pub const FAULT: usize = 600;
pub const NAMES: [&str; 5] = ["FI101", "PI201", "TI501", "TI502", "LI301"];
/// Time of the first row, 2024-01-08 00:00, in seconds since 1970.
pub const START: i64 = 1_704_672_000;
pub const STEP: i64 = 600;

/// Returns the rows: five noisy sensors that follow two slow movements. One of them has the fault.
pub fn rows() -> Vec<[f64; 5]> {
    let mut seed = 7u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    let row = |t: usize| {
        let (a, b) = ((t as f64 / 23.0).sin() + noise(), (t as f64 / 57.0).cos() + noise());
        let fault = if t >= FAULT { 12.0 } else { 0.0 };
        let mut cell = |level: f64, x: f64, y: f64| level + x * a + y * b + 0.3 * noise();
        [
            cell(5000.0, 90.0, 20.0),
            cell(40.0, 1.0, 2.0),
            cell(80.0, 2.0, -1.0),
            cell(120.0, 1.5, 1.0) + fault,
            cell(50.0, -3.0, 2.0),
        ]
    };
    (0..ROWS).map(row).collect()
}

/// Returns the day of January 2024, the hour and the minute of a row, and its index.
pub fn date(row: usize) -> (i64, i64, i64, i64) {
    let minutes = row as i64 * STEP / 60;
    (8 + minutes / 1440, minutes / 60 % 24, minutes % 60, row as i64)
}

pub fn iso(row: usize) -> String {
    let (day, hour, minute, _) = date(row);
    format!("2024-01-{day:02} {hour:02}:{minute:02}:00")
}

pub fn german(row: usize) -> String {
    let (day, hour, minute, _) = date(row);
    format!("{day:02}.01.2024 {hour:02}:{minute:02}")
}

pub fn seconds(row: usize) -> String {
    (START + row as i64 * STEP).to_string()
}

pub fn excel(row: usize) -> String {
    format!("{:.10}", 45299.0 + row as f64 * STEP as f64 / 86400.0)
}

/// Writer of a table with a time column, the sensors and other cells.
pub struct Writer {
    pub delimiter: &'static str,
    pub decimal: &'static str,
    pub head: String,
    pub time: fn(usize) -> String,
    pub number: fn(f64) -> String,
    pub before: fn(usize) -> String,
    pub after: fn(usize) -> String,
}

pub fn plain() -> Writer {
    Writer {
        delimiter: ",",
        decimal: ".",
        head: format!("time,{}", NAMES.join(",")),
        time: iso,
        number: |x| format!("{x:.3}"),
        before: |_| String::new(),
        after: |_| String::new(),
    }
}

pub fn semicolons() -> Writer {
    Writer { delimiter: ";", decimal: ",", head: format!("Zeit;{}", NAMES.join(";")), time: german, ..plain() }
}

impl Writer {
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.head);
        for (t, row) in rows().iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|x| (self.number)(*x).replace('.', self.decimal)).collect();
            let cells = cells.join(self.delimiter);
            writeln!(text, "{}{}{}{cells}{}", (self.before)(t), (self.time)(t), self.delimiter, (self.after)(t))
                .unwrap();
        }
        text
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.text().into_bytes()
    }
}

/// Formats a number with commas between thousands, in quotes if there is one.
pub fn grouped(x: f64) -> String {
    let text = format!("{x:.2}");
    let (whole, fraction) = text.split_once('.').unwrap();
    if whole.len() < 4 { text.clone() } else { format!("\"{},{}.{fraction}\"", &whole[..1], &whole[1..]) }
}

pub fn grouped_with_points(x: f64) -> String {
    let text = format!("{x:.2}").replace('.', ",");
    if text.len() < 7 { text } else { format!("{}.{}", &text[..1], &text[1..]) }
}

pub struct Case {
    pub name: &'static str,
    pub file: &'static str,
    pub bytes: Vec<u8>,
    pub options: &'static str,
    pub read_as: &'static str,
    pub time: fn(usize) -> String,
    pub pipe: bool,
}

pub fn case(name: &'static str, bytes: impl Into<Vec<u8>>, read_as: &'static str, time: fn(usize) -> String) -> Case {
    Case { name, file: "t.csv", bytes: bytes.into(), options: "", read_as, time, pipe: true }
}

pub fn month(row: usize, name: &str) -> String {
    let (day, hour, minute, _) = date(row);
    format!("{day:02}-{name}-24 {hour:02}:{minute:02}:00")
}

pub fn am_pm(row: usize) -> String {
    let (day, hour, minute, _) = date(row);
    format!("01/{day:02}/2024 {:02}:{minute:02} {}", (hour + 11) % 12 + 1, if hour < 12 { "AM" } else { "PM" })
}

/// Returns the time of day with seconds and AM or PM. The hour has no leading zero.
fn american_clock(row: usize) -> String {
    let (_, hour, minute, _) = date(row);
    format!("{}:{minute:02}:00 {}", (hour + 11) % 12 + 1, if hour < 12 { "AM" } else { "PM" })
}

fn with_seconds(row: usize) -> String {
    format!("1/{}/2024 {}", date(row).0, american_clock(row))
}

fn weekday(row: usize) -> String {
    let (day, hour, minute, _) = date(row);
    let name = ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"][(day as usize - 8) % 7];
    format!("{name} {day:02} Jan 2024 {hour:02}:{minute:02}:00")
}

/// Formats a time. Midnight is written as 24:00 of the previous day.
fn hour_24(row: usize) -> String {
    match date(row) {
        (day, 0, 0, _) => format!("{:02}.01.2024 24:00", day - 1),
        _ => german(row),
    }
}

fn ctime(row: usize) -> String {
    let (day, hour, minute, _) = date(row);
    let name = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][(day as usize - 8) % 7];
    format!("{name} Jan {day:02} {hour:02}:{minute:02}:00 2024")
}

fn basic(row: usize) -> String {
    let text = compact(row);
    format!("{}T{}Z", &text[..8], &text[8..])
}

pub fn compact(row: usize) -> String {
    let (day, hour, minute, _) = date(row);
    format!("202401{day:02}{hour:02}{minute:02}00")
}

/// Returns the local time in Berlin, around the end of summer time on 27 October 2024.
pub fn berlin(row: usize) -> String {
    // Row 300 is at 03:00 summer time, which becomes 02:00.
    let minutes = (row as i64 * 10) - if row >= 300 { 60 } else { 0 } + 60;
    format!("{:02}.10.2024 {:02}:{:02}", 25 + minutes / 1440, minutes / 60 % 24, minutes % 60)
}

pub fn stepped(row: usize) -> String {
    (START + row as i64 * STEP - if row == 50 { 700 } else { 0 }).to_string()
}

pub fn newest_first(row: usize) -> String {
    (START - row as i64 * STEP).to_string()
}

pub fn cases() -> Vec<Case> {
    let names = NAMES.join(",");
    let head = |first: &str| format!("{first}{names}");
    let csv = plain();
    let de = semicolons();
    let units = |text: String, units: &str| text.replacen('\n', &format!("\n{units}\n"), 1);
    let with = |writer: Writer, head: String| Writer { head, ..writer };
    let latin = |text: String| -> Vec<u8> { text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect() };
    vec![
        case("plain", csv.bytes(), "time = time (ISO 8601)", iso),
        case("German", de.bytes(), "delimiter \";\", decimal comma, time = Zeit (dd.mm.yyyy hh:mm)", german),
        case("units", units(csv.text(), ",m3/h,bar,°C,°C,%"), "units in line 2", iso),
        case("units in brackets", units(de.text(), ";[m3/h];[bar];[°C];[°C];[%]"), "units in line 2", german),
        case("units in Windows-1252", latin(units(de.text(), ";m³/h;bar;°C;°C;%")), "Windows-1252", german),
        case("sep=", format!("sep=;\n{}", de.text()), "the first 1 line before the header skipped", german),
        case("sep= with a mark", format!("\u{feff}sep=;\r\n{}", de.text().replace('\n', "\r\n")), "skipped", german),
        case("preamble", format!("Plant 7, line 2\nExported 2024-02-01\n\n{}", csv.text()), "the first 3 lines", iso),
        case("padded preamble", format!("Werk 7;;;;;\nvon;2024;;;;\n{}", de.text()), "the first 2 lines", german),
        Case { options: "--skip-lines 2", ..case("skip lines", format!("1,2\n3\n{}", csv.text()), "time = time", iso) },
        case("thousands", Writer { number: grouped, ..plain() }.bytes(), "time = time", iso),
        case(
            "thousands without decimals",
            with(Writer { number: |x| grouped(x).replace(".00", ""), ..plain() }, head("time,")).bytes(),
            "time = time",
            iso,
        ),
        case(
            "German thousands",
            Writer { number: grouped_with_points, decimal: ".", ..semicolons() }.bytes(),
            "decimal comma",
            german,
        ),
        case("AM and PM", Writer { time: am_pm, ..plain() }.bytes(), "time = time (mm/dd/yyyy hh:mm AM/PM)", am_pm),
        case(
            "English months",
            Writer { time: |t| month(t, "Jan"), ..plain() }.bytes(),
            "time = time (dd-mon-yy hh:mm:ss)",
            |t| month(t, "Jan"),
        ),
        case(
            "German months",
            Writer { time: |t| month(t, "Jän").replace("Jän", "Januar"), ..plain() }.bytes(),
            "dd-mon-yy",
            |t| month(t, "Januar"),
        ),
        case(
            "French months",
            Writer { time: |t| month(t, "janv").replace('-', " ").replace(" 24 ", " 2024 "), ..plain() }.bytes(),
            "dd mon yyyy",
            |t| month(t, "janv").replace('-', " ").replace(" 24 ", " 2024 "),
        ),
        case("Portuguese months", Writer { time: |t| month(t, "JAN"), ..plain() }.bytes(), "dd-mon-yy", |t| {
            month(t, "JAN")
        }),
        case("compact", Writer { time: compact, ..plain() }.bytes(), "time = time (yyyymmddhhmmss)", compact),
        case("Excel's days", Writer { time: excel, ..plain() }.bytes(), "time = time (days of a spreadsheet)", excel),
        case(
            "Excel's days, German",
            Writer { time: |t| excel(t).replace('.', ","), ..semicolons() }.bytes(),
            "days of a spreadsheet",
            |t| excel(t).replace('.', ","),
        ),
        case("Unix seconds", Writer { time: seconds, ..plain() }.bytes(), "time = time (s since 1970)", seconds),
        case("a step back", Writer { time: stepped, ..plain() }.bytes(), "time = time (s since 1970)", stepped),
        case(
            "newest first",
            Writer { time: newest_first, ..plain() }.bytes(),
            "time = time (s since 1970)",
            newest_first,
        ),
        case(
            "index of a frame",
            with(Writer { before: |t| format!("{t},"), ..plain() }, head("Unnamed: 0,time,")).bytes(),
            "1 left out: Unnamed: 0",
            iso,
        ),
        case(
            "id",
            with(Writer { before: |t| format!("{},", 1000 + 2 * t), ..plain() }, head("id,time,")).bytes(),
            "1 left out: id",
            iso,
        ),
        case(
            "date and time",
            Writer { time: |t| iso(t).replace(' ', ","), head: head("Date,Time,"), ..plain() }.bytes(),
            "time = Date and Time (ISO 8601)",
            iso,
        ),
        Case {
            options: "--time Datum,Uhr",
            ..case(
                "named date and time",
                Writer {
                    time: |t| german(t).replace(' ', ";"),
                    head: format!("Datum;Uhr;{}", NAMES.join(";")),
                    ..semicolons()
                }
                .bytes(),
                "time = Datum and Uhr",
                german,
            )
        },
        case(
            "date in digits and time",
            Writer { time: |t| format!("{},{}", &compact(t)[..8], &iso(t)[11..]), head: head("Date,Time,"), ..plain() }
                .bytes(),
            "time = Date and Time",
            |t| format!("{} {}", &compact(t)[..8], &iso(t)[11..]),
        ),
        case(
            "on and off",
            with(
                Writer { after: |t| if t % 7 < 3 { ",ON" } else { ",OFF" }.to_owned(), ..plain() },
                format!("{},pump", head("time,")),
            )
            .bytes(),
            "1 with words as 0 and 1: pump (off, on)",
            iso,
        ),
        case(
            "true and false",
            with(
                Writer { after: |t| if t % 7 < 3 { ",TRUE" } else { ",FALSE" }.to_owned(), ..plain() },
                format!("{},pump", head("time,")),
            )
            .bytes(),
            "pump (false, true)",
            iso,
        ),
        case(
            "two words",
            with(
                Writer { after: |t| if t % 7 < 3 { ",heating" } else { ",cooling" }.to_owned(), ..plain() },
                format!("{},mode", head("time,")),
            )
            .bytes(),
            "mode (cooling, heating)",
            iso,
        ),
        case("the end of summer time", Writer { time: berlin, ..semicolons() }.bytes(), "dd.mm.yyyy hh:mm", berlin),
        case(
            "names of results",
            csv.text().replacen("time,FI101,PI201,TI501,TI502,LI301", "state,row,alarm,score,TI502,limit", 1),
            "time = state",
            iso,
        ),
        case("empty lines at the end", format!("{}{}", de.text(), ";;;;;\n".repeat(20)), "decimal comma", german),
        case(
            "time in the second column",
            with(Writer { before: |_| "north,".to_owned(), ..plain() }, head("site,time,")).bytes(),
            "1 left out: site",
            iso,
        ),
        case("UTC", Writer { time: |t| iso(t) + " UTC", ..plain() }.bytes(), "ISO 8601", |t| iso(t) + " UTC"),
        case("tabs", csv.text().replace(',', "\t"), "delimiter tab", iso),
        case("AM and PM with seconds", Writer { time: with_seconds, ..plain() }.bytes(), "mm/dd/yyyy", with_seconds),
        case(
            "AM and PM in a column of times of day",
            Writer {
                time: |t| format!("01/{:02}/2024,{}", date(t).0, american_clock(t)),
                head: head("Date,Time,"),
                ..plain()
            }
            .bytes(),
            "time = Date and Time (mm/dd/yyyy hh:mm:ss AM/PM)",
            |t| format!("01/{:02}/2024 {}", date(t).0, american_clock(t)),
        ),
        case("days of the week", Writer { time: weekday, ..plain() }.bytes(), "dd mon yyyy hh:mm:ss", weekday),
        case("hour 24", Writer { time: hour_24, ..plain() }.bytes(), "dd.mm.yyyy hh:mm", hour_24),
        case("days of the week in English", Writer { time: ctime, ..plain() }.bytes(), "mon dd hh:mm:ss yyyy", ctime),
        case("a named zone", Writer { time: |t| iso(t) + " CET", ..plain() }.bytes(), "ISO 8601", |t| iso(t) + " CET"),
        case(
            "units in cells",
            Writer { number: |x| format!("{x:.3} m3/h"), ..plain() }.bytes(),
            "units in the cells",
            iso,
        ),
        case(
            "units in cells, decimal commas",
            latin(Writer { number: |x| format!("{x:.2}°C").replace('.', ","), time: german, ..semicolons() }.text()),
            "decimal comma, units in the cells",
            german,
        ),
        case("percent signs", Writer { number: |x| format!("{x:.3} %"), ..plain() }.bytes(), "5 columns", iso),
        case("minus signs at the end", Writer { number: |x| format!("{x:.3}-"), ..plain() }.bytes(), "5 columns", iso),
        case("Italian months", Writer { time: |t| month(t, "gen"), ..plain() }.bytes(), "dd-mon-yy hh:mm:ss", |t| {
            month(t, "gen")
        }),
        case("digits, T and Z", Writer { time: basic, ..plain() }.bytes(), "yyyymmddThhmmss", basic),
        case(
            "quotes after spaces",
            Writer { delimiter: ", ", number: |x| format!("\"{x:.3}\""), head: csv.head.replace(',', ", "), ..plain() }
                .bytes(),
            "time = time (ISO 8601)",
            iso,
        ),
        case(
            "states in Windows-1252",
            latin(
                with(
                    Writer { after: |t| if t % 7 < 3 { ";MARCHE" } else { ";ARRÊT" }.to_owned(), ..semicolons() },
                    format!("{};Pompe", de.head),
                )
                .text(),
            ),
            "Pompe (arrêt, marche)",
            german,
        ),
        Case { options: "--na-values ooo", ..case("signs for missing", with_signs(&csv.text()), "time = time", iso) },
    ]
}

pub fn with_signs(text: &str) -> String {
    let line = |(i, line): (usize, &str)| match (i % 40, line.rsplit_once(',')) {
        (7, Some((start, _))) => format!("{start},{}\n", ["ooo", "N/A", "Bad", "No Data"][i / 40 % 4]),
        _ => format!("{line}\n"),
    };
    text.lines().enumerate().map(line).collect()
}

/// Returns true if a text names the faulty sensor and the time of the fault.
pub fn finds_fault(text: &str, time: fn(usize) -> String) -> bool {
    let is_dated = (FAULT - 3..FAULT + 8).any(|row| text.contains(&time(row)));
    text.contains("TI502") && is_dated
}
