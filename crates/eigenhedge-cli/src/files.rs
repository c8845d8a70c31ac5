//! Snapshots on disk: complete or absent.

use anyhow::{Context, Result, anyhow};
use eigenhedge::snapshot::Snapshot;
use std::fs;
use std::path::Path;

/// Reads a snapshot.
pub fn read_snapshot(path: &Path) -> Result<Snapshot> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Snapshot::from_bytes(&bytes).map_err(|refusal| anyhow!("{}: {refusal}", path.display()))
}
