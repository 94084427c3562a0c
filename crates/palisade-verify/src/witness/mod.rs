//! Checks that a program is not robust: replays a TSO computation, and follows its happens-before
//! cycle.
//!
//! A computation whose trace is cyclic has no SC computation with the same trace [ESOP13, Lemma 1],
//! so the replay and the cycle alone prove the violation. The form of [ESOP13, Fig. 4], (W1) to
//! (W5), is checked besides: it says that the computation shows the attack that the witness names.

mod graph;
mod happens_before;
mod pso;

pub use graph::check_graph_witness;
pub use pso::check_pso_witness;

use crate::CheckFailure;
use happens_before::{is_edge, reachable_from};
use palisade_evidence::Witness;
use palisade_invariants::reject;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Copies, InstructionId, Program};
use palisade_semantics::crowd::is_crowd;
use palisade_semantics::{
    CopyId, Edge, Effect, Event, Instance, Machine, Model, NodeId, State, StepKind, Trace, TraceBuilder,
};
use std::collections::BTreeSet;

/// Checks that `witness` is a TSO witness of `program` (with its copies and domain), so that it is
/// not robust.
pub fn check_witness(program: &Program, witness: &Witness) -> Result<(), CheckFailure> {
    check_instance(program, &witness.instance)?;
    let replayed = replay(program, witness, Model::Tso)?;
    check_crowds(witness, &replayed)?;
    check_stores(witness, &replayed)?;
    check_attack(program, witness, &replayed)?;
    check_path(witness, &replayed)?;
    check_cycle(witness, &replayed)
}

/// Checks that the instance has as many copies of each thread as the program allows.
fn check_instance(program: &Program, instance: &Instance) -> Result<(), CheckFailure> {
    let counts = instance.counts();
    if counts.len() != program.threads.len() {
        reject!(Form, "the instance counts copies of {} threads of {}", counts.len(), program.threads.len());
    }
    for (thread, count) in program.threads.iter().zip(counts) {
        if let Copies::Exactly(copies) = thread.copies
            && copies != *count
        {
            reject!(Form, "the instance has {count} copies of thread `{}`, not {copies}", thread.name);
        }
    }
    Ok(())
}

/// A replayed computation.
struct Replayed {
    /// The copies that take steps, ascending. The nodes of the trace count copies by their position
    /// here.
    copies: Vec<CopyId>,
    events: Vec<Event>,
    /// For each event, the node it belongs to: an access or the `lock` that opens a section.
    nodes: Vec<Option<NodeId>>,
    trace: Trace,
    /// Whether the attacker held the lock when it issued the first delayed store.
    attacker_held_lock: bool,
}

/// Takes every step under a model. Copies that take none change nothing, and may be many: they are
/// left out.
fn replay(program: &Program, witness: &Witness, model: Model) -> Result<Replayed, CheckFailure> {
    let is_there = |copy: &CopyId| copy.copy < witness.instance.count(copy.thread);
    let acting: BTreeSet<CopyId> = witness.steps.iter().map(|step| step.copy).filter(is_there).collect_set();
    let copies: Vec<CopyId> = acting.into_iter().collect();
    let machine = Machine::of_copies(program, copies.clone(), model);
    // Against PSO a try that fails is an event.
    let machine = if model == Model::Pso { machine } else { machine.awaiting() };
    let mut builder = TraceBuilder::new(machine.copies().len());
    let mut state = machine.initial_state();
    let (mut events, mut nodes) = (Vec::new(), Vec::new());
    let mut attacker_held_lock = false;
    for (index, step) in witness.steps.iter().enumerate() {
        let event = match machine.event(&state, *step) {
            Ok(event) => event,
            Err(refusal) => reject!(Run, "step {index} of copy {} cannot be taken: {refusal}", named(step.copy)),
        };
        if index == witness.store_step {
            attacker_held_lock = state.holder().is_some() && state.holder() == machine.position(step.copy);
        }
        machine.take(&mut state, &event);
        builder.record(&machine, &event);
        nodes.push(node_of(&machine, &builder, &event));
        events.push(event);
    }
    if let Some(position) = buffering(&state) {
        reject!(Run, "the computation ends while stores of copy {} are buffered", named(machine.copies()[position]));
    }
    Ok(Replayed { copies, events, nodes, trace: builder.finished(), attacker_held_lock })
}

