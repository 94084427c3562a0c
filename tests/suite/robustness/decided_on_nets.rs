//! Attacks decided on their nets alone: the verdicts are those of the searches, and proofs about a
//! net are accepted for the program they are about and for no other.

use crate::checked::check;
use crate::environment::{is_long_run, seeds};
use palisade::cli::ProgramOptions;
use palisade::evidence::{AttackNetProof, AttackReason, Fact, NetCertificate, RobustCertificate};
use palisade::program::{Action, Copies, Program};
use palisade::robustness::{AttackOutcome, Check, CheckOptions, Verdict, certificate};
use palisade::semantics::random::{self, Shape};
use palisade::verify::check_robust_certificate;
use rayon::prelude::*;

/// Every attack, none of them answered by control flow.
fn every() -> CheckOptions {
    CheckOptions { all: true, prune: false, ..CheckOptions::default() }
}

fn on_nets() -> CheckOptions {
    CheckOptions { nets: true, ..every() }
}

/// Decides a program by searches and on nets; how many attacks it has.
fn agree(name: &str, program: &Program) -> usize {
    let (Ok(searched), Ok(on_nets)) = (check(program, &every()), check(program, &on_nets())) else { return 0 };
    assert_eq!(searched.verdict, on_nets.verdict, "{name}");
    for (searched, on_nets) in searched.attacks.iter().zip(&on_nets.attacks) {
        assert_eq!(searched.outcome, on_nets.outcome, "{name}: {:?}", searched.attack);
    }
    if let (Some(searched), Some(on_nets)) = (&searched.violation, &on_nets.violation) {
        let copies = |instance: &palisade::semantics::Instance| instance.counts().iter().sum::<u64>();
        assert_eq!(copies(&searched.instance), copies(&on_nets.instance), "{name}: smallest instance");
    }
    on_nets.attacks.len()
}

#[test]
fn random_programs_with_fixed_copies() {
    let shape = Shape { sections: 30, ..Shape::default() };
    let asked: usize = seeds(200, 2_000)
        .into_par_iter()
        .map(|seed| agree(&format!("seed {seed}"), &random::program(seed, &shape)))
        .sum();
    assert!(asked > 200, "{asked} attacks");
}

#[test]
fn random_programs_with_any_number_of_copies() {
    let shape = Shape { labels: 4, total_labels: 7, sections: 30, ..Shape::default() };
    let decide = |seed: u64| {
        let mut program = random::program(seed, &shape);
        program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
        agree(&format!("seed {seed}"), &program)
    };
    let asked: usize = seeds(130, 1_300).into_par_iter().map(|seed| decide(2000 + seed)).sum();
    assert!(asked > 60, "{asked} attacks");
}

fn model(name: &str) -> Program {
    let path = format!("{}/models/{name}.pal", env!("CARGO_MANIFEST_DIR"));
    ProgramOptions::default().read(&path).unwrap_or_else(|error| panic!("{}", error.render(false))).program
}

/// Models whose nets, or whose values, take long with several copies of every thread, and so does
/// `spsc-ring`.
const LARGE: [&str; 5] = ["chase-lev", "cilk-the", "mcs-lock", "michael-scott-queue", "slab-slot"];

/// Searches and nets in turn report what nets alone report, and show it in no more steps.
#[test]
fn models_with_two_and_three_copies_of_each_thread() {
    let folder = std::fs::read_dir(format!("{}/models", env!("CARGO_MANIFEST_DIR"))).expect("there are models");
    let names: Vec<String> = folder
        .filter_map(|entry| entry.expect("the entry can be read").file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".pal")?.to_owned()))
        .filter(|name| !LARGE.iter().any(|large| name.starts_with(large)) && name != "spsc-ring")
        .collect();
    let not_robust = names.par_iter().flat_map(|name| [(name, 2), (name, 3)]).filter(|(name, copies)| {
        let mut program = model(name);
        program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Exactly(*copies));
        let decided = check(&program, &CheckOptions::default()).expect("nothing is faulty");
        let on_nets = check(&program, &CheckOptions { nets: true, ..CheckOptions::default() });
        let on_nets = on_nets.expect("nothing is faulty");
        assert_eq!(decided.verdict, on_nets.verdict, "{name} × {copies}");
        if let (Some(decided), Some(on_nets)) = (&decided.violation, &on_nets.violation) {
            assert_eq!(decided.attack, on_nets.attack, "{name} × {copies}");
            assert_eq!(decided.instance, on_nets.instance, "{name} × {copies}");
            assert!(decided.steps.len() <= on_nets.steps.len(), "{name} × {copies}");
        }
        decided.violation.is_some()
    });
    assert!(not_robust.count() > 30);
}

