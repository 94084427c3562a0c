//! Fences put into bodies in braces.

use super::program;
use palisade::program::{Action, Measure, ThreadId};
use palisade::syntax::Format;
use palisade::syntax::edit::{EditError, apply};

/// The text with fences at labels of the first thread.
fn fenced(text: &str, labels: &[&str]) -> Result<String, EditError> {
    let program = program(text);
    let thread = ThreadId::from_index(0);
    let label = |name: &&str| program.threads[0].label_named(name).unwrap_or_else(|| panic!("no label {name}"));
    let changes: Vec<Measure> = labels.iter().map(|name| Measure::Fence { thread, label: label(name) }).collect();
    apply(&program, Format::Native, &changes)
}

const PETERSON: &str = "program Peterson\naddress flag[2], turn, inside   # shared\n\nthread t [2] {\n\tloop {\n\t\tflag[self] = 1;\n\t\tturn = 1 - self;   // give way\n\
                        \t\t// wait\n\t\tawait (flag[1 - self] == 0 || turn == self);\n\t\tcs: inside = self; inside = 0;\n\t\tflag[self] = 0;\n\t}\n}\n";

#[test]
fn a_fence_is_a_statement_of_its_own() {
    let before = "\t\tawait (flag[1 - self]";
    let expected = PETERSON.replace(before, &format!("\t\tmfence;\n{before}"));
    // In the middle of the statement as at its beginning: no store is in between.
    for label in ["L9", "L9_2", "L9_3"] {
        assert_eq!(fenced(PETERSON, &[label]).as_deref(), Ok(expected.as_str()), "{label}");
    }
    let expected = PETERSON.replace("cs: inside = self; inside = 0;", "cs: inside = self; mfence; inside = 0;");
    assert_eq!(fenced(PETERSON, &["L10"]).as_deref(), Ok(expected.as_str()));
    let expected = PETERSON.replace("\t\tcs: ", "\t\tmfence;\n\t\tcs: ");
    assert_eq!(fenced(PETERSON, &["cs"]).as_deref(), Ok(expected.as_str()));
}

#[test]
fn copies_that_say_self_have_one_text() {
    let program = program(PETERSON);
    let change = |thread: usize| {
        let label = program.threads[thread].label_named("L9").expect("it is there");
        Measure::Fence { thread: ThreadId::from_index(thread), label }
    };
    let both = apply(&program, Format::Native, &[change(0), change(1)]).expect("it can be edited");
    assert_eq!(both.matches("mfence;").count(), 1);
}

const LOOP: &str = "program p\naddress x, y\nthread t {\n    while (y == 0) {\n        if (y == 2) { continue; }\n        x = 1;\n    }\n    y = 1;\n}\n";

#[test]
fn what_comes_back_to_a_loop_meets_the_fence() {
    let expected = LOOP
        .replace("    while", "    mfence;\n    while")
        .replace("{ continue; }", "{ mfence; continue; }")
        .replace("        x = 1;\n", "        x = 1;\n        mfence;\n");
    assert_eq!(fenced(LOOP, &["L4"]).as_deref(), Ok(expected.as_str()));
    // What is stored behind the loop does not come back by it.
    let around = "program p\naddress x, y\nthread t {\n  loop {\n    x = 1;\n    while (y == 0) { pause; }\n    y = 0;\n  }\n}\n";
    let expected = around.replace("    while", "    mfence;\n    while");
    assert_eq!(fenced(around, &["L6"]).as_deref(), Ok(expected.as_str()));
    // Nothing is stored in this one.
    let spin = LOOP.replace("        x = 1;\n", "        pause;\n");
    let expected = spin.replace("    while", "    mfence;\n    while");
    assert_eq!(fenced(&spin, &["L4"]).as_deref(), Ok(expected.as_str()));
}

#[test]
fn heads_of_for_loops_stay_as_they_are() {
    let text = "program p\naddress x, y\nthread t {\n  for (let i = y; i < y; i += y) {\n    if (y) { continue; }\n    x = i;\n  }\n}\n";
    let at_end = text.replace("{ continue", "{ mfence; continue").replace("x = i;\n", "x = i;\n    mfence;\n");
    let before = "  mfence;\n  for";
    // Where the first value is read, before the loop alone; where the condition reads, before each
    // time; where the step reads, behind each time.
    assert_eq!(fenced(text, &["L4"]).as_deref(), Ok(text.replace("  for", before).as_str()));
    assert_eq!(fenced(text, &["L4_2"]).as_deref(), Ok(at_end.replace("  for", before).as_str()));
    assert_eq!(fenced(text, &["L4_4"]).as_deref(), Ok(at_end.as_str()));
}

#[test]
fn what_goes_on_to_the_condition_of_a_do_loop_meets_the_fence() {
    let text = "program p\naddress x, y\nthread t {\n  do {\n    if (x) { continue; }\n    x = 1;\n  } while (y);\n}\n";
    let expected = text.replace("{ continue", "{ mfence; continue").replace("x = 1;\n", "x = 1;\n    mfence;\n");
    assert_eq!(fenced(text, &["L7"]).as_deref(), Ok(expected.as_str()));
    // The beginning of the body is within the loop.
    let expected = text.replace("    if", "    mfence;\n    if");
    assert_eq!(fenced(text, &["L5"]).as_deref(), Ok(expected.as_str()));
}

#[test]
fn a_goto_meets_the_fence_at_its_label() {
    let text = "program p\naddress x, y\nthread t {\n  again: x = 1;\n  if (y == 0) { goto again; }\n}\n";
    let expected = text.replace("again: x", "again: mfence; x");
    assert_eq!(fenced(text, &["again"]).as_deref(), Ok(expected.as_str()));
}

#[test]
fn behind_a_call_in_a_statement_there_is_no_place() {
    let text = "program p\naddress x, y\nproc f() { x = 1; return 2; }\nthread t {\n  let r = f() + y;\n}\n";
    let program = program(text);
    let thread = &program.threads[0];
    let load = thread.instructions.iter().find(|it| matches!(&it.action, Action::Load { .. })).expect("y is read");
    let change = Measure::Fence { thread: ThreadId::from_index(0), label: load.source };
    assert!(matches!(apply(&program, Format::Native, &[change]), Err(EditError::InsideStatement(_))));
}

#[test]
fn stores_become_exchanges() {
    let text = "program p\naddress x, slot[2]\nthread t {\n  slot[1] = (x + 1);\n}\n";
    let program = program(text);
    let store = program.threads[0].instruction_ids().find(|(_, it)| matches!(it.action, Action::Store { .. }));
    let change = Measure::Exchange { thread: ThreadId::from_index(0), store: store.expect("there is a store").0 };
    let edited = apply(&program, Format::Native, &[change]).expect("it can be edited");
    assert_eq!(edited, text.replace("slot[1] = (x + 1);", "xchg(slot[1], (x + 1));"));
}
