//! The well-known litmus shapes under the operational semantics: final states, executions,
//! robustness.

use crate::support::{X, Y, Z, cas, exchange, load, program, store, straight};
use palisade::limits::Limits;
use palisade::program::{Action, Program, Thread};
use palisade::semantics::oracle::{Answer, robust};
use palisade::semantics::{
    Bounds, Instance, LOOP_CAPACITY, Model, Relation, State, executions, final_states, shortest_cycle,
};

fn instance(program: &Program) -> Instance {
    Instance::of(program).expect("copies are fixed")
}

fn is_robust(program: &Program) -> bool {
    robust(program, &instance(program), &Bounds::default()).expect("loop-free").is_robust()
}

fn completed(program: &Program, model: Model) -> Vec<State> {
    final_states(program, &instance(program), model, LOOP_CAPACITY, &Limits::none()).expect("no value fails").completed
}

/// Whether a final state has these registers: (thread, register, value).
fn reaches(program: &Program, model: Model, wanted: &[(usize, usize, i64)]) -> bool {
    completed(program, model).iter().any(|state| {
        wanted.iter().all(|(thread, register, value)| state.threads()[*thread].registers[*register] == *value)
    })
}

fn count(program: &Program, model: Model) -> usize {
    executions(program, &instance(program), model, &Bounds::default()).expect("loop-free").final_states.len()
}

fn store_buffering(between: impl Fn() -> Vec<Action>) -> Program {
    let thread = |own, other| straight([vec![store(own, 1)], between(), vec![load(0, other)]].concat());
    program([thread(X, Y), thread(Y, X)])
}

#[test]
fn store_buffering_breaks_without_a_fence_or_a_locked_instruction_between() {
    let relaxed = [(0, 0, 0), (1, 0, 0)];
    let plain = store_buffering(Vec::new);
    assert!(!is_robust(&plain));
    assert!(reaches(&plain, Model::Tso, &relaxed));
    assert!(!reaches(&plain, Model::Sc, &relaxed));
    // Two stores and two loads: each load reads 0 or 1; SC leaves out 0, 0.
    assert_eq!(count(&plain, Model::Tso), 4);
    assert_eq!(count(&plain, Model::Sc), 3);
    let drains: [fn() -> Vec<Action>; 4] = [
        || vec![Action::Fence],
        || vec![exchange(1, Z, 1)],
        // A cas drains the buffer also when it fails.
        || vec![cas(1, Z, 7, 8)],
        || vec![Action::Lock, Action::Unlock],
    ];
    for drain in drains {
        let drained = store_buffering(drain);
        assert!(is_robust(&drained));
        assert!(!reaches(&drained, Model::Tso, &relaxed));
    }
    // A load of the own store in between drains nothing, and reading it early is no violation by
    // itself.
    assert!(!is_robust(&store_buffering(|| vec![load(1, X), load(2, Y)])));
    assert!(is_robust(&program([straight([store(X, 1), load(0, X)]), straight([store(X, 2), load(0, X)])])));
}

/// Shapes that are robust because TSO keeps loads in order, stores in order, and loads before later
/// stores, and all threads see other threads' stores in one order.
#[test]
fn shapes_without_a_store_before_a_load_of_the_same_thread_are_robust() {
    let reader = |first, second| straight([load(0, first), load(1, second)]);
    let writer = |address| straight([store(address, 1)]);
    let message_passing = program([straight([store(X, 1), store(Y, 1)]), reader(Y, X)]);
    let load_buffering = program([straight([load(0, X), store(Y, 1)]), straight([load(0, Y), store(X, 1)])]);
    let iriw = program([writer(X), writer(Y), reader(X, Y), reader(Y, X)]);
    let two_plus_two_writes = program([straight([store(X, 1), store(Y, 2)]), straight([store(Y, 1), store(X, 2)])]);
    let s = program([straight([store(X, 2), store(Y, 1)]), straight([load(0, Y), store(X, 1)])]);
    let coherence = program([straight([store(X, 1), store(X, 2)]), reader(X, X)]);
    for shape in [message_passing, load_buffering, iriw, two_plus_two_writes, s, coherence] {
        assert!(is_robust(&shape));
        assert_eq!(completed(&shape, Model::Sc), completed(&shape, Model::Tso));
        assert_eq!(count(&shape, Model::Sc), count(&shape, Model::Tso));
    }
}

