//! The sliced program, and that what its slice leaves out does not matter.
//!
//! Every computation of the program is one of the sliced program, step by step, in which memory at
//! the addresses that the sliced program reads, registers where the sliced program may still read
//! them, labels and the lock are the same. So a target that the program reaches is reached by the
//! sliced program (THEORY.md, "Slices").

use super::ranges::Range;
use super::values::{Bounds, accessed, runs};
use crate::CheckFailure;
use crate::failure::reject;
use crate::listing::rests_on;
use palisade_model::program::{Action, InstructionId, Program, RegisterId, Thread, ThreadId};
use palisade_semantics::{Observable, Question, Target};
use std::collections::BTreeSet;

/// What the question about final states names: registers by thread, and addresses.
pub(super) type Observed = BTreeSet<Observable>;

/// What the question looks at in a final state.
pub(super) fn observed(question: Option<&Question>) -> Observed {
    let mut all = BTreeSet::new();
    if let Some(question) = question {
        let propositions = question.filter.iter().chain(question.condition.iter().map(|own| &own.proposition));
        for proposition in propositions {
            proposition.for_each_location(&mut |location| {
                all.insert(location.observable);
            });
        }
    }
    all
}

/// The sliced program, and the addresses that its slice may write. Checks that the slice is one,
/// contains no target, and writes nothing that `observed` has or that the sliced program reads,
/// where the address is a constant or `all_reads` counts.
///
/// What is left to be checked of other reads is that none of them, in the configurations of a
/// closed set, is from an address that the slice may write.
pub(super) fn sliced_program(
    program: &Program,
    slice: &[Vec<InstructionId>],
    targets: &[Target],
    observed: &Observed,
    bounds: Option<&Bounds>,
    all_reads: bool,
) -> Result<(Program, Range), CheckFailure> {
    // What waits by the language tries again here: what it waits for may rest on registers that are
    // left out.
    let mut sliced = program.spinning();
    if slice.len() != program.threads.len() {
        reject!(Form, "the slice is about {} threads of {}", slice.len(), program.threads.len());
    }
    for ((thread, instructions), own) in program.thread_ids().zip(slice).zip(&mut sliced.threads) {
        let (thread, name) = (thread.0, &thread.1.name);
        if !instructions.is_sorted_by(|one, other| one < other) {
            reject!(Form, "the slice of thread `{name}` is not in ascending order");
        }
        for instruction in instructions {
            if targets.contains(&Target::Instruction { thread, instruction: *instruction }) {
                reject!(Safe, "the slice of thread `{name}` contains the target {instruction}");
            }
            let Some(own) = own.instructions.get_mut(instruction.index()) else {
                reject!(Form, "thread `{name}` has no instruction {instruction}");
            };
            if rests_on(program, &own.action) {
                reject!(Safe, "the slice of thread `{name}` contains {instruction}, whose value the reading rests on");
            }
            own.action = match &own.action {
                Action::Load { .. }
                | Action::Store { .. }
                | Action::Assign { .. }
                | Action::Havoc { .. }
                | Action::Assume(_)
                | Action::Nop
                | Action::Ensure(_) => Action::Nop,
                Action::Cas { .. } | Action::Rmw { .. } => Action::Fence,
                _ => reject!(Form, "instruction {instruction} of thread `{name}` cannot be in a slice"),
            };
        }
    }
    let written = check_addresses(program, &sliced, slice, observed, bounds, all_reads)?;
    for ((id, thread), instructions) in program.thread_ids().zip(slice).filter(|((_, thread), _)| runs(thread)) {
        check_registers(thread, sliced.thread(id), instructions, &observed_registers(observed, id, thread))?;
    }
    Ok((sliced, written))
}

