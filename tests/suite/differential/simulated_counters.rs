//! Final states up to turns of counters: with what adding one number to all members makes of them
//! they are those of a simulation that tells all states apart, and so are the properties that are
//! violated.

use super::counters::with_domains;
use super::property_counters::with_properties;
use super::{Amount, Compared, compare_generated, of_class};
use palisade::limits::Limits;
use palisade::program::{
    Action, BinaryOperator, Copies, Expression, Instruction, LabelId, Program, RegisterId, SourceText, Span, Value,
};
use palisade::semantics::{
    Computation, Effect, Event, FinalStates, Instance, Machine, Model, Search, State, Told, Turns, search_final_states,
};
use palisade::syntax::{Format, read};
use std::collections::BTreeSet;
use std::time::Duration;

/// What is seen of a final state: its memory, the registers of its copies, and what no turn
/// changes: where they have ended, and who holds the lock for ever.
type Seen = (Vec<Value>, Vec<Vec<Value>>, (Vec<Option<LabelId>>, Option<usize>));

/// The addresses of random programs with counters.
const ADDRESSES: std::ops::Range<Value> = 0..8;

/// The program, one thread of which may end in `fail`.
fn with_failure(mut program: Program, seed: u64) -> Program {
    if seed.is_multiple_of(7) {
        let last = program.threads[0].instructions.last_mut().expect("threads have instructions");
        last.action = Action::Fail;
    }
    program
}

/// The program whose first thread may add 1 to a counter first, as often as it likes.
fn with_rounds(mut program: Program, seed: u64) -> Program {
    if seed.is_multiple_of(2) {
        let thread = &mut program.threads[0];
        let new = Expression::binary(BinaryOperator::Add, Expression::Old, Expression::Constant(1));
        let address = Expression::Constant(1 + Value::from(seed.is_multiple_of(4)));
        let action = Action::Rmw { register: Some(RegisterId::from_index(0)), address, new };
        let (source, target) = (thread.initial, thread.initial);
        thread.instructions.push(Instruction::new(source, target, action, Span::default()));
    }
    program
}

fn search(program: &Program, instance: &Instance, model: Model, told: Told) -> Option<FinalStates> {
    let limits = Limits::none().with_timeout(Duration::from_secs(1));
    let search = Search { capacity: 2, told, values: 64, is_coarse: told != Told::Apart };
    let mut found = FinalStates::default();
    search_final_states(program, instance, model, search, &limits, &mut found).ok().map(|()| found)
}

fn seen(state: &State) -> Seen {
    let memory = ADDRESSES.map(|address| state.memory(address)).collect();
    let registers = state.threads().iter().map(|thread| thread.registers.to_vec()).collect();
    let labels = state.threads().iter().map(|thread| thread.label).collect();
    (memory, registers, (labels, state.holder()))
}

/// All that a number added to all members of a class, and a number added to those of the next one,
/// make of a final state.
fn all_turned(machine: &Machine<'_>, turns: &Turns, state: &State) -> BTreeSet<Seen> {
    let domain = machine.program().domain.expect("the domain is small");
    let size = Value::try_from(domain.size()).expect("it is small");
    let mut all = BTreeSet::from([seen(state)]);
    for (number, class) in turns.classes().iter().enumerate() {
        let registers = turns.registers(machine, number, std::slice::from_ref(state));
        let turned = |(memory, threads, rest): &Seen, by: Value| {
            let (mut memory, mut threads) = (memory.clone(), threads.clone());
            let add = |value: &mut Value| *value = (*value - domain.low + by).rem_euclid(size) + domain.low;
            class.cells.iter().for_each(|cell| add(&mut memory[usize::try_from(*cell).expect("few addresses")]));
            registers.iter().for_each(|(position, register)| add(&mut threads[*position][*register]));
            (memory, threads, rest.clone())
        };
        let by = || (0..size).filter(|by| by % class.step == 0);
        all = all.iter().flat_map(|seen| by().map(move |by| turned(seen, by))).collect();
    }
    all
}

/// Whether each step of a computation is possible, from the initial state on.
pub(super) fn is_real(machine: &Machine<'_>, computation: &Computation) -> bool {
    let mut state = machine.initial_state();
    let is_possible = |event: &Event| {
        let is_possible = machine.event(&state, event.step) == Ok(*event);
        if is_possible {
            machine.take(&mut state, event);
        }
        is_possible
    };
    computation.events.iter().all(is_possible) && state == computation.last
}

