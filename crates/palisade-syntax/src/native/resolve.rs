//! Resolves names: from the tree of a native text to a program.

use super::again::again;
use super::ast::{
    ExpressionKind, Head, Item, Name, Number, Place, Plain, RawCopies, RawExpression, RawInitial, RawInstruction,
    RawLine, RawProgram, RawRegister, RawThread, Target,
};
use super::braced::Structured;
use super::orderings::Meaning;
use super::precedence;
use super::scope::Addresses;
use super::structured::{self, Layout};
use super::templates::Templates;
use super::width::width;
use crate::build::ThreadBuilder;
use crate::suggest::{did_you_mean, did_you_mean_or_list};
use crate::{Diagnostic, MAX_ERRORS, MAX_EXPRESSION_DEPTH, Parsed, Severity};
use palisade_model::program::{
    Action, Copies, Domain, DomainOrigin, Expression, LabelId, Posts, Program, RegisterId, SourceText, Span, Thread,
    ThreadId, UnaryOperator, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The label at which a thread stops: `goto end`, or going on from the last line.
const END: &str = "end";

/// After so many findings the reader stops: too many for anybody to read, and warnings alone never
/// reach it.
const ENOUGH: usize = 1000;

/// The program of a tree, or what in it means nothing.
pub(super) fn resolve(
    raw: &RawProgram<'_>,
    structured: &Structured<'_>,
    source: &Arc<SourceText>,
) -> Result<(Parsed, Layouts), Vec<Diagnostic>> {
    let mut found = Vec::new();
    let addresses = Addresses::collect(&raw.items, structured, source, &mut found);
    let mut templates = Templates::of(&raw.items, structured);
    let mut braced = braced_threads(structured, &addresses, &templates, source, &mut found);
    templates.number(&raw.items, &braced);
    for (thread, _) in braced.iter_mut().flatten() {
        for instruction in &mut thread.instructions {
            if let Action::Post { task, .. } = &mut instruction.action {
                *task = templates.numbered(*task);
            }
        }
    }
    let mut resolver = Resolver { templates, addresses, found, source };
    let mut layouts = Layouts::new();
    let mut program = Program {
        name: raw.name.text.to_owned(),
        domain: None,
        addresses: Vec::new(),
        initial_memory: BTreeMap::new(),
        threads: Vec::new(),
        posts: Posts::default(),
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        source: source.clone(),
    };
    let mut thread_names: FxHashMap<&str, Span> = FxHashMap::default();
    let mut families: FxHashMap<&str, Vec<ThreadId>> = FxHashMap::default();
    let mut initial_places: FxHashSet<Value> = FxHashSet::default();
    let mut posts_declared = false;
    for item in &raw.items {
        if resolver.found.len() >= ENOUGH {
            break;
        }
        match item {
            Item::Domain { low, high, wrap, span } => resolver.domain(&mut program, [*low, *high], *wrap, *span),
            Item::Initial(values) => {
                for value in values {
                    resolver.initial(&mut program, &mut initial_places, value);
                }
            }
            Item::Thread(thread) => {
                resolver.thread_name(&mut thread_names, thread.name);
                resolver.task_name(thread.head, thread.name);
                let before = program.threads.len();
                program.threads.extend(resolver.thread(thread));
                layouts.resize(program.threads.len(), None);
                families.insert(thread.name.text, (before..program.threads.len()).map(ThreadId::from_index).collect());
            }
            Item::Braced(number) => {
                let name = structured.threads[*number].name;
                resolver.thread_name(&mut thread_names, name);
                resolver.task_name(structured.threads[*number].head, name);
                let before = program.threads.len();
                for (thread, layout) in std::mem::take(&mut braced[*number]) {
                    program.threads.push(thread);
                    layouts.push(Some(layout));
                }
                families.insert(name.text, (before..program.threads.len()).map(ThreadId::from_index).collect());
            }
            Item::Posts(word) => resolver.posts(&mut program, &mut posts_declared, *word),
            Item::Addresses(_) | Item::Never { .. } | Item::Daemon(_) | Item::Error => {}
        }
    }
    resolver.check_tries(&program);
    resolver.daemons(&mut program, &raw.items, structured, &families);
    for thread in &structured.threads {
        let name = thread.name.text;
        for id in families.get(name).filter(|members| members.len() > 1).into_iter().flatten() {
            let numbered = program.thread(*id).name.clone();
            if let Some(span) = thread_names.get(numbered.as_str()) {
                let message = format!("the copies of `{name}` get this name, because it says `self`");
                resolver.error(message, *span);
            }
        }
    }
    for item in &raw.items {
        if let Item::Never { places, span } = item {
            resolver.never(&mut program, &thread_names, &families, places, *span);
        }
    }
    resolver.finally(&mut program, structured, source);
    let is_right = resolver.found.iter().all(|found| found.severity != Severity::Error);
    if is_right && program.threads.is_empty() {
        resolver.error("the program has no thread", raw.name.span);
    } else if is_right && program.threads.iter().all(Thread::is_task) {
        let error =
            resolver.error("nothing runs: the program has tasks, and neither an event nor a thread", raw.name.span);
        error.help = Some("an event starts tasks: `event e { post any …(); }`".to_owned());
    }
    let (mut errors, mut warnings): (Vec<_>, Vec<_>) =
        resolver.found.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Error);
    if errors.is_empty() {
        program.addresses = resolver.addresses.all;
        program.complete_orderings();
        warnings.sort_by_key(|warning| warning.span);
        warnings.dedup();
        return Ok((Parsed { program, warnings, question: None }, layouts));
    }
    errors.sort_by_key(|error| error.span);
    // What is wrong in a procedure is found at each of its calls.
    errors.dedup();
    errors.truncate(MAX_ERRORS);
    Err(errors)
}

