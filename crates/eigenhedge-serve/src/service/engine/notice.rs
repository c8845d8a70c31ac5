//! Most recent notices of a stream.

use eigenhedge_pages::monitor::Notice;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Notices {
    /// Number of notices so far.
    pub count: u64,
    last: VecDeque<Notice>,
}

impl Notices {
    /// Maximum number of stored notices.
    pub const REMEMBERED: usize = 1000;

    /// Assigns the next id to a notice and stores the notice.
    pub fn push(&mut self, mut notice: Notice) {
        self.count += 1;
        notice.id = self.count;
        self.last.push_back(notice);
        if self.last.len() > Self::REMEMBERED {
            self.last.pop_front();
        }
    }

    /// Returns the stored notices whose ids are greater than `id`.
    pub fn after(&self, id: u64) -> impl Iterator<Item = &Notice> {
        self.last.iter().filter(move |notice| notice.id > id)
    }
}
