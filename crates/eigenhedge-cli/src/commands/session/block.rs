//! Blocks of rows, for learners that are faster with blocks.

use super::words::by_name;
use eigenhedge::{Loss, Model};
use eigenhedge_io::{Error, Row, Stream};

/// Memory of a buffered row in bytes, in addition to its numbers and strings.
const ROW_BYTES: usize = 256;

#[derive(Default)]
pub struct Block {
    rows: Vec<Row>,
    len: usize,
    /// Error after the last row of the block. The next read returns it.
    failure: Option<Error>,
}

impl Block {
    /// Reads at most `most` rows. An error after the first row is returned by the next call.
    pub fn read(&mut self, stream: &mut Stream, most: usize) -> Result<(), Error> {
        self.len = 0;
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        while self.len < most {
            match stream.next_row() {
                Ok(Some(_)) => {
                    if self.rows.len() == self.len {
                        self.rows.push(Row::default());
                    }
                    stream.deliver_into(&mut self.rows[self.len]);
                    self.len += 1;
                }
                Ok(None) => break,
                Err(error) if self.len == 0 => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Reads the warm-up rows, which determine the scale of the columns and are learned afterwards.
    pub fn read_warm_up(&mut self, stream: &mut Stream, model: &mut Model) -> anyhow::Result<()> {
        let mut warm = Self::default();
        self.len = 0;
        loop {
            warm.read(stream, 1)?;
            let Some(row) = warm.rows.pop() else { break };
            match model.warm_up([row.numbers()]) {
                Err((_, error)) => {
                    stream.refuse_row(&row, by_name(&error, stream))?;
                }
                Ok(needs_more) => {
                    let texts = row.kept.iter().map(String::len).sum::<usize>();
                    let bytes = 8 * row.numbers().len() + texts + ROW_BYTES;
                    stream.allow("the rows of the warm-up", bytes as u128 * (self.len as u128 + 1))?;
                    self.rows.insert(self.len, row);
                    self.len += 1;
                    if !needs_more {
                        break;
                    }
                }
            }
        }
        model.settle();
        Ok(())
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows[..self.len]
    }
}

/// Runs a trial for each row and calls `each` with its loss. Sparse rows are passed one by one, and others in blocks.
pub fn step_rows(
    model: &mut Model,
    rows: &[Row],
    mut each: impl FnMut(&Model, Loss),
) -> Result<(), (usize, eigenhedge::Error)> {
    in_blocks(rows, |block| match block {
        Rows::Sparse(row, filled) => {
            model.step_filled(row, filled).map(|loss| each(model, loss)).map_err(|error| (0, error))
        }
        Rows::Dense(rows) => model.step_each(rows, &mut each),
    })
}

/// Runs a trial for each row like [`step_rows`], but reports no losses.
pub fn step_all_rows(model: &mut Model, rows: &[Row]) -> Result<(), (usize, eigenhedge::Error)> {
    in_blocks(rows, |block| match block {
        Rows::Sparse(row, filled) => model.step_filled(row, filled).map(drop).map_err(|error| (0, error)),
        Rows::Dense(rows) => model.step_all(rows, |_| ()),
    })
}

enum Rows<'a> {
    Sparse(&'a [f64], &'a [u32]),
    Dense(&'a [&'a [f64]]),
}

/// Calls `learn` with sparse rows and blocks of dense rows, in order. An error has the row's index.
fn in_blocks<E>(rows: &[Row], mut learn: impl FnMut(Rows<'_>) -> Result<(), (usize, E)>) -> Result<(), (usize, E)> {
    let mut first = 0;
    while let Some(row) = rows.get(first) {
        let from_start = |(i, error)| (first + i, error);
        if let Some(filled) = row.filled() {
            learn(Rows::Sparse(row.numbers(), filled)).map_err(from_start)?;
            first += 1;
        } else {
            let dense = rows[first..].iter().take_while(|row| row.filled().is_none());
            let block: Vec<&[f64]> = dense.map(Row::numbers).collect();
            learn(Rows::Dense(&block)).map_err(from_start)?;
            first += block.len();
        }
    }
    Ok(())
}
