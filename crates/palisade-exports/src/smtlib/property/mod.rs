//! The proof obligations of closed sets of configurations with store buffers, over linear integer
//! arithmetic.
//!
//! A state of a script is a configuration of the sliced program: the values of the addresses, the
//! lock, and how many threads are in each of the evidence's local states. Registers and buffers are
//! part of these, so that each [`moves::Move`] of a thread has fixed values: a load makes one for
//! each value that its address has in the set. The scripts say that an initial configuration is
//! outside of the set, that a step leads out of it, and that a step from it meets a target.

mod local;
mod moves;

use super::Script;
use super::program::program_scripts;
use super::terms::{comment, conjunction, disjunction, equal, integer, line, negation, sum};
use local::{Locals, To};
use moves::Move;
use palisade_evidence::{
    BufferConfiguration, BufferInvariant, PropertyEvidence, PropertyReason, RobustCertificate, Tokens,
};
use palisade_model::program::{Action, Copies, InstructionId, Program, Value};
use palisade_semantics::{Model, Target};
use palisade_verify::{CheckFailure, enriched_program_of, stands_without_counters};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the stores of a thread reach memory in the order of their issue, whatever their
/// addresses.
fn orders_stores(model: Model) -> bool {
    model != Model::Pso
}

/// The obligations of each proof, numbered from 1; its ids must be those of the program. Those
/// about an enriched program are about the one that the checker makes. Proofs by values, snapshots,
/// counters or robustness against PSO, those about final states, and sets closed up to shifts of
/// counters have none.
pub fn property_scripts(program: &Program, evidence: &PropertyEvidence) -> Result<Vec<Script>, CheckFailure> {
    let mut scripts = Vec::new();
    for (proof, number) in evidence.proofs.iter().zip(1..) {
        if proof.targets.contains(&Target::FinalStates) {
            continue;
        }
        let targets = &proof.targets;
        let sliced = sliced(program, &proof.slice);
        let own = match &proof.reason {
            PropertyReason::Buffers(_) if !stands_without_counters(program, None, evidence.model, proof) => continue,
            PropertyReason::Buffers(set) => closed_set_scripts(&sliced, evidence.model, targets, set),
            PropertyReason::Robust { certificate, sc } => robust_scripts(&sliced, targets, certificate, sc)?,
            PropertyReason::Enriched { certificate, sc, .. } => {
                let made = enriched_program_of(program, proof)?;
                let (enriched, targets) = made.expect("the proof is about an enriched program");
                robust_scripts(&enriched, &targets, certificate, sc)?
            }
            PropertyReason::Values(_)
            | PropertyReason::Snapshots(_)
            | PropertyReason::Counters { .. }
            | PropertyReason::Pso { .. } => continue,
        };
        scripts.extend(
            own.into_iter()
                .map(|script| Script { obligation: format!("proof-{number}.{}", script.obligation), ..script }),
        );
    }
    Ok(scripts)
}

/// The obligations of robustness with a closed set of interleavings.
fn robust_scripts(
    program: &Program,
    targets: &[Target],
    certificate: &RobustCertificate,
    sc: &BufferInvariant,
) -> Result<Vec<Script>, CheckFailure> {
    let robust = program_scripts(program, certificate)?.into_iter();
    let robust = robust.map(|script| Script { obligation: format!("robust.{}", script.obligation), ..script });
    Ok(robust.chain(closed_set_scripts(program, Model::Sc, targets, sc)).collect())
}

/// The program without what a slice leaves out.
fn sliced(program: &Program, slice: &[Vec<InstructionId>]) -> Program {
    let mut sliced = program.clone();
    for (thread, instructions) in sliced.threads.iter_mut().zip(slice) {
        for instruction in instructions {
            let action = &mut thread.instructions[instruction.index()].action;
            *action =
                if matches!(action, Action::Cas { .. } | Action::Rmw { .. }) { Action::Fence } else { Action::Nop };
        }
    }
    sliced
}

