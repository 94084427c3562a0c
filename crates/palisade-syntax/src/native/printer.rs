//! Prints programs in the native language; the language can say all that a program holds.

use super::expression_text::{COMPARISON, ExpressionPrinter, spelling};
use super::lexer::{begins_name, continues_name};
use super::structured::WORDS;
use super::token::{DAEMON, FINALLY, Keyword};
use super::waits::Waits;
use palisade_model::program::{
    Action, AddressName, BinaryOperator, Copies, Expression, FinalClaim, Guard, Instruction, JointState, Label,
    LabelId, NameSpace, Operation, Ordering, Place, Posts, Program, Queue, RegisterId, Role, Thread, ThreadId, Value,
};
use std::fmt::Write as _;

/// The text of a program. Names are kept where they are names of the language.
pub(crate) fn print(program: &Program) -> String {
    let updates =
        program.threads.iter().any(|thread| thread.instructions.iter().any(|line| is_general_update(&line.action)));
    let mut values = NameSpace::with_taken(updates.then_some("old"));
    let originals = program.addresses.iter().map(|entry| entry.name.as_str());
    let addresses = values.assign(originals, is_name, repaired);
    let mut threads = NameSpace::default();
    let threads = threads.assign(program.threads.iter().map(|thread| thread.name.as_str()), is_name, repaired);
    let mut text =
        format!("program {}\n", if is_name(&program.name) { program.name.clone() } else { repaired(&program.name) });
    header(&mut text, program, &addresses);
    for ((id, thread), name) in program.thread_ids().zip(&threads) {
        let mut space = values.clone();
        let registers = space.assign(thread.registers.iter().map(|register| register.name.as_str()), is_name, repaired);
        let labels = label_names(thread);
        let places = program.never.iter().flat_map(JointState::places);
        let named = places.filter(|place| place.thread == id).map(|place| place.label).collect();
        let names = ExpressionPrinter { registers, addresses: &addresses };
        let printer = ThreadPrinter { thread, names, labels, named, templates: &threads };
        text.push('\n');
        printer.print(&mut text, name);
    }
    if !program.never.is_empty() {
        text.push('\n');
    }
    for joint in &program.never {
        let place = |place: &Place| {
            let label = &label_names(program.thread(place.thread))[place.label.index()];
            format!("{} at {label}", threads[place.thread.index()])
        };
        let places: Vec<String> = joint.places().iter().map(place).collect();
        writeln!(text, "never {}", places.join(", ")).expect(WRITES);
    }
    if !program.finally.is_empty() {
        writeln!(text, "\n{FINALLY} {{").expect(WRITES);
        for claim in &program.finally {
            writeln!(text, "  ensure {};", claim_text(program, &addresses, claim)).expect(WRITES);
        }
        text.push_str("}\n");
    }
    text
}

/// What must hold in the end, over places in memory as bodies in braces name them.
fn claim_text(program: &Program, addresses: &[String], claim: &FinalClaim) -> String {
    let named = |address: &Value| {
        let own = program.addresses.iter().zip(addresses).find_map(|(entry, name)| {
            let offset = i128::from(*address) - i128::from(entry.address);
            let inside = (0..i128::from(entry.length)).contains(&offset) && !WORDS.contains(&name.as_str());
            inside.then(|| if entry.length == 1 { name.clone() } else { format!("{name}[{offset}]") })
        });
        own.unwrap_or_else(|| format!("mem[{address}]"))
    };
    let registers = claim.reads.iter().map(named).collect();
    ExpressionPrinter { registers, addresses }.whole(&claim.condition)
}

/// What must hold in the end, with the names as they are.
pub fn final_claim_text(program: &Program, claim: &FinalClaim) -> String {
    let addresses: Vec<String> = program.addresses.iter().map(|entry| entry.name.clone()).collect();
    claim_text(program, &addresses, claim)
}

/// The text of an expression of a thread, with the names as they are.
pub fn expression_text(program: &Program, thread: ThreadId, expression: &Expression) -> String {
    let registers = program.thread(thread).registers.iter().map(|register| register.name.clone()).collect();
    let addresses: Vec<String> = program.addresses.iter().map(|entry| entry.name.clone()).collect();
    ExpressionPrinter { registers, addresses: &addresses }.whole(expression)
}

/// A joint control state as the language writes it, with the names as they are.
pub fn joint_state_text(program: &Program, joint: &JointState) -> String {
    let place = |place: &Place| {
        let thread = program.thread(place.thread);
        format!("{} at {}", thread.name, thread.label(place.label).name)
    };
    let places: Vec<String> = joint.places().iter().map(place).collect();
    format!("never {}", places.join(", "))
}

