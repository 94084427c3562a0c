//! Checks of a program whose domain and copies are final, and what is odd about it in words.

use super::check_tasks;
use super::suggest::{closest, did_you_mean};
use super::{Diagnostic, MAX_ERRORS, Severity};
use palisade_model::program::{
    Action, BinaryOperator, Copies, Domain, DomainOrigin, Expression, Instruction, LabelId, Program, SourceText, Span,
    StructuralWarning, Thread, ThreadId, Value, structural_warnings,
};

use std::collections::BTreeSet;

/// So many dead ends are compared with all labels, as each may be misspelt.
const MOST_DEAD_ENDS: usize = 100;

/// Checks values against the domain, brings initial values into it, and warns of what is odd.
pub fn check(program: &mut Program) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    if let Some(domain) = program.domain {
        initial_values(program, domain, &mut found);
    }
    for thread in program.threads.iter().filter(|thread| !thread.is_left_out()) {
        for instruction in &thread.instructions {
            Checker { program, instruction, found: &mut found }.instruction();
        }
    }
    check_tasks::check(program, &mut found);
    let (mut errors, mut warnings): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Error);
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.span);
        // Threads that say `self` have one text.
        errors.dedup();
        errors.truncate(MAX_ERRORS);
        return Err(errors);
    }
    let mut dead_ends = 0;
    let structural = structural_warnings(program).into_iter().filter(|warning| {
        dead_ends += usize::from(matches!(warning, StructuralWarning::DeadEnd { .. }));
        !matches!(warning, StructuralWarning::DeadEnd { .. }) || dead_ends <= MOST_DEAD_ENDS
    });
    warnings.extend(structural.filter_map(|warning| in_words(program, warning)));
    warnings.extend(too_few_copies(program));
    warnings.sort_by_key(|warning| warning.span);
    warnings.dedup();
    Ok(warnings)
}

/// The warning that a program cannot violate anything because no store can be delayed past a load.
pub fn no_attack_can_start(program: &Program) -> Diagnostic {
    let span = program.threads.first().map_or(Span::default(), |thread| thread.span);
    let message = "no attack can start: in no thread does a load follow a store without a fence in between";
    Diagnostic::warning(message, span).with_note("the program is robust, whatever values there are")
}

/// The warnings about roles of machine code that never come to an end, where `is_reached` says no
/// of labels that they do not come to: a verdict about them may say little.
pub fn roles_without_end(program: &Program, is_reached: impl Fn(ThreadId, LabelId) -> bool) -> Vec<Diagnostic> {
    if !program.source.is_listing {
        return Vec::new();
    }
    let warning = |(id, thread): (ThreadId, &Thread)| {
        let by_label = thread.instructions_by_label();
        let (mut seen, mut open) = (BTreeSet::from([thread.initial]), vec![thread.initial]);
        let repeats = program.role_repeats(thread);
        let (mut fails, mut returns) = (false, false);
        while let Some(label) = open.pop().filter(|_| !returns) {
            returns = by_label[label.index()].is_empty();
            for instruction in by_label[label.index()].iter().map(|instruction| thread.instruction(*instruction)) {
                if instruction.action == Action::Fail {
                    fails = true;
                    continue;
                }
                // Roles that begin again return to where they begin.
                returns |= repeats && instruction.target == thread.initial;
                if is_reached(id, instruction.target) && seen.insert(instruction.target) {
                    open.push(instruction.target);
                }
            }
        }
        let what = if fails { "fails on every path" } else { "never returns" };
        let message = format!("role `{}` {what}", thread.name);
        let note = "the verdict says nothing about what the role would do after that";
        (!returns).then(|| Diagnostic::warning(message, thread.span).with_note(note))
    };
    program.thread_ids().filter(|(_, thread)| !thread.is_left_out()).filter_map(warning).collect()
}

/// The warnings about roles of machine code that access no memory that others write or see: a
/// closure that was never called, one of which the compiler has left nothing, or one that reads
/// what nobody stores.
pub fn roles_that_do_nothing(program: &Program) -> Vec<Diagnostic> {
    if !program.source.is_listing {
        return Vec::new();
    }
    let does_nothing = |thread: &&Thread| {
        let accesses = |own: &palisade_model::program::Instruction| own.action.address().is_some();
        !thread.is_left_out() && !thread.instructions.iter().any(accesses)
    };
    let warning = |thread: &Thread| {
        let message = format!("role `{}` does nothing that others see, and sees nothing that others do", thread.name);
        Diagnostic::warning(message, thread.span).with_note("the verdict says nothing about what it was meant to do")
    };
    program.threads.iter().filter(does_nothing).map(warning).collect()
}

/// Joint control states that ask for more copies of a thread than there are.
fn too_few_copies(program: &Program) -> impl Iterator<Item = Diagnostic> + '_ {
    program.never.iter().flat_map(|joint| {
        program.thread_ids().filter(|(_, thread)| thread.is_thread()).filter_map(|(id, thread)| {
            let Copies::Exactly(count) = thread.copies else { return None };
            let asked = joint.copies_of(id);
            let message = format!("this asks for {asked} copies of `{}`, of which there are {count}", thread.name);
            (asked > count).then(|| Diagnostic::warning(message, joint.span).with_label("never, whatever they do"))
        })
    })
}

