//! Number of directions for a table. If it was not given, it is chosen and reported.

use crate::args::Directions;
use crate::inputs::paths_of;
use crate::say::say;
use crate::table::Usage;
use eigenhedge::Standardize;
use eigenhedge::batch::Center;
use eigenhedge_io::{Layout, Source};
use eigenhedge_pages::directions::Chosen;

/// If the table cannot be read, the choice is 1, because the command reports that error later.
pub fn choose_k(
    asked: Option<Directions>,
    source: &Source,
    layout: &Layout,
    scale: (Standardize, Center),
    quiet: bool,
) -> Result<usize, Usage> {
    let is_pipe =
        || *source == Source::Standard || paths_of(source).iter().any(|path| path.exists() && !path.is_file());
    if !matches!(asked, Some(Directions::Number(_))) && is_pipe() {
        return Err(Usage(
            "-k must be given when rows come through a pipe: their first rows cannot be read twice".into(),
        ));
    }
    Ok(reported(Directions::of_table(asked, source, layout, scale).map_err(Usage)?, quiet))
}

pub fn reported((k, sentence): Chosen, quiet: bool) -> usize {
    sentence.filter(|_| !quiet).iter().for_each(|sentence| say(sentence));
    k
}
