//! Prints programs in Trencher's format, or says what in them it cannot express.
//!
//! Locked instructions become sections `lock … unlock`, which mean the same: one node of the trace
//! that loads and, where it does, stores. Inside a section the access alone remains. What the
//! printer leaves out without a change of the computations (properties, the domain that values must
//! not leave) is a warning; what would change them is refused.

use crate::{Diagnostic, Printed};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Domain, Expression, Instruction, LabelId, NameSpace, Program, RegisterId, Span,
    Thread, UnaryOperator, Value, lock_states,
};
use std::fmt::Write as _;

/// More copies of a thread than this are not written one by one.
const MOST_COPIES: u64 = 10_000;

/// A domain with more values is not spelt out for an instruction that takes any of them.
const MAX_CHOICE: u128 = 256;

/// How long an expression may become when operators are spelt out by others.
const MAX_WORDS: usize = 10_000;

/// Trencher reserves this many addresses unless told otherwise.
const DEFAULT_MEMORY: Value = 10;

/// Writing to a string never fails.
const WRITES: &str = "a string takes any text";

/// The text of a program, or what in it the format cannot express.
pub(crate) fn print(program: &Program) -> Result<Printed, Vec<Diagnostic>> {
    crate::threads_only(program, "this format", crate::NATIVE_SAYS_IT)?;
    let mut printer = Printer { program, text: String::new(), errors: Vec::new(), warnings: Vec::new() };
    printer.header();
    let (absent, threads): (Vec<&Thread>, Vec<&Thread>) =
        program.threads.iter().partition(|thread| thread.copies == Copies::Exactly(0));
    for thread in absent {
        printer.warn(format!("the thread `{}` has no copies and is left out", thread.name), thread.span);
    }
    if threads.is_empty() {
        printer.refuse("a text of this format has a thread, but every one is left out", Span::default());
    }
    let mut names = NameSpace::default();
    let assigned = names.assign(threads.iter().map(|thread| thread.name.as_str()), is_word, repaired);
    for (thread, name) in threads.into_iter().zip(assigned) {
        printer.copies(thread, &name, &mut names);
    }
    if printer.errors.is_empty() {
        Ok(Printed { text: printer.text, warnings: printer.warnings })
    } else {
        Err(printer.errors)
    }
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('#') && !name.contains(char::is_whitespace)
}

fn repaired(name: &str) -> String {
    format!("_{}", name.replace(char::is_whitespace, "_"))
}

/// Whether a word is read as a register: neither a number nor an operator.
fn is_register(name: &str) -> bool {
    is_word(name)
        && !name.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
        && !name.chars().all(|c| c.is_ascii_punctuation() && c != '_')
}

struct Printer<'a> {
    program: &'a Program,
    text: String,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Printer<'_> {
    fn refuse(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        self.errors.push(Diagnostic::error(message, span));
        self.errors.last_mut().expect("one was just pushed")
    }

    fn warn(&mut self, message: impl Into<String>, span: Span) {
        self.warnings.push(Diagnostic::warning(message, span));
    }

    /// The place of findings about the whole program.
    fn header(&mut self) {
        let start = Span::default();
        if let Some(Domain { low, high, wrap: false, .. }) = self.program.domain {
            let message = format!("the domain {low}..{high} is left out: values outside of it are no errors any more");
            self.warn(message, start);
        }
        for joint in &self.program.never {
            let text = crate::joint_state_text(self.program, joint);
            self.warn(format!("the property `{text}` is left out"), joint.span);
        }
        for claim in &self.program.finally {
            let text = crate::final_claim_text(self.program, claim);
            self.warn(format!("`finally` with `{text}` is left out"), claim.span);
        }
        for (address, value) in &self.program.initial_memory {
            let name = self.program.address_name(*address);
            let message = format!("memory starts at 0 in this format, but `{name}` starts at {value}");
            self.refuse(message, start);
        }
        let addresses = self.program.threads.iter().flat_map(|thread| &thread.instructions);
        let numbers = addresses.filter_map(|instruction| instruction.action.address()).filter_map(largest_number);
        let declared = self.program.addresses.iter().map(|entry| entry.address + (Value::from(entry.length) - 1));
        if let Some(last) = numbers.chain(declared).max().filter(|last| *last >= DEFAULT_MEMORY) {
            writeln!(self.text, "memory_size {}\n", i128::from(last) + 1).expect(WRITES);
        }
    }

    /// As many threads as a thread has copies.
    fn copies(&mut self, thread: &Thread, name: &str, names: &mut NameSpace) {
        let count = match thread.copies {
            Copies::Exactly(count) if count > MOST_COPIES => {
                let message = format!("{count} copies of `{}` are too many to write one by one", thread.name);
                self.refuse(message, thread.span).help =
                    Some(format!("choose a number: `--threads {}=2`", thread.name));
                return;
            }
            Copies::Exactly(count) => count,
            Copies::Any => {
                let message = format!("`{}` has any number of copies, which this format cannot express", thread.name);
                self.refuse(message, thread.span).help =
                    Some(format!("choose a number: `--threads {}=2`", thread.name));
                return;
            }
        };
        let mut body = Body::new(self, thread);
        body.print();
        let body = body.text;
        for copy in 1..=count {
            let name = if copy == 1 { name.to_owned() } else { names.fresh(name) };
            let separator = if self.text.is_empty() || self.text.ends_with("\n\n") { "" } else { "\n" };
            write!(self.text, "{separator}thread {name}\n{body}end\n").expect(WRITES);
        }
    }
}

