//! Rings with positions of 64 bits, as machine code has them, for any number of copies: what
//! evidence about their low bits must not do.

use crate::checked::check;
use palisade::evidence::{LowBitsEvidence, RobustCertificate};
use palisade::program::{InstructionId, LowBits, Program, SourceText, ThreadId};
use palisade::robustness::{Abstraction, CheckOptions, Verdict, certificate};
use palisade::syntax::{Format, read};
use palisade::verify::{check_robust_certificate, is_closed_without_counters, plain_program};

/// A queue of two slots with stamps. Positions have laps above the index, as in `crossbeam-queue`.
/// Nobody spoils a slot, as none has a number above 1.
pub(crate) const QUEUE: &str = "program Queue
address head, tail, stamp[2], element[2], note[2]
initial stamp[1] = 1

thread producer [*] regs pos, seen, next, at, is, rounds init begin_push begin
  begin_push: pos <- mem[tail];
  slot: at <- 1 & pos;
  look: seen <- mem[stamp + (at & 1)];
  free: is <- pos = seen;
  push: assert is; goto move;
  push: assert !is; goto full;
  move: is <- at < 1;
  next: next <- is * i64(pos + 1) + !is * i64((-2 & pos) + 2);
  claim: seen <- cas(mem[tail], pos, next);
  mine: is <- pos = seen;
  lost: assert is; goto write;
  lost: assert !is; goto again;
  again: rounds <- u32(rounds + 1);
  rest: assert rounds = 0; goto end;
  rest: assert rounds != 0; goto begin_push;
  write: mem[element + (at & 1)] <- 1;
  peek: is <- mem[note + (at & 1)];
  done: mem[stamp + (at & 1)] <- i64(pos + 1); goto end;
  full: is <- i64(seen + 2) = i64(pos + 1);
  is_full: assert is; goto drain;
  is_full: assert !is; goto again;
  drain: mfence;
  first: seen <- mem[head];
  lap: is <- i64(seen + 2) = pos;
  leave: assert is; goto end;
  leave: assert !is; goto again;
end

thread consumer [*] regs pos, seen, next, at, is init begin_pop begin
  begin_pop: pos <- mem[head];
  slot: at <- 1 & pos;
  look: seen <- mem[stamp + (at & 1)];
  ready: is <- i64(pos + 1) = seen;
  pop: assert is && at < 2; goto move;
  pop: assert is && at >= 2; goto spoil;
  spoil: mem[note + (at & 1)] <- 1;
  peek: is <- mem[element + (at & 1)]; goto end;
  pop: assert !is; goto empty;
  move: is <- at < 1;
  next: next <- is * i64(pos + 1) + !is * i64((-2 & pos) + 2);
  claim: seen <- cas(mem[head], pos, next);
  mine: is <- pos = seen;
  lost: assert is; goto take;
  lost: assert !is; goto begin_pop;
  take: is <- mem[element + (at & 1)];
  done: mem[stamp + (at & 1)] <- i64(pos + 2); goto end;
  empty: is <- seen = pos;
  is_empty: assert is; goto drain;
  is_empty: assert !is; goto begin_pop;
  drain: mfence;
  last: seen <- mem[tail];
  lap: is <- seen = pos;
  leave: assert is; goto end;
  leave: assert !is; goto begin_pop;
end
";

fn program(text: &str) -> Program {
    read(SourceText::new("low.pal", text), Format::Native).expect("the text is a program").program
}

/// Which slot is accessed has to be sure: an index that no mask bounds may leave the ring.
#[test]
fn an_index_without_bounds_has_no_low_bits() {
    let unmasked = program(&QUEUE.replace("mem[stamp + (at & 1)]", "mem[stamp + at]"));
    assert!(LowBits::all_of(&unmasked, 1).next().is_none());
    let queue = program(QUEUE);
    let evidence = low(&queue);
    assert!(check_robust_certificate(&unmasked, &evidence).is_err());
    let longer = program(&QUEUE.replace("(at & 1)", "(at & 3)"));
    assert!(LowBits::all_of(&longer, 1).next().is_none());
    assert!(check_robust_certificate(&longer, &evidence).is_err());
}

