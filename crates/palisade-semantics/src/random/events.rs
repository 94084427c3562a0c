//! Random event-driven programs: events with guards, posts anywhere, parameters, and families made
//! to be hard.

use super::{Generator, Randomness, Shape, instruction, thread_of, without_threads};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Domain, DomainOrigin, Executor, Expression, Guard, Instruction, Label, Posts,
    Program, RegisterId, Role, Span, Thread, ThreadId,
};

/// What the random event-driven programs look like.
#[derive(Clone, Debug)]
pub struct EventShape {
    /// What the bodies of handlers and tasks look like.
    pub body: Shape,
    /// At most so many events, at least one.
    pub events: usize,
    /// At most so many tasks.
    pub tasks: usize,
    /// At most so many labels with instructions in all invocations together, loops aside.
    pub total_labels: usize,
    /// How often, in percent, an event has a guard.
    pub guards: u64,
    /// How often, in percent, an instruction is a post.
    pub posts: u64,
    /// How often, in percent, a post is for the main thread.
    pub main: u64,
    /// How often, in percent, a task has parameters.
    pub parameters: u64,
    /// How often, in percent, an event may occur twice.
    pub twice: u64,
    /// How often, in percent, an event may occur any number of times.
    pub any: u64,
    /// How often, in percent, posts are plain.
    pub plain: u64,
}

impl Default for EventShape {
    fn default() -> Self {
        let body = Shape { labels: 3, addresses: 2, indirect: 0, sections: 0, domains: 15, ..Shape::default() };
        Self {
            body,
            events: 3,
            tasks: 2,
            total_labels: 10,
            guards: 30,
            posts: 20,
            main: 40,
            parameters: 30,
            twice: 15,
            any: 0,
            plain: 50,
        }
    }
}

/// The families of random event-driven programs, for seeds that take turns among them.
pub fn event_families() -> Vec<fn(u64) -> Program> {
    vec![
        |seed| event_program(seed, &EventShape::default()),
        |seed| {
            let body = Shape { rmws: 30, domains: 60, choices: 10, branches: 30, ..EventShape::default().body };
            event_program(seed, &EventShape { body, parameters: 60, ..EventShape::default() })
        },
        |seed| {
            let body = Shape { sections: 60, labels: 4, ..EventShape::default().body };
            event_program(seed, &EventShape { body, events: 2, ..EventShape::default() })
        },
        |seed| {
            let body = Shape { addresses: 3, labels: 3, ..EventShape::default().body };
            event_program(seed, &EventShape { body, tasks: 3, posts: 35, main: 60, ..EventShape::default() })
        },
        |seed| {
            let body = Shape { loops: 25, labels: 2, domains: 100, ..EventShape::default().body };
            event_program(seed, &EventShape { body, events: 2, tasks: 2, total_labels: 6, ..EventShape::default() })
        },
        three_parties,
        event_chain,
    ]
}

/// The event-driven program that belongs to a seed, of the family whose turn it is.
pub fn event_program_of(seed: u64) -> Program {
    let families = event_families();
    let count = u64::try_from(families.len()).expect("few families");
    families[usize::try_from(seed % count).expect("few families")](seed)
}

/// The program of a shape that belongs to a seed.
pub fn event_program(seed: u64, shape: &EventShape) -> Program {
    let mut random = Randomness::new(seed);
    let domain = random.percent(shape.body.domains).then(|| {
        let high = [1, 3][random.below(2)];
        Domain { low: 0, high, wrap: true, origin: DomainOrigin::File }
    });
    let mut program = without_threads(format!("events{seed}"), domain, shape.body.addresses);
    if random.percent(shape.plain) {
        program.posts = Posts::Plain;
    }
    if random.percent(10) {
        program.initial_memory.insert(1, 1);
    }
    let events = 1 + random.below(shape.events.max(1)).max(random.below(shape.events.max(1)));
    let tasks = random.below(shape.tasks + 1).max(random.below(shape.tasks + 1));
    for index in 0..events + tasks {
        let length = 1 + random.below(shape.body.labels).max(random.below(shape.body.labels));
        let addresses = program.addresses.len();
        let mut generator = Generator { random: &mut random, shape: &shape.body, addresses, domain, stored: None };
        let mut thread = generator.thread(String::new(), length);
        if index < events {
            let guard = random.percent(shape.guards).then(|| guard(&mut random, addresses));
            be_event(&mut thread, format!("e{}", index + 1), guard);
            if random.percent(shape.twice) {
                thread.copies = Copies::Exactly(2);
            }
            if shape.any > 0 && random.percent(shape.any) {
                thread.copies = Copies::Any;
            }
        } else {
            let parameters = if random.percent(shape.parameters) { 1 + random.below(2) } else { 0 };
            be_task(&mut thread, format!("t{}", index - events + 1), parameters);
        }
        program.threads.push(thread);
    }
    post_at_random(&mut program, events, shape, &mut random);
    trim(&mut program, shape.total_labels);
    program
}

