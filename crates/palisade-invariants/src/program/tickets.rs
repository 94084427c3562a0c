//! Certificates about programs without their tickets.
//!
//! A dispenser hands out tickets, and a served address shows one of them, which only the copy that
//! holds it moves on. The checker convinces itself of this for each pair on its own ([`Reading`]),
//! and writes down the program without tickets, in which a copy has its turn or not.
//! docs/certificate/counters.md says what is accepted, THEORY.md ("Tickets") why at most one copy
//! has its turn.

use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{
    Action, BinaryOperator as Op, Copies, Expression, InstructionId, LabelId, Program, Register, RegisterId, Role,
    Thread, ThreadId, UnaryOperator, Value,
};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// A program without its tickets.
#[derive(Debug)]
pub(super) struct Tickets {
    pub(super) erased: Program,
    turns: Turns,
}

/// Who may take a turn, and who ends it.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Each dispenser with its served address.
    pairs: Vec<(Value, Value)>,
    /// For each thread, its registers before those of turns.
    own_registers: Vec<usize>,
    /// The stores that serve the next ticket.
    services: BTreeMap<(ThreadId, InstructionId), usize>,
}

/// What is said by a register, relative to the ticket that the copy holds; of one that is left out,
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Saying {
    /// The ticket plus so much.
    Mine(Value),
    /// What was served when the copy looked, plus so much.
    Shown(Value),
    /// Something computed from either.
    Derived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Without,
    Waiting,
    Served,
    /// One or another, depending on the path.
    Uncertain,
}

/// What is known of one pair where a copy stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Situation {
    stage: Stage,
    says: BTreeMap<RegisterId, Saying>,
}

/// How an instruction is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rewriting {
    Draw(usize),
    Take(usize),
    Serve(usize),
    Skip,
    Zero,
}

/// One pair, as a thread uses it.
struct Reading<'p> {
    thread: &'p Thread,
    id: ThreadId,
    pair: usize,
    dispenser: Value,
    served: Value,
    step: Value,
}

/// The program without the tickets of these pairs, if nothing else depends on them.
pub(super) fn erase(program: &Program, pairs: &[(Value, Value)]) -> Result<Tickets, CheckFailure> {
    if program.threads.iter().any(|thread| thread.role != Role::Thread) {
        reject!(Form, "tickets in a program with events or tasks");
    }
    let named: BTreeSet<Value> = pairs.iter().flat_map(|(dispenser, served)| [*dispenser, *served]).collect_set();
    if named.len() != 2 * pairs.len() || !pairs.is_sorted() {
        reject!(Form, "an address of tickets is listed twice, or they are not in order");
    }
    let mut rewritings: BTreeMap<(ThreadId, InstructionId), Rewriting> = BTreeMap::new();
    for (pair, (dispenser, served)) in pairs.iter().copied().enumerate() {
        let step = step(program, dispenser)?;
        has_room(program, (dispenser, served), step)?;
        for (id, thread) in program.thread_ids() {
            let reading = Reading { thread, id, pair, dispenser, served, step };
            for (instruction, rewriting) in reading.rewritings()? {
                if rewritings.insert((id, instruction), rewriting).is_some_and(|other| other != rewriting) {
                    reject!(Form, "instruction {instruction} of thread {id} uses the tickets of two pairs");
                }
            }
        }
    }
    let mut erased = program.clone();
    erased.initial_memory.retain(|address, _| !named.contains(address));
    let own_registers: Vec<usize> = program.threads.iter().map(|thread| thread.registers.len()).collect();
    let mut services = BTreeMap::new();
    for ((thread, instruction), rewriting) in rewritings {
        let turn = |pair: usize| RegisterId::from_index(own_registers[thread.index()] + pair);
        let kept =
            |pair: usize| Expression::binary(Op::Multiply, Expression::Register(turn(pair)), Expression::Constant(0));
        let action = &mut erased.threads[thread.index()].instructions[instruction.index()].action;
        *action = match (rewriting, action.clone()) {
            (Rewriting::Draw(pair), Action::Rmw { address, .. }) => {
                Action::Rmw { register: Some(turn(pair)), address, new: Expression::Constant(0) }
            }
            (Rewriting::Take(pair), _) => Action::Assign {
                register: turn(pair),
                value: Expression::binary(Op::Add, kept(pair), Expression::Constant(1)),
            },
            (Rewriting::Serve(pair), Action::Store { address, .. }) => {
                services.insert((thread, instruction), pair);
                Action::Store { address, value: kept(pair) }
            }
            (Rewriting::Zero, Action::Assign { register, .. }) => {
                Action::Assign { register, value: Expression::Constant(0) }
            }
            _ => Action::Nop,
        };
    }
    for thread in &mut erased.threads {
        if matches!(thread.copies, Copies::Exactly(2..)) {
            thread.copies = Copies::Any;
        }
        let span = thread.span;
        let of_turn = |pair| Register { name: format!("turn {pair}"), initial: 0, is_initialised: false, span };
        thread.registers.extend((1..=pairs.len()).map(of_turn));
    }
    Ok(Tickets { erased, turns: Turns { pairs: pairs.to_vec(), own_registers, services } })
}

