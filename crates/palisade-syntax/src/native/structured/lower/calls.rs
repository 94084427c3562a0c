//! Locked updates and calls. A procedure is inlined where it is called, with registers of its own.

use super::accesses::{UPDATES, WeakCas};
use super::layout::StoreText;
use super::places::base_name;
use super::scope::{Binding, Frame, Meaning};
use super::sleeping::STATEMENTS;
use super::{Lowering, MOST_INSTRUCTIONS};
use crate::native::ast::{CompareExchange, ExpressionKind, Name, RawExpression};
use crate::native::braced::{Block, Procedure, Statement, StatementKind};
use crate::native::orderings::Ordered;
use crate::native::token::FENCE;
use crate::suggest::closest;
use palisade_model::program::{Action, BinaryOperator, Expression, LabelId, RegisterId};
use palisade_model::text::Span;

/// What a parameter stands for.
enum Argument {
    /// What the caller hands over.
    Same(Binding),
    /// A register of the procedure's own, with this value.
    Copy(Expression),
}

/// What people call an update elsewhere, and what to write.
const FOREIGN: &[(&str, &str)] = &[
    ("atomic_load", "an address in an expression is a load: `x`"),
    ("READ_ONCE", "an address in an expression is a load: `x`"),
    ("atomic_store", "a store is `x = …;`"),
    ("WRITE_ONCE", "a store is `x = …;`"),
    ("thread_fence", "write `fence(acquire)`, or `mfence` for the fence of x86"),
    ("compare_exchange_weak", "write `weak_cas(x, expected, new, …)`; it returns whether it has stored"),
    ("atomic_exchange", "write `xchg(x, …)`"),
    ("exchange", "write `xchg(x, …)`"),
    ("swap", "write `xchg(x, …)`"),
    ("test_and_set", "write `xchg(x, 1)`"),
    ("compare_exchange", "write `cas(x, expected, new)`; it returns the value that was there"),
    ("compare_and_swap", "write `cas(x, expected, new)`; it returns the value that was there"),
    ("CAS", "write `cas(x, expected, new)`; it returns the value that was there"),
    ("cmpxchg", "write `cas(x, expected, new)`; it returns the value that was there"),
    ("fetch_inc", "write `fetch_add(x, 1)`"),
    ("mutex_lock", "write `lock(x)`"),
    ("mutex_unlock", "write `unlock(x)`"),
    ("futex_wait", "write `wait(x, value)`"),
    ("futex_wake", "write `wake(x, 1)` or `wake(x, all)`"),
    ("signal", "write `notify_one(x)`"),
    ("broadcast", "write `notify_all(x)`"),
    ("printf", "`palisade simulate` and `palisade witness` show values"),
];

