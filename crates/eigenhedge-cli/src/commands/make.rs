//! `make`: a synthetic stream with known subspaces.

use crate::args::{Made, MakeArgs};
use anyhow::{Result, anyhow};
use eigenhedge::streams;
use eigenhedge_io::{Cell, CellKind, MaxMemory, number_cells, number_columns};
use eigenhedge_pages::moment;

/// Time of the first row of a plant, in seconds since 1970: Monday, 8 January 2024.
const FIRST: u32 = 1_704_672_000;
const PLANT: usize = 12;

pub fn make(args: &MakeArgs) -> Result<()> {
    let (k, seed) = (args.k, args.seed);
    let n = if args.stream == Made::Plant { PLANT } else { args.dim };
    let rows = args.rows.unwrap_or(if args.stream == Made::Plant { 8640 } else { 1500 });
    // All rows are generated before the first is written.
    let bytes = 16u128.saturating_mul(n as u128).saturating_mul(rows.saturating_add(k) as u128);
    let most = MaxMemory::of_machine();
    if bytes > most.bytes().into() {
        return Err(anyhow!(
            "the rows must leave room in half of the machine's memory, {most}, got {rows} rows of {n} columns"
        ));
    }
    let each = rows.div_ceil(3).max(1);
    let stream = match args.stream {
        Made::ThreeSubspaces => streams::switching(n, k, 3, each, seed),
        Made::Iid => streams::iid(n, k, args.noise, rows, seed).rows,
        Made::Drift => streams::drifting(n, k, args.turn, rows, seed).rows,
        Made::Recurring => streams::recurring(n, k, &[1, 2, 1, 3, 2, 1], rows.div_ceil(6).max(1), seed).rows,
        Made::Starvation => streams::starvation(n, rows.div_ceil(10), rows - rows.div_ceil(10), 0.5, seed).rows,
        Made::Faults => streams::faults(n, k, args.noise, rows, seed),
        Made::LeaderTrap => streams::leader_trap(n, rows),
        Made::Plant => return make_plant(args, rows),
    };
    let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let mut table = args.out.destination_or_standard()?.open(number_columns(&names))?;
    stream.into_iter().take(rows).try_for_each(|row| table.write(&number_cells(&row)))?;
    Ok(table.finish()?)
}

fn make_plant(args: &MakeArgs, rows: usize) -> Result<()> {
    let plant = streams::plant(rows, args.seed);
    let names = plant.names.iter().map(|name| ((*name).to_owned(), CellKind::Number));
    let columns = [("time".to_owned(), CellKind::Text)].into_iter().chain(names).collect();
    let mut table = args.out.destination_or_standard()?.open(columns)?;
    let mut time = f64::from(FIRST);
    for row in &plant.rows {
        let text = moment(time);
        let cells: Vec<Cell<'_>> = [Cell::Text(&text)].into_iter().chain(number_cells(row)).collect();
        table.write(&cells)?;
        time += 300.0;
    }
    Ok(table.finish()?)
}
