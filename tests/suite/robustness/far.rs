//! Counters that fall far behind: deques and epochs of integers for any number of copies, and what
//! evidence about them must not do.

use crate::checked::check;
use palisade::evidence::RobustCertificate;
use palisade::program::{Program, SourceText};
use palisade::robustness::{Abstraction, CheckOptions, Verdict, certificate};
use palisade::syntax::{Format, read};
use palisade::verify::{check_robust_certificate, is_closed_without_counters, plain_program};

/// The work-stealing deque of Chase and Lev on a ring of two cells, whose indices grow without end.
pub(crate) const DEQUE: &str = "program Deque
address top, bottom, task[2]

thread owner regs b, t, old, work init choose begin
  choose: b <- mem[bottom]; goto room;
  choose: b <- mem[bottom]; goto take_last;

  room: mfence;
  oldest: t <- mem[top];
  fits: assume b - t < 2;
  put: mem[task + (b & 1)] <- 1;
  publish: mem[bottom] <- b + 1; goto choose;

  take_last: b <- b - 1;
  claim: mem[bottom] <- b;
  settle: mfence;
  read_top: t <- mem[top];
  size: assert t > b; goto give_back;
  size: assert t <= b; goto read_task;
  give_back: mem[bottom] <- t; goto choose;
  read_task: work <- mem[task + (b & 1)];
  more: assert t < b; goto choose;
  more: assert t = b; goto race;
  race: old <- cas(mem[top], t, t + 1);
  reset: mem[bottom] <- t + 1; goto choose;
end

thread thief [*] regs b, t, old, work init read_top begin
  read_top: t <- mem[top];
  read_bottom: b <- mem[bottom];
  some: assert t < b; goto read_task;
  some: assert t >= b; goto read_top;
  read_task: work <- mem[task + (t & 1)];
  steal: old <- cas(mem[top], t, t + 1); goto read_top;
end
";

fn program(text: &str) -> Program {
    read(SourceText::new("far.pal", text), Format::Native).expect("the text is a program").program
}

/// The certificate of a program that is robust although what is far behind is one value.
fn far(program: &Program) -> RobustCertificate {
    let checked = check(program, &CheckOptions::default()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::Robust);
    assert!(matches!(&checked.abstraction, Some(Abstraction::Far(_))), "its counters were told apart");
    let certificate = certificate(program, &checked).expect("it is robust");
    assert_eq!(is_closed_without_counters(program, &certificate), Ok(false));
    assert!(matches!(plain_program(program, &certificate), Ok(None)));
    certificate
}

#[test]
fn a_deque_of_integers_for_any_number_of_thieves() {
    let deque = program(DEQUE);
    let certificate = far(&deque);
    let [(reference, distance)] = certificate.far[..] else { panic!("{:?}", certificate.far) };
    assert_eq!((deque.address_name(reference).as_str(), distance), ("top", 4));
    // Bottom is no reference, as the owner takes it back; nor is there another end than the stated
    // one, least of all a nearer one.
    let bottom = reference + 1;
    for (address, distance) in
        [(bottom, 4), (reference, 1), (reference, 0), (reference, -1), (bottom + 1, 1), (reference, i64::MAX)]
    {
        let other = RobustCertificate { far: vec![(address, distance)], ..certificate.clone() };
        assert!(check_robust_certificate(&deque, &other).is_err(), "{address} {distance}");
    }
    let others = [vec![(reference, 4), (bottom, 4)], vec![(reference, 4); 2], Vec::new()];
    for far in others {
        assert!(check_robust_certificate(&deque, &RobustCertificate { far, ..certificate.clone() }).is_err());
    }
    // In a domain what is far behind comes around.
    let mut narrow = deque.clone();
    narrow.override_domain(Some("0..255".parse().expect("a domain")), true).expect("it contains 0");
    assert!(check_robust_certificate(&narrow, &certificate).is_err());
    for other in [
        RobustCertificate { modulo: Some((0, 3)), ..certificate.clone() },
        RobustCertificate { tickets: vec![(reference, bottom)], ..certificate.clone() },
    ] {
        assert!(check_robust_certificate(&deque, &other).is_err());
    }
    for fence in ["  settle: mfence;\n", "  room: mfence;\n  oldest: t"] {
        assert!(DEQUE.contains(fence));
        let unfenced = program(&DEQUE.replace(fence, if fence.contains("room") { "  room: t" } else { "" }));
        let checked = check(&unfenced, &CheckOptions::default()).expect("it has no faults");
        assert_eq!(checked.verdict, Verdict::NotRobust, "{fence}");
    }
}

/// Both values that a thief compares may be old.
#[test]
fn conditions_on_old_values_hold_where_they_may() {
    let text = DEQUE.replace("some: assert t < b; goto", "peek: work <- mem[task];\n  some: assert t < b; goto");
    let _ = far(&program(&text));
}

/// Of two values that are far behind nothing says which is less: who compares them goes both ways,
/// although the second is read later and is never less.
#[test]
fn conditions_on_two_old_values_hold_where_they_may() {
    let text = "program Clock
address clock, x, y
thread tick regs old init tick begin
  tick: old <- fetch_add(mem[clock], 1); goto tick;
end
thread reader [*] regs first, second, r init read begin
  read: first <- mem[clock];
  again: second <- mem[clock];
  mark: mem[x] <- 1;
  look: r <- mem[y];
  drain: mfence;
  compare: assert first > second + 1; goto odd;
  compare: assert first <= second + 1; goto read;
  odd: r <- mem[y]; goto read;
end
";
    let _ = far(&program(text));
    let _ = far(&program(&text.replace("first > second + 1; goto odd", "second + 1 < first; goto odd")));
}

/// Every configuration of the sets is needed.
#[test]
fn sets_that_lack_something_are_rejected() {
    let deque = program(DEQUE);
    let whole = far(&deque);
    for left_out in (0..whole.sc.len()).step_by(whole.sc.len() / 7 + 1) {
        let mut part = whole.clone();
        part.sc.remove(left_out);
        assert!(check_robust_certificate(&deque, &part).is_err(), "{left_out}");
    }
}

/// Values that are far behind must be looked at by conditions alone, and must not come near.
#[test]
fn what_looks_at_far_values_is_rejected() {
    let whole = far(&program(DEQUE));
    for (from, to, is_far_again) in [
        // How far behind it is.
        ("read_task: work <- mem[task + (t & 1)];\n  steal", "read_task: work <- b - t;\n  steal", false),
        // What it is modulo something that masks do not see.
        ("some: assert t < b; goto read_task", "some: assert t < b && t % 3 = 0; goto read_task", true),
        // It comes near.
        ("read_task: work <- mem[task + (t & 1)];\n  steal", "read_task: t <- t + 1;\n  steal", false),
        // The address that others are behind falls.
        ("reset: mem[bottom] <- t + 1", "reset: mem[top] <- t - 1", false),
    ] {
        let text = DEQUE.replace(from, to);
        assert_ne!(text, DEQUE, "{from}");
        let other = program(&text);
        assert!(check_robust_certificate(&other, &whole).is_err(), "{to}");
        let checked = check(&other, &CheckOptions { values: 16, ..CheckOptions::default() });
        let is_far = checked.is_ok_and(|checked| matches!(&checked.abstraction, Some(Abstraction::Far(_))));
        assert!(!is_far || is_far_again, "{to}");
    }
}
