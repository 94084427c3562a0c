//! The brute-force oracle and the final states on random programs.

use crate::environment::seeds;
use palisade::limits::Limits;
use palisade::program::{Action, Instruction, Label, LabelId, Program, Span, Thread};
use palisade::semantics::oracle::{Answer, robust};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{
    AccessId, AccessKind, Bounds, Instance, LOOP_CAPACITY, Model, NodeId, State, Trace, executions, final_states,
    is_cyclic, replay, shortest_cycle, shortest_path,
};
use std::collections::{BTreeMap, BTreeSet};

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

/// All edges of happens-before as [ESOP13, §3] defines them, transitive ones included.
fn edges(trace: &Trace) -> BTreeSet<(NodeId, NodeId)> {
    let mut edges = BTreeSet::new();
    for (position, thread) in trace.threads().iter().enumerate() {
        for (index, node) in thread.iter().enumerate() {
            let own = NodeId { position, index };
            edges.extend((index + 1..thread.len()).map(|later| (own, NodeId { position, index: later })));
            for (access, accessed) in node.accesses.iter().enumerate() {
                let stores = trace.stores(accessed.address);
                let behind = |store: AccessId| {
                    let place = stores.iter().position(|other| *other == store);
                    place.map_or(&[][..], |place| &stores[place + 1..])
                };
                let later = match accessed.kind {
                    AccessKind::Store => behind(AccessId { node: own, access }),
                    AccessKind::Load(None) => stores,
                    AccessKind::Load(Some(source)) => {
                        edges.insert((source.node, own));
                        behind(source)
                    }
                };
                edges.extend(later.iter().map(|store| (own, store.node)));
            }
        }
    }
    edges.retain(|(from, to)| from != to);
    edges
}

#[test]
fn paths_of_happens_before_are_shortest() {
    let mut compared = 0;
    for (seed, program, instance) in programs(0..150) {
        let bounds = Bounds::default();
        let Answer::Violated { trace, .. } = robust(&program, &instance, &bounds).expect("it is loop-free") else {
            continue;
        };
        let edges = edges(&trace);
        let nodes: BTreeSet<NodeId> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
        for from in &nodes {
            // How many edges lead to each node, by rounds over all of them.
            let mut distances: BTreeMap<NodeId, usize> = BTreeMap::new();
            for round in 1..=nodes.len() {
                let known = |node: &NodeId| (round == 1 && node == from) || distances.contains_key(node);
                let reached: Vec<NodeId> = edges.iter().filter(|(near, _)| known(near)).map(|(_, far)| *far).collect();
                for node in reached {
                    distances.entry(node).or_insert(round);
                }
            }
            for to in &nodes {
                let path = shortest_path(&trace, *from, *to);
                assert_eq!(path.as_ref().map(Vec::len), distances.get(to).copied(), "seed {seed}: {from:?} to {to:?}");
                let Some(path) = path else { continue };
                assert_eq!((path[0].from, path[path.len() - 1].to), (*from, *to), "seed {seed}");
                assert!(path.windows(2).all(|pair| pair[0].to == pair[1].from), "seed {seed}");
                assert!(path.iter().all(|edge| edges.contains(&(edge.from, edge.to))), "seed {seed}");
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} paths");
}

/// What completes under SC completes under TSO; a robust program has the same final states under
/// both; with a fence behind every store every program is robust; and one fence more breaks no
/// robust program.
#[test]
fn fences_restore_and_keep_robustness() {
    for (seed, program, instance) in programs(10_000..10_000 + seeds(270, 2_700).end) {
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
    // No violation does with fewer than one delayed store, one load, and what the helpers need for
    // a cycle.
    let instructions: usize = shrunk.threads.iter().map(|thread| thread.instructions.len()).sum();
    assert!((4..=6).contains(&instructions), "{instructions} instructions");
}
