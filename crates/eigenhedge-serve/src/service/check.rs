//! Report on a store: rows, incidents and waiting notices of its streams.

use super::core::Core;
use super::settings::{Settings, WebhookSettings};
use eigenhedge_io::printable_path;
use std::fmt::Write;

pub fn check_store(mut settings: Settings) -> Result<String, String> {
    if !settings.store.is_dir() {
        return Err(format!("{} is not a folder", printable_path(&settings.store)));
    }
    // Without webhooks, the check sends no waiting notices.
    settings.webhooks = WebhookSettings::default();
    let core = Core::open(settings)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(core.load_all());
    let mut out =
        format!("{:<24} {:<8} {:>12} {:>9} {:>8}  last rows\n", "stream", "kind", "rows", "incidents", "notices");
    let mut problems = Vec::new();
    for handle in core.all() {
        let (seen, waiting) = (handle.seen(), handle.line.as_ref().map_or(0, |line| line.counts()[3]));
        let _ = writeln!(
            out,
            "{:<24} {:<8} {:>12} {:>9} {waiting:>8}  {}",
            handle.name,
            handle.options.kind(),
            seen.counts.rows,
            seen.incidents,
            seen.counts.last_row_text(),
        );
        drop(seen);
        problems.extend(handle.check_loaded().err().map(|problem| problem.detail));
    }
    let (streams, size) = (core.all().len(), core.shared.store.size());
    runtime.block_on(core.close());
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let noun = if streams == 1 { "stream" } else { "streams" };
    Ok(format!("{out}{streams} {noun}, {size} bytes. Incidents: those that are going on. Notices: those that wait.\n"))
}
