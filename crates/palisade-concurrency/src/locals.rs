//! Local states of invocations, and what they come to by local instructions alone.

use palisade_engine::robustness::{Fault, FaultKind, Growing};
use palisade_model::limits::Limits;
use palisade_model::program::{
    Action, ByLabel, EvaluationError, Executor, InstructionId, LabelId, Liveness, Program, RegisterId, Thread,
    ThreadId, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;

use crate::state::LocalId;

/// The values of registers.
pub(super) type Registers = SmallVec<[Value; 4]>;

/// Where an invocation is: its template, its label, and its registers, the dead ones 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Local {
    /// The event or task.
    pub(super) template: ThreadId,
    /// Its label.
    pub(super) label: LabelId,
    /// Its registers.
    pub(super) registers: Registers,
}

/// An instruction with the value that it chooses, if it does.
pub(super) type LocalStep = (InstructionId, Option<Value>);

/// An instruction that is not local, where local ones lead to.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// The instruction.
    pub(super) instruction: InstructionId,
    /// The registers at it.
    pub(super) registers: Registers,
    /// The local instructions on the way.
    pub(super) way: Vec<LocalStep>,
    /// What is posted there: whether on the main thread, and the task's local state.
    pub(super) post: Option<(bool, LocalId)>,
}

/// What a local state comes to.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    /// The accesses, sections and posts that can come next.
    pub(super) points: Vec<Point>,
    /// The way to a return, if there is one.
    pub(super) returns: Option<Vec<LocalStep>>,
    /// Whether the invocation can get stuck, for ever, without a further access.
    pub(super) is_stuck: bool,
}

/// All local states that have come up.
pub(super) struct Locals<'p> {
    program: &'p Program,
    live: Vec<Liveness>,
    by_label: Vec<ByLabel>,
    ids: FxHashMap<Local, LocalId>,
    all: Vec<Local>,
    settled: Vec<Option<Rc<Settled>>>,
    /// The values that each register has taken.
    values: FxHashMap<(ThreadId, RegisterId), FxHashSet<Value>>,
    /// How many they may be without a domain.
    limit: usize,
    /// What to look at among local steps.
    limits: Limits,
}

impl<'p> Locals<'p> {
    pub(super) fn new(program: &'p Program, limit: usize) -> Self {
        Self {
            program,
            live: program.threads.iter().map(Liveness::of).collect(),
            by_label: program.threads.iter().map(Thread::instructions_by_label).collect(),
            ids: FxHashMap::default(),
            all: Vec::new(),
            settled: Vec::new(),
            values: FxHashMap::default(),
            limit,
            limits: Limits::none(),
        }
    }