fn compare_under(program: &Program, instance: &Instance, model: Model) -> Compared {
    let (Some(apart), Some(turned)) =
        (search(program, instance, model, Told::Apart), search(program, instance, model, Told::UpToTurns))
    else {
        return Ok("too many states");
    };
    let machine = Machine::new(program, instance, model);
    let Some(turns) = &turned.turns else {
        return if apart.completed == turned.completed { Ok("no counters") } else { Err("other states".to_owned()) };
    };
    let all: BTreeSet<Seen> = apart.completed.iter().map(seen).collect();
    let mut covered = BTreeSet::new();
    for state in &turned.completed {
        let own = all_turned(&machine, turns, state);
        if own.is_disjoint(&all) {
            return Err(format!("{model:?}: nothing that turns into a final state is reached: {:?}", seen(state)));
        }
        if !own.is_disjoint(&covered) {
            return Err(format!("{model:?}: two final states turn into each other: {:?}", seen(state)));
        }
        covered.extend(own);
    }
    if let Some(missed) = all.iter().find(|state| !covered.contains(*state)) {
        return Err(format!("{model:?}: a final state is missed: {missed:?}"));
    }
    if !apart.violations.keys().eq(turned.violations.keys()) {
        return Err(format!("{model:?}: other properties are violated"));
    }
    if apart.stuck.is_empty() != turned.stuck.is_empty() {
        return Err(format!("{model:?}: threads get stuck with counters alone, or without them alone"));
    }
    let bounded = machine.clone().with_capacity(2);
    for computation in turned.violations.values().chain(&turned.to_stuck) {
        if ![&machine, &bounded].into_iter().any(|machine| is_real(machine, computation)) {
            return Err(format!("{model:?}: what is shown is no computation"));
        }
    }
    let ends = |computation: &Computation| {
        matches!(computation.events.last().map(|event| event.effect), Some(Effect::Violation | Effect::Failure))
    };
    if !turned.violations.values().all(ends) {
        return Err(format!("{model:?}: a computation does not end in a violation"));
    }
    Ok(match (turned.completed.len() < apart.completed.len(), turned.explored < apart.explored) {
        (true, _) => "fewer final states",
        (false, true) => "fewer states",
        (false, false) => "as many states",
    })
}

fn compare(program: &Program) -> Compared {
    let instance = Instance::of(program).expect("the copies are given");
    if program.domain.is_none() {
        return Ok("no domain");
    }
    let mut class = "no counters";
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        class = compare_under(program, &instance, model)?;
    }
    Ok(class)
}

#[test]
fn final_states_are_those_without_counters() {
    let amount = Amount { default: 20, long: 10_000 };
    let copies = [Copies::Exactly(1), Copies::Exactly(1), Copies::Exactly(2)];
    let generate = |seed| {
        let program = with_properties(with_domains(seed, &copies), seed);
        with_rounds(with_failure(program, seed), seed)
    };
    let counts = compare_generated("counters, simulated", 7_000_000, amount, generate, compare);
    assert!(of_class(&counts, "fewer final states") > 0 && of_class(&counts, "fewer states") > 0, "{counts:?}");
}

/// A ticket lock that ends, as a thread that has served its ticket goes on to its end or draws
/// another one.
#[test]
fn registers_at_ends_turn_with_their_counters() {
    let text = "program Tickets
domain 0..6 wrap
address next, serving
thread a [2] regs mine, now, again init draw begin
  draw: mine <- fetch_add(mem[next], 1);
  wait: now <- mem[serving];
  served: assert now = mine; goto serve;
  served: assert now != mine; goto wait;
  serve: mem[serving] <- now + 1; goto draw;
  serve: mem[serving] <- now + 1; goto leave;
  leave: again <- 0;
end";
    let program = read(SourceText::new("tickets.pal", text), Format::Native).expect("it is a program").program;
    assert_eq!(compare(&program), Ok("fewer final states"));
    let turns = Turns::of(&program).expect("it has counters");
    let instance = Instance::of(&program).expect("the copies are given");
    let found = search(&program, &instance, Model::Tso, Told::UpToTurns).expect("there are few states");
    let machine = Machine::new(&program, &instance, Model::Tso);
    // `mine` and `now` of both copies; `again` is 0 at the end.
    let registers = turns.registers(&machine, 0, &found.completed);
    assert_eq!(registers, BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]));
}
