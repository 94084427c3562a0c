//! Counters: which classes programs have and what keeps addresses out, real widths, and integers
//! without end.

use crate::checked::{check, unconfirmed_check};
use palisade::evidence::RobustCertificate;
use palisade::program::{Counters, Program, SourceText};
use palisade::robustness::{Abstraction, Check, CheckOptions, Modulo, Verdict, certificate};
use palisade::syntax::{Format, read};
use palisade::verify::{Obligation, check_robust_certificate, is_closed_without_counters};
use std::path::Path;

/// A model, with the copies and the domain that options give it.
fn model(name: &str, threads: &str, domain: Option<&str>) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name);
    let text = std::fs::read_to_string(&path).expect("the model is there");
    let mut program = program(&text);
    let copies: Vec<_> = threads.split(',').filter(|it| !it.is_empty()).map(|it| it.parse().expect("copies")).collect();
    program.override_copies(&copies).expect("the model has these threads");
    match domain {
        Some(domain) => {
            program.override_domain(Some(domain.parse().expect("a domain")), true).expect("the domain contains 0");
        }
        None => program.domain = None,
    }
    program
}

pub(crate) fn program(text: &str) -> Program {
    read(SourceText::new("counters.pal", text), Format::Native).expect("the text is a program").program
}

/// The classes of addresses, by name.
pub(crate) fn classes(program: &Program) -> Vec<Vec<String>> {
    let counters = Counters::of(program);
    let names = |cells: &[i64]| cells.iter().map(|cell| program.address_name(*cell)).collect();
    counters.classes().iter().map(|class| names(&class.cells)).collect()
}

/// The addresses that are kept out, with the labels of the instructions to blame.
pub(crate) fn kept_out(program: &Program) -> Vec<(String, String)> {
    let blamed = |out: &palisade::program::KeptOut| {
        let thread = program.thread(out.thread);
        let label = thread.label(thread.instruction(out.instruction).source);
        (program.address_name(out.address), label.name.to_string())
    };
    Counters::of(program).kept_out().iter().map(blamed).collect()
}

#[test]
fn classes_of_models() {
    let ticket = model("ticket-lock.pal", "", Some("0..255"));
    assert_eq!(classes(&ticket), [["next_ticket", "now_serving"]]);
    let seqlock = model("seqlock.pal", "", Some("0..255"));
    assert_eq!(classes(&seqlock), [["sequence"]]);
    assert_eq!(Counters::of(&seqlock).classes()[0].step, 2);
    // The parity of an odd number of values does not survive their wrapping around.
    assert!(classes(&model("seqlock.pal", "", Some("0..254"))).is_empty());
}

#[test]
fn what_keeps_an_address_out_is_named() {
    let spinlock = model("linux-spinlock.pal", "", Some("-128..127"));
    assert!(classes(&spinlock).is_empty());
    assert!(
        kept_out(&spinlock).contains(&("lock_word".to_owned(), "acquired".to_owned())),
        "{:?}",
        kept_out(&spinlock)
    );
    let peterson = model("peterson.pal", "", None);
    assert!(classes(&peterson).is_empty());
}

/// What indices number by a mask stands in the slots of a ring, which move with them by laps.
#[test]
fn slots_of_rings_are_members() {
    let ring = model("spsc-ring-buffer.pal", "", Some("0..255"));
    assert_eq!(classes(&ring), [["head", "tail", "slot[0]", "slot[1]"]]);
    assert_eq!((Counters::of(&ring).classes()[0].step, kept_out(&ring)), (2, Vec::new()));
    // Slots that hold something else are kept out, and the indices are not.
    let other = "a: r <- fetch_add(mem[x], 1); b: mem[z + (r & 1)] <- 5; goto a;";
    assert_eq!(classes(&with("domain 0..7 wrap", other)), [["x"]]);
    // What two accesses reach is one class, whether both are computed or not.
    let together = "a: r <- fetch_add(mem[x], 1); b: mem[z + (r & 1)] <- r; c: s <- mem[z]; d: mem[y] <- s; goto a;";
    assert_eq!(classes(&with("", together)), [["x", "y", "z[0]", "z[1]"]]);
    let compared = "a: r <- fetch_add(mem[x], 1); b: mem[z + (r & 1)] <- r; c: s <- mem[z]; d: assert s = 1; goto a;";
    assert!(classes(&with("", compared)).is_empty());
    // Without a mask the array that is named is the ring; what leaves it is watched.
    let named = "a: r <- fetch_add(mem[x], 1); b: s <- r & 1; c: mem[z + s] <- r; goto a;";
    assert_eq!(classes(&with("", named)), [["x", "z[0]", "z[1]"]]);
    // In integers a lap may be counted above an index.
    let stamped = "a: r <- mem[x]; b: mem[x] <- (r & -4) + 4; c: mem[z + (r & 1)] <- r; goto a;";
    let stamped = with("", stamped);
    assert_eq!(
        (classes(&stamped), Counters::of(&stamped).classes()[0].step),
        (vec![vec!["x".into(), "z[0]".into(), "z[1]".into()]], 4)
    );
}

