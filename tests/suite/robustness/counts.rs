//! Counts that go up and down, for any number of copies: models, their broken variants, and what
//! evidence about them must not do.

use crate::checked::{check, prove};
use palisade::evidence::RobustCertificate;
use palisade::program::{Program, SourceText, Value};
use palisade::properties::{Answer, ProveOptions};
use palisade::robustness::{Abstraction, CheckOptions, Verdict, certificate};
use palisade::semantics::Model;
use palisade::syntax::{Format, read};
use palisade::verify::{check_robust_certificate, is_closed_without_counters};
use std::path::Path;

fn program(text: &str) -> Program {
    read(SourceText::new("counts.pal", text), Format::Native).expect("the text is a program").program
}

/// The text of a model.
fn model(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
    std::fs::read_to_string(path).expect("the model is there")
}

/// The certificate of a program that is robust as what is many is one value.
fn counting(program: &Program) -> RobustCertificate {
    let checked = check(program, &CheckOptions::default()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::Robust);
    assert!(matches!(&checked.abstraction, Some(Abstraction::Counting(_))), "it did not count");
    let certificate = certificate(program, &checked).expect("it is robust");
    assert_eq!(is_closed_without_counters(program, &certificate), Ok(false));
    certificate
}

/// How the properties of a program stand under TSO: whether all hold, or with how many copies one
/// is violated.
fn stands(program: &Program) -> Result<(), Option<u64>> {
    let proof = prove(program, None, &ProveOptions::new(Model::Tso)).map_err(|_| None)?;
    let violated = proof.answers.iter().find_map(|answer| match &answer.answer {
        Answer::Violated(violation) => Some(violation.instance.total()),
        _ => None,
    });
    match violated {
        Some(copies) => Err(Some(copies)),
        None if proof.holds() => Ok(()),
        None => Err(None),
    }
}

#[test]
fn an_object_is_there_for_any_number_of_upgraders() {
    let certificate = counting(&program(&model("arc-upgrade.pal")));
    let [count] = &certificate.counts[..] else { panic!("one count: {:?}", certificate.counts) };
    assert_eq!((count.few, count.most, &count.owned[..]), (1, None, &[1, 0][..]));
    assert_eq!(stands(&program(&model("arc-upgrade.pal"))), Ok(()));
}

#[test]
fn readers_are_counted_beside_a_mark() {
    let lock = program(&model("reader-count-lock.pal"));
    let certificate = counting(&lock);
    assert!(certificate.counts.iter().all(|count| count.most == Some(1 << 29)), "{:?}", certificate.counts);
    assert_eq!(stands(&lock), Ok(()));
}

/// A lock of std, tried and never waited for, as it is compiled: bits of 32 are kept, masked and
/// compared with marks.
const FUTEX_LOCK: &str = "program FutexLock
address state, data

thread reader [*] regs rax, rcx, rsi, t, zf, cf, of init try begin
  try: rax <- mem[state]; goto look;
  look: zf <- rax = 1073741821; goto order;
  order: cf <- rax < 1073741821; goto room;
  room: assert !(cf || zf); goto try;
  room: assert cf || zf; goto more;
  more: rcx <- u32(rax + 1); goto swap;
  swap: t <- cas(mem[state], rax, rcx); goto equal;
  equal: zf <- rax = t; goto found;
  found: rax <- t; goto won;
  won: assert !zf; goto look;
  won: assert zf; goto read;
  read: rax <- mem[data]; goto leave;
  leave: rsi <- rmw(mem[state], u32(old + 4294967295)); goto left;
  left: rsi <- u32(rsi - 1); goto mask;
  mask: rax <- rsi & 3221225471; goto sign;
  sign: of <- 0 - i32(rax) != i32(0 - i32(rax)); goto waits;
  waits: assert !of; goto try;
  waits: assert of; goto bad;
  bad: fail;
end

