//! The addresses that a thread may still read and write from a label on.

use palisade_model::program::{Action, Expression, InstructionId, Program, Thread, Value};

/// A set of addresses: some that are constants of the program, by their numbers, or any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AddressSet {
    any: bool,
    members: Vec<Value>,
}

impl AddressSet {
    /// Whether an address may be in the set.
    pub(super) fn contains(&self, address: Value) -> bool {
        self.any || self.members.binary_search(&address).is_ok()
    }

    /// Adds the address that an expression gives: a constant one, or else any.
    fn add(&mut self, expression: &Expression) {
        let constant = expression.is_constant().then(|| expression.evaluate_address(&[]).ok()).flatten();
        match constant {
            Some(address) => self.insert(address),
            None => self.any = true,
        }
    }

    fn insert(&mut self, address: Value) {
        if let Err(place) = self.members.binary_search(&address) {
            self.members.insert(place, address);
        }
    }

    /// Adds another set; whether that was news.
    fn include(&mut self, other: &AddressSet) -> bool {
        let before = (self.any, self.members.len());
        self.any |= other.any;
        other.members.iter().for_each(|address| self.insert(*address));
        before != (self.any, self.members.len())
    }
}

/// What a thread may still do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Footprint {
    /// The addresses it may load from.
    pub(super) reads: AddressSet,
    /// The addresses it may store to.
    pub(super) writes: AddressSet,
}

impl Footprint {
    fn include(&mut self, other: &Footprint) -> bool {
        let news = self.reads.include(&other.reads);
        self.writes.include(&other.writes) || news
    }
}

/// For each thread and label, what the thread may still do from there.
pub(super) fn footprints(program: &Program) -> Vec<Vec<Footprint>> {
    program.threads.iter().map(of_thread).collect()
}

fn of_thread(thread: &Thread) -> Vec<Footprint> {
    let mut footprints = vec![Footprint::default(); thread.labels.len()];
    for instruction in &thread.instructions {
        let own = &mut footprints[instruction.source.index()];
        match &instruction.action {
            Action::Load { address, .. } => own.reads.add(address),
            Action::Store { address, .. } => own.writes.add(address),
            Action::Cas { address, .. } | Action::Rmw { address, .. } => {
                own.reads.add(address);
                own.writes.add(address);
            }
            _ => {}
        }
    }
    // Texts mostly run downwards, so that going upwards settles nearly everything in one round.
    let upwards: Vec<InstructionId> = (0..thread.instructions.len()).rev().map(InstructionId::from_index).collect();
    loop {
        let mut news = false;
        for id in &upwards {
            let instruction = thread.instruction(*id);
            if instruction.source != instruction.target {
                let later = footprints[instruction.target.index()].clone();
                news |= footprints[instruction.source.index()].include(&later);
            }
        }
        if !news {
            return footprints;
        }
    }
}
