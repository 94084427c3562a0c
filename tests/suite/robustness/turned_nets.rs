//! Nets that are explored up to turns of counters, and proofs about them whose sets are closed up
//! to turns alone.

use crate::checked::check;
use palisade::cli::ProgramOptions;
use palisade::evidence::{AttackNetProof, AttackReason, Fact, NetCertificate, OmegaMarking, RobustCertificate};
use palisade::net::{Count, OmegaCount};
use palisade::program::{Copies, Counters, Program, SourceText};
use palisade::robustness::{AttackOutcome, CheckOptions, Verdict, certificate};
use palisade::semantics::random::{self, CounterShape};
use palisade::syntax::{Format, read};
use palisade::verify::{check_robust_certificate, is_closed_without_counters};

/// Robust programs with counters whose nets have sets that are closed up to turns alone, with their
/// certificates.
fn certified(first_seed: u64) -> impl Iterator<Item = (Program, RobustCertificate)> {
    let copies = vec![Copies::Exactly(1), Copies::Exactly(2), Copies::Any];
    let shape = CounterShape { size: Some(6), low: 0, copies, threads: 2, labels: 5, jumps: 30, bits: None };
    (first_seed..).filter_map(move |seed| {
        let program = random::program_with_counters(seed, &shape);
        let options = CheckOptions { prune: false, nets: true, net_turns: 2, ..CheckOptions::default() };
        let certificate = certificate(&program, &check(&program, &options).ok()?)?;
        let has_net = certificate.attacks.iter().any(|attack| matches!(attack.reason, AttackReason::Net(_)));
        (has_net && is_closed_without_counters(&program, &certificate) == Ok(false))
            .then(|| (program.clone(), certificate))
    })
}

/// The certificate with each change in the proof of one attack.
fn changed(
    certificate: &RobustCertificate,
    changes: impl Fn(&AttackNetProof) -> Vec<AttackNetProof>,
) -> Vec<RobustCertificate> {
    let mut changed = Vec::new();
    for (number, attack) in certificate.attacks.iter().enumerate() {
        let AttackReason::Net(proof) = &attack.reason else { continue };
        changed.extend(changes(proof).into_iter().map(|proof| {
            let mut changed = certificate.clone();
            changed.attacks[number].reason = AttackReason::Net(proof);
            changed
        }));
    }
    changed
}

/// How many changes there are, each of which is rejected.
fn rejected(programs: usize, changes: impl Fn(&Program, &AttackNetProof) -> Vec<AttackNetProof>) -> usize {
    let mut count = 0;
    for (program, certificate) in certified(5000).take(programs) {
        for changed in changed(&certificate, |proof| changes(&program, proof)) {
            assert!(check_robust_certificate(&program, &changed).is_err(), "{changed:?} of {program:?}");
            count += 1;
        }
    }
    count
}

fn markings(proof: &AttackNetProof) -> &[OmegaMarking] {
    match &proof.certificate {
        NetCertificate::Downward { markings } => markings,
        _ => &[],
    }
}

fn is_below(low: &OmegaMarking, high: &OmegaMarking) -> bool {
    let covers = |high: &OmegaCount, low: &OmegaCount| match low {
        OmegaCount::Finite(low) => high.covers(low),
        OmegaCount::Omega => *high == OmegaCount::Omega,
    };
    low.iter().all(|(place, low)| {
        let zero = OmegaCount::Finite(Count::ZERO);
        let high = high.iter().find(|(own, _)| own == place).map_or(&zero, |(_, high)| high);
        covers(high, low)
    })
}

/// What is explored is what can be covered, up to turns: no marking can be left out.
#[test]
fn no_marking_can_be_left_out() {
    let count = rejected(10, |_, proof| {
        let markings = markings(proof);
        let is_needed = |index: &usize| {
            let others = markings.iter().enumerate().filter(|(other, _)| other != index);
            others.into_iter().all(|(_, other)| !is_below(&markings[*index], other))
        };
        let without = |index: usize| {
            let mut markings = markings.to_vec();
            markings.remove(index);
            AttackNetProof { certificate: NetCertificate::Downward { markings }, ..proof.clone() }
        };
        (0..markings.len()).step_by(1 + markings.len() / 5).filter(is_needed).map(without).collect()
    });
    assert!(count > 20, "{count} changes");
}

