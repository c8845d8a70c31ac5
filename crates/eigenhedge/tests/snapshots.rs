//! Damaged snapshots are refused: no panic, no more memory than the file can justify.
//!
//! `EIGENHEDGE_FUZZ=1000000 cargo test --release -p eigenhedge --test snapshots` tries a million of them.
#![allow(clippy::unwrap_used)]

use eigenhedge::kernel::VectorKernel;
use eigenhedge::snapshot::{Refusal, Snapshot};
use eigenhedge::{Kind, Mixing, Random, Run, Spec, streams};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts bytes in use and remembers the most.
struct Peak;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Peak {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Peak = Peak;

/// What reading may cost beyond twice the size of the file.
const ROOM: usize = 64 << 20;
const HEAD: usize = 24;

/// Snapshots of learners of every family.
fn snapshots() -> Vec<Vec<u8>> {
    let rbf = Some(VectorKernel::Rbf { gamma: 1.0 }.plus(VectorKernel::Linear.scaled(0.5)));
    let specs = [
        Spec { center: Some(0.0), ..Spec::new(Kind::Auto, 2) },
        Spec { mixing: Mixing::PastAverage { alpha: 0.01 }, ..Spec::new(Kind::Tracking, 2) },
        Spec { kernel: rbf, budget: Some(10), center: Some(0.0), ..Spec::new(Kind::Anchored, 2) },
        Spec::new(Kind::PerturbedLeader, 2),
        Spec::new(Kind::Additive, 2),
        Spec { eta: 0.1, ..Spec::new(Kind::Apex, 2) },
    ];
    let stream = streams::recurring(5, 2, &[1, 2], 20, 1).rows;
    let saved = specs.into_iter().map(|spec| {
        let mut run = Run::new(spec, 5, 1).unwrap();
        stream.iter().for_each(|row| _ = run.step(row).unwrap());
        Snapshot { run, surroundings: br#"{"columns":["a"]}"#.to_vec() }.to_bytes()
    });
    saved.collect()
}

/// One random damage to the file.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = |random: &mut Random, length: usize| random.below(length.max(1));
    match random.below(6) {
        0 => bytes.truncate(at(random, bytes.len())),
        1 => bytes.extend((0..random.below(40)).map(|i| i as u8)),
        2 => {
            let (from, to) = (at(random, bytes.len()), at(random, bytes.len()));
            bytes.drain(from.min(to)..from.max(to));
        }
        _ => {
            for _ in 0..=random.below(8) {
                let place = at(random, bytes.len());
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = [0, 0xff, 0x80, random.below(256) as u8][random.below(4)];
                }
            }
        }
    }
}

/// Makes length and checksum those of the body, so that the damage reaches the reader of the body.
fn seal(bytes: &mut [u8]) {
    if bytes.len() >= HEAD {
        let length = (bytes.len() - HEAD) as u64;
        bytes[12..20].copy_from_slice(&length.to_le_bytes());
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[8..20]);
        hasher.update(&bytes[HEAD..]);
        let checksum = hasher.finalize();
        bytes[20..24].copy_from_slice(&checksum.to_le_bytes());
    }
}

#[test]
fn damaged_files_are_refused_in_bounded_memory() {
    let count: u64 = std::env::var("EIGENHEDGE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(30_000);
    let files = snapshots();
    let mut random = Random::seeded(5);
    let (mut refused, mut content, mut accepted) = (0u64, 0u64, 0u64);
    for i in 0..count {
        let whole = &files[i as usize % files.len()];
        let mut bytes = whole.clone();
        damage(&mut bytes, &mut random);
        let sealed = i % 2 == 0;
        if sealed {
            seal(&mut bytes);
        }
        let before = IN_USE.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let outcome = Snapshot::from_bytes(&bytes);
        let used = MOST.load(Ordering::Relaxed) - before;
        assert!(used <= 2 * bytes.len() + ROOM, "{used} bytes for a file of {}", bytes.len());
        match outcome {
            Err(Refusal::Content) => content += 1,
            Err(_) => refused += 1,
            Ok(_) if bytes == *whole => {}
            // Whoever makes the checksum fit can write any number where a number was.
            Ok(_) => {
                assert!(sealed, "a damaged file with its old checksum was accepted");
                accepted += 1;
            }
        }
    }
    // Every way out is taken.
    assert!(refused > count / 4 && content > 0 && accepted > 0, "{refused} {content} {accepted}");
}
