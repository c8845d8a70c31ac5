//! The command `serve`: models and monitors by name over HTTP.

use crate::args::ServeArgs;
use crate::stop::StopSignal;
use crate::table::Usage;
use anyhow::{Result, anyhow};
use eigenhedge_serve::live::parse_address;
use eigenhedge_serve::service::{Service, Settings, Tokens, WebhookSettings, check_store};
use std::io::{self, Write};
use std::time::Duration;

const BLINK: Duration = Duration::from_millis(50);

pub fn serve(args: &ServeArgs) -> Result<()> {
    let settings = settings(args)?;
    if args.check {
        let report = check_store(settings).map_err(|reason| anyhow!(reason))?;
        return Ok(io::stdout().write_all(report.as_bytes())?);
    }
    let signal = StopSignal::listen()?;
    let service = Service::start(settings).map_err(|reason| anyhow!(reason))?;
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "eigenhedge: listening on http://{}/", service.address());
    while !signal.to_stop() {
        std::thread::sleep(BLINK);
    }
    service.stop();
    Ok(())
}

fn settings(args: &ServeArgs) -> Result<Settings> {
    let listen = parse_address(&args.listen).map_err(|error| Usage(format!("--listen {error}")))?;
    let tokens = match &args.token_file {
        None => None,
        Some(path) => Some(Tokens::read(path).map_err(|reason| anyhow!("--token-file: {reason}"))?),
    };
    let mut settings = Settings::new(args.store.clone());
    settings.listen = listen;
    settings.tokens = tokens;
    settings.hosts.clone_from(&args.host);
    settings.max_memory = args.max_memory.unwrap_or_default().bytes();
    settings.max_streams = args.max_streams;
    settings.webhooks = WebhookSettings {
        hosts: args.webhook_host.iter().map(|host| host.to_ascii_lowercase()).collect(),
        headers: args.webhook_headers.clone(),
        ca: args.webhook_ca.clone(),
        templates: args.webhook_template.clone(),
    };
    settings.try_page.clone_from(&args.try_page);
    settings.log_requests = args.log_requests;
    if let Some(body) = args.max_body {
        settings.limits.body = usize::try_from(body.bytes()).unwrap_or(usize::MAX);
    }
    eigenhedge::set_max_memory(settings.max_memory);
    settings.check().map_err(Usage)?;
    Ok(settings)
}
