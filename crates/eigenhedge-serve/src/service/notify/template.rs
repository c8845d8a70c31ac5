//! Bodies of notices: JSON, chat messages, plain text, or a template file of the operator.

use eigenhedge_io::printable_path;
use eigenhedge_pages::monitor::Notice;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

const BUILT_IN: [&str; 4] = ["json", "slack", "teams", "text"];

#[derive(Debug, Default)]
pub struct Templates(Vec<(String, Template)>);

#[derive(Debug)]
struct Template {
    text: String,
    is_json: bool,
}

/// A notice, and the notices that were held back before it. Without a notice, the message is a digest of them.
pub struct Told<'a> {
    pub stream: &'a str,
    pub notice: Option<&'a Notice>,
    pub held: &'a [String],
    pub held_back: u64,
}

impl Told<'_> {
    fn text(&self) -> String {
        let incident = self.notice.and_then(|notice| Some((notice, notice.incident.as_ref()?)));
        let mut text = match incident {
            Some((notice, incident)) => format!("{}: incident {}: {}.", self.stream, notice.kind, incident.sentence),
            None => format!("{}:", self.stream),
        };
        if self.held_back > 0 {
            let (were, more) =
                (if self.held_back == 1 { "notice was" } else { "notices were" }, self.held.len() as u64);
            let more = if self.held_back > more { "; …" } else { "" };
            text += &format!(" {} {were} held back: {}{more}.", self.held_back, self.held.join("; "));
        }
        text
    }

    fn json(&self) -> Value {
        let mut object = match self.notice {
            Some(notice) => serde_json::to_value(notice).unwrap_or_default(),
            None => json!({ "kind": "held" }),
        };
        object["stream"] = self.stream.into();
        object["text"] = self.text().into();
        object["held_back"] = self.held_back.into();
        object["held"] = self.held.into();
        object
    }

    fn values(&self) -> Vec<(&'static str, String)> {
        let incident = self.notice.and_then(|notice| notice.incident.as_ref());
        let of_notice = |value: fn(&Notice) -> String| self.notice.map_or_else(String::new, value);
        let causes =
            |notice: &Notice| notice.causes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        vec![
            ("{stream}", self.stream.to_owned()),
            ("{text}", self.text()),
            ("{kind}", self.notice.map_or("held", |notice| &notice.kind).to_owned()),
            ("{key}", of_notice(|notice| notice.key.clone())),
            ("{row}", of_notice(|notice| notice.row.to_string())),
            ("{time}", of_notice(|notice| notice.time.clone())),
            ("{id}", of_notice(|notice| notice.id.to_string())),
            ("{causes}", self.notice.map_or_else(String::new, causes)),
            ("{sentence}", incident.map_or_else(String::new, |incident| incident.sentence.clone())),
            ("{severity}", incident.map_or_else(String::new, |incident| format!("{:.1}", incident.severity))),
            ("{grade}", incident.map_or_else(String::new, |incident| incident.grade.clone())),
            ("{signs}", incident.map_or_else(String::new, |incident| incident.signs.clone())),
            ("{held_back}", self.held_back.to_string()),
        ]
    }
}

impl Templates {
    pub fn read(paths: &[PathBuf]) -> Result<Self, String> {
        let read = |path: &PathBuf| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", printable_path(path)))?;
            Ok((name, Template { text, is_json: path.extension().is_some_and(|extension| extension == "json") }))
        };
        paths.iter().map(read).collect::<Result<_, String>>().map(Self)
    }

    pub fn names(&self) -> Vec<&str> {
        BUILT_IN.into_iter().chain(self.0.iter().map(|(name, _)| name.as_str())).collect()
    }

    pub fn body(&self, name: &str, told: &Told<'_>) -> (&'static str, String) {
        const JSON: &str = "application/json";
        const TEXT: &str = "text/plain; charset=utf-8";
        if let Some((_, template)) = self.0.iter().find(|(own, _)| own == name) {
            let escaped = |value: &str| match template.is_json {
                true => Value::from(value).to_string().split_at(1).1.strip_suffix('"').unwrap_or_default().to_owned(),
                false => value.to_owned(),
            };
            return (if template.is_json { JSON } else { TEXT }, fill(&template.text, &told.values(), escaped));
        }
        match name {
            "slack" => (JSON, json!({ "text": told.text() }).to_string()),
            "teams" => {
                let block = json!({ "type": "TextBlock", "text": told.text(), "wrap": true });
                let card = json!({ "type": "AdaptiveCard", "version": "1.4", "body": [block] });
                let attached = json!({ "contentType": "application/vnd.microsoft.card.adaptive", "content": card });
                (JSON, json!({ "type": "message", "attachments": [attached] }).to_string())
            }
            "text" => (TEXT, told.text()),
            _ => (JSON, told.json().to_string()),
        }
    }
}

fn fill(template: &str, values: &[(&str, String)], escaped: impl Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), template);
    while let Some(start) = rest.find('{') {
        out += &rest[..start];
        rest = &rest[start..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out += &escaped(value);
                rest = &rest[name.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_in_json_and_not_filled_twice() {
        let held = ["a".to_owned()];
        let notice = Notice { kind: "opened".into(), ..Notice::accepted(7, "{row} \"x\"") };
        let told = Told { stream: "press", notice: Some(&notice), held: &held, held_back: 3 };
        let text = "{\"k\": \"{key}\", \"n\": {row}, \"s\": \"{stream}\", \"{other}\": {}}".to_owned();
        let file = |is_json| Templates(vec![("own".into(), Template { text: text.clone(), is_json })]);
        let (kind, body) = file(true).body("own", &told);
        let parsed: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((kind, &parsed["k"], &parsed["n"]), ("application/json", &json!("{row} \"x\""), &json!(7)));
        assert!(file(false).body("own", &told).1.starts_with("{\"k\": \"{row} \"x\"\", \"n\": 7"));
        let none = Templates::default();
        assert_eq!(none.body("text", &told).1, "press: 3 notices were held back: a; ….");
        for name in ["slack", "teams", "json"] {
            let body: Value = serde_json::from_str(&none.body(name, &told).1).unwrap();
            assert!(body.to_string().contains("held back"), "{body}");
        }
    }
}
