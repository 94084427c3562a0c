//! Operations: what a text in the words of C and Rust says of accesses to memory, and what x86
//! makes of them.
//!
//! The [`Action`] of an instruction is what the access is on x86, by the usual mapping [Sewell et
//! al., "C/C++11 mappings to processors"]: a sequentially consistent store is an exchange, a
//! sequentially consistent fence is `mfence`, weaker fences do nothing, every other store and load
//! is plain, and every update is locked. So questions about SC, TSO and PSO need no orderings, and
//! a program *is* its mapping. What the language says beyond it stands beside the action
//! ([`Stated`]). [`Instruction::operation`] puts both together for questions about the language,
//! and [`Operation::compiled`] maps back.
//!
//! A program without orderings states nothing, and every access of it counts as sequentially
//! consistent where the language is asked about, as in C. In a program that states some ordering,
//! readers of texts make the rest sequentially consistent as well
//! ([`Program::complete_orderings`]), stores on x86 included.

use super::expression::Expression;
use super::ids::{LabelId, RegisterId};
use super::instruction::{Action, Instruction};
use super::ordering::{Ordering, Stated};
use super::queue::Queue;
use super::{Program, Thread};

/// What an instruction does to memory by the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A load.
    Load {
        /// The register written.
        register: RegisterId,
        /// The address read.
        address: Expression,
        /// Its ordering.
        ordering: Ordering,
        /// What it waits for: the load happens only when it reads a value of which this holds, with
        /// the value as [`Expression::Old`] and registers as they are before. It does not happen
        /// otherwise: no event, no step.
        until: Option<Expression>,
    },
    /// A store.
    Store {
        /// The address written.
        address: Expression,
        /// The value written.
        value: Expression,
        /// Its ordering.
        ordering: Ordering,
    },
    /// A read-modify-write.
    Update {
        /// The register that receives the old value, if any.
        register: Option<RegisterId>,
        /// The address.
        address: Expression,
        /// The value it must have; nothing for an update that always stores. With another value it
        /// is a load.
        expected: Option<Expression>,
        /// The value stored, which may read [`Expression::Old`].
        new: Expression,
        /// Its ordering when it stores.
        success: Ordering,
        /// Its ordering when it only loads.
        failure: Ordering,
        /// What it waits for, as loads do.
        until: Option<Expression>,
        /// Where it goes if it fails for no reason, which a weak compare-exchange may: it then is a
        /// load of any value, the expected one included, into the register.
        spurious: Option<LabelId>,
    },
    /// A fence.
    Fence {
        /// What it orders; never [`Ordering::Plain`] or [`Ordering::Relaxed`].
        ordering: Ordering,
    },
}

impl Operation {
    /// Its ordering; of an update, when it stores.
    #[inline]
    pub fn ordering(&self) -> Ordering {
        match self {
            Self::Load { ordering, .. } | Self::Store { ordering, .. } | Self::Fence { ordering } => *ordering,
            Self::Update { success, .. } => *success,
        }
    }

    /// Gives it another ordering. An update that does not store gets `failure`, or what C gives it
    /// without.
    pub fn set_orderings(&mut self, new: Ordering, new_failure: Option<Ordering>) {
        match self {
            Self::Load { ordering, .. } | Self::Store { ordering, .. } | Self::Fence { ordering } => *ordering = new,
            Self::Update { success, failure, .. } => {
                *success = new;
                *failure = new_failure.unwrap_or(new.of_failure());
            }
        }
    }

    /// What it is, in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Load { .. } => "load",
            Self::Store { .. } => "store",
            Self::Update { .. } => "update",
            Self::Fence { .. } => "fence",
        }
    }

    /// The orderings that it may have in place of its own, from weak to strong; of an update that
    /// does not store, if `failing`. The weakest one of a fence, relaxed, stands for no fence.
    /// Nothing for plain data, and for a failure that cannot be.
    pub fn choices(&self, failing: bool) -> &'static [Ordering] {
        use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match self {
            Self::Load { ordering, .. } | Self::Store { ordering, .. } if *ordering == Ordering::Plain => &[],
            Self::Load { .. } if !failing => &[Relaxed, Acquire, SeqCst],
            Self::Store { .. } if !failing => &[Relaxed, Release, SeqCst],
            Self::Update { expected: Some(_), .. } if failing => &[Relaxed, Acquire, SeqCst],
            Self::Update { .. } | Self::Fence { .. } if !failing => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
            _ => &[],
        }
    }

    /// What it waits for.
    pub fn until(&self) -> Option<&Expression> {
        match self {
            Self::Load { until, .. } | Self::Update { until, .. } => until.as_ref(),
            Self::Store { .. } | Self::Fence { .. } => None,
        }
    }

    /// What x86 makes of the operation, and what the text says beyond it.
    pub fn compiled(self) -> (Action, Stated) {
        let stated = |ordering| Stated { ordering: Some(ordering), ..Stated::default() };
        match self {
            Self::Load { register, address, ordering, until } => {
                (Action::Load { register, address }, Stated { until, ..stated(ordering) })
            }
            Self::Store { address, value, ordering: Ordering::SeqCst } => {
                let action = Action::Rmw { register: None, address, new: value };
                (action, Stated { is_store: true, ..stated(Ordering::SeqCst) })
            }
            Self::Store { address, value, ordering } => (Action::Store { address, value }, stated(ordering)),
            Self::Update { register, address, expected, new, success, failure, until, spurious } => {
                let stated = Stated { failure: Some(failure), until, spurious, ..stated(success) };
                let action = match expected {
                    Some(expected) => Action::Cas { register, address, expected, new },
                    None => Action::Rmw { register, address, new },
                };
                (action, stated)
            }
            Self::Fence { ordering: Ordering::SeqCst } => (Action::Fence, stated(Ordering::SeqCst)),
            Self::Fence { ordering } => (Action::Nop, stated(ordering)),
        }
    }
}

