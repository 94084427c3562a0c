//! A violation as a litmus test: its outcome is one of TSO and none of SC.

use palisade::limits::Limits;
use palisade::program::SourceText;
use palisade::semantics::{Counting, Instance, LOOP_CAPACITY, Model, final_states};
use palisade::syntax::litmus;
use std::process::Command;

/// The litmus test that `palisade witness --litmus` prints for a program.
fn witness(name: &str, text: &str, options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(["witness", "--litmus"])
        .args(options)
        .arg(&path)
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn holds(text: &str, model: Model) -> bool {
    let test = litmus::read(SourceText::new("t.litmus", text)).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let instance = Instance::of(&test.program).expect("one copy each");
    let states = final_states(&test.program, &instance, model, LOOP_CAPACITY, &Limits::none()).expect("values exist");
    test.question.answer(&test.program, &instance, &states.completed, Counting::Rows).holds
}

#[test]
fn violations_are_litmus_tests() {
    let buffering = "program SB
thread p regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; end
thread q regs r init a begin a: mem[y] <- 1; b: r <- mem[x]; end";
    let counted = "program any
thread p [*] regs r, s init a begin a: mem[x] <- 1; b: r <- cas(mem[z], 0, 1); goto c; b: r <- mem[y]; goto c; c: mem[y] <- 1; d: s <- mem[x]; end";
    let replaced = "X86 R\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$2 ;\n MOV [y],$1 | MOV EAX,[x] ;\nexists (true)";
    for (name, text) in [("a.pal", buffering), ("b.pal", counted), ("c.litmus", replaced)] {
        let test = witness(name, text, &[]);
        assert!(holds(&test, Model::Tso), "{test}");
        assert!(!holds(&test, Model::Sc), "{test}");
    }
}