/// What each draw from a dispenser adds: nothing else may move it.
fn step(program: &Program, dispenser: Value) -> Result<Value, CheckFailure> {
    let mut steps = BTreeSet::new();
    for (id, thread) in program.thread_ids() {
        for (number, instruction) in thread.instruction_ids() {
            match &instruction.action {
                action if constant_address(action) != Some(dispenser) => {}
                Action::Load { .. } => {}
                Action::Rmw { new: Expression::Binary(operator, left, right), .. } => {
                    match (operator, &**left, &**right) {
                        (Op::Add, Expression::Old, Expression::Constant(own))
                        | (Op::Add, Expression::Constant(own), Expression::Old) => steps.insert(Some(*own)),
                        (Op::Subtract, Expression::Old, Expression::Constant(own)) => steps.insert(own.checked_neg()),
                        _ => steps.insert(None),
                    };
                }
                _ => reject!(Form, "instruction {number} of thread {id} moves a dispenser of tickets in another way"),
            }
        }
    }
    match steps.iter().next() {
        Some(Some(step)) if steps.len() == 1 && *step != 0 => Ok(*step),
        _ => reject!(Form, "address {dispenser} hands out no tickets: what is added to it is not one number"),
    }
}

/// In a domain, tickets wrap around: those that copies hold at a time must all be different.
fn has_room(program: &Program, (dispenser, served): (Value, Value), step: Value) -> Result<(), CheckFailure> {
    let Some(domain) = program.domain else { return Ok(()) };
    let mut copies = 0_u128;
    for thread in &program.threads {
        match thread.copies {
            Copies::Exactly(own) => copies += u128::from(own),
            Copies::Any => reject!(Form, "any number of copies draw tickets from a domain"),
        }
    }
    // So many draws lead back to the same ticket.
    let (mut period, mut rest) = (domain.size(), u128::from(step.unsigned_abs()));
    while rest != 0 {
        (period, rest) = (rest, period % rest);
    }
    if !domain.wrap || copies > domain.size() / period {
        reject!(Form, "{copies} copies draw tickets, more than the domain has");
    }
    if program.initial_value(dispenser) != program.initial_value(served) {
        reject!(Form, "the first ticket is not served at first");
    }
    if !domain.contains(0) || !domain.contains(1) {
        reject!(Form, "the domain does not contain 0 and 1");
    }
    Ok(())
}

fn constant_address(action: &Action) -> Option<Value> {
    let address = action.address()?;
    if address.is_constant() { address.evaluate_address(&[]).ok() } else { None }
}

