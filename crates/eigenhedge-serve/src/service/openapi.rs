//! OpenAPI 3.1 description of the service. A test compares it with the routes.

use super::option_schema::{COMPARED, schema};
use super::options::MOST_DIRECTIONS;
use serde_json::{Map, Value, json};

/// Operation: path, method, summary, and statuses in addition to [`COMMON`].
type Operation = (&'static str, &'static str, &'static str, &'static [u16]);

/// Statuses of requests whose body is for a learner.
const CHANGED: &[u16] = &[200, 404, 409, 413, 415, 422, 507];

const OPERATIONS: &[Operation] = &[
    ("/v1/streams", "get", "Lists the streams.", &[200]),
    ("/v1/streams/{name}", "get", "Shows a stream.", &[200, 404]),
    (
        "/v1/streams/{name}",
        "put",
        "Creates a stream with the options in the body. The status is 200 if it already exists with these options.",
        &[200, 201, 409, 413, 415, 422, 507],
    ),
    ("/v1/streams/{name}", "delete", "Deletes a stream and everything it has learned.", &[204, 404, 507]),
    (
        "/v1/streams/{name}/rows",
        "post",
        "Learns rows and returns a line of JSON for each. With an Idempotency-Key, a request can be repeated safely.",
        CHANGED,
    ),
    ("/v1/streams/{name}/score", "post", "Scores rows without learning from them.", CHANGED),
    (
        "/v1/streams/{name}/summary",
        "get",
        "Returns the summary of the stream, or of one key (parameter `key`).",
        &[200, 404],
    ),
    (
        "/v1/streams/{name}/incidents",
        "get",
        "Returns ongoing and past incidents of the stream, or of one key (parameter `key`).",
        &[200, 404],
    ),
    (
        "/v1/streams/{name}/model",
        "get",
        "Returns the model as a file that the command line and Python can read.",
        &[200, 404, 409],
    ),
    ("/v1/streams/{name}/model", "put", "Replaces the model by one with the same options.", CHANGED),
    ("/v1/streams/{name}/accept", "post", "Makes the last rows of a monitor its reference.", CHANGED),
    (
        "/v1/streams/{name}/events",
        "get",
        "Sends notices and points as server-sent events. Last-Event-ID resumes after an event.",
        &[200, 404],
    ),
    ("/v1/streams/{name}/page", "get", "Sends the parts of the page of a stream as server-sent events.", &[200, 404]),
    ("/v1/page", "get", "Sends the parts of the page of all streams as server-sent events.", &[200]),
    ("/v1/backup", "get", "Returns a copy of the store. The service keeps running.", &[200, 413, 507]),
    (
        "/metrics",
        "get",
        "Returns metrics in the Prometheus text format, or those of the keys of one stream (parameter `keys`).",
        &[200, 404],
    ),
    ("/health", "get", "Returns 200 while the service is running.", &[200]),
    ("/ready", "get", "Returns 200 once all streams are loaded from the store.", &[200]),
    ("/openapi.json", "get", "Returns this description.", &[200]),
    ("/", "get", "Shows all streams.", &[200]),
    (
        "/try",
        "get",
        "Returns eigenhedge.html, which finds faults in tables on the computer of its reader.",
        &[200, 404],
    ),
    ("/streams/{name}", "get", "Shows the page of a stream.", &[200]),
    ("/login", "post", "Stores the token in the body in a cookie, for the pages.", &[204, 413, 415]),
    ("/service/service.js", "get", "Returns the script of the pages.", &[200]),
    ("/service/service.css", "get", "Returns the style sheet of the pages.", &[200]),
];

const COMMON: [u16; 5] = [400, 401, 403, 429, 503];

fn meaning(status: u16) -> &'static str {
    match status {
        200 => "Success.",
        201 => "Created.",
        204 => "Success, without a body.",
        400 => "The request is malformed, or its body arrived too slowly.",
        401 => "The token is missing or wrong.",
        403 => "The token does not have the required scope, or the host name or origin is not allowed.",
        404 => "There is no such stream.",
        409 => "The request conflicts with the current state.",
        413 => "The request is too large for --max-body or --max-memory.",
        415 => "The content type is not supported, or the body is compressed.",
        429 => "Too many requests. Retry-After states when to try again.",
        503 => "The service is stopping or is still loading the stream.",
        507 => "The disk of the store is full, or the stream is too large for --max-memory; nothing was learned.",
        _ => "",
    }
}

