//! Fleets for JavaScript: a model or a monitor for each key. Rows are arrays of numbers.

use crate::Object;
use crate::learners::{Learner, Watcher, columns, page_of, rows, sentence, verdict_numbers};
use crate::reply::{Reply, read};
use eigenhedge::{Error, Fleet, FleetMember, Model, Monitor, POOL_PARTS};
use eigenhedge_pages::monitor::{Journal, RowAt, column_names, incident_json};
use serde_json::{Value, json};

#[expect(clippy::large_enum_variant, reason = "a fleet is boxed as a whole")]
pub enum Members {
    Models(Fleet<Model>),
    Monitors(Fleet<Monitor>, Journal),
}

pub struct Group {
    members: Members,
    /// Empty for models.
    names: Vec<String>,
    rows: u64,
}

macro_rules! either {
    ($members:expr, $fleet:ident => $result:expr) => {
        match $members {
            Members::Models($fleet) => $result,
            Members::Monitors($fleet, _) => $result,
        }
    };
}

impl Group {
    pub fn of_models(mut fleet: Fleet<Model>) -> Self {
        fleet.ask_for_coordinates(true);
        Self { members: Members::Models(fleet), names: Vec::new(), rows: 0 }
    }

    pub fn of_monitors(fleet: Fleet<Monitor>) -> Self {
        let journal = Journal::new(fleet.keys()).with_charts(fleet.fresh().width(), true);
        Self { names: column_names(fleet.fresh()), members: Members::Monitors(fleet, journal), rows: 0 }
    }

    /// The input is the number of bytes of the keys (`u32`, little-endian), the keys as JSON, and the rows.
    pub fn update(&mut self, input: &[u8]) -> Reply {
        let (length, rest) = input.split_first_chunk().ok_or("the keys are missing")?;
        let (keys, cells) =
            rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or("the keys are missing")?;
        let keys: Vec<String> = read(serde_json::from_slice(keys))?;
        let rows = rows(cells, either!(&self.members, fleet => fleet.fresh().width()))?;
        if keys.len() != rows.len() {
            let (expected, found) = (rows.len(), keys.len());
            return Err(Error::Length { what: "the list of keys", expected, found }.to_string());
        }
        let mut results = vec![Vec::new(); if self.are_monitors() { 4 } else { 3 }];
        for (key, row) in keys.iter().zip(&rows) {
            self.step(key, row, &mut results).map_err(|error| sentence(&error))?;
        }
        Ok(columns(&results))
    }