impl Instruction {
    /// What the instruction does to memory by the language; nothing if it is local, a post, or one
    /// that the language has no counterpart for: `sfence`, `lock`, `unlock`, sleeping and waking.
    /// What states no ordering is sequentially consistent.
    pub fn operation(&self) -> Option<Operation> {
        let stated = self.stated.as_deref();
        if self.queue().is_some() {
            return None;
        }
        let ordering = stated.and_then(|stated| stated.ordering).unwrap_or(Ordering::SeqCst);
        let failure = stated.and_then(|stated| stated.failure).unwrap_or(ordering.of_failure());
        let until = stated.and_then(|stated| stated.until.clone());
        let spurious = stated.and_then(|stated| stated.spurious);
        Some(match self.action.clone() {
            Action::Load { register, address } => Operation::Load { register, address, ordering, until },
            Action::Store { address, value } => Operation::Store { address, value, ordering },
            Action::Rmw { address, new: value, .. } if stated.is_some_and(|stated| stated.is_store) => {
                Operation::Store { address, value, ordering }
            }
            Action::Cas { register, address, expected, new } => {
                let (expected, success) = (Some(expected), ordering);
                Operation::Update { register, address, expected, new, success, failure, until, spurious }
            }
            Action::Rmw { register, address, new } => {
                let (expected, success) = (None, ordering);
                Operation::Update { register, address, expected, new, success, failure, until, spurious }
            }
            Action::Fence => Operation::Fence { ordering },
            Action::Nop if self.states_ordering() => Operation::Fence { ordering },
            _ => return None,
        })
    }

    /// Its ordering by the language; of an update that does not store, if `failing`.
    pub fn ordering(&self, failing: bool) -> Option<Ordering> {
        match self.operation()? {
            Operation::Update { failure, .. } if failing => Some(failure),
            operation => Some(operation.ordering()),
        }
    }

    /// Gives it another ordering, when it does not store if `failing`. A relaxed fence is none:
    /// nothing happens in its place.
    pub fn order(&mut self, failing: bool, new: Ordering) {
        match self.operation() {
            None => {}
            Some(Operation::Fence { .. }) if new == Ordering::Relaxed => {
                self.action = Action::Nop;
                self.stated = self.stated.take().and_then(|stated| stated.without_orderings());
            }
            Some(Operation::Update { expected: Some(_), success, failure, .. }) => {
                let (success, failure) = if failing { (success, new) } else { (new, failure) };
                self.set_orderings(success, Some(failure));
            }
            Some(_) => self.set_orderings(new, None),
        }
    }

    fn set_orderings(&mut self, new: Ordering, failure: Option<Ordering>) {
        if let Some(mut operation) = self.operation() {
            operation.set_orderings(new, failure);
            self.set_operation(operation);
        }
    }

    /// Whether the text gives the instruction an ordering.
    #[inline]
    pub fn states_ordering(&self) -> bool {
        self.stated.as_ref().is_some_and(|stated| stated.ordering.is_some())
    }

    /// Where a weak compare-exchange goes that fails for no reason.
    #[inline]
    pub fn spurious(&self) -> Option<LabelId> {
        self.stated.as_ref().and_then(|stated| stated.spurious)
    }

    /// Makes an instruction that reads memory wait until a condition holds, in which
    /// [`Expression::Old`] is the value read. Control must come back to it on x86 while the
    /// condition does not hold.
    pub fn set_waiting(&mut self, until: Expression) {
        self.stated_mut().until = Some(until);
    }

    /// Makes a `cas` weak: it goes to a label when it fails for no reason.
    pub fn set_weak(&mut self, spurious: LabelId) {
        self.stated_mut().spurious = Some(spurious);
    }

