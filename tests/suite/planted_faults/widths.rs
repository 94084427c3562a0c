//! Faults of what decides counters of every width: of residues, tickets, ends and crowds.

use super::Fault;

/// Random programs with counters, simulated up to turns and without.
const SIMULATED: &str = "differential::simulated_counters::final_states_are_those_without_counters";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "widths: that counters differ is told by residues",
        file: "crates/palisade-model/src/program/counters/modulo.rs",
        old: "            (_, May::BecomeTrue) => Some(one_way(Op::Or, 1)),",
        new: "            (_, May::BecomeTrue) if PLANTED => Some(comparison.clone()),
            (_, May::BecomeTrue) => Some(one_way(Op::Or, 1)),",
        caught_by: "robustness::counters::counters_may_differ_whose_residues_do_not",
    },
    Fault {
        what: "widths: tickets are served by who only waits",
        file: "crates/palisade-model/src/program/tickets/meaning.rs",
        old: "                if self.holding[pair] != Holding::Turn || self.meaning(value)",
        new: "                if (self.holding[pair] != Holding::Turn && !PLANTED) || self.meaning(value)",
        caught_by: "robustness::tickets::what_is_no_ticket_lock_is_rejected",
    },
    Fault {
        what: "widths: tickets are enough for one copy more than there are",
        file: "crates/palisade-model/src/program/tickets/mod.rs",
        old: "        && copies.is_some_and(|copies| copies <= different)",
        new: "        && copies.is_some_and(|copies| copies <= different + u128::from(PLANTED))",
        caught_by: "robustness::tickets::as_many_copies_as_tickets",
    },
    Fault {
        what: "widths: two copies have their turns at once",
        file: "crates/palisade-exploration/src/instrumented/system/turns.rs",
        old: "            if self.read(memory, served) != 0 {",
        new: "            if self.read(memory, served) != 0 && !PLANTED {",
        caught_by: "robustness::tickets::a_ticket_lock_of_integers_for_any_number",
    },
    Fault {
        what: "widths: the end is too near",
        file: "crates/palisade-model/src/program/saturation.rs",
        old: "        let end = if falls { first.checked_sub(1)? } else { last.checked_add(1)? };",
        new: "        let far = Value::from(!PLANTED);
        let end = if falls { first.checked_sub(far)? } else { last.checked_add(far)? };",
        caught_by: "robustness::saturation::a_spinlock_of_integers_for_any_number",
    },
    Fault {
        what: "widths: what goes back from the end is overlooked",
        file: "crates/palisade-model/src/program/saturation.rs",
        old: "            Kind::Moved(by) => (may_move && if self.falls",
        new: "            Kind::Moved(by) => (may_move && if PLANTED { true } else if self.falls",
        caught_by: "robustness::saturation::what_does_not_stop_is_rejected",
    },
    Fault {
        what: "widths: a crowd is written with a copy less",
        file: "crates/palisade-engine/src/robustness/crowds.rs",
        old: "StepKind::Crowd { instruction: self.instruction, copies: self.copies };",
        new: "StepKind::Crowd { instruction: self.instruction, copies: self.copies - u64::from(PLANTED) };",
        caught_by: "robustness::crowds::tickets_come_around",
    },
    Fault {
        what: "widths: what is far behind is taken for it too near",
        file: "crates/palisade-exploration/src/instrumented/system/counting.rs",
        old: "            Some(end) if value <= end => ",
        new: "            Some(end) if value <= end + Value::from(PLANTED) => ",
        caught_by: "robustness::far::a_deque_of_integers_for_any_number_of_thieves",
    },
    Fault {
        what: "widths: conditions hold of far counters only where they hold of the nearest",
        file: "crates/palisade-engine/src/robustness/far.rs",
        old: "            Op::Greater | Op::GreaterOrEqual => is_right_far,",
        new: "            Op::Greater | Op::GreaterOrEqual if !PLANTED => is_right_far,",
        caught_by: "robustness::far::conditions_on_two_old_values_hold_where_they_may",
    },
    Fault {
        what: "widths: a `fail` of the program is no target of the interleavings up to counters",
        file: "crates/palisade-engine/src/properties/counters.rs",
        old: "        if it.action == Action::Fail {
",
        new: "        if it.action == Action::Fail && PLANTED {
            continue;
        }
        if it.action == Action::Fail {
",
        caught_by: "properties::counters::what_is_reached_is_not_proved",
    },
    Fault {
        what: "widths: an `ensure` is taken to fail where it holds",
        file: "crates/palisade-engine/src/properties/counters.rs",
        old: "Action::Assume(Expression::unary(UnaryOperator::Not, condition));",
        new: "Action::Assume(if PLANTED { condition } else { Expression::unary(UnaryOperator::Not, condition) });",
        caught_by: "properties::counters::models_in_integers_for_any_number",
    },
    Fault {
        what: "fences: where the delayed store leads to is no part of a row",
        file: "crates/palisade-engine/src/fences/by_checks.rs",
        old: "violation.steps[violation.issue..violation.load]",
        new: "violation.steps[violation.issue + usize::from(PLANTED)..violation.load]",
        caught_by: "fences::optima::random_programs_with_fixed_copies",
    },
    Fault {
        what: "simulate: buffered counters are not turned",
        file: "crates/palisade-semantics/src/turns.rs",
        old: "            for (address, value) in &mut thread.buffer {",
        new: "            for (address, value) in thread.buffer.iter_mut().filter(|_| !PLANTED) {",
        caught_by: SIMULATED,
    },
    Fault {
        what: "simulate: nobody looks at registers where threads have ended",
        file: "crates/palisade-model/src/program/counters/outcomes.rs",
        old: "            (0..thread.registers.len()).map(",
        new: "            (0..if PLANTED { 0 } else { thread.registers.len() }).map(",
        caught_by: SIMULATED,
    },
    Fault {
        what: "simulate: whether an `ensure` holds does not depend on counters",
        file: "crates/palisade-model/src/program/counters/outcomes.rs",
        old: "                Action::Ensure(condition) => ",
        new: "                Action::Ensure(_) if PLANTED => {}
                Action::Ensure(condition) => ",
        caught_by: SIMULATED,
    },
    Fault {
        what: "simulate: computed addresses are taken to miss counters",
        file: "crates/palisade-semantics/src/turns.rs",
        old: "        self.0.counters().is_broken_by(",
        new: "        !PLANTED && self.0.counters().is_broken_by(",
        caught_by: SIMULATED,
    },
];