/// `when mem[x] = v`, or another comparison.
fn guard(random: &mut Randomness, addresses: usize) -> Guard {
    let operator = [BinaryOperator::Equal, BinaryOperator::Equal, BinaryOperator::NotEqual][random.below(3)];
    let value = Expression::Constant([0, 1][random.below(2)]);
    Guard { address: named(random.below(addresses)), operator, value, span: Span::default() }
}

fn named(index: usize) -> Expression {
    Generator::named(index)
}

fn be_event(thread: &mut Thread, name: String, guard: Option<Guard>) {
    (thread.name, thread.role) = (name, Role::Event { guard });
}

fn be_task(thread: &mut Thread, name: String, parameters: usize) {
    (thread.name, thread.role, thread.copies) = (name, Role::Task { parameters }, Copies::Exactly(0));
}

/// Puts posts in place of instructions, and sees to it that somebody posts every task. Tasks post
/// later tasks only.
fn post_at_random(program: &mut Program, events: usize, shape: &EventShape, random: &mut Randomness) {
    let templates = program.threads.len();
    for index in 0..templates {
        let first = events.max(index + 1);
        for place in places(&program.threads[index]) {
            if first < templates && random.percent(shape.posts) {
                let task = first + random.below(templates - first);
                program.threads[index].instructions[place].action = post(program, task, shape, random);
            }
        }
    }
    for task in events..templates {
        let is_post =
            |it: &Instruction| matches!(it.action, Action::Post { task: posted, .. } if posted.index() == task);
        if program.threads.iter().any(|thread| thread.instructions.iter().any(is_post)) {
            continue;
        }
        let index = random.below(task);
        let places = places(&program.threads[index]);
        if places.is_empty() {
            continue;
        }
        let place = places[random.below(places.len())];
        let action = post(program, task, shape, random);
        let poster = &mut program.threads[index];
        if random.percent(50) {
            poster.instructions[place].action = action;
        } else {
            // The post comes before the instruction that stood there.
            let before = poster.instructions[place].clone();
            poster.labels.push(Label::new(format!("l{}", poster.labels.len()), Span::default()));
            let fresh = poster.labels.len() - 1;
            poster.instructions[place] = instruction(before.source.index(), fresh, action);
            poster.instructions.push(instruction(fresh, before.target.index(), before.action));
        }
    }
}

fn post(program: &Program, task: usize, shape: &EventShape, random: &mut Randomness) -> Action {
    let executor = if random.percent(shape.main) { Executor::Main } else { Executor::Any };
    let argument = |random: &mut Randomness| match random.below(2) {
        0 => Expression::Register(RegisterId::from_index(random.below(super::REGISTERS))),
        _ => Expression::Constant([0, 1][random.below(2)]),
    };
    let arguments = (0..program.threads[task].parameters()).map(|_| argument(random)).collect();
    Action::Post { executor, task: ThreadId::from_index(task), arguments }
}

