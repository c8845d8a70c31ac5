//! Tests of the service over plain sockets: laws, statuses, kills, full disks and hostile requests.
#![allow(clippy::unwrap_used)]

mod child;
mod client;
mod cut;
mod damage;
mod disk_full;
mod durability;
mod fuzz;
mod kills;
mod memory;
mod notices;
mod pages;
mod programs;
mod receiver;
mod security;
mod slow_clients;
mod statuses;
mod streams;
mod week;
