//! Workbooks of spreadsheet programs, converted to CSV text on the fly by another thread. A sheet of an `.xlsx` or
//! `.xlsm` file is streamed, and others are loaded. Dates are written in ISO 8601.

use crate::catch_panics::guarded;
use crate::error::{Fault, hint};
use crate::format::Source;
use crate::memory::MaxMemory;
use calamine::{Data, ExcelDateTime, Ods, Reader, SheetVisible, Sheets, Xls, Xlsb, Xlsx};
use std::io::{self, Cursor, Read, Seek};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

const PIECE: usize = 1 << 16;
const WAITING: usize = 4;
/// Assumed ratio of the memory for a loaded `.xls` workbook to the size of its file.
const LOADED: u128 = 20;

trait Bytes: Read + Seek {}
impl<T: Read + Seek> Bytes for T {}

fn bytes_of(source: &Source) -> io::Result<Box<dyn Bytes>> {
    match source {
        Source::File(path) => Ok(Box::new(io::BufReader::new(std::fs::File::open(path)?))),
        Source::Bytes(_, bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn open_book(source: &Source) -> Result<Sheets<Box<dyn Bytes>>, Fault> {
    let unsound = |reason: String| Fault::Unsound { format: "workbook", reason };
    let bytes = bytes_of(source).map_err(Fault::Unreadable)?;
    let end = source.path().and_then(|path| path.extension()).map(|end| end.to_string_lossy().to_lowercase());
    let open = || -> Result<_, calamine::Error> {
        Ok(match end.as_deref() {
            Some("xls") => Sheets::Xls(Xls::new(bytes)?),
            Some("xlsb") => Sheets::Xlsb(Xlsb::new(bytes)?),
            Some("ods") => Sheets::Ods(Ods::new(bytes)?),
            _ => Sheets::Xlsx(Xlsx::new(bytes)?),
        })
    };
    guarded(open).map_err(unsound)?.map_err(|error| unsound(error.to_string()))
}

/// Returns the sheet to read (by default the first visible one that holds a table), and the number of sheets.
pub(crate) fn sheet_of(source: &Source, wanted: Option<&str>, memory: MaxMemory) -> Result<(String, usize), Fault> {
    allow(source, memory)?;
    let book = open_book(source)?;
    let names = book.sheet_names();
    let found = match wanted {
        Some(wanted) => names.iter().find(|name| *name == wanted),
        None => {
            let visible = || book.sheets_metadata().iter().filter(|sheet| sheet.visible == SheetVisible::Visible);
            let table = visible().find(|sheet| visible().count() > 1 && holds_table(source, &sheet.name));
            table.or_else(|| visible().next()).map(|sheet| &sheet.name).or(names.first())
        }
    };
    match (found, wanted) {
        (Some(name), _) => Ok((name.clone(), names.len())),
        (None, Some(wanted)) => {
            let (names, hint) = (names.join(", "), hint(wanted, &names));
            Err(Fault::Table(format!("there is no sheet {wanted:?}; the sheets are {names}{hint}")))
        }
        (None, None) => Err(Fault::Empty),
    }
}

fn holds_table(source: &Source, sheet: &str) -> bool {
    let mut lines = 0;
    let mut look = |piece: Vec<u8>| {
        lines += piece.split(|byte| *byte == b'\n').filter(|line| line.contains(&b',')).count();
        false
    };
    guarded(|| send_sheet(source, sheet, &mut look)).is_ok_and(|sent| sent.is_ok()) && lines > 1
}

/// Checks the memory of the loaded parts: an `.xls` file, the content of an `.ods` file, shared texts of others.
fn allow(source: &Source, memory: MaxMemory) -> Result<(), Fault> {
    let mut bytes = bytes_of(source).map_err(Fault::Unreadable)?;
    let size = u128::from(bytes.seek(io::SeekFrom::End(0)).map_err(Fault::Unreadable)?);
    let bytes = match zip::ZipArchive::new(bytes) {
        Ok(mut archive) => {
            let mut size = |name| archive.by_name(name).map_or(0, |part| u128::from(part.size()));
            2 * ["xl/sharedStrings.xml", "xl/sharedStrings.bin", "content.xml"].into_iter().map(&mut size).sum::<u128>()
        }
        Err(_) => LOADED * size,
    };
    memory.allow("the texts of the workbook", bytes)
}

/// Returns a reader of a sheet as CSV. Without threads (WebAssembly), the whole text is in memory.
pub(crate) fn open(source: &Source, sheet: &str) -> Result<Box<dyn Read>, Fault> {
    let (source, sheet) = (source.clone(), sheet.to_owned());
    let convert =
        move |send: &mut dyn FnMut(Vec<u8>) -> bool| guarded(|| send_sheet(&source, &sheet, send)).unwrap_or_else(Err);
    if cfg!(target_family = "wasm") {
        let mut text = Vec::new();
        let mut collect = |piece: Vec<u8>| {
            text.extend(piece);
            true
        };
        convert(&mut collect).map_err(|reason| Fault::Unsound { format: "workbook", reason })?;
        return Ok(Box::new(Cursor::new(text)));
    }
    let (sender, receiver) = sync_channel(WAITING);
    let read = move || {
        let outcome = convert(&mut |piece| sender.send(Ok(piece)).is_ok());
        outcome.err().into_iter().for_each(|reason| drop(sender.send(Err(reason))));
    };
    thread::Builder::new().spawn(read).map_err(Fault::Unreadable)?;
    Ok(Box::new(Pieces(receiver, Cursor::default())))
}

struct Pieces(Receiver<Result<Vec<u8>, String>>, Cursor<Vec<u8>>);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.position() == self.1.get_ref().len() as u64 {
            let Ok(piece) = self.0.recv() else { return Ok(0) };
            self.1 = Cursor::new(piece.map_err(io::Error::other)?);
        }
        self.1.read(buffer)
    }
}

struct Lines<'a> {
    send: &'a mut dyn FnMut(Vec<u8>) -> bool,
    text: Vec<u8>,
    row: u32,
    cells: Vec<String>,
    width: usize,
}

