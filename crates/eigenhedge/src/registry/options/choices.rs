//! Choices of the options whose values are names.

use super::Choice;
use crate::kernel::KERNELS;
use crate::registry::REGISTRY;
use crate::subspace::check_center_memory;

fn choices(list: &[(&'static str, &'static str)]) -> Vec<Choice> {
    let alias = |name| if name == "polynomial" { Some("poly") } else { None };
    list.iter().map(|(name, help)| Choice { name, help, alias: alias(*name), number: None }).collect()
}

pub(super) fn learners() -> Vec<Choice> {
    choices(&REGISTRY.iter().map(|entry| (entry.name, entry.summary)).collect::<Vec<_>>())
}

pub(super) fn kernels() -> Vec<Choice> {
    choices(&KERNELS.iter().map(|entry| (entry.name, entry.formula)).collect::<Vec<_>>())
}

pub(super) fn items() -> Vec<Choice> {
    choices(&[("words", "Sequences of letters, digits and underscores"), ("chars", "Characters")])
}

pub(super) fn mixing_rules() -> Vec<Choice> {
    let past = "The mean of all earlier distributions";
    choices(&[("none", "Nothing"), ("fixed-share", "The uniform distribution"), ("past-average", past)])
}

pub(super) fn centers() -> Vec<Choice> {
    let mut centers = choices(&[
        ("running", "The mean of the earlier rows"),
        ("forget", "A forgetting mean: earlier rows are multiplied by this factor at each row"),
        ("last", "The last row"),
        ("learned", "The mean of the earlier rows plus a learned combination of recent levels"),
        ("none", "Nothing"),
    ]);
    centers[1].number = Some(check_center_memory);
    centers
}

pub(super) fn coordinates() -> Vec<Choice> {
    let aligned =
        "Those most likely to be kept, rotated as little as possible from row to row; losses are those of the draw";
    choices(&[("aligned", aligned), ("drawn", "Those drawn for the row, to which the loss refers")])
}

pub(super) fn best_methods() -> Vec<Choice> {
    choices(&[
        ("auto", "Exact for rows of up to 4096 numbers, a sketch for longer ones"),
        ("exact", "The scatter matrix of all rows, with n² operations per row"),
        ("sketch", "A lower and an upper bound, from a sketch of a few directions"),
        ("none", "None, which is fastest: no best loss, no regret, no bound"),
    ])
}

pub(super) fn missing_policies() -> Vec<Choice> {
    choices(&[
        ("fail", "An error"),
        ("skip", "The row is skipped and counted"),
        ("fill", "The cell is filled in from the other cells of the row, and only these count for the loss"),
    ])
}

pub(super) fn selects() -> Vec<Choice> {
    let corners = "At random, as a corner of the capped simplex";
    let systematic = "At random, with one random number per row";
    choices(&[("systematic", systematic), ("corners", corners), ("top", "The most probable ones; not random")])
}
