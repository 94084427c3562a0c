//! What the scripts of a program certificate refer to by number: stages, addresses, states of
//! threads, attackers.
//!
//! The states that a certificate lists come first. After them come those in which a thread may be
//! between an action on memory and its next one, with the states each of them settles to; that list
//! is a claim that a script of its own puts to the solver.
//!
//! Attacks answered by proofs about their nets do not occur here: scripts speak of the others only.

use palisade_evidence::{AttackReason, LocalState, RobustCertificate, ScConfiguration, Tokens};
use palisade_model::program::{Action, Copies, Instruction, InstructionId, LabelId, Program, ThreadId, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A part of the state space: one set of the certificate, or one cut of the control flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Phase SC.
    Sc,
    /// Phase Delayed for one store.
    Delayed(ThreadId, InstructionId),
    /// Phase Helped for one thread.
    Helped(ThreadId),
    /// Where control of a thread may go after a store without draining the buffer, up to a load;
    /// the labels of the cut.
    Flow(ThreadId, InstructionId, InstructionId, Vec<LabelId>),
}

/// A thread that delays its stores, without its buffer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AttackerState {
    pub(super) thread: ThreadId,
    pub(super) label: LabelId,
    pub(super) registers: Vec<Value>,
}

/// The tables of one certificate.
pub(super) struct Tables<'a> {
    pub(super) program: &'a Program,
    pub(super) certificate: &'a RobustCertificate,
    pub(super) stages: Vec<Stage>,
    /// The attacks answered by the sets.
    pub(super) infeasible: Vec<(ThreadId, InstructionId, InstructionId)>,
    pub(super) addresses: Vec<Value>,
    pub(super) states: Vec<LocalState>,
    /// How many of the states the certificate lists.
    pub(super) listed: usize,
    /// The states by their position in the certificate's table.
    pub(super) local_numbers: Vec<usize>,
    /// What each state settles to.
    pub(super) settled: Vec<Vec<usize>>,
    pub(super) attackers: Vec<AttackerState>,
    /// The values that a listed state's instruction may find at its address.
    found: BTreeMap<(usize, InstructionId), BTreeSet<Value>>,
}

/// What one listed state's step may lead to before it settles: by the value found at the address,
/// where that matters.
pub(super) type Outcomes = Vec<(Option<Value>, LocalState)>;

impl<'a> Tables<'a> {
    /// The tables of a certificate whose numbers are those of the program.
    pub(super) fn new(program: &'a Program, certificate: &'a RobustCertificate) -> Self {
        let (stages, infeasible) = stages(program, certificate);
        let mut tables = Self {
            program,
            certificate,
            stages,
            infeasible,
            addresses: Vec::new(),
            states: Vec::new(),
            listed: 0,
            local_numbers: Vec::new(),
            settled: Vec::new(),
            attackers: Vec::new(),
            found: BTreeMap::new(),
        };
        tables.local_numbers = certificate.locals.iter().map(|local| tables.number(local.clone())).collect();
        tables.listed = tables.states.len();
        let attackers = certificate.delayed.iter().flat_map(|set| {
            set.configurations.iter().map(|configuration| AttackerState {
                thread: set.thread,
                label: configuration.attacker.label,
                registers: configuration.attacker.registers.clone(),
            })
        });
        tables.attackers = attackers.collect::<BTreeSet<_>>().into_iter().collect();
        tables.find_values();
        tables.find_addresses();
        tables.find_settled();
        tables
    }

    /// The number of a state, a new one if need be.
    fn number(&mut self, state: LocalState) -> usize {
        self.states.iter().position(|known| *known == state).unwrap_or_else(|| {
            self.states.push(state);
            self.states.len() - 1
        })
    }

    /// The number of a state that is in the tables.
    pub(super) fn number_of(&self, state: &LocalState) -> Option<usize> {
        self.states.iter().position(|known| known == state)
    }

    pub(super) fn stage(&self, stage: &Stage) -> Option<usize> {
        self.stages.iter().position(|known| known == stage)
    }

    /// The attacker in a state, if one in that state occurs in the certificate.
    pub(super) fn attacker(&self, thread: ThreadId, label: LabelId, registers: &[Value]) -> Option<usize> {
        let registers = self.only_live(thread, label, registers);
        self.attackers.binary_search(&AttackerState { thread, label, registers }).ok()
    }

    /// Whether an attacker at the label can reach no further load, so that certificates may leave
    /// it out.
    pub(super) fn is_hopeless(&self, thread: ThreadId, label: LabelId) -> bool {
        self.at(thread, label).all(|(_, own)| own.action.drains_buffer() || own.action == Action::Fail)
    }

