//! Monitors of a table, one for all rows or one per key, for the command line and the web page.

use super::{Facts, Journal, Occurrence, RowAt, Seen};
use crate::counted;
use eigenhedge::{Error, Fleet, Mode, Monitor, MonitorOption, MonitorOptions, POOL_PARTS};
use eigenhedge_io::{Error as TableError, Moment, Row, Stream, duration, printable, refusal};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FirstRow {
    Number(u64),
    Time(Moment),
}

impl FirstRow {
    pub fn from_text(text: &str, stream: &Stream) -> Option<Self> {
        let number = text.parse().ok().map(Self::Number);
        number.or_else(|| stream.moment(text).map(Self::Time))
    }

    fn is_at(self, row: &Row, stream: &Stream) -> bool {
        match self {
            Self::Number(number) => number <= row.number,
            Self::Time(moment) => stream.is_reached(moment, row),
        }
    }
}

/// Monitors of a table, with the settings and the state of a pass over its rows.
pub struct TableMonitors {
    /// A single monitor has an empty key. Keys with few rows borrow the reference of a shared monitor.
    pub fleet: Fleet<Monitor>,
    /// Index of the key among the copied columns.
    pub key: Option<usize>,
    pub has_times: bool,
    /// First row at which the most recent rows may become the reference.
    pub accept: Option<FirstRow>,
    pub is_accepted: bool,
    pub settle: u64,
    /// Key of the most recent row, and number of rows since it changed.
    pub current: Option<(String, u64)>,
    /// Number of parts of the warm-up. A key contributes at most one part to the shared reference.
    parts: u64,
}

impl TableMonitors {
    pub fn new(fleet: Fleet<Monitor>, stream: &Stream, by_key: bool, keys: Option<u64>) -> Self {
        let parts = keys.map_or(POOL_PARTS, |keys| keys.clamp(1, POOL_PARTS));
        let key = stream.first_kept().filter(|_| by_key);
        Self {
            fleet,
            key,
            has_times: stream.has_time(),
            accept: None,
            is_accepted: false,
            settle: 0,
            current: None,
            parts,
        }
    }

