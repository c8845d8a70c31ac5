//! Makes a page and a picture of a made-up run: `cargo run --example page -- page.html picture.svg 20000`.

use eigenhedge_report::{Best, Curve, Downsampler, Fact, Keep, Mark, Placed, RunReport, Table, TopK};

const MEMBERS: [&str; 5] = ["tracking 0.1", "tracking 1", "tracking 10", "forgetting leader 0.95", "anchored"];

/// Repeatable noise in [0, 1).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A run of `rows` rows over a stream that changes twice.
pub fn made_up(rows: u64) -> RunReport {
    let mut noise = Noise(7);
    let names = ["tracking", "leader", "forgetting leader"];
    let mut totals = Downsampler::new(Keep::First, 2000, names.len() + 3);
    let mut regrets = Downsampler::new(Keep::First, 1000, names.len());
    let mut kept = Downsampler::new(Keep::First, 600, 10);
    let mut weights = Downsampler::new(Keep::First, 600, MEMBERS.len());
    let mut losses = Downsampler::new(Keep::Largest, 2000, 1);
    let mut plane = Downsampler::new(Keep::First, 2000, 2);
    let mut largest = TopK::default();
    let (mut total, mut best) = ([0.0; 3], 0.0);
    for row in 1..=rows {
        let segment = 3 * (row - 1) / rows;
        let since = (row - segment * rows / 3) as f64;
        let surprise = (-since / (rows as f64).sqrt()).exp();
        let base = 0.1 + 0.2 * noise.next() + if noise.next() > 0.9995 { 2.0 * noise.next() } else { 0.0 };
        let stuck = 0.05 * segment as f64;
        for (learner, extra) in total.iter_mut().zip([0.3 * surprise, stuck * (1.0 + surprise), 0.01 + 0.2 * surprise])
        {
            *learner += base + extra;
        }
        best += base;
        let promise = best + 4.0 * (best + 9.0).sqrt();
        let loss = base + 0.3 * surprise;
        totals.push(row, &[total[0], total[1], total[2], 0.97 * best, 1.01 * best, promise]);
        regrets.push(row, &total.map(|total| (total - best) / row as f64));
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
    let (bracket_rows, low) = totals.curve(3);
    let fact = |key: &str, value: String, meaning: &str| Fact { key: key.into(), value, explanation: meaning.into() };
    RunReport {
        title: "eigenhedge run: sensors.csv".into(),
        subtitle: "Made-up data, to show what a page looks like.".into(),
        summary: vec![
            format!("{rows} rows of 12 columns were seen; 3 directions were kept."),
            format!("Tracking lost {:.1}, the best subspace in hindsight about {best:.1}.", total[0]),
        ],
        learners: names.iter().enumerate().map(|(i, name)| Curve::of(*name, &totals, i)).collect(),
        best: Some(Best::Bracket {
            name: "best in hindsight".into(),
            rows: bracket_rows,
            low,
            high: totals.curve(4).1,
        }),
        bound: Some(Curve::of("promised", &totals, 5)),
        regret_per_row: names.iter().enumerate().map(|(i, name)| Curve::of(*name, &regrets, i)).collect(),
        kept: (0..10).map(|i| Curve::of(format!("direction {}", i + 1), &kept, i)).collect(),
        weights: MEMBERS.iter().enumerate().map(|(i, name)| Curve::of(*name, &weights, i)).collect(),
        losses: Some(Curve::of("loss", &losses, 0)),
        largest: largest.entries().to_vec(),
        rows: Placed::of(&plane),
        marks: [(rows / 3, "second subspace"), (2 * rows / 3, "third subspace")]
            .map(|(row, label)| Mark { x: row as f64, label: label.into() })
            .to_vec(),
        ledger: vec![
            fact("rows", rows.to_string(), "rows that were charged"),
            fact("expected_loss", total[0].to_string(), "what the learner lost on average over its own draws"),
            fact("best_loss", best.to_string(), "what the best fixed subspace would have lost"),
            fact("regret", (total[0] - best).to_string(), "expected loss beyond that of the best"),
            fact("bound_holds", "true".into(), "whether the loss stayed within what was promised"),
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
                        format!("{:.2}", total[0] * (1.0 + 0.01 * f64::from(i))),
                    ]
                })
                .collect(),
        }),
    }
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
