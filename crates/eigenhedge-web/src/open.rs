//! Opens a table for a task.

use crate::compare::Compare;
use crate::run::Run;
use crate::table::{Files, Reading, Task};
use crate::watch::Watch;
use eigenhedge_io::{Source, printable};
use serde_json::Value;

/// The input is a task (`monitor`, `run` or `compare`) and its options. An `.eh` file has the model or monitors to
/// continue.
pub fn open(files: &Files, (task, options): &(String, Value)) -> Result<Reading, String> {
    let (saved, mut tables): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| name.ends_with(".eh"));
    tables.sort_by(|a, b| a.0.cmp(&b.0));
    let mut sources: Vec<Source> =
        tables.into_iter().map(|(name, bytes)| Source::Bytes(name.clone(), bytes.clone())).collect();
    let source = match sources.len() {
        0 => return Err("a table is needed: choose a file of rows".into()),
        1 => sources.remove(0),
        _ => Source::Several(sources),
    };
    let saved = saved.first().map(|(name, bytes)| (printable(name), bytes.to_vec()));
    let task: Box<dyn Task> = match task.as_str() {
        "run" => Box::new(Run::open(&source, saved, options)?),
        "compare" => Box::new(Compare::open(&source, options)?),
        _ => Box::new(Watch::open(source, saved, options)?),
    };
    Ok(Reading { task, results: None })
}

#[cfg(test)]
mod tests {
    use super::open;
    use crate::table::{Files, Reading};
    use eigenhedge::streams;
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// Returns a table of six sensors, in which the fifth has a fault from row 1200 on.
    fn table(rows: usize, decimal: &str) -> Vec<(Arc<str>, Arc<[u8]>)> {
        let mut text = "s0;s1;s2;s3;s4;s5\n".to_owned();
        for (t, row) in streams::iid(6, 2, 0.3, rows, 3).rows.iter().enumerate() {
            let cell = |(j, x): (usize, &f64)| format!("{:.4}", x + if j == 4 && t >= 1200 { 8.0 } else { 0.0 });
            let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
            text += &(cells.join(";").replace('.', decimal) + "\n");
        }
        vec![("rows.csv".into(), text.into_bytes().into())]
    }

    fn finish(files: &Files, task: &str, options: &Value, step: u64) -> Result<Reading, String> {
        let mut table = open(files, &(task.to_owned(), options.clone()))?;
        while table.results.is_none() {
            table.step(step)?;
        }
        Ok(table)
    }

    fn text(table: &Reading, name: &str) -> String {
        String::from_utf8_lossy(&table.results.as_ref().unwrap()[name]).into_owned()
    }

    #[test]
    fn a_fault_is_listed_in_the_dialect_of_the_table_however_long_the_steps() {
        let files = table(1500, ",");
        let [one, other] =
            [7, 100_000].map(|step| finish(&files, "monitor", &json!({ "warm-up": 300 }), step).unwrap());
        assert_eq!(one.results, other.results);
        let events = text(&one, "events");
        let fault = events.lines().last().unwrap();
        assert!(fault.starts_with("incident;") && fault.contains(";s4;0,"), "{events}");
        assert!(text(&one, "page").contains("s4"), "{}", text(&one, "summary"));
    }

    #[test]
    fn a_saved_monitor_goes_on_and_a_short_table_has_a_short_warm_up() {
        let mut files = table(200, ".");
        let run = finish(&files, "monitor", &json!({}), 64).unwrap();
        assert!(text(&run, "summary").contains("66"), "{}", text(&run, "summary"));
        files.push(("saved.eh".into(), run.results.as_ref().unwrap()["model"].clone().into()));
        let on = finish(&files, "monitor", &json!({}), 64).unwrap();
        assert!(text(&on, "summary").contains("saved.eh"), "{}", text(&on, "summary"));
    }

    #[test]
    fn a_model_learns_fills_cells_and_goes_on() {
        let mut files = table(400, ",");
        let mut holes = String::from_utf8_lossy(&files[0].1).into_owned();
        let cell = holes.lines().nth(200).and_then(|line| line.split(';').nth(1)).unwrap().to_owned();
        holes = holes.replacen(&format!(";{cell};"), ";;", 1);
        files[0].1 = holes.into_bytes().into();
        let refused = finish(&files, "run", &json!({}), 64).err().unwrap();
        assert!(refused.contains("rows.csv, line 201") && refused.contains("--missing"), "{refused}");
        let options = json!({ "missing": "fill", "standardize": "warmup:50", "k": 2 });
        let [one, other] = [7, 100_000].map(|step| finish(&files, "run", &options, step).unwrap());
        for name in ["page", "coordinates", "filled", "model"] {
            assert_eq!(one.results.as_ref().unwrap()[name], other.results.as_ref().unwrap()[name], "{name}");
        }
        let (coordinates, filled) = (text(&one, "coordinates"), text(&one, "filled"));
        assert!(coordinates.starts_with("row;expected_loss;loss;z0;z1\n0;"), "{coordinates}");
        let line = filled.lines().nth(200).unwrap();
        assert!(line.ends_with(";s1") && !line.contains(";;"), "{line}");
        files.push(("saved.eh".into(), one.results.as_ref().unwrap()["model"].clone().into()));
        let on = finish(&files, "run", &json!({}), 64).unwrap();
        assert!(text(&on, "summary").contains("800 rows"), "{}", text(&on, "summary"));
        let refused = finish(&files, "run", &json!({ "learner": "leader" }), 64).err().unwrap();
        assert!(refused.starts_with("--learner has no effect with saved.eh"), "{refused}");
    }

    #[test]
    fn learners_are_compared() {
        let files = table(300, ".");
        let done = finish(&files, "compare", &json!({ "k": 0.9, "standardize": "running" }), 64).unwrap();
        let summary = text(&done, "summary");
        assert_eq!(summary.lines().count(), 10, "{summary}");
        assert!(summary.contains("charged: 200 rows, from row 100 on"), "{summary}");
        assert!(text(&done, "page").contains("forgetting-leader"));
        let refused = |options: Value| finish(&files, "compare", &options, 64).err().unwrap();
        assert!(refused(json!({ "missing": "fill" })).starts_with("--missing must be fail or skip"));
        assert!(refused(json!({ "k": 9 })).contains("rows.csv"));
    }

    #[test]
    fn errors_are_sentences() {
        let files = table(50, ".");
        let refused = |options: Value| finish(&files, "monitor", &options, 64).err().unwrap();
        assert_eq!(refused(json!({ "colour": "red" })), "there is no option --colour");
        assert!(refused(json!({ "time": "s9" })).starts_with("rows.csv: there is no column \"s9\""));
        assert!(refused(json!({ "warm-up": "2d" })).contains("the table has no times"));
        assert!(refused(json!({ "warm-up": 60 })).contains("must have more rows than the warm-up, 60, got 50"));
        assert!(open(&[], &("monitor".into(), json!({}))).is_err());
    }
}
