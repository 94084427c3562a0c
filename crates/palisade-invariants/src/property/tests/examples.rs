//! Programs that a careless reduction, slice or bound would get wrong, each with what the oracle
//! says.

use super::*;
use crate::check_property;
use palisade_evidence::{AddressInterval, Interval, PropertyEvidence, PropertyProof, PropertyReason, ValueInvariant};
use palisade_model::program::{AddressName, Posts, Register, Role, SourceText};

/// A register.
fn r(index: usize) -> Expression {
    Expression::Register(RegisterId::from_index(index))
}

/// A constant.
fn c(value: Value) -> Expression {
    Expression::Constant(value)
}

fn load(register: usize, address: Value) -> Action {
    Action::Load { register: RegisterId::from_index(register), address: c(address) }
}

fn store(address: Value, value: Value) -> Action {
    Action::Store { address: c(address), value: c(value) }
}

/// `ensure` not both registers have these values.
fn not_both(one: Value, other: Value) -> Action {
    let differs = |register, value| Expression::binary(BinaryOperator::NotEqual, r(register), c(value));
    Action::Ensure(Expression::binary(BinaryOperator::Or, differs(0, one), differs(1, other)))
}

/// `assume` that the first register is so.
fn assume(value: Value) -> Action {
    Action::Assume(Expression::binary(BinaryOperator::Equal, r(0), c(value)))
}

/// A program of straight threads with two registers, each with its number of copies.
fn straight(threads: Vec<(u64, Vec<Action>)>) -> Program {
    let thread = |(index, (copies, actions)): (usize, (u64, Vec<Action>))| Thread {
        name: format!("t{index}"),
        span: Span::default(),
        role: Role::Thread,
        copies: palisade_model::program::Copies::Exactly(copies),
        is_daemon: false,
        registers: (0..2)
            .map(|index| Register {
                name: format!("r{}", index + 1),
                initial: 0,
                is_initialised: false,
                span: Span::default(),
            })
            .collect(),
        labels: (0..=actions.len()).map(|index| Label::new(format!("l{index}"), Span::default())).collect(),
        initial: LabelId::from_index(0),
        instructions: actions
            .into_iter()
            .enumerate()
            .map(|(index, action)| {
                Instruction::new(LabelId::from_index(index), LabelId::from_index(index + 1), action, Span::default())
            })
            .collect(),
    };
    Program {
        name: "example".to_owned(),
        domain: None,
        addresses: vec![AddressName { name: "x".to_owned(), address: 1, length: 4, span: Span::default() }],
        initial_memory: std::collections::BTreeMap::new(),
        threads: threads.into_iter().enumerate().map(thread).collect(),
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: SourceText::new("", ""),
    }
}

fn target(thread: usize, instruction: usize) -> Target {
    Target::Instruction { thread: ThreadId::from_index(thread), instruction: InstructionId::from_index(instruction) }
}

/// Whether the oracle and the checker's steps reach a target under the three models. They must
/// agree.
fn reached(program: &Program, target: Target) -> [bool; 3] {
    MODELS.map(|model| {
        let (_, violated) = all_states(program, model).expect("few states");
        for (_, buffering) in RELATIONS.into_iter().filter(|(of, _)| *of == model) {
            let silent = most_silent(program, buffering);
            let found = is_reached(program, buffering, &[target], least_live(program), silent);
            assert_eq!(found, Some(violated.contains(&target)), "{buffering:?}");
        }
        violated.contains(&target)
    })
}

/// A store that only a load of the same thread overtakes is no dead delay; behind a fence it is.
#[test]
fn a_delay_with_a_load_behind_it_is_not_dead() {
    let enter = |own: Value, other: Value, fence: Option<Action>| {
        let mut actions = vec![store(own, 1)];
        actions.extend(fence);
        let new = Expression::binary(BinaryOperator::Add, Expression::Old, c(1));
        let count = Action::Rmw { register: Some(RegisterId::from_index(1)), address: c(3), new };
        actions.extend([load(0, other), assume(0), count, Action::Ensure(Expression::unary(UnaryOperator::Not, r(1)))]);
        actions
    };
    let open = straight(vec![(1, enter(1, 2, None)), (1, enter(2, 1, None))]);
    assert_eq!(reached(&open, target(0, 4)), [false, true, true]);
    assert!(!dead_delays(&open, Buffering::Fifo)[0][0]);
    let fence = Some(Action::Fence);
    let fenced = straight(vec![(1, enter(1, 2, fence.clone())), (1, enter(2, 1, fence))]);
    assert_eq!(reached(&fenced, target(0, 5)), [false, false, false]);
    assert!(dead_delays(&fenced, Buffering::Fifo)[0][0]);
    let weak = Some(Action::StoreFence);
    let weak = straight(vec![(1, enter(1, 2, weak.clone())), (1, enter(2, 1, weak))]);
    assert_eq!(reached(&weak, target(0, 5)), [false, true, true]);
}

