//! Operations on memory as lines of a thread: locked updates, and what states orderings or waits.

use super::ast::{Operation, RawExpression, RawInstruction};
use super::orderings::{Meaning, Ordered, orderings, state};
use super::resolve::{Resolver, Scope};
use super::structured::negated;
use super::waiting::taking_one;
use crate::build::ThreadBuilder;
use palisade_model::program::{
    Action, BinaryOperator, Expression, InstructionId, LabelId, Liveness, Program, RegisterId, Span,
};

impl Operation {
    /// How it is written, how many operands stand behind the address, and what its orderings are
    /// of.
    fn usage(self) -> (&'static str, usize, Ordered) {
        match self {
            Self::Load => ("load(mem[…], ordering)", 0, Ordered::Load),
            Self::Store => ("store(mem[…], value, ordering)", 1, Ordered::Store),
            Self::Await => ("await(mem[…], condition on `old`, ordering)", 1, Ordered::Load),
            Self::Acquire => ("acquire(mem[…])", 0, Ordered::Update),
            Self::AwaitCas => ("await_cas(mem[…], expected, new)", 2, Ordered::CompareExchange),
            Self::WeakCas => ("weak_cas(mem[…], expected, new) else label", 2, Ordered::CompareExchange),
            Self::Cas => ("cas(mem[…], expected, new)", 2, Ordered::CompareExchange),
            Self::Xchg => ("xchg(mem[…], new)", 1, Ordered::Update),
            Self::FetchAdd => ("fetch_add(mem[…], summand)", 1, Ordered::Update),
            Self::Rmw => ("rmw(mem[…], new)", 1, Ordered::Update),
        }
    }
}