/// The position of a copy with a buffered store.
fn buffering(state: &State) -> Option<usize> {
    state.threads().iter().position(|thread| !thread.buffer.is_empty())
}

/// The node that an event just recorded belongs to: the newest of its copy.
fn node_of(machine: &Machine, builder: &TraceBuilder, event: &Event) -> Option<NodeId> {
    let is_access = match event.effect {
        Effect::Load { .. } | Effect::Issue { .. } | Effect::Rmw { .. } | Effect::Lock => true,
        Effect::Store { .. } => !event.step.kind.is_flush(),
        _ => false,
    };
    let position = machine.position(event.step.copy)?;
    let index = builder.unfinished().threads()[position].len().checked_sub(1)?;
    is_access.then_some(NodeId { position, index })
}

/// Crowds stand for steps of copies that are there, before the delayed store, and the cycle does
/// not go through them: so it is one of the computation in which their copies take a step each.
fn check_crowds(witness: &Witness, replayed: &Replayed) -> Result<(), CheckFailure> {
    for (index, event) in replayed.events.iter().enumerate() {
        let StepKind::Crowd { .. } = event.step.kind else { continue };
        let copy = event.step.copy;
        if !is_crowd(&replayed.events, index, witness.instance.count(copy.thread)) {
            reject!(Run, "step {index}: not all copies of the crowd from copy {} on can take it", named(copy));
        }
        if index >= witness.store_step {
            reject!(Witness, "step {index}: a crowd moves after the delayed store");
        }
        let own = replayed.nodes[index];
        let meets = |edge: &Edge| {
            [edge.from, edge.to].into_iter().any(|node| own.is_some() && node_among(witness, replayed, node) == own)
        };
        if witness.cycle.iter().any(meets) {
            reject!(Witness, "step {index}: the cycle goes through a crowd");
        }
    }
    Ok(())
}

/// (W1): stores reach memory at once, but those of the attacker from the delayed one on.
fn check_stores(witness: &Witness, replayed: &Replayed) -> Result<(), CheckFailure> {
    for (index, event) in replayed.events.iter().enumerate() {
        let delays = event.step.copy == witness.attacker && index >= witness.store_step;
        if !delays && matches!(event.effect, Effect::Issue { .. }) {
            let next = replayed.events.get(index + 1).map(|event| event.step);
            if next.is_none_or(|step| step.copy != event.step.copy || !step.kind.is_flush()) {
                let copy = named(event.step.copy);
                reject!(Witness, "step {index}: copy {copy}, which is not the attacker, delays a store");
            }
        }
    }
    Ok(())
}

/// Whether a step is one instruction of the attacker.
fn executes(witness: &Witness, replayed: &Replayed, index: usize, instruction: InstructionId) -> bool {
    replayed.events.get(index).is_some_and(|event| {
        event.step.copy == witness.attacker
            && matches!(event.step.kind, StepKind::Execute { instruction: own, .. } if own == instruction)
    })
}