/// Under PSO a store that another store overtakes is no dead delay either, and `sfence` is what
/// keeps them apart.
#[test]
fn a_delay_with_a_store_behind_it_is_dead_under_tso_only() {
    let reader = vec![load(0, 2), load(1, 1), not_both(1, 0)];
    let open = straight(vec![(1, vec![store(1, 1), store(2, 1)]), (1, reader.clone())]);
    assert_eq!(reached(&open, target(1, 2)), [false, false, true]);
    assert!(dead_delays(&open, Buffering::Fifo)[0][0]);
    assert!(!dead_delays(&open, Buffering::PerAddress)[0][0]);
    let marked = straight(vec![(1, vec![store(1, 1), Action::StoreFence, store(2, 1)]), (1, reader.clone())]);
    assert_eq!(reached(&marked, target(1, 2)), [false, false, false]);
    // The mark orders what is older than it, not what is younger.
    let late = straight(vec![(1, vec![store(3, 1), Action::StoreFence, store(1, 1), store(2, 1)]), (1, reader)]);
    assert_eq!(reached(&late, target(1, 2)), [false, false, true]);
}

/// A store of the value that its thread sees is not silent where another thread may change it in
/// between.
#[test]
fn stores_are_silent_only_where_one_copy_writes() {
    // 1 stores x = 1 twice; 0 in between is what the reader must not see last.
    let twice = vec![store(1, 1), store(1, 1), store(2, 1)];
    let reader = vec![load(0, 2), load(1, 1), not_both(1, 0)];
    let one = straight(vec![(1, twice.clone()), (1, reader.clone())]);
    assert_eq!(most_silent(&one, Buffering::Fifo), [1, 2, 3, 4]);
    let two_copies = straight(vec![(2, twice.clone()), (1, reader.clone())]);
    assert_eq!(most_silent(&two_copies, Buffering::Fifo), [3, 4]);
    let two_threads = straight(vec![(1, twice.clone()), (1, vec![store(1, 0)]), (1, reader.clone())]);
    assert_eq!(most_silent(&two_threads, Buffering::Fifo), [2, 3, 4]);
    let nobody_runs = straight(vec![(1, twice), (0, vec![store(1, 0)]), (1, reader)]);
    assert_eq!(most_silent(&nobody_runs, Buffering::Fifo), [1, 2, 3, 4]);
    for program in [&one, &two_copies] {
        reached(program, target(1, 2));
    }
}

/// A computed address may be any, so that it makes nothing silent and is in no slice, unless bounds
/// say where it lies.
#[test]
fn computed_addresses_need_bounds() {
    let computed = Action::Store { address: Expression::binary(BinaryOperator::Add, c(2), r(0)), value: c(1) };
    let program = straight(vec![
        (1, vec![computed]),
        (1, vec![load(0, 1), Action::Ensure(Expression::unary(UnaryOperator::Not, r(0)))]),
    ]);
    assert_eq!(most_silent(&program, Buffering::Fifo), [1, 2, 3, 4]);
    let goal = [target(1, 1)];
    let slice = vec![vec![InstructionId::from_index(0)], Vec::new()];
    assert!(sliced(&program, &slice, &goal, &Observed::new(), None).is_err());
    let zero = vec![Interval { low: 0, high: 0 }];
    let bounds = ValueInvariant {
        registers: vec![vec![zero.clone(), zero.clone()]; 2],
        memory: vec![AddressInterval {
            addresses: Interval { low: 2, high: 2 },
            values: vec![Interval { low: 0, high: 1 }],
        }],
    };
    let proof = PropertyProof {
        targets: goal.to_vec(),
        slice,
        bounds: Some(bounds.clone()),
        reason: PropertyReason::Values(bounds),
    };
    let evidence = PropertyEvidence { model: Model::Pso, proofs: vec![proof], plain_posts: None };
    check_property(&program, None, &evidence).expect("the store is to address 2");
    let mut without = evidence.clone();
    without.proofs[0].bounds = None;
    assert!(check_property(&program, None, &without).is_err());
    let mut elsewhere = evidence;
    elsewhere.proofs[0].bounds.as_mut().expect("there are bounds").memory[0].addresses = Interval { low: 3, high: 3 };
    assert!(check_property(&program, None, &elsewhere).is_err());
}