    /// The instructions at a label.
    pub(super) fn at(
        &self,
        thread: ThreadId,
        label: LabelId,
    ) -> impl Iterator<Item = (InstructionId, &'a Instruction)> + use<'a> {
        self.program.thread(thread).instruction_ids().filter(move |(_, own)| own.source == label)
    }

    pub(super) fn is_live(&self, thread: ThreadId, label: LabelId, register: usize) -> bool {
        self.certificate.live[thread.index()][label.index()].iter().any(|live| live.index() == register)
    }

    /// The registers with 0 for those that are dead at the label.
    pub(super) fn only_live(&self, thread: ThreadId, label: LabelId, registers: &[Value]) -> Vec<Value> {
        let value = |(index, value): (usize, &Value)| if self.is_live(thread, label, index) { *value } else { 0 };
        registers.iter().enumerate().map(value).collect()
    }

    /// Where a thread starts, before it settles.
    pub(super) fn start(&self, thread: ThreadId) -> LocalState {
        let label = self.program.thread(thread).initial;
        let registers = self.only_live(thread, label, &self.program.thread(thread).initial_registers());
        LocalState { thread, label, registers, holding: false }
    }

    /// The state after a local instruction or a step, before settling: some register set, some
    /// label reached.
    pub(super) fn moved(&self, state: &LocalState, target: LabelId, set: Option<(usize, Value)>) -> LocalState {
        let mut registers = state.registers.clone();
        if let Some((register, value)) = set {
            registers[register] = value;
        }
        let registers = self.only_live(state.thread, target, &registers);
        LocalState { thread: state.thread, label: target, registers, holding: state.holding }
    }

    /// Where an instruction that is not local takes a listed state.
    pub(super) fn outcomes(&self, number: usize, id: InstructionId) -> Outcomes {
        let state = &self.states[number];
        let instruction = self.program.thread(state.thread).instruction(id);
        let target = instruction.target;
        let mut after = state.clone();
        match instruction.action {
            Action::Lock => after.holding = true,
            Action::Unlock => after.holding = false,
            _ => {}
        }
        match instruction.action.written_register() {
            Some(register) if self.is_live(state.thread, target, register.index()) => {
                let outcome =
                    |value: &Value| (Some(*value), self.moved(&after, target, Some((register.index(), *value))));
                self.found_by(number, id).iter().map(outcome).collect()
            }
            _ => vec![(None, self.moved(&after, target, None))],
        }
    }

    /// The values that an instruction may find at its address, ascending.
    pub(super) fn found_by(&self, number: usize, id: InstructionId) -> Vec<Value> {
        self.found.get(&(number, id)).into_iter().flatten().copied().collect()
    }

    /// The values that the certificate's memories and buffers hold, ascending.
    pub(super) fn values(&self) -> Vec<Value> {
        let certificate = self.certificate;
        let initial = self.addresses.iter().map(|address| self.program.initial_value(*address));
        let in_memory = certificate.memories.iter().flatten().map(|(_, value)| *value);
        let delayed = certificate.delayed.iter().flat_map(|set| &set.configurations);
        let buffered = delayed.flat_map(|own| &own.attacker.buffer).map(|(_, value)| *value);
        let values: BTreeSet<Value> = initial.chain(in_memory).chain(buffered).collect();
        values.into_iter().collect()
    }

    /// Where a local instruction takes a state: nowhere, to several states, or nothing when it has
    /// no value.
    pub(super) fn local_outcomes(&self, state: &LocalState, instruction: &Instruction) -> Option<Vec<LocalState>> {
        let domain = self.program.domain;
        let to = |set| self.moved(state, instruction.target, set);
        Some(match &instruction.action {
            Action::Assign { register, value } => {
                vec![to(Some((register.index(), value.evaluate(&state.registers, domain).ok()?)))]
            }
            Action::Havoc { register } => domain?.values().map(|value| to(Some((register.index(), value)))).collect(),
            Action::Assume(condition) => {
                if condition.holds(&state.registers, domain).ok()? {
                    vec![to(None)]
                } else {
                    Vec::new()
                }
            }
            Action::Nop | Action::StoreFence | Action::Ensure(_) => vec![to(None)],
            _ => Vec::new(),
        })
    }

    fn find_values(&mut self) {
        let unjoined = |tokens: &[(u32, Tokens)]| tokens.iter().map(|(local, _)| *local).collect();
        let mut met: Vec<(u32, Vec<u32>)> = Vec::new();
        let certificate = self.certificate;
        met.extend(certificate.sc.iter().map(|ScConfiguration { memory, tokens, .. }| (*memory, unjoined(tokens))));
        let delayed = certificate.delayed.iter().flat_map(|set| &set.configurations);
        met.extend(delayed.map(|configuration| (configuration.memory, unjoined(&configuration.tokens))));
        let helped = certificate.helped.iter().flat_map(|set| &set.configurations);
        met.extend(helped.map(|own| (own.memory, own.tokens.iter().map(|(local, ..)| *local).collect())));
        for (memory, locals) in met {
            for local in locals {
                let number = self.local_numbers[local as usize];
                let state = &self.states[number];
                for (id, instruction) in self.at(state.thread, state.label) {
                    let Some(address) = instruction.action.address() else { continue };
                    let Ok(address) = address.evaluate_address(&state.registers) else { continue };
                    let value = self.in_memory(memory as usize, address);
                    self.found.entry((number, id)).or_default().insert(value);
                }
            }
        }
    }

    /// The value of an address in one of the certificate's memories.
    pub(super) fn in_memory(&self, memory: usize, address: Value) -> Value {
        let listed = self.certificate.memories[memory].iter().find(|(own, _)| *own == address);
        listed.map_or_else(|| self.program.initial_value(address), |(_, value)| *value)
    }

    /// Every address that the certificate mentions or that an instruction of one of its states
    /// accesses.
    fn find_addresses(&mut self) {
        let mut addresses = BTreeSet::new();
        addresses.extend(self.certificate.memories.iter().flatten().map(|(address, _)| *address));
        for configuration in self.certificate.delayed.iter().flat_map(|set| &set.configurations) {
            addresses.extend(configuration.attacker.buffer.iter().map(|(address, _)| *address));
        }
        for configuration in self.certificate.helped.iter().flat_map(|set| &set.configurations) {
            let levels = configuration.levels.iter().chain(&configuration.section);
            addresses.extend(levels.map(|(address, _)| *address));
        }
        let states = self.states[..self.listed].iter().map(|own| (own.thread, own.label, &own.registers));
        let attackers = self.attackers.iter().map(|own| (own.thread, own.label, &own.registers));
        for (thread, label, registers) in states.chain(attackers) {
            let accessed = self.at(thread, label).filter_map(|(_, instruction)| instruction.action.address());
            addresses.extend(accessed.filter_map(|address| address.evaluate_address(registers).ok()));
        }
        self.addresses = addresses.into_iter().collect();
    }

    /// Adds the states that threads pass through, and finds what each settles to.
    fn find_settled(&mut self) {
        let threads = self.program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0));
        let mut met: Vec<LocalState> = threads.map(|(id, _)| self.start(id)).collect();
        for number in 0..self.listed {
            let LocalState { thread, label, .. } = self.states[number];
            for (id, _) in self.at(thread, label).filter(|(_, own)| !own.action.is_local_under_tso()) {
                met.extend(self.outcomes(number, id).into_iter().map(|(_, state)| state));
            }
        }
        for state in met {
            self.number(state);
        }
        let mut follows: Vec<Vec<usize>> = Vec::new();
        while let Some(state) = self.states.get(follows.len()).cloned() {
            let local = self.at(state.thread, state.label).filter_map(|(_, own)| self.local_outcomes(&state, own));
            let reached: Vec<LocalState> = local.flatten().collect();
            follows.push(reached.into_iter().map(|own| self.number(own)).collect());
        }
        let acts = |number: &usize| {
            let LocalState { thread, label, .. } = self.states[*number];
            self.at(thread, label).any(|(_, own)| !own.action.is_local_under_tso())
        };
        let settled = |number: usize| {
            let mut reached = BTreeSet::from([number]);
            let mut waiting = vec![number];
            while let Some(own) = waiting.pop() {
                waiting.extend(follows[own].iter().copied().filter(|next| reached.insert(*next)));
            }
            reached.into_iter().filter(acts).collect()
        };
        self.settled = (0..self.states.len()).map(settled).collect();
    }
}

