//! Who waits while others go on.

use super::program;
use crate::checked;
use palisade::evidence::StuckWitness;
use palisade::hangs::{HangOptions, Hangs, Verdict};
use palisade::program::{Program, ThreadId};
use palisade::semantics::{CopyId, Model};
use palisade::verify::{check_free, check_stuck};

use std::sync::Arc;

pub(super) fn asked(program: &Program, model: Model) -> Hangs {
    let found = checked::hopeless(program, &HangOptions::new(model)).expect("every step has a meaning");
    found.unwrap_or_else(|failure| panic!("the evidence is rejected: {failure}\n{program:?}"))
}

pub(super) fn word(found: &Hangs) -> String {
    match &found.verdict {
        Verdict::Free(_) => "hopeful".to_owned(),
        Verdict::Stuck(_) => "hopeless".to_owned(),
        Verdict::Unknown(why) => why.words(),
    }
}

/// Programs with what they are under SC and under TSO.
const KNOWN: [(&str, &str, &str); 13] = [
    // One that nobody wakes, beside one that goes on for ever.
    ("address x, n thread a { loop { xchg(n, 1); xchg(n, 0); } } thread b { await (x == 1); }", "hopeless", "hopeless"),
    // The flag is up for a moment again and again, so there is hope.
    ("address x thread a { loop { xchg(x, 1); xchg(x, 0); } } thread b { await (x == 1); }", "hopeful", "hopeful"),
    // A wake-up that comes too early, and others that go on.
    (
        "address x, n thread a { wake(x, 1); loop { xchg(n, 1); xchg(n, 0); } } thread b { wait(x, 0); }",
        "hopeless",
        "hopeless",
    ),
    // When the other has ended, who goes round wakes nobody, and does so for ever.
    ("address x, n thread a { loop { wake(x, 1); } } thread b { wait(x, 0); }", "hopeless", "hopeless"),
    ("address x, n daemon thread a { loop { wake(x, 1); } } thread b { wait(x, 0); }", "hopeful", "hopeful"),
    // A sleeper may go on for no reason, and nobody relies on that.
    ("address x, n thread a { xchg(n, 1); } thread b { wait(x, 0); }", "hopeless", "hopeless"),
    // Who may wait for ever is not asked about.
    (
        "address x, n thread a { loop { xchg(n, 1); xchg(n, 0); } } daemon thread b { await (x == 1); }",
        "hopeful",
        "hopeful",
    ),
    (
        "address x, n thread a { loop { xchg(n, 1); xchg(n, 0); } } thread b { timed await (x == 1); }",
        "hopeful",
        "hopeful",
    ),
    // A lock that is never given back, beside a third that goes on.
    (
        "address l, n thread a { lock(l); } thread b { lock(l); unlock(l); } thread c { loop { xchg(n, 1); xchg(n, 0); } }",
        "hopeless",
        "hopeless",
    ),
    // Both look too early, and a third goes on.
    (
        "address x, y, k, n thread a { x = 1; if (y == 1) { k = 1; } } thread b { y = 1; if (x == 0) { await (k == 1); } } \
         thread c { loop { xchg(n, 1); xchg(n, 0); } }",
        "hopeful",
        "hopeless",
    ),
    // Where an `assume` may stop somebody there is hope: it is no run then.
    (
        "address x, y thread a { let r = y; assume (r == 1); xchg(x, 1); } thread b { await (x == 1); }",
        "hopeful",
        "hopeful",
    ),
    // More stores wait than buffers hold at first.
    (
        "address x, y, a, k thread a { a = 1; a = 2; a = 3; x = 1; let r = y; await (k != 5); } \
         thread b { y = 1; let r = x; await (k != 5); }",
        "hopeful",
        "hopeful",
    ),
    (
        "address x, y, a, k, n thread a { a = 1; a = 2; a = 3; x = 1; if (y == 1) { k = 1; } } \
         thread b { y = 1; if (x == 0) { await (k == 1); } } thread c { loop { xchg(n, 1); xchg(n, 0); } }",
        "hopeful",
        "hopeless",
    ),
];

/// Behind the last state a buffer grows without end, which the checker does not follow.
#[test]
fn buffers_that_grow_behind_who_waits_are_not_followed() {
    let text = "program small\naddress x, y thread a { await (x == 1); } thread b { loop { y = 1; y = 2; } }";
    assert_eq!(word(&asked(&program(text), Model::Tso)), "a computation that was found cannot be followed");
    assert_eq!(word(&asked(&program(text), Model::Sc)), "hopeless");
}

#[test]
fn small_programs_have_their_answers() {
    for (text, sc, tso) in KNOWN {
        let program = program(&format!("program small\n{text}"));
        for (model, expected) in [(Model::Sc, sc), (Model::Tso, tso)] {
            assert_eq!(word(&asked(&program, model)), expected, "{model:?}: {text}");
        }
    }
    let any = program("program small\naddress x thread a [*] { await (x == 1); }");
    assert!(word(&asked(&any, Model::Sc)).contains("fixed numbers"));
}

#[test]
fn evidence_that_is_tampered_with_is_rejected() {
    let hopeless = program(&format!("program small\n{}", KNOWN[0].0));
    let Verdict::Stuck(stuck) = asked(&hopeless, Model::Tso).verdict else { panic!("nobody stores to x") };
    let witness = stuck.witness();
    assert_eq!(check_stuck(&hopeless, &witness), Ok(()));
    let other = |copy| StuckWitness { hopeless: copy, ..witness.clone() };
    assert!(check_stuck(&hopeless, &other(None)).is_err(), "nobody is stuck");
    let copy = |thread, copy| Some(CopyId { thread: ThreadId::from_index(thread), copy });
    assert!(check_stuck(&hopeless, &other(copy(0, 0))).is_err(), "it goes on");
    assert!(check_stuck(&hopeless, &other(copy(1, 1))).is_err(), "there is no such copy");
    let hopeful = program(&format!("program small\n{}", KNOWN[1].0));
    assert!(check_stuck(&hopeful, &witness).is_err(), "it goes on there");

    let Verdict::Free(certificate) = asked(&hopeful, Model::Tso).verdict else { panic!("x is 1 again and again") };
    let certificate = Arc::unwrap_or_clone(certificate);
    assert!(certificate.is_hopeful && check_free(&hopeful, &certificate).is_ok());
    for index in 0..certificate.set.configurations.len() {
        let mut fewer = certificate.clone();
        fewer.set.configurations.remove(index);
        assert!(check_free(&hopeful, &fewer).is_err(), "without configuration {index}");
    }
    // A set without stuck states says less.
    let free = checked::hangs(&hopeless, &HangOptions::new(Model::Tso)).expect("it has a meaning").expect("accepted");
    let Verdict::Free(set) = free.verdict else { panic!("somebody goes on") };
    let mut claimed = Arc::unwrap_or_clone(set);
    claimed.is_hopeful = true;
    assert!(check_free(&hopeless, &claimed).is_err());
}