/// Wraps initial values into a domain that wraps; outside of another one they are errors.
fn initial_values(program: &mut Program, domain: Domain, found: &mut Vec<Diagnostic>) {
    let source = program.source.clone();
    let mut admit = |value: Value, place: String, span: Span| {
        if domain.contains(value) {
            return value;
        }
        let wrapped = domain.wrapped(i128::from(value));
        let range = Range(domain);
        found.push(if domain.wrap && domain.origin == DomainOrigin::File {
            Diagnostic::warning(format!("the initial value {value} of {place} wraps to {wrapped} in {range}"), span)
        } else {
            Diagnostic::error(format!("the initial value {value} of {place} is outside {range}"), span)
        });
        wrapped
    };
    for (address, value) in std::mem::take(&mut program.initial_memory) {
        let name = program.address_name(address);
        let declared = program.addresses.iter().find(|entry| {
            let offset = i128::from(address) - i128::from(entry.address);
            (0..i128::from(entry.length)).contains(&offset)
        });
        let whole = Span { start: 0, end: source.text.len() };
        let span = declared.map_or_else(|| word_in(&source, whole, "initial"), |entry| entry.span);
        let value = admit(value, format!("`{name}`"), span);
        if value != 0 {
            program.initial_memory.insert(address, value);
        }
    }
    for thread in &mut program.threads {
        for register in &mut thread.registers {
            register.initial = admit(register.initial, format!("`{}`", register.name), register.span);
        }
    }
}

/// Checks one instruction.
struct Checker<'a> {
    program: &'a Program,
    instruction: &'a Instruction,
    found: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    fn instruction(&mut self) {
        match &self.instruction.action {
            Action::Store { value, .. } | Action::Assign { value, .. } => self.data(value),
            Action::Cas { expected, new, .. } => {
                self.data(expected);
                self.data(new);
            }
            Action::Rmw { new, .. } => self.data(new),
            Action::Post { arguments, .. } => arguments.iter().for_each(|argument| self.data(argument)),
            Action::Assume(condition) | Action::Ensure(condition) => self.operands(condition),
            Action::Havoc { .. } if self.program.domain.is_none() => {
                let message = "any value of the domain: but no domain is declared";
                let error = Diagnostic::error(message, self.instruction.span);
                self.found.push(error.with_help("declare one, `domain 0..3`, or say `--domain 0..3`"));
            }
            _ => {}
        }
        // A constant address that cannot be computed.
        if let Some(address) = self.instruction.action.address().filter(|address| address.is_constant())
            && let Err(error) = address.evaluate_address(&[])
        {
            self.found.push(Diagnostic::error(format!("this address does not exist: {error}"), self.instruction.span));
        }
    }

    /// An expression whose value is stored, assigned or compared in memory.
    fn data(&mut self, expression: &Expression) {
        if expression.is_constant()
            && let Err(error) = expression.evaluate(&[], self.program.domain)
        {
            let span = self.span_of(expression);
            self.found.push(Diagnostic::error(error.to_string(), span).with_label("always"));
            return;
        }
        self.operands(expression);
    }

    /// Constants and address numbers inside an expression.
    fn operands(&mut self, expression: &Expression) {
        let Some(domain) = self.program.domain else { return };
        match expression {
            Expression::Constant(value) if domain.wrap && !domain.contains(*value) => {
                let wrapped = domain.wrapped(i128::from(*value));
                if domain.origin == DomainOrigin::Option {
                    let message = format!("the constant {value} does not fit {}, which an option gives", Range(domain));
                    let help = "give a domain that has it: with another constant it is another program";
                    self.found.push(Diagnostic::error(message, self.span_of(expression)).with_help(help));
                } else {
                    self.warn(format!("the constant {value} wraps to {wrapped} in {}", Range(domain)), expression);
                }
            }
            Expression::Address { id, value } if !domain.contains(*value) => {
                let name = &self.program.addresses[id.index()].name;
                let range = Range(domain);
                let message = if domain.wrap {
                    let wrapped = domain.wrapped(i128::from(*value));
                    format!("the number {value} of the address `{name}` wraps to {wrapped} in {range}")
                } else {
                    format!("the number {value} of the address `{name}` is outside {range}")
                };
                self.warn(message, expression);
            }
            Expression::Unary(_, operand) => self.operands(operand),
            Expression::Binary(operator, left, right) => {
                if let BinaryOperator::Equal | BinaryOperator::NotEqual = operator {
                    self.comparison(left, right, domain);
                    self.comparison(right, left, domain);
                }
                self.operands(left);
                self.operands(right);
            }
            _ => {}
        }
    }

    /// A register compared with a constant it never has.
    fn comparison(&mut self, register: &Expression, constant: &Expression, domain: Domain) {
        if let (Expression::Register(_), Expression::Constant(value)) = (register, constant)
            && !domain.wrap
            && !domain.contains(*value)
        {
            self.warn(format!("no register has the value {value}: it is outside {}", Range(domain)), constant);
        }
    }

    fn warn(&mut self, message: String, expression: &Expression) {
        let span = self.span_of(expression);
        self.found.push(Diagnostic::warning(message, span));
    }

    /// Where a constant or an address stands in the instruction, as well as the text tells.
    fn span_of(&self, expression: &Expression) -> Span {
        let word = match expression {
            Expression::Constant(value) => value.unsigned_abs().to_string(),
            Expression::Address { id, .. } => self.program.addresses[id.index()].name.clone(),
            _ => return self.instruction.span,
        };
        word_in(&self.program.source, self.instruction.span, &word)
    }
}

