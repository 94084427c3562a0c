//! Who waits for ever: programs whose answers are known, evidence that is tampered with, and the
//! command.

mod by_language;
mod command;
mod corpus;
mod crowds;
mod finally;
mod hopeless;
mod models;
mod mutations;
mod overlooked;
mod repairs;

use crate::checked;
use palisade::hangs::{HangOptions, Hangs, Verdict};
use palisade::program::Program;
use palisade::semantics::Model;
use palisade::syntax::{Format, parse};
use palisade::text::SourceText;
use std::path::Path;
use std::process::Command;

/// The exit status of a command line, and what it prints.
fn said(folder: &Path, line: &str) -> (i32, String) {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(line.split(' ')).current_dir(folder).output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().expect("it ends"), format!("{out}{err}"))
}

/// A program in the native language.
fn program(text: &str) -> Program {
    let parsed = parse(SourceText::new("test.pal", text), Format::Native);
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

/// The answer, with evidence that is accepted.
fn asked(program: &Program, model: Model) -> Hangs {
    let found = checked::hangs(program, &HangOptions::new(model)).expect("every step has a meaning");
    found.unwrap_or_else(|failure| panic!("the evidence is rejected: {failure}\n{program:?}"))
}

/// `free`, `stuck`, or why neither is known.
fn word(found: &Hangs) -> String {
    match &found.verdict {
        Verdict::Free(_) => "free".to_owned(),
        Verdict::Stuck(_) => "stuck".to_owned(),
        Verdict::Unknown(why) => why.words(),
    }
}

/// Programs with what they are under SC and under TSO.
const KNOWN: [(&str, &str, &str); 12] = [
    // Publish and look: both miss without fences.
    (
        "address x, y, kick thread a { x = 1; if (y == 1) { kick = 1; } } \
         thread b { y = 1; if (x == 0) { await (kick == 1); } }",
        "free",
        "stuck",
    ),
    (
        "address x, y, kick thread a { x = 1; mfence; if (y == 1) { kick = 1; } } \
         thread b { y = 1; mfence; if (x == 0) { await (kick == 1); } }",
        "free",
        "free",
    ),
    // A spinlock that one holder keeps; a failed update is no effect.
    (
        "address l thread a { while (xchg(l, 1) != 0) { pause; } } \
         thread b { while (xchg(l, 1) != 0) { pause; } l = 0; }",
        "stuck",
        "stuck",
    ),
    // Who waits at its first instruction and never moved.
    ("address x thread a [*] { await (x == 1); }", "stuck", "stuck"),
    ("address x thread a [*] { idle await (x == 1); }", "free", "free"),
    ("address x daemon thread a [*] { await (x == 1); }", "free", "free"),
    // A look before the wait that may last is no hang.
    ("address x, y thread a { loop { if (x == 1) { break; } idle await (y == 1); } }", "free", "free"),
    // Two words, taken in different orders.
    (
        "address a, b thread p { lock(a); lock(b); unlock(b); unlock(a); } \
         thread q { lock(b); lock(a); unlock(a); unlock(b); }",
        "stuck",
        "stuck",
    ),
    // A wake-up that finds nobody is lost; time that runs out is no hang.
    ("address x thread a { wake(x, 1); } thread b { wait(x, 0); }", "stuck", "stuck"),
    ("address x thread a { wake(x, 1); } thread b { timed wait(x, 0); }", "free", "free"),
    // One wake-up for two sleepers, or for all.
    ("address x thread a { x = 1; mfence; wake(x, 1); } thread b [2] { wait(x, 0); }", "stuck", "stuck"),
    ("address x thread a { x = 1; mfence; wake(x, all); } thread b [*] { wait(x, 0); }", "free", "free"),
];

#[test]
fn small_programs_have_their_answers() {
    for (text, sc, tso) in KNOWN {
        let program = program(&format!("program small\n{text}"));
        for (model, expected) in [(Model::Sc, sc), (Model::Tso, tso)] {
            assert_eq!(word(&asked(&program, model)), expected, "{model:?}: {text}");
        }
    }
}
