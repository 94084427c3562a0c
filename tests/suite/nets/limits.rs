//! Limits hold in every phase of an answer about a net. Work looks at them itself here: the thread
//! that ends processes which do not is left out.

use crate::documents;
use itertools::Itertools as _;
use palisade::semantics::random::Randomness;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// So long a phase may take to notice that its time is up, on a busy machine.
const SOON: Duration = Duration::from_secs(10);

/// A net in LoLA's format.
fn lola(places: usize, marked: &str, transitions: impl Iterator<Item = (String, String)>) -> String {
    let names: Vec<String> = (0..places).map(|place| format!("p{place}")).collect();
    let mut text = format!("PLACE {};\nMARKING {marked};\n", names.join(", "));
    for (number, (taken, put)) in transitions.enumerate() {
        writeln!(text, "TRANSITION t{number} CONSUME {taken}; PRODUCE {put};").expect("a string takes it");
    }
    text
}

/// A token goes along a line.
fn line(places: usize) -> String {
    lola(places, "p0: 1", (1..places).map(|place| (format!("p{}: 1", place - 1), format!("p{place}: 1"))))
}

/// A counter of so many bits, a pair of places each: one transition can fire at a time, and the
/// last number comes after all others. No method has an answer before all tokens have gone that
/// way.
fn counter(bits: usize) -> String {
    let marked: Vec<String> = (0..bits).map(|bit| format!("p{}: 1", 2 * bit)).collect();
    let carry = |bit: usize| {
        let (lower, own) = (0..bit, 2 * bit);
        let side = |at: usize, own: usize| {
            lower.clone().map(|bit| 2 * bit + at).chain([own]).map(|place| format!("p{place}: 1")).join(", ")
        };
        (side(1, own), side(0, own + 1))
    };
    lola(2 * bits, &marked.join(", "), (0..bits).map(carry))
}

/// Tokens are exchanged at many rates between many places.
fn exchange(places: usize) -> String {
    let rate = |number: usize| (number * 7919 + 13) % 11 + 1;
    let trade = move |number: usize| {
        let at = |step: usize| (number * 31 + step * step * 17 + step) % places;
        let side = |first: usize| {
            let mut all: Vec<usize> = (first..first + 3).map(at).collect();
            all.sort_unstable();
            all.dedup();
            let arc = |place: &usize| format!("p{place}: {}", rate(number + first + place));
            all.iter().map(arc).collect::<Vec<_>>().join(", ")
        };
        (side(1), side(5))
    };
    lola(places, "p0: 40, p1: 30, p2: 50", (0..3 * places).map(trade))
}

/// Properties as the contest writes them, each `EF` of tokens on a place.
fn properties(places: impl Iterator<Item = usize>, tokens: usize) -> String {
    let property = |place: usize| {
        format!(
            "<property><id>x{place}</id><formula><exists-path><finally><integer-le><integer-constant>{tokens}</integer-constant>\
             <tokens-count><place>p{place}</place></tokens-count></integer-le></finally></exists-path></formula></property>\n"
        )
    };
    format!("<property-set>{}</property-set>\n", places.map(property).collect::<String>())
}

#[test]
fn each_phase_looks_at_its_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    for (name, text) in [
        ("line.lola", line(12_000)),
        ("counter.lola", counter(40)),
        ("long.lola", counter(150)),
        ("exchange.lola", exchange(400)),
    ] {
        write(name, &text);
    }
    write("few.xml", &properties([3, 11_999, 700].into_iter(), 9));
    write("many.xml", &properties(0..400, 9));
    let full = |bits: usize| (0..bits).map(|bit| format!("p{} >= 1", 2 * bit + 1)).join(" AND ");
    write("all.formula", &format!("EF ({})", full(40)));
    write("long.formula", &format!("EF ({})", full(150)));
    write("none.formula", &format!("EF ({})", (0..40).map(|bit| format!("p{} = 0", 2 * bit)).join(" AND ")));
    for (phase, net, arguments, time) in [
        ("reading", "long.lola", "--query long.formula", "1ms"),
        ("slicing and reduction", "line.lola", "--query few.xml --all", "60ms"),
        ("all strategies", "counter.lola", "--query all.formula", "60ms"),
        ("backward search", "counter.lola", "--query all.formula --strategy backward", "60ms"),
        ("forward search", "counter.lola", "--query all.formula --strategy karp-miller", "60ms"),
        ("shared states", "counter.lola", "--query all.formula --strategy shared-state", "60ms"),
        ("enumeration", "counter.lola", "--query all.formula --strategy enumerate", "60ms"),
        ("state equation", "long.lola", "--query long.formula --strategy state-equation", "1ms"),
        ("continuous", "long.lola", "--query long.formula --strategy continuous", "1ms"),
        ("pairs of places", "long.lola", "--query long.formula --strategy pair-saturation", "1ms"),
        // Walks, the state equation, explorations and coverability with observers take turns.
        ("formulas", "counter.lola", "--query none.formula", "60ms"),
        ("deadlock", "counter.lola", "--ask deadlock", "60ms"),
        ("bounds", "counter.lola", "--ask upper-bounds", "60ms"),
        ("taking back", "exchange.lola", "--query many.xml --all", "60ms"),
        ("evidence", "exchange.lola", "--query many.xml --all --verify --certificate evidence", "60ms"),
    ] {
        let begin = Instant::now();
        let run = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .args(["cover", net])
            .args(arguments.split(' '))
            .args(["--timeout", time, "--memory", "300M", "--json", "--jobs", "1"])
            .env("PALISADE_WITHOUT_WATCHDOG", "1")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        assert!(begin.elapsed() < SOON, "{phase}: {:?}", begin.elapsed());
        // The limit is met, and not the answer.
        assert_eq!(run.status.code(), Some(3), "{phase}: {run:?}");
        let document = documents::read(&run.stdout);
        if let Some(peak) = document["statistics"]["peak_memory_bytes"].as_u64() {
            assert!(peak < 600 << 20, "{phase}: {peak} bytes");
        }
    }
}

/// Of a large net with many tokens each marking takes hundreds of words, and thousands of
/// transitions can fire there: an exploration that goes through them all leaves no time to the
/// other methods.
#[test]
fn explorations_of_large_nets_give_way() {
    const PLACES: usize = 5_000;
    let mut randomness = Randomness::new(5);
    let marked: Vec<String> =
        (0..PLACES).filter(|_| randomness.below(2) == 0).map(|place| format!("p{place}: 1")).collect();
    let mut places = |most: usize| {
        let chosen: BTreeSet<usize> = (0..=randomness.below(most)).map(|_| randomness.below(PLACES)).collect();
        chosen.into_iter().map(|place| format!("p{place}: 1")).join(", ")
    };
    let transitions: Vec<(String, String)> = (0..PLACES).map(|_| (places(1), places(2))).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let net = lola(PLACES, &marked.join(", "), transitions.into_iter());
    std::fs::write(folder.path().join("large.lola"), net).expect("it is written");
    std::fs::write(folder.path().join("few.xml"), properties(0..12, 2)).expect("it is written");
    let run = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(["cover", "large.lola", "--query", "few.xml", "--all", "--timeout", "20s", "--memory", "500M"])
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    let said = String::from_utf8(run.stdout).expect("UTF-8");
    assert!(said.lines().count() == 12 && !said.contains("CANNOT_COMPUTE"), "{said}");
}