/// The largest number in an address expression.
fn largest_number(expression: &Expression) -> Option<Value> {
    match expression {
        Expression::Constant(value) | Expression::Address { value, .. } => Some(*value),
        Expression::Unary(_, operand) => largest_number(operand),
        Expression::Binary(_, left, right) => largest_number(left).max(largest_number(right)),
        Expression::Register(_) | Expression::Old => None,
    }
}

/// The words between `thread` and `end`.
struct Body<'a, 'p> {
    printer: &'a mut Printer<'p>,
    thread: &'a Thread,
    labels: Vec<String>,
    label_space: NameSpace,
    registers: Vec<String>,
    register_space: NameSpace,
    /// A register for loaded values, where one is needed.
    loaded: Option<String>,
    text: String,
    /// The place errors are about.
    span: Span,
}

impl<'a, 'p> Body<'a, 'p> {
    fn new(printer: &'a mut Printer<'p>, thread: &'a Thread) -> Self {
        let mut label_space = NameSpace::default();
        let labels = label_space.assign(thread.labels.iter().map(|label| label.name.as_str()), is_word, repaired);
        let mut register_space = NameSpace::default();
        let registers = thread.registers.iter().map(|register| register.name.as_str());
        let registers = register_space.assign(registers, is_register, |name| format!("r{}", repaired(name)));
        let span = thread.span;
        Self {
            printer,
            thread,
            labels,
            label_space,
            registers,
            register_space,
            loaded: None,
            text: String::new(),
            span,
        }
    }

    fn print(&mut self) {
        let mut start = self.labels[self.thread.initial.index()].clone();
        let set: Vec<(usize, Value)> =
            self.thread.registers.iter().map(|register| register.initial).enumerate().collect();
        let mut settings = String::new();
        for (index, value) in set.into_iter().rev().filter(|(_, value)| *value != 0) {
            let before = self.label_space.fresh("start");
            let line = format!("transition {before} {start} local {} {value}\n", self.registers[index]);
            settings.insert_str(0, &line);
            start = before;
        }
        writeln!(self.text, "initial {start}").expect(WRITES);
        self.text.push_str(&settings);
        let states = lock_states(self.thread);
        for instruction in &self.thread.instructions {
            self.span = instruction.span;
            self.instruction(instruction, states[instruction.source.index()]);
        }
    }

    fn label(&self, id: LabelId) -> String {
        self.labels[id.index()].clone()
    }

    fn register(&self, id: RegisterId) -> String {
        self.registers[id.index()].clone()
    }

    fn transition(&mut self, from: &str, to: &str, instruction: &str) {
        writeln!(self.text, "transition {from} {to} {instruction}").expect(WRITES);
    }