impl<'a, 's> Lowering<'a, 's, '_> {
    /// A locked update or a call, between two labels; its outcome goes to `result`.
    pub(super) fn apply(
        &mut self,
        name: Name<'s>,
        operands: &[RawExpression<'s>],
        span: Span,
        result: Option<RegisterId>,
        from: LabelId,
        to: LabelId,
    ) -> Option<()> {
        if let Some(procedure) = self.context.procedures.get(name.text) {
            return self.call(procedure, operands, span, result, from, to);
        }
        if name.text == FENCE {
            return self.fence(operands, span, result, [from, to]);
        }
        if let Some(&(_, wanted, usage)) = STATEMENTS.iter().find(|(word, ..)| *word == name.text) {
            return self.sleeping((name, wanted, usage), operands, span, result, [from, to]);
        }
        let Some(&(_, wanted, usage, of)) = UPDATES.iter().find(|(update, ..)| *update == name.text) else {
            self.unknown_call(name);
            return None;
        };
        let ordering = operands.last().map_or(span, |operand| operand.span);
        let (operands, given) = self.with_orderings(operands, wanted + 1, of, usage, span)?;
        if of == Ordered::Store && result.is_some() {
            self.error("a store has no value", span).help = Some("write it as a statement of its own".to_owned());
            return None;
        }
        let (address, mut at) = self.place(&operands[0], from, false)?;
        let mut values = Vec::new();
        for operand in &operands[1..] {
            let is_new = name.text == "rmw";
            if is_new {
                let old = Name { text: "old", span: operand.span };
                self.frame()
                    .scopes
                    .push(std::iter::once((old.text, (Binding::Value(Expression::Old), old.span))).collect());
            }
            let value = self.value(operand, at);
            if is_new {
                self.frame().scopes.pop();
            }
            let (value, next) = value?;
            values.push(value);
            at = next;
        }
        if of == Ordered::Load {
            let register = match result {
                Some(register) => register,
                None => self.temporary(base_name(&operands[0]), span),
            };
            self.access(at, to, Action::Load { register, address }, given, span);
            return Some(());
        }
        let mut values = values.into_iter();
        let first = values.next()?;
        let old = |operator| Expression::binary(operator, Expression::Old, first.clone());
        let new = match name.text {
            "store" => {
                let number = self.access(at, to, Action::Store { address, value: first }, given, span);
                self.layout.store(number, StoreText::Call { ordering });
                return Some(());
            }
            "cas" => {
                let action = Action::Cas { register: result, address, expected: first, new: values.next()? };
                self.access(at, to, action, given, span);
                return Some(());
            }
            "weak_cas" => {
                let cas = WeakCas { address, expected: first, new: values.next()?, given, span };
                return self.weak_cas(cas, result, at, to);
            }
            "fetch_add" => old(BinaryOperator::Add),
            "fetch_sub" => old(BinaryOperator::Subtract),
            "fetch_and" => old(BinaryOperator::BitAnd),
            "fetch_or" => old(BinaryOperator::BitOr),
            "fetch_xor" => old(BinaryOperator::BitXor),
            _ => first,
        };
        self.access(at, to, Action::Rmw { register: result, address, new }, given, span);
        Some(())
    }

    /// C's compare-exchange, between two labels; whether it wrote goes to `result`.
    pub(super) fn compare_exchange(
        &mut self,
        raw: &RawExpression<'s>,
        result: Option<RegisterId>,
        from: LabelId,
        to: LabelId,
    ) -> Option<()> {
        let ExpressionKind::CompareExchange(it) = &raw.kind else { return None };
        let CompareExchange { place, expected, new, orderings, is_weak } = &**it;
        let Some(Meaning::Bound(Binding::Register(expected))) = self.meaning(*expected) else { return None };
        let (address, at) = self.place(place, from, false)?;
        let (new, at) = self.value(new, at)?;
        let end = Span { start: raw.span.end, end: raw.span.end };
        let seen = self.temporary("seen", raw.span);
        let mut next = self.step_label(end);
        let was = Expression::Register(expected);
        let action = Action::Cas { register: Some(seen), address, expected: was.clone(), new };
        let cas = self.access(at, next, action, Some(*orderings), raw.span);
        let seen = Expression::Register(seen);
        let equal = Expression::binary(BinaryOperator::Equal, seen.clone(), was);
        // The variable changes before what is assigned the outcome, which may be the same one.
        let holds = match result {
            Some(result) if result == expected => Some(self.temporary("holds", raw.span)),
            result => result,
        };
        let mut failed = next;
        if let Some(register) = holds {
            let at = std::mem::replace(&mut next, self.step_label(end));
            self.automaton.instruction(at, next, Action::Assign { register, value: equal }, raw.span);
            if *is_weak {
                failed = self.step_label(end);
                let value = Expression::Constant(0);
                self.automaton.instruction(failed, next, Action::Assign { register, value }, raw.span);
            }
        }
        if *is_weak {
            self.automaton.instructions[cas].set_weak(failed);
        }
        let (last, overwritten) = match (holds, result) {
            (Some(holds), Some(result)) if holds != result => (self.step_label(end), Some((holds, result))),
            _ => (to, None),
        };
        self.automaton.instruction(next, last, Action::Assign { register: expected, value: seen }, raw.span);
        if let Some((holds, register)) = overwritten {
            let value = Expression::Register(holds);
            self.automaton.instruction(last, to, Action::Assign { register, value }, raw.span);
        }
        Some(())
    }

    fn unknown_call(&mut self, name: Name<'s>) {
        let text = name.text.strip_suffix("_explicit").unwrap_or(name.text);
        let procedures = self.context.procedures.keys().copied();
        let updates = UPDATES.iter().map(|(update, ..)| *update);
        let mut known: Vec<&str> = procedures.chain(updates).chain(STATEMENTS.iter().map(|(word, ..)| *word)).collect();
        known.sort_unstable();
        let stripped = text.strip_prefix("atomic_").unwrap_or(text);
        let is_known = |foreign: &str| {
            foreign == text
                || foreign == stripped
                || stripped.strip_prefix("compare_exchange").is_some() && foreign == "compare_exchange"
        };
        let foreign = |is_it: &dyn Fn(&str) -> bool| {
            FOREIGN.iter().find(|(foreign, _)| is_it(foreign)).map(|(_, help)| (*help).to_owned())
        };
        let own = || (known.contains(&stripped) && stripped != text).then(|| format!("write `{stripped}`"));
        let help = foreign(&|foreign| foreign == name.text).or_else(own).or_else(|| foreign(&is_known));
        let help = help.or_else(|| closest(name.text, known).map(|meant| format!("did you mean `{meant}`?")));
        let message = format!("there is no procedure `{}`", name.text);
        self.error(message, name.span).help =
            help.or_else(|| Some(format!("declare it before or after the threads: `proc {}(…) {{ … }}`", name.text)));
    }

    /// A call, inlined.
    fn call(
        &mut self,
        procedure: &'a Procedure<'s>,
        operands: &[RawExpression<'s>],
        span: Span,
        result: Option<RegisterId>,
        from: LabelId,
        to: LabelId,
    ) -> Option<()> {
        let name = procedure.name.text;
        if self.frames.iter().any(|frame| frame.owner == name) {
            let error = self.error(format!("`{name}` calls itself"), span);
            error.notes.push("a procedure stands for its text, so that calls have to come to an end".to_owned());
            return None;
        }
        if operands.len() != procedure.parameters.len() {
            let message = format!("`{name}` takes {} and gets {}", counted(procedure.parameters.len()), operands.len());
            let parameters: Vec<&str> = procedure.parameters.iter().map(|parameter| parameter.text).collect();
            self.error(message, span).help =
                Some(format!("it is declared as `proc {name}({})`", parameters.join(", ")));
            return None;
        }
        if result.is_some() && !returns_value(&procedure.body) {
            self.error(format!("`{name}` returns no value"), span).help =
                Some("`return …;` in its body gives one".to_owned());
            return None;
        }
        if self.automaton.instructions.len() > MOST_INSTRUCTIONS {
            if !std::mem::replace(&mut self.is_full, true) {
                self.error(format!("calls make this thread longer than {MOST_INSTRUCTIONS} instructions"), span);
            }
            return None;
        }
        // A value has to be returned on every way: none may come to the end of the body.
        let end = if result.is_some() { self.step_label(Span { start: span.end, end: span.end }) } else { to };
        let mut frame = self.new_frame(procedure, span, to);
        frame.result = result;
        let mut at = from;
        let mut bindings = Vec::new();
        for (parameter, operand) in procedure.parameters.iter().zip(operands) {
            let (binding, next) = self.argument(procedure, *parameter, operand, at)?;
            bindings.push((parameter, operand.span, binding));
            at = next;
        }
        // Only now, as calls among the arguments may be of the same procedure.
        for (parameter, span, binding) in bindings {
            let binding = match binding {
                Argument::Same(binding) => binding,
                Argument::Copy(value) => {
                    let register = self.register_of(name, *parameter);
                    let to = self.step_label(Span { start: span.end, end: span.end });
                    self.automaton.instruction(at, to, Action::Assign { register, value }, span);
                    at = to;
                    Binding::Register(register)
                }
            };
            if self.context.constants.contains_key(parameter.text)
                || self.context.addresses.named(parameter.text).is_some()
            {
                let message = format!("the parameter `{}` has the name of a constant or an address", parameter.text);
                self.error(message, parameter.span).help = Some("give it a name of its own".to_owned());
            }
            frame.scopes[0].insert(parameter.text, (binding, parameter.span));
        }
        let statement = self.statement;
        let before = self.automaton.instructions.len();
        self.frames.push(frame);
        self.sequence(&procedure.body.statements, at, end, span);
        self.frames.pop();
        let own = &self.automaton.instructions[before..];
        if result.is_some() && own.iter().any(|instruction| instruction.target == end) {
            let close = Span { start: procedure.body.close(), end: procedure.body.span.end };
            self.error(format!("`{name}` may come to its end without a value"), close).help =
                Some("end each way through it with `return …;`".to_owned());
        }
        self.statement = statement;
        self.layout.after_call(to, statement);
        Some(())
    }

    fn new_frame(&self, procedure: &'a Procedure<'s>, span: Span, to: LabelId) -> Frame<'s> {
        let around = self.frames.last().expect("the thread's frame is open");
        let mut order = around.order.clone();
        // Behind what its arguments read.
        order.push(span.end.saturating_sub(1));
        let mut calls = around.calls.clone();
        calls.push(self.context.source.position(span.start).line);
        let mut frame = Frame::new(procedure.name.text, order, calls, to);
        frame.sections = self.sections;
        frame
    }

    /// What a parameter stands for. A place is handed over as a place; a value is computed once.
    fn argument(
        &mut self,
        procedure: &'a Procedure<'s>,
        parameter: Name<'s>,
        operand: &RawExpression<'s>,
        from: LabelId,
    ) -> Option<(Argument, LabelId)> {
        if let ExpressionKind::Name(text) = operand.kind
            && let Some(Meaning::Address(_) | Meaning::Bound(Binding::Place(_))) = self.meaning_if_any(text)
        {
            let (address, at) = self.place(operand, from, true)?;
            return Some((Argument::Same(Binding::Place(address)), at));
        }
        if matches!(operand.kind, ExpressionKind::Index(..) | ExpressionKind::Memory(_)) {
            let (address, at) = self.place(operand, from, false)?;
            return Some((Argument::Same(Binding::Place(address)), at));
        }
        let (value, at) = self.value(operand, from)?;
        let is_simple = matches!(value, Expression::Register(_)) || value.is_constant();
        if is_simple && !assigns_to(&procedure.body, parameter.text) {
            return Some((Argument::Same(Binding::Value(value)), at));
        }
        Some((Argument::Copy(value), at))
    }
}

fn counted(number: usize) -> String {
    match number {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        _ => format!("{number} arguments"),
    }
}

/// Whether some `return` in a body has a value.
fn returns_value(body: &Block<'_>) -> bool {
    body.statements.iter().any(|statement| {
        matches!(statement.kind, StatementKind::Return(Some(_)))
            || statement.kind.blocks().into_iter().any(returns_value)
    })
}

/// Whether a body assigns to a name.
fn assigns_to(body: &Block<'_>, name: &str) -> bool {
    let assigns = |statement: &Statement<'_>| match &statement.kind {
        StatementKind::Assign { target, .. } => matches!(target.kind, ExpressionKind::Name(text) if text == name),
        StatementKind::Change { target, .. } => target.text == name,
        _ => false,
    };
    body.statements.iter().any(|statement| {
        let head = match &statement.kind {
            StatementKind::For(it) => it.start.iter().chain(&it.step).any(assigns),
            _ => false,
        };
        head || assigns(statement) || statement.kind.blocks().into_iter().any(|block| assigns_to(block, name))
    })
}