/// What a condition reads cannot be left out, nor what it is computed from, through memory and
/// through registers that are used again after the target.
#[test]
fn slices_keep_what_conditions_depend_on() {
    let program = straight(vec![
        (1, vec![store(1, 1), store(2, 1)]),
        (
            1,
            vec![
                load(0, 1),
                Action::Assign { register: RegisterId::from_index(1), value: r(0) },
                not_both(1, 1),
                load(1, 2),
            ],
        ),
    ]);
    let goal = [target(1, 2)];
    let allowed = |thread: usize, instruction: usize| {
        let mut slice = vec![Vec::new(), Vec::new()];
        slice[thread].push(InstructionId::from_index(instruction));
        sliced(&program, &slice, &goal, &Observed::new(), None).is_ok()
    };
    assert!(!allowed(0, 0), "the store of what is loaded");
    assert!(!allowed(1, 0), "the load");
    assert!(!allowed(1, 1), "the assignment");
    assert!(!allowed(1, 2), "the target");
    assert!(allowed(1, 3), "a load behind the target");
    assert!(!allowed(0, 1), "a store that is loaded, as long as the load stays");
    let both = vec![vec![InstructionId::from_index(1)], vec![InstructionId::from_index(3)]];
    assert!(sliced(&program, &both, &goal, &Observed::new(), None).is_ok());
}

/// Locks, fences and `fail` cannot be left out, and a locked instruction that is left out still
/// drains the buffer.
#[test]
fn slices_keep_what_drains_and_what_stops() {
    let exchange = Action::Rmw { register: None, address: c(4), new: c(1) };
    for (action, allowed) in [
        (Action::Lock, false),
        (Action::Unlock, false),
        (Action::Fence, false),
        (Action::StoreFence, false),
        (Action::Fail, false),
        (exchange, true),
        (assume(0), true),
    ] {
        let program = straight(vec![(1, vec![action, not_both(1, 1)])]);
        let slice = vec![vec![InstructionId::from_index(0)]];
        let sliced = sliced(&program, &slice, &[target(0, 1)], &Observed::new(), None);
        assert_eq!(sliced.is_ok(), allowed);
        if let Ok(sliced) = sliced {
            let left = &sliced.threads[0].instructions[0].action;
            assert_eq!(left.drains_buffer(), program.threads[0].instructions[0].action.drains_buffer());
        }
    }
}

/// A thread that holds the lock for ever keeps the others from memory and not from their own
/// instructions: what they can violate meanwhile they can violate before. One that ends with stores
/// in its buffer still lets them reach memory.
#[test]
fn a_lock_that_is_never_given_back_hides_nothing() {
    let holder = vec![Action::Lock, store(1, 1)];
    let other = vec![store(2, 1), load(0, 2), Action::Ensure(Expression::unary(UnaryOperator::Not, r(0)))];
    let program = straight(vec![(1, holder), (1, other)]);
    assert_eq!(reached(&program, target(1, 2)), [true; 3]);
    let stores = straight(vec![
        (1, vec![store(1, 1)]),
        (1, vec![load(0, 1), Action::Ensure(Expression::unary(UnaryOperator::Not, r(0)))]),
    ]);
    assert_eq!(reached(&stores, target(1, 1)), [true; 3]);
    // Here the store is buffered when the thread has nothing more to execute, and a load has kept
    // it from being dead.
    let stopped = vec![store(1, 1), load(0, 2), assume(7)];
    let stopped = straight(vec![
        (1, stopped),
        (1, vec![load(0, 1), Action::Ensure(Expression::unary(UnaryOperator::Not, r(0)))]),
    ]);
    assert_eq!(reached(&stopped, target(1, 1)), [true; 3]);
}