    fn instruction(&mut self, instruction: &Instruction, [_, holding]: [bool; 2]) {
        let (from, to) = (self.label(instruction.source), self.label(instruction.target));
        let words = match &instruction.action {
            Action::Load { register, address } => format!("read {} {}", self.register(*register), self.words(address)),
            Action::Store { address, value } => format!("write {} {}", self.data(value), self.words(address)),
            Action::Fence => "mfence".to_owned(),
            Action::StoreFence => {
                self.printer
                    .warn("`sfence` is written as `noop`, which is the same under TSO but not under PSO", self.span);
                "noop".to_owned()
            }
            Action::Assign { register, value } => format!("local {} {}", self.register(*register), self.data(value)),
            Action::Assume(condition) => format!("check {}", self.data(condition)),
            Action::Nop => "noop".to_owned(),
            Action::Lock => "lock".to_owned(),
            Action::Unlock => "unlock".to_owned(),
            Action::Post { .. } => unreachable!("programs with tasks are refused"),
            Action::Fail => {
                self.printer.warn("the property `fail` is left out: the thread stops here", self.span);
                "check 0".to_owned()
            }
            Action::Ensure(_) => {
                self.printer.warn("the property `ensure` is left out", self.span);
                "noop".to_owned()
            }
            Action::Havoc { register } => return self.any_value(&from, &to, *register),
            Action::Cas { .. } | Action::Rmw { .. } if holding => {
                let message = "a locked instruction that may be reached inside a section cannot be expressed";
                self.printer.refuse(message, self.span);
                return;
            }
            Action::Cas { register, address, expected, new } => {
                return self.cas(&from, &to, *register, [address, expected, new]);
            }
            Action::Rmw { register, address, new } => return self.rmw(&from, &to, *register, [address, new]),
        };
        self.transition(&from, &to, &words);
    }

    /// One transition per value of the domain.
    fn any_value(&mut self, from: &str, to: &str, register: RegisterId) {
        match self.printer.program.domain.filter(|domain| domain.size() <= MAX_CHOICE) {
            Some(domain) => {
                for value in domain.values() {
                    let words = format!("local {} {value}", self.register(register));
                    self.transition(from, to, &words);
                }
            }
            None => {
                let message = format!("any value of a domain with more than {MAX_CHOICE} values cannot be expressed");
                self.printer.refuse(message, self.span);
            }
        }
    }

    /// A section that loads, and stores if the value is the expected one.
    fn cas(&mut self, from: &str, to: &str, register: Option<RegisterId>, operands: [&Expression; 3]) {
        let [address, expected, new] = operands;
        let (loaded, address) = (self.loaded(), self.words(address));
        let (expected, new) = (self.data(expected), self.data(new));
        let [locked, read, equal, written] = std::array::from_fn(|_| self.label_space.fresh(from));
        let differs = self.label_space.fresh(from);
        let after = self.after(from, to, register);
        self.transition(from, &locked, "lock");
        self.transition(&locked, &read, &format!("read {loaded} {address}"));
        self.transition(&read, &equal, &format!("check == {loaded} {expected}"));
        self.transition(&equal, &written, &format!("write {new} {address}"));
        self.transition(&written, &after, "unlock");
        self.transition(&read, &differs, &format!("check != {loaded} {expected}"));
        self.transition(&differs, &after, "unlock");
        self.deliver(&after, to, register, &loaded);
    }

    /// A section that loads and stores.
    fn rmw(&mut self, from: &str, to: &str, register: Option<RegisterId>, [address, new]: [&Expression; 2]) {
        let (loaded, address) = (self.loaded(), self.words(address));
        let new = self.data(new);
        let [locked, read, written] = std::array::from_fn(|_| self.label_space.fresh(from));
        let after = self.after(from, to, register);
        self.transition(from, &locked, "lock");
        self.transition(&locked, &read, &format!("read {loaded} {address}"));
        self.transition(&read, &written, &format!("write {new} {address}"));
        self.transition(&written, &after, "unlock");
        self.deliver(&after, to, register, &loaded);
    }

    /// Where a section ends: at the target, or where its register still has to be written.
    fn after(&mut self, from: &str, to: &str, register: Option<RegisterId>) -> String {
        if register.is_some() { self.label_space.fresh(from) } else { to.to_owned() }
    }

