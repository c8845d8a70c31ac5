//! The page of one command while its stream runs.
