//! Fences and exchanges put into tests in C.

use super::{c_text, is_robust, test};
use palisade::program::{Action, LabelId, Measure, Program, Thread, ThreadId};
use palisade::syntax::Format;
use palisade::syntax::edit::{EditError, apply};

fn fences_at(program: &Program, place: impl Fn(&Thread, LabelId) -> bool) -> Vec<Measure> {
    let mut edits = Vec::new();
    for (thread, template) in program.thread_ids() {
        for index in 0..template.labels.len() {
            let label = LabelId::from_index(index);
            if template.instructions.iter().any(|it| it.source == label) && place(template, label) {
                edits.push(Measure::Fence { thread, label });
            }
        }
    }
    edits
}

/// Fences are those of C, or of the kernel where a test has only its calls, and make the program
/// robust.
#[test]
fn fences_are_put_into_the_text() {
    let is_load = |thread: &Thread, label: LabelId| {
        thread.instructions.iter().any(|it| it.source == label && matches!(it.action, Action::Load { .. }))
    };
    for (store, load, fence) in [
        ("WRITE_ONCE(*{}, 1)", "READ_ONCE(*{})", "smp_mb();"),
        (
            "atomic_store_explicit({}, 1, memory_order_relaxed)",
            "atomic_load_explicit({}, memory_order_acquire)",
            "atomic_thread_fence(memory_order_seq_cst);",
        ),
        ("*{} = 1", "*{}", "atomic_thread_fence(memory_order_seq_cst);"),
    ] {
        let thread = |number: u32, one: &str, other: &str| {
            let (store, load) = (store.replace("{}", one), load.replace("{}", other));
            format!("P{number} (int* x, int* y)\n{{\n  {store};\n  int r0 = {load};\n}}\n")
        };
        let text = format!("C t\n{{ }}\n{}{}exists (0:r0=0 /\\ 1:r0=0)\n", thread(0, "x", "y"), thread(1, "y", "x"));
        let before = test(&text);
        assert!(!is_robust(&before));
        let edited =
            apply(&before.program, Format::Litmus, &fences_at(&before.program, is_load)).expect("it has a place");
        assert_eq!(edited.replace(&format!("  {fence}\n"), ""), text);
        assert_eq!(edited.matches(fence).count(), 2);
        assert!(is_robust(&test(&edited)), "{edited}");
        assert!(!edited.contains("mfence"));
    }
}

/// A loop's fence is put before it and at its end; a statement without braces has no place for one.
#[test]
fn fences_and_bodies() {
    let body = "WRITE_ONCE(*x, 1);\n  while (READ_ONCE(*y) == 0) {\n    WRITE_ONCE(*z, 1);\n  }";
    let before = test(&c_text("int", &[body], ""));
    let loop_label = |thread: &Thread, label: LabelId| {
        thread.instructions.iter().any(|it| it.source == label && matches!(it.action, Action::Load { .. }))
    };
    let edited =
        apply(&before.program, Format::Litmus, &fences_at(&before.program, loop_label)).expect("it has places");
    assert!(
        edited.contains("smp_mb();\n  while (") && edited.contains("WRITE_ONCE(*z, 1);\n    smp_mb();\n  }"),
        "{edited}"
    );
    let bare = test(&c_text("int", &["if (READ_ONCE(*x)) WRITE_ONCE(*y, 1);"], ""));
    let is_store = |thread: &Thread, label: LabelId| {
        thread.instructions.iter().any(|it| it.source == label && matches!(it.action, Action::Store { .. }))
    };
    let refused = apply(&bare.program, Format::Litmus, &fences_at(&bare.program, is_store));
    assert!(matches!(refused, Err(EditError::NoBraces(_))), "{refused:?}");
}

/// A store becomes one that is a locked exchange in C.
#[test]
fn stores_become_exchanges_in_the_text() {
    for (body, expected) in [
        (
            "atomic_store_explicit(x, 1, memory_order_relaxed);",
            Some("atomic_store_explicit(x, 1, memory_order_seq_cst);"),
        ),
        ("WRITE_ONCE(*x, 1);", Some("smp_store_mb(*x, 1);")),
        ("*x = 1;", None),
        ("smp_store_release(x, 1);", None),
    ] {
        let test = test(&c_text("int", &[body], ""));
        let thread = ThreadId::from_index(0);
        let template = test.program.thread(thread);
        let found = template.instruction_ids().find(|(_, it)| matches!(it.action, Action::Store { .. }));
        let store = found.expect("there is a store").0;
        let edited = apply(&test.program, Format::Litmus, &[Measure::Exchange { thread, store }]);
        match expected {
            Some(expected) => assert!(edited.is_ok_and(|text| text.contains(expected)), "{body}"),
            None => assert!(edited.is_err(), "{body}"),
        }
    }
}
