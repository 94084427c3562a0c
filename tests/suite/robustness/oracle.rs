//! The brute-force oracle and the final states on random programs.

use palisade::limits::Limits;
use palisade::program::{Action, Instruction, Label, LabelId, Program, Span, Thread};
use palisade::semantics::oracle::{Answer, robust};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{
    Bounds, Instance, LOOP_CAPACITY, Model, State, executions, final_states, is_cyclic, replay, shortest_cycle,
};

fn programs(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Program, Instance)> {
    seeds.map(|seed| {
        let program = random::program(seed, &Shape::default());
        let instance = Instance::of(&program).expect("random programs fix their copies");
        (seed, program, instance)
    })
}

fn is_robust(program: &Program, instance: &Instance) -> bool {
    robust(program, instance, &Bounds::default()).expect("random programs are loop-free").is_robust()
}

fn completed(program: &Program, instance: &Instance, model: Model) -> Vec<State> {
    final_states(program, instance, model, LOOP_CAPACITY, &Limits::none()).expect("no value fails").completed
}

/// Puts a fence behind an instruction.
fn fence_behind(thread: &mut Thread, index: usize) {
    let label = LabelId::from_index(thread.labels.len());
    thread.labels.push(Label::new(format!("f{index}"), Span::default()));
    let target = std::mem::replace(&mut thread.instructions[index].target, label);
    thread.instructions.push(Instruction::new(label, target, Action::Fence, Span::default()));
}

fn is_store(instruction: &Instruction) -> bool {
    matches!(instruction.action, Action::Store { .. })
}

#[test]
fn violations_replay_and_have_a_cycle() {
    let mut violated = 0;
    for (seed, program, instance) in programs(0..2000) {
        match robust(&program, &instance, &Bounds::default()).expect("random programs are loop-free") {
            Answer::Robust { truncated } => assert!(!truncated, "seed {seed}"),
            Answer::Violated { computation, trace } => {
                violated += 1;
                let replayed = replay(&program, &instance, Model::Tso, &computation).expect("it is a computation");
                assert_eq!(replayed.trace, trace, "seed {seed}");
                assert!(is_cyclic(&trace), "seed {seed}");
                let cycle = shortest_cycle(&trace).expect("the trace is cyclic");
                let next = cycle.iter().cycle().skip(1);
                assert!(cycle.iter().zip(next).all(|(edge, next)| edge.to == next.from), "seed {seed}");
            }
        }
    }
    assert!(violated > 200, "{violated} of 2000 random programs are not robust");
}

/// What completes under SC completes under TSO; a robust program has the same final states under both; with a fence
/// behind every store every program is robust; and one fence more breaks no robust program.
#[test]
fn fences_restore_and_keep_robustness() {
    for (seed, program, instance) in programs(10_000..10_800) {
        let (sc, tso) = (completed(&program, &instance, Model::Sc), completed(&program, &instance, Model::Tso));
        assert!(sc.iter().all(|state| tso.binary_search(state).is_ok()), "seed {seed}");
        let mut fenced = program.clone();
        for thread in &mut fenced.threads {
            for index in 0..thread.instructions.len() {
                if is_store(&thread.instructions[index]) {
                    fence_behind(thread, index);
                }
            }
        }
        assert!(is_robust(&fenced, &instance), "seed {seed}");
        let fenced_states = completed(&fenced, &instance, Model::Tso);
        assert_eq!(fenced_states.len(), completed(&fenced, &instance, Model::Sc).len(), "seed {seed}");
        if is_robust(&program, &instance) {
            assert_eq!(sc, tso, "seed {seed}");
            for thread in 0..program.threads.len() {
                let stores = program.threads[thread].instructions.iter().position(is_store);
                if let Some(store) = stores {
                    let mut one_more = program.clone();
                    fence_behind(&mut one_more.threads[thread], store);
                    assert!(is_robust(&one_more, &instance), "seed {seed}");
                }
            }
        }
    }
}

/// The graph search for final states and the enumeration of executions see the same final states.
#[test]
fn final_states_are_those_of_all_executions() {
    for (seed, program, instance) in programs(20_000..21_000) {
        for model in [Model::Sc, Model::Tso] {
            let mut states =
                executions(&program, &instance, model, &Bounds::default()).expect("loop-free").final_states;
            states.dedup();
            assert_eq!(states, completed(&program, &instance, model), "seed {seed} {model:?}");
        }
    }
}

#[test]
fn shrinking_keeps_the_failure_and_finds_store_buffering() {
    let (_, program, _) = programs(0..5000)
        .find(|(_, program, instance)| program.threads.len() == 3 && !is_robust(program, instance))
        .expect("some random program with three threads is not robust");
    let fails = |candidate: &Program| Instance::of(candidate).is_some_and(|instance| !is_robust(candidate, &instance));
    let shrunk = random::shrink(&program, fails);
    assert!(fails(&shrunk));
    // No violation does with fewer than one delayed store, one load, and what the helpers need for a cycle.
    let instructions: usize = shrunk.threads.iter().map(|thread| thread.instructions.len()).sum();
    assert!((4..=6).contains(&instructions), "{instructions} instructions");
}
