//! Reader of several tables as one table. Later tables must have the columns of the first. Named columns are matched in
//! any order. A later table without a header, such as a piece of a split file, must have the order of the first.

use crate::format::{Format, Source};
use crate::reader::{
    Columns, Error, Fault, InputSource, Layout, Opened, Progress, ReadPosition, Reader, Row, RowPlace,
};
use crate::{binary, columnar, text};

fn open_one(input: &InputSource, layout: &Layout, like: Option<&Columns>) -> Result<Opened, Error> {
    let opened = match layout.format {
        Format::Csv | Format::Tsv => return text::Csv::open(input, layout, like),
        Format::Jsonl => return text::Jsonl::open(input, layout, like),
        Format::Parquet | Format::Arrow | Format::Feather => match like {
            None => return columnar::open(input, layout),
            Some(like) => columnar::open(input, &like.layout_of_later(layout))?,
        },
        Format::Libsvm => text::Libsvm::open(input, layout)?,
        Format::Lines => text::PlainLines::open(input, layout)?,
        Format::Npy | Format::Npz => binary::open(input, layout)?,
    };
    if let Some(like) = like {
        like.judge_later(&opened.columns, layout).map_err(|fault| input.fault(fault))?;
    }
    Ok(opened)
}

pub(crate) fn open(source: &Source, layout: &Layout) -> Result<(InputSource, Opened), Error> {
    let parts = source.parts();
    if parts.len() > 1 {
        return Concatenation::open(parts, layout);
    }
    let input = InputSource::new(parts.first().unwrap_or(source), layout)?;
    let opened = open_one(&input, layout, None)?;
    Ok((input, opened))
}

struct Concatenation {
    sources: Vec<Source>,
    layout: Layout,
    columns: Columns,
    reader: Option<Box<dyn Reader>>,
    file: usize,
    rows_before: u64,
    sizes: Vec<u64>,
}

impl Concatenation {
    fn open(sources: Vec<Source>, layout: &Layout) -> Result<(InputSource, Opened), Error> {
        let inputs = sources.iter().map(|source| InputSource::new(source, layout)).collect::<Result<Vec<_>, _>>()?;
        let input = inputs[0].clone();
        if layout.format == Format::Libsvm && layout.dim.is_none() {
            return Err(input.fault(Fault::Table("several LIBSVM files need the number of columns, --dim".to_owned())));
        }
        let Opened { reader, columns, reading } = open_one(&input, layout, None)?;
        let signs = reading.signs;
        let groups = if signs.decimal == b',' { b'.' } else { b',' };
        let layout = Layout {
            delimiter: Some(signs.delimiter),
            decimal: Some(signs.decimal),
            thousands: layout.thousands.or(reading.has_groups.then_some(groups)),
            ..layout.clone()
        };
        let sizes = inputs.iter().map(|input| input.file_size.unwrap_or(0)).collect();
        let (reader, all_columns) = (Some(reader), columns.clone());
        let all = Self { sources, layout, columns: all_columns, reader, file: 0, rows_before: 0, sizes };
        Ok((input, Opened { reading, ..Opened::new(all, columns) }))
    }

    fn move_to(&mut self, file: usize, rows_before: u64) -> Result<(), Error> {
        (self.file, self.rows_before) = (file, rows_before);
        let input = InputSource::new(&self.sources[file], &self.layout)?;
        self.reader = match open_one(&input, &self.layout, Some(&self.columns)) {
            Err(error) if error.is_empty() => None,
            opened => Some(opened?.reader),
        };
        Ok(())
    }
}

impl Reader for Concatenation {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        loop {
            if let Some(reader) = &mut self.reader
                && reader.read(row)?
            {
                return Ok(true);
            }
            if self.file + 1 >= self.sources.len() {
                return Ok(false);
            }
            let rows_before = self.position().rows;
            self.move_to(self.file + 1, rows_before)?;
        }
    }

    fn place(&self) -> RowPlace {
        self.reader.as_ref().map_or_else(RowPlace::default, |reader| reader.place())
    }

    fn position(&self) -> ReadPosition {
        let position = self.reader.as_ref().map_or_else(ReadPosition::default, |reader| reader.position());
        let rows = self.rows_before + position.rows;
        ReadPosition { rows, file: self.file as u64, rows_before: self.rows_before, ..position }
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        let within = ReadPosition { rows: position.rows.saturating_sub(position.rows_before), ..*position };
        let file = usize::try_from(position.file).ok().filter(|file| *file < self.sources.len());
        let Some(file) = file else { return Ok(0) };
        if file != self.file {
            self.move_to(file, position.rows_before)?;
        }
        Ok(self.rows_before + self.reader.as_mut().map_or(Ok(0), |reader| reader.go_to(&within))?)
    }

    fn progress(&self) -> Progress {
        let share = self.reader.as_ref().and_then(|reader| reader.progress().share()).unwrap_or(0.0);
        let done = self.sizes[..self.file].iter().sum::<u64>() + (share * self.sizes[self.file] as f64) as u64;
        Progress::Bytes(done, self.sizes.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::stream::Stream;

    #[test]
    fn empty_files_are_passed_over_and_named_if_they_come_first() {
        let bytes = |name: &str, text: &str| Source::Bytes(name.into(), text.as_bytes().into());
        let layout = Layout::new(Format::Csv);
        let full = || bytes("full.csv", "a,b\n1,2\n3,5\n");
        let empty = [("e.csv", ""), ("e.csv", " "), ("e.csv", "\u{feff} \r\n"), ("e.csv.gz", ""), ("e.xlsx", "")];
        for (name, text) in empty {
            let mut stream = Stream::open(&Source::Several(vec![full(), bytes(name, text), full()]), &layout).unwrap();
            let rows = std::iter::from_fn(|| stream.next_row().unwrap().map(<[f64]>::to_vec)).count();
            assert_eq!(rows, 4, "{name} {text:?}");
            let error = Stream::open(&Source::Several(vec![bytes(name, text), full()]), &layout).err().unwrap();
            assert_eq!(error.to_string(), format!("{name}: must hold at least one row, got nothing"), "{text:?}");
        }
    }
}