impl<'s> Resolver<'_, 's> {
    /// `fence(ordering)`.
    pub(super) fn fence(&mut self, ordering: &RawExpression<'s>) -> Option<Meaning<'s>> {
        let given = orderings(Ordered::Fence, std::slice::from_ref(ordering), &mut self.found)?;
        Some(Meaning { given: Some(given), ..Action::Fence.into() })
    }

    /// `register <- operation(mem[address], operands, orderings)`.
    pub(super) fn operation(
        &mut self,
        scope: Scope<'_, 's>,
        register: Option<RegisterId>,
        address: Expression,
        raw: &RawInstruction<'s>,
    ) -> Option<Meaning<'s>> {
        let RawInstruction::Locked { operation, operands, otherwise, span, .. } = raw else { return None };
        let (usage, wanted, of) = operation.usage();
        let most = wanted + if of == Ordered::CompareExchange { 2 } else { 1 };
        let least = wanted + usize::from(matches!(operation, Operation::Load | Operation::Store));
        if operands.len() < least || operands.len() > most {
            let message = match operands.len() {
                none if none >= wanted && none < least => "the ordering is missing".to_owned(),
                count => format!("wrong number of operands: {count} after the address, not {wanted}"),
            };
            self.error(message, *span).help = Some(format!("write `{usage}`"));
            return None;
        }
        let (operands, words) = operands.split_at(wanted);
        let scope = Scope { old: matches!(operation, Operation::Rmw | Operation::Await), ..scope };
        let mut resolved = Vec::new();
        for operand in operands {
            resolved.push(self.expression(operand, scope));
        }
        let given = if words.is_empty() { None } else { Some(orderings(of, words, &mut self.found)?) };
        let mut resolved = resolved.into_iter().collect::<Option<Vec<_>>>()?.into_iter();
        let mut operand = || resolved.next().expect("the operands were counted");
        let mut until = None;
        let action = match operation {
            Operation::Load => Action::Load { register: self.wanted(register, *span)?, address },
            Operation::Store => Action::Store { address, value: operand() },
            Operation::Await => {
                let register = self.wanted(register, *span)?;
                let condition = operand();
                self.waits_for_another(register, &condition, *span)?;
                until = Some(condition);
                Action::Load { register, address }
            }
            Operation::AwaitCas => {
                let register = self.wanted(register, *span)?;
                let expected = operand();
                self.waits_for_another(register, &expected, *span)?;
                until = Some(Expression::binary(BinaryOperator::Equal, Expression::Old, expected.clone()));
                Action::Cas { register: Some(register), address, expected, new: operand() }
            }
            Operation::Acquire => {
                let register = self.wanted(register, *span)?;
                let (condition, new) = taking_one();
                until = Some(condition);
                Action::Rmw { register: Some(register), address, new }
            }
            Operation::Cas | Operation::WeakCas => {
                Action::Cas { register, address, expected: operand(), new: operand() }
            }
            Operation::Xchg | Operation::Rmw => Action::Rmw { register, address, new: operand() },
            Operation::FetchAdd => {
                let new = Expression::binary(BinaryOperator::Add, Expression::Old, operand());
                Action::Rmw { register, address, new }
            }
        };
        match (operation, otherwise) {
            (Operation::WeakCas, None) => {
                self.error("where does it go if it fails for no reason?", *span).help =
                    Some(format!("write `{usage}`"));
                return None;
            }
            (Operation::WeakCas, Some(_)) | (_, None) => {}
            (_, Some(label)) => {
                self.error("only `weak_cas` fails for no reason", label.span).help =
                    Some("leave `else` out".to_owned());
                return None;
            }
        }
        Some(Meaning { action, given, until, otherwise: *otherwise, queue: None })
    }

    /// The register of an operation that needs one.
    fn wanted(&mut self, register: Option<RegisterId>, span: Span) -> Option<RegisterId> {
        if register.is_none() {
            self.error("what is read needs a register", span).help = Some("write `r <- …`".to_owned());
        }
        register
    }

    /// Complains where what is waited for depends on the register that gets the value.
    fn waits_for_another(&mut self, register: RegisterId, condition: &Expression, span: Span) -> Option<()> {
        let mut reads = false;
        condition.for_each_register(&mut |own| reads |= own == register);
        if reads {
            self.error("what is waited for depends on the register that gets the value", span).help =
                Some("put the value into another register".to_owned());
        }
        (!reads).then_some(())
    }

    /// Complains of what waits where a try that fails would leave its value behind: another
    /// instruction at the label, or the address, reads the register.
    pub(super) fn check_tries(&mut self, program: &Program) {
        for thread in
            program.threads.iter().filter(|thread| thread.instructions.iter().any(|own| own.until().is_some()))
        {
            let liveness = Liveness::of(thread);
            for own in thread.instructions.iter().filter(|own| own.until().is_some()) {
                let register = own.action.written_register();
                if register.is_some_and(|register| liveness.is_live(own.source, register)) {
                    let message = "a try that fails leaves its value behind: the register is read where it waits";
                    self.error(message, own.span).help = Some("put the value into another register".to_owned());
                }
            }
        }
    }

    /// Adds what an instruction means between its label and the one it goes to. What waits goes to
    /// a label of its own, and on or back from there.
    pub(super) fn add(
        &mut self,
        builder: &mut ThreadBuilder<'s>,
        [source, read, target]: [LabelId; 3],
        meaning: Meaning<'s>,
        span: Span,
    ) -> InstructionId {
        let Meaning { action, given, until, otherwise, queue } = meaning;
        let register = action.written_register();
        let number = builder.instruction(source, read, action, span);
        let otherwise = otherwise.map(|name| builder.label(name.text, name.span));
        let instruction = builder.instruction_mut(number);
        state(instruction, given, |address| self.addresses.is_plain(address));
        if let Some(label) = otherwise {
            instruction.set_weak(label);
        }
        if let Some(queue) = queue {
            instruction.set_queue(queue);
        }
        let (Some(until), Some(register)) = (until, register) else { return number };
        instruction.set_waiting(until.clone());
        let of_register = |part: &Expression| (*part == Expression::Old).then_some(Expression::Register(register));
        let condition = until.replaced(&of_register);
        let otherwise = negated(&condition);
        builder.instruction(read, target, Action::Assume(condition), span);
        builder.instruction(read, source, Action::Assume(otherwise), span);
        number
    }
}
