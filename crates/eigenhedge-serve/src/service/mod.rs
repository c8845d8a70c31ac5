//! Streams by name behind an HTTP interface.