/// A program with one thread that has these registers and instructions.
fn with(domain: &str, instructions: &str) -> Program {
    program(&format!("program p {domain} address x, y, z[2]\nthread t regs r, s, q init a begin {instructions} end"))
}

#[test]
fn what_commutes_and_what_does_not() {
    let classes_with = |domain: &str, condition: &str| {
        let text = "a: r <- fetch_add(mem[x], 1); b: s <- mem[y]; c: mem[y] <- s + 3; d: s <- mem[x]; ";
        classes(&with(domain, &format!("{text} e: assert {condition}; goto a;"))).concat()
    };
    let wrapping = "domain 0..7 wrap";
    for commutes in ["r = s", "r + 2 != s", "r - s = 3", "r % 2 = 0", "(r & 3) = 1", "(r + 1) % 4 = 2"] {
        assert_eq!(classes_with(wrapping, commutes), ["x", "y"], "{commutes}");
    }
    for does_not in ["r = 1", "r < s", "r + s = 1", "-r = s", "r % 3 = 0", "(r & 2) = 0", "2 * r = s", "r && s", "!r"] {
        assert_eq!(classes_with(wrapping, does_not), ["y"], "{does_not}");
    }
    // A remainder has the sign of the number; whether it is 0 does not depend on that. 4 and 8 are
    // no values of this domain.
    for commutes in ["r % 2 = 0", "(r + 1) % 2 != 0"] {
        assert_eq!(classes_with("domain -4..3 wrap", commutes), ["x", "y"], "{commutes}");
    }
    for does_not in ["r % 2 = 1", "r % 3 = 0", "r % 4 = 0", "r % 8 = 0"] {
        assert_eq!(classes_with("domain -4..3 wrap", does_not), ["y"], "{does_not}");
    }
    for commutes in ["r = s", "r < s", "r - s >= 2", "r % 3 = 0", "r % 2 != 0", "(r & 1) = 0"] {
        assert_eq!(classes_with("", commutes), ["x", "y"], "{commutes}");
    }
    for does_not in ["r < 5", "r % 3 = 1", "r + s = 1", "1 - r = s"] {
        assert_eq!(classes_with("", does_not), ["y"], "{does_not}");
    }
    assert_eq!(classes_with("domain 0..7", "r = s"), [""; 0], "a domain that does not wrap has an end");
}

/// What nothing moves does not grow: it is in no class.
#[test]
fn what_adds_nothing_copies() {
    for (value, is_moved) in
        [("r", false), ("r + 0", false), ("0 + r", false), ("r - 0", false), ("r + 1", true), ("r - 1", true)]
    {
        let program = with("", &format!("a: r <- mem[x]; b: mem[x] <- {value}; c: s <- mem[y];"));
        assert_eq!(!Counters::of(&program).is_empty(), is_moved, "{value}");
    }
}

#[test]
fn addresses_depend_on_masks_alone() {
    let loads = |address: &str| {
        classes(&with("domain 0..7 wrap", &format!("a: r <- fetch_add(mem[x], 1); b: q <- mem[{address}]; goto a;")))
    };
    assert_eq!(loads("z + (r & 1)"), [["x"]]);
    assert_eq!(loads("z + r % 2"), [["x"]]);
    assert!(loads("z + r").is_empty());
    // In plain integers 8 % 2 and 0 % 2 are the same, and 8 and 0 are not.
    assert!(loads("z + (r + 1) % 2").is_empty());
    assert_eq!(loads("z + ((r + 1) & 1)"), [["x"]]);
}

#[test]
fn registers_are_members_where_they_hold_counters() {
    let text = "a: r <- fetch_add(mem[x], 1); b: mem[y] <- r; c: r <- 1; d: mem[z] <- r; goto a;";
    assert_eq!(classes(&with("domain 0..7 wrap", text)), [["x", "y"]]);
}

fn decide(program: &Program) -> Check<'_> {
    check(program, &CheckOptions::default()).expect("the program has no faults")
}

fn evidence(program: &Program, checked: &Check<'_>) -> RobustCertificate {
    certificate(program, checked).expect("the program is robust")
}

