//! Blocks of rows that are read ahead, for learners that are faster with blocks.

use super::words::by_name;
use eigenhedge::Model;
use eigenhedge_io::{Delivered, Error, Stream};

/// Memory of a buffered row in bytes, in addition to its numbers and strings.
const ROW: usize = 256;

/// Block of rows, with their positions in the input.
#[derive(Default)]
pub struct Block {
    rows: Vec<Vec<f64>>,
    delivered: Vec<Delivered>,
    /// Error that occurred after the last row. The next read returns this error.
    failure: Option<Error>,
}

impl Block {
    /// Reads at most `most` rows. An error after the first row is returned by the next call, so that the rows before it
    /// are learned first.
    pub fn read(&mut self, stream: &mut Stream, most: usize) -> Result<(), Error> {
        self.delivered.clear();
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        while self.delivered.len() < most {
            match stream.next_row() {
                Ok(Some(row)) => {
                    if self.rows.len() == self.delivered.len() {
                        self.rows.push(Vec::new());
                    }
                    let kept = &mut self.rows[self.delivered.len()];
                    kept.clear();
                    kept.extend_from_slice(row);
                }
                Ok(None) => break,
                Err(error) if self.delivered.is_empty() => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
            self.delivered.push(stream.delivered());
        }
        Ok(())
    }

    /// Reads the warm-up rows, from which the model estimates the scale of its columns. The model learns the rows
    /// afterwards.
    pub fn read_warm_up(&mut self, stream: &mut Stream, model: &mut Model) -> anyhow::Result<()> {
        let mut warm = Self::default();
        self.delivered.clear();
        loop {
            warm.read(stream, 1)?;
            let (Some(row), Some(delivered)) = (warm.rows.pop(), warm.delivered.pop()) else { break };
            match model.warm_up([&row]) {
                Err((_, error)) => {
                    stream.refuse_row(&delivered, by_name(&error, stream))?;
                }
                Ok(needs_more) => {
                    let bytes = 8 * row.len() + delivered.kept.iter().map(String::len).sum::<usize>() + ROW;
                    stream.allow("the rows of the warm-up", bytes as u128 * (self.delivered.len() as u128 + 1))?;
                    self.rows.insert(self.delivered.len(), row);
                    self.delivered.push(delivered);
                    if !needs_more {
                        break;
                    }
                }
            }
        }
        model.settle();
        Ok(())
    }

    /// Returns the rows and their positions in the input.
    pub fn rows(&self) -> (Vec<&[f64]>, &[Delivered]) {
        let rows = self.rows.iter().take(self.delivered.len()).map(|row| &row[..]).collect();
        (rows, &self.delivered)
    }
}