    fn deliver(&mut self, after: &str, to: &str, register: Option<RegisterId>, loaded: &str) {
        if let Some(register) = register {
            let words = format!("local {} {loaded}", self.register(register));
            self.transition(after, to, &words);
        }
    }

    fn loaded(&mut self) -> String {
        self.loaded.get_or_insert_with(|| self.register_space.fresh("loaded")).clone()
    }

    /// An expression that is not an address. Refuses what has another value in a domain that wraps
    /// than in plain integers.
    fn data(&mut self, expression: &Expression) -> String {
        if let Some(domain) = self.printer.program.domain.filter(|domain| domain.wrap)
            && may_wrap(expression, domain)
        {
            self.printer.refuse("arithmetic that wraps into a domain cannot be expressed", self.span);
        }
        self.words(expression)
    }

    /// An expression in plain integers.
    fn words(&mut self, expression: &Expression) -> String {
        let mut text = String::new();
        if let Err(what) = self.expression(&mut text, expression) {
            self.printer.refuse(format!("{what} cannot be expressed"), self.span);
        }
        text
    }

    /// Prefix notation, as one word after the other; or what there is no word for.
    fn expression(&mut self, text: &mut String, expression: &Expression) -> Result<(), &'static str> {
        if text.len() > MAX_WORDS {
            return Err("so long an expression");
        }
        if !text.is_empty() {
            text.push(' ');
        }
        match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => {
                write!(text, "{value}").expect(WRITES);
            }
            Expression::Register(register) => text.push_str(&self.registers[register.index()]),
            Expression::Old => text.push_str(&self.loaded()),
            Expression::Unary(operator, operand) => {
                // -e is 0 - e, and ~e is -1 - e.
                text.push_str(match operator {
                    UnaryOperator::Not => "!",
                    UnaryOperator::Negate => "- 0",
                    UnaryOperator::Complement => "- -1",
                    UnaryOperator::Truncate { .. } => return Err("cutting a value to some bits"),
                });
                self.expression(text, operand)?;
            }
            Expression::Binary(operator, left, right) => {
                text.push_str(word(*operator)?);
                self.expression(text, left)?;
                self.expression(text, right)?;
            }
        }
        Ok(())
    }
}

/// Whether an expression may have another value in a domain that wraps than in plain integers.
fn may_wrap(expression: &Expression, domain: Domain) -> bool {
    use BinaryOperator as Op;
    match expression {
        Expression::Constant(value) | Expression::Address { value, .. } => !domain.contains(*value),
        Expression::Register(_) | Expression::Old => false,
        Expression::Unary(UnaryOperator::Not, operand) => !domain.contains(1) || may_wrap(operand, domain),
        Expression::Unary(..) => true,
        Expression::Binary(operator, left, right) => {
            let truth = matches!(
                operator,
                Op::Less
                    | Op::LessOrEqual
                    | Op::Greater
                    | Op::GreaterOrEqual
                    | Op::Equal
                    | Op::NotEqual
                    | Op::And
                    | Op::Or
            );
            // The bits two numbers have in common are no more than those of the one that is not
            // negative.
            let bits = *operator == Op::BitAnd && domain.low == 0;
            !(truth && domain.contains(1) || bits) || may_wrap(left, domain) || may_wrap(right, domain)
        }
    }
}

/// The operator's word, or what there is no word for.
fn word(operator: BinaryOperator) -> Result<&'static str, &'static str> {
    use BinaryOperator as Op;
    Ok(match operator {
        Op::Multiply => "*",
        Op::Add => "+",
        Op::Subtract => "-",
        Op::Less => "<",
        Op::LessOrEqual => "<=",
        Op::Greater => ">",
        Op::GreaterOrEqual => ">=",
        Op::Equal => "==",
        Op::NotEqual => "!=",
        Op::BitAnd => "&",
        Op::And => "&&",
        Op::Or => "||",
        Op::Divide => return Err("division"),
        Op::Remainder => return Err("the remainder of a division"),
        Op::ShiftLeft | Op::ShiftRight => return Err("a shift"),
        Op::BitXor => return Err("exclusive or"),
        Op::BitOr => return Err("bitwise or"),
    })
}