/// For each thread that has a body in braces, where its parts stand.
pub(super) type Layouts = Vec<Option<Layout>>;

/// The automata of the threads with bodies in braces.
fn braced_threads<'s>(
    structured: &Structured<'s>,
    addresses: &Addresses<'s>,
    templates: &Templates<'s>,
    source: &SourceText,
    found: &mut Vec<Diagnostic>,
) -> Vec<Vec<(Thread, Layout)>> {
    let context = structured::Context::new(structured, addresses, templates, source, found);
    let threads = structured.threads.iter().map(|thread| {
        let asked = thread.copies.map(|(copies, _)| copies).filter(|_| thread.head != Head::Task);
        let copies = copies(thread.head, asked, found);
        structured::lower(&context, thread, copies, found)
    });
    threads.collect()
}

/// How many copies the text asks for.
fn copies(head: Head, raw: Option<RawCopies>, found: &mut Vec<Diagnostic>) -> Copies {
    match raw {
        None => head.default_copies(),
        Some(RawCopies::Any) => Copies::Any,
        Some(RawCopies::Number(number)) => match u64::try_from(number.value).ok().filter(|it| *it <= Copies::MOST) {
            Some(count) => Copies::Exactly(count),
            None => {
                let message = format!("there cannot be {} copies of {}", number.value, head.with_article());
                let help = "`[*]` stands for any number";
                found.push(Diagnostic::error(message, number.span).with_help(help));
                Copies::Any
            }
        },
    }
}

/// Resolves the names of one text.
pub(super) struct Resolver<'a, 's> {
    /// What the names of threads, events and tasks stand for.
    pub(super) templates: Templates<'s>,
    /// Its addresses.
    pub(super) addresses: Addresses<'s>,
    /// Errors and warnings.
    pub(super) found: Vec<Diagnostic>,
    /// The text.
    source: &'a SourceText,
}

/// What a name can stand for in an expression.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a, 's> {
    /// The thread whose registers can be read; none outside of threads.
    pub(super) thread: Option<&'a ThreadBuilder<'s>>,
    /// Whether `old` is the value a locked read-modify-write has loaded.
    pub(super) old: bool,
}

