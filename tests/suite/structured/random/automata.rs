//! The automata of a random program, in the older form: the plainest translation that there is.

use super::generator::{ADDRESSES, Condition, Place, Program, REGISTERS, Statement, Value};
use std::fmt::Write;

/// The text in the older form.
pub(super) fn of(program: &Program) -> String {
    let mut text = "program Random\ndomain 0..1 wrap\naddress x, y, z, slot[2]\n".to_owned();
    for (thread, name) in program.threads.iter().zip(["t", "u"]) {
        for copy in 0..thread.copies {
            let mut translation =
                Translation { program, copy, lines: String::new(), labels: 0, registers: 0, around: Around::default() };
            let (start, stop) = (translation.label(), translation.label());
            let mut at = start.clone();
            if thread.copies > 1 {
                let next = translation.label();
                translation.line(&at, &format!("mem[z] <- {copy}"), &next);
                at = next;
            }
            translation.around.stop.clone_from(&stop);
            translation.block(&thread.body, &at, &stop);
            let mut registers: Vec<String> = REGISTERS.map(str::to_owned).to_vec();
            registers.extend(REGISTERS.map(|register| format!("p_{register}")));
            registers.extend(["k", "p_k"].map(str::to_owned));
            registers.extend((0..translation.registers).map(|number| format!("v{number}")));
            let suffix = if thread.copies > 1 { format!("_{copy}") } else { String::new() };
            write!(text, "\nthread {name}{suffix} regs {} init {start} begin\n", registers.join(", "))
                .expect("a string");
            text.push_str(&translation.lines);
            text.push_str("end\n");
        }
    }
    text
}

/// What is around a statement.
#[derive(Clone, Debug, Default)]
struct Around {
    /// Where `return` goes.
    stop: String,
    /// Where `continue` and `break` go, and whether a section was open there.
    innermost: Option<(String, String, bool)>,
    /// Whether a section is open.
    section: bool,
    /// The address of the place, an expression over registers that stay, and the register of the
    /// value that the procedure got.
    arguments: Option<(String, String)>,
}

struct Translation<'p> {
    program: &'p Program,
    copy: usize,
    lines: String,
    labels: usize,
    registers: usize,
    around: Around,
}