    /// Either is empty if there is no such column.
    pub fn key_and_time<'r>(&self, row: &'r Row) -> (&'r str, &'r str) {
        (self.key.map_or("", |key| &row.kept[key]), if self.has_times { &row.kept[0] } else { "" })
    }

    pub fn step(&mut self, row: &Row, journal: &mut Journal, stream: &mut Stream) -> Result<Option<Seen>, TableError> {
        let (key, time) = self.key_and_time(row);
        let place = (self.fleet.position(key).unwrap_or(self.fleet.keys().len()), key);
        let accepts = self.accept.is_some_and(|first| first.is_at(row, stream)) && !self.is_accepted;
        let names = (stream.columns(), accepts);
        let settles = self.settles(key);
        let blank = vec![f64::NAN; if settles { row.numbers().len() } else { 0 }];
        let cells = if settles { &blank } else { row.numbers() };
        let at = RowAt { number: row.number, cells, time, seconds: row.time };
        let outcome = self.fleet.with_pool(key, self.parts, |monitor| {
            if settles {
                monitor.begin_table();
            }
            journal.step(place, monitor, &at, names)
        });
        match outcome {
            Ok(seen) => {
                self.is_accepted |= accepts && seen.verdict.accepted;
                Ok(Some(seen))
            }
            Err(error @ (Error::TooFewRows { .. } | Error::Store(_))) => Err(stream.failure(error.to_string())),
            Err(error) => {
                let reason = refusal(&error, |column| stream.label(column));
                stream.refuse_row(row, reason).map(|()| None)
            }
        }
    }

    /// Returns true for the first `settle` rows after a change of the key.
    fn settles(&mut self, key: &str) -> bool {
        match &mut self.current {
            Some((last, rows)) if last == key => *rows += 1,
            Some(current) => *current = (key.to_owned(), 0),
            None => self.current = Some((key.to_owned(), self.settle)),
        }
        self.current.as_ref().is_some_and(|(_, rows)| *rows < self.settle)
    }

    /// Ends events, and incidents that could reopen. Returns their entries and those of ongoing incidents.
    pub fn close(&mut self, journal: &mut Journal, names: &[String]) -> Result<Vec<Occurrence>, Error> {
        let keys: Vec<String> = self.fleet.keys().map(str::to_owned).collect();
        let mut last = Vec::new();
        for (place, key) in keys.into_iter().enumerate() {
            last.extend(self.fleet.with(&key, |monitor| Ok(journal.close(place, monitor, names)))?);
        }
        last.extend(journal.tracks.iter().filter_map(|track| track.going_on(names)));
        Ok(last)
    }

    /// Returns the warm-up for a second pass over a table that was too short: a third of its rows, at least the
    /// minimum. A given length is kept, and of use only now that the number of keys is known.
    pub fn shorter_warm_up(&self, rows: u64, knows_keys: bool) -> Option<u64> {
        let (options, width) = (self.fleet.fresh().options(), self.fleet.fresh().width());
        if options.warm_up.is_some() || options.mode != Mode::Adapt {
            let given = options.warm_up_rows(width);
            return (self.key.is_some() && !knows_keys && rows > given).then_some(given);
        }
        let least = options.least_warm_up(width) as u64;
        (rows >= 2 * least).then(|| (rows / 3).max(least))
    }

    /// Returns the warm-up if only the number of columns determines it.
    pub fn usual_warm_up(&self) -> Option<u64> {
        let (fresh, options) = (self.fleet.fresh(), self.fleet.fresh().options());
        let is_chosen = options.warm_up.is_some() || options.mode != Mode::Adapt || fresh.is_ready();
        (!is_chosen && self.key.is_none()).then(|| options.warm_up_rows(fresh.width()))
    }

    pub fn keys(&self) -> u64 {
        self.fleet.keys().len() as u64
    }

    pub fn too_short(&self, journal: &Journal, stream: &Stream) -> TableError {
        let wanted = self.fleet.fresh().options().warm_up_rows(self.fleet.fresh().width());
        let longest = journal.tracks.iter().max_by_key(|track| track.in_table.rows);
        let found = match longest.filter(|_| self.key.is_some()) {
            Some(track) => {
                let (rows, key, most) = (journal.rows, printable(&track.key), track.in_table.rows);
                format!("{rows} rows of {} keys, at most {most} of one ({key})", self.keys())
            }
            None => journal.rows.to_string(),
        };
        let of_key = if self.key.is_some() { " of one key" } else { "" };
        let settle = match self.settle {
            0 => String::new(),
            rows => format!("; --settle leaves out {} after each change of the key", counted(rows, "row")),
        };
        stream.failure(format!(
            "must have more rows{of_key} than the warm-up, {wanted}, got {found}; --warm-up takes fewer, and --train another \
             table{settle}"
        ))
    }

    /// `trained` is the table with the reference, `started` the file with the saved monitors.
    pub fn facts(
        &self,
        stream: &Stream,
        by: Option<&String>,
        (trained, started): (Option<String>, Option<String>),
        running: Option<u64>,
    ) -> Facts {
        let fresh = self.fleet.fresh();
        let trained = trained.map(|name| format!("{} of {name}", counted(fresh.totals().warm_up, "row")));
        Facts {
            columns: stream.shown_columns(),
            time: stream.kept_columns().into_iter().next().filter(|_| self.has_times),
            first_line: stream.first_line(),
            skipped: stream.skipped(),
            reference: trained.or(started.map(|name| format!("as in {name}"))),
            in_memory: self.fleet.in_memory(),
            running,
            ..Facts::of_stream(stream.source(), by.cloned(), fresh)
        }
    }
}

/// `misfit` formats an error in the options.
pub fn fresh_monitor(
    options: &MonitorOptions,
    stream: &Stream,
    misfit: impl Fn(&Error) -> String,
) -> Result<Monitor, TableError> {
    let width = stream.columns().len();
    let names = stream.names().map(|_| stream.columns().to_vec());
    let monitor = Monitor::new(options.clone(), width).map_err(|error| stream.failure(misfit(&error)))?;
    let length = width * (monitor.lags() + 1);
    stream.allow(&format!("monitoring rows of {length} numbers"), 8 * 8 * (length as u128).pow(2))?;
    Ok(monitor.with_names(names))
}

/// Converts a duration such as `14d` or `after:2h` to rows `step` seconds apart, for an option that counts rows.
pub fn in_rows(option: &MonitorOption, text: &str, step: f64) -> Option<String> {
    let (before, length) = text.split_once(':').map_or((None, text), |(before, length)| (Some(before), length));
    let seconds = duration(length).filter(|_| option.placeholder == "ROWS" || before.is_some())?;
    let rows = (seconds / step).ceil().max(1.0);
    Some(before.map_or_else(|| rows.to_string(), |before| format!("{before}:{rows}")))
}

/// Returns the time between rows in seconds: from the reader, or the median of the first 200. Errors name `option`.
pub fn usual_step(mut stream: Stream, option: &str) -> Result<f64, TableError> {
    const FIRST: usize = 200;
    if let Some(step) = stream.reading().step {
        return Ok(step);
    }
    let mut times = Vec::new();
    while times.len() < FIRST && stream.next_row()?.is_some() {
        times.extend(stream.row().time);
    }
    let mut steps: Vec<f64> =
        times.windows(2).map(|pair| (pair[1] - pair[0]).abs()).filter(|step| *step > 0.0).collect();
    steps.sort_by(f64::total_cmp);
    let step = steps.get(steps.len() / 2).copied();
    step.ok_or_else(|| stream.failure(format!("--{option} must be a number of rows: the table has no times")))
}