/// (W2), (W4) and (W5): what the attacker does from the delayed store on. The delay is none that
/// the program accepts.
fn check_attack(program: &Program, witness: &Witness, replayed: &Replayed) -> Result<(), CheckFailure> {
    if !executes(witness, replayed, witness.store_step, witness.store)
        || !matches!(replayed.events[witness.store_step].effect, Effect::Issue { .. })
    {
        reject!(Witness, "step {} is not the attacker's delayed store {}", witness.store_step, witness.store);
    }
    if replayed.attacker_held_lock {
        reject!(Witness, "step {}: the delayed store is in a locked section", witness.store_step);
    }
    if witness.load_step <= witness.store_step || !executes(witness, replayed, witness.load_step, witness.load) {
        reject!(Witness, "step {} is not the attacker's load {} after the store", witness.load_step, witness.load);
    }
    match replayed.events[witness.load_step].effect {
        Effect::Load { early: false, .. } => {}
        _ => reject!(Witness, "step {}: the attacker's load does not read from memory", witness.load_step),
    }
    let attacker = program.thread(witness.attacker.thread);
    if program.accepts(attacker.instruction(witness.store), attacker.instruction(witness.load)) {
        reject!(Witness, "the delay of {} past {} is accepted", witness.store, witness.load);
    }
    let mut flushing = false;
    for (index, event) in replayed.events.iter().enumerate().skip(witness.store_step + 1) {
        let by_attacker = event.step.copy == witness.attacker;
        let flushes = by_attacker && event.step.kind.is_flush();
        if flushes && index < witness.load_step {
            reject!(Witness, "step {index}: a store of the attacker reaches memory before its load");
        }
        if by_attacker && !flushes && index > witness.load_step {
            reject!(Witness, "step {index}: the attacker goes on after its load");
        }
        if flushing && !flushes {
            reject!(Witness, "step {index}: a helper's step after the attacker's stores have begun to reach memory");
        }
        flushing |= flushes;
    }
    Ok(())
}

/// (W3): happens-before leads from the attacker's load to every helper's access after it, and to
/// the delayed store.
fn check_path(witness: &Witness, replayed: &Replayed) -> Result<(), CheckFailure> {
    let (store, load) = attack_nodes(witness, replayed)?;
    let reached = reachable_from(&replayed.trace, load);
    if !reached.contains(&store) {
        reject!(Witness, "happens-before does not lead from the attacker's load back to its delayed store");
    }
    for (index, node) in replayed.nodes.iter().enumerate().skip(witness.load_step + 1) {
        if node.is_some_and(|node| !reached.contains(&node)) {
            reject!(Witness, "step {index}: happens-before does not lead there from the attacker's load");
        }
    }
    Ok(())
}

/// Checks that the cycle is one.
fn check_cycle(witness: &Witness, replayed: &Replayed) -> Result<(), CheckFailure> {
    let (Some(first), Some(last)) = (witness.cycle.first(), witness.cycle.last()) else {
        reject!(Witness, "the cycle has no edges");
    };
    if last.to != first.from {
        reject!(Witness, "the cycle does not end where it starts");
    }
    for (index, pair) in witness.cycle.windows(2).enumerate() {
        if pair[0].to != pair[1].from {
            reject!(Witness, "edge {} of the cycle does not start where the one before it ends", index + 1);
        }
    }
    for (index, edge) in witness.cycle.iter().enumerate() {
        let ends = node_among(witness, replayed, edge.from).zip(node_among(witness, replayed, edge.to));
        if !ends.is_some_and(|(from, to)| is_edge(&replayed.trace, &Edge { from, to, ..*edge })) {
            reject!(Witness, "edge {index} of the cycle, {}, is not there in the trace", edge.relation.name());
        }
    }
    Ok(())
}

/// A node of the evidence, which counts all copies of the instance, as one of the trace, which has
/// those that take steps.
fn node_among(witness: &Witness, replayed: &Replayed, node: NodeId) -> Option<NodeId> {
    let copy = witness.instance.copy_at(u64::try_from(node.position).ok()?)?;
    let position = replayed.copies.binary_search(&copy).ok()?;
    Some(NodeId { position, ..node })
}

/// The nodes of the delayed store and of the load.
fn attack_nodes(witness: &Witness, replayed: &Replayed) -> Result<(NodeId, NodeId), CheckFailure> {
    let node = |step: usize| replayed.nodes.get(step).copied().flatten();
    match (node(witness.store_step), node(witness.load_step)) {
        (Some(store), Some(load)) => Ok((store, load)),
        _ => reject!(Witness, "the attacker's store and load are not in the trace"),
    }
}

/// A copy in words.
fn named(copy: CopyId) -> String {
    format!("{} of thread {}", copy.copy, copy.thread)
}