    fn step(&mut self, key: &str, row: &[f64], results: &mut [Vec<f64>]) -> Result<(), Error> {
        match &mut self.members {
            Members::Models(fleet) => {
                let (loss, model) = fleet.step(key, row)?;
                results[0].push(loss.expected);
                results[1].push(loss.realised);
                results[2].extend_from_slice(model.coordinates());
            }
            Members::Monitors(fleet, journal) => {
                let names = (&self.names[..], false);
                let place = (fleet.position(key).unwrap_or(fleet.keys().len()), key);
                let at = RowAt { number: self.rows, cells: row, time: "", seconds: None };
                let step = |monitor: &mut Monitor| journal.step(place, monitor, &at, names);
                let verdict = fleet.with_pool(key, POOL_PARTS, step)?.verdict;
                results.iter_mut().zip(verdict_numbers(&verdict)).for_each(|(column, number)| column.push(number));
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn are_monitors(&self) -> bool {
        matches!(self.members, Members::Monitors(..))
    }

    pub fn state(&self) -> Value {
        let mut state = either!(&self.members, fleet => json!({
            "dim": fleet.fresh().width(),
            "keys": fleet.keys().collect::<Vec<_>>(),
            "featureNames": fleet.fresh().columns().names,
        }));
        state["rows"] = self.rows.into();
        if let Members::Monitors(_, journal) = &self.members {
            let past = journal.listed.iter().filter(|one| one.is_incident());
            let closing = journal.closing_incidents(&self.names);
            state["incidents"] = past.chain(&closing).map(incident_json).collect();
            state["openIncidents"] = journal.open_incidents(&self.names).iter().map(incident_json).collect();
        }
        state
    }

    pub fn get(&mut self, key: &str) -> Result<Option<Box<dyn Object>>, String> {
        Ok(match &mut self.members {
            Members::Models(fleet) => read(fleet.get(key))?.map(|model| Box::new(Learner(model)) as Box<dyn Object>),
            Members::Monitors(fleet, _) => read(fleet.get(key))?.map(|one| Box::new(Watcher::new(one)) as _),
        })
    }

    /// The input is a JSON array of the title and the name of the key column.
    pub fn report(&self, input: &[u8]) -> Reply {
        let Members::Monitors(fleet, journal) = &self.members else {
            return Err("report needs a fleet of monitors".into());
        };
        let (title, by): (String, String) = read(serde_json::from_slice(input))?;
        Ok(page_of(journal, fleet.fresh(), title, Some(by)))
    }

    pub fn save(&mut self) -> Reply {
        let mut bytes = Vec::new();
        read(either!(&mut self.members, fleet => fleet.write(&[], &mut bytes)))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Answer;
    use eigenhedge::{Kind, MonitorOptions, Spec, streams};

    /// Returns the input of `update` for rows with two alternating keys.
    fn input(rows: &[Vec<f64>]) -> Vec<u8> {
        let keys: Vec<&str> = rows.iter().enumerate().map(|(t, _)| ["fan", "pump"][t % 2]).collect();
        let keys = json!(keys).to_string();
        [&(keys.len() as u32).to_le_bytes(), keys.as_bytes(), &columns(rows)].concat()
    }

    #[test]
    fn a_fleet_learns_as_its_members_alone_and_goes_on_when_it_is_read() {
        let rows = streams::iid(6, 2, 0.3, 400, 3).rows;
        let mut fleet = Group::of_models(Fleet::new(Model::new(Spec::new(Kind::Auto, 2), 6, 0).unwrap()).unwrap());
        let first = fleet.update(&input(&rows)).unwrap();
        assert_eq!(first.len(), 8 * 400 * 4);
        let mut alone = Model::new(Spec::new(Kind::Auto, 2), 6, 0).unwrap();
        for row in rows.iter().skip(1).step_by(2) {
            alone.step(row).unwrap();
        }
        let mut pump = fleet.get("pump").unwrap().unwrap();
        let saved = |object: &mut dyn Object| match object.call("components", &[]) {
            Ok(Answer::Bytes(bytes)) => bytes,
            _ => panic!("no components"),
        };
        assert_eq!(saved(&mut *pump), saved(&mut Learner(alone)));
        assert!(fleet.get("valve").unwrap().is_none());

        let fresh = Monitor::new(MonitorOptions { warm_up: Some(60), ..MonitorOptions::default() }, 6).unwrap();
        let mut fleet = Group::of_monitors(Fleet::of_monitors(fresh).unwrap());
        fleet.update(&input(&rows)).unwrap();
        let mut again = Group::of_monitors(eigenhedge_io::fleet_of_bytes(fleet.save().unwrap()).unwrap());
        // A loaded fleet starts a new table with the first row of each key.
        let mut both = [&mut fleet, &mut again].map(|group| group.update(&input(&rows)).unwrap());
        both.iter_mut().for_each(|scores| drop(scores.drain(..16)));
        assert_eq!(both[0], both[1]);
        assert_eq!(again.state()["keys"], json!(["fan", "pump"]));
        let page = fleet.report(br#"["Machines", "machine"]"#).unwrap();
        assert!(String::from_utf8(page).unwrap().contains("Machines"));
        let mut short = input(&rows);
        short.truncate(short.len() - 8 * 6);
        assert!(fleet.update(&short).unwrap_err().contains("the list of keys"));
    }
}