impl Reading<'_> {
    /// The instructions to rewrite, where no path leads to one that must not be there.
    fn rewritings(&self) -> Result<Vec<(InstructionId, Rewriting)>, CheckFailure> {
        let start = Situation { stage: Stage::Without, says: BTreeMap::new() };
        let mut at: BTreeMap<LabelId, Situation> = iter::once((self.thread.initial, start)).collect_map();
        // Every round takes something from what is known at some label, or is the last.
        loop {
            let mut changes = false;
            let mut found = Vec::new();
            for (id, instruction) in self.thread.instruction_ids() {
                let Some(before) = at.get(&instruction.source).cloned() else { continue };
                let (after, rewriting) = self.follow(before, id, &instruction.action)?;
                found.extend(rewriting.map(|rewriting| (id, rewriting)));
                match at.get_mut(&instruction.target) {
                    Some(known) => changes |= known.weaken(&after),
                    None => {
                        at.insert(instruction.target, after);
                        changes = true;
                    }
                }
            }
            if !changes {
                return Ok(found);
            }
        }
    }

    fn refuse<T>(&self, instruction: InstructionId, what: &str) -> Result<T, CheckFailure> {
        reject!(Form, "instruction {instruction} of thread {} {what}", self.id);
    }

    /// What is known after an instruction, and how it is rewritten.
    fn follow(
        &self,
        mut situation: Situation,
        id: InstructionId,
        action: &Action,
    ) -> Result<(Situation, Option<Rewriting>), CheckFailure> {
        if action.address().is_some_and(|address| situation.is_told(address)) {
            return self.refuse(id, "accesses an address computed from a ticket");
        }
        let cell = constant_address(action);
        let rewriting = match action {
            Action::Load { register, .. } => {
                let saying = match situation.stage {
                    _ if cell == Some(self.dispenser) => Some(Saying::Derived),
                    _ if cell != Some(self.served) => None,
                    Stage::Served => Some(Saying::Mine(0)),
                    Stage::Waiting => Some(Saying::Shown(0)),
                    Stage::Without | Stage::Uncertain => Some(Saying::Derived),
                };
                situation.set(*register, saying);
                None
            }
            Action::Rmw { register, .. } if cell == Some(self.dispenser) => {
                if situation.stage != Stage::Without {
                    return self.refuse(id, "draws a ticket where the copy may hold one");
                }
                situation.stage = Stage::Waiting;
                if let Some(register) = register {
                    situation.set(*register, Some(Saying::Mine(0)));
                }
                Some(Rewriting::Draw(self.pair))
            }
            Action::Store { value, .. } if cell == Some(self.served) => {
                let is_next = situation.saying(value) == Some(Saying::Mine(self.step));
                if situation.stage != Stage::Served || !is_next {
                    return self.refuse(id, "serves a ticket that need not be the next one");
                }
                situation.stage = Stage::Without;
                situation.confuse();
                Some(Rewriting::Serve(self.pair))
            }
            Action::Store { .. } | Action::Rmw { .. } | Action::Cas { .. } => {
                if cell == Some(self.served) {
                    return self.refuse(id, "moves a served address in another way");
                }
                if action.expressions().any(|own| situation.is_told(own)) {
                    return self.refuse(id, "stores or expects what is computed from a ticket");
                }
                if let Some(register) = action.written_register() {
                    situation.set(register, None);
                }
                None
            }
            Action::Assign { register, value } => {
                let saying = situation.saying(value);
                situation.set(*register, saying);
                saying.map(|_| Rewriting::Zero)
            }
            Action::Havoc { register } => {
                situation.set(*register, None);
                None
            }
            Action::Assume(condition) if situation.is_told(condition) => {
                Some(self.condition(&mut situation, condition))
            }
            Action::Ensure(condition) if situation.is_told(condition) => Some(Rewriting::Skip),
            Action::Post { .. } => return self.refuse(id, "posts a task"),
            _ => None,
        };
        Ok((situation, rewriting))
    }

    /// What passing a condition tells.
    fn condition(&self, situation: &mut Situation, condition: &Expression) -> Rewriting {
        let mut condition = condition;
        let mut wanted = Op::Equal;
        while let Expression::Unary(UnaryOperator::Not, operand) = condition {
            condition = operand;
            wanted = if wanted == Op::Equal { Op::NotEqual } else { Op::Equal };
        }
        let Expression::Binary(operator, left, right) = condition else { return Rewriting::Skip };
        if *operator != wanted {
            return Rewriting::Skip;
        }
        let shown = match (situation.saying(left), situation.saying(right)) {
            (Some(Saying::Mine(mine)), Some(Saying::Shown(shown))) if mine == shown => right,
            (Some(Saying::Shown(shown)), Some(Saying::Mine(mine))) if mine == shown => left,
            _ => return Rewriting::Skip,
        };
        situation.stage = Stage::Served;
        if let Expression::Register(register) = &**shown
            && let Some(Saying::Shown(more)) = situation.says.get(register).copied()
        {
            situation.set(*register, Some(Saying::Mine(more)));
        }
        Rewriting::Take(self.pair)
    }
}