/// More copies than the ω-search gets to: the ticket that wraps shows only with one copy more than
/// there are tickets.
#[test]
fn tickets_of_two_bits_take_five_copies() {
    let mut program = model("ticket-lock");
    if let Some(domain) = &mut program.domain {
        domain.high = 3;
    }
    let checked = check(&program, &CheckOptions::default()).expect("nothing is faulty");
    assert_eq!(checked.verdict, Verdict::NotRobust);
    let violation = checked.violation.expect("a violation");
    assert_eq!(violation.instance.counts(), [5]);
    assert!(violation.instance_minimal);
    let decided = checked.attacks.iter().find(|report| report.outcome == AttackOutcome::Feasible).expect("an attack");
    assert_ne!(decided.strategy, "small-instances");
}

/// The proofs about nets of a robust program, by attack.
fn proofs(certificate: &RobustCertificate) -> Vec<(usize, &AttackNetProof)> {
    let mut proofs = Vec::new();
    for (number, attack) in certificate.attacks.iter().enumerate() {
        if let AttackReason::Net(proof) = &attack.reason {
            proofs.push((number, proof));
        }
    }
    proofs
}

/// Programs that are robust by proofs about nets, with their certificates.
fn certified(first_seed: u64) -> impl Iterator<Item = (Program, RobustCertificate)> {
    let shape = Shape { fences: 25, total_labels: 8, ..Shape::default() };
    (first_seed..).filter_map(move |seed| {
        let mut program = random::program(seed, &shape);
        if seed % 2 == 0 {
            program.threads[0].copies = Copies::Any;
        }
        let options = CheckOptions { prune: false, nets: true, ..CheckOptions::default() };
        let checked: Check<'_> = check(&program, &options).ok()?;
        let certificate = certificate(&program, &checked)?;
        (!proofs(&certificate).is_empty()).then(|| (program.clone(), certificate))
    })
}

/// The certificate with a change in the proof of one attack.
fn with(certificate: &RobustCertificate, attack: usize, change: impl Fn(&mut AttackNetProof)) -> RobustCertificate {
    let mut changed = certificate.clone();
    if let AttackReason::Net(proof) = &mut changed.attacks[attack].reason {
        change(proof);
    }
    changed
}

#[test]
fn facts_are_places_and_each_is_listed_once() {
    let programs = if is_long_run() { 500 } else { 4 };
    let mut met = 0;
    for (program, certificate) in certified(0).take(programs) {
        for (attack, proof) in proofs(&certificate) {
            let rejected = |change: &dyn Fn(&mut AttackNetProof)| {
                let changed = with(&certificate, attack, change);
                let verdict = check_robust_certificate(&program, &changed);
                assert!(verdict.is_err(), "{changed:?} of {program:?}");
            };
            rejected(&|proof| proof.places.push(Fact::Memory(i64::MAX, i64::MAX)));
            rejected(&|proof| proof.places.push(Fact::Gone(i64::MIN)));
            if let Some(fact) = proof.places.first() {
                rejected(&|proof| proof.places.push(fact.clone()));
                rejected(&|proof| drop(proof.places.pop()));
            }
            met += 1;
        }
    }
    assert!(met > programs, "{met} proofs");
}

/// No attack is infeasible for no reason.
#[test]
fn empty_proofs_prove_nothing() {
    for (program, certificate) in certified(10_000).take(if is_long_run() { 100 } else { 30 }) {
        for (attack, _) in proofs(&certificate) {
            let nothing = NetCertificate::Downward { markings: Vec::new() };
            let changed = with(&certificate, attack, |proof| {
                *proof = AttackNetProof { places: Vec::new(), certificate: nothing.clone() };
            });
            assert!(check_robust_certificate(&program, &changed).is_err(), "{program:?}");
        }
    }
}

/// The certificate of a robust program, shown for one that lacks a fence and is not robust: whether
/// there was one.
fn is_rejected_without_a_fence(seed: u64) -> bool {
    let program = random::program(seed, &Shape { fences: 25, sections: 0, rmws: 0, ..Shape::default() });
    let mut weaker = program.clone();
    let mut instructions = weaker.threads.iter_mut().flat_map(|thread| &mut thread.instructions);
    let Some(fence) = instructions.find(|instruction| instruction.action == Action::Fence) else { return false };
    fence.action = Action::Nop;
    let not_robust = |checked: Check<'_>| checked.verdict == Verdict::NotRobust;
    if !check(&weaker, &CheckOptions::default()).is_ok_and(not_robust) {
        return false;
    }
    let options = CheckOptions { prune: false, nets: true, ..CheckOptions::default() };
    let Some(certificate) = check(&program, &options).ok().and_then(|checked| certificate(&program, &checked)) else {
        return false;
    };
    assert!(check_robust_certificate(&weaker, &certificate).is_err(), "{certificate:?} for {weaker:?}");
    true
}

#[test]
fn no_certificate_is_accepted_for_a_program_that_is_not_robust() {
    let seeds = seeds(1_800, 18_000);
    let wanted = seeds.end / 600;
    let met = seeds.into_par_iter().filter(|seed| is_rejected_without_a_fence(20_000 + seed)).count();
    assert!(met as u64 > wanted, "{met} pairs of programs");
}
