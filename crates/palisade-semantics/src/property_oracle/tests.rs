//! SC, TSO and PSO compared with each other on random programs, the three ways to fences with each
//! other.

use super::*;
use crate::random::{self, Shape};
use crate::{final_states, maximal_traces};
use palisade_model::limits::Limits;
use palisade_model::program::{Action, Copies, Instruction, Label, LabelId, Span};
use std::collections::BTreeMap;

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// Programs of the kind in which models differ.
fn shape() -> Shape {
    Shape {
        total_labels: 9,
        branches: 5,
        fences: 3,
        rmws: 5,
        sections: 6,
        indirect: 3,
        domains: 10,
        store_fences: 5,
        stores_first: 85,
        properties: 4,
        joined: 80,
        cycles: 60,
        ..Shape::default()
    }
}

/// So many programs, or forty times as many in long runs.
fn seeds(few: u64) -> u64 {
    if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 40 * few } else { few }
}

fn ask(program: &Program, model: Model) -> Reached {
    let instance = Instance::of(program).expect("random programs fix their copies");
    reached(program, &instance, None, model, Effort::default()).expect("loop-free programs are small")
}

/// Final states by what they say of registers and memory.
type Ends = BTreeSet<(Vec<Vec<i64>>, Vec<(i64, i64)>)>;

fn ends(reached: &Reached) -> Ends {
    let registers = |state: &State| state.threads().iter().map(|thread| thread.registers.to_vec()).collect();
    reached.completed.iter().map(|state| (registers(state), state.nonzero_memory().to_vec())).collect()
}

/// The program with this action behind each store: `l: store; goto m` becomes `l: store; goto n`
/// and `n: action; goto m`.
fn behind_each_store(program: &Program, action: &Action) -> Program {
    let mut changed = program.clone();
    for thread in &mut changed.threads {
        for index in 0..thread.instructions.len() {
            if matches!(thread.instructions[index].action, Action::Store { .. }) {
                let behind = LabelId::from_index(thread.labels.len());
                let name = format!("behind{index}");
                thread.labels.push(Label::new(name, Span::default()));
                let target = std::mem::replace(&mut thread.instructions[index].target, behind);
                let span = Span::default();
                thread.instructions.push(Instruction::new(behind, target, action.clone(), span));
            }
        }
    }
    changed
}

#[test]
fn weaker_models_reach_more() {
    let (mut tso_more, mut pso_more, mut targets_more) = (0, 0, [0, 0]);
    for seed in 0..seeds(800) {
        let program = random::program(seed, &shape());
        let [sc, tso, pso] = MODELS.map(|model| ask(&program, model));
        assert!(sc.targets.is_subset(&tso.targets) && tso.targets.is_subset(&pso.targets), "seed {seed}");
        let [sc_ends, tso_ends, pso_ends] = [&sc, &tso, &pso].map(ends);
        assert!(sc_ends.is_subset(&tso_ends) && tso_ends.is_subset(&pso_ends), "seed {seed}");
        tso_more += usize::from(sc_ends != tso_ends);
        pso_more += usize::from(tso_ends != pso_ends);
        targets_more[0] += usize::from(sc.targets != tso.targets);
        targets_more[1] += usize::from(tso.targets != pso.targets);
    }
    assert!(tso_more > 80 && pso_more > 80, "{tso_more} {pso_more} {targets_more:?}");
    assert!(targets_more[0] > 30 && targets_more[1] > 30, "{tso_more} {pso_more} {targets_more:?}");
}

/// With `sfence` behind each store, PSO's buffers are in order as TSO's are; with `mfence` there,
/// each store is in memory before anything else happens in its thread. The issue of a store and its
/// flush are then two steps still, in which others can act: but only those that could have acted
/// before.
#[test]
fn fences_behind_stores_take_models_back() {
    for seed in 0..seeds(120) {
        let program = random::program(seed, &shape());
        let ordered = behind_each_store(&program, &Action::StoreFence);
        let (tso, pso) = (ask(&program, Model::Tso), ask(&ordered, Model::Pso));
        assert_eq!((&tso.targets, ends(&tso)), (&pso.targets, ends(&pso)), "seed {seed}");
        let drained = behind_each_store(&program, &Action::Fence);
        let sc = ask(&program, Model::Sc);
        for model in [Model::Tso, Model::Pso] {
            let found = ask(&drained, model);
            assert_eq!((&sc.targets, ends(&sc)), (&found.targets, ends(&found)), "seed {seed} {model:?}");
        }
        // And `sfence` does nothing under SC and TSO.
        for (plain, model) in [(&sc, Model::Sc), (&tso, Model::Tso)] {
            let own = ask(&ordered, model);
            assert_eq!((&plain.targets, ends(plain)), (&own.targets, ends(&own)), "seed {seed} {model:?}");
        }
    }
}

