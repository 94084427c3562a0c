//! Addresses that only fall, or only rise: verdicts for integers without end, and what evidence
//! about them must not do.

use crate::checked::check;
use palisade::evidence::RobustCertificate;
use palisade::program::{Copies, Program, SourceText, saturated};
use palisade::robustness::{Abstraction, CheckOptions, Verdict, certificate};
use palisade::syntax::{Format, read};
use palisade::verify::{check_robust_certificate, is_closed_without_counters};
use std::path::Path;

fn program(text: &str) -> Program {
    read(SourceText::new("saturation.pal", text), Format::Native).expect("the text is a program").program
}

/// The text of the spinlock, for integers.
fn lock() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/linux-spinlock.pal");
    std::fs::read_to_string(path).expect("the model is there").replace("domain -2..1 wrap", "")
}

/// The certificate of a program that is robust as its counters stop.
fn stopping(program: &Program) -> RobustCertificate {
    let checked = check(program, &CheckOptions::default()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::Robust);
    assert!(matches!(&checked.abstraction, Some(Abstraction::Stopping(_))), "its counters did not stop");
    let certificate = certificate(program, &checked).expect("it is robust");
    assert_eq!(is_closed_without_counters(program, &certificate), Ok(false));
    certificate
}

#[test]
fn a_spinlock_of_integers_for_any_number() {
    let lock = program(&lock());
    let certificate = stopping(&lock);
    assert_eq!(certificate.ends.iter().map(|(_, end)| *end).collect::<Vec<_>>(), [-1]);
    assert_eq!(lock.address_name(certificate.ends[0].0), "lock_word");
}

/// The same lock, counting upwards.
#[test]
fn what_rises_stops_as_well() {
    let text = lock()
        .replace("initial lock_word = 1", "initial lock_word = -1")
        .replace("fetch_add(mem[lock_word], -1)", "fetch_add(mem[lock_word], 1)")
        .replace("old - 1 >= 0", "old + 1 <= 0")
        .replace("old - 1 < 0", "old + 1 > 0")
        .replace("assert old <= 0", "assert old >= 0")
        .replace("assert old > 0", "assert old < 0")
        .replace("mem[lock_word] <- 1;", "mem[lock_word] <- -1;");
    let certificate = stopping(&program(&text));
    assert_eq!(certificate.ends.iter().map(|(_, end)| *end).collect::<Vec<_>>(), [1]);
}

/// What does not go one way, or is used for more than to compare it, does not stop; and evidence
/// that says so is rejected.
#[test]
fn what_does_not_stop_is_rejected() {
    let text = lock();
    let whole = stopping(&program(&text));
    let changes = [
        ("release: mem[lock_word] <- 1;", "release: old <- fetch_add(mem[lock_word], 1);", "it rises, too"),
        ("flip_left: mem[left] <- 1 - l;", "flip_left: mem[left] <- old;", "it is stored elsewhere"),
        ("flip_left: mem[left] <- 1 - l;", "flip_left: mem[left] <- old * 2;", "it is computed with"),
        ("assert old <= 0;", "assert old <= l;", "it is compared with a register"),
        ("assert old <= 0;", "assert old;", "it is a condition"),
        ("assert old <= 0;", "assert (old & 1) = 0;", "its parity is asked"),
        ("release: mem[lock_word] <- 1;", "release: mem[lock_word + l] <- 1;", "an address is computed"),
        ("program LinuxSpinlock", "program LinuxSpinlock domain -8..7 wrap", "there is a domain"),
    ];
    for (old, new, what) in changes {
        assert!(text.contains(old), "{old}");
        let other = program(&text.replace(old, new));
        assert!(saturated(&other).is_none(), "{what}: {new}");
        assert!(check_robust_certificate(&other, &whole).is_err(), "{what}: {new}");
    }
    // The end is too near: what is compared with it.
    for end in [0, 1, 2] {
        let near = RobustCertificate { ends: vec![(whole.ends[0].0, end)], ..whole.clone() };
        assert!(check_robust_certificate(&program(&text), &near).is_err(), "{end}");
    }
    let near = text.replace("assert old <= 0;", "assert old > -5 && old <= 0;");
    assert!(check_robust_certificate(&program(&near), &whole).is_err());
}

/// What is robust with values that stop is robust with all of them, as far as few copies tell.
#[test]
fn few_copies_with_all_values() {
    let mut lock = program(&lock());
    for copies in 1..=4 {
        lock.threads[0].copies = Copies::Exactly(copies);
        let options = CheckOptions { counters: false, ..CheckOptions::default() };
        let checked = check(&lock, &options).expect("it has no faults");
        assert_eq!(checked.verdict, Verdict::Robust, "{copies}");
    }
}
