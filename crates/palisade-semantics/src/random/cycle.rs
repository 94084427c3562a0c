//! Random programs around a critical cycle, as the classic litmus tests are: the kind in which SC,
//! TSO and PSO differ.
//!
//! Thread i accesses address i and then address i + 1 (the last one address 0 at the end). Of the
//! two accesses to an address one at least is a store, and the program's property says that they
//! come in an order that closes the cycle with the program order of all threads. No interleaving of
//! these accesses violates it; which models do depends on their kinds and on what stands between
//! them.

use super::join::{Meeting, join};
use super::{Generator, Randomness, Shape, instruction, thread_of, without_threads};
use palisade_model::program::{Action, Domain, DomainOrigin, Expression, Instruction, Program, RegisterId, Value};

/// An access of a thread to an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Load,
    Store,
}

/// The program that belongs to a sequence of random numbers.
pub(super) fn program(name: String, random: &mut Randomness, shape: &Shape) -> Program {
    let threads = if shape.copies > 2 && random.percent(30) { 3 } else { 2 };
    let domain =
        random.percent(shape.domains).then_some(Domain { low: 0, high: 3, wrap: true, origin: DomainOrigin::File });
    let mut program = without_threads(name, domain, shape.addresses.max(threads));
    // For each address the access that comes first on the cycle, of the thread before, and the one
    // after it.
    let pairs: Vec<(Access, Access)> = (0..threads)
        .map(|_| {
            [(Access::Store, Access::Load), (Access::Load, Access::Store), (Access::Store, Access::Store)]
                [random.below(3)]
        })
        .collect();
    let mut meeting = Meeting { registers: vec![Vec::new(); threads], memory: Vec::new() };
    let value = |thread: usize| Value::try_from(thread + 1).expect("few threads");
    for (address, pair) in pairs.iter().enumerate() {
        let before = (address + threads - 1) % threads;
        match pair {
            (Access::Store, Access::Load) => meeting.registers[address].push((0, value(before))),
            (Access::Load, _) => meeting.registers[before].push((1, 0)),
            (Access::Store, Access::Store) => meeting.memory.push((value(address), value(address))),
        }
    }
    for thread in 0..threads {
        let next = (thread + 1) % threads;
        let access = |kind: Access, address: usize, register: usize| match kind {
            Access::Load => {
                Action::Load { register: RegisterId::from_index(register), address: Generator::named(address) }
            }
            Access::Store => {
                Action::Store { address: Generator::named(address), value: Expression::Constant(value(thread)) }
            }
        };
        let accesses = [access(pairs[thread].1, thread, 0), access(pairs[next].0, next, 1)];
        let mut generator =
            Generator { random: &mut *random, shape, addresses: threads.max(shape.addresses), domain, stored: None };
        let instructions = generator.around(accesses);
        program.threads.push(thread_of(format!("t{}", thread + 1), instructions));
    }
    join(&mut program, &meeting);
    program
}

impl Generator<'_> {
    /// The two accesses of a thread, with other instructions before, between and behind them.
    fn around(&mut self, [first, second]: [Action; 2]) -> Vec<Instruction> {
        let mut actions = Vec::new();
        if self.random.percent(15) {
            actions.push(self.action());
        }
        self.access(first, &mut actions);
        while self.random.percent(35) {
            let between = self.between();
            actions.push(between);
        }
        let loops = self.shape.loops > 0 && self.random.percent(self.shape.loops);
        let back = loops.then_some(actions.len());
        self.access(second, &mut actions);
        if self.random.percent(10) {
            actions.push(self.action());
        }
        let mut instructions: Vec<Instruction> =
            (0..).zip(actions).map(|(label, action)| instruction(label, label + 1, action)).collect();
        if let Some(label) = back {
            let target = self.random.below(label + 1);
            instructions.push(instruction(label, target, Action::Nop));
        }
        instructions
    }

    /// What may stand between the accesses: a fence of either kind in half of the cases.
    fn between(&mut self) -> Action {
        match self.random.below(4) {
            0 => Action::Fence,
            1 if self.shape.store_fences > 0 => Action::StoreFence,
            _ => self.action(),
        }
    }

    /// An access as it is, or a store locked, or in a section.
    fn access(&mut self, access: Action, actions: &mut Vec<Action>) {
        if let Action::Store { address, value } = &access
            && self.random.percent(self.shape.rmws)
        {
            actions.push(Action::Rmw { register: None, address: address.clone(), new: value.clone() });
        } else if self.random.percent(self.shape.sections / 2) {
            actions.extend([Action::Lock, access, Action::Unlock]);
        } else {
            actions.push(access);
        }
    }
}
