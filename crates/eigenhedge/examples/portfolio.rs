//! Losses of the portfolio and of its members. Run it with
//! `cargo run --release -p eigenhedge --example portfolio -- [FILE.csv K]`.
//!
//! The file holds rows of numbers without a header. Without a file, three built-in streams are used.

use eigenhedge::comparators::BestSubspace;
use eigenhedge::internals::{Ambient, Portfolio, auto};
use eigenhedge::{Error, Instance, Kind, Random, Spec, streams, trial};

fn show(name: &str, rows: &[Vec<f64>], kept: usize) -> Result<(), Error> {
    let length = rows[0].len();
    let mut portfolio = Portfolio::new(auto(&Spec::bare(Kind::Auto, kept), length), || Ambient::new(length))?;
    let mut random = Random::seeded(0);
    let (mut total, mut energy) = (0.0, 0.0);
    let mut best = BestSubspace::new(length, false);
    let start = std::time::Instant::now();
    for row in rows {
        total += trial(&mut portfolio, &Instance::from(&row[..]), &mut random)?.expected;
    }
    let micros = 1e6 * start.elapsed().as_secs_f64() / rows.len() as f64;
    for row in rows {
        energy += row.iter().map(|x| x * x).sum::<f64>();
        if let Some(best) = &mut best {
            best.add(row);
        }
    }
    println!("{name}: {} rows of {length} numbers, k = {kept}; losses as a share of the energy", rows.len());
    println!("  {:<44} {:.4}   {micros:.1} µs a row", "portfolio", total / energy);
    println!("  {:<44} {:.4}", "hedge term", portfolio.hedge_term() / energy);
    for ((spec, loss), weight) in portfolio.specs.iter().zip(&portfolio.totals).zip(portfolio.trust.present_weights()) {
        let label = match spec.learner {
            Kind::ForgettingLeader => format!("forgetting leader {}", spec.forget),
            Kind::Leader => "leader".to_owned(),
            kind => format!("{} {}", kind.entry().name, spec.eta),
        };
        println!("  {label:<44} {:.4}   weight {weight:.3}", loss / energy);
    }
    if let Some(best) = best {
        println!("  {:<44} {:.4}", "best fixed subspace in hindsight", best.loss(kept) / energy);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    if let (Some(path), Some(kept)) = (arguments.next(), arguments.next()) {
        let parse = |line: &str| line.split(',').map(|cell| cell.trim().parse()).collect::<Result<Vec<f64>, _>>();
        let rows = std::fs::read_to_string(&path)?.lines().map(parse).collect::<Result<Vec<_>, _>>()?;
        show(&path, &rows, kept.parse()?)?;
        return Ok(());
    }
    show("three subspaces", &streams::three_subspaces(1), 2)?;
    show("still", &streams::signal_and_noise(20, 3, 0.3, 1).take(2000).collect::<Vec<_>>(), 3)?;
    show("switching", &streams::switching(30, 3, 6, 200, 2), 3)?;
    Ok(())
}
