//! What the tables of a program certificate claim: live registers, and what states settle to.

use super::expression::{Reading, Term};
use super::tables::Tables;
use super::terms::{conjunction, equal, integer};
use palisade_model::program::{Action, BinaryOperator, Expression, Instruction, LabelId, RegisterId};

impl Tables<'_> {
    /// What the tables claim: the live registers solve the inequalities, and each state settles as
    /// its entry says.
    pub(super) fn claims(&self) -> Vec<String> {
        let mut claims = Vec::new();
        for (thread, own) in self.program.thread_ids() {
            for (_, instruction) in own.instruction_ids() {
                let live =
                    |label: LabelId, register: usize| format!("(live {} {} {register})", thread.index(), label.index());
                let written = instruction.action.written_register().map(RegisterId::index);
                for register in (0..own.registers.len()).filter(|register| written != Some(*register)) {
                    let (after, before) = (live(instruction.target, register), live(instruction.source, register));
                    claims.push(format!("(=> {after} {before})"));
                }
                for expression in instruction.action.expressions() {
                    expression.for_each_register(&mut |read| claims.push(live(instruction.source, read.index())));
                }
            }
        }
        for (number, state) in self.states.iter().enumerate() {
            for (_, instruction) in self.at(state.thread, state.label) {
                claims.push(self.settling_claim(number, instruction));
            }
        }
        claims
    }

    /// One instruction at a state: it is not local, and the state settles to itself; or what it
    /// leads to settles to nothing that the state does not settle to.
    fn settling_claim(&self, number: usize, instruction: &Instruction) -> String {
        let state = &self.states[number];
        if !instruction.action.is_local_under_tso() {
            return format!("(settles {number} {number})");
        }
        let reading = Reading { registers: &state.registers, old: None, domain: self.program.domain };
        let Some(reached) = self.local_outcomes(state, instruction) else { return "false".to_owned() };
        let settle = reached.iter().map(|own| self.number_of(own)).map(|own| match own {
            None => "false".to_owned(),
            Some(own) => conjunction(self.settled[own].iter().map(|end| format!("(settles {number} {end})"))),
        });
        let settle = conjunction(settle);
        match &instruction.action {
            Action::Assign { register, value } if self.is_live(state.thread, instruction.target, register.index()) => {
                let Term { text, defined } = reading.data(value);
                let set = reached.first().map_or(0, |own| own.registers[register.index()]);
                conjunction(defined.into_iter().chain([equal(text, integer(set)), settle]))
            }
            Action::Assign { value, .. } => conjunction(reading.data(value).defined.into_iter().chain([settle])),
            Action::Assume(condition) => {
                let Term { text, defined } = reading.condition(condition);
                let settle = if reached.is_empty() { "false".to_owned() } else { settle };
                conjunction(defined.into_iter().chain([format!("(=> {text} {settle})")]))
            }
            _ => settle,
        }
    }

    /// Whether an expression of the program is not linear: products and quotients.
    pub(super) fn is_linear(&self) -> bool {
        let instructions = self.program.threads.iter().flat_map(|thread| &thread.instructions);
        instructions.flat_map(|own| own.action.expressions()).all(is_linear)
    }
}

fn is_linear(expression: &Expression) -> bool {
    use BinaryOperator as Op;
    match expression {
        Expression::Unary(_, operand) => is_linear(operand),
        Expression::Binary(Op::Multiply | Op::Divide | Op::Remainder, ..) => false,
        Expression::Binary(_, left, right) => is_linear(left) && is_linear(right),
        _ => true,
    }
}
