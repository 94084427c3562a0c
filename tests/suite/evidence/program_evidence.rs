//! Program certificates of random robust programs: those of the engine are accepted, corrupted ones
//! rejected, each kind of corruption a thousand times.
//!
//! Why each corruption must be fatal:
//!
//! - *element dropped*: the engine keeps configurations that are reachable (for any number of
//!   threads: whose down-set is approximated by reachable ones), and every closed set that contains
//!   the initial configurations covers all of those. So a set without one that no other element
//!   covers is no certificate. Excepted are configurations that sets may leave out: those whose
//!   attacker has nothing left but instructions that need an empty buffer;
//! - *count lowered, ω removed*: likewise, the lowered element no longer covers what the old one
//!   did;
//! - *another attack's certificate*: the set of one store given to another one, when it does not
//!   cover some configuration of that store;
//! - *another program's certificate*: the certificate of a robust program, shown for a program that
//!   differs in one instruction and is not robust, as a TSO computation shows that replays with its
//!   cycle;
//! - *cut changed*: the labels of a cut are the least ones that are closed, so that none can be
//!   left out, and an attack that control flow does not rule out has no cut;
//! - *live register removed*: the live registers are the least solution;
//! - *truncated*: a JSON document without its end is none.

use crate::checked::check;
use crate::environment::is_long_run;
use palisade::evidence::{
    AttackReason, DelayedConfiguration, Evidence, HelpedConfiguration, LocalIndex, ProgramSubject, RobustCertificate,
    ScConfiguration, Tokens,
};
use palisade::program::{Action, Copies, Expression, LabelId, Program, ThreadId};
use palisade::robustness::{CheckOptions, Verdict, certificate, witness_evidence};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::verify::{check_program_evidence, check_robust_certificate, check_witness};

/// Every kind of corruption is met so often.
fn enough() -> usize {
    if is_long_run() { 1000 } else { 250 }
}

/// Programs with so many labels and some fences.
fn shape(total_labels: usize) -> Shape {
    Shape { fences: 20, total_labels, ..Shape::default() }
}

/// Random robust programs with their certificates.
fn certified(first_seed: u64, shape: Shape, any: bool) -> impl Iterator<Item = (Program, RobustCertificate)> {
    (first_seed..).filter_map(move |seed| {
        let mut program = random::program(seed, &shape);
        if any {
            program.threads[0].copies = Copies::Any;
        }
        let checked = check(&program, &CheckOptions::default()).ok()?;
        if checked.verdict != Verdict::Robust {
            return None;
        }
        let certificate = certificate(&program, &checked)?;
        assert_eq!(check_robust_certificate(&program, &certificate), Ok(()), "{program:?}");
        Some((program, certificate))
    })
}

/// Tokens that have not joined the happens-before path.
fn not_joined(tokens: &[(LocalIndex, Tokens)]) -> Vec<((u32, bool), Tokens)> {
    tokens.iter().map(|(local, count)| ((*local, false), *count)).collect()
}

/// Changes the count of one local state, or takes it out.
fn set_count(tokens: &mut Vec<(LocalIndex, Tokens)>, index: usize, count: Option<Tokens>) {
    match count {
        Some(count) => tokens[index].1 = count,
        None => drop(tokens.remove(index)),
    }
}

/// A configuration of any phase, its tokens apart.
trait Element: Clone {
    /// The tokens.
    fn tokens(&self) -> Vec<((u32, bool), Tokens)>;
    /// Changes the count of one local state, or takes it out.
    fn set(&mut self, index: usize, count: Option<Tokens>);
    /// Whether everything but the tokens is the same.
    fn same_control(&self, other: &Self) -> bool;
    /// Whether sets may leave it out.
    fn is_optional(&self, _program: &Program, _thread: ThreadId) -> bool {
        false
    }
}

impl Element for ScConfiguration {
    fn tokens(&self) -> Vec<((u32, bool), Tokens)> {
        not_joined(&self.tokens)
    }
    fn set(&mut self, index: usize, count: Option<Tokens>) {
        set_count(&mut self.tokens, index, count);
    }
    fn same_control(&self, other: &Self) -> bool {
        (self.memory, self.locked) == (other.memory, other.locked)
    }
}

impl Element for DelayedConfiguration {
    fn tokens(&self) -> Vec<((u32, bool), Tokens)> {
        not_joined(&self.tokens)
    }
    fn set(&mut self, index: usize, count: Option<Tokens>) {
        set_count(&mut self.tokens, index, count);
    }
    fn same_control(&self, other: &Self) -> bool {
        (self.memory, self.locked, &self.attacker) == (other.memory, other.locked, &other.attacker)
    }
    fn is_optional(&self, program: &Program, thread: ThreadId) -> bool {
        let mut here = program.thread(thread).instructions.iter().filter(|own| own.source == self.attacker.label);
        here.all(|own| own.action.drains_buffer() || own.action == Action::Fail)
    }
}

