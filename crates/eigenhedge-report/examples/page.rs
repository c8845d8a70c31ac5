//! Writes a page and a plot of a synthetic run: `cargo run --example page -- page.html picture.svg 20000`.

use eigenhedge_report::{
    Best, Curve, Directions, Downsampler, Fact, Keep, Look, Mark, Placed, RunReport, Table, Tile, TopK,
};

const MEMBERS: [&str; 5] = ["tracking 0.1", "tracking 1", "tracking 10", "forgetting leader 0.95", "anchored"];

/// Reproducible noise in [0, 1).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns a run of `rows` rows over a stream that changes twice.
pub fn made_up(rows: u64) -> RunReport {
    let mut noise = Noise(7);
    let mut totals = Downsampler::new(Keep::First, 2000, 6);
    let mut regrets = Downsampler::new(Keep::First, 1000, 1);
    let mut kept = Downsampler::new(Keep::First, 600, 10);
    let mut weights = Downsampler::new(Keep::First, 600, MEMBERS.len());
    let mut losses = Downsampler::new(Keep::Largest, 2000, 1);
    let mut plane = Downsampler::new(Keep::First, 2000, 2);
    let mut largest = TopK::default();
    let (mut total, mut best, mut energy) = (0.0, 0.0, 0.0);
    for row in 1..=rows {
        let segment = 3 * (row - 1) / rows;
        let since = (row - segment * rows / 3) as f64;
        let surprise = (-since / (rows as f64).sqrt()).exp();
        let base = 0.1 + 0.2 * noise.next() + if noise.next() > 0.9995 { 2.0 * noise.next() } else { 0.0 };
        total += base + 0.3 * surprise;
        energy += 3.0 * base;
        best += base;
        let promise = best + 4.0 * (best + 9.0).sqrt();
        let loss = base + 0.3 * surprise;
        let share = 100.0 * (1.0 - (base + 0.3 * surprise) / (3.0 * base + 0.3));
        totals.push(row, &[total, 0.97 * best, 1.01 * best, promise, energy, share]);
        regrets.push(row, &[(total - best) / row as f64]);
        let probability = |i: u64| 1.0 / (1.0 + (2.0 * (i as f64 - 2.0) + 3.0 * surprise * (noise_at(i) - 0.5)).exp());
        kept.push(row, &(0..10).map(probability).collect::<Vec<_>>());
        let raw: Vec<f64> =
            (0..5).map(|i| (2.0 * noise_at(i + segment) - 3.0 * surprise * noise_at(i)).exp()).collect();
        let sum: f64 = raw.iter().sum();
        weights.push(row, &raw.iter().map(|weight| weight / sum).collect::<Vec<_>>());
        losses.push(row, &[loss]);
        largest.offer(row, loss, || format!("sensor {}", row % 17));
        let angle = segment as f64 * 1.2 + 0.3 * noise.next();
        let radius = noise.next() - 0.5;
        plane.push(row, &[radius * angle.cos() + 0.05 * noise.next(), radius * angle.sin() + 0.05 * noise.next()]);
    }
    let (bracket_rows, low) = totals.curve(1);
    let number = |value: f64| (format!("{value:.1}"), value.to_string());
    let fact = |key: &str, (value, exact): (String, String), meaning: &str| Fact {
        key: key.into(),
        value,
        exact,
        explanation: meaning.into(),
    };
    RunReport {
        title: "sensors.csv".into(),
        subtitle: "Made-up data, to show what a page looks like.".into(),
        notes: vec!["A note that must not be overlooked.".into()],
        tiles: vec![
            Tile {
                value: "71.3 %".into(),
                label: "of the energy kept".into(),
                exact: "0.71342".into(),
                ..Tile::default()
            },
            Tile { value: "1.02".into(), label: "times the loss of the best".into(), ..Tile::default() },
        ],
        unit: "squared units of the input".into(),
        kept_share: vec![Curve::of("lately", &totals, 5)],
        loss_per_row: vec![Curve::of("tracking", &losses, 0), Curve::of("no learning", &losses, 0)],
        learner: Some(Curve::of("tracking", &totals, 0)),
        best: Some(Best::Bracket {
            name: "best in hindsight".into(),
            rows: bracket_rows,
            low,
            high: totals.curve(2).1,
        }),
        no_learning: Some(Curve::of("no learning", &totals, 4)),
        bound: Some(Curve::of("promised", &totals, 3)),
        regret_per_row: vec![Curve::of("regret per row", &regrets, 0)],
        directions: Some(directions(rows)),
        kept: (0..10).map(|i| Curve::of(format!("direction {}", i + 1), &kept, i)).collect(),
        weights: MEMBERS.iter().enumerate().map(|(i, name)| Curve::of(*name, &weights, i)).collect(),
        losses: Some(Curve::of("loss", &losses, 0)),
        largest: largest.entries().to_vec(),
        rows: Placed::of(&plane),
        marks: [(rows / 3, "second subspace"), (2 * rows / 3, "third subspace")]
            .map(|(row, label)| Mark { x: row as f64, label: label.into() })
            .to_vec(),
        account: vec![format!("read: {rows} rows of 12 columns")],
        ledger: vec![
            fact("rows", (rows.to_string(), String::new()), "rows that were charged"),
            fact("expected_loss", number(total), "what the learner lost on average over its own draws"),
            fact("best_loss", number(best), "what the best fixed subspace would have lost"),
            fact("regret", number(total - best), "expected loss beyond that of the best"),
            fact("bound_holds", ("true".into(), String::new()), "whether the loss stayed within what was promised"),
        ],
        times: None,
        members: Some(Table {
            title: "Members".into(),
            columns: ["member", "weight at the end", "loss"].map(String::from).to_vec(),
            rows: MEMBERS
                .iter()
                .zip(1..)
                .map(|(name, i)| {
                    vec![
                        name.to_string(),
                        format!("{:.3}", 0.4 / f64::from(i)),
                        format!("{:.2}", total * (1.0 + 0.01 * f64::from(i))),
                    ]
                })
                .collect(),
            ..Table::default()
        }),
    }
}

/// Returns one direction among three columns that rotates twice.
fn directions(rows: u64) -> Directions {
    let at = |third: u64| (0..3).map(|i| if i == third { 0.96 } else { 0.2 }).collect::<Vec<f64>>();
    let look = |i: u64| Look { row: (i * rows / 30).max(1) as f64, vectors: vec![at((i / 10).min(2))] };
    let columns = ["pressure", "flow", "voltage"].map(String::from).to_vec();
    Directions { columns, vectors: vec![at(2)], shares: vec![0.4], looks: (0..=30).map(look).collect() }
}

fn noise_at(index: u64) -> f64 {
    Noise(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next()
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows = arguments.get(2).and_then(|rows| rows.parse().ok()).unwrap_or(20_000);
    let report = made_up(rows);
    std::fs::write(arguments.first().map_or("page.html", String::as_str), report.html())?;
    arguments.get(1).map_or(Ok(()), |picture| std::fs::write(picture, report.svg()))
}
