//! Structural warnings: control flow and registers that are not wrong, but perhaps not meant.

use super::{Action, ByLabel, Expression, Instruction, InstructionId, LabelId, Program, RegisterId, Thread, ThreadId};

/// A place in a thread that its author may not have meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuralWarning {
    /// No path from the initial label leads to a label that has instructions. Labels behind it are
    /// not listed again.
    Unreachable {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A reachable label without instructions: the thread stops there.
    DeadEnd {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A register without a value in the text is read but never written; it is 0 for ever.
    NeverWritten {
        /// The thread.
        thread: ThreadId,
        /// The register.
        register: RegisterId,
        /// The first instruction that reads it.
        reader: InstructionId,
    },
    /// A register is set to the number of an address and nothing is done with it that needs an
    /// address: perhaps a load was meant.
    NumberOfAddress {
        /// The thread.
        thread: ThreadId,
        /// The assignment.
        instruction: InstructionId,
    },
    /// A path leads to an `unlock` without the lock held; it is not executable then.
    UnlockWithoutLock {
        /// The thread.
        thread: ThreadId,
        /// The `unlock`.
        instruction: InstructionId,
    },
    /// A path leads to a `lock` with the lock held by the thread itself; it is not executable then.
    LockWhileHolding {
        /// The thread.
        thread: ThreadId,
        /// The `lock`.
        instruction: InstructionId,
    },
}

/// The structural warnings about the threads that run, in order of thread and place in the text.
pub fn structural_warnings(program: &Program) -> Vec<StructuralWarning> {
    let running = program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
    running.flat_map(|(id, thread)| of_thread(id, thread)).collect()
}

/// For each label, whether control can reach it without and with the lock held, whatever the
/// values.
pub fn lock_states(thread: &Thread) -> Vec<[bool; 2]> {
    Paths::of(thread, &thread.instructions_by_label()).holding
}

fn of_thread(id: ThreadId, thread: &Thread) -> Vec<StructuralWarning> {
    let by_label = thread.instructions_by_label();
    let paths = Paths::of(thread, &by_label);
    let mut found = Vec::new();
    for (index, instructions) in by_label.iter().enumerate() {
        let label = LabelId::from_index(index);
        if instructions.is_empty() && paths.reaches(label) {
            found.push(StructuralWarning::DeadEnd { thread: id, label });
        }
    }
    let unreachable = paths.unreachable(thread, &by_label);
    found.extend(unreachable.into_iter().map(|label| StructuralWarning::Unreachable { thread: id, label }));
    let passed_on = passed_on(thread);
    let mut written = vec![false; thread.registers.len()];
    let mut reader: Vec<Option<InstructionId>> = vec![None; thread.registers.len()];
    for (instruction_id, instruction) in thread.instruction_ids() {
        let holding = paths.holding[instruction.source.index()];
        match instruction.action {
            Action::Unlock if holding[usize::from(false)] => {
                found.push(StructuralWarning::UnlockWithoutLock { thread: id, instruction: instruction_id });
            }
            Action::Lock if holding[usize::from(true)] => {
                found.push(StructuralWarning::LockWhileHolding { thread: id, instruction: instruction_id });
            }
            Action::Assign { register, value: Expression::Address { .. } } if !passed_on[register.index()] => {
                found.push(StructuralWarning::NumberOfAddress { thread: id, instruction: instruction_id });
            }
            _ => {}
        }
        if let Some(register) = instruction.action.written_register() {
            written[register.index()] = true;
        }
        for expression in instruction.action.expressions() {
            expression.for_each_register(&mut |register| {
                reader[register.index()].get_or_insert(instruction_id);
            });
        }
    }
    for (index, register) in thread.registers.iter().enumerate() {
        let is_written = written[index] || register.is_initialised || index < thread.parameters();
        if let (false, Some(reader)) = (is_written, reader[index]) {
            found.push(StructuralWarning::NeverWritten { thread: id, register: RegisterId::from_index(index), reader });
        }
    }
    found
}

/// For each register, whether the thread uses it as an address, stores it or computes with it:
/// everything but conditions.
fn passed_on(thread: &Thread) -> Vec<bool> {
    let mut passed_on = vec![false; thread.registers.len()];
    let conditions = |action: &Action| matches!(action, Action::Assume(_) | Action::Ensure(_));
    let others = thread.instructions.iter().map(|instruction| &instruction.action).filter(|action| !conditions(action));
    for expression in others.flat_map(Action::expressions) {
        expression.for_each_register(&mut |read| passed_on[read.index()] = true);
    }
    passed_on
}

/// How control can reach the labels of a thread, whatever the values.
struct Paths {
    /// For each label, whether it is reached without and with the lock held.
    holding: Vec<[bool; 2]>,
}

impl Paths {
    fn of(thread: &Thread, by_label: &ByLabel) -> Self {
        let mut paths = Self { holding: vec![[false; 2]; thread.labels.len()] };
        paths.follow(thread, by_label, thread.initial);
        paths
    }

    /// Adds the labels that a path from `start` leads to, entered without the lock.
    fn follow(&mut self, thread: &Thread, by_label: &ByLabel, start: LabelId) {
        let mut pending = vec![(start, false)];
        while let Some((label, holds)) = pending.pop() {
            if std::mem::replace(&mut self.holding[label.index()][usize::from(holds)], true) {
                continue;
            }
            for id in &by_label[label.index()] {
                let instruction = thread.instruction(*id);
                let after = match instruction.action {
                    // Where it is not executable, what follows counts as reached: one mistake, one
                    // warning.
                    Action::Lock => Some(true),
                    Action::Unlock => Some(false),
                    Action::Fail => None,
                    _ => Some(holds),
                };
                let targets = [Some(instruction.target), instruction.spurious()].into_iter().flatten();
                pending.extend(after.into_iter().flat_map(|holds| targets.clone().map(move |target| (target, holds))));
            }
        }
    }

    /// The labels with instructions where unreachable stretches begin, in order: those that nothing
    /// goes to, then one of each loop that is left.
    fn unreachable(&self, thread: &Thread, by_label: &ByLabel) -> Vec<LabelId> {
        let mut entered = vec![false; thread.labels.len()];
        for instruction in thread.instructions.iter().filter(|instruction| instruction.source != instruction.target) {
            entered[instruction.target.index()] = true;
        }
        for label in thread.instructions.iter().filter_map(Instruction::spurious) {
            entered[label.index()] = true;
        }
        let mut covered = Self { holding: self.holding.clone() };
        let mut begins = Vec::new();
        for only_unentered in [true, false] {
            for (index, instructions) in by_label.iter().enumerate() {
                let label = LabelId::from_index(index);
                let skipped = instructions.is_empty() || only_unentered && entered[index];
                if !skipped && !covered.reaches(label) {
                    covered.follow(thread, by_label, label);
                    begins.push(label);
                }
            }
        }
        begins.sort_unstable();
        begins
    }

    fn reaches(&self, label: LabelId) -> bool {
        self.holding[label.index()].contains(&true)
    }
}