/// A register that holds a counter has another value in all markings.
#[test]
fn members_cannot_be_changed() {
    let count = rejected(30, |program, proof| {
        let counters = Counters::of(program);
        let mut changed = Vec::new();
        for (place, fact) in proof.places.iter().enumerate() {
            let Fact::Thread(local, joined) = fact else { continue };
            let Some((register, _)) = counters.registers_at(local.thread, local.label).first() else { continue };
            let with = |value: i64| {
                let mut local = local.clone();
                local.registers[register.index()] = value;
                Fact::Thread(local, *joined)
            };
            let Some(other) = (0..6).map(with).find(|fact| !proof.places.contains(fact)) else { continue };
            let mut proof = proof.clone();
            proof.places[place] = other;
            if !markings(&proof).is_empty() {
                changed.push(proof);
            }
        }
        changed
    });
    assert!(count > 30, "{count} changes");
}

/// The ticket lock with 32 tickets, and so many copies.
fn ticket_lock(copies: Copies) -> Program {
    let path = format!("{}/models/ticket-lock.pal", env!("CARGO_MANIFEST_DIR"));
    let read = ProgramOptions::default().read(&path);
    let mut program = read.unwrap_or_else(|error| panic!("{}", error.render(false))).program;
    program.domain.as_mut().expect("the model has a domain").high = 31;
    program.threads[0].copies = copies;
    program
}

/// Turns are what answers where there are 32; the ticket that wraps shows with one copy more.
#[test]
fn ticket_lock_with_32_tickets() {
    let options = CheckOptions { nets: true, ..CheckOptions::default() };
    let program = ticket_lock(Copies::Exactly(3));
    let robust = check(&program, &options).expect("nothing is faulty");
    assert_eq!(robust.verdict, Verdict::Robust);
    let asked: Vec<_> = robust.attacks.iter().filter(|attack| attack.outcome == AttackOutcome::Infeasible).collect();
    assert!(!asked.is_empty() && asked.iter().all(|attack| attack.strategy == "turns"), "{asked:?}");
    let certificate = certificate(&program, &robust).expect("the program is robust");
    assert_eq!(is_closed_without_counters(&program, &certificate), Ok(false));

    let program = ticket_lock(Copies::Any);
    let violated = check(&program, &options).expect("nothing is faulty");
    assert_eq!(violated.verdict, Verdict::NotRobust);
    assert_eq!(violated.violation.expect("a violation").instance.counts(), [33]);
}

/// Without counters nets are explored as they stand.
#[test]
fn no_counters_no_turns() {
    let options = CheckOptions { nets: true, counters: false, net_turns: 2, ..CheckOptions::default() };
    let mut program = ticket_lock(Copies::Exactly(2));
    program.domain.as_mut().expect("the model has a domain").high = 3;
    let checked = check(&program, &options).expect("nothing is faulty");
    assert_eq!(checked.verdict, Verdict::Robust);
    assert!(checked.attacks.iter().all(|attack| attack.strategy != "turns"));
    let checked = check(&program, &CheckOptions { counters: true, ..options }).expect("nothing is faulty");
    assert!(checked.attacks.iter().any(|attack| attack.strategy == "turns"));
}

/// Any number of copies draw numbers and keep them. One that has drawn is above one that has not,
/// turned; so any number of copies have each number at once. Copies join the happens-before path
/// number by number. Where acceleration forgets the turn, copies draw number by number as well, and
/// there are 135 and 371 markings.
#[test]
fn acceleration_knows_the_turn_between() {
    let text = "program Draw\ndomain 0..7 wrap\naddress next, x, y\n\
                thread worker [*] regs mine, last, r init draw begin\n\
                draw: mine <- fetch_add(mem[next], 1);\n\
                wait: last <- mem[next];\n\
                compare: assert last = mine; goto store;\n\
                compare: assert last != mine; goto wait;\n\
                store: mem[x] <- 1;\n\
                load: r <- mem[y]; goto wait;\n\
                end\n";
    let program = read(SourceText::new("draw.pal", text), Format::Native).expect("the text is a program").program;
    let options = CheckOptions { all: true, prune: false, nets: true, net_turns: 2, ..CheckOptions::default() };
    let checked = check(&program, &options).expect("nothing is faulty");
    let turned = checked.attacks.iter().filter(|own| own.strategy == "turns");
    assert_eq!(turned.map(|own| own.markings).collect::<Vec<_>>(), [93, 279]);
}
