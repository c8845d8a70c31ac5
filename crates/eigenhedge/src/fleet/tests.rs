use super::*;
use crate::saved::{Refusal, SavedKind};
use crate::{Columns, Kind, RunningCenter, Spec, Standardize, Standardizer, streams};
use std::io::Cursor;

#[derive(Default)]
struct Shelf {
    bytes: Vec<Option<Vec<u8>>>,
}

impl Store for Shelf {
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.bytes.push(Some(bytes.to_vec()));
        Ok(self.bytes.len() as u64 - 1)
    }
    fn get(&mut self, place: u64) -> io::Result<Vec<u8>> {
        self.bytes[place as usize].clone().ok_or_else(|| io::Error::other("freed"))
    }
    fn free(&mut self, place: u64) {
        self.bytes[place as usize] = None;
    }
}

fn fresh(kind: Kind) -> Model {
    let columns = Columns::new(None, Standardizer::new(Standardize::Running, 6));
    let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 2) };
    Model::new(spec, 6, 3).unwrap().with_columns(columns)
}

fn rows() -> Vec<(String, Vec<f64>)> {
    let rows = streams::iid(6, 3, 0.3, 300, 8).rows;
    rows.into_iter().enumerate().map(|(t, row)| (format!("key {}", (t * t + t / 7) % 13), row)).collect()
}

#[test]
fn a_fleet_is_separate_runs_whatever_is_put_away() {
    for kind in [Kind::Auto, Kind::Tracking, Kind::Gha] {
        let mut apart: HashMap<String, Model> = HashMap::new();
        let mut whole = Fleet::new(fresh(kind)).unwrap();
        let mut small = Fleet::new(fresh(kind)).unwrap().with_store(4, Box::new(Shelf::default()));
        [&mut whole, &mut small].into_iter().for_each(|fleet| fleet.ask_for_coordinates(true));
        for (key, row) in rows() {
            let model = apart.entry(key.clone()).or_insert_with(|| fresh(kind));
            model.ask_for_coordinates(true);
            let wanted = model.step(&row).unwrap();
            for fleet in [&mut whole, &mut small] {
                let (loss, after) = fleet.step(&key, &row).unwrap();
                assert_eq!((loss, after.coordinates()), (wanted, model.coordinates()));
            }
            assert!(small.in_memory() <= 4);
        }
        assert_eq!(whole.in_memory(), apart.len());
        for (key, model) in apart {
            for fleet in [&mut whole, &mut small] {
                assert_eq!(fleet.get(&key).unwrap().unwrap(), model);
            }
        }
        assert!(whole.get("nobody").unwrap().is_none());
    }
}

#[test]
fn a_fleet_shrinks_to_a_lower_limit() {
    let mut fleet = Fleet::new(fresh(Kind::Auto)).unwrap().with_store(20, Box::new(Shelf::default()));
    let keys: Vec<String> = (0..20).map(|i| format!("key {i}")).collect();
    let (_, row) = &rows()[0];
    keys.iter().for_each(|key| _ = fleet.step(key, row).unwrap());
    assert_eq!(fleet.in_memory(), 20);
    fleet.set_most(4);
    fleet.step("another key", row).unwrap();
    assert!(fleet.in_memory() <= 4, "{}", fleet.in_memory());
    keys.iter().for_each(|key| _ = fleet.step(key, row).unwrap());
    assert!(fleet.in_memory() <= 4, "{}", fleet.in_memory());
}

#[test]
fn rows_of_a_key_may_be_learned_together() {
    let mut rows = rows();
    // The first row of a key is rejected, and a later row.
    rows[0].1[2] = f64::NAN;
    rows[40].1[0] = f64::INFINITY;
    let mut one_by_one = Fleet::new(fresh(Kind::Auto)).unwrap();
    let mut together = Fleet::new(fresh(Kind::Auto)).unwrap().with_store(4, Box::new(Shelf::default()));
    [&mut one_by_one, &mut together].into_iter().for_each(|fleet| fleet.ask_for_coordinates(true));
    let told = |outcome: Result<(Loss, &[f64]), Error>| {
        outcome.map(|(loss, coordinates)| (loss, coordinates.to_vec())).map_err(|error| error.to_string())
    };
    for block in rows.chunks(70) {
        let mut alone =
            |key: &str, row: &[f64]| told(one_by_one.step(key, row).map(|(loss, model)| (loss, model.coordinates())));
        let wanted: Vec<_> = block.iter().map(|(key, row)| Some(alone(key, row))).collect();
        let mut found = vec![None; block.len()];
        let (keys, rows): (Vec<&str>, Vec<&[f64]>) = block.iter().map(|(key, row)| (&key[..], &row[..])).unzip();
        together.step_all(&keys, &rows, |i, outcome| found[i] = Some(told(outcome))).unwrap();
        assert_eq!(found, wanted);
    }
    let bytes = |fleet: &mut Fleet<Model>| {
        let mut bytes = Vec::new();
        fleet.write(b"", &mut bytes).unwrap();
        bytes
    };
    assert!(one_by_one.keys().eq(together.keys()));
    assert!(bytes(&mut one_by_one) == bytes(&mut together));
    assert!(together.step_all(&["a"], &[], |_, _| ()).is_err());
}