/// The instructions that stand alone at their labels, outside locked sections: a post may take
/// their place.
fn places(thread: &Thread) -> Vec<usize> {
    let by_label = thread.instructions_by_label();
    let mut is_locked = vec![false; thread.labels.len()];
    let mut open: Vec<usize> =
        thread.instructions.iter().filter(|it| it.action == Action::Lock).map(|it| it.target.index()).collect();
    while let Some(label) = open.pop() {
        if std::mem::replace(&mut is_locked[label], true) {
            continue;
        }
        let here = by_label[label].iter().map(|id| thread.instruction(*id));
        open.extend(here.filter(|it| it.action != Action::Unlock).map(|it| it.target.index()));
    }
    let may_be_post = |it: &Instruction| {
        let source = it.source.index();
        by_label[source].len() == 1 && !is_locked[source] && !matches!(it.action, Action::Lock | Action::Unlock)
    };
    let all = thread.instructions.iter().enumerate();
    all.filter(|(_, it)| may_be_post(it)).map(|(place, _)| place).collect()
}

/// Takes posts away, the last ones first, until all invocations together have few enough
/// instructions.
fn trim(program: &mut Program, total_labels: usize) {
    while size(program) > total_labels {
        let is_post = |it: &Instruction| matches!(it.action, Action::Post { .. });
        let posts = program.threads.iter_mut().flat_map(|thread| &mut thread.instructions).filter(|it| is_post(it));
        let Some(post) = posts.last() else { break };
        post.action = Action::Nop;
    }
}

/// How many labels with instructions all invocations have, each post being executed once; events
/// with any number of copies count once.
fn size(program: &Program) -> usize {
    let mut sizes = vec![0usize; program.threads.len()];
    for (index, thread) in program.threads.iter().enumerate().rev() {
        let own = thread.instructions_by_label().iter().filter(|label| !label.is_empty()).count();
        let posted = thread.instructions.iter().map(|it| match it.action {
            Action::Post { task, .. } => sizes[task.index()],
            _ => 0,
        });
        sizes[index] = own + posted.sum::<usize>();
    }
    let copies = |thread: &Thread| if thread.copies == Copies::Exactly(2) { 2 } else { 1 };
    program.events().map(|(id, thread)| sizes[id.index()] * copies(thread)).sum()
}

/// A line of a body that is written down here.
enum Line {
    /// An instruction.
    Do(Action),
    /// The body goes on only if a register has the value 1.
    If(usize),
}

fn body(name: String, lines: Vec<Line>) -> Thread {
    let end = lines.len();
    let mut instructions = Vec::new();
    for (label, line) in lines.into_iter().enumerate() {
        match line {
            Line::Do(action) => instructions.push(instruction(label, label + 1, action)),
            Line::If(register) => {
                let compare = |operator| {
                    let register = Expression::Register(RegisterId::from_index(register));
                    Action::Assume(Expression::binary(operator, register, Expression::Constant(1)))
                };
                instructions.push(instruction(label, label + 1, compare(BinaryOperator::Equal)));
                instructions.push(instruction(label, end, compare(BinaryOperator::NotEqual)));
            }
        }
    }
    thread_of(name, instructions)
}

fn store(index: usize) -> Action {
    Action::Store { address: named(index), value: Expression::Constant(1) }
}

fn load(register: usize, index: usize) -> Action {
    Action::Load { register: RegisterId::from_index(register), address: named(index) }
}

/// A read, a store or a locked update; mostly what is asked for.
fn access(random: &mut Randomness, is_store: bool, register: usize, index: usize) -> Action {
    let one = || Expression::Constant(1);
    match (random.below(12), is_store) {
        (0, _) => Action::Rmw { register: Some(RegisterId::from_index(register)), address: named(index), new: one() },
        (1, _) => {
            let register = Some(RegisterId::from_index(register));
            Action::Cas { register, address: named(index), expected: Expression::Constant(0), new: one() }
        }
        (2, true) | (_, false) => load(register, index),
        (_, true) => store(index),
    }
}