/// The search of `simulate`, which takes few of the steps there are, finds the final states and
/// properties that this one does.
#[test]
fn the_reduced_search_finds_the_same() {
    let sections = Shape { sections: 50, ..shape() };
    let loops = Shape { loops: 15, domains: 100, copies: 2, total_labels: 6, ..shape() };
    let (mut compared, mut stuck) = (0, 0);
    for seed in 0..seeds(300) {
        let shape = [shape(), sections.clone(), loops.clone()][usize::try_from(seed).expect("few seeds") % 3].clone();
        let mut program = random::program(seed, &shape);
        if shape.loops > 0 && program.domain.is_none() {
            continue;
        }
        program.threads.retain(|thread| thread.copies != Copies::Exactly(0));
        let instance = Instance::of(&program).expect("random programs fix their copies");
        for model in MODELS {
            let effort = Effort { capacity: 2, states: 20_000 };
            // Where there is no loop, `final_states` has unbounded buffers.
            let loops = program.threads.iter().any(|thread| thread.has_loop());
            let capacity = if loops { effort.capacity } else { 100 };
            let Ok(full) = reached(&program, &instance, None, model, Effort { capacity, ..effort }) else { continue };
            let limits = Limits::none();
            let reduced = final_states(&program, &instance, model, capacity, &limits).expect("values exist");
            let completed: BTreeSet<State> = reduced.completed.into_iter().collect();
            assert_eq!(full.completed, completed, "seed {seed} {model:?}");
            let violated: BTreeSet<Target> = reduced
                .violations
                .keys()
                .map(|(copy, instruction)| Target::Instruction { thread: copy.thread, instruction: *instruction })
                .collect();
            assert_eq!(full.targets, violated, "seed {seed} {model:?}");
            compared += 1;
            stuck += usize::from(!reduced.stuck.is_empty());
        }
    }
    assert!(compared > 450 && stuck > 25, "{compared} {stuck}");
}

#[test]
fn traces_are_enumerated_under_pso() {
    let program = classics::program("x=1 y=1 | a=y b=x");
    let instance = Instance::of(&program).expect("one copy each");
    let count = |model| maximal_traces(&program, &instance, model, &crate::Bounds::default()).expect("loop-free").len();
    // Each load reads from the store or not: under SC and TSO not the new flag and then the old
    // value.
    assert_eq!(MODELS.map(count), [3, 3, 4]);
}

/// Rows by tracking what runs need absent, rows and sets by putting fences in, and all sets of
/// measures one by one.
#[test]
fn three_ways_to_fences_agree() {
    let shape = Shape { cycles: 100, properties: 0, ..shape() };
    let mut sizes = BTreeMap::new();
    for seed in 0..seeds(9) {
        let program = random::program(seed, &shape);
        let instance = Instance::of(&program).expect("random programs fix their copies");
        for model in [Model::Tso, Model::Pso] {
            let targets: BTreeSet<Target> = targets(&program, None).into_iter().collect();
            let effort = Effort::default();
            let found = minimal_valid_sets(&program, &instance, None, &targets, model, effort).expect("it is small");
            let rows = minimal_rows(&program, &instance, None, model, effort).expect("it is small");
            let together = rows.together(&targets);
            if together == [0] {
                assert_eq!(found.valid, [], "seed {seed} {model:?}");
                continue;
            }
            assert_eq!(found.rows, together, "seed {seed} {model:?}");
            assert_eq!(found.valid, minimal_transversals(&together), "seed {seed} {model:?}");
            for set in &found.valid {
                *sizes.entry(set.count_ones()).or_insert(0) += 1;
            }
            if seed % 6 == 0 {
                let small: Vec<u128> = found.valid.iter().copied().filter(|set| set.count_ones() <= 2).collect();
                assert_eq!(small, one_by_one(&program, &targets, model), "seed {seed}");
            }
        }
    }
    assert!((0..3).all(|size| sizes.get(&size).is_some_and(|count| *count > 1)), "{sizes:?}");
}

/// All minimal valid sets of two measures at most, each set asked unless it contains a valid one,
/// small ones first.
fn one_by_one(program: &Program, targets: &BTreeSet<Target>, model: Model) -> Vec<u128> {
    let measures = measures(program, model);
    let mut sets = vec![0];
    sets.extend((0..measures.len()).map(|one| 1 << one));
    sets.extend((0..measures.len()).flat_map(|one| (0..one).map(move |other| 1 << one | 1 << other)));
    let mut valid: Vec<u128> = Vec::new();
    for set in sets {
        if valid.iter().any(|smaller| smaller & set == *smaller) {
            continue;
        }
        let chosen = measures.iter().enumerate().filter(|(index, _)| (set >> index) & 1 == 1).map(|(_, own)| *own);
        if ask(&with_measures(program, chosen), model).targets.is_disjoint(targets) {
            valid.push(set);
        }
    }
    valid.sort_unstable();
    valid
}
