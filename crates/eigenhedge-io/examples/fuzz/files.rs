//! Fuzz targets for tables of every format, read through `Stream`.

use crate::{Outcome, Target, common, mutate};
use eigenhedge::{Missing, Random};
use eigenhedge_io::{
    Format, Layout, MaxMemory, OnBadRow, Pivot, Selector, Source, Stream, StreamState, TimeFormat, Timezone,
};
use std::path::{Path, PathBuf};

/// Maximum number of rows read per case.
const MOST_ROWS: usize = 20_000;
/// Memory limit of the readers in bytes. It is lower than the memory limit of a case.
const MAX_MEMORY: u64 = 100 << 20;

/// Small text tables with unusual delimiters, dates, numbers or headers.
const MESSY: [&str; 10] = [
    "Zeit;T \u{b0}C;p;Kommentar\n29.02.2024 12:00;1,5;2,25;\n01.03.2024 12:00;-1,5;\"2;5\";ok\n",
    "date,a,b\n02/13/2024 1:30 PM,N/A,1e3\n02/14/2024 1:30 PM,---,-999\n",
    "m1|2024-02-29T12:30:00Z|1.5|off\nm2|2024-02-29T12:31:00Z|2.5|off\n",
    "t\ta\tb\n1709164800123\t1.234,5\t=1+2\n1709164800124\t1 234\t\"x\ny\"\n",
    "sep=;\nWerk 7\n\nDatum;Uhrzeit;FI101;Pumpe\n;;m3/h;\n08.01.2024;00:10;5.305,58;WAHR\n08.01.2024;00:20;305,5;FALSCH\n",
    "timestamp,tag,value,quality\n2024-01-08 00:00:00,FI101,1.5,Good\n2024-01-08 00:00:00,PI201,2,Good\n2024-01-08 00:01:00,FI101,3,Bad\n",
    "time,a,b\n8-Jan-24 12:00:00 AM,\"5,305.58\",ON\n8-Mrz-24 1:00:00 PM,\"305.58\",OFF\n",
    "Unnamed: 0,date,a\n0,20240108000000,1\n1,20240108001000,2\n",
    "time,a\n45299.0069444,1.5\n45299.0138888,I/O Timeout\n",
    "Zeit;a\n27.10.2024 02:50;1,5\n27.10.2024 02:00;2,5\n31.03.2024 02:30;1\n",
];

/// Target for tables of one format.
struct Tables {
    format: Format,
    ending: &'static str,
    seeds: Vec<Vec<u8>>,
    /// Valid NPY files to put into archives.
    arrays: Vec<Vec<u8>>,
}

/// Returns one target per file extension, and one for saved stream states.
pub fn targets() -> Vec<Box<dyn Target>> {
    let matrices = [common::matrix(23, 5), common::matrix(300, 3)];
    let endings = [
        "csv", "tsv", "jsonl", "npy", "npz", "parquet", "arrow", "feather", "libsvm", "csv.gz", "csv.zst", "npy.gz",
        "xlsx",
    ];
    let of = |ending: &'static str| {
        let named = |ending: &str| {
            let all = matrices.iter().flat_map(common::all_formats);
            all.filter(|(name, _)| name.ends_with(&format!(".{ending}"))).map(|(_, bytes)| bytes).collect()
        };
        let (mut seeds, arrays): (Vec<Vec<u8>>, _) = (named(ending), named("npy"));
        if ending == "csv" {
            seeds.extend(MESSY.map(|text| text.repeat(3).into_bytes()));
        }
        if ending == "jsonl" {
            let nested = "{\"ts\":\"2024-01-08\",\"a\":{\"b\":\"1.5\",\"c\":{\"d\":2}},\"e\":\"Bad\",\"f\":[1]}\n";
            seeds.push(nested.repeat(4).into_bytes());
        }
        if ending == "xlsx" {
            seeds = MESSY.map(|text| common::sheet(&text.replace(';', ","))).to_vec();
        }
        if ending == "arrow" || ending == "feather" {
            seeds.extend(matrices.iter().flat_map(compressed));
        }
        let format = Format::of_path(Path::new(&format!("table.{ending}")));
        Box::new(Tables { format, ending, seeds, arrays }) as Box<dyn Target>
    };
    let mut targets: Vec<Box<dyn Target>> = endings.map(of).into();
    targets.push(Box::new(States::new()));
    targets
}

