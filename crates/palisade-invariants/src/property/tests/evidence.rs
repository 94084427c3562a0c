//! Evidence made from all states of a machine, without the checker's help: accepted where nothing
//! is violated, and in no form where something is.

use super::*;
use crate::check_property;
use hashbrown::HashMap;
use palisade_evidence::{
    BufferConfiguration, BufferEntry, BufferedLocal, PropertyEvidence, PropertyProof, PropertyReason, Tokens,
};
use palisade_semantics::ThreadState;
use std::collections::BTreeMap;

/// Whether an instruction is local under a model.
fn is_local(action: &Action, model: Model) -> bool {
    if model == Model::Pso { action.is_local() } else { action.is_local_under_tso() }
}

/// Whether a copy stands at an instruction that is not local.
fn is_settled(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    let thread = machine.thread(position);
    let instructions = machine.instructions_at(state, position);
    instructions.iter().any(|id| !is_local(&thread.instruction(*id).action, machine.model()))
}

/// Whether a copy comes to such an instruction by local steps.
fn settles(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    let mut waiting = vec![state.clone()];
    let mut seen: HashSet<State> = HashSet::from([state.clone()]);
    while let Some(state) = waiting.pop() {
        if is_settled(machine, &state, position) {
            return true;
        }
        let mut events = Vec::new();
        machine.events(&state, position, &mut events).expect("values exist");
        for event in events.iter().filter(|event| !event.step.kind.is_flush()) {
            let next = machine.successor(&state, event);
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    false
}

/// The buffer of a copy in the form of evidence.
fn buffer(thread: &ThreadState, model: Model) -> Vec<BufferEntry> {
    let mut entries = Vec::new();
    let mut segment: Vec<(Value, Value)> = Vec::new();
    let mut close = |segment: &mut Vec<(Value, Value)>| {
        if model == Model::Pso {
            segment.sort_by_key(|store| store.0);
        }
        entries.extend(segment.drain(..).map(|(address, value)| BufferEntry::Store(address, value)));
        entries.push(BufferEntry::Mark);
    };
    for (index, store) in thread.buffer.iter().enumerate() {
        if thread.marks.positions().contains(&index) {
            close(&mut segment);
        }
        segment.push(*store);
    }
    close(&mut segment);
    // The last mark is one only if the machine has it.
    if !thread.marks.positions().contains(&thread.buffer.len()) || thread.buffer.is_empty() {
        entries.pop();
    }
    entries
}

/// The configurations of states in which every copy has settled.
fn evidence(program: &Program, machine: &Machine<'_>, states: &HashSet<State>, targets: &[Target]) -> PropertyEvidence {
    let model = machine.model();
    let mut set = BufferInvariant { live: least_live(program), ..BufferInvariant::default() };
    let (mut locals, mut memories) = (HashMap::new(), HashMap::new());
    let liveness: Vec<Liveness> = program.threads.iter().map(Liveness::of).collect();
    let mut states: Vec<&State> = states.iter().collect();
    states.sort_unstable();
    for state in states {
        let positions = 0..machine.copies().len();
        if positions.clone().any(|own| !is_settled(machine, state, own) && settles(machine, state, own)) {
            continue;
        }
        let mut tokens: BTreeMap<u32, u64> = BTreeMap::new();
        for position in positions {
            let thread = machine.copies()[position].thread;
            let own = &state.threads()[position];
            let mut registers = own.registers.to_vec();
            let label = own.label.filter(|_| is_settled(machine, state, position));
            match label {
                Some(label) => liveness[thread.index()].forget_dead(label, &mut registers),
                None => registers.fill(0),
            }
            let buffer = buffer(own, model);
            if label.is_none() && buffer.is_empty() {
                continue;
            }
            let local = BufferedLocal { thread, label, registers, holding: state.holder() == Some(position), buffer };
            let index = *locals.entry(local.clone()).or_insert_with(|| {
                set.locals.push(local);
                u32::try_from(set.locals.len() - 1).expect("few")
            });
            *tokens.entry(index).or_default() += 1;
        }
        // Addresses that hold 0 are listed where that is not their initial value.
        let mut memory: BTreeMap<Value, Value> = program.initial_memory.keys().map(|address| (*address, 0)).collect();
        memory.extend(state.nonzero_memory().iter().copied());
        let memory: Vec<(Value, Value)> = memory.into_iter().collect();
        let index = *memories.entry(memory.clone()).or_insert_with(|| {
            set.memories.push(memory);
            set.memories.len() - 1
        });
        set.configurations.push(BufferConfiguration {
            memory: u32::try_from(index).expect("few"),
            locked: state.holder().is_some(),
            tokens: tokens.into_iter().map(|(local, count)| (local, Tokens::Finite(count))).collect(),
        });
    }
    let proof = PropertyProof {
        targets: targets.to_vec(),
        slice: vec![Vec::new(); program.threads.len()],
        bounds: None,
        reason: PropertyReason::Buffers(set),
    };
    PropertyEvidence { model, proofs: vec![proof], plain_posts: None }
}

/// The states that are reached without a step that violates a target.
fn states_before(machine: &Machine<'_>, targets: &BTreeSet<Target>) -> HashSet<State> {
    let mut waiting = vec![machine.initial_state()];
    let mut seen: HashSet<State> = waiting.iter().cloned().collect();
    while let Some(state) = waiting.pop() {
        let mut events = Vec::new();
        for position in 0..machine.copies().len() {
            machine.events(&state, position, &mut events).expect("values exist");
        }
        if events.iter().filter_map(violation).any(|target| targets.contains(&target)) {
            seen.remove(&state);
            continue;
        }
        for event in events {
            let next = machine.successor(&state, &event);
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    seen
}

fn set(evidence: &mut PropertyEvidence) -> &mut BufferInvariant {
    match &mut evidence.proofs[0].reason {
        PropertyReason::Buffers(set) => set,
        _ => panic!("it is a closed set"),
    }
}

#[test]
fn all_states_are_accepted_where_nothing_is_violated_and_never_else() {
    let (mut accepted, mut rejected, mut dropped) = (0, 0, 0);
    for seed in seeds(100) {
        let program = with_properties(seed, true);
        let targets = all_targets(&program);
        let instance = Instance::of(&program).expect("fixed copies");
        for model in MODELS {
            let machine = Machine::new(&program, &instance, model);
            let Some((states, violated)) = all_states_of(&machine).filter(|(states, _)| states.len() < 1500) else {
                continue;
            };
            let holding: Vec<Target> = targets.iter().copied().filter(|target| !violated.contains(target)).collect();
            if !holding.is_empty() {
                let mut good = evidence(&program, &machine, &states, &holding);
                let facts = check_property(&program, None, &good);
                let facts =
                    facts.unwrap_or_else(|failure| panic!("seed {seed} under {model:?}: {failure}\n{program:?}"));
                assert_eq!(facts.shown, holding);
                assert_eq!(facts.others, violated.iter().copied().collect::<Vec<_>>());
                accepted += 1;
                // One configuration less: nearly always one that is needed.
                let mut random = Randomness::new(seed);
                let all = &mut set(&mut good).configurations;
                all.swap_remove(random.below(all.len()));
                dropped += usize::from(check_property(&program, None, &good).is_err());
            }
            if violated.is_empty() {
                continue;
            }
            let wrong: Vec<Target> = violated.iter().copied().collect();
            let mut candidates = vec![states, states_before(&machine, &violated)];
            for capacity in [1, 2] {
                let bounded = Machine::new(&program, &instance, model).with_capacity(capacity);
                candidates.extend(all_states_of(&bounded).map(|(states, _)| states));
            }
            for states in candidates {
                let bad = evidence(&program, &machine, &states, &wrong);
                assert!(check_property(&program, None, &bad).is_err(), "seed {seed} under {model:?}\n{program:?}");
                rejected += 1;
            }
        }
    }
    assert!(accepted > 100 && rejected > 100 && dropped > 25, "{accepted} {rejected} {dropped}");
}

/// Silent addresses and slices that the evidence has been made with: where the program is violated,
/// no choice of them is accepted.
#[test]
fn no_choice_of_reductions_hides_a_violation() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in seeds(100) {
        let program = with_properties(seed, true);
        let mut random = Randomness::new(seed);
        let instance = Instance::of(&program).expect("fixed copies");
        for model in MODELS {
            let Some((_, violated)) = all_states(&program, model) else { continue };
            for target in all_targets(&program) {
                // Any instructions, as often wrong as right, as `nop` and `mfence`.
                let mut slice: Vec<Vec<InstructionId>> = vec![Vec::new(); program.threads.len()];
                let mut changed = program.clone();
                for (id, thread) in program.thread_ids() {
                    for (instruction, own) in thread.instruction_ids() {
                        let is_target = target == Target::Instruction { thread: id, instruction };
                        let replaced = match own.action {
                            _ if is_target || random.percent(70) => continue,
                            Action::Fence | Action::StoreFence | Action::Lock | Action::Unlock | Action::Fail => {
                                continue;
                            }
                            Action::Cas { .. } | Action::Rmw { .. } => Action::Fence,
                            _ => Action::Nop,
                        };
                        changed.threads[id.index()].instructions[instruction.index()].action = replaced;
                        slice[id.index()].push(instruction);
                    }
                }
                let machine = Machine::new(&changed, &instance, model);
                let Some((states, _)) = all_states_of(&machine).filter(|(states, _)| states.len() < 1500) else {
                    continue;
                };
                let mut made = evidence(&changed, &machine, &states, &[target]);
                made.proofs[0].slice = slice;
                set(&mut made).silent = if model == Model::Sc || random.percent(50) { vec![] } else { vec![1] };
                let verdict = check_property(&program, None, &made);
                if violated.contains(&target) {
                    assert!(verdict.is_err(), "seed {seed} under {model:?}, {target:?}: {made:?}\n{program:?}");
                }
                *(if verdict.is_ok() { &mut accepted } else { &mut rejected }) += 1;
            }
        }
    }
    assert!(accepted > 40 && rejected > 100, "{accepted} {rejected}");
}