#[test]
fn real_widths_and_integers_without_end() {
    for domain in [Some("0..255"), Some("0..65535"), Some("0..4294967295"), None] {
        let lock = model("ticket-lock.pal", "worker=12", domain);
        let checked = decide(&lock);
        assert_eq!(checked.verdict, Verdict::Robust, "{domain:?}");
        let certificate = evidence(&lock, &checked);
        assert_eq!(is_closed_without_counters(&lock, &certificate), Ok(false), "{domain:?}");
    }
    for domain in ["0..255", "-128..127"] {
        let seqlock = model("seqlock.pal", "writer=2,reader=1", Some(domain));
        assert_eq!(decide(&seqlock).verdict, Verdict::Robust, "{domain}");
    }
    let seqlock = model("seqlock.pal", "writer=*,reader=*", Some("0..31"));
    assert_eq!(decide(&seqlock).verdict, Verdict::Robust);
}

/// As many copies as there are tickets have one each; one more draws a ticket that is in use.
#[test]
fn tickets_that_wrap_around() {
    for (size, copies, expected) in [(4, 4, Verdict::Robust), (4, 5, Verdict::NotRobust), (8, 8, Verdict::Robust)] {
        let domain = format!("0..{}", size - 1);
        let lock = model("ticket-lock.pal", &format!("worker={copies}"), Some(&domain));
        assert_eq!(decide(&lock).verdict, expected, "{copies} copies, {size} tickets");
    }
}

#[test]
fn computed_addresses_that_come_to_counters() {
    // `q` is 1, and `x + q` the counter `y`.
    let text = "program p domain 0..7 wrap address x, y, z\nthread t regs r, q init a begin
        a: r <- fetch_add(mem[y], 1); b: mem[x] <- 1; c: q <- mem[x]; d: r <- mem[x + q]; goto a; end";
    let program = program(text);
    assert_eq!(classes(&program), [["y"]]);
    let with = decide(&program);
    let without =
        check(&program, &CheckOptions { counters: false, ..CheckOptions::default() }).expect("it has no faults");
    assert_eq!((with.verdict.clone(), without.verdict), (Verdict::Robust, Verdict::Robust));
    assert_eq!(is_closed_without_counters(&program, &evidence(&program, &with)), Ok(true));
}

/// Sets that lack a configuration are not closed, with counters or without.
#[test]
fn certificates_that_lack_something_are_rejected() {
    let lock = model("ticket-lock.pal", "worker=3", Some("0..7"));
    let checked = unconfirmed_check(&lock, &CheckOptions::default()).expect("it has no faults");
    let whole = evidence(&lock, &checked);
    assert_eq!(check_robust_certificate(&lock, &whole), Ok(()));
    for left_out in 0..whole.sc.len() {
        let mut part = whole.clone();
        part.sc.remove(left_out);
        let failure = check_robust_certificate(&lock, &part).expect_err("it lacks a configuration");
        assert!(matches!(failure.obligation, Obligation::Inductive | Obligation::Initial), "{failure}");
    }
    // The same sets say nothing about a program in which tickets are compared with a number.
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ticket-lock.pal"));
    let text =
        text.expect("the model is there").replace("assert serving != mine", "assert serving != mine && mine < 9");
    let mut other = program(&text);
    other.override_copies(&["worker=3".parse().expect("copies")]).expect("the lock has workers");
    other.override_domain(Some("0..7".parse().expect("a domain")), true).expect("it contains 0");
    assert!(classes(&other).is_empty());
    assert!(check_robust_certificate(&other, &whole).is_err());
}

/// How a program was shown robust modulo few values.
fn modulo<'a>(checked: &'a Check<'_>) -> Option<&'a Modulo> {
    match &checked.abstraction {
        Some(Abstraction::Modulo(modulo)) => Some(modulo),
        _ => None,
    }
}

/// The ends of the domain modulo whose size a program is shown robust.
fn widths(program: &Program) -> Option<(i64, i64)> {
    let checked = decide(program);
    let found = modulo(&checked).map(|modulo| (modulo.low, modulo.high));
    assert_eq!(found, certificate(program, &checked).and_then(|own| own.modulo));
    found
}

