//! Delays that are accepted: random programs are robust but for some delays only if every execution
//! that no interleaving explains has one of them. An enumeration of all executions without these
//! delays, which knows nothing of attacks, says whether there is another one.

use crate::{checked, environment};
use palisade::program::{AcceptedDelay, Action, InstructionId, Program};
use palisade::robustness::{CheckOptions, Verdict, attacks, witness_evidence};
use palisade::semantics::random::{self, Randomness, Shape};
use palisade::semantics::{Effect, Event, Instance, Machine, Model, State, TraceBuilder, is_cyclic};
use palisade::text::{Origin, SourceText, Span};
use palisade::verify::check_witness;
use std::collections::{HashSet, VecDeque};
use std::fmt::Write;
use std::sync::Arc;

/// The program as a listing, in which each instruction has a place of its own.
pub(crate) fn listed(mut program: Program) -> Program {
    let (mut text, mut origins) = (String::new(), Vec::new());
    for (number, instruction) in program.threads.iter_mut().flat_map(|thread| &mut thread.instructions).enumerate() {
        let start = text.len();
        let _ = writeln!(text, "{number:x}  instruction  p{number}");
        instruction.span = Span { start, end: text.len() - 1 };
        let place = format!("p{number}");
        origins.push((start, Arc::new(Origin { place, position: None, at_hand: None, text: None, obstacle: None })));
    }
    program.source = SourceText::listing("random", text, origins);
    program
}

/// Accepts some delays at random.
fn accepting(program: Program, random: &mut Randomness) -> Program {
    let mut program = listed(program);
    let place = |span: Span| program.source.origin(span).expect("all have one").place.clone();
    let mut accepted = Vec::new();
    for thread in &program.threads {
        let of = |wanted: fn(&Action) -> bool| thread.instructions.iter().filter(move |own| wanted(&own.action));
        for store in of(|action| matches!(action, Action::Store { .. })) {
            for load in of(|action| matches!(action, Action::Load { .. })) {
                if random.percent(60) {
                    accepted.push(AcceptedDelay { store: place(store.span), load: place(load.span) });
                }
            }
        }
    }
    program.accepted = accepted;
    program
}

/// The executions so far, each with the stores that wait.
struct Point {
    state: State,
    builder: TraceBuilder,
    pending: Vec<VecDeque<InstructionId>>,
}

/// Whether an execution without the accepted delays has a trace that no interleaving has; nothing
/// where a value is missing.
fn has_another(program: &Program, instance: &Instance) -> Option<bool> {
    let machine = Machine::new(program, instance, Model::Tso);
    let copies = machine.copies().len();
    let start = Point {
        state: machine.initial_state(),
        builder: TraceBuilder::new(copies),
        pending: vec![VecDeque::new(); copies],
    };
    let (mut met, mut open) = (HashSet::new(), vec![start]);
    while let Some(Point { state, builder, pending }) = open.pop() {
        if is_cyclic(&builder.finished()) {
            return Some(true);
        }
        for position in 0..copies {
            let mut events: Vec<Event> = Vec::new();
            machine.events(&state, position, &mut events).ok()?;
            for event in events {
                let thread = machine.thread(position);
                let own = event.step.kind.instruction();
                if let (Effect::Load { .. }, Some(load)) = (event.effect, own)
                    && let mut stores = pending[position].iter()
                    && stores.any(|store| program.accepts(thread.instruction(*store), thread.instruction(load)))
                {
                    continue;
                }
                let mut next = Point {
                    state: machine.successor(&state, &event),
                    builder: builder.clone(),
                    pending: pending.clone(),
                };
                next.builder.record(&machine, &event);
                match (event.effect, own) {
                    (Effect::Issue { .. }, Some(store)) => next.pending[position].push_back(store),
                    (Effect::Store { .. }, None) => _ = next.pending[position].pop_front(),
                    _ => {}
                }
                let key = (next.state.clone(), next.builder.unfinished().canonical_form(), next.pending.clone());
                if met.insert(key) {
                    open.push(next);
                }
            }
        }
    }
    Some(false)
}

#[test]
fn what_is_robust_but_for_delays_needs_them() {
    let shape = Shape { copies: 3, labels: 4, total_labels: 7, overtaken: 70, fences: 3, rmws: 5, ..Shape::default() };
    let (mut robust_but_for, mut not_robust) = (0, 0);
    for seed in 0..if environment::is_long_run() { 20_000 } else { 250 } {
        let program = accepting(random::program(seed, &shape), &mut Randomness::new(seed));
        if attacks(&program).is_empty() {
            // All is accepted, and evidence about nothing is rejected.
            continue;
        }
        let options = CheckOptions { prune: false, ..CheckOptions::default() };
        let instance = Instance::of(&program).expect("random programs fix their copies");
        let whole = Program { accepted: Vec::new(), ..program.clone() };
        let Ok(of_whole) = checked::check(&whole, &options) else { continue };
        let Some(violation) = of_whole.violation.filter(|_| of_whole.verdict == Verdict::NotRobust) else { continue };
        let Ok(check) = checked::check(&program, &options) else { continue };
        match check.verdict {
            Verdict::Robust => {
                assert_ne!(has_another(&program, &instance), Some(true), "seed {seed}: {program:?}");
                // A violation by a delay that is accepted is none.
                let witness = witness_evidence(&violation);
                assert_eq!(check_witness(&whole, &witness), Ok(()), "seed {seed}");
                assert!(check_witness(&program, &witness).is_err(), "seed {seed}");
                robust_but_for += 1;
            }
            Verdict::NotRobust => {
                let attack = check.violation.expect("it is shown").attack;
                let thread = program.thread(attack.thread);
                assert!(!program.accepts(thread.instruction(attack.store), thread.instruction(attack.load)));
                not_robust += 1;
            }
            Verdict::Unknown(reason) => panic!("seed {seed}: {reason}"),
        }
    }
    println!("{robust_but_for} robust but for delays, {not_robust} not robust all the same");
    assert!(robust_but_for >= 3 && not_robust >= 3, "{robust_but_for} {not_robust}");
}