impl Element for HelpedConfiguration {
    fn tokens(&self) -> Vec<((u32, bool), Tokens)> {
        self.tokens.iter().map(|(local, joined, count)| ((*local, *joined), *count)).collect()
    }
    fn set(&mut self, index: usize, count: Option<Tokens>) {
        match count {
            Some(count) => self.tokens[index].2 = count,
            None => drop(self.tokens.remove(index)),
        }
    }
    fn same_control(&self, other: &Self) -> bool {
        let control = |own: &Self| (own.memory, own.locked, own.store_address, own.levels.clone(), own.section.clone());
        control(self) == control(other)
    }
}

fn is_covered<C: Element>(element: &C, by: &C) -> bool {
    element.same_control(by)
        && element.tokens().iter().all(|(local, count)| {
            by.tokens().iter().any(|(other, upper)| {
                local == other
                    && match (count, upper) {
                        (_, Tokens::Omega) => true,
                        (Tokens::Finite(count), Tokens::Finite(upper)) => count <= upper,
                        (Tokens::Omega, Tokens::Finite(_)) => false,
                    }
            })
        })
}

/// Whether the configuration at `index` is needed in the set.
fn is_needed<C: Element>(set: &[C], index: usize, program: &Program, thread: ThreadId) -> bool {
    !set[index].is_optional(program, thread)
        && !set.iter().enumerate().any(|(other, by)| other != index && is_covered(&set[index], by))
}

/// Counters of corruptions met.
#[derive(Default, Debug)]
struct Met {
    dropped: usize,
    lowered: usize,
    omega_removed: usize,
}

/// Corrupts a needed element of one of the certificate's sets, which `set_of` finds, and sees it
/// rejected.
fn corrupt<C: Element>(
    program: &Program,
    certificate: &RobustCertificate,
    thread: ThreadId,
    set_of: impl Fn(&mut RobustCertificate) -> &mut Vec<C>,
    random: &mut Randomness,
    met: &mut Met,
) {
    let set = set_of(&mut certificate.clone()).clone();
    if set.is_empty() {
        return;
    }
    let index = random.below(set.len());
    if !is_needed(&set, index, program, thread) {
        return;
    }
    let rejected = |change: &dyn Fn(&mut Vec<C>), what: &str| {
        let mut corrupted = certificate.clone();
        change(set_of(&mut corrupted));
        let verdict = check_robust_certificate(program, &corrupted);
        assert!(verdict.is_err(), "{what} {index}: {corrupted:?} from {certificate:?} of {program:?}");
    };
    rejected(&|set| drop(set.remove(index)), "dropped");
    met.dropped += 1;
    for (position, (_, count)) in set[index].tokens().into_iter().enumerate() {
        let (lower, counter) = match count {
            Tokens::Omega => (
                Some(Tokens::Finite(1 + u64::try_from(random.below(20)).expect("a small number"))),
                &mut met.omega_removed,
            ),
            Tokens::Finite(1) => (None, &mut met.lowered),
            Tokens::Finite(count) => (Some(Tokens::Finite(count - 1)), &mut met.lowered),
        };
        // The lowered element is there besides the others: what the old one covered must not be
        // covered by them.
        rejected(&|set| set[index].set(position, lower), "lowered");
        *counter += 1;
    }
}

fn corrupt_everywhere(program: &Program, certificate: &RobustCertificate, random: &mut Randomness, met: &mut [Met; 3]) {
    let first = ThreadId::from_index(0);
    if certificate.attacks.iter().all(|attack| attack.reason != AttackReason::Infeasible) {
        return;
    }
    corrupt(program, certificate, first, |certificate| &mut certificate.sc, random, &mut met[0]);
    for set in 0..certificate.delayed.len() {
        let thread = certificate.delayed[set].thread;
        corrupt(program, certificate, thread, |own| &mut own.delayed[set].configurations, random, &mut met[1]);
    }
    for set in 0..certificate.helped.len() {
        let thread = certificate.helped[set].thread;
        corrupt(program, certificate, thread, |own| &mut own.helped[set].configurations, random, &mut met[2]);
    }
}

#[test]
fn elements_dropped_and_counts_lowered() {
    let mut random = Randomness::new(31);
    let mut met = [Met::default(), Met::default(), Met::default()];
    for (program, certificate) in certified(0, shape(8), false) {
        if met.iter().all(|met| met.dropped >= enough() && met.lowered >= enough()) {
            return;
        }
        corrupt_everywhere(&program, &certificate, &mut random, &mut met);
    }
}

#[test]
fn omegas_removed() {
    let mut random = Randomness::new(32);
    let mut met = [Met::default(), Met::default(), Met::default()];
    for (program, certificate) in certified(50_000, shape(6), true) {
        if met.iter().map(|met| met.omega_removed).sum::<usize>() >= enough() {
            return;
        }
        corrupt_everywhere(&program, &certificate, &mut random, &mut met);
    }
}