/// A domain in words.
struct Range(Domain);

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the domain {}..{}", self.0.low, self.0.high)
    }
}

/// The place of the last occurrence of a whole word in a stretch of text, or all of the stretch.
fn word_in(source: &SourceText, span: Span, word: &str) -> Span {
    let text = source.slice(span);
    let part_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '′');
    let whole = |start: &usize| {
        !text[..*start].ends_with(part_of_word) && !text[*start + word.len()..].starts_with(part_of_word)
    };
    match text.rmatch_indices(word).map(|(start, _)| start).find(whole) {
        Some(start) => Span { start: span.start + start, end: span.start + start + word.len() },
        None => span,
    }
}

/// A structural warning as a diagnostic; none for a dead end that looks intended.
fn in_words(program: &Program, warning: StructuralWarning) -> Option<Diagnostic> {
    let place = |id: ThreadId| program.thread(id);
    Some(match warning {
        StructuralWarning::Unreachable { thread, label } => {
            let label = place(thread).label(label);
            let name = &place(thread).name;
            let message = match label.written() {
                Some(label) => format!("nothing leads to the label `{label}` of `{name}`"),
                None => format!("nothing leads here in `{name}`"),
            };
            Diagnostic::warning(message, label.span)
        }
        StructuralWarning::DeadEnd { thread, label } => return dead_end(place(thread), label),
        StructuralWarning::NeverWritten { thread, register, reader } => {
            let thread = place(thread);
            let register = &thread.registers[register.index()];
            let written = thread.instructions.iter().filter_map(|instruction| instruction.action.written_register());
            let written = written.map(|register| thread.registers[register.index()].name.as_str());
            let span = word_in(&program.source, thread.instruction(reader).span, &register.name);
            let message = format!("the register `{}` of `{}` is read but never written", register.name, thread.name);
            Diagnostic::warning(message, span)
                .with_label("always 0")
                .with_help_if(did_you_mean(&register.name, written))
        }
        StructuralWarning::NumberOfAddress { thread, instruction } => {
            let instruction = place(thread).instruction(instruction);
            let Action::Assign { register, value: Expression::Address { id, .. } } = &instruction.action else {
                return None;
            };
            let register = &place(thread).registers[register.index()].name;
            let address = &program.addresses[id.index()].name;
            let span = word_in(&program.source, instruction.span, address);
            Diagnostic::warning(format!("`{register}` gets the number of the address `{address}`"), span)
                .with_label("not what is stored there")
                .with_help(format!("a load is `{register} <- mem[{address}]`"))
        }
        StructuralWarning::UnlockWithoutLock { thread, instruction } => {
            let message = format!("`{}` can get here without holding the lock, and stops", place(thread).name);
            Diagnostic::warning(message, place(thread).instruction(instruction).span)
        }
        StructuralWarning::LockWhileHolding { thread, instruction } => {
            let message = format!("`{}` can get here while it holds the lock, and stops", place(thread).name);
            Diagnostic::warning(message, place(thread).instruction(instruction).span)
        }
    })
}

/// A label without instructions is final. It may be misspelt: when it is close to another label in
/// more than a number, or close to a label that nothing leads to.
fn dead_end(thread: &Thread, label: LabelId) -> Option<Diagnostic> {
    let name = &thread.label(label).name;
    let mut has_instructions = vec![false; thread.labels.len()];
    let mut is_target = vec![false; thread.labels.len()];
    is_target[thread.initial.index()] = true;
    for instruction in &thread.instructions {
        has_instructions[instruction.source.index()] = true;
        is_target[instruction.target.index()] |= instruction.source != instruction.target;
    }
    let unnumbered = without_numbers(name);
    let candidates = thread.labels.iter().enumerate().filter(|(index, other)| {
        has_instructions[*index] && (!is_target[*index] || without_numbers(&other.name) != unnumbered)
    });
    let meant = closest(name, candidates.map(|(_, other)| other.name.as_str()))?;
    let message = format!("`{}` stops at `{name}`, a label without instructions", thread.name);
    Some(Diagnostic::warning(message, thread.label(label).span).with_help(format!("did you mean `{meant}`?")))
}

fn without_numbers(name: &str) -> String {
    name.chars().filter(|c| !c.is_numeric() && !matches!(c, '_' | '\'' | '’' | '′')).collect()
}