    pub(super) fn program(&self) -> &'p Program {
        self.program
    }

    /// The live registers of every template.
    pub(super) fn live(&self) -> &[Liveness] {
        &self.live
    }

    /// The local state of a number.
    pub(super) fn get(&self, id: LocalId) -> &Local {
        &self.all[id as usize]
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> &[Local] {
        &self.all
    }

    /// The number of a local state, which an instruction leads to.
    pub(super) fn intern(&mut self, mut local: Local, by: (ThreadId, InstructionId)) -> Result<LocalId, Fault> {
        self.live[local.template.index()].forget_dead(local.label, &mut local.registers);
        if let Some(id) = self.ids.get(&local) {
            return Ok(*id);
        }
        let has_text = !self.program.thread(local.template).instructions.is_empty();
        if self.program.domain.is_none() && has_text {
            for (index, value) in local.registers.iter().enumerate() {
                let register = RegisterId::from_index(index);
                let values = self.values.entry((local.template, register)).or_default();
                if values.insert(*value) && values.len() > self.limit {
                    let kind = FaultKind::Growth { what: Growing::Register(register), limit: self.limit };
                    // The parameter grows in the task; the instruction that is named is one of its
                    // own, as registers are a template's.
                    let (thread, instruction) =
                        if by.0 == local.template { by } else { (local.template, InstructionId::from_index(0)) };
                    return Err(Fault { thread, instruction, kind });
                }
            }
        }
        let id = LocalId::try_from(self.all.len()).expect("local states are numbered with 32 bits");
        self.ids.insert(local.clone(), id);
        self.all.push(local);
        self.settled.push(None);
        Ok(id)
    }

    /// The local state at the start of a handler.
    pub(super) fn start(&mut self, template: ThreadId) -> Result<LocalId, Fault> {
        let thread = self.program.thread(template);
        let registers = thread.registers.iter().map(|register| register.initial).collect();
        let none = InstructionId::from_index(0);
        self.intern(Local { template, label: thread.initial, registers }, (template, none))
    }

    /// What a local state comes to by local instructions.
    pub(super) fn settled(&mut self, id: LocalId) -> Result<Rc<Settled>, Fault> {
        if let Some(settled) = &self.settled[id as usize] {
            return Ok(settled.clone());
        }
        let settled = Rc::new(self.settle(id)?);
        self.settled[id as usize] = Some(settled.clone());
        Ok(settled)
    }

    /// Looks at these limits among local steps from now on.
    pub(super) fn limit(&mut self, limits: &Limits) {
        self.limits = limits.clone();
    }

    /// Counts a local step; a fault that is none where a limit was reached.
    fn count_step(&self, thread: ThreadId, instruction: InstructionId, steps: &mut usize) -> Result<(), Fault> {
        // The ways to local states are copied, so that steps far on their way take long.
        const BETWEEN_LOOKS: usize = 64;
        *steps += 1;
        let stopped = |reason| Fault { thread, instruction, kind: FaultKind::Stopped(reason) };
        if steps.is_multiple_of(BETWEEN_LOOKS) { self.limits.check().map_err(stopped) } else { Ok(()) }
    }

    fn settle(&mut self, id: LocalId) -> Result<Settled, Fault> {
        let Local { template, label, registers } = self.get(id).clone();
        let mut found = Settled::default();
        let mut seen: FxHashSet<(LabelId, Registers)> = FxHashSet::default();
        let mut open: Vec<(LabelId, Registers, Vec<LocalStep>)> = vec![(label, registers.clone(), Vec::new())];
        seen.insert((label, registers));
        let mut steps = 0;
        // A stretch of local instructions that never leaves itself: what is seen and leads to
        // nothing.
        let mut leaves = false;
        while let Some((label, registers, way)) = open.pop() {
            let here = &self.by_label[template.index()][label.index()].to_vec();
            if here.is_empty() {
                found.returns.get_or_insert(way);
                leaves = true;
                continue;
            }
            let mut goes_on = false;
            for instruction in here {
                let action = &self.program.thread(template).instruction(*instruction).action;
                if !action.is_local() && !matches!(action, Action::Fence | Action::StoreFence) {
                    let post = self.post(template, *instruction, &registers)?;
                    let point =
                        Point { instruction: *instruction, registers: registers.clone(), way: way.clone(), post };
                    found.points.push(point);
                    (goes_on, leaves) = (true, true);
                    continue;
                }
                let target = self.program.thread(template).instruction(*instruction).target;
                for (chosen, after) in self.local(template, *instruction, &registers)? {
                    self.count_step(template, *instruction, &mut steps)?;
                    goes_on = true;
                    if seen.insert((target, after.clone())) {
                        let mut way = way.clone();
                        way.push((*instruction, chosen));
                        open.push((target, after, way));
                    }
                }
            }
            found.is_stuck |= !goes_on;
        }
        found.is_stuck |= !leaves;
        Ok(found)
    }

    /// What a local instruction does to the registers, with each value that it chooses.
    pub(super) fn local(
        &self,
        template: ThreadId,
        id: InstructionId,
        registers: &Registers,
    ) -> Result<Vec<(Option<Value>, Registers)>, Fault> {
        let domain = self.program.domain;
        let fault = |kind| Fault { thread: template, instruction: id, kind };
        let valued =
            |result: Result<Value, EvaluationError>| result.map_err(|error| fault(FaultKind::Evaluation(error)));
        let with = |register: RegisterId, value: Value| {
            let mut after = registers.clone();
            after[register.index()] = value;
            after
        };
        Ok(match &self.program.thread(template).instruction(id).action {
            Action::Assign { register, value } => {
                vec![(None, with(*register, valued(value.evaluate(registers, domain))?))]
            }
            Action::Havoc { register } => {
                let domain = domain.ok_or_else(|| fault(FaultKind::HavocWithoutDomain))?;
                let mut steps = 0;
                let values = domain.values().map(|value| {
                    self.count_step(template, id, &mut steps)?;
                    Ok((Some(value), with(*register, value)))
                });
                values.collect::<Result<_, _>>()?
            }
            Action::Assume(condition) => {
                let holds = condition.holds(registers, domain);
                let holds = holds.map_err(|error| fault(FaultKind::Evaluation(error)))?;
                if holds { vec![(None, registers.clone())] } else { Vec::new() }
            }
            Action::Fail => Vec::new(),
            _ => vec![(None, registers.clone())],
        })
    }

    /// What is posted at an instruction, if it is a post.
    fn post(
        &mut self,
        template: ThreadId,
        id: InstructionId,
        registers: &Registers,
    ) -> Result<Option<(bool, LocalId)>, Fault> {
        let program = self.program;
        let Action::Post { executor, task, arguments } = &program.thread(template).instruction(id).action else {
            return Ok(None);
        };
        let posted = program.thread(*task);
        let mut values: Registers = posted.registers.iter().map(|register| register.initial).collect();
        for (value, argument) in values.iter_mut().zip(arguments) {
            let evaluated = argument.evaluate(registers, program.domain);
            let kind = FaultKind::Evaluation;
            *value = evaluated.map_err(|error| Fault { thread: template, instruction: id, kind: kind(error) })?;
        }
        let local = Local { template: *task, label: posted.initial, registers: values };
        let local = self.intern(local, (template, id))?;
        Ok(Some((*executor == Executor::Main, local)))
    }
}
