//! `palisade-proved` beside enumerations of all executions: random programs have the same verdict
//! by both.

use super::proved_checker::{cover, proved};
use crate::environment::seeds;
use palisade::program::Program;
use palisade::semantics::graphs::{Axioms, oracle};
use palisade::semantics::oracle::robust;
use palisade::semantics::random::Randomness;
use palisade::semantics::{Bounds, Instance};
use palisade::syntax::{Format, read};
use palisade::text::SourceText;
use std::fmt::Write as _;
use std::path::Path;

/// Against what a program may be robust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Against {
    C11,
    ReleaseAcquire,
    Tso,
}

impl Against {
    /// The option of the checker, and what it says.
    fn words(self) -> (&'static [&'static str], &'static str) {
        match self {
            Self::C11 => (&[], "C11"),
            Self::ReleaseAcquire => (&["ra"], "release/acquire"),
            Self::Tso => (&["tso"], "x86-TSO"),
        }
    }

    /// Whether all executions of a program are interleavings', by enumeration; nothing where these
    /// are too many.
    fn is_robust(self, program: &Program) -> Option<bool> {
        let instance = Instance::of(program).expect("the copies are fixed");
        let axioms = match self {
            Self::Tso => return Some(robust(program, &instance, &Bounds::default()).ok()?.is_robust()),
            Self::C11 => Axioms::C11,
            Self::ReleaseAcquire => Axioms::Ra,
        };
        Some(!oracle::by_events(program, &instance, axioms, 50_000).ok()?.beyond_sc)
    }
}

fn one_of<'w>(randomness: &mut Randomness, words: &[&'w str]) -> &'w str {
    words[randomness.below(words.len())]
}

/// A statement of a thread with the registers `r` and `s`. Most threads store to one location and
/// load from the other. A failed CAS only reads for the checker, and waits for the buffer on x86:
/// there is none under x86-TSO.
fn statement(own: usize, against: Against, choice: usize, randomness: &mut Randomness) -> String {
    let is_own = (choice < 4) == (randomness.below(5) > 0);
    let (location, register) = (["x", "y"][usize::from(is_own) ^ own % 2], one_of(randomness, &["r", "s"]));
    let (loaded, stored) = (one_of(randomness, &["rlx", "acq"]), one_of(randomness, &["rlx", "rel"]));
    match choice {
        0..4 => format!("{location}.store({}, {stored});", one_of(randomness, &["1", "2", "r"])),
        4..8 => format!("{register} = {location}.load({loaded});"),
        8 => format!("{register} = FADD({location}, 1, {loaded}, {stored});"),
        9 if against != Against::Tso => {
            format!("{register} = CAS({location}, {}, 2, {loaded}, {stored});", randomness.below(2))
        }
        9 | 10 => format!("{register} = exchange({location}, 1, {loaded}, {stored});"),
        _ => format!("fence({});", one_of(randomness, &["acq", "rel", "acq_rel"])),
    }
}

/// A program of two or three threads, without loops.
fn program(against: Against, randomness: &mut Randomness) -> String {
    let threads = 2 + randomness.below(2);
    let begins_with_both = randomness.below(2) == 0;
    let mut text = "max_value 9;\nglobal x, y;\n".to_owned();
    for number in 0..threads {
        let _ = writeln!(text, "fn t{number} {{\n\tlocal r, s;");
        for place in 0..2 + randomness.below(5 - threads) {
            let choice = if begins_with_both && place < 2 { 4 * place } else { randomness.below(12) };
            let line = statement(number, against, choice, randomness);
            let line = if randomness.below(6) == 0 { format!("if (r == 1) {{ {line} }}") } else { line };
            let _ = writeln!(text, "\t{line}");
        }
        text.push_str("}\n");
    }
    text
}

/// What the checker accepts about a program, by evidence that `cover` writes: that it is robust, or
/// that it is not; nothing where it rejects a run.
fn accepted(folder: &Path, against: Against, any: &[&str]) -> Option<bool> {
    let (options, name) = against.words();
    let options = [options, any].concat();
    let net = proved(folder, &[&["net", "p.tpl"], options.as_slice()].concat());
    assert_eq!(net.status.code(), Some(0), "{net:?}");
    std::fs::write(folder.join("net.spec"), &net.stdout).expect("it is written");
    cover(folder, &["net.spec", "--certificate", "net.json"]);
    let output = proved(folder, &[&["robust", "net.json", "p.tpl"], options.as_slice()].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    if said.contains("rejected: the run of the net does not show that the program is not robust") {
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let claim = |verdict: &str| said.contains(&format!("is {verdict} against {name}"));
    assert!(claim("robust") || claim("not robust"), "{said}");
    Some(claim("robust"))
}

#[needs::command("ocamlopt -version")]
#[test]
fn random_programs_have_the_verdicts_of_an_enumeration() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut robust, mut violated, mut rejected) = (0, 0, 0);
    for seed in seeds(30, 15_000) {
        let mut randomness = Randomness::new(seed);
        let against = [Against::C11, Against::ReleaseAcquire, Against::Tso][randomness.below(3)];
        let text = program(against, &mut randomness);
        std::fs::write(folder.path().join("p.tpl"), &text).expect("it is written");
        let parsed = read(SourceText::new("p.tpl", &text), Format::Tpl).expect("it is a program").program;
        let Some(expected) = against.is_robust(&parsed) else { continue };
        match accepted(folder.path(), against, &[]) {
            Some(found) => assert_eq!(found, expected, "seed {seed}, {against:?}:\n{text}"),
            // The net for x86-TSO may cover a target without a violation.
            None => {
                assert!(against == Against::Tso && expected, "seed {seed}, {against:?}:\n{text}");
                rejected += 1;
            }
        }
        *if expected { &mut robust } else { &mut violated } += 1;
        // Who is robust with any number of each thread is so with one.
        if seed % 5 == 0 && accepted(folder.path(), against, &["any"]) == Some(true) {
            assert!(expected, "seed {seed}, {against:?}:\n{text}");
        }
    }
    println!("{robust} robust, {violated} not; {rejected} runs rejected");
    let all = robust + violated;
    assert!(robust * 10 > all && violated * 10 > all && rejected * 20 < all, "{robust}, {violated}, {rejected}");
}
