//! Rows that are read before they are learned: as many as the learner gains from.

use eigenhedge_io::{Delivered, Error, Stream};

/// Rows of one block, in order.
#[derive(Default)]
pub struct Block {
    rows: Vec<Vec<f64>>,
    delivered: Vec<Delivered>,
    /// The error that came after the last row, until it is its turn.
    failure: Option<Error>,
}

impl Block {
    /// Reads up to `most` rows. An error behind the first row waits for the next call: the rows before it come first.
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

    /// The rows, and where each stands.
    pub fn rows(&self) -> (Vec<&[f64]>, &[Delivered]) {
        let rows = self.rows.iter().take(self.delivered.len()).map(|row| &row[..]).collect();
        (rows, &self.delivered)
    }
}
