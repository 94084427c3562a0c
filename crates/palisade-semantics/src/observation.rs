//! What final states answer to a question: the rows of a table, and whether the condition holds.

use super::condition::{Condition, Location, Observable, Proposition, Quantifier, Question};
use super::instance::Instance;
use super::machine::{Machine, Model, State};
use palisade_model::program::{Program, RegisterId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What is counted as satisfying a condition or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Every row of the table once.
    Rows,
    /// Every final state given, which may stand for one execution each.
    Executions,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The columns: `0:EAX`, `[x]`.
    pub columns: Vec<String>,
    /// The rows as shown, each once, ascending by their values.
    pub rows: Vec<Vec<String>>,
    /// How many rows or executions satisfy the condition's proposition.
    pub satisfying: u64,
    /// How many do not.
    pub others: u64,
    /// Whether the condition holds.
    pub holds: bool,
}

/// One column of the table: where its values come from, and how they are shown.
struct Column<'q> {
    location: &'q Location,
    /// The position of the copy whose register it is.
    position: Option<usize>,
    name: String,
}

impl Question {
    /// The question of a program that asks nothing: all registers and all named addresses, no
    /// condition.
    pub fn about_everything(program: &Program) -> Self {
        let mut locations = Vec::new();
        for (thread, template) in program.thread_ids() {
            for (index, register) in template.registers.iter().enumerate() {
                let register_id = RegisterId::from_index(index);
                let observable = Observable::Register { thread, register: register_id };
                locations.push(Location::whole(observable, format!("{}:{}", thread.index(), register.name)));
            }
        }
        for name in &program.addresses {
            for offset in 0..name.length {
                let address = name.address + Value::from(offset);
                locations.push(Location::whole(Observable::Address(address), program.address_name(address)));
            }
        }
        Self { filter: None, condition: None, locations }
    }

    /// The question about every cell as well that has no name and does not hold 0 in one of these
    /// states.
    #[must_use]
    pub fn with_unnamed_cells<'s>(mut self, program: &Program, states: impl IntoIterator<Item = &'s State>) -> Self {
        let asked: BTreeSet<Value> =
            self.locations.iter().filter_map(|location| location.observable.address()).collect();
        let cells = states.into_iter().flat_map(State::nonzero_memory).map(|(address, _)| *address);
        let unnamed: BTreeSet<Value> = cells.filter(|address| !asked.contains(address)).collect();
        let location = |address| Location::whole(Observable::Address(address), program.address_name(address));
        self.locations.extend(unnamed.into_iter().map(location));
        self
    }

    /// The condition, `forall (true)` where there is none.
    pub fn condition(&self) -> Condition {
        let nothing = Condition { quantifier: Quantifier::ForAll, proposition: Proposition::True };
        self.condition.clone().unwrap_or(nothing)
    }

    /// Whether a final state of an instance satisfies the condition's proposition; nothing if the
    /// question leaves it out.
    pub fn is_satisfied(&self, program: &Program, instance: &Instance, state: &State) -> Option<bool> {
        let machine = Machine::new(program, instance, Model::Sc);
        let value = |observable| observed(&machine, state, observable);
        self.keeps(&value).then(|| self.condition().proposition.holds(&value))
    }

    /// Answers the question for these final states of an instance.
    ///
    /// A condition speaks of the first copy of a thread; the table has a column for every copy.
    pub fn answer(&self, program: &Program, instance: &Instance, states: &[State], counting: Counting) -> Observation {
        let machine = Machine::new(program, instance, Model::Sc);
        let locations = self.observed();
        let columns = columns(&locations, &machine, instance);
        let condition = self.condition();
        let mut rows: BTreeMap<Vec<Value>, Vec<String>> = BTreeMap::new();
        let (mut satisfying, mut others) = (0, 0);
        for state in states {
            let value = |observable| observed(&machine, state, observable);
            if !self.keeps(&value) {
                continue;
            }
            let raw = |column: &Column<'_>| match (column.location.observable, column.position) {
                (Observable::Register { register, .. }, Some(position)) => {
                    state.threads()[position].registers[register.index()]
                }
                (observable, _) => value(observable),
            };
            let row = columns.iter().map(|column| column.location.view.see(raw(column))).collect();
            let mut is_new = false;
            rows.entry(row).or_insert_with(|| {
                is_new = true;
                columns.iter().map(|column| column.location.shown(raw(column), program)).collect()
            });
            if is_new || counting == Counting::Executions {
                *(if condition.proposition.holds(&value) { &mut satisfying } else { &mut others }) += 1;
            }
        }
        let holds = match condition.quantifier {
            Quantifier::Exists => satisfying > 0,
            Quantifier::NotExists => satisfying == 0,
            Quantifier::ForAll => others == 0,
        };
        let columns = columns.into_iter().map(|column| column.name).collect();
        Observation { columns, rows: rows.into_values().collect(), satisfying, others, holds }
    }
}

/// What a condition observes in a final state: of a thread's copies the first one's registers.
fn observed(machine: &Machine<'_>, state: &State, observable: Observable) -> Value {
    match observable {
        Observable::Register { thread, register } => match machine.positions(thread).next() {
            Some(position) => state.threads()[position].registers[register.index()],
            None => machine.program().thread(thread).registers[register.index()].initial,
        },
        Observable::Address(address) => state.memory(address),
    }
}

fn columns<'q>(locations: &'q [Location], machine: &Machine<'_>, instance: &Instance) -> Vec<Column<'q>> {
    let mut columns = Vec::new();
    let single = instance.counts().iter().all(|count| *count <= 1);
    for location in locations {
        let Observable::Register { thread, .. } = location.observable else {
            columns.push(Column { location, position: None, name: location.to_string() });
            continue;
        };
        for position in machine.positions(thread) {
            // Several copies: the number before the colon is the copy's place among all.
            let register = location.name.split_once(':').map_or(location.name.as_str(), |(_, register)| register);
            let name = if single { location.to_string() } else { format!("{position}:{register}") };
            columns.push(Column { location, position: Some(position), name });
        }
    }
    columns
}
