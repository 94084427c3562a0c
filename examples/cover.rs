//! Can a marking of a Petri net be covered? A mutex for any number of processes, as text and as
//! evidence.
//!
//! `cargo run --example cover`

use palisade::coverability::{Options, Outcome, solve};
use palisade::net::read;
use palisade::verify::check_net_certificate;

/// Two processes are never inside at once, however many there are.
const MUTEX: &str = "
vars idle inside free
rules
idle >= 1, free >= 1 -> idle' = idle - 1, free' = free - 1, inside' = inside + 1;
inside >= 1 -> inside' = inside - 1, idle' = idle + 1, free' = free + 1;
init idle >= 1, inside = 0, free = 1
target inside >= 2
";

fn main() {
    let problem = read("mutex.spec", MUTEX.as_bytes(), None).expect("the text is a net");
    let answer = solve(&problem, &Options::default());
    let Outcome::Uncoverable(certificate) = &answer.outcome else { panic!("two processes are inside: {answer:?}") };
    check_net_certificate(&problem, certificate).expect("the evidence holds");
    println!("uncoverable, by {}; the certificate was checked", answer.strategy);
}