/// The three obligations of a closed set.
fn closed_set_scripts(program: &Program, model: Model, targets: &[Target], set: &BufferInvariant) -> Vec<Script> {
    let writer = Writer::new(program, model, targets, set);

    let mut initial = writer.head("initial", "an initial configuration outside of the set", &[""]);
    line(&mut initial, &format!("(assert {})", writer.is_initial()));
    line(&mut initial, &format!("(assert {})", negation(&writer.invariant(""))));

    let mut inductive = writer.head("inductive", "a step that leaves the set", &["", "_"]);
    line(&mut inductive, &format!("(assert {})", writer.invariant("")));
    writer.assert_step(&mut inductive);
    line(&mut inductive, &format!("(assert {})", negation(&writer.invariant("_"))));

    let mut safe = writer.head("safe", "a step from the set that meets a target", &[""]);
    line(&mut safe, &format!("(assert {})", writer.invariant("")));
    let meeting = writer.moves.iter().filter(|own| own.to == To::Target);
    line(&mut safe, &format!("(assert {})", disjunction(meeting.map(|own| writer.is_enabled(own)))));

    [("initial", initial), ("inductive", inductive), ("safe", safe)]
        .into_iter()
        .map(|(obligation, mut text)| {
            line(&mut text, "(check-sat)");
            Script { obligation: obligation.to_owned(), text }
        })
        .collect()
}