impl Situation {
    fn set(&mut self, register: RegisterId, saying: Option<Saying>) {
        match saying {
            Some(saying) => self.says.insert(register, saying),
            None => self.says.remove(&register),
        };
    }

    /// Registers say nothing of a ticket that the copy does not surely hold.
    fn confuse(&mut self) {
        self.says.values_mut().for_each(|saying| *saying = Saying::Derived);
    }

    /// Keeps what another situation confirms; whether that is less than before.
    fn weaken(&mut self, other: &Self) -> bool {
        let before = self.clone();
        if self.stage != other.stage {
            let has_one = |stage| matches!(stage, Stage::Waiting | Stage::Served);
            self.stage = if has_one(self.stage) && has_one(other.stage) { Stage::Waiting } else { Stage::Uncertain };
        }
        let registers: BTreeSet<RegisterId> = self.says.keys().chain(other.says.keys()).copied().collect_set();
        for register in registers {
            if self.says.get(&register) != other.says.get(&register) {
                self.set(register, Some(Saying::Derived));
            }
        }
        if matches!(self.stage, Stage::Without | Stage::Uncertain) {
            self.confuse();
        }
        *self != before
    }

    /// Whether an expression reads a register that has to do with tickets.
    fn is_told(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Register(register) => self.says.contains_key(register),
            Expression::Unary(_, operand) => self.is_told(operand),
            Expression::Binary(_, left, right) => self.is_told(left) || self.is_told(right),
            _ => false,
        }
    }

    /// What the value of an expression says.
    fn saying(&self, expression: &Expression) -> Option<Saying> {
        let (base, more) = match expression {
            Expression::Register(register) => return self.says.get(register).copied(),
            Expression::Binary(Op::Add, left, right) => match (&**left, &**right) {
                (base, Expression::Constant(more)) | (Expression::Constant(more), base) => (base, Some(*more)),
                _ => (expression, None),
            },
            Expression::Binary(Op::Subtract, base, right) => match &**right {
                Expression::Constant(less) => (&**base, less.checked_neg()),
                _ => (expression, None),
            },
            _ => (expression, None),
        };
        if !self.is_told(expression) {
            return None;
        }
        let Some(more) = more else { return Some(Saying::Derived) };
        let moved = match self.saying(base) {
            Some(Saying::Mine(own)) => own.checked_add(more).map(Saying::Mine),
            Some(Saying::Shown(own)) => own.checked_add(more).map(Saying::Shown),
            _ => None,
        };
        Some(moved.unwrap_or(Saying::Derived))
    }
}

impl Tickets {
    pub(super) fn turns(&self) -> Turns {
        self.turns.clone()
    }
}

impl Turns {
    /// Whether an address is one of tickets.
    pub(super) fn has(&self, address: Value) -> bool {
        self.pairs.iter().any(|(dispenser, served)| [*dispenser, *served].contains(&address))
    }

    /// The served addresses of the pairs of which a thread takes its turn when its registers
    /// change.
    pub(super) fn taken(&self, thread: ThreadId, before: &[Value], after: &[Value]) -> Vec<Value> {
        let turns = (self.own_registers[thread.index()]..).zip(&self.pairs);
        let taken = turns.filter(|(turn, _)| before[*turn] == 0 && after[*turn] != 0);
        taken.map(|(_, (_, served))| *served).collect()
    }

    /// The register of the turn that an instruction ends when it writes memory.
    pub(super) fn ended_by(&self, thread: ThreadId, instruction: InstructionId) -> Option<usize> {
        let pair = self.services.get(&(thread, instruction))?;
        Some(self.own_registers[thread.index()] + pair)
    }
}