#[test]
fn cuts_live_registers_and_attacks_changed() {
    let mut random = Randomness::new(33);
    let (mut cuts, mut unpruned, mut live, mut other_attack, mut attacks) = (0, 0, 0, 0, 0);
    for (program, certificate) in certified(100_000, shape(8), false) {
        if [cuts, unpruned, live, other_attack, attacks].iter().all(|count| *count >= enough()) {
            return;
        }
        let rejected = |change: &dyn Fn(&mut RobustCertificate)| {
            let mut corrupted = certificate.clone();
            change(&mut corrupted);
            let verdict = check_robust_certificate(&program, &corrupted);
            assert!(verdict.is_err(), "{corrupted:?} from {certificate:?} of {program:?}");
        };
        for (number, attack) in certificate.attacks.iter().enumerate() {
            let labels = program.thread(attack.thread).labels.len();
            match &attack.reason {
                AttackReason::Pruned { reachable } => {
                    let out = random.below(reachable.len());
                    rejected(&|certificate| {
                        if let AttackReason::Pruned { reachable } = &mut certificate.attacks[number].reason {
                            reachable.remove(out);
                        }
                    });
                    cuts += 1;
                }
                AttackReason::Infeasible | AttackReason::Net(_) => {
                    let reachable: Vec<LabelId> =
                        (0..labels).filter(|_| random.below(3) > 0).map(LabelId::from_index).collect();
                    rejected(&|certificate| {
                        certificate.attacks[number].reason = AttackReason::Pruned { reachable: reachable.clone() };
                    });
                    unpruned += 1;
                }
            }
        }
        if !certificate.attacks.is_empty() {
            let number = random.below(certificate.attacks.len());
            rejected(&|certificate| drop(certificate.attacks.remove(number)));
            attacks += 1;
        }
        for (thread, labels) in certificate.live.iter().enumerate() {
            for (label, registers) in labels.iter().enumerate() {
                if !registers.is_empty() {
                    let out = random.below(registers.len());
                    rejected(&|certificate| {
                        certificate.live[thread][label].remove(out);
                    });
                    live += 1;
                }
            }
        }
        for from in 0..certificate.delayed.len() {
            for to in 0..certificate.delayed.len() {
                let (given, own) = (&certificate.delayed[from], &certificate.delayed[to]);
                let is_missing = |index: usize| {
                    let element = &own.configurations[index];
                    is_needed(&own.configurations, index, &program, own.thread)
                        && !given.configurations.iter().any(|by| is_covered(element, by))
                };
                if given.thread == own.thread && (0..own.configurations.len()).any(is_missing) {
                    rejected(&|certificate| {
                        certificate.delayed[to].configurations = certificate.delayed[from].configurations.clone();
                    });
                    other_attack += 1;
                }
            }
        }
    }
}

/// The program with one instruction changed: a fence left out, or another address or value
/// accessed.
fn changed(program: &Program, random: &mut Randomness) -> Program {
    let mut program = program.clone();
    let thread = random.below(program.threads.len());
    let instructions = &mut program.threads[thread].instructions;
    if instructions.is_empty() {
        return program;
    }
    let instruction = random.below(instructions.len());
    let other = Expression::Constant(1 + i64::try_from(random.below(2)).expect("a small number"));
    match &mut instructions[instruction].action {
        action @ Action::Fence => *action = Action::Nop,
        Action::Store { address, .. } | Action::Load { address, .. } => *address = other,
        action @ (Action::Cas { .. } | Action::Rmw { .. }) => {
            *action = Action::Store { address: other, value: Expression::Constant(1) };
        }
        _ => {}
    }
    program
}

#[test]
fn certificates_of_other_programs_and_truncated_texts() {
    let mut random = Randomness::new(34);
    let enough = if is_long_run() { enough() } else { enough() / 8 };
    let (mut others, mut truncated) = (0, 0);
    for (program, certificate) in certified(200_000, shape(7), false) {
        if others >= enough && truncated >= enough {
            return;
        }
        for _ in 0..8 {
            let other = changed(&program, &mut random);
            let Ok(checked) = check(&other, &CheckOptions::default()) else { continue };
            let Some(violation) = &checked.violation else { continue };
            assert_eq!(check_witness(&other, &witness_evidence(violation)), Ok(()), "{other:?}");
            assert!(check_robust_certificate(&other, &certificate).is_err(), "{certificate:?} of {other:?}");
            others += 1;
        }
        if truncated < enough {
            let evidence = Evidence::Robust(ProgramSubject::of(&program, "native", &[]), certificate);
            let text = evidence.to_text();
            let read = Evidence::read(text.as_bytes()).unwrap();
            assert_eq!(check_program_evidence(&program, &read), Ok(()));
            assert_eq!(read.to_text(), text);
            for _ in 0..4 {
                let length = random.below(text.len() - 1);
                assert!(Evidence::read(&text.as_bytes()[..length]).is_err(), "{text} cut after {length} bytes");
                truncated += 1;
            }
        }
    }
}
