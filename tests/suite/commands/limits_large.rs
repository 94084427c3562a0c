//! Limits of time and memory with programs that are large in one respect: many registers, threads,
//! properties or steps in a line, and with nets that have long arcs, markings or lists of units.
//!
//! Times are asserted generously, as machines are busy: what these tests are about took minutes, or
//! gigabytes.

use crate::documents;
use crate::environment::sample;
use itertools::Itertools as _;
use serde_json::Value;
use std::fmt::Write as _;
use std::ops::Range;
use std::process::Command;
use std::time::{Duration, Instant};

/// Within this time ends what has a limit of two seconds, on a machine that does much else.
const SOON: Duration = Duration::from_mins(1);

/// The document of a command about a text in a file, with limits of two seconds and 400 MiB;
/// nothing ran on for long, or filled much more memory.
fn within_limits(file: &str, text: &str, arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(file), text).expect("a file");
    let begin = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(folder.path())
        .args(arguments)
        .args(["--json", "--timeout", "1s", "--memory", "400M", file])
        .output()
        .expect("the command runs");
    assert!(begin.elapsed() < SOON, "{arguments:?} took {:?}", begin.elapsed());
    // A verdict, or the limit; not a text that is refused.
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{arguments:?}: {:?}", output.status);
    let document = documents::read(&output.stdout);
    let peak = document["statistics"]["peak_memory_bytes"].as_u64();
    assert!(peak.is_none_or(|bytes| bytes < 800 << 20), "{arguments:?}: {peak:?}");
    document
}

/// A thread with a body and one that reads what it stores.
fn with_body(body: &str) -> String {
    format!(
        "program large\ndomain 0..3 wrap\naddress x, y\nthread t {{ let r = 0;\n{body} }}\nthread u {{ y = 1; let q = x; }}\n"
    )
}

#[test]
fn thousands_of_registers() {
    let body: String = (0..6_000).fold(String::new(), |mut body, number| {
        let _ = writeln!(body, "let a{number} = x;");
        body
    });
    for arguments in [&["check"][..], &["check", "--threads", "all=*"], &["fences"]] {
        within_limits("registers.pal", &with_body(&body), arguments);
    }
}

/// The states of a violation are made one after the other: all at once would be as many copies of a
/// buffer of thousands of stores as there are steps.
#[test]
fn thousands_of_stores_in_a_buffer() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = with_body(&("x = 1; ".repeat(4_096) + "r = y;"));
    std::fs::write(folder.path().join("stores.pal"), text).expect("a file");
    for more in [&["--json"][..], &["--report", "stores.html"], &["--model", "pso", "--certificate", "out"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        command.current_dir(folder.path()).args(["check", "stores.pal", "--timeout", "100s", "--memory", "300M"]);
        let output = command.args(more).output().expect("the command runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.code() == Some(1) && text.contains("not robust"), "{more:?}: {:?}", output.status);
    }
}

/// Three choices among 256 values have sixteen million outcomes. A violation has one of them.
#[test]
fn choices_before_a_violation() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, most, stored) in [("chosen.pal", 255, "r"), ("summed.pal", 31, "r + s + t")] {
        let text = format!(
            "program {}\ndomain 0..{most} wrap\naddress x, y\n\
             thread a regs r, s, t, u init l0 begin\n  l0: r <- *; goto l1;\n  l1: s <- *; goto l2;\n  \
             l2: t <- *; goto l3;\n  l3: u <- {stored}; goto l4;\n  l4: mem[x] <- u; goto l5;\n  \
             l5: u <- mem[y]; goto l6;\nend\nthread b {{ y = 1; let v = x; }}\n",
            name.trim_end_matches(".pal")
        );
        std::fs::write(folder.path().join(name), text).expect("a file");
        let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .current_dir(folder.path())
            .args(["check", name, "--ask", "robustness", "--timeout", "100s", "--memory", "300M", "--verify"])
            .output()
            .expect("the command runs");
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
    }
}

#[test]
fn thousands_of_steps_in_a_line() {
    let document = within_limits("line.pal", &with_body(&"mfence; x = 1; ".repeat(8_000)), &["check"]);
    assert!(document["verdict"].is_string(), "{document}");
}

#[test]
fn thousands_of_threads() {
    let threads: String = (0..1_500).fold("program threads\naddress x, y\n".to_owned(), |mut text, number| {
        let _ = writeln!(text, "thread t{number} {{ x = 1; let r = y; }}");
        text
    });
    for arguments in [&["check"][..], &["fences"], &["check", "--ask", "races"]] {
        within_limits("threads.pal", &threads, arguments);
    }
}

#[test]
fn thousands_of_properties() {
    let joint = "never t at a, u at b\n".repeat(6_000);
    let text = format!("program never\naddress x\n{joint}thread t {{ a: x = 1; }}\nthread u {{ b: x = 2; }}\n");
    for arguments in [&["prove"][..], &["prove", "--model", "pso"], &["fences", "--ask", "properties"]] {
        within_limits("never.pal", &text, arguments);
    }
    let ensured = with_body(&"ensure x == 0;\n".repeat(4_000));
    for arguments in [&["prove"][..], &["fences", "--ask", "properties"]] {
        within_limits("ensure.pal", &ensured, arguments);
    }
}

