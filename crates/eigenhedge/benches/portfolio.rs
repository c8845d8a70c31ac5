//! Cost of a portfolio compared with its members, and effect of a rank cap on the loss. Run it with
//! `cargo bench -p eigenhedge --bench portfolio -- [FILE.csv K]`.
//!
//! The file holds rows of numbers without a header. With a file, only tracking with at most 2k
//! directions is compared with exact tracking, on these rows.

use eigenhedge::internals::{Ambient, Portfolio, auto};
use eigenhedge::{Error, Instance, Kind, Learner, Mixing, Random, Spec, streams, trial};
use std::time::Instant;

/// Returns the seconds that a learner takes for the rows, and its total expected loss.
fn run<'a, L: Learner<Instance<'a, [f64]>>>(learner: &mut L, rows: &'a [Vec<f64>]) -> Result<(f64, f64), Error> {
    let mut random = Random::seeded(1);
    let mut total = 0.0;
    let start = Instant::now();
    for row in rows {
        total += trial(learner, &Instance::from(&row[..]), &mut random)?.expected;
    }
    Ok((start.elapsed().as_secs_f64(), total))
}

/// Measures the portfolio and its members in turn several times and prints the median times.
fn cost(n: usize, kept: usize) -> Result<(), Error> {
    let rows = streams::recurring(n, kept, &[1, 2, 1, 3], 500, 3).rows;
    let specs = auto(&Spec::bare(Kind::Auto, kept), n);
    let (mut together, mut apart) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let mut portfolio = Portfolio::new(specs.clone(), || Ambient::new(n))?;
        together.push(run(&mut portfolio, &rows)?.0);
        let alone = |spec: &Spec| -> Result<f64, Error> { Ok(run(&mut spec.plain(n)?, &rows)?.0) };
        apart.push(specs.iter().map(alone).sum::<Result<f64, Error>>()?);
    }
    together.sort_by(f64::total_cmp);
    apart.sort_by(f64::total_cmp);
    let micros = |times: &[f64]| 1e6 * times[times.len() / 2] / rows.len() as f64;
    let (together, apart) = (micros(&together), micros(&apart));
    println!(
        "n = {n}, k = {kept}: auto {together:.1} µs a row, its {} members alone {apart:.1} µs: ratio {:.3}",
        specs.len(),
        together / apart
    );
    for spec in &specs {
        let mut times = Vec::new();
        for _ in 0..5 {
            times.push(run(&mut spec.plain(n)?, &rows)?.0);
        }
        times.sort_by(f64::total_cmp);
        println!("  {:<40}{:>8.1} µs", spec.label(), micros(&times));
    }
    Ok(())
}

fn rank_cap(name: &str, rows: &[Vec<f64>], kept: usize) -> Result<(), Error> {
    for eta in [1.0, 4.0, 16.0] {
        let mixing = Mixing::FixedShare { alpha: 1e-3 };
        let exact = Spec { eta, mixing, ..Spec::bare(Kind::Tracking, kept) };
        let capped = Spec { max_rank: Some(2 * kept), ..exact.clone() };
        let (_, exact) = run(&mut exact.plain(rows[0].len())?, rows)?;
        let (_, capped) = run(&mut capped.plain(rows[0].len())?, rows)?;
        println!(
            "{name}, eta {eta}: exact {exact:.4}, at most {} directions {capped:.4}: {:+.3} %",
            2 * kept,
            100.0 * (capped / exact - 1.0)
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [path, kept] = &arguments[..] {
        let parse = |line: &str| line.split(',').map(|cell| cell.trim().parse()).collect::<Result<Vec<f64>, _>>();
        let rows = std::fs::read_to_string(path)?.lines().map(parse).collect::<Result<Vec<_>, _>>()?;
        return Ok(rank_cap(path, &rows, kept.parse()?)?);
    }
    cost(128, 5)?;
    cost(64, 10)?;
    rank_cap("recurring", &streams::recurring(64, 5, &[1, 2, 1, 3], 500, 3).rows, 5)?;
    Ok(())
}
