//! Blocks of rows, for learners that are faster with blocks.

use eigenhedge::{Loss, Model};
use eigenhedge_io::{Error, Row, Stream};

#[derive(Default)]
pub struct Block {
    rows: Vec<Row>,
    len: usize,
    failure: Option<Error>,
}

impl Block {
    /// An error after the first row is returned by the next call.
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

    /// The warm-up rows determine the scale of the columns and are learned afterwards.
    pub fn read_warm_up(&mut self, stream: &mut Stream, model: &mut Model) -> Result<(), Error> {
        self.rows = stream.read_warm_up(|row| model.warm_up([row]).map_err(|(_, error)| error))?;
        self.len = self.rows.len();
        model.settle();
        Ok(())
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows[..self.len]
    }
}

/// Sparse rows are passed one by one, and others in blocks. An error has the row's index.
pub fn step_rows(
    model: &mut Model,
    rows: &[Row],
    mut each: Option<impl FnMut(&Model, Loss)>,
) -> Result<(), (usize, eigenhedge::Error)> {
    let mut first = 0;
    while let Some(row) = rows.get(first) {
        if let Some(filled) = row.filled() {
            let loss = model.step_filled(row.numbers(), filled).map_err(|error| (first, error))?;
            each.iter_mut().for_each(|each| each(model, loss));
            first += 1;
            continue;
        }
        let dense = rows[first..].iter().take_while(|row| row.filled().is_none());
        let block: Vec<&[f64]> = dense.map(Row::numbers).collect();
        let outcome = match &mut each {
            Some(each) => model.step_each(&block, each),
            None => model.step_all(&block, |_| ()),
        };
        outcome.map_err(|(i, error)| (first + i, error))?;
        first += block.len();
    }
    Ok(())
}