/// R: the second thread's store is overtaken by its load, which misses `x`, and reaches `y` after
/// the first thread's. RWC: likewise, with the store seen missing by a third thread. Both have one
/// store-load pair to fence.
#[test]
fn one_sided_store_buffering_breaks() {
    let r = |between: Vec<Action>| {
        let reader = straight([vec![store(Y, 2)], between, vec![load(0, X)]].concat());
        program([straight([store(X, 1), store(Y, 1)]), reader])
    };
    assert!(!is_robust(&r(vec![])));
    assert!(is_robust(&r(vec![Action::Fence])));
    let rwc = |between: Vec<Action>| {
        let last = straight([vec![store(Y, 1)], between, vec![load(0, X)]].concat());
        program([straight([store(X, 1)]), straight([load(0, X), load(1, Y)]), last])
    };
    assert!(!is_robust(&rwc(vec![])));
    assert!(is_robust(&rwc(vec![Action::Fence])));
    assert!(reaches(&rwc(vec![]), Model::Tso, &[(1, 0, 1), (1, 1, 0), (2, 0, 0)]));
}

/// n6 and n7 of [X86TSO]: store buffering where the loads also read their own thread's store early.
/// n6 ends in `x = 1` although the second thread stored to `x` last in every SC explanation of what
/// the first one read.
#[test]
fn loads_forwarded_from_the_own_buffer() {
    let n6 = program([straight([store(X, 1), load(0, X), load(1, Y)]), straight([store(Y, 2), store(X, 2)])]);
    assert!(!is_robust(&n6));
    let forwarded = |state: &State| state.threads()[0].registers[..2] == [1, 0] && state.memory(X) == 1;
    assert!(completed(&n6, Model::Tso).iter().any(forwarded));
    assert!(!completed(&n6, Model::Sc).iter().any(forwarded));
    let thread = |own, other| straight([store(own, 1), load(0, own), load(1, other)]);
    let n7 = program([thread(X, Y), thread(Y, X)]);
    assert!(!is_robust(&n7));
    assert!(reaches(&n7, Model::Tso, &[(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0)]));
}

fn section_example() -> Program {
    let locked = [Action::Lock, load(0, X), store(Y, 1), Action::Unlock];
    program([straight(locked), straight([store(X, 1), load(0, Y)])])
}

/// A locked section is one node: `r = s = 0` is reachable under TSO and not under SC, because the
/// section lies between the other thread's load and its delayed store. With a node per access there
/// would be no cycle.
#[test]
fn a_locked_section_is_one_node() {
    let section = section_example();
    let relaxed = [(0, 0, 0), (1, 0, 0)];
    assert!(reaches(&section, Model::Tso, &relaxed));
    assert!(!reaches(&section, Model::Sc, &relaxed));
    let answer = robust(&section, &instance(&section), &Bounds::default()).expect("loop-free");
    let Answer::Violated { trace, .. } = answer else { panic!("the example is not robust") };
    let cycle = shortest_cycle(&trace).expect("a violation has a cycle");
    let relations: Vec<Relation> = cycle.iter().map(|edge| edge.relation).collect();
    assert_eq!(relations, [Relation::Conflict, Relation::ProgramOrder, Relation::Conflict]);
    assert!(trace.node(cycle[0].from).section);
}

/// While a thread holds the lock for ever, another one's buffered store never reaches memory: the
/// computations that count are those in which it is not issued, and they are all SC.
#[test]
fn a_lock_that_is_never_given_back() {
    let program = program([straight([Action::Lock, load(0, X)]), straight([store(X, 1), load(0, Y)])]);
    assert!(is_robust(&program));
    let found = final_states(&program, &instance(&program), Model::Tso, LOOP_CAPACITY, &Limits::none());
    let found = found.expect("no value fails");
    // Either the second thread was done before the first took the lock, or it is stuck.
    assert!(!found.completed.is_empty());
    assert!(!found.stuck.is_empty());
}

/// Locked instructions that herd's x86 model lacks: two increments add up, one of two cas wins.
#[test]
fn read_modify_writes_are_atomic() {
    let taker = || straight([cas(0, X, 0, 1)]);
    let race = program([taker(), taker()]);
    for model in [Model::Sc, Model::Tso] {
        assert!(!reaches(&race, model, &[(0, 0, 0), (1, 0, 0)]));
        assert!(!reaches(&race, model, &[(0, 0, 1), (1, 0, 1)]));
        assert_eq!(completed(&race, model).len(), 2);
    }
    assert!(is_robust(&race));
}

#[test]
fn identical_copies_interleave_like_different_threads() {
    let body = || straight([store(X, 1), load(0, Y), store(Y, 1), load(1, X)]);
    let mut template: Thread = body();
    template.copies = palisade::program::Copies::Exactly(2);
    let (copies, threads) = (program([template]), program([body(), body()]));
    assert_eq!(completed(&copies, Model::Tso), completed(&threads, Model::Tso));
    assert_eq!(is_robust(&copies), is_robust(&threads));
}
