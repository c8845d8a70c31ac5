//! Laws of monitors.
#![allow(clippy::unwrap_used)]

use eigenhedge::{Choose, Error, Kept, Limit, Missing, Mode, Monitor, MonitorOptions, Random, SavedMonitors, Verdict};

/// Rows of a factor model whose factors and noise remember this much of the row before.
fn rows(count: usize, width: usize, remembered: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let loadings: Vec<f64> = (0..3 * width).map(|_| random.normal()).collect();
    let step = (1.0 - remembered * remembered).sqrt();
    let mut state: Vec<f64> = (0..3 + width).map(|_| random.normal()).collect();
    let next = |_| {
        state.iter_mut().for_each(|x| *x = remembered * *x + step * random.normal());
        let cell = |j: usize| {
            let common: f64 = (0..3).map(|f| state[f] * loadings[f * width + j]).sum();
            common + 0.7 * state[3 + j]
        };
        (0..width).map(cell).collect()
    };
    (0..count).map(next).collect()
}

fn options() -> MonitorOptions {
    MonitorOptions { warm_up: Some(200), differences: Choose::Fixed(false), ..MonitorOptions::default() }
}

fn verdicts(monitor: &mut Monitor, rows: &[Vec<f64>]) -> Vec<Verdict> {
    rows.iter().map(|row| monitor.step(row).unwrap()).collect()
}

/// Verdicts as text: NaN is equal to NaN, and every bit shows.
fn shown(verdicts: &[Verdict]) -> Vec<String> {
    verdicts.iter().map(|verdict| format!("{verdict:?}")).collect()
}

#[test]
fn contributions_sum_to_q_and_t2() {
    for lags in [0, 3] {
        let mut monitor = Monitor::new(MonitorOptions { lags: Choose::Fixed(lags), ..options() }, 6).unwrap();
        for (t, mut row) in rows(400, 6, 0.5, 1).into_iter().enumerate() {
            row[2] += if t > 350 { 1e4 } else { 0.0 };
            let verdict = monitor.step(&row).unwrap();
            if verdict.score.is_nan() {
                continue;
            }
            let (of_q, of_t2) = monitor.contributions();
            assert_eq!((of_q.len(), of_t2.len()), (6 * (lags + 1), 6 * (lags + 1)));
            let near =
                |parts: Vec<f64>, whole: f64| (parts.iter().sum::<f64>() - whole).abs() <= 1e-10 * whole.max(1.0);
            // Shares of a huge row cancel; they are exact beside its energy.
            if t <= 350 {
                assert!(near(of_q, verdict.q) && near(of_t2, verdict.t2), "row {t}");
            }
        }
    }
}

#[test]
fn gated_is_learn_while_nothing_passes_the_gate() {
    // Rows that come again in the same order never pass a limit that all of them made.
    let base = rows(200, 5, 0.0, 2);
    let calm: Vec<Vec<f64>> = base.iter().map(|row| row.iter().map(|x| 0.6 * x).collect()).collect();
    let run = |mode: Mode, tail: &[Vec<f64>]| {
        let mut monitor = Monitor::new(MonitorOptions { mode, ..options() }, 5).unwrap();
        shown(&verdicts(&mut monitor, &[&base, tail].concat()))
    };
    assert_eq!(run(Mode::Gated, &calm), run(Mode::Learn, &calm));
    let loud: Vec<Vec<f64>> = base.iter().map(|row| row.iter().map(|x| 3.0 * x).collect()).collect();
    assert_ne!(run(Mode::Gated, &loud), run(Mode::Learn, &loud));
}

#[test]
fn a_long_fault_does_not_teach() {
    let normal = rows(1200, 8, 0.0, 3);
    let run = |mode: Mode, with_fault: bool| {
        let mut monitor = Monitor::new(MonitorOptions { mode, ..options() }, 8).unwrap();
        verdicts(&mut monitor, &normal[..600]);
        for row in normal[..300].iter().filter(|_| with_fault) {
            let mut row = row.clone();
            row[4] += 8.0;
            monitor.step(&row).unwrap();
        }
        let after = verdicts(&mut monitor, &normal[600..]);
        let mean = |of: fn(&Verdict) -> f64| after.iter().map(of).sum::<f64>() / after.len() as f64;
        (mean(|verdict| verdict.q), mean(|verdict| verdict.t2))
    };
    let apart = |a: (f64, f64), b: (f64, f64)| ((a.0 / b.0 - 1.0).abs()).max((a.1 / b.1 - 1.0).abs());
    let gated = apart(run(Mode::Gated, true), run(Mode::Gated, false));
    let learning = apart(run(Mode::Learn, true), run(Mode::Learn, false));
    assert!(gated < 0.05, "{gated}");
    assert!(learning > 0.1, "{learning}");
}