fn compressed(matrix: &common::Matrix) -> Vec<Vec<u8>> {
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    let batches = common::batches(matrix, 100);
    let write = |how| {
        let options = IpcWriteOptions::default().try_with_compression(Some(how)).unwrap();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    };
    vec![write(CompressionType::LZ4_FRAME), write(CompressionType::ZSTD)]
}

impl Target for Tables {
    fn name(&self) -> String {
        self.ending.into()
    }

    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (seed, other) = (&self.seeds[random.below(self.seeds.len())], &self.seeds[random.below(self.seeds.len())]);
        match self.ending {
            "npz" if random.below(2) == 0 => {
                let pick = |random: &mut Random| &self.arrays[random.below(self.arrays.len())];
                archive(pick(random), pick(random), random)
            }
            "npy" if random.below(3) == 0 => header(seed, random),
            _ => {
                let mut bytes = seed.clone();
                mutate::change(&mut bytes, other, random);
                if self.ending == "xlsx" {
                    bytes = common::workbook(&[("Data", bytes), ("Notes", seed.clone())]);
                    if random.below(3) == 0 {
                        mutate::change(&mut bytes, other, random);
                    }
                }
                bytes
            }
        }
    }

    fn try_input(&self, input: &[u8], folder: &Path, random: &mut Random) -> Result<Outcome, String> {
        let path = folder.join(format!("table.{}", self.ending));
        std::fs::write(&path, input).unwrap();
        let mut layout = Layout::new(self.format);
        layout.max_memory = MaxMemory::of_bytes(MAX_MEMORY);
        layout.on_bad_row = [OnBadRow::Fail, OnBadRow::Skip][random.below(2)];
        layout.header = [None, None, Some(true), Some(false)][random.below(4)];
        layout.find_time = random.below(2) == 0;
        layout.keeps_text = random.below(4) == 0;
        layout.has_key = random.below(2) == 0;
        if random.below(4) == 0 {
            layout.delimiter = Some([b',', b';', b'\t', b'|'][random.below(4)]);
            layout.decimal = Some([b'.', b','][random.below(2)]);
            layout.thousands = [None, Some(b'.'), Some(b',')][random.below(3)];
            layout.skip_lines = [None, Some(0), Some(3), Some(u64::MAX)][random.below(4)];
            layout.na_values = vec!["-999".into(), "off".into()];
            layout.na_values_only = random.below(2) == 0;
        }
        if random.below(4) == 0 {
            layout.time = Some(Selector::Position(random.below(3)));
            layout.time_format = [None, TimeFormat::from_text("%d.%m.%Y %H:%M"), TimeFormat::from_text("excel")]
                [random.below(3)]
            .clone();
            layout.clock = [None, Some(Selector::Position(1))][random.below(2)].clone();
        }
        if random.below(4) == 0 {
            layout.timezone = Timezone::from_name("Europe/Berlin");
        }
        if random.below(4) == 0 {
            let [time, tag, value] = [0, 1, 2].map(Selector::Position);
            let every = [None, Some(60.0), Some(1e-3), Some(1e300)][random.below(4)];
            layout.pivot = Some(Pivot { time, tag, value, every, mean: random.below(2) == 0 });
            layout.missing = [None, Some(Missing::Skip)][random.below(2)];
        }
        if random.below(4) == 0 && self.ending == "xlsx" {
            layout.sheet = Some(["Data", "Notes", "Daten"][random.below(3)].to_owned());
        }
        if self.format == Format::Libsvm {
            layout.dim = [None, None, Some(5), Some(1 << 40), Some(usize::MAX)][random.below(5)];
        }
        let stop = (random.below(3) == 0).then(|| random.below(40));
        read(&Source::File(path), &layout, stop)
    }
}