    /// Lets every label be another one.
    pub fn relabel(&mut self, mut to: impl FnMut(LabelId) -> LabelId) {
        (self.source, self.target) = (to(self.source), to(self.target));
        if let Some(label) = self.stated.as_mut().and_then(|stated| stated.spurious.as_mut()) {
            *label = to(*label);
        }
    }

    /// Makes the instruction another operation.
    pub fn set_operation(&mut self, operation: Operation) {
        let (action, stated) = operation.compiled();
        let patience = self.patience();
        (self.action, self.stated) = (action, Some(Box::new(Stated { patience, ..stated })));
    }

    /// What the instruction waits for by the language.
    #[inline]
    pub fn until(&self) -> Option<&Expression> {
        self.stated.as_ref().and_then(|stated| stated.until.as_ref())
    }

    /// The expressions that the instruction evaluates, on x86 or by the language.
    #[inline]
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> + Clone {
        self.action.expressions().chain(self.until()).chain(self.queue().map(Queue::address))
    }
}

impl Program {
    /// Whether the text gives some instruction an ordering.
    pub fn states_orderings(&self) -> bool {
        self.threads.iter().flat_map(|thread| &thread.instructions).any(Instruction::states_ordering)
    }

    /// Makes accesses and fences without an ordering sequentially consistent where others have one.
    /// Where none has, no ordering is stated.
    pub fn complete_orderings(&mut self) {
        let states = self.states_orderings();
        for instruction in self.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
            if !states {
                instruction.stated = instruction.stated.take().and_then(|stated| stated.without_orderings());
            } else if !instruction.states_ordering()
                && let Some(operation) = instruction.operation()
            {
                instruction.set_operation(operation);
            }
        }
        self.threads.iter_mut().for_each(order_waits);
    }
}

/// Lets the instruction that goes on behind one that waits come before the one that goes back, as
/// lines of text have them.
fn order_waits(thread: &mut Thread) {
    let by_label = thread.instructions_by_label();
    for id in 0..thread.instructions.len() {
        let Instruction { source, target, stated, .. } = &thread.instructions[id];
        let waits = stated.as_ref().is_some_and(|stated| stated.until.is_some());
        if let (true, &[one, other]) = (waits, &by_label[target.index()])
            && thread.instruction(one).target == *source
            && thread.instruction(other).target != *source
        {
            thread.instructions.swap(one.index(), other.index());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    /// All operations of one form for each ordering.
    fn operations(ordering: Ordering) -> Vec<Operation> {
        let (register, address) = (RegisterId::from_index(0), Expression::Constant(1));
        let value = Expression::Constant(2);
        let load = |until| Operation::Load { register, address: address.clone(), ordering, until };
        let update = |expected, until, spurious| Operation::Update {
            register: Some(register),
            address: address.clone(),
            expected,
            new: Expression::Old,
            success: ordering,
            failure: ordering.of_failure(),
            until,
            spurious,
        };
        vec![
            load(None),
            load(Some(Expression::Old)),
            Operation::Store { address: address.clone(), value: value.clone(), ordering },
            update(None, None, None),
            update(Some(value.clone()), None, None),
            update(Some(value.clone()), Some(Expression::Old), None),
            update(Some(value), None, Some(LabelId::from_index(3))),
            Operation::Fence { ordering },
        ]
    }

    #[test]
    fn compiled_operations_come_back() {
        let label = LabelId::from_index(0);
        for operation in Ordering::ALL.into_iter().flat_map(operations) {
            let mut instruction = Instruction::new(label, label, Action::Nop, Span::default());
            assert_eq!(instruction.operation(), None);
            instruction.set_operation(operation.clone());
            assert_eq!(instruction.operation(), Some(operation));
        }
    }

    #[test]
    fn what_states_nothing_is_sequentially_consistent() {
        let label = LabelId::from_index(0);
        let (address, value) = (Expression::Constant(1), Expression::Constant(2));
        let store = Instruction::new(label, label, Action::Store { address, value }, Span::default());
        assert!(!store.states_ordering());
        assert!(matches!(store.operation(), Some(Operation::Store { ordering: Ordering::SeqCst, .. })));
        let fence = Instruction::new(label, label, Action::Fence, Span::default());
        assert_eq!(fence.operation(), Some(Operation::Fence { ordering: Ordering::SeqCst }));
    }

    #[test]
    fn only_strong_stores_and_fences_are_more_than_plain_on_x86() {
        for ordering in Ordering::ALL {
            let [_, _, store, .., fence] = &operations(ordering)[..] else { unreachable!("the list is longer") };
            let is_strong = ordering == Ordering::SeqCst;
            assert_eq!(matches!(store.clone().compiled().0, Action::Rmw { .. }), is_strong, "{ordering}");
            assert_eq!(fence.clone().compiled().0 == Action::Fence, is_strong, "{ordering}");
        }
    }
}