#[test]
fn normal_rows_pass_the_limit_as_often_as_was_asked_for() {
    for remembered in [0.0, 0.9] {
        for alpha in [0.05, 0.01] {
            let (mut alarms, mut all) = (0, 0);
            for seed in 0..6 {
                let wanted = MonitorOptions { limit: Limit::Auto(alpha), warm_up: Some(400), ..options() };
                let mut monitor = Monitor::new(wanted, 8).unwrap();
                verdicts(&mut monitor, &rows(1600, 8, remembered, 10 + seed));
                alarms += monitor.totals().alarms;
                all += 1200;
            }
            let rate = alarms as f64 / f64::from(all);
            // Twice, because runs of alarms make few independent ones of 7,200 rows.
            assert!((alpha / 2.0..=2.0 * alpha).contains(&rate), "{remembered} {alpha}: {rate}");
        }
    }
}

#[test]
fn units_and_offsets_of_columns_change_nothing() {
    let plain = rows(500, 5, 0.5, 4);
    // Powers of two scale without rounding; an offset is rounded.
    let moved: Vec<Vec<f64>> = plain
        .iter()
        .map(|row| row.iter().enumerate().map(|(j, x)| x * 2f64.powi(3 * j as i32 - 6) + 8.0 * j as f64).collect())
        .collect();
    let run = |rows: &[Vec<f64>]| verdicts(&mut Monitor::new(options(), 5).unwrap(), rows);
    for (a, b) in run(&plain).iter().zip(run(&moved)) {
        assert!(
            a.score.is_nan() && b.score.is_nan() || (a.score - b.score).abs() <= 1e-6 * a.score.max(1.0),
            "{a:?} {b:?}"
        );
        assert_eq!(a.causes.map(|cause| cause.map(|cause| cause.column)), b.causes.map(|c| c.map(|c| c.column)));
    }
}

#[test]
fn a_monitor_that_is_saved_and_restored_goes_on_bit_for_bit() {
    let mut all = rows(900, 4, 0.97, 5);
    all.iter_mut().skip(300).take(30).for_each(|row| row[1] += 9.0);
    all[500][2] = f64::NAN;
    let wanted = MonitorOptions {
        lags: Choose::Fixed(2),
        differences: Choose::Fixed(true),
        missing: Missing::Fill,
        ..options()
    };
    let whole = shown(&verdicts(&mut Monitor::new(wanted.clone(), 4).unwrap(), &all));
    for stop in [100, 200, 207, 310, 505] {
        let mut monitor = Monitor::new(wanted.clone(), 4).unwrap();
        let mut found = shown(&verdicts(&mut monitor, &all[..stop]));
        let mut restored = Monitor::from_bytes(&monitor.to_bytes()).unwrap();
        assert_eq!(restored, monitor);
        found.extend(shown(&verdicts(&mut restored, &all[stop..])));
        assert_eq!(found, whole, "{stop}");
    }
}

