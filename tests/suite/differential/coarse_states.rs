//! Final states by sufficient events and coarse states, against a search that takes every event of
//! every state.

use super::simulated_counters::is_real;
use super::{Amount, Compared, compare_generated, of_class};
use palisade::limits::Limits;
use palisade::program::{
    Action, Copies, Instruction, InstructionId, JointState, LabelId, Place, Program, SourceText, Span, Thread, ThreadId,
};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{
    Computation, CopyId, Effect, FinalStates, Instance, Machine, Model, Search, State, StepKind, Told, is_reached,
    search_final_states,
};
use palisade::syntax::{Format, read};
use std::collections::{BTreeSet, HashSet, VecDeque};

const CAPACITY: usize = 2;

/// With more states a program is left out.
const MOST_STATES: usize = 30_000;

/// What all computations come to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcomes {
    completed: BTreeSet<State>,
    stuck: BTreeSet<State>,
    violations: BTreeSet<(CopyId, InstructionId)>,
    joint: BTreeSet<usize>,
}

/// Takes every event of every state; nothing where there are too many states, or a step lacks a
/// value.
fn enumerated(machine: &Machine<'_>) -> Option<(Outcomes, usize)> {
    let mut outcomes = Outcomes::default();
    let mut seen = HashSet::from([machine.initial_state()]);
    let mut open = VecDeque::from([machine.initial_state()]);
    while let Some(state) = open.pop_front() {
        let mut events = Vec::new();
        for position in 0..machine.copies().len() {
            machine.events(&state, position, &mut events).ok()?;
        }
        let joint = machine.program().never.iter().enumerate();
        outcomes.joint.extend(joint.filter(|(_, joint)| is_reached(joint, machine, &state)).map(|(index, _)| index));
        if events.is_empty() {
            let has_ended = (0..machine.copies().len()).all(|position| machine.has_ended(&state, position));
            let is_completed = has_ended && state.buffers_are_empty();
            let finals = if is_completed { &mut outcomes.completed } else { &mut outcomes.stuck };
            finals.insert(state);
            continue;
        }
        for event in events {
            if let (Effect::Violation | Effect::Failure, StepKind::Execute { instruction, .. }) =
                (event.effect, event.step.kind)
            {
                outcomes.violations.insert((event.step.copy, instruction));
            }
            let successor = machine.successor(&state, &event);
            if seen.insert(successor.clone()) {
                open.push_back(successor);
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some((outcomes, seen.len()))
}

fn compare_under(program: &Program, model: Model) -> Compared {
    let instance = Instance::of(program).expect("copies are fixed");
    let machine = Machine::new(program, &instance, model).with_capacity(CAPACITY);
    let Some((expected, states)) = enumerated(&machine) else { return Ok("too many states") };
    let search = Search { capacity: CAPACITY, told: Told::Apart, values: usize::MAX, is_coarse: true };
    let mut found = FinalStates::default();
    search_final_states(program, &instance, model, search, &Limits::none(), &mut found)
        .map_err(|error| error.to_string())?;
    let computations = found.violations.values().chain(found.joint.values()).chain(&found.to_stuck);
    if let Some(unreal) = computations.into_iter().find(|computation| !is_real(&machine, computation)) {
        return Err(format!("{model:?}: no computation: {:?}", unreal.events));
    }
    let ends_in = |computation: &Computation| computation.events.last().map(|event| event.step.copy);
    if let Some((of, _)) = found.violations.iter().find(|((copy, _), shown)| ends_in(shown) != Some(*copy)) {
        return Err(format!("{model:?}: another copy violates than {of:?}"));
    }
    let explored = found.explored;
    let outcomes = Outcomes {
        completed: found.completed.into_iter().collect(),
        stuck: found.stuck.into_iter().collect(),
        violations: found.violations.into_keys().collect(),
        joint: found.joint.into_keys().collect(),
    };
    if outcomes != expected {
        return Err(format!("{model:?}: {outcomes:?}, not {expected:?}"));
    }
    Ok(if 2 * explored <= states { "at most half of the states" } else { "more states" })
}

/// A random program with a loop of its own in the first thread, so that states are coarse, now and
/// then with two copies of it, and a joint state.
fn generated(seed: u64) -> Program {
    let shape = Shape {
        loops: [0, 25, 50][usize::try_from(seed % 3).expect("it is small")],
        sections: if seed.is_multiple_of(4) || seed.is_multiple_of(5) { 15 } else { 0 },
        domains: 60,
        choices: 10,
        properties: 20,
        store_fences: 5,
        ..Shape::default()
    };
    let mut program = random::program(seed, &shape);
    program.threads.iter_mut().for_each(|thread| {
        if thread.copies == Copies::Any {
            thread.copies = Copies::Exactly(1);
        }
    });
    let thread = &mut program.threads[0];
    if seed.is_multiple_of(5) {
        thread.copies = Copies::Exactly(2);
    }
    thread.instructions.push(Instruction::new(thread.initial, thread.initial, Action::Nop, Span::default()));
    let place = |(thread, own): (ThreadId, &Thread)| {
        let labels = u64::try_from(own.labels.len()).expect("few labels");
        let label = usize::try_from(seed % labels).expect("few labels");
        Place { thread, label: LabelId::from_index(label) }
    };
    let places = program.thread_ids().map(place).collect();
    program.never.extend(JointState::new(places, Span::default()));
    program
}

#[test]
fn coarse_states_lose_nothing() {
    let amount = Amount { default: 60, long: 20_000 };
    let classes = compare_generated("coarse states", 1, amount, generated, |program| {
        let classes = [Model::Sc, Model::Tso, Model::Pso].map(|model| compare_under(program, model));
        classes.into_iter().reduce(Result::and).expect("there are models")
    });
    assert!(of_class(&classes, "at most half of the states") >= 5, "{classes:?}");
}

/// A copy that is stuck, has ended or failed shows registers that nobody reads any more.
#[test]
fn final_states_show_dead_registers() {
    let text = "program Shown
address x
thread a regs r, s init first begin
  first: r <- mem[x]; goto second;
  second: s <- r + 5; goto third;
  second: nop; goto bad;
  third: assume s > 6; goto bad;
  third: assume s < 5; goto bad;
  bad: fail;
end
thread b regs t init spin begin
  spin: nop; goto spin;
  spin: t <- 7; goto put;
  put: mem[x] <- 1; goto done;
end
";
    let program = read(SourceText::new("shown.pal", text), Format::Native).expect("it is a program").program;
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        compare_under(&program, model).expect("final states are the same");
    }
}

/// Who holds the lock is put elsewhere by what it reads, and the lock goes with it.
#[test]
fn the_lock_goes_with_its_holder() {
    let text = "program Sections
domain 0..3
address x, y
thread worker [3] regs r init enter begin
  enter: lock; goto look;
  look: r <- mem[x]; goto count;
  count: mem[x] <- r + 1; goto leave;
  leave: unlock; goto tell;
  tell: mem[y] <- r; goto done;
end
";
    let program = read(SourceText::new("sections.pal", text), Format::Native).expect("it is a program").program;
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        assert_ne!(compare_under(&program, model), Ok("too many states"));
        compare_under(&program, model).expect("final states are the same");
    }
}

/// Four copies have 24 orders.
#[test]
fn copies_stand_for_each_other() {
    let text = "program Tickets
domain 0..7 wrap
address next, serving
thread worker [4] regs mine, now init draw begin
  draw: mine <- fetch_add(mem[next], 1); goto wait;
  wait: now <- mem[serving]; goto look;
  look: assert now = mine; goto serve;
  look: assert now != mine; goto wait;
  serve: mem[serving] <- now + 1; goto done;
end
";
    let program = read(SourceText::new("tickets.pal", text), Format::Native).expect("it is a program").program;
    let instance = Instance::of(&program).expect("copies are fixed");
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let [apart, coarse] = [false, true].map(|is_coarse| {
            let search = Search { capacity: CAPACITY, told: Told::Apart, values: usize::MAX, is_coarse };
            let mut found = FinalStates::default();
            search_final_states(&program, &instance, model, search, &Limits::none(), &mut found).expect("it ends");
            found
        });
        assert_eq!((&apart.completed, apart.completed.len()), (&coarse.completed, 24), "{model:?}");
        assert!(8 * coarse.explored < apart.explored, "{model:?}: {} of {}", coarse.explored, apart.explored);
    }
}
