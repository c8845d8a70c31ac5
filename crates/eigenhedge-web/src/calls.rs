//! Methods of monitors, models and fleets, by the names that JavaScript calls.

use crate::Object;
use crate::fleet::Group;
use crate::learners::{Learner, Watcher};
use crate::reply::{Answer, bytes, no_method, read};
use eigenhedge::Fleet;
use serde_json::Value;

impl Object for Watcher {
    fn kind(&self) -> &'static str {
        "monitor"
    }

    fn call(&mut self, name: &str, input: &[u8]) -> Result<Answer, String> {
        let reply = match name {
            "update" => self.update(input),
            "fit" => self.fit(input),
            "state" => Ok(bytes(&self.state())),
            "report" => Ok(self.report(String::from_utf8_lossy(input).into_owned())),
            "save" => self.save(),
            "fleet" => {
                let fleet = read(Fleet::of_monitors(self.monitor().clone()))?;
                return Ok(Answer::Object(Box::new(Group::of_monitors(fleet))));
            }
            _ => no_method(name),
        };
        reply.map(Answer::Bytes)
    }
}

impl Object for Learner {
    fn kind(&self) -> &'static str {
        "model"
    }

    fn call(&mut self, name: &str, input: &[u8]) -> Result<Answer, String> {
        let reply = match name {
            "update" => self.update(input),
            "transform" => self.transform(input),
            "components" => self.components(),
            "state" => Ok(bytes(&self.state())),
            "save" => read(self.0.to_bytes()),
            "fleet" => {
                let fleet = read(Fleet::new(self.0.clone()))?;
                return Ok(Answer::Object(Box::new(Group::of_models(fleet))));
            }
            _ => no_method(name),
        };
        reply.map(Answer::Bytes)
    }
}

impl Object for Group {
    fn kind(&self) -> &'static str {
        "fleet"
    }

    fn call(&mut self, name: &str, input: &[u8]) -> Result<Answer, String> {
        let reply = match name {
            "update" => self.update(input),
            "state" => Ok(bytes(&self.state())),
            "get" => match self.get(&String::from_utf8_lossy(input))? {
                Some(object) => return Ok(Answer::Object(object)),
                None => Ok(bytes(&Value::Null)),
            },
            "report" => self.report(input),
            "save" => self.save(),
            _ => no_method(name),
        };
        reply.map(Answer::Bytes)
    }
}