#[test]
fn damaged_monitors_are_refused() {
    let mut monitor = Monitor::new(options(), 3).unwrap();
    verdicts(&mut monitor, &rows(250, 3, 0.0, 6));
    let bytes = monitor.to_bytes();
    assert!(SavedMonitors::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    assert!(eigenhedge::Snapshot::from_bytes(&bytes).is_err());
    // Any byte of the body may be anything, with a checksum that fits: no panic, and what is accepted works.
    let mut random = Random::seeded(1);
    for _ in 0..300 {
        let mut changed = bytes.clone();
        let place = 24 + random.below(changed.len() - 24);
        changed[place] = random.below(256) as u8;
        let checksum = crc32fast::hash(&[&changed[8..20], &changed[24..]].concat());
        changed[20..24].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(mut read) = Monitor::from_bytes(&changed) {
            let _ = read.step(&vec![0.5; read.width().min(1000)]);
        }
    }
}

#[test]
fn causes_events_and_stuck_columns_are_told() {
    let mut all = rows(700, 6, 0.0, 7);
    all.iter_mut().skip(300).take(20).for_each(|row| row[3] += 12.0);
    all.iter_mut().skip(500).take(40).for_each(|row| row[5] = 0.25);
    let mut monitor = Monitor::new(options(), 6).unwrap();
    let found = verdicts(&mut monitor, &all);
    let events: Vec<_> = found.iter().filter_map(|verdict| verdict.event).collect();
    let fault = events.iter().find(|event| (295..=305).contains(&event.start)).unwrap();
    assert!((315..=325).contains(&fault.end) && fault.alarms >= 18, "{fault:?}");
    assert_eq!(fault.causes[0].unwrap().column, 3);
    assert!(found[515].alarm && found[515].stuck == Some(5) && found[515].causes[0].unwrap().column == 5);
    let stuck = events.iter().find(|event| event.stuck > 20).unwrap();
    assert_eq!((stuck.end, stuck.causes[0].unwrap().column), (539, 5));
    let alarms = found.iter().filter(|verdict| verdict.alarm).count() as u64;
    assert_eq!(monitor.totals().alarms, alarms);
    assert_eq!(monitor.totals().events, events.len() as u64);
}

#[test]
fn a_large_fault_in_any_column_is_named_first() {
    for lags in [0, 2] {
        let mut all = rows(400, 7, 0.0, 12);
        let mut random = Random::seeded(13);
        // Two columns that go with no other one.
        all.iter_mut().for_each(|row| row[5..].iter_mut().for_each(|cell| *cell = random.normal()));
        let monitor = Monitor::new(MonitorOptions { lags: Choose::Fixed(lags), ..options() }, 7).unwrap();
        for column in 0..7 {
            let mut faulty = all.clone();
            faulty[399][column] += 30.0;
            let last = verdicts(&mut monitor.clone(), &faulty).pop().unwrap();
            assert!(last.alarm && last.causes[0].unwrap().column == column, "{lags} {column}: {last:?}");
        }
    }
}

#[test]
fn a_shift_is_located_and_told_once() {
    let mut all = rows(1000, 8, 0.0, 8);
    all.iter_mut().skip(600).for_each(|row| row[2] += 8.0);
    let mut monitor = Monitor::new(options(), 8).unwrap();
    let changes: Vec<_> = verdicts(&mut monitor, &all).iter().filter_map(|verdict| verdict.change).collect();
    let near: Vec<_> = changes.iter().filter(|change| change.start.abs_diff(600) <= 3).collect();
    assert_eq!(near.len(), 1, "{changes:?}");
    assert!(near[0].is_rise && near[0].reported < 620 && near[0].columns[0].unwrap().column == 2, "{:?}", near[0]);
}

#[test]
fn a_new_normal_is_learned_after_a_thousand_rows() {
    let mut all = rows(1800, 4, 0.0, 9);
    all.iter_mut().skip(300).for_each(|row| row[0] += 20.0);
    let mut monitor = Monitor::new(options(), 4).unwrap();
    let found = verdicts(&mut monitor, &all);
    let renewed = found.iter().position(|verdict| verdict.renewed).unwrap();
    assert!((1299..=1302).contains(&renewed), "{renewed}");
    let rate = |part: &[Verdict]| part.iter().filter(|verdict| verdict.alarm).count() as f64 / part.len() as f64;
    assert!(rate(&found[310..1290]) > 0.99 && rate(&found[renewed + 1..]) < 0.05);
}

#[test]
fn odd_rows_and_options_give_sentences_and_no_panic() {
    let refused = |options: MonitorOptions, width: usize| Monitor::new(options, width).unwrap_err().to_string();
    assert!(refused(options(), 0).contains("columns"));
    assert!(refused(MonitorOptions { warm_up: Some(5), ..options() }, 3).contains("warm-up must be at least 20 rows"));
    assert!(refused(MonitorOptions { kept: Kept::Count(3), ..options() }, 3).contains('3'));
    assert!(refused(MonitorOptions { lags: Choose::Fixed(1000), ..options() }, 3).contains("lags"));
    assert!(refused(options(), 5000).contains("4096"));
    let mut monitor = Monitor::new(options(), 2).unwrap();
    for bad in [vec![1.0], vec![f64::NAN, 1.0], vec![f64::INFINITY, 1.0], vec![1e300, 1.0]] {
        let before = monitor.clone();
        monitor.step(&bad).unwrap_err();
        assert_eq!(monitor, before);
    }
    monitor.step(&[1.0, 2.0]).unwrap();
    assert_eq!(monitor.end_warm_up(), Err(Error::TooFewRows { rows: 1, least: 20 }));
    // One column, constant columns, columns that are copies, huge rows after small ones.
    for (width, cell) in [(1, 1.0), (4, 0.0), (3, 1e-9)] {
        let mut monitor = Monitor::new(MonitorOptions { warm_up: Some(30), ..options() }, width).unwrap();
        let mut random = Random::seeded(2);
        for t in 0..120 {
            let x = cell * random.normal();
            let last = if t == 119 { 1e60 } else { x };
            let verdict = monitor.step(&vec![last; width]).unwrap();
            assert!(t < 30 || verdict.score.is_finite() && verdict.limit.is_finite(), "{t}: {verdict:?}");
            assert!(t < 119 || verdict.alarm, "{verdict:?}");
        }
        assert_eq!(monitor.clone(), Monitor::from_bytes(&monitor.to_bytes()).unwrap());
    }
}

#[test]
fn missing_cells_are_filled_in_or_passed_over() {
    let mut all = rows(500, 5, 0.0, 11);
    all.iter_mut().step_by(7).for_each(|row| row[1] = f64::NAN);
    all[450] = vec![f64::NAN; 5];
    for missing in [Missing::Skip, Missing::Fill] {
        let mut monitor = Monitor::new(MonitorOptions { missing, ..options() }, 5).unwrap();
        let found = verdicts(&mut monitor, &all);
        let scores = found.iter().filter(|verdict| verdict.score.is_finite()).count();
        let passed_over = monitor.totals().passed_over as usize;
        assert_eq!(scores, 500 - 200 - passed_over);
        assert_eq!(passed_over, if missing == Missing::Fill { 1 } else { 73 });
        assert!(monitor.totals().alarms <= 15, "{}", monitor.totals().alarms);
    }
    assert!(Monitor::new(options(), 5).unwrap().step(&all[0]).is_err());
}
