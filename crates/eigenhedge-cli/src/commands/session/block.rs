//! Blocks of rows that are read ahead, for learners that are faster with blocks.

use super::words::by_name;
use eigenhedge::Model;
use eigenhedge_io::{Delivered, Error, Stream};

/// Memory of a buffered row in bytes, in addition to its numbers and strings.
const ROW: usize = 256;

/// Rows of a block, in order. The memory of earlier blocks is used again.
#[derive(Default)]
pub struct Block {
    rows: Vec<Vec<f64>>,
    delivered: Vec<Delivered>,
    len: usize,
    /// Error that occurred after the last row. The next read reports it.
    failure: Option<Error>,
}

impl Block {
    /// Reads at most `most` rows. An error after the first row is returned by the next call, so that the rows before it
    /// are learned first.
    pub fn read(&mut self, stream: &mut Stream, most: usize) -> Result<(), Error> {
        self.len = 0;
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        while self.len < most {
            match stream.next_row() {
                Ok(Some(row)) => {
                    if self.rows.len() == self.len {
                        self.rows.push(Vec::new());
                    }
                    let copy = &mut self.rows[self.len];
                    copy.clear();
                    copy.extend_from_slice(row);
                }
                Ok(None) => break,
                Err(error) if self.len == 0 => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
            match self.delivered.get_mut(self.len) {
                Some(place) => stream.deliver_into(place),
                None => self.delivered.push(stream.delivered()),
            }
            self.len += 1;
        }
        Ok(())
    }

    /// Reads the warm-up rows, from which the model estimates the scale of its columns. The model learns the rows
    /// afterwards.
    pub fn read_warm_up(&mut self, stream: &mut Stream, model: &mut Model) -> anyhow::Result<()> {
        let mut warm = Self::default();
        self.len = 0;
        loop {
            warm.read(stream, 1)?;
            let (Some(row), Some(delivered)) = (warm.rows.pop(), warm.delivered.pop()) else { break };
            match model.warm_up([&row]) {
                Err((_, error)) => {
                    stream.refuse_row(&delivered, by_name(&error, stream))?;
                }
                Ok(needs_more) => {
                    let bytes = 8 * row.len() + delivered.kept.iter().map(String::len).sum::<usize>() + ROW;
                    stream.allow("the rows of the warm-up", bytes as u128 * (self.len as u128 + 1))?;
                    self.rows.insert(self.len, row);
                    self.delivered.insert(self.len, delivered);
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

    /// Returns the rows and their positions in the input.
    pub fn rows(&self) -> (Vec<&[f64]>, &[Delivered]) {
        (self.rows.iter().take(self.len).map(|row| &row[..]).collect(), &self.delivered[..self.len])
    }
}
