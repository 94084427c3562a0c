//! Limits hold in every phase of an answer about a net. Work looks at them itself here: the thread
//! that ends processes which do not is left out.

use crate::documents;
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

/// So many switches, each of which goes to and fro.
fn switches(number: usize) -> String {
    let marked: Vec<String> = (0..number).map(|switch| format!("p{}: 1", 2 * switch)).collect();
    let turns = (0..2 * number).map(|place| (format!("p{place}: 1"), format!("p{}: 1", place ^ 1)));
    lola(2 * number, &marked.join(", "), turns)
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
fn properties(places: impl Iterator<Item = usize>) -> String {
    let property = |place: usize| {
        format!(
            "<property><id>x{place}</id><formula><exists-path><finally><integer-le><integer-constant>9</integer-constant>\
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
        ("switches.lola", switches(30)),
        ("exchange.lola", exchange(60)),
        ("dense.lola", exchange(900)),
    ] {
        write(name, &text);
    }
    write("few.xml", &properties([3, 11_999, 700].into_iter()));
    write("many.xml", &properties(0..60));
    write("far.formula", "EF (p0 >= 400 AND p7 >= 300 AND p20 >= 500)");
    write("less.formula", "EF (p0 <= 7 AND p7 >= 300 AND p20 >= 500)");
    write("off.formula", "EF (p0 = 0 AND p3 = 0 AND p1 = 0 AND p40 = p41)");
    for (phase, net, arguments) in [
        ("reading", "dense.lola", "--query far.formula"),
        ("slicing and reduction", "line.lola", "--query few.xml --all"),
        ("state equation", "dense.lola", "--query far.formula --strategy state-equation"),
        ("continuous", "dense.lola", "--query far.formula --strategy continuous"),
        ("walks", "exchange.lola", "--query less.formula"),
        ("exploration", "switches.lola", "--query off.formula"),
        ("deadlock", "switches.lola", "--ask deadlock"),
        ("backward search", "exchange.lola", "--query far.formula --strategy backward"),
        ("forward search", "exchange.lola", "--query far.formula --strategy karp-miller"),
        ("shared states", "switches.lola", "--query many.xml --property x59 --strategy shared-state"),
        ("taking back", "exchange.lola", "--query many.xml --all"),
        ("bounds", "exchange.lola", "--ask upper-bounds"),
        ("evidence", "exchange.lola", "--query many.xml --all --verify --certificate evidence"),
    ] {
        let begin = Instant::now();
        let run = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .args(["cover", net])
            .args(arguments.split(' '))
            .args(["--timeout", "60ms", "--memory", "300M", "--json", "--jobs", "1"])
            .env("PALISADE_WITHOUT_WATCHDOG", "1")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("it runs");
        assert!(begin.elapsed() < SOON, "{phase}: {:?}", begin.elapsed());
        assert!(matches!(run.status.code(), Some(0 | 1 | 3)), "{phase}: {run:?}");
        let document = documents::read(&run.stdout);
        if let Some(peak) = document["statistics"]["peak_memory_bytes"].as_u64() {
            assert!(peak < 600 << 20, "{phase}: {peak} bytes");
        }
    }
}