#[test]
fn sums_that_have_many_ways() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = "PLACE p, q; MARKING p: 2; TRANSITION t CONSUME p: 1; PRODUCE q: 1;";
    std::fs::write(folder.path().join("net.lola"), net).expect("a file");
    for (formula, verdict) in [
        ("EF (5 * q + p >= 74748)", "uncoverable"),
        ("EF (70000 * q + 90000 * p >= 140000)", "coverable"),
        ("EF (1000000 * q + p >= 10000000000)", "uncoverable"),
        // It has too many alternatives for a question of coverability.
        ("EF (q + p >= 10000000000)", "unreachable"),
    ] {
        std::fs::write(folder.path().join("question.formula"), formula).expect("a file");
        let begin = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .current_dir(folder.path())
            .args(["cover", "net.lola", "--query", "question.formula", "--json", "--verify"])
            .output()
            .expect("the command runs");
        assert!(begin.elapsed() < SOON, "{formula} took {:?}", begin.elapsed());
        assert_eq!(documents::read(&output.stdout)["verdict"], verdict, "{formula}");
    }
}

#[test]
fn times_that_no_clock_can_tell_are_no_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.pal"), with_body("x = 1; r = y;")).expect("a file");
    for time in ["12810238970007467400", "5000000000000000h"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        let output = command.current_dir(folder.path()).args(["check", "--timeout", time, "a.pal"]).output();
        assert_eq!(output.expect("the command runs").status.code(), Some(1), "{time}");
    }
}

/// A net as `.spec`: so many places named by number, rules, which places hold a token initially,
/// and the target.
fn spec(places: usize, rules: &str, is_marked: impl Fn(usize) -> bool, target: &str) -> String {
    let names = (0..places).map(|place| format!("p{place}")).join(" ");
    let initial = (0..places).map(|place| format!("p{place} = {}", u8::from(is_marked(place)))).join(", ");
    format!("vars\n {names}\nrules\n{rules}init\n {initial}\ntarget\n {target}\n")
}

/// A rule that needs a token in each of some places and changes places by so much.
fn rule(needed: impl Iterator<Item = usize>, changes: impl Iterator<Item = (usize, i8)>) -> String {
    let guard = needed.map(|place| format!("p{place} >= 1")).join(", ");
    let sign = |change: i8| if change < 0 { '-' } else { '+' };
    let change = |(place, change): (usize, i8)| format!("p{place}' = p{place} {} {}", sign(change), change.abs());
    format!(" {guard} -> {};\n", changes.map(change).join(", "))
}

#[test]
fn transitions_with_tens_of_thousands_of_arcs() {
    let (all, half) = (100_000, 20_000);
    // One transition that takes a token from everywhere and puts two there.
    let grows = spec(all, &rule(0..all, (0..all).map(|place| (place, 1))), |_| true, "p0 >= 100000000000");
    // Two that move tokens from one half of the places to the other one, and back.
    let moves = |from: Range<usize>, to: Range<usize>| {
        rule(from.clone(), from.map(|place| (place, -1)).chain(to.map(|place| (place, 1))))
    };
    let there_and_back = moves(0..half, half..2 * half) + &moves(half..2 * half, 0..half);
    let swaps = spec(2 * half, &there_and_back, |place| place < half, "p0 >= 2");
    for net in [grows, swaps] {
        for strategy in sample(vec!["auto", "karp-miller", "shared-state", "backward"], 2) {
            within_limits("long.spec", &net, &["cover", "--strategy", strategy]);
        }
    }
}

#[test]
fn markings_with_tens_of_thousands_of_tokens() {
    let places = 40_000;
    let ring: String =
        (0..places).map(|place| rule(place..=place, [(place, -1), ((place + 1) % places, 1)].into_iter())).collect();
    let everywhere = (0..places).map(|place| format!("p{place} >= 1")).join(", ");
    let net = spec(places, &ring, |place| place < places / 2, &everywhere);
    for strategy in ["enumerate", "backward", "pair-saturation"] {
        within_limits("ring.spec", &net, &["cover", "--strategy", strategy]);
    }
}

#[test]
fn tens_of_thousands_of_units() {
    let places = 40_000;
    let to_and_fro = |place: usize| rule(place..=place, [(place, -1), (place ^ 1, 1)].into_iter());
    let odd = (1..places).step_by(2).map(|place| format!("p{place} >= 1")).join(", ");
    let rules: String = (0..places).map(to_and_fro).collect();
    let net = spec(places, &rules, |place| place % 2 == 0, &format!("{odd}, p0 >= 1"));
    for strategy in ["auto", "shared-state"] {
        within_limits("units.spec", &net, &["cover", "--strategy", strategy]);
    }
}