impl Lines<'_> {
    fn cell(&mut self, (row, column): (u32, u32), text: String) -> bool {
        while self.row < row {
            if !self.end_row() {
                return false;
            }
        }
        self.cells.resize(self.cells.len().max(column as usize), String::new());
        self.cells.push(text);
        true
    }

    fn end_row(&mut self) -> bool {
        if !self.cells.is_empty() {
            self.width = self.width.max(self.cells.len());
            self.cells.resize(self.width, String::new());
            let quoted = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
                true => format!("\"{}\"", cell.replace('"', "\"\"")),
                false => cell.clone(),
            };
            let line: Vec<String> = self.cells.drain(..).map(|cell| quoted(&cell)).collect();
            self.text.extend_from_slice(line.join(",").as_bytes());
        }
        self.text.push(b'\n');
        self.row += 1;
        self.text.len() < PIECE || (self.send)(std::mem::take(&mut self.text))
    }
}

fn send_sheet(source: &Source, sheet: &str, send: &mut dyn FnMut(Vec<u8>) -> bool) -> Result<(), String> {
    let mut lines = Lines { send, text: Vec::new(), row: 0, cells: Vec::new(), width: 0 };
    let mut book = open_book(source).map_err(|fault| fault.to_string())?;
    if let Sheets::Xlsx(book) = &mut book {
        let mut cells = book.worksheet_cells_reader(sheet).map_err(|error| error.to_string())?;
        while let Some(cell) = cells.next_cell().map_err(|error| error.to_string())? {
            let text = text_of(&Data::from(cell.get_value().clone()));
            if !text.is_empty() && !lines.cell(cell.get_position(), text) {
                return Ok(());
            }
        }
    } else {
        let range = book.worksheet_range(sheet).map_err(|error| error.to_string())?;
        let (first, left) = range.start().unwrap_or_default();
        for (row, column, value) in range.used_cells() {
            if !lines.cell((first + row as u32, left + column as u32), text_of(value)) {
                return Ok(());
            }
        }
    }
    lines.end_row();
    let _ = (lines.send)(lines.text);
    Ok(())
}

fn text_of(value: &Data) -> String {
    match value {
        Data::Empty => String::new(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(time) => time_text(time),
        Data::Error(error) => error.to_string(),
    }
}

fn time_text(time: &ExcelDateTime) -> String {
    let days = time.as_f64();
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let fraction = if milli > 0 { format!(".{milli:03}") } else { String::new() };
    let clock = format!("{hour:02}:{minute:02}:{second:02}{fraction}");
    match () {
        () if time.is_duration() || days < 1.0 => clock,
        () if days.fract() == 0.0 => date,
        () => format!("{date} {clock}"),
    }
}