/// Writes the parts of the scripts about one set. The variable `n3` is the number of threads in
/// local state 3, `m1` the value of the address at position 1; a further `_` marks what holds after
/// a step.
struct Writer<'a> {
    program: &'a Program,
    set: &'a BufferInvariant,
    /// The addresses that the set or a move speaks of, in order.
    addresses: Vec<Value>,
    moves: Vec<Move>,
    /// Where each thread starts.
    starts: Vec<Vec<To>>,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, model: Model, targets: &'a [Target], set: &'a BufferInvariant) -> Self {
        let locals = Locals::new(program, model, targets, set);
        let mut values: BTreeMap<Value, BTreeSet<Value>> = BTreeMap::new();
        for (address, value) in set.memories.iter().flatten() {
            values.entry(*address).or_insert_with(|| BTreeSet::from([program.initial_value(*address)])).insert(*value);
        }
        let moves = moves::moves(&locals, &values);
        let written = moves.iter().filter_map(|own| own.write.map(|(address, _)| address));
        let addresses: BTreeSet<Value> = values.keys().copied().chain(written).collect();
        let starts = program.thread_ids().map(|(id, _)| locals.starts(id)).collect();
        Self { program, set, addresses: addresses.into_iter().collect(), moves, starts }
    }

    /// Comment, logic and the variables of states.
    fn head(&self, obligation: &str, what: &str, suffixes: &[&str]) -> String {
        let mut text = format!("; {obligation}: unsat iff there is not {what}\n(set-logic QF_LIA)\n");
        for suffix in suffixes {
            for (position, address) in self.addresses.iter().enumerate() {
                let name = comment(&self.program.address_name(*address));
                line(&mut text, &format!("(declare-const m{position}{suffix} Int) ; {name}"));
            }
            line(&mut text, &format!("(declare-const locked{suffix} Bool)"));
            line(&mut text, &format!("(declare-const outside{suffix} Bool)"));
            for number in 0..self.set.locals.len() {
                line(&mut text, &format!("(declare-const n{number}{suffix} Int) ; {}", self.local_words(number)));
                line(&mut text, &format!("(assert (>= n{number}{suffix} 0))"));
            }
        }
        text
    }

    /// A local state as a comment.
    fn local_words(&self, number: usize) -> String {
        let local = &self.set.locals[number];
        let thread = self.program.thread(local.thread);
        let label = local.label.map_or("stopped", |label| &thread.label(label).name);
        let words = format!("{} {label} {:?} {:?}", thread.name, local.registers, local.buffer);
        comment(&if local.holding { format!("{words} holding") } else { words })
    }

    /// The set as a predicate.
    fn invariant(&self, suffix: &str) -> String {
        let elements = self.set.configurations.iter().map(|configuration| self.element(configuration, suffix));
        conjunction([negation(&format!("outside{suffix}")), disjunction(elements)])
    }

    fn element(&self, configuration: &BufferConfiguration, suffix: &str) -> String {
        let memory = &self.set.memories[configuration.memory as usize];
        let values = self.addresses.iter().enumerate().map(|(position, address)| {
            let listed = memory.iter().find(|(own, _)| own == address).map(|(_, value)| *value);
            let value = listed.unwrap_or_else(|| self.program.initial_value(*address));
            equal(format!("m{position}{suffix}"), integer(value))
        });
        let lock = format!("locked{suffix}");
        let lock = if configuration.locked { lock } else { negation(&lock) };
        let counts = (0..self.set.locals.len()).filter_map(|number| {
            let listed = configuration.tokens.iter().find(|(local, _)| *local as usize == number);
            match listed.map(|(_, tokens)| tokens) {
                Some(Tokens::Omega) => None,
                Some(Tokens::Finite(count)) => Some(format!("(<= n{number}{suffix} {count})")),
                None => Some(equal(format!("n{number}{suffix}"), 0)),
            }
        });
        conjunction(values.chain([lock]).chain(counts).collect::<Vec<_>>())
    }

    /// The copies of each thread are where it starts, in any way to split them.
    fn is_initial(&self) -> String {
        let mut conditions = vec![negation("locked")];
        for (position, address) in self.addresses.iter().enumerate() {
            conditions.push(equal(format!("m{position}"), integer(self.program.initial_value(*address))));
        }
        let mut may_leave = false;
        let mut started = BTreeSet::new();
        for ((_, thread), starts) in self.program.thread_ids().zip(&self.starts) {
            let own: BTreeSet<usize> = starts.iter().filter_map(To::local).collect();
            started.extend(own.iter().copied());
            let total = sum(own.iter().map(|number| format!("n{number}")));
            let runs = thread.copies != Copies::Exactly(0);
            let is_left_out = starts.contains(&To::Nowhere) || starts.iter().any(|to| to.is_outside());
            match thread.copies {
                Copies::Exactly(count) if is_left_out => conditions.push(format!("(<= {total} {count})")),
                Copies::Exactly(count) => conditions.push(equal(total, count)),
                Copies::Any => {}
            }
            // Some copy may start where the set has no local state, or meet a target at once.
            may_leave |= runs && starts.iter().any(|to| to.is_outside());
        }
        let others = (0..self.set.locals.len()).filter(|number| !started.contains(number));
        conditions.extend(others.map(|number| equal(format!("n{number}"), 0)));
        conditions.extend((!may_leave).then(|| negation("outside")));
        conjunction(conditions)
    }

    /// A thread can take a move.
    fn is_enabled(&self, own: &Move) -> String {
        let there = format!("(>= n{} 1)", own.from);
        let free = (!self.set.locals[own.from].holding).then(|| negation("locked"));
        let reads = own.reads.iter().map(|(address, value)| match self.position(*address) {
            Some(position) => equal(format!("m{position}"), integer(*value)),
            None => (*value == self.program.initial_value(*address)).to_string(),
        });
        conjunction([there].into_iter().chain(free).chain(reads).collect::<Vec<_>>())
    }

    fn position(&self, address: Value) -> Option<usize> {
        self.addresses.binary_search(&address).ok()
    }

    /// Asserts that there is a step from the state to the one after it.
    fn assert_step(&self, text: &mut String) {
        line(text, "(declare-const move Int)");
        let is = |number: usize| equal("move", number);
        let stepping: Vec<(usize, &Move)> = self.moves.iter().filter(|own| own.to != To::Target).enumerate().collect();
        line(text, &format!("(assert (and (<= 0 move) (< move {})))", stepping.len()));
        for (number, own) in &stepping {
            line(text, &format!("; {}", comment(&own.words)));
            line(text, &format!("(assert (=> {} {}))", is(*number), self.is_enabled(own)));
        }
        let those = |wanted: &dyn Fn(&Move) -> bool| {
            disjunction(stepping.iter().filter(|(_, own)| wanted(own)).map(|(number, _)| is(*number)))
        };
        line(text, &format!("(assert {})", equal("outside_", those(&|own| own.to.is_outside()))));
        let (takes, gives) = (those(&|own| own.lock == Some(true)), those(&|own| own.lock == Some(false)));
        line(text, &format!("(assert (= locked_ (ite {takes} true (ite {gives} false locked))))"));
        for (position, address) in self.addresses.iter().enumerate() {
            let mut after = format!("m{position}");
            let values: BTreeSet<Value> =
                stepping.iter().filter_map(|(_, own)| own.write).filter(|it| it.0 == *address).map(|it| it.1).collect();
            for value in values {
                let writes = those(&|own| own.write == Some((*address, value)));
                after = format!("(ite {writes} {} {after})", integer(value));
            }
            line(text, &format!("(assert (= m{position}_ {after}))"));
        }
        for number in 0..self.set.locals.len() {
            let comes = those(&|own| own.to == To::Local(number) && own.from != number);
            let goes = those(&|own| own.from == number && own.to != To::Local(number));
            line(text, &format!("(assert (= n{number}_ (+ n{number} (ite {comes} 1 0) (ite {goes} (- 1) 0))))"));
        }
    }
}