/// Writing to a string never fails.
const WRITES: &str = "a string takes any text";

fn header(text: &mut String, program: &Program, addresses: &[String]) {
    if let Some(domain) = program.domain {
        let wrap = if domain.wrap { " wrap" } else { "" };
        writeln!(text, "domain {}..{}{wrap}", domain.low, domain.high).expect(WRITES);
    }
    if program.posts != Posts::default() {
        writeln!(text, "posts {}", program.posts.word()).expect(WRITES);
    }
    if !addresses.is_empty() {
        let numbered = !are_numbered_in_order(program);
        let entry = |(name, entry): (&String, &AddressName)| {
            let length = if entry.length == 1 { String::new() } else { format!("[{}]", entry.length) };
            let number = if numbered { format!(" = {}", entry.address) } else { String::new() };
            format!("{name}{length}{number}")
        };
        let entries: Vec<String> = addresses.iter().zip(&program.addresses).map(entry).collect();
        writeln!(text, "address {}", entries.join(", ")).expect(WRITES);
    }
    for (address, value) in &program.initial_memory {
        let named = program.addresses.iter().zip(addresses).find_map(|(entry, name)| {
            let offset = i128::from(*address) - i128::from(entry.address);
            let inside = (0..i128::from(entry.length)).contains(&offset);
            inside.then(|| if entry.length == 1 { name.clone() } else { format!("{name}[{offset}]") })
        });
        let place = named.unwrap_or_else(|| format!("mem[{address}]"));
        writeln!(text, "initial {place} = {value}").expect(WRITES);
    }
}

/// Whether the addresses have the numbers they get when none is given.
fn are_numbered_in_order(program: &Program) -> bool {
    let mut next: i128 = 1;
    program.addresses.iter().all(|entry| {
        let fits = i128::from(entry.address) == next;
        next += i128::from(entry.length);
        fits
    })
}

fn is_name(name: &str) -> bool {
    name.starts_with(begins_name) && name.chars().all(continues_name) && Keyword::of(name).is_none()
}

/// A name of the language that looks like `name`.
fn repaired(name: &str) -> String {
    if Keyword::of(name).is_some() {
        return format!("{name}_");
    }
    let valid: String = name.chars().map(|c| if continues_name(c) { c } else { '_' }).collect();
    if valid.starts_with(begins_name) { valid } else { format!("_{valid}") }
}

/// The labels' names; a final label `end` stays as it is.
fn label_names(thread: &Thread) -> Vec<String> {
    let by_label = thread.instructions_by_label();
    let is_end = |(index, label): (usize, &Label)| {
        label.name == Keyword::End.spelling()
            && by_label[index].is_empty()
            && thread.initial != LabelId::from_index(index)
    };
    let end = thread.labels.iter().enumerate().position(is_end);
    let mut names =
        NameSpace::default().assign(thread.labels.iter().map(|label| label.name.as_str()), is_name, repaired);
    if let Some(end) = end {
        names[end] = String::from(Keyword::End.spelling());
    }
    names
}

/// Whether an action is a locked update that is neither an exchange nor an addition.
fn is_general_update(action: &Action) -> bool {
    matches!(action, Action::Rmw { new, .. } if summand(new).is_none() && reads_old(new))
}

/// The summand of `old + summand`.
fn summand(new: &Expression) -> Option<&Expression> {
    match new {
        Expression::Binary(BinaryOperator::Add, left, right) if **left == Expression::Old && !reads_old(right) => {
            Some(right)
        }
        _ => None,
    }
}

fn reads_old(expression: &Expression) -> bool {
    match expression {
        Expression::Old => true,
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) => false,
        Expression::Unary(_, operand) => reads_old(operand),
        Expression::Binary(_, left, right) => reads_old(left) || reads_old(right),
    }
}

/// Prints one thread.
struct ThreadPrinter<'a> {
    thread: &'a Thread,
    names: ExpressionPrinter<'a>,
    labels: Vec<String>,
    /// The labels that joint control states name.
    named: Vec<LabelId>,
    /// The names of all threads, events and tasks, for posts.
    templates: &'a [String],
}