/// The stages, and the attacks that the certificate answers by its sets. Attacks that it answers by
/// proofs about their nets have no stage: the scripts claim nothing about them.
fn stages(
    program: &Program,
    certificate: &RobustCertificate,
) -> (Vec<Stage>, Vec<(ThreadId, InstructionId, InstructionId)>) {
    let (mut infeasible, mut flows) = (Vec::new(), Vec::new());
    for (thread, own) in program.thread_ids().filter(|(_, own)| own.copies != Copies::Exactly(0)) {
        for (store, _) in own.instruction_ids().filter(|(_, own)| matches!(own.action, Action::Store { .. })) {
            for (load, _) in own.instruction_ids().filter(|(_, own)| matches!(own.action, Action::Load { .. })) {
                let is_it = |attack: &&_| attack_of(attack) == (thread, store, load);
                match certificate.attacks.iter().find(is_it).map(|attack| &attack.reason) {
                    Some(AttackReason::Pruned { reachable }) => {
                        flows.push(Stage::Flow(thread, store, load, reachable.clone()));
                    }
                    Some(AttackReason::Net(_)) => {}
                    Some(AttackReason::Infeasible) | None => infeasible.push((thread, store, load)),
                }
            }
        }
    }
    let mut stages = vec![Stage::Sc];
    let stores: BTreeSet<_> = infeasible.iter().map(|(thread, store, _)| (*thread, *store)).collect();
    stages.extend(stores.iter().map(|(thread, store)| Stage::Delayed(*thread, *store)));
    let threads: BTreeSet<_> = stores.iter().map(|(thread, _)| *thread).collect();
    stages.extend(threads.into_iter().map(Stage::Helped));
    stages.extend(flows);
    (stages, infeasible)
}

fn attack_of(attack: &palisade_evidence::AttackEvidence) -> (ThreadId, InstructionId, InstructionId) {
    (attack.thread, attack.store, attack.load)
}