#[test]
fn a_fleet_reads_back_and_goes_on_bit_for_bit() {
    let rows = rows();
    let mut fleet = Fleet::new(fresh(Kind::Auto)).unwrap().with_store(4, Box::new(Shelf::default()));
    rows[..200].iter().for_each(|(key, row)| _ = fleet.step(key, row).unwrap());
    let mut bytes = Vec::new();
    fleet.write(b"around", &mut bytes).unwrap();
    assert_eq!(SavedKind::of(&bytes), Ok(SavedKind::Models));
    let FleetIndex { mut fresh, parts, .. } = Fleet::<Model>::index(&mut Cursor::new(&bytes)).unwrap();
    assert_eq!(std::mem::take(&mut fresh.resume_state), b"around");
    let mut shelf = Shelf::default();
    let part = |(_, at, length): &(String, u64, u64)| Some(bytes[*at as usize..][..*length as usize].to_vec());
    shelf.bytes = parts.iter().map(part).collect();
    let mut again = Fleet::new(fresh).unwrap().with_store(5, Box::new(shelf));
    for (place, (key, ..)) in parts.iter().enumerate() {
        again.insert_stored(key, place as u64).unwrap();
        again.insert_stored(key, place as u64).unwrap_err();
    }
    assert!(fleet.keys().eq(again.keys()));
    for (key, row) in &rows[200..] {
        let wanted = fleet.step(key, row).map(|(loss, model)| (loss, model.coordinates().to_vec())).unwrap();
        let found = again.step(key, row).map(|(loss, model)| (loss, model.coordinates().to_vec())).unwrap();
        assert_eq!(found, wanted);
    }
}

#[test]
fn a_row_that_is_refused_changes_nothing() {
    let mut fleet = Fleet::new(fresh(Kind::Auto)).unwrap();
    fleet.step("a", &[1.0; 6]).unwrap();
    for (key, row) in [("a", &[f64::NAN; 6][..]), ("b", &[1.0; 5]), ("b", &[f64::INFINITY; 6])] {
        fleet.step(key, row).unwrap_err();
    }
    let long = "k".repeat((1 << 20) + 1);
    assert_eq!(fleet.step(&long, &[1.0; 6]).unwrap_err().to_string(), "a key must be at most 1 MiB long");
    assert_eq!(fleet.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(fleet.get("a").unwrap().unwrap().totals().rows, 1);
    let warm_up = Columns::new(None, Standardizer::new(Standardize::Warmup(3), 6));
    assert!(Fleet::new(fresh(Kind::Auto).with_columns(warm_up)).is_err());
}

#[test]
fn damage_is_found() {
    let mut fleet = Fleet::new(fresh(Kind::Leader)).unwrap();
    rows()[..40].iter().for_each(|(key, row)| _ = fleet.step(key, row).unwrap());
    let mut bytes = Vec::new();
    fleet.write(b"", &mut bytes).unwrap();
    let refusal = |bytes: &[u8]| Fleet::<Model>::index(&mut Cursor::new(bytes)).unwrap_err();
    assert_eq!(refusal(b"row,loss"), Refusal::Foreign);
    for cut in [10, 20, 200, bytes.len() / 2, bytes.len() - 1] {
        assert_eq!(refusal(&bytes[..cut]), Refusal::Content, "{cut}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(refusal(&longer), Refusal::Content);
    let mut newer = bytes.clone();
    newer[8] = 9;
    assert_eq!(refusal(&newer), Refusal::Version(9));
    let mut renamed = bytes.clone();
    let key = bytes.windows(4).rposition(|window| window == b"key ").unwrap();
    renamed[key] = b'K';
    assert_eq!(refusal(&renamed), Refusal::Checksum);
}