#[test]
fn one_answer_for_all_widths_and_any_number() {
    for domain in [Some("0..255"), Some("0..65535"), Some("0..4294967295"), None] {
        let seqlock = model("seqlock.pal", "writer=*,reader=*", domain);
        assert_eq!(decide(&seqlock).verdict, Verdict::Robust, "{domain:?}");
        assert_eq!(widths(&seqlock), Some((0, 3)), "{domain:?}");
    }
    // Residues tell tickets apart as long as there are no more copies than residues.
    for (copies, high) in [(2, 1), (3, 3), (4, 3), (5, 7), (12, 15)] {
        let lock = model("ticket-lock.pal", &format!("worker={copies}"), Some("0..65535"));
        assert_eq!(widths(&lock), Some((0, high)), "{copies} copies");
    }
}

/// What is robust modulo m is robust in every wider domain that is explored without that, and as
/// many copies as break a narrow one break it.
#[test]
fn every_larger_width() {
    for (copies, narrowest) in [(2, 2), (3, 4), (4, 4)] {
        let lock = |size: i64| model("ticket-lock.pal", &format!("worker={copies}"), Some(&format!("0..{}", size - 1)));
        let program = lock(64);
        let high = widths(&program).expect("it is robust for many widths").1;
        assert_eq!(high, narrowest - 1, "{copies} copies");
        for size in [2, 4, 6, 8, 16, 32, 64] {
            let program = lock(size);
            let plain = CheckOptions { counters: false, ..CheckOptions::default() };
            let expected = if size >= copies { Verdict::Robust } else { Verdict::NotRobust };
            assert_eq!(check(&program, &plain).expect("it has no faults").verdict, expected, "{copies} of {size}");
            assert_eq!(decide(&program).verdict, expected, "{copies} of {size}, with counters");
        }
    }
}

/// That two counters differ residues do not tell: who compares them goes on as if they did, with
/// equal ones as well.
#[test]
fn counters_may_differ_whose_residues_do_not() {
    let text = "program Twice
domain 0..255 wrap
address sequence, x, y

thread writer [*] regs old init next begin
  next: old <- fetch_add(mem[sequence], 1); goto next;
end

thread reader [*] regs before, after, r init first begin
  first: before <- mem[sequence];
  second: after <- mem[sequence];
  mark: mem[x] <- 1;
  look: r <- mem[y];
  drain: mfence;
  compare: assert after != before; goto changed;
  compare: assert after = before; goto first;
  changed: r <- mem[y];
  again: assert after = before; goto first;
  again: assert after != before; goto first;
end
";
    assert_eq!(widths(&program(text)), Some((0, 1)));
}

/// Certificates that know counters modulo a number say nothing about programs that residues do not
/// tell about, nor about other domains.
#[test]
fn what_residues_do_not_tell_is_rejected() {
    let lock = model("ticket-lock.pal", "worker=3", Some("0..255"));
    let whole = evidence(&lock, &decide(&lock));
    assert_eq!((whole.modulo, check_robust_certificate(&lock, &whole)), (Some((0, 3)), Ok(())));
    for domain in ["0..2", "0..253", "0..1"] {
        let other = model("ticket-lock.pal", "worker=3", Some(domain));
        assert!(check_robust_certificate(&other, &whole).is_err(), "{domain}");
    }
    for ends in [(0, 1), (1, 4), (0, 0), (-2, 1)] {
        let other = RobustCertificate { modulo: Some(ends), ..whole.clone() };
        assert!(check_robust_certificate(&lock, &other).is_err(), "{ends:?}");
    }
    // One more copy than residues: two hold the same one.
    let five = model("ticket-lock.pal", "worker=5", Some("0..255"));
    assert_eq!(widths(&five), Some((0, 7)));
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ticket-lock.pal"));
    let text = text.expect("the model is there").replace("domain 0..1 wrap", "domain 0..255 wrap");
    // Values that are no counters, and leave 0..3.
    let large = text.replace("mem[left] <- 1 - l", "mem[left] <- 5 - l");
    // What is computed from counters.
    let compared = text.replace("mem[left] <- 1 - l", "mem[left] <- (serving = serving + 1)");
    let different = text.replace("mem[left] <- 1 - l", "mem[left] <- serving - serving");
    for other in [large, compared, different] {
        let mut other = program(&other);
        other.override_copies(&["worker=3".parse().expect("copies")]).expect("the lock has workers");
        assert!(check_robust_certificate(&other, &whole).is_err());
        assert_eq!(decide(&other).verdict, Verdict::Robust);
    }
}

/// In a domain that wraps, what breaks a program in integers breaks it all the same if no value
/// leaves the domain.
#[test]
fn violations_among_the_first_values() {
    for domain in [Some("0..255"), Some("-128..127"), Some("0..4294967295"), None] {
        let exchange = model("nbw-exchange.pal", "", domain);
        assert_eq!(decide(&exchange).verdict, Verdict::NotRobust, "{domain:?}");
    }
}
