//! Monitors eight sensors for faults. The monitor is saved and restored during the run.
//!
//! Run it with `cargo run --release --example sensors`.

use eigenhedge::{Event, Limit, Monitor, MonitorOptions, streams};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two factors drive eight sensors. x1 has an offset for 30 rows from row 1000. x2 is stuck for
    // 40 rows from row 1400. The level of x3 changes at row 1800.
    let rows = streams::faults(8, 2, 0.3, 2000, 1);
    let names: Vec<String> = (0..8).map(|j| format!("x{j}")).collect();

    // The first 400 rows are the reference. One normal row in a thousand may raise an alarm.
    let options = MonitorOptions { warm_up: Some(400), limit: Limit::Auto(0.001), ..MonitorOptions::default() };
    let mut monitor = Monitor::new(options, 8)?.with_names(Some(names.clone()));
    let report = |event: Event| {
        let causes: Vec<&str> = event.causes.iter().flatten().map(|cause| &names[cause.column][..]).collect();
        println!("rows {} to {}: alarm, by {}", event.start, event.end, causes.join(", "));
    };

    for (t, row) in rows.iter().enumerate() {
        // The saved bytes hold the reference, the limits and the column names.
        if t == 1200 {
            let path = std::env::temp_dir().join(format!("sensors-{}.monitor", std::process::id()));
            std::fs::write(&path, monitor.to_bytes()?)?;
            monitor = Monitor::from_bytes(&std::fs::read(&path)?)?;
            std::fs::remove_file(&path)?;
            println!("row {t}: saved and restored");
        }
        let verdict = monitor.step(row)?;
        // An event is a group of nearby alarms. It is reported when it ends.
        verdict.event.map(report);
        if let Some(incident) = verdict.opened {
            println!("row {t}: an incident, since row {}", incident.start);
        }
        if let Some(change) = verdict.change {
            println!("row {t}: the level changed, at about row {}", change.start);
        }
    }
    // An event that is still open at the end of the stream is reported too.
    monitor.close_event().map(report);
    let totals = monitor.totals();
    println!("{} rows, {} alarms", totals.rows, totals.alarms);
    Ok(())
}
