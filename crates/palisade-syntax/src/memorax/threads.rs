//! The program of a test: a thread for each process, what comes before they start, and the joint
//! control states.

use super::ast::PlaceKind;
use super::ast::{Process, Range, Row, Test};
use super::body::Body;
use super::lower::Between;
use super::memory::{Memory, places};
use crate::suggest::did_you_mean_or_list;
use crate::{Diagnostic, program_name};
use palisade_model::program::{
    Action, AddressId, AddressName, BinaryOperator, Copies, Domain, DomainOrigin, Expression, Instruction,
    InstructionId, JointState, Label, LabelId, Liveness, NameSpace, Place, Posts, Program, Register, RegisterId, Role,
    Thread, ThreadId, Value,
};
use palisade_model::text::{SourceText, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// More processes than this are not counted out as threads of their own.
const MOST_THREADS: u64 = 1000;

/// The threads counted out may have so many words in all.
const MOST_WORDS: usize = 1 << 20;

/// So many values to start with can be chosen among.
const MOST_CHOICES: i128 = 4096;

/// What `started` holds once the variables have their values.
const STARTED: Value = 2;

/// The program of a test, or what in it means nothing.
pub(super) fn program(test: &Test<'_>, source: &Arc<SourceText>) -> Result<Program, Vec<Diagnostic>> {
    let mut found = Vec::new();
    sizes(test, &mut found);
    if !found.is_empty() {
        return Err(found);
    }
    let memory = Memory::of(test, &mut found);
    let starter = Starter::of(&memory, &mut found);
    let mut threads = Vec::new();
    // The thread of each process.
    let mut owners = Vec::new();
    let mut number = 0;
    for process in &test.processes {
        let copies = usize::try_from(process.count).expect("rows have an entry for each process");
        let alike = copies > 1 && are_alike(process, number, copies);
        for copy in 0..if alike { 1 } else { copies } {
            let first = number + copy;
            let count = if alike { process.count } else { 1 };
            let mut errors = Vec::new();
            let mut body = Body::new(&memory, process, first, source, &mut errors);
            let thread = thread(&mut body, format!("P{first}"), Copies::Exactly(count), starter.as_ref());
            // What is wrong with one copy is wrong with the others.
            if copy == 0 || found.is_empty() {
                found.extend(errors);
            }
            owners.extend(std::iter::repeat_n(ThreadId::from_index(threads.len()), if alike { copies } else { 1 }));
            threads.push(thread);
        }
        number += copies;
    }
    let never = test.rows.iter().filter_map(|row| joint_state(row, &owners, &threads, &mut found)).collect();
    if !found.is_empty() {
        return Err(found);
    }
    let mut addresses = memory.names.clone();
    let initial =
        memory.cells.iter().filter_map(|cell| Some((cell.address, cell.initial.filter(|value| *value != 0)?)));
    let initial_memory: BTreeMap<Value, Value> = initial.collect();
    if let Some(starter) = starter {
        threads.push(starter.thread(&memory));
        addresses.push(starter.name);
    }
    Ok(Program {
        name: program_name(source),
        domain: domain(test, addresses.len() > memory.names.len()),
        addresses,
        initial_memory,
        threads,
        never,
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: source.clone(),
    })
}

/// Finds fault with rows that have not as many entries as there are processes, and with more
/// processes than anybody asks about.
fn sizes(test: &Test<'_>, found: &mut Vec<Diagnostic>) {
    let total = test.processes.iter().fold(0u64, |sum, process| sum.saturating_add(process.count));
    for row in &test.rows {
        if row.entries.len() as u64 != total {
            let entries = row.entries.len();
            let message = format!("this row has {entries} entries, but there are {total} processes");
            found.push(Diagnostic::error(message, row.span).with_note("each process has a label or `*` in each row"));
        }
    }
    let mut words = 0usize;
    for process in &test.processes {
        let copies = usize::try_from(process.count).unwrap_or(usize::MAX);
        let own = copies.saturating_mul(process.variables.len());
        words = words.saturating_add(own.saturating_add(copies.saturating_mul(process.size)));
    }
    if found.is_empty() && (total > MOST_THREADS || words > MOST_WORDS) {
        let span = test.processes.first().map_or(Span::default(), |process| process.span);
        let message = format!("{total} processes of this size are more than are counted out");
        found.push(Diagnostic::error(message, span));
    }
}

/// Whether the copies of a process differ in nothing: it uses no variables of its own, and the
/// variables of others that it names are the same for all of them.
fn are_alike(process: &Process<'_>, first: usize, copies: usize) -> bool {
    places(&process.text).iter().all(|place| match place.kind {
        PlaceKind::Global(_) | PlaceKind::Pointer(_) => true,
        PlaceKind::Own(_) => false,
        PlaceKind::Other(_, number) => {
            usize::try_from(number).is_ok_and(|number| number < first || number >= first + copies - 1)
        }
    })
}

/// The domain that all values lie in, if all are in one. `chosen`: whether some variables start at
/// any value.
fn domain(test: &Test<'_>, chosen: bool) -> Option<Domain> {
    let of_processes = test.processes.iter().flat_map(|process| process.variables.iter().chain(&process.registers));
    let mut hull = Range { low: 0, high: if chosen { STARTED } else { 0 } };
    for variable in test.globals.iter().chain(of_processes) {
        let Range { low, high } = variable.domain?;
        hull = Range { low: hull.low.min(low), high: hull.high.max(high) };
    }
    Some(Domain { low: hull.low, high: hull.high, wrap: false, origin: DomainOrigin::File })
}

/// A forbidden row as a joint control state.
fn joint_state(
    row: &Row<'_>,
    owners: &[ThreadId],
    threads: &[Thread],
    found: &mut Vec<Diagnostic>,
) -> Option<JointState> {
    let mut places = Vec::new();
    for ((label, span), owner) in row.entries.iter().zip(owners) {
        let Some(label) = label else { continue };
        let thread = &threads[owner.index()];
        match thread.label_named(label) {
            Some(label) => places.push(Place { thread: *owner, label }),
            None => {
                let names = thread.labels.iter().map(|label| label.name.as_str());
                let help = did_you_mean_or_list(label, "label", names.filter(|name| !name.starts_with("line")));
                let message = format!("the process {} has no label `{label}`", thread.name);
                found.push(Diagnostic::error(message, *span).with_help_if(help));
            }
        }
    }
    let joint = JointState::new(places, row.span);
    if joint.is_none() && found.is_empty() {
        let message = "this row names no label, so that it forbids every state";
        found.push(Diagnostic::error(message, row.span));
    }
    joint
}

/// A process as a thread: its text, behind what it waits for and chooses before it begins.
fn thread(body: &mut Body<'_, '_>, name: String, copies: Copies, starter: Option<&Starter>) -> Thread {
    let process = body.process;
    let begin = body.begin(&process.text[0]);
    let end = body.end();
    body.sequence(&process.text, Between { from: begin, to: end, shared: false });
    let text = std::mem::take(&mut body.instructions);
    let mut thread = Thread {
        name,
        span: process.span,
        role: Role::Thread,
        copies,
        is_daemon: false,
        registers: body.registers.clone(),
        labels: body.labels.clone(),
        initial: begin,
        instructions: text,
    };
    let drained = std::mem::take(&mut body.drained);
    if !drained.is_empty() {
        let buffered = may_be_buffered(&thread);
        for (label, error) in drained {
            if buffered[label.index()] {
                body.found.push(error);
            }
        }
    }
    let live = Liveness::of(&thread);
    let mut here = begin;
    // Backwards: what is put before is executed before.
    for (index, register) in process.registers.iter().enumerate().rev() {
        let id = RegisterId::from_index(index);
        if register.initial.is_some() || !live.is_live(begin, id) {
            continue;
        }
        let Some(values) = choices(register.domain) else {
            let message = format!("`{}` may start at too many values to choose among", register.name.text);
            let error = Diagnostic::error(message, register.name.span);
            body.found.push(error.with_help("give it a domain, `[0:3]`, or a value"));
            continue;
        };
        let from = body.fresh(register.name.span);
        for value in values {
            let value = Expression::Constant(value);
            body.emit(from, Action::Assign { register: id, value }, here, register.name.span);
        }
        here = from;
    }
    if let Some(starter) = starter {
        let (from, loaded) = (body.fresh(process.span), body.fresh(process.span));
        let register = body.seen();
        let place = starter.place();
        body.emit(from, Action::Load { register, address: place }, loaded, process.span);
        let expected = Expression::Constant(STARTED);
        body.until_seen(expected, loaded, Between { from, to: here, shared: false }, process.span);
        here = from;
    }
    thread.initial = here;
    thread.labels.clone_from(&body.labels);
    let mut before = std::mem::take(&mut body.instructions);
    before.append(&mut thread.instructions);
    thread.instructions = before;
    in_order(thread)
}

/// The values of a domain, if they can be chosen among.
fn choices(domain: Option<Range>) -> Option<std::ops::RangeInclusive<Value>> {
    let Range { low, high } = domain?;
    (i128::from(high) - i128::from(low) < MOST_CHOICES).then_some(low..=high)
}

/// The thread with its labels in order of appearance, as in a text of the native language; labels
/// without instructions that nothing leads to are left out.
fn in_order(mut thread: Thread) -> Thread {
    let mut places: Vec<Option<LabelId>> = vec![None; thread.labels.len()];
    let mut labels: Vec<Label> = Vec::new();
    let mut place = |label: LabelId| {
        *places[label.index()].get_or_insert_with(|| {
            labels.push(thread.labels[label.index()].clone());
            LabelId::from_index(labels.len() - 1)
        })
    };
    for instruction in &mut thread.instructions {
        instruction.source = place(instruction.source);
        instruction.target = place(instruction.target);
    }
    thread.initial = place(thread.initial);
    thread.labels = labels;
    thread
}

/// For each label, whether the store buffer may hold something there, whatever the values.
fn may_be_buffered(thread: &Thread) -> Vec<bool> {
    let by_label = thread.instructions_by_label();
    let mut buffered = vec![false; thread.labels.len()];
    let mut open: Vec<InstructionId> = thread.instruction_ids().map(|(id, _)| id).collect();
    while let Some(id) = open.pop() {
        let Instruction { source, target, action, .. } = thread.instruction(id);
        let after = match action {
            Action::Store { .. } => true,
            action if action.drains_buffer() => false,
            _ => buffered[source.index()],
        };
        if after && !buffered[target.index()] {
            buffered[target.index()] = true;
            open.extend(&by_label[target.index()]);
        }
    }
    buffered
}

/// The thread that gives variables one of the values that they may start at, before any process
/// begins.
struct Starter {
    /// The address at which it says so.
    name: AddressName,
    id: AddressId,
    /// The variables, by number, with their values.
    variables: Vec<(usize, std::ops::RangeInclusive<Value>)>,
}

impl Starter {
    /// The one for these variables; nothing where all have one value to start at.
    fn of(memory: &Memory<'_>, found: &mut Vec<Diagnostic>) -> Option<Self> {
        let mut variables = Vec::new();
        for (index, cell) in memory.cells.iter().enumerate().filter(|(_, cell)| cell.initial.is_none()) {
            match choices(cell.domain) {
                Some(values) => variables.push((index, values)),
                None => {
                    let message = "this variable may start at too many values to choose among";
                    let error = Diagnostic::error(message, cell.span);
                    found.push(error.with_help("give it a domain, `[0:3]`, or a value"));
                }
            }
        }
        let taken: Vec<&str> = memory.names.iter().map(|entry| entry.name.as_str()).collect();
        let name = NameSpace::with_taken(taken).fresh("started");
        let last = memory.cells.last().map_or(0, |cell| cell.address);
        let span = variables.first().map_or(Span::default(), |(index, _): &(usize, _)| memory.cells[*index].span);
        let name = AddressName { name, address: last + 1, length: 1, span };
        let id = AddressId::from_index(memory.names.len());
        (!variables.is_empty()).then_some(Self { name, id, variables })
    }

    /// The address as an expression.
    fn place(&self) -> Expression {
        Expression::Address { id: self.id, value: self.name.address }
    }

    /// `start: r <- cas(started, 0, 1); assert r = 0;`, then each variable, then `started <- 2`: of
    /// several copies one does it.
    fn thread(&self, memory: &Memory<'_>) -> Thread {
        let span = self.name.span;
        let names = ["start".to_owned(), "claimed".to_owned()].into_iter();
        let of_variables = self.variables.iter().map(|(index, _)| memory.names[*index].name.clone());
        let names = names.chain(of_variables).chain(["begin".to_owned(), "end".to_owned()]);
        let mut space = NameSpace::default();
        let labels: Vec<Label> = names.map(|name| Label::new(space.fresh(&name), span)).collect();
        let claimed = RegisterId::from_index(0);
        let constant = Expression::Constant;
        let mut instructions = Vec::new();
        let mut emit = |at: usize, action| {
            let (source, target) = (LabelId::from_index(at), LabelId::from_index(at + 1));
            instructions.push(Instruction::new(source, target, action, span));
        };
        let (expected, new) = (constant(0), constant(1));
        emit(0, Action::Cas { register: Some(claimed), address: self.place(), expected, new });
        let first = Expression::binary(BinaryOperator::Equal, Expression::Register(claimed), constant(0));
        emit(1, Action::Assume(first));
        for (at, (index, values)) in self.variables.iter().enumerate() {
            for value in values.clone() {
                let address = memory.cells[*index].place();
                emit(at + 2, Action::Rmw { register: None, address, new: constant(value) });
            }
        }
        let last = self.variables.len() + 2;
        emit(last, Action::Rmw { register: None, address: self.place(), new: constant(STARTED) });
        let register = Register { name: "claimed".to_owned(), initial: 0, is_initialised: false, span };
        Thread {
            name: "start".to_owned(),
            span,
            role: Role::Thread,
            copies: Copies::Exactly(1),
            is_daemon: false,
            registers: vec![register],
            labels,
            initial: LabelId::from_index(0),
            instructions,
        }
    }
}
