//! Reader of lines of text, such as a log, as a table with one column, `line`. Blank lines are skipped.

use super::line_reader::{LineParser, LineReader, LineTable};
use super::{is_missing, number};
use crate::columns::Columns;
use crate::error::{Error, Fault, shown};
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::Opened;
use crate::recode::text_of;
use crate::row::Row;

pub struct Lines(Columns);

impl Lines {
    pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
        let mut lines = LineReader::open(input)?;
        if !lines.advance()? {
            return Err(input.fault(Fault::Empty));
        }
        lines.hold();
        let columns = Columns::choose(input, layout, Some(vec!["line".to_owned()]), 1, |_| false)?;
        let parser = Self(columns.clone());
        Ok(Opened { reader: Box::new(LineTable { lines, parser }), columns })
    }
}

impl LineParser for Lines {
    fn parse(&mut self, lines: &LineReader, row: &mut Row) -> Result<(), Error> {
        let (cell, numbers) = (lines.line(), row.cleared());
        if self.0.text.is_none() {
            let wrong = || Error::at(lines.place(), Fault::cell(shown(cell), is_missing(cell)));
            numbers.push(number(cell).filter(|value| value.is_finite()).ok_or_else(wrong)?);
        }
        row.kept.extend(self.0.kept.iter().map(|_| text_of(cell).into_owned()));
        Ok(())
    }
}