impl ThreadPrinter<'_> {
    fn print(&self, text: &mut String, name: &str) {
        self.head(text, name);
        let parameters = self.thread.parameters();
        let registers = self.names.registers.iter().zip(&self.thread.registers).skip(parameters);
        for (index, (name, register)) in registers.enumerate() {
            write!(text, "{} {name}", if index == 0 { " regs" } else { "," }).expect(WRITES);
            if register.initial != 0 || register.is_initialised {
                write!(text, " = {}", register.initial).expect(WRITES);
            }
        }
        writeln!(text, " init {} begin", self.labels[self.thread.initial.index()]).expect(WRITES);
        let mut costs: Vec<Option<f64>> = self.thread.labels.iter().map(|label| label.fence_cost).collect();
        let waits = Waits::of(self.thread, &self.named);
        for (number, instruction) in self.thread.instructions.iter().enumerate() {
            if waits.is_part(number) {
                continue;
            }
            let cost = costs[instruction.source.index()].take();
            let cost = cost.map_or(String::new(), |cost| match cost.to_string() {
                // A whole number has to fit 64 bits, one with a point need not.
                whole if !whole.contains('.') && whole.parse::<i64>().is_err() => format!("@cost({whole}.0) "),
                number => format!("@cost({number}) "),
            });
            let label = &self.labels[instruction.source.index()];
            let target = &self.labels[waits.target(number).unwrap_or(instruction.target).index()];
            let waits = waits.target(number).is_some();
            let does = if instruction.states_ordering() {
                self.operation(instruction, waits)
            } else {
                self.sleeping(instruction)
                    .or_else(|| self.waiting(instruction, waits, ""))
                    .unwrap_or_else(|| self.action(&instruction.action))
            };
            let mark = instruction.patience().word().filter(|_| waits || instruction.queue().is_some());
            let mark = mark.map_or(String::new(), |word| format!("{word} "));
            writeln!(text, "  {cost}{label}: {mark}{does}; goto {target};").expect(WRITES);
        }
        text.push_str("end\n");
    }

    /// The words before the registers.
    fn head(&self, text: &mut String, name: &str) {
        let (word, copies) = (self.thread.role.word(), self.thread.copies);
        match &self.thread.role {
            Role::Thread if self.thread.is_daemon => {
                let count = if copies == Copies::Exactly(1) { String::new() } else { format!(" [{copies}]") };
                write!(text, "{DAEMON} {word} {name}{count}")
            }
            Role::Thread if copies == Copies::Exactly(1) => write!(text, "{word} {name}"),
            Role::Thread => write!(text, "{word} {name} [{copies}]"),
            Role::Event { guard: None } => write!(text, "{word} {name} [{copies}]"),
            Role::Event { guard: Some(Guard { address, operator, value, .. }) } => {
                let condition = (self.whole(address), spelling(*operator), self.names.bounded(value, COMPARISON + 1));
                write!(text, "{word} {name} [{copies}] when mem[{}] {} {}", condition.0, condition.1, condition.2)
            }
            Role::Task { parameters } => {
                write!(text, "{word} {name}({})", self.names.registers[..*parameters].join(", "))
            }
        }
        .expect(WRITES);
    }

    fn action(&self, action: &Action) -> String {
        let into = |register: &Option<RegisterId>| {
            register.map_or(String::new(), |register| format!("{} <- ", self.names.registers[register.index()]))
        };
        match action {
            Action::Load { register, address } => {
                format!("{} <- mem[{}]", self.names.registers[register.index()], self.whole(address))
            }
            Action::Store { address, value } => format!("mem[{}] <- {}", self.whole(address), self.whole(value)),
            Action::Fence => "mfence".to_owned(),
            Action::StoreFence => "sfence".to_owned(),
            Action::Assign { register, value } => {
                format!("{} <- {}", self.names.registers[register.index()], self.whole(value))
            }
            Action::Havoc { register } => format!("{} <- *", self.names.registers[register.index()]),
            Action::Assume(condition) => format!("assert {}", self.whole(condition)),
            Action::Nop => "nop".to_owned(),
            Action::Cas { register, address, expected, new } => format!(
                "{}cas(mem[{}], {}, {})",
                into(register),
                self.whole(address),
                self.whole(expected),
                self.whole(new)
            ),
            Action::Rmw { register, address, new } => {
                let (name, operand) = match summand(new) {
                    Some(summand) => ("fetch_add", summand),
                    None if reads_old(new) => ("rmw", new),
                    None => ("xchg", new),
                };
                format!("{}{name}(mem[{}], {})", into(register), self.whole(address), self.whole(operand))
            }
            Action::Lock => "lock".to_owned(),
            Action::Unlock => "unlock".to_owned(),
            Action::Ensure(condition) => format!("ensure {}", self.whole(condition)),
            Action::Fail => "fail".to_owned(),
            Action::Post { executor, task, arguments } => {
                let arguments: Vec<String> = arguments.iter().map(|argument| self.whole(argument)).collect();
                let task = &self.templates[task.index()];
                format!("post {} {task}({})", executor.word(), arguments.join(", "))
            }
        }
    }

    /// An operation with its orderings.
    fn operation(&self, instruction: &Instruction, waits: bool) -> String {
        let into = |register: Option<RegisterId>| {
            register.map_or(String::new(), |register| format!("{} <- ", self.names.registers[register.index()]))
        };
        match instruction.operation() {
            Some(Operation::Load { ordering, .. } | Operation::Update { success: ordering, expected: None, .. })
                if waits && let Some(text) = self.waiting(instruction, waits, &format!(", {ordering}")) =>
            {
                text
            }
            Some(Operation::Load { register, address, ordering, .. }) => {
                format!("{}load(mem[{}], {ordering})", into(Some(register)), self.whole(&address))
            }
            Some(Operation::Store { address, value, ordering }) => {
                format!("store(mem[{}], {}, {ordering})", self.whole(&address), self.whole(&value))
            }
            Some(Operation::Update { register, address, expected: Some(expected), new, success, failure, .. }) => {
                let (into, address) = (into(register), self.whole(&address));
                let (word, otherwise) = match instruction.spurious() {
                    Some(label) => ("weak_cas", format!(" else {}", self.labels[label.index()])),
                    None => (if waits { "await_cas" } else { "cas" }, String::new()),
                };
                let (expected, new) = (self.whole(&expected), self.whole(&new));
                let second = if failure == success.of_failure() { String::new() } else { format!(", {failure}") };
                format!("{into}{word}(mem[{address}], {expected}, {new}, {success}{second}){otherwise}")
            }
            Some(Operation::Update { .. }) => {
                let ordering = instruction.operation().map_or(Ordering::SeqCst, |update| update.ordering());
                let text = self.action(&instruction.action);
                format!("{}, {ordering})", text.strip_suffix(')').unwrap_or(&text))
            }
            Some(Operation::Fence { ordering }) => format!("fence({ordering})"),
            None => self.action(&instruction.action),
        }
    }

    /// What waits for a value that it reads, with its orderings as they are written.
    fn waiting(&self, instruction: &Instruction, waits: bool, orderings: &str) -> Option<String> {
        let into = |register: RegisterId| &self.names.registers[register.index()];
        match &instruction.action {
            _ if !waits => None,
            Action::Load { register, address } => {
                let (into, address, until) = (into(*register), self.whole(address), self.whole(instruction.until()?));
                Some(format!("{into} <- await(mem[{address}], {until}{orderings})"))
            }
            Action::Cas { register: Some(register), address, expected, new } => {
                let (address, expected, new) = (self.whole(address), self.whole(expected), self.whole(new));
                Some(format!("{} <- await_cas(mem[{address}], {expected}, {new}{orderings})", into(*register)))
            }
            Action::Rmw { register: Some(register), address, .. } => {
                Some(format!("{} <- acquire(mem[{}]{orderings})", into(*register), self.whole(address)))
            }
            _ => None,
        }
    }

    /// What sleeps or wakes sleepers.
    fn sleeping(&self, instruction: &Instruction) -> Option<String> {
        let into = instruction.action.written_register();
        let into = into.map_or(String::new(), |register| format!(" into {}", self.names.registers[register.index()]));
        Some(match (instruction.queue()?, &instruction.action) {
            (Queue::Wake { address, all }, _) => {
                format!("wake mem[{}] {}", self.whole(address), if *all { "all" } else { "1" })
            }
            (Queue::Sleep { address }, Action::Cas { expected, .. }) => {
                format!("sleep mem[{}] if = {}{into}", self.whole(address), self.whole(expected))
            }
            (Queue::Sleep { address }, Action::Rmw { new: Expression::Old, .. }) => {
                format!("sleep mem[{}]{into}", self.whole(address))
            }
            (Queue::Sleep { address }, action) => {
                let released = action.address().map_or(String::new(), |released| self.whole(released));
                format!("sleep mem[{}] releasing mem[{released}]{into}", self.whole(address))
            }
        })
    }

    fn whole(&self, expression: &Expression) -> String {
        self.names.whole(expression)
    }
}
