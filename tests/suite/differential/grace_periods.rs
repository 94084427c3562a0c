//! Grace periods of RCU in litmus tests against an oracle that has them as such: it knows who is in
//! a read section, and has no hidden locations.

use super::dice::Dice;
use crate::environment::seeds;
use palisade::limits::Limits;
use palisade::program::SourceText;
use palisade::semantics::{Counting, Instance, LOOP_CAPACITY, Model, final_states};
use palisade::syntax::litmus;
use std::collections::{BTreeMap, BTreeSet};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Read(usize),
    Write(usize, u8),
    Begin,
    End,
    Synchronize,
}

const NAMES: [&str; 2] = ["x", "y"];

/// A few threads, each with a section or a grace period.
fn threads(dice: &mut Dice) -> Vec<Vec<Step>> {
    let (mut value, mut graces) = (0, 0);
    let count = 2 + dice.place(2);
    let thread = |dice: &mut Dice, value: &mut u8, graces: &mut usize| {
        let (mut steps, mut is_inside) = (Vec::new(), false);
        for _ in 0..3 {
            match dice.below(4) {
                0 if !is_inside && *graces < 2 => {
                    *graces += 1;
                    steps.push(Step::Synchronize);
                }
                0 | 1 => {
                    steps.push(if is_inside { Step::End } else { Step::Begin });
                    is_inside = !is_inside;
                }
                _ => {}
            }
            let place = dice.place(NAMES.len());
            steps.push(if dice.below(2) == 0 {
                Step::Read(place)
            } else {
                *value += 1;
                Step::Write(place, *value)
            });
        }
        if is_inside {
            steps.push(Step::End);
        }
        steps
    };
    (0..count).map(|_| thread(dice, &mut value, &mut graces)).collect()
}

fn text(threads: &[Vec<Step>]) -> String {
    let mut out = String::from("C t\n{ }\n");
    let mut observed = String::from("x; y;");
    for (number, steps) in threads.iter().enumerate() {
        out.push_str(&format!("void P{number}(int *x, int *y) {{\n"));
        let mut reads = 0;
        for step in steps {
            out.push_str(&match step {
                Step::Read(place) => {
                    observed.push_str(&format!(" {number}:r{reads};"));
                    reads += 1;
                    format!("  int r{} = READ_ONCE(*{});\n", reads - 1, NAMES[*place])
                }
                Step::Write(place, value) => format!("  WRITE_ONCE(*{}, {value});\n", NAMES[*place]),
                Step::Begin => "  rcu_read_lock();\n".to_owned(),
                Step::End => "  rcu_read_unlock();\n".to_owned(),
                Step::Synchronize => "  synchronize_rcu();\n".to_owned(),
            });
        }
        out.push_str("}\n");
    }
    format!("{out}locations [{observed}]\n")
}

/// A thread on its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    at: usize,
    read: Vec<u8>,
    buffer: Vec<(usize, u8)>,
    is_inside: bool,
    /// Whom it waits for to be outside of a section with an empty buffer.
    waits_for: Option<BTreeSet<usize>>,
}

type State = ([u8; 2], Vec<Thread>);

