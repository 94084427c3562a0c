//! Tickets: locks that hand out numbers without end, for any number of copies.

use crate::checked::check;
use palisade::evidence::RobustCertificate;
use palisade::fences::{FenceOptions, Repair, Silent, place};
use palisade::program::{Program, SourceText, Tickets};
use palisade::robustness::{Abstraction, AttackOutcome, CheckOptions, Verdict, certificate};
use palisade::syntax::{Format, read};
use palisade::verify::{check_robust_certificate, is_closed_without_counters};
use std::path::Path;

/// The ticket lock, with other copies, and another domain or integers.
fn lock(copies: &str, domain: Option<&str>) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ticket-lock.pal");
    let mut program = program(&std::fs::read_to_string(path).expect("the model is there"));
    program.override_copies(&[format!("worker={copies}").parse().expect("copies")]).expect("the lock has workers");
    match domain {
        Some(domain) => program.override_domain(Some(domain.parse().expect("a domain")), true).expect("it contains 0"),
        None => program.domain = None,
    }
    program
}

fn program(text: &str) -> Program {
    read(SourceText::new("tickets.pal", text), Format::Native).expect("the text is a program").program
}

/// The certificate of a program that is robust without its tickets.
fn without_tickets(program: &Program) -> RobustCertificate {
    let checked = check(program, &CheckOptions::default()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::Robust);
    assert!(matches!(&checked.abstraction, Some(Abstraction::Turns(_))), "tickets were not erased");
    let certificate = certificate(program, &checked).expect("it is robust");
    assert_eq!(is_closed_without_counters(program, &certificate), Ok(false));
    certificate
}

#[test]
fn a_ticket_lock_of_integers_for_any_number() {
    let lock = lock("*", None);
    let certificate = without_tickets(&lock);
    let tickets = Tickets::of(&lock).expect("it has tickets");
    let names: Vec<String> =
        [tickets.pairs[0].dispenser, tickets.pairs[0].served].map(|own| lock.address_name(own)).into();
    assert_eq!(names, ["next_ticket", "now_serving"]);
    assert_eq!(certificate.tickets.len(), 1);
}

/// As many copies as there are tickets, and not one more.
#[test]
fn as_many_copies_as_tickets() {
    for (copies, domain) in
        [("200", "0..255"), ("256", "0..255"), ("60000", "0..65535"), ("1000000000", "0..4294967295")]
    {
        without_tickets(&lock(copies, Some(domain)));
    }
    let whole = without_tickets(&lock("256", Some("0..255")));
    for (copies, domain) in [("257", "0..255"), ("*", "0..255"), ("128", "0..126")] {
        let other = lock(copies, Some(domain));
        assert!(Tickets::of(&other).is_none(), "{copies} of {domain}");
        assert!(check_robust_certificate(&other, &whole).is_err(), "{copies} of {domain}");
    }
}

/// The lock with something else in it: no tickets, and no certificate.
#[test]
fn what_is_no_ticket_lock_is_rejected() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ticket-lock.pal");
    let text = std::fs::read_to_string(path).expect("the model is there").replace("domain 0..1 wrap", "");
    let whole = without_tickets(&program(&text));
    let changes = [
        ("assert serving = mine;", "nop;", "the turn is not waited for"),
        ("assert serving = mine;", "assert serving <= mine;", "it is not waited for long enough"),
        ("assert serving = mine;", "assert serving + 1 = mine;", "another ticket's is waited for"),
        ("mem[now_serving] <- serving + 1", "mem[now_serving] <- serving + 2", "one ticket is left out"),
        ("mem[now_serving] <- serving + 1", "mem[now_serving] <- 1", "one ticket is served again and again"),
        ("fetch_add(mem[next_ticket], 1)", "fetch_add(mem[next_ticket], 0)", "all have the same ticket"),
        ("fetch_add(mem[next_ticket], 1)", "xchg(mem[next_ticket], 1)", "tickets come again"),
        (
            "flip_left: mem[left] <- 1 - l;",
            "flip_left: mem[left] <- 1 - l; goto reset;\n  reset: mem[next_ticket] <- 0; goto other_word;",
            "the dispenser is reset",
        ),
        ("flip_left: mem[left] <- 1 - l;", "flip_left: mem[mine] <- 1 - l;", "tickets are addresses"),
        ("flip_left: mem[left] <- 1 - l;", "flip_left: mem[left] <- mine;", "tickets are stored"),
        (
            "wait: serving <- mem[now_serving];",
            "wait: serving <- mem[now_serving]; goto served;\n  wait: mem[now_serving] <- mine + 1; goto draw;",
            "the next ticket is served by who waits for its own",
        ),
    ];
    for (old, new, what) in changes {
        assert!(text.contains(old), "{old}");
        let other = program(&text.replace(old, new));
        assert!(Tickets::of(&other).is_none(), "{what}: {new}");
        assert!(check_robust_certificate(&other, &whole).is_err(), "{what}: {new}");
    }
    // A computed address that comes to what is served: only the checker sees it.
    let other =
        text.replace("agree: ensure r = l;", "agree: r <- mem[now_serving + l]; goto agree_2;\n  agree_2: ensure 1;");
    let other = program(&other);
    assert!(check_robust_certificate(&other, &whole).is_err());
    assert!(check(&other, &CheckOptions { values: 4, ..CheckOptions::default() }).is_err());
}

/// Two locks, one inside of the other.
#[needs::variable("PALISADE_FULL_TESTS")]
#[test]
fn two_ticket_locks() {
    let text = "program Two
address next_a, serving_a, next_b, serving_b, x, y
thread worker [*] {
  loop {
    let a = fetch_add(next_a, 1);
    while (serving_a != a) { pause; }
    x = 1;
    let b = fetch_add(next_b, 1);
    await (serving_b == b);
    y = 1;
    let r = x;
    serving_b = b + 1;
    let s = y;
    serving_a = a + 1;
  }
}
";
    let two = program(text);
    assert_eq!(without_tickets(&two).tickets.len(), 2);
}

/// A ticket lock of integers needs no fence, and this is known to be the cheapest answer.
#[test]
fn no_fences_for_a_ticket_lock() {
    let repair = place(&lock("*", None), &FenceOptions::default(), &Silent);
    let Ok(Repair::Valid(placement)) = repair else { panic!("no valid set was found") };
    assert!(placement.measures.is_empty() && placement.proof.is_some() && placement.confirmed);
    assert!(
        placement
            .attacks
            .iter()
            .all(|(_, outcome)| matches!(outcome, AttackOutcome::Infeasible | AttackOutcome::Pruned))
    );
}