impl Translation<'_> {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("n{}", self.labels)
    }

    fn register(&mut self) -> String {
        self.registers += 1;
        format!("v{}", self.registers - 1)
    }

    fn line(&mut self, from: &str, instruction: &str, to: &str) {
        writeln!(self.lines, "  {from}: {instruction}; goto {to};").expect("a string");
    }

    /// A step that puts something into a new register.
    fn step(&mut self, from: &str, right: &str) -> (String, String) {
        let (register, to) = (self.register(), self.label());
        self.line(from, &format!("{register} <- {right}"), &to);
        (register, to)
    }

    fn own_register(&self, register: usize) -> String {
        let prefix = if self.around.arguments.is_some() { "p_" } else { "" };
        format!("{prefix}{}", REGISTERS[register])
    }

    fn block(&mut self, statements: &[Statement], from: &str, to: &str) {
        let mut at = from.to_owned();
        for statement in statements {
            let next = self.label();
            self.statement(statement, &at, &next);
            at = next;
        }
        self.line(&at, "nop", to);
    }

    fn statement(&mut self, statement: &Statement, from: &str, to: &str) {
        match statement {
            Statement::Store(place, value) => {
                let (address, at) = self.place(place, from);
                let (value, at) = self.value(value, &at);
                self.line(&at, &format!("mem[{address}] <- {value}"), to);
            }
            Statement::Set(register, value) => {
                let (value, at) = self.value(value, from);
                let register = self.own_register(*register);
                self.line(&at, &format!("{register} <- {value}"), to);
            }
            Statement::Increase(register, value) => self.increase(*register, value, from, to),
            Statement::Effect(update) => {
                let (_, at) = self.value(update, from);
                self.line(&at, "nop", to);
            }
            Statement::Fence => self.line(from, "mfence", to),
            Statement::Pause => self.line(from, "nop", to),
            Statement::Ensure(condition) => {
                let (value, at) = self.value(&Value::Truth(Box::new(condition.clone())), from);
                self.line(&at, &format!("ensure {value}"), to);
            }
            Statement::If(condition, then, otherwise) => {
                let (yes, no) = (self.label(), self.label());
                self.condition(condition, from, &yes, &no);
                self.block(then, &yes, to);
                self.block(otherwise.as_deref().unwrap_or_default(), &no, to);
            }
            Statement::While(condition, body) => {
                let yes = self.label();
                self.condition(condition, from, &yes, to);
                self.loop_body(body, from, &yes, to);
            }
            Statement::DoWhile(body, condition) => {
                let asks = self.label();
                self.loop_body(body, &asks, from, to);
                self.condition(condition, &asks, from, to);
            }
            Statement::For(start, condition, step, body) => {
                let [head, again, inside] = std::array::from_fn(|_| self.label());
                match start {
                    Some((register, value)) => {
                        self.statement(&Statement::Set(*register, value.clone()), from, &head);
                    }
                    None => self.line(from, "nop", &head),
                }
                match condition {
                    Some(condition) => self.condition(condition, &head, &inside, to),
                    None => self.line(&head, "nop", &inside),
                }
                self.loop_body(body, &again, &inside, to);
                match step {
                    Some((register, value)) => self.increase(*register, value, &again, &head),
                    None => self.line(&again, "nop", &head),
                }
            }
            Statement::Once(body) => {
                let [head, again, inside] = std::array::from_fn(|_| self.label());
                let counter = self.counter();
                self.line(from, &format!("{counter} <- 0"), &head);
                self.line(&head, &format!("assert {counter} < 1"), &inside);
                self.line(&head, &format!("assert !({counter} < 1)"), to);
                self.loop_body(body, &again, &inside, to);
                self.line(&again, &format!("{counter} <- {counter} + 1"), &head);
            }
            Statement::Loop(body) => {
                let inside = self.label();
                self.line(from, "nop", &inside);
                self.loop_body(body, from, &inside, to);
            }
            Statement::Await(condition) => self.condition(condition, from, to, from),
            Statement::Choose(blocks) => {
                for block in blocks {
                    let entry = self.label();
                    self.line(from, "nop", &entry);
                    self.block(block, &entry, to);
                }
            }
            Statement::Atomic(body) => {
                let (inside, last) = (self.label(), self.label());
                self.line(from, "lock", &inside);
                self.around.section = true;
                self.block(body, &inside, &last);
                self.around.section = false;
                self.line(&last, "unlock", to);
            }
            Statement::Break | Statement::Continue => {
                let (start, end, section) = self.around.innermost.clone().expect("a loop is open");
                let target = if matches!(statement, Statement::Break) { end } else { start };
                let word = if self.around.section && !section { "unlock" } else { "nop" };
                self.line(from, word, &target);
            }
            Statement::Return => {
                let stop = self.around.stop.clone();
                self.line(from, "nop", &stop);
            }
            Statement::Call(place, value) => self.call(place, value, from, to),
        }
    }

    fn increase(&mut self, register: usize, value: &Value, from: &str, to: &str) {
        let (value, at) = self.value(value, from);
        let register = self.own_register(register);
        self.line(&at, &format!("{register} <- {register} + {value}"), to);
    }

    /// The register that counts in a `for`.
    fn counter(&self) -> &'static str {
        if self.around.arguments.is_some() { "p_k" } else { "k" }
    }

    fn loop_body(&mut self, body: &[Statement], start: &str, from: &str, to: &str) {
        let innermost = Some((start.to_owned(), to.to_owned(), self.around.section));
        let outer = std::mem::replace(&mut self.around.innermost, innermost);
        self.block(body, from, start);
        self.around.innermost = outer;
    }

    fn call(&mut self, place: &Place, value: &Value, from: &str, to: &str) {
        let (address, at) = self.place(place, from);
        let (value, at) = self.value(value, &at);
        let (value, mut at) = self.step(&at, &value);
        for register in REGISTERS {
            let next = self.label();
            self.line(&at, &format!("p_{register} <- 0"), &next);
            at = next;
        }
        let inside = Around {
            stop: to.to_owned(),
            innermost: None,
            section: self.around.section,
            arguments: Some((address, value)),
        };
        let outer = std::mem::replace(&mut self.around, inside);
        let program = self.program;
        self.block(&program.procedure, &at, to);
        self.around = outer;
    }

    /// The address of a place, as an expression.
    fn place(&mut self, place: &Place, from: &str) -> (String, String) {
        match place {
            Place::Address(address) => (ADDRESSES[*address].to_owned(), from.to_owned()),
            Place::Element(index) => {
                let (index, at) = self.value(index, from);
                (format!("slot + {index}"), at)
            }
            Place::Parameter => (self.around.arguments.clone().expect("a procedure is open").0, from.to_owned()),
        }
    }

    /// A value, as a number or a register.
    fn value(&mut self, value: &Value, from: &str) -> (String, String) {
        match value {
            Value::Number(number) => (number.to_string(), from.to_owned()),
            Value::Itself => (self.copy.to_string(), from.to_owned()),
            Value::Register(register) => (self.own_register(*register), from.to_owned()),
            Value::Argument => (self.around.arguments.clone().expect("a procedure is open").1, from.to_owned()),
            Value::Load(place) => {
                let (address, at) = self.place(place, from);
                self.step(&at, &format!("mem[{address}]"))
            }
            Value::Sum(left, right) => {
                let (left, at) = self.value(left, from);
                let (right, at) = self.value(right, &at);
                self.step(&at, &format!("{left} + {right}"))
            }
            Value::Xchg(place, new) => {
                let (address, at) = self.place(place, from);
                let (new, at) = self.value(new, &at);
                self.step(&at, &format!("xchg(mem[{address}], {new})"))
            }
            Value::Cas(place, expected, new) => {
                let (address, at) = self.place(place, from);
                let (expected, at) = self.value(expected, &at);
                let (new, at) = self.value(new, &at);
                self.step(&at, &format!("cas(mem[{address}], {expected}, {new})"))
            }
            Value::Add(place, summand) => {
                let (address, at) = self.place(place, from);
                let (summand, at) = self.value(summand, &at);
                self.step(&at, &format!("fetch_add(mem[{address}], {summand})"))
            }
            Value::Call(first, second) => {
                let (first, at) = self.value(first, from);
                let (second, at) = self.value(second, &at);
                let (stored, to, register) = (self.label(), self.label(), self.register());
                self.line(&at, &format!("mem[x] <- {first}"), &stored);
                let (loaded, at) = self.step(&stored, "mem[y]");
                let (same, other) = (self.label(), self.label());
                self.line(&at, &format!("assert {loaded} == {second}"), &same);
                self.line(&at, &format!("assert {loaded} != {second}"), &other);
                self.line(&same, &format!("{register} <- {first} + 1"), &to);
                self.line(&other, &format!("{register} <- {second}"), &to);
                (register, to)
            }
            Value::Truth(condition) => {
                let (yes, no, to, register) = (self.label(), self.label(), self.label(), self.register());
                self.condition(condition, from, &yes, &no);
                self.line(&yes, &format!("{register} <- 1"), &to);
                self.line(&no, &format!("{register} <- 0"), &to);
                (register, to)
            }
        }
    }

    fn condition(&mut self, condition: &Condition, from: &str, yes: &str, no: &str) {
        match condition {
            Condition::Compare(left, operator, right) => {
                let (left, at) = self.value(left, from);
                let (right, at) = self.value(right, &at);
                self.line(&at, &format!("assert {left} {operator} {right}"), yes);
                self.line(&at, &format!("assert !({left} {operator} {right})"), no);
            }
            Condition::And(left, right) => {
                let second = self.label();
                self.condition(left, from, &second, no);
                self.condition(right, &second, yes, no);
            }
            Condition::Or(left, right) => {
                let second = self.label();
                self.condition(left, from, yes, &second);
                self.condition(right, &second, yes, no);
            }
            Condition::Not(inside) => self.condition(inside, from, no, yes),
            Condition::Any => {
                self.line(from, "nop", yes);
                self.line(from, "nop", no);
            }
        }
    }
}