/// The addresses that the slice may write. Checks that none of them is observed, or may be read by
/// the sliced program.
fn check_addresses(
    program: &Program,
    sliced: &Program,
    slice: &[Vec<InstructionId>],
    observed: &Observed,
    bounds: Option<&Bounds>,
    all_reads: bool,
) -> Result<Range, CheckFailure> {
    let mut read = Vec::new();
    let mut written = Vec::new();
    for (id, thread) in sliced.thread_ids().filter(|(_, thread)| runs(thread)) {
        for (instruction, own) in thread.instruction_ids() {
            let reads = matches!(own.action, Action::Load { .. } | Action::Cas { .. } | Action::Rmw { .. });
            let is_constant = own.action.address().is_some_and(palisade_model::program::Expression::is_constant);
            if reads && (all_reads || is_constant) {
                read.extend(
                    accessed(sliced, bounds, id, instruction).iter().flat_map(|range| range.intervals().to_vec()),
                );
            }
        }
    }
    let asked = observed.iter().filter_map(|observable| observable.address());
    read.extend(asked.map(|address| (i128::from(address), i128::from(address))));
    let read = Range::of(read);
    for ((id, thread), instructions) in program.thread_ids().zip(slice).filter(|((_, thread), _)| runs(thread)) {
        for instruction in instructions {
            let writes = matches!(
                thread.instruction(*instruction).action,
                Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. }
            );
            let Some(range) = accessed(program, bounds, id, *instruction).filter(|_| writes) else { continue };
            written.extend(range.intervals().to_vec());
            if range.meets(&read) {
                let name = &thread.name;
                reject!(
                    Safe,
                    "instruction {instruction} of thread `{name}` is in the slice and may write what the sliced program reads"
                );
            }
        }
    }
    Ok(Range::of(written))
}

/// The registers of a thread that the question names.
fn observed_registers(observed: &Observed, id: ThreadId, thread: &Thread) -> Vec<bool> {
    let mut registers = vec![false; thread.registers.len()];
    for observable in observed {
        if let Observable::Register { thread, register } = observable
            && *thread == id
        {
            registers[register.index()] = true;
        }
    }
    registers
}

/// Checks that no instruction of the slice writes a register that is live after it in the sliced
/// thread.
fn check_registers(
    thread: &Thread,
    sliced: &Thread,
    slice: &[InstructionId],
    observed: &[bool],
) -> Result<(), CheckFailure> {
    let live = least_liveness(sliced, observed);
    for id in slice {
        let instruction = thread.instruction(*id);
        if let Some(register) = instruction.action.written_register()
            && live.is_live(instruction.target.index(), register.index())
        {
            let (name, register) = (&thread.name, &thread.registers[register.index()].name);
            reject!(Safe, "instruction {id} of thread `{name}` is in the slice and writes `{register}`, which matters");
        }
    }
    Ok(())
}

/// Which registers of a thread are live at each label: a bit for each.
pub(super) struct Liveness {
    /// How many words a label has.
    length: usize,
    words: Vec<u64>,
}

impl Liveness {
    /// Whether a register is live at a label.
    pub(super) fn is_live(&self, label: usize, register: usize) -> bool {
        self.words[label * self.length + register / 64] >> (register % 64) & 1 == 1
    }

    /// Adds a register at a label; whether it was live there.
    fn add(&mut self, label: usize, register: usize) -> bool {
        let was_live = self.is_live(label, register);
        self.words[label * self.length + register / 64] |= 1 << (register % 64);
        was_live
    }

    /// Adds to a label what is live at another, but for one register; whether all of that was live.
    fn flow(&mut self, target: usize, source: usize, but: Option<usize>) -> bool {
        let mut was_live = true;
        for word in 0..self.length {
            let left_out = but.filter(|register| register / 64 == word).map_or(0, |register| 1_u64 << (register % 64));
            let flowing = self.words[target * self.length + word] & !left_out;
            let own = &mut self.words[source * self.length + word];
            was_live &= flowing & !*own == 0;
            *own |= flowing;
        }
        was_live
    }
}

/// The registers of a thread that are live at each label, those observed being live where no
/// instruction stands.
pub(super) fn least_liveness(thread: &Thread, observed: &[bool]) -> Liveness {
    let length = thread.registers.len().div_ceil(64);
    let mut live = Liveness { length, words: vec![0; length * thread.labels.len()] };
    for (label, _) in thread.instructions_by_label().iter().enumerate().filter(|(_, own)| own.is_empty()) {
        for (register, _) in observed.iter().enumerate().filter(|(_, is_observed)| **is_observed) {
            live.add(label, register);
        }
    }
    let mut is_stable = false;
    while !is_stable {
        is_stable = true;
        for instruction in thread.instructions.iter().rev() {
            let (source, target) = (instruction.source.index(), instruction.target.index());
            for expression in instruction.action.expressions() {
                expression.for_each_register(&mut |register| is_stable &= live.add(source, register.index()));
            }
            let written = instruction.action.written_register().map(RegisterId::index);
            is_stable &= live.flow(target, source, written);
        }
    }
    live
}
