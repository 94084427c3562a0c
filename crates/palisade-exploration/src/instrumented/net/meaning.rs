//! What the places and transitions of the net of an attack stand for.

use crate::instrumented::system::Local;
use crate::instrumented::tso::System;
use palisade_evidence::{self as evidence, Fact, Level, LocalState};
use palisade_model::program::{InstructionId, ThreadId, Value};

/// What a place stands for. Local states and attackers are numbers of the builder's [`System`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Meaning {
    Memory(Value, Value),
    Lock(bool),
    /// Whether ld_A has happened.
    Stage(bool),
    Idle,
    Attacker(u32),
    /// The attacker after ld_A: the address of st_A.
    Gone(Value),
    Level(Value, Option<Level>),
    /// The accesses of an open section that has not joined.
    Section(Vec<(Value, Level)>),
    Token(u32, bool),
    /// Copies that have not chosen where they settle first.
    Start(ThreadId),
    /// Copies of replicated threads that have not chosen their thread either.
    Spare,
    Success,
}

/// What a transition does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firing {
    /// A copy settles in a local state.
    Start(u32),
    /// A helper executes an instruction.
    Step {
        /// Its local state before, and whether it is on the path.
        from: (u32, bool),
        /// The instruction.
        instruction: InstructionId,
        /// The same afterwards; nothing where it has stopped.
        to: Option<(u32, bool)>,
    },
    /// A copy in a local state issues the store that is delayed first.
    Delay(u32),
    /// The attacker executes an instruction.
    Attacker {
        /// The instruction.
        instruction: InstructionId,
        /// The attacker afterwards, by number.
        after: u32,
    },
    /// The attack's load.
    Load,
    /// The cycle is closed.
    Success,
}

impl Meaning {
    /// The place as evidence names it.
    pub(super) fn fact(&self, system: &System<'_>) -> Fact {
        match self {
            Self::Memory(address, value) => Fact::Memory(*address, *value),
            Self::Lock(held) => Fact::Locked(*held),
            Self::Stage(after) => Fact::Loaded(*after),
            Self::Idle => Fact::Idle,
            Self::Attacker(number) => {
                let attacker = system.attacker(*number);
                Fact::Attacker(evidence::Attacker {
                    label: attacker.label,
                    registers: attacker.registers.to_vec(),
                    buffer: attacker.buffer.clone(),
                    store_address: attacker.store_address,
                })
            }
            Self::Gone(address) => Fact::Gone(*address),
            Self::Level(address, level) => Fact::Level(*address, *level),
            Self::Section(accesses) => Fact::Section(accesses.clone()),
            Self::Token(local, joined) => {
                let Local { thread, label, registers, holding } = system.local(*local).clone();
                Fact::Thread(LocalState { thread, label, registers: registers.into_vec(), holding }, *joined)
            }
            Self::Start(thread) => Fact::Start(*thread),
            Self::Spare => unreachable!("proofs are about the net with the copies of the program"),
            Self::Success => Fact::Success,
        }
    }

    /// The name of the place.
    pub(super) fn describe(&self, system: &System<'_>) -> String {
        let program = system.program();
        let address = |address: &Value| program.address_name(*address);
        let level = |level: &Option<Level>| match level {
            None => "none",
            Some(Level::Load) => "load",
            Some(Level::Store) => "store",
        };
        let state = |thread: ThreadId, label, registers: &[Value]| {
            let template = program.thread(thread);
            let values: Vec<String> = template
                .registers
                .iter()
                .zip(registers)
                .filter(|(_, value)| **value != 0)
                .map(|(register, value)| format!("{}={value}", register.name))
                .collect();
            format!("{}@{}({})", template.name, template.label(label).name, values.join(","))
        };
        match self {
            Self::Memory(at, value) => format!("{}={value}", address(at)),
            Self::Lock(held) => format!("lock={}", if *held { "held" } else { "free" }),
            Self::Stage(after) => format!("stage={}", if *after { "after" } else { "before" }),
            Self::Idle => "attacker=idle".into(),
            Self::Attacker(number) => {
                let attacker = system.attacker(*number);
                let buffer: Vec<String> =
                    attacker.buffer.iter().map(|(at, value)| format!("{}={value}", address(at))).collect();
                let first = address(&attacker.store_address);
                let state = state(attacker.thread, attacker.label, &attacker.registers);
                format!("attacker={state} buffer[{}] first {first}", buffer.join(","))
            }
            Self::Gone(at) => format!("attacker=gone first {}", address(at)),
            Self::Level(at, known) => format!("level {}={}", address(at), level(known)),
            Self::Section(accesses) => {
                let accesses: Vec<String> =
                    accesses.iter().map(|(at, known)| format!("{}:{}", address(at), level(&Some(*known)))).collect();
                format!("section=[{}]", accesses.join(","))
            }
            Self::Token(local, joined) => {
                let local = system.local(*local);
                let holding = if local.holding { " holding" } else { "" };
                let joined = if *joined { " joined" } else { "" };
                format!("{}{holding}{joined}", state(local.thread, local.label, &local.registers))
            }
            Self::Start(thread) => format!("{} starts", program.thread(*thread).name),
            Self::Spare => "spare copies".into(),
            Self::Success => "success".into(),
        }
    }
}