fn invalid(path: &str) -> String {
    match path.rsplit('/').next().unwrap_or("") {
        "rows" | "score" => {
            "The rows do not fit the stream: its columns, its options, or what it has learned. The message is \
                             that of the command line, with row and column."
                .to_owned()
        }
        "model" => "The file is not a saved model, or its options or columns are not those of the stream.".to_owned(),
        "accept" => "The stream is not a monitor, has too few rows, or has no such key.".to_owned(),
        _ => format!("The options are invalid. {COMPARED}"),
    }
}

pub fn document(hosts: &[String]) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for (path, method, summary, statuses) in OPERATIONS {
        let mut responses = Map::new();
        for status in statuses.iter().chain(&COMMON) {
            let description = if *status == 422 { invalid(path) } else { meaning(*status).to_owned() };
            let mut response = json!({ "description": description });
            if *status >= 400 {
                response["content"] =
                    json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
            }
            responses.insert(status.to_string(), response);
        }
        let mut operation = json!({ "summary": summary, "responses": responses });
        if path.contains("{name}") {
            operation["parameters"] = json!([{ "name": "name", "in": "path", "required": true,
                "schema": { "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" } }]);
        }
        if let Some(body) = body_of(path, method, hosts) {
            operation["requestBody"] = body;
        }
        let entry = paths.entry((*path).to_owned()).or_insert_with(|| json!({}));
        entry[*method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "eigenhedge", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "MIT OR Apache-2.0" },
            "summary": "Online PCA models and monitors by name." },
        "paths": paths,
        "components": {
            "schemas": { "Problem": { "type": "object", "required": ["type", "title", "status", "detail"], "properties": {
                "type": { "type": "string" }, "title": { "type": "string" }, "status": { "type": "integer" },
                "detail": { "type": "string" }, "row": { "type": "integer" }, "column": { "type": "string" } } } },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "token": [] }, {}],
    })
}

fn body_of(path: &str, method: &str, hosts: &[String]) -> Option<Value> {
    let key = json!({ "schema": { "type": "object", "properties": { "key": { "type": ["string", "null"] } } } });
    let cells = json!({ "type": ["number", "string", "null"] });
    let row = json!({ "anyOf": [
        { "type": "object", "maxProperties": MOST_DIRECTIONS, "additionalProperties": cells },
        { "type": "array", "maxItems": MOST_DIRECTIONS, "items": cells } ] });
    let rows = json!({ "schema": { "anyOf": [row, { "type": "array", "items": row }] } });
    let token = json!({ "schema": { "type": "string", "minLength": 1, "maxLength": 512, "pattern": "^[!-:<-~]+$" } });
    let text = json!({ "schema": { "type": "string" } });
    let bytes = json!({ "schema": { "type": "string", "format": "binary" } });
    match (path.rsplit('/').next().unwrap_or(""), method) {
        ("{name}", "put") => {
            let options = json!({ "schema": schema(hosts) });
            Some(json!({ "required": true, "content": { "application/json": options } }))
        }
        ("rows" | "score", "post") => Some(json!({ "required": true, "content": {
            "application/json": rows, "application/x-ndjson": text, "text/csv": text,
            "application/vnd.apache.arrow.stream": bytes } })),
        ("model", "put") => Some(json!({ "required": true, "content": { "application/octet-stream": bytes } })),
        ("accept", "post") => Some(json!({ "content": { "application/json": key } })),
        ("login", "post") => Some(json!({ "required": true, "content": { "text/plain": token } })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::routes::ROUTES;
    use std::collections::BTreeSet;

    #[test]
    fn the_description_has_exactly_the_routes() {
        let described: BTreeSet<(String, String)> =
            OPERATIONS.iter().map(|(path, method, ..)| ((*path).to_owned(), (*method).to_owned())).collect();
        let served: BTreeSet<(String, String)> = ROUTES
            .iter()
            .flat_map(|route| route.methods.iter().map(|method| (route.path.to_owned(), (*method).to_owned())))
            .collect();
        assert_eq!(described, served);
        let document = document(&[]);
        for (path, method) in &described {
            let operation = &document["paths"][path][method];
            assert!(operation["summary"].is_string(), "{path} {method}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert_ne!(response["description"], "", "{status}");
            }
        }
    }
}
