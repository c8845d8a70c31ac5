//! Log lines, as JSON on standard error.

use axum::http::{Method, StatusCode};
use serde_json::json;
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

pub fn event(name: &str, fields: serde_json::Value) {
    let mut line = json!({ "time": now(), "event": name });
    if let (Some(line), serde_json::Value::Object(fields)) = (line.as_object_mut(), fields) {
        line.extend(fields);
    }
    let _ = writeln!(io::stderr(), "{line}");
}

pub fn request(method: &Method, path: &str, status: StatusCode, time: Duration) {
    let milliseconds = (1e6 * time.as_secs_f64()).round() / 1e3;
    event("request", json!({ "method": method.as_str(), "path": path, "status": status.as_u16(), "ms": milliseconds }));
}