/// All final states: memory, and what each thread has read.
fn oracle(program: &[Vec<Step>], model: Model) -> BTreeSet<([u8; 2], Vec<Vec<u8>>)> {
    let start = Thread { at: 0, read: Vec::new(), buffer: Vec::new(), is_inside: false, waits_for: None };
    let mut open: Vec<State> = vec![([0; 2], vec![start; program.len()])];
    let mut seen: BTreeSet<State> = open.iter().cloned().collect();
    let mut found = BTreeSet::new();
    while let Some(state) = open.pop() {
        let (memory, threads) = &state;
        if threads.iter().zip(program).all(|(own, steps)| own.at == steps.len() && own.buffer.is_empty()) {
            found.insert((*memory, threads.iter().map(|own| own.read.clone()).collect()));
        }
        for index in 0..program.len() {
            for mut next in successors(&state, program, index, model) {
                let quiet: BTreeSet<usize> = (0..program.len())
                    .filter(|other| !next.1[*other].is_inside && next.1[*other].buffer.is_empty())
                    .collect();
                for waits_for in next.1.iter_mut().filter_map(|own| own.waits_for.as_mut()) {
                    waits_for.retain(|other| !quiet.contains(other));
                }
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    found
}

fn successors(state: &State, program: &[Vec<Step>], index: usize, model: Model) -> Vec<State> {
    let mut all = Vec::new();
    let own = &state.1[index];
    if let Some((place, value)) = own.buffer.first() {
        let mut next = state.clone();
        next.0[*place] = *value;
        next.1[index].buffer.remove(0);
        all.push(next);
    }
    let Some(step) = program[index].get(own.at) else { return all };
    let mut next = state.clone();
    let moved = &mut next.1[index];
    moved.at += 1;
    match *step {
        Step::Read(place) => {
            let buffered = own.buffer.iter().rev().find(|(other, _)| *other == place);
            moved.read.push(buffered.map_or(state.0[place], |(_, value)| *value));
        }
        Step::Write(place, value) if model == Model::Sc => next.0[place] = value,
        Step::Write(place, value) => moved.buffer.push((place, value)),
        Step::Begin => moved.is_inside = true,
        Step::End => moved.is_inside = false,
        Step::Synchronize => match &own.waits_for {
            None if own.buffer.is_empty() => {
                moved.at -= 1;
                let has_sections = |other: &usize| *other != index && program[*other].contains(&Step::Begin);
                moved.waits_for = Some((0..program.len()).filter(has_sections).collect());
            }
            Some(others) if others.is_empty() => moved.waits_for = None,
            _ => return all,
        },
    }
    all.push(next);
    all
}

/// The same by the reader and the machine of the house.
fn final_rows(text: &str, count: usize, model: Model) -> BTreeSet<([u8; 2], Vec<Vec<u8>>)> {
    let test = litmus::read(SourceText::new("t.litmus", text)).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let instance = Instance::of(&test.program).expect("one copy each");
    let states = final_states(&test.program, &instance, model, LOOP_CAPACITY, &Limits::none()).expect("values exist");
    let observed = test.question.answer(&test.program, &instance, &states.completed, Counting::Rows);
    let row = |row: &Vec<String>| {
        let (mut memory, mut read) = ([0; 2], vec![BTreeMap::new(); count]);
        for (name, value) in observed.columns.iter().zip(row) {
            let value: u8 = value.parse().expect("a small number");
            match name.split_once(":r") {
                Some((thread, register)) => {
                    let number = |text: &str| text.parse::<usize>().expect("a number");
                    read[number(thread)].insert(number(register), value);
                }
                None => memory[usize::from(name.contains('y'))] = value,
            }
        }
        (memory, read.into_iter().map(|own| own.into_values().collect()).collect())
    };
    observed.rows.iter().map(row).collect()
}

#[test]
fn grace_periods_are_those_of_an_oracle_that_knows_sections() {
    let (mut synchronised, mut buffers_show) = (0, 0);
    for seed in seeds(8, 4000) {
        let threads = threads(&mut Dice(seed));
        let is_one = |wanted: Step| threads.iter().any(|steps| steps.contains(&wanted));
        let text = text(&threads);
        let [sc, tso] = [Model::Sc, Model::Tso].map(|model| {
            let expected = oracle(&threads, model);
            assert_eq!(final_rows(&text, threads.len(), model), expected, "seed {seed}, {model:?}:\n{text}");
            expected
        });
        synchronised += usize::from(is_one(Step::Synchronize) && is_one(Step::Begin));
        buffers_show += usize::from(sc != tso);
    }
    assert!(synchronised > 2 && buffers_show > 0, "{synchronised} {buffers_show}");
}