/// With more values than these an exploration gives up, so that low bits are asked.
fn few_values() -> CheckOptions {
    CheckOptions { values: 8, ..CheckOptions::default() }
}

/// The certificate of a program that is robust with low bits alone.
fn low(program: &Program) -> RobustCertificate {
    let checked = check(program, &few_values()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::Robust);
    assert!(matches!(&checked.abstraction, Some(Abstraction::Low(_))), "all bits were known");
    let certificate = certificate(program, &checked).expect("it is robust");
    assert_eq!(is_closed_without_counters(program, &certificate), Ok(false));
    let plain = plain_program(program, &certificate).expect("it is accepted").expect("it is a program");
    assert_eq!(plain.threads[0].registers.len(), program.threads[0].registers.len() + 2);
    certificate
}

#[test]
fn a_ring_of_positions_with_64_bits_for_any_number_of_copies() {
    let queue = program(QUEUE);
    let certificate = low(&queue);
    let own = certificate.low.clone().expect("it has low bits");
    let names: Vec<String> = own.cells.iter().map(|cell| queue.address_name(*cell)).collect();
    assert_eq!(names, ["head", "tail", "stamp[0]", "stamp[1]"]);
    assert!(own.bits > 0 && own.assigned.len() == 1, "{own:?}");
    let place = |id| (ThreadId::from_index(0), InstructionId::from_index(id));
    let with = |cells: &[i64]| LowBitsEvidence { cells: cells.to_vec(), ..own.clone() };
    let others = [
        LowBitsEvidence { bits: 0, ..own.clone() },
        LowBitsEvidence { bits: own.bits - 1, ..own.clone() },
        LowBitsEvidence { bits: own.bits + 1, ..own.clone() },
        LowBitsEvidence { bits: 63, ..own.clone() },
        LowBitsEvidence { bits: u8::MAX, ..own.clone() },
        // What a position is stored to has its low bits as well, and all slots have them.
        with(&own.cells[1..]),
        with(&own.cells[..3]),
        with(&[]),
        with(&[own.cells[1], own.cells[0], own.cells[2], own.cells[3]]),
        // A load assigns nothing, and a count of rounds that is not cut grows.
        LowBitsEvidence { assigned: vec![place(0)], ..own.clone() },
        LowBitsEvidence { assigned: vec![place(1000)], ..own.clone() },
        LowBitsEvidence { assigned: Vec::new(), ..own.clone() },
        LowBitsEvidence { assigned: [own.assigned.clone(), own.assigned.clone()].concat(), ..own.clone() },
    ];
    for low in others {
        let other = RobustCertificate { low: Some(low), ..certificate.clone() };
        assert!(check_robust_certificate(&queue, &other).is_err(), "{:?}", other.low);
    }
    let without = RobustCertificate { low: None, ..certificate.clone() };
    assert!(check_robust_certificate(&queue, &without).is_err());
    // In a domain what has low bits is another question.
    let mut narrow = queue.clone();
    narrow.override_domain(Some("0..255".parse().expect("a domain")), true).expect("it contains 0");
    assert!(check_robust_certificate(&narrow, &certificate).is_err());
}

#[test]
fn a_ring_that_is_used_again_has_no_proof() {
    // Whose stamp waits in his buffer looks for the next position.
    let (once, again) = ("i64(pos + 1); goto end", "i64(pos + 1); goto begin_push");
    assert!(QUEUE.contains(once));
    let queue = program(&QUEUE.replace(once, again));
    let checked = check(&queue, &few_values()).expect("it has no faults");
    assert_eq!(checked.verdict, Verdict::NotRobust);
}
