//! Live registers as evidence lists them.

use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{Program, RegisterId};

/// For each thread, label and register: whether it is live there.
pub(crate) type Live = Vec<Vec<Vec<bool>>>;

/// Live registers as evidence lists them, when they solve the liveness inequalities: a register is
/// live where an instruction reads it, and where one that does not write it leads to where it is
/// live.
pub(crate) fn checked_liveness(program: &Program, listed: &[Vec<Vec<RegisterId>>]) -> Result<Live, CheckFailure> {
    if listed.len() != program.threads.len() {
        reject!(Form, "live registers are given for {} threads of {}", listed.len(), program.threads.len());
    }
    let mut live = Vec::with_capacity(program.threads.len());
    for (thread, given) in program.threads.iter().zip(listed) {
        if given.len() != thread.labels.len() {
            reject!(
                Form,
                "thread `{}`: live registers at {} labels of {}",
                thread.name,
                given.len(),
                thread.labels.len()
            );
        }
        let mut own = vec![vec![false; thread.registers.len()]; thread.labels.len()];
        for (row, registers) in own.iter_mut().zip(given) {
            let following = registers.iter().skip(1);
            if let Some((_, live)) = registers.iter().zip(following).find(|(before, live)| before >= live) {
                reject!(Form, "thread `{}`: live register {live} is not in ascending order", thread.name);
            }
            for register in registers {
                match row.get_mut(register.index()) {
                    Some(live) => *live = true,
                    None => reject!(Form, "thread `{}` has no register {register}", thread.name),
                }
            }
        }
        for (id, instruction) in thread.instruction_ids() {
            let (before, after) = (&own[instruction.source.index()], &own[instruction.target.index()]);
            let written = instruction.action.written_register().map(RegisterId::index);
            let is_lost = |index: usize| after[index] && !before[index] && written != Some(index);
            let mut is_missing = (0..after.len()).any(is_lost);
            for expression in instruction.expressions() {
                expression.for_each_register(&mut |register| is_missing |= !before[register.index()]);
            }
            if is_missing {
                reject!(Form, "thread `{}`: instruction {id} needs a register that is not listed as live", thread.name);
            }
        }
        live.push(own);
    }
    Ok(live)
}