thread writer [*] regs rax, rcx, rsi, t, zf, cf init try begin
  try: rax <- mem[state]; goto look;
  look: zf <- (rax & 1073741823) = 0; goto free;
  free: assert !zf; goto try;
  free: assert zf; goto copy;
  copy: rcx <- rax; goto mark;
  mark: rcx <- rcx | 1073741823; goto swap;
  swap: t <- cas(mem[state], rax, rcx); goto equal;
  equal: zf <- rax = t; goto found;
  found: rax <- t; goto won;
  won: assert !zf; goto look;
  won: assert zf; goto write;
  write: mem[data] <- 1; goto leave;
  leave: rsi <- rmw(mem[state], u32(old + 3221225473)); goto left;
  left: rsi <- u32(rsi + 3221225473); goto waits;
  waits: cf <- rsi < 1073741824; goto ask;
  ask: assert cf; goto try;
  ask: assert !cf; goto bad;
  bad: fail;
end
";

#[test]
fn readers_are_counted_in_machine_code() {
    let lock = program(FUTEX_LOCK);
    assert_eq!(stands(&lock), Ok(()));
    let without = FUTEX_LOCK.replace("free: assert !zf; goto try;", "free: assert !zf; goto copy;");
    assert!(stands(&program(&without)).is_err(), "a writer does not look for readers");
    let early = FUTEX_LOCK.replace("read: rax <- mem[data];", "read: rsi <- rmw(mem[state], u32(old + 4294967295));");
    assert!(stands(&program(&early)).is_err(), "a reader leaves twice");
}

/// Broken variants are violated, with as few copies as it takes.
#[test]
fn what_is_broken_is_violated_with_the_smallest_instance() {
    let changes = [
        ("arc-upgrade.pal", "while (count != 0) {", "while (1) {", 2),
        ("arc-upgrade.pal", "let found = cas(strong, count, count + 1);", "let found = count;", 2),
        ("arc-upgrade.pal", "let seen = object;", "fetch_sub(strong, 1); let seen = object;", 2),
        (
            "reader-count-lock.pal",
            "while (cas(lock_word, 0, 4294967295) != 0) { pause; }",
            "fetch_add(lock_word, 4294967295);",
            2,
        ),
    ];
    for (name, old, new, copies) in changes {
        let text = model(name);
        assert!(text.contains(old), "{old}");
        assert_eq!(stands(&program(&text.replacen(old, new, 1))), Err(Some(copies)), "{name}: {new}");
    }
}

/// What the checker must not accept.
#[test]
fn counts_that_are_not_so_are_rejected() {
    let text = model("arc-upgrade.pal");
    let right = program(&text);
    let whole = counting(&right);
    assert_eq!(check_robust_certificate(&right, &whole), Ok(()));
    let changed = |few: Value, most: Option<Value>, owned: [Value; 2]| {
        let mut changed = whole.clone();
        (changed.counts[0].few, changed.counts[0].most) = (few, most);
        changed.counts[0].owned = owned.to_vec();
        changed
    };
    let wrong = [
        (changed(0, None, [1, 0]), "the initial value is many"),
        (changed(2, None, [1, 0]), "more is told apart"),
        (changed(1, None, [0, 0]), "the owner takes away what nobody has added"),
        (changed(1, None, [1, 1]), "any number of copies own something"),
        (changed(1, None, [-1, 0]), "a copy owns less than nothing"),
        (changed(1, Some(1), [1, 0]), "no value is many"),
        (RobustCertificate { tickets: vec![(1, 2)], ..whole.clone() }, "tickets besides"),
    ];
    for (certificate, what) in wrong {
        assert!(check_robust_certificate(&right, &certificate).is_err(), "{what}");
    }
    for index in 0..whole.sc.len() {
        let mut fewer = whole.clone();
        fewer.sc.remove(index);
        assert!(check_robust_certificate(&right, &fewer).is_err(), "without configuration {index}");
    }
    let changes = [
        ("{ object = 1; }", "{ object = 1; strong = 0; }", "the count is stored to"),
        (
            "fetch_sub(strong, 1) == 1) { object = 1; }\n        count",
            "fetch_sub(strong, 2) == 1) { object = 1; }\n        count",
            "more is taken away than was added",
        ),
        ("program ArcUpgrade", "program ArcUpgrade\ndomain 0..7 wrap", "there is a domain"),
    ];
    for (old, new, what) in changes {
        assert!(text.contains(old), "{old}");
        assert!(check_robust_certificate(&program(&text.replacen(old, new, 1)), &whole).is_err(), "{what}");
    }
}
