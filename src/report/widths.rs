//! For which counters a verdict is given, in words.

use crate::robustness::{Far, Modulo, Stopping, Turns, Violation};
use crate::semantics::StepKind;
use palisade_model::program::{Program, TicketPair, Value};

/// The counters for which a program was shown robust modulo few values.
pub(super) fn words(modulo: &Modulo) -> String {
    let Modulo { low, high, .. } = modulo;
    let bits = (i128::from(*high) - i128::from(*low)).unsigned_abs().count_ones();
    let (plural, sign) = (if bits == 1 { "bit" } else { "bits" }, if *low < 0 { "signed ones " } else { "" });
    format!("{sign}of {bits} {plural} and more, and integers without end")
}

/// The tickets of which a program was shown robust without knowing them.
pub(super) fn tickets(program: &Program, turns: &Turns) -> String {
    let pair = |TicketPair { dispenser, served, .. }: &TicketPair| {
        format!("of `{}`, served by `{}`", program.address_name(*dispenser), program.address_name(*served))
    };
    let pairs: Vec<String> = turns.pairs.iter().map(pair).collect();
    format!("{}: no two copies ever hold the same one", pairs.join("; "))
}

/// The ends at which counters of a program stop that was shown robust so.
pub(super) fn ends(program: &Program, stopping: &Stopping) -> String {
    let end = |(address, end): &(Value, Value)| {
        let beyond = if program.initial_value(*address) > *end { "less" } else { "more" };
        format!("`{}`, where {end} and {beyond} are one value", program.address_name(*address))
    };
    let ends: Vec<String> = stopping.ends.iter().map(end).collect();
    format!("without end: {}", ends.join("; "))
}

/// The addresses that counters of a program fall behind, which was shown robust without telling apart how far.
pub(super) fn far(program: &Program, far: &Far) -> String {
    let behind = |(address, distance): &(Value, Value)| {
        format!("what is {distance} and more behind `{}` is one value", program.address_name(*address))
    };
    let behind: Vec<String> = far.behind.iter().map(behind).collect();
    format!("without end: {}", behind.join("; "))
}

/// With how many copies counters wrap around to a violation; nothing where none has to.
pub(super) fn around(program: &Program, violation: &Violation) -> Option<String> {
    let step = violation.steps.iter().find(|step| matches!(step.kind, StepKind::Crowd { .. }))?;
    let instruction = step.kind.instruction()?;
    let thread = program.thread(step.copy.thread);
    let (address, _) = thread.instruction(instruction).action.addition()?;
    let copies = violation.instance.count(step.copy.thread);
    let fewer = if violation.instance_minimal {
        format!("robust with up to {}", copies - 1)
    } else {
        "fewer may do so, too".to_owned()
    };
    let (address, name) = (program.address_name(address), &thread.name);
    Some(format!("`{address}` wraps around among {copies} copies of `{name}`, which break the program; {fewer}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::RobustCertificate;

    #[test]
    fn widths_in_words() {
        let with = |low, high| words(&Modulo { low, high, certificate: RobustCertificate::default() });
        assert_eq!(with(0, 1), "of 1 bit and more, and integers without end");
        assert_eq!(with(0, 7), "of 3 bits and more, and integers without end");
        assert_eq!(with(-4, 3), "signed ones of 3 bits and more, and integers without end");
    }
}