/// Lets an event of its own run the lines: in its handler, or in a task that it posts. Other lines
/// may stand before the post.
fn host(program: &mut Program, tasks: &mut Vec<Thread>, random: &mut Randomness, events: usize, lines: Vec<Line>) {
    let number = program.threads.len() + 1;
    let guard = random.percent(15).then(|| guard(random, program.addresses.len()));
    let task = ThreadId::from_index(events + tasks.len());
    let executor = [Executor::Main, Executor::Any, Executor::Any][random.below(3)];
    let mut handler = Vec::new();
    match random.below(3) {
        0 => handler = lines,
        _ => {
            let mut lines = lines;
            if random.percent(30) && lines.len() > 1 {
                let rest = lines.split_off(1);
                handler = lines;
                lines = rest;
            }
            handler.push(Line::Do(Action::Post { executor, task, arguments: Vec::new() }));
            if random.percent(15) {
                let index = random.below(program.addresses.len());
                let is_store = random.percent(50);
                handler.push(Line::Do(access(random, is_store, 1, index)));
            }
            let mut thread = body(String::new(), lines);
            be_task(&mut thread, format!("t{}", tasks.len() + 1), 0);
            tasks.push(thread);
        }
    }
    let mut thread = body(String::new(), handler);
    be_event(&mut thread, format!("e{number}"), guard);
    program.threads.push(thread);
}

/// A program around a cycle of three parties, mostly one that interleavings do not show: a store
/// delayed past a read; two stores; two reads, the second one made only if the first sees a store.
pub fn three_parties(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let mut program = without_threads(format!("parties{seed}"), None, 3);
    if random.percent(50) {
        program.posts = Posts::Plain;
    }
    let r = &mut random;
    let mut first = vec![Line::Do(access(r, true, 0, 0)), Line::Do(access(r, false, 0, 1))];
    if r.percent(10) {
        first.insert(1, Line::Do(Action::Fence));
    }
    let second = vec![Line::Do(access(r, true, 0, 1)), Line::Do(access(r, true, 0, 2))];
    let mut third = vec![Line::Do(access(r, false, 0, 2)), Line::Do(access(r, false, 1, 0))];
    if r.percent(80) {
        third.insert(1, Line::If(0));
    }
    let mut tasks = Vec::new();
    for lines in [first, second, third] {
        host(&mut program, &mut tasks, &mut random, 3, lines);
    }
    // Each task is posted once, by the event that was there for it.
    program.threads.extend(tasks);
    program
}

/// A program of three or four events, each of which shares an address with the next one; the last
/// one may close the circle.
pub fn event_chain(seed: u64) -> Program {
    let mut random = Randomness::new(seed);
    let events = 3 + random.below(2);
    let mut program = without_threads(format!("chain{seed}"), None, events);
    if random.percent(50) {
        program.posts = Posts::Plain;
    }
    let mut tasks = Vec::new();
    for event in 0..events {
        let mut shared = [event, (event + 1) % events];
        if random.percent(50) {
            shared.swap(0, 1);
        }
        let mut lines = Vec::new();
        for (register, address) in shared.into_iter().enumerate() {
            let is_store = random.percent(55);
            let action = access(&mut random, is_store, register, address);
            let is_read = action.written_register().is_some();
            lines.push(Line::Do(action));
            if register == 0 && is_read && random.percent(20) {
                lines.push(Line::If(0));
            }
        }
        if random.percent(10) {
            lines.pop();
        }
        host(&mut program, &mut tasks, &mut random, events, lines);
    }
    program.threads.extend(tasks);
    program
}

/// A program without one of its templates: what posted it does nothing instead.
pub(super) fn without_template(program: &Program, index: usize) -> Program {
    let mut smaller = program.clone();
    smaller.threads.remove(index);
    for instruction in smaller.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
        if let Action::Post { task, .. } = &mut instruction.action {
            match task.index().cmp(&index) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => instruction.action = Action::Nop,
                std::cmp::Ordering::Greater => *task = ThreadId::from_index(task.index() - 1),
            }
        }
    }
    smaller
}

/// The programs in which one event has lost its guard.
pub(super) fn without_guards(program: &Program) -> impl Iterator<Item = Program> {
    let guarded = program.events().filter(|(_, thread)| thread.guard().is_some()).map(|(id, _)| id.index());
    let guarded: Vec<usize> = guarded.collect();
    guarded.into_iter().map(|index| {
        let mut smaller = program.clone();
        smaller.threads[index].role = Role::Event { guard: None };
        smaller
    })
}