/// Reads up to [`MOST_ROWS`] rows. Saves the state after `stop` rows and resumes from it.
fn read(source: &Source, layout: &Layout, stop: Option<usize>) -> Result<Outcome, String> {
    let Ok(mut stream) = Stream::open(source, layout) else { return Ok(Outcome::Refused) };
    let width = stream.columns().len();
    for count in 0..MOST_ROWS {
        if stop == Some(count) && count > 0 {
            let state = serde_json::to_string(&stream.state()).map_err(|error| format!("state: {error}"))?;
            let state: StreamState = serde_json::from_str(&state).map_err(|error| format!("state: {error}"))?;
            let names = stream.own_names();
            stream =
                Stream::resume(source, layout, &state, names.as_deref()).map_err(|error| format!("resume: {error}"))?;
        }
        match stream.next_row() {
            Err(_) => return Ok(Outcome::Refused),
            Ok(None) => break,
            Ok(Some(row)) => check_row(row, width)?,
        }
    }
    Ok(Outcome::Accepted)
}

fn check_row(row: &[f64], width: usize) -> Result<(), String> {
    if row.len() != width {
        return Err(format!("a row of {} numbers in a table of {width} columns", row.len()));
    }
    row.iter().all(|x| x.is_finite()).then_some(()).ok_or_else(|| "a row that is not finite".into())
}

/// Returns an NPZ archive with a mutated array.
fn archive(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut array = seed.to_vec();
    if random.below(2) == 0 {
        array = header(&array, random);
    } else {
        mutate::change(&mut array, other, random);
    }
    common::zipped(&array, random.below(2) == 0)
}

/// Returns an NPY file with a random header. Its data are a random suffix of `seed`.
fn header(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let sizes = ["0", "1", "3", "5", "23", "300", "4294967296", "1152921504606846976", "18446744073709551615", "-1"];
    let mut size = || sizes[random.below(sizes.len())];
    let shapes =
        [format!("({}, {})", size(), size()), format!("({},)", size()), "()".into(), format!("({}, 5)", size())];
    let shape = &shapes[random.below(shapes.len())];
    let elements =
        ["'<f8'", "'>f8'", "'<f4'", "'<i8'", "'|u1'", "'|b1'", "'<f2'", "'O'", "'<U9999999999'", "[('a', '<f8')]"];
    let order = ["False", "True"][random.below(2)];
    let data = seed.get(random.below(200)..).unwrap_or_default();
    common::npy_raw(elements[random.below(elements.len())], shape, order, data)
}

/// Target for saved stream states over valid tables.
struct States {
    seeds: Vec<(&'static str, Layout, Vec<u8>, String)>,
}

impl States {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let matrix = common::matrix(40, 3);
        let state = |(name, bytes): (&'static str, Vec<u8>)| {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            let layout = Layout::new(Format::of_path(&path));
            let mut stream = Stream::open(&Source::File(path), &layout).unwrap();
            (0..20).for_each(|_| _ = stream.next_row().unwrap());
            let text = serde_json::to_string(&(stream.state(), stream.own_names())).unwrap();
            (name, layout, bytes, text)
        };
        Self { seeds: common::all_formats(&matrix).into_iter().map(state).collect() }
    }
}

impl Target for States {
    fn name(&self) -> String {
        "stream-state".into()
    }

    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (_, _, _, text) = &self.seeds[random.below(self.seeds.len())];
        let mut bytes = text.clone().into_bytes();
        mutate::change(&mut bytes, &[], random);
        bytes
    }

    fn try_input(&self, input: &[u8], folder: &Path, random: &mut Random) -> Result<Outcome, String> {
        let Ok((state, names)) = serde_json::from_slice::<(StreamState, Option<Vec<String>>)>(input) else {
            return Ok(Outcome::Refused);
        };
        let (name, layout, bytes, _) = &self.seeds[random.below(self.seeds.len())];
        let path: PathBuf = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let Ok(mut stream) = Stream::resume(&Source::File(path), layout, &state, names.as_deref()) else {
            return Ok(Outcome::Refused);
        };
        let width = stream.columns().len();
        loop {
            match stream.next_row() {
                Err(_) => return Ok(Outcome::Refused),
                Ok(None) => return Ok(Outcome::Accepted),
                Ok(Some(row)) => check_row(row, width)?,
            }
        }
    }
}