impl<'s> Resolver<'_, 's> {
    /// An error at a place.
    pub(super) fn error(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        self.found.push(Diagnostic::error(message, span));
        self.found.last_mut().expect("one was just pushed")
    }

    fn domain(&mut self, program: &mut Program, [low, high]: [Number; 2], wrap: Option<Name<'s>>, span: Span) {
        if let Some(word) = wrap.filter(|word| word.text != "wrap") {
            let message = format!("unknown word `{}` after the domain", word.text);
            let error = self.error(message, word.span);
            error.expected = vec!["`wrap`".to_owned()];
            error.help = did_you_mean(word.text, ["wrap", "thread", "address", "initial", "event", "task", "posts"]);
        }
        if program.domain.is_some() {
            self.error("the domain is declared twice", span);
        }
        let (Ok(least), Ok(greatest)) = (Value::try_from(low.value), Value::try_from(high.value)) else {
            self.error("the bounds of the domain do not fit 64 bits", span);
            return;
        };
        if least > 0 || greatest < 0 {
            self.error("the domain does not contain 0, the value everything starts with", low.span.to(high.span));
            return;
        }
        let origin = DomainOrigin::File;
        program.domain = Some(Domain { low: least, high: greatest, wrap: wrap.is_some(), origin });
    }

    fn initial(&mut self, program: &mut Program, places: &mut FxHashSet<Value>, initial: &RawInitial<'s>) {
        let place = match &initial.place {
            Place::Named { name, index } => {
                let id = self.addresses.named(name.text).expect("names in `initial` were collected");
                let address = &self.addresses.all[id.index()];
                let (first, length) = (address.address, i128::from(address.length));
                match index {
                    None => Some(first),
                    Some(index) if (0..length).contains(&index.value) => {
                        Some(first + Value::try_from(index.value).expect("indices are below the length"))
                    }
                    Some(index) => {
                        let message = format!("`{}` has no index {}", name.text, index.value);
                        let note =
                            format!("it stands for {length} {}", if length == 1 { "address" } else { "addresses" });
                        self.error(message, index.span).notes.push(note);
                        None
                    }
                }
            }
            Place::Memory(address) => self.constant(address),
        };
        let value = self.constant(&initial.value);
        let (Some(place), Some(value)) = (place, value) else { return };
        if !places.insert(place) {
            self.error("this address has an initial value already", initial.span);
        }
        if value != 0 {
            program.initial_memory.insert(place, value);
        }
    }

    /// Notes the name of a thread.
    fn thread_name(&mut self, names: &mut FxHashMap<&'s str, Span>, name: Name<'s>) {
        if let Some(first) = names.get(name.text) {
            let message = format!("there is already {} named `{}`", self.templates.kind(name.text), name.text);
            self.found.push(again(message, name.span, *first, self.source));
        } else {
            names.insert(name.text, name.span);
        }
    }

    /// The value of an expression outside of threads.
    fn constant(&mut self, raw: &RawExpression<'s>) -> Option<Value> {
        let expression = self.expression(raw, Scope { thread: None, old: false })?;
        match expression.evaluate(&[], None) {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(error.to_string(), raw.span);
                None
            }
        }
    }

    /// The thread, unless something in it is wrong; that is in `found` then.
    fn thread(&mut self, raw: &RawThread<'s>) -> Option<Thread> {
        let errors_before = self.found.len();
        let asked = raw.copies.map(|(copies, _)| copies).filter(|_| raw.head != Head::Task);
        let copies = copies(raw.head, asked, &mut self.found);
        let mut builder = ThreadBuilder::new(raw.name.text, raw.name.span, copies);
        builder.set_role(self.role(raw));
        for name in raw.parameters.iter().flat_map(|(names, _)| names) {
            if builder.register_named(name.text).is_some() {
                self.error(format!("the parameter `{}` is declared twice", name.text), name.span);
            }
            builder.register(name.text, name.span);
        }
        for RawRegister { name, initial } in &raw.registers {
            if let Some(first) = builder.register_named(name.text) {
                let first = builder.register_mut(first).span;
                let message = format!("the register `{}` is declared twice", name.text);
                self.found.push(again(message, name.span, first, self.source));
            }
            let id = builder.register(name.text, name.span);
            if let Some(Number { value, span }) = *initial {
                match Value::try_from(value) {
                    Ok(value) => {
                        let register = builder.register_mut(id);
                        (register.initial, register.is_initialised) = (value, true);
                    }
                    Err(_) => drop(self.number(value, span)),
                }
            }
        }
        let lines: Vec<&RawLine<'s>> = raw.lines.iter().flatten().collect();
        for (index, line) in lines.iter().enumerate() {
            if self.found.len() >= ENOUGH {
                return None;
            }
            self.line(&mut builder, line, lines.get(index + 1).copied(), raw.end);
        }
        let first = lines.first().map_or(Name { text: END, span: raw.end }, |line| line.label);
        let Name { text, span } = raw.initial.unwrap_or(first);
        if builder.label_named(text).is_none() && !lines.is_empty() {
            let message = format!("the {} starts at `{text}`, but has no label of that name", raw.head.word());
            let help = did_you_mean_or_list(text, "label", builder.label_names());
            let error = self.error(message, span);
            error.label = String::from("not a label");
            error.help = help;
        }
        let initial = builder.label(text, span);
        let fine = self.found[errors_before..].iter().all(|diagnostic| diagnostic.severity == Severity::Warning);
        fine.then(|| builder.finish(initial))
    }

    fn line(&mut self, builder: &mut ThreadBuilder<'s>, line: &RawLine<'s>, next: Option<&RawLine<'s>>, end: Span) {
        let source = builder.label(line.label.text, line.label.span);
        self.annotations(builder, source, line);
        let meaning = self.meaning(builder, &line.instruction);
        let waits = meaning.as_ref().is_some_and(|meaning| meaning.until.is_some());
        let read = waits.then(|| builder.waiting_label(source, line.span));
        let target = match (line.target, next) {
            (Some(Target::Label(name)), _) => builder.label(name.text, name.span),
            (Some(Target::End(span)), _) => builder.label(END, span),
            (None, None) => builder.label(END, end),
            (None, Some(next)) if next.label.text == line.label.text => {
                let message = format!("where does this go on? The next line has the label `{}` too", next.label.text);
                self.error(message, line.span).expected = vec!["`goto`".to_owned()];
                source
            }
            (None, Some(next)) => builder.label(next.label.text, next.label.span),
        };
        if let Some(meaning) = meaning {
            let id = self.add(builder, [source, read.unwrap_or(target), target], meaning, line.span);
            self.mark(builder.instruction_mut(id), line.mark);
        }
    }

    /// `@cost(x)`: what a fence at the line's label costs.
    fn annotations(&mut self, builder: &mut ThreadBuilder<'s>, label: LabelId, line: &RawLine<'s>) {
        for annotation in &line.annotations {
            if annotation.name.text != "cost" {
                let message = format!("unknown annotation `@{}`", annotation.name.text);
                let help = did_you_mean(annotation.name.text, ["cost"]);
                let error = self.error(message, annotation.name.span);
                error.expected = vec!["`@cost(…)`".to_owned()];
                error.help = help;
                continue;
            }
            let cost =
                self.source.slice(annotation.value).parse().ok().filter(|cost: &f64| cost.is_finite() && *cost > 0.0);
            let Some(cost) = cost else {
                self.error("a cost is a number greater than 0", annotation.value);
                continue;
            };
            if builder.label_mut(label).fence_cost.replace(cost).is_some() {
                let message = format!("the label `{}` has a cost already", line.label.text);
                self.error(message, annotation.name.span);
            }
        }
    }

    /// What an instruction does, unless something in it is wrong.
    fn meaning(&mut self, builder: &ThreadBuilder<'s>, raw: &RawInstruction<'s>) -> Option<Meaning<'s>> {
        let scope = Scope { thread: Some(builder), old: false };
        let action = match raw {
            RawInstruction::Store { address, value } => {
                let address = self.expression(address, scope);
                let value = self.expression(value, scope);
                Some(Action::Store { address: address?, value: value? })
            }
            RawInstruction::Assign { register, value } => {
                let register = self.register(builder, *register);
                if let ExpressionKind::Memory(address) = &value.kind {
                    let address = self.expression(address, scope);
                    Some(Action::Load { register: register?, address: address? })
                } else {
                    let value = self.expression(value, scope);
                    Some(Action::Assign { register: register?, value: value? })
                }
            }
            RawInstruction::Havoc { register } => Some(Action::Havoc { register: self.register(builder, *register)? }),
            RawInstruction::Locked { register, address, .. } => {
                let register = match register {
                    Some(register) => Some(self.register(builder, *register)?),
                    None => None,
                };
                let address = self.expression(address, scope);
                return self.operation(scope, register, address?, raw);
            }
            RawInstruction::Sleep { .. } | RawInstruction::Wake { .. } => return self.sleeping(scope, builder, raw),
            RawInstruction::Fence { ordering } => return self.fence(ordering),
            RawInstruction::Assume(condition) => Some(Action::Assume(self.expression(condition, scope)?)),
            RawInstruction::Ensure(condition) => Some(Action::Ensure(self.expression(condition, scope)?)),
            RawInstruction::Post { executor, task, arguments, span } => {
                self.post(builder, *executor, *task, arguments, *span)
            }
            RawInstruction::Plain(plain) => Some(match plain {
                Plain::Fence => Action::Fence,
                Plain::StoreFence => Action::StoreFence,
                Plain::Nop => Action::Nop,
                Plain::Lock => Action::Lock,
                Plain::Unlock => Action::Unlock,
                Plain::Fail => Action::Fail,
            }),
        };
        action.map(Meaning::from)
    }

    pub(super) fn register(&mut self, builder: &ThreadBuilder<'s>, name: Name<'s>) -> Option<RegisterId> {
        let register = builder.register_named(name.text);
        if register.is_none() {
            let address = self.addresses.named(name.text).is_some();
            let message = if address {
                format!("`{}` is an address, not a register", name.text)
            } else {
                format!("`{}` is not a register of this {}", name.text, builder.role().word())
            };
            let help = if address {
                Some(format!("to store, write `mem[{}] <- …`", name.text))
            } else {
                did_you_mean_or_list(name.text, "register", builder.register_names())
                    .or_else(|| Some(format!("declare it: `regs {}`", name.text)))
            };
            let error = self.error(message, name.span);
            error.expected = vec!["a register".to_owned()];
            error.help = help;
        }
        register
    }

    /// The expression, unless something in it is wrong.
    pub(super) fn expression(&mut self, raw: &RawExpression<'s>, scope: Scope<'_, 's>) -> Option<Expression> {
        match &raw.kind {
            ExpressionKind::Literal(value) => self.number(i128::from(*value), raw.span),
            ExpressionKind::Constant(value) => self.number(*value, raw.span),
            ExpressionKind::Name(name) => self.name(Name { text: name, span: raw.span }, scope),
            ExpressionKind::Call(function, operand) => {
                let operand = self.expression(operand, scope);
                let Some((bits, signed)) = width(function.text) else {
                    let message = format!("unknown function `{}`", function.text);
                    let note = "the functions are `u1` to `u64` and `i1` to `i64`, which cut a value to so many bits";
                    self.error(message, function.span).notes.push(note.to_owned());
                    return None;
                };
                Some(Expression::unary(UnaryOperator::Truncate { bits, signed }, operand?))
            }
            ExpressionKind::Memory(_) => {
                let help = "load it into a register first: `r <- mem[…]` is an instruction of its own";
                self.error("memory cannot be read inside an expression", raw.span).help = Some(help.to_owned());
                None
            }
            ExpressionKind::Index(name, index) => {
                let index = self.source.slice(index.span).to_owned();
                let message = format!("`{}[…]` is not an expression", name.text);
                let help = if name.text.eq_ignore_ascii_case("mem") || self.addresses.named(name.text).is_none() {
                    did_you_mean(name.text, ["mem"])
                } else {
                    Some(format!("the address is `{0} + {index}`, its content `mem[{0} + {index}]`", name.text))
                };
                self.error(message, raw.span).help = help;
                None
            }
            ExpressionKind::Unary(operator, operand) => {
                Some(Expression::unary(*operator, self.expression(operand, scope)?))
            }
            ExpressionKind::Binary(operator, left, right) => {
                if self.found.len() < ENOUGH / 2 {
                    self.found.extend(precedence::warning(self.source, raw));
                }
                let left = self.expression(left, scope);
                let right = self.expression(right, scope);
                Some(Expression::binary(*operator, left?, right?))
            }
            ExpressionKind::Apply(..)
            | ExpressionKind::AddressOf(_)
            | ExpressionKind::Any
            | ExpressionKind::CompareExchange(_) => {
                self.error("this stands only in bodies in braces", raw.span);
                None
            }
            ExpressionKind::TooDeep => {
                let message =
                    format!("the expression has more than {MAX_EXPRESSION_DEPTH} operators inside each other");
                self.error(message, raw.span);
                None
            }
        }
    }

    fn number(&mut self, value: i128, span: Span) -> Option<Expression> {
        match Value::try_from(value) {
            Ok(value) => Some(Expression::Constant(value)),
            Err(_) => {
                self.error(format!("the number {value} does not fit 64 bits"), span);
                None
            }
        }
    }

    /// A register of the thread, an address, or `old`.
    fn name(&mut self, name: Name<'s>, scope: Scope<'_, 's>) -> Option<Expression> {
        if scope.old && name.text == "old" {
            return Some(Expression::Old);
        }
        if let Some(register) = scope.thread.and_then(|thread| thread.register_named(name.text)) {
            return Some(Expression::Register(register));
        }
        if let Some(id) = self.addresses.named(name.text) {
            return Some(Expression::Address { id, value: self.addresses.all[id.index()].address });
        }
        let (message, help) = match scope.thread {
            Some(thread) => (
                format!("`{}` is neither a register of this {} nor an address", name.text, thread.role().word()),
                did_you_mean(name.text, thread.register_names().chain(self.addresses.names()))
                    .or_else(|| did_you_mean_or_list(name.text, "register", thread.register_names())),
            ),
            None => (format!("`{}` is not an address", name.text), did_you_mean(name.text, self.addresses.names())),
        };
        let error = self.error(message, name.span);
        error.label = String::from("unknown");
        error.help = help;
        None
    }
}
