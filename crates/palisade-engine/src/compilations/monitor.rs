//! The table of what compilers may do, as a monitor that follows a path of one thread.
//!
//! THEORY.md ("Every compilation") proves that what the monitor admits no compiler turns into more
//! than a store buffer does.

use palisade_model::program::{InstructionId, Ordering, SourceAccess, Value};

/// What is to be remembered of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Monitor {
    /// A load that later accesses may come before, with the address that it and an access which
    /// ends this share, if there can be one.
    open: Option<(InstructionId, Option<Value>)>,
    /// A store that may still be in the buffer.
    pending: Option<InstructionId>,
    /// A sequentially consistent store that may be: later loads may come before it, although its
    /// instruction drains the buffer.
    exchanged: Option<InstructionId>,
    /// A store before which later relaxed ones may come, with its address if all such stores have
    /// the same.
    stored: Option<(InstructionId, Option<Value>)>,
    /// An access without atomics before which later stores may come, unless they release.
    plain: Option<InstructionId>,
}

/// A step of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Load(Ordering),
    Store(Ordering),
    ReadModifyWrite(Ordering),
    /// The loop of a read-modify-write that fails, or its first guess: nothing that the source
    /// does.
    Nothing,
    Fence,
    /// An access without atomics.
    Plain,
    /// A locked instruction on memory of the thread's own.
    Private,
}

/// Why a path is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A load weaker than `Acquire` before another load.
    LoadBeforeLoad(InstructionId),
    /// A load weaker than `Acquire` before a store weaker than `Release`.
    LoadBeforeStore(InstructionId),
    /// A store weaker than `Release` after another one.
    StoreAfterStore(InstructionId),
    /// A store that may be in the buffer at a read-modify-write, which is no fence.
    NoFence(InstructionId),
    /// A sequentially consistent store before a load.
    ExchangeBeforeLoad(InstructionId),
    /// A load weaker than `Acquire` before an access without atomics.
    LoadBeforePlain(InstructionId),
    /// An access without atomics before a store, or a read-modify-write, weaker than `Release`.
    PlainBeforeStore(InstructionId),
}

impl Monitor {
    /// Follows a step to an address, if that is known.
    pub(super) fn follow(&mut self, at: InstructionId, address: Option<Value>, step: Step) -> Result<(), Reason> {
        let is_elsewhere = |other: Option<Value>| other.is_none() || other != address;
        let open_elsewhere = self.open.filter(|(_, other)| is_elsewhere(*other)).map(|(load, _)| load);
        match step {
            Step::Nothing => {}
            Step::Fence => *self = Self::default(),
            Step::Private => self.drained()?,
            Step::Plain => {
                if let Some((load, _)) = self.open {
                    return Err(Reason::LoadBeforePlain(load));
                }
                self.plain = self.plain.or(Some(at));
            }
            Step::Load(ordering) => {
                if let Some(load) = open_elsewhere {
                    return Err(Reason::LoadBeforeLoad(load));
                }
                if let Some(store) = self.exchanged {
                    return Err(Reason::ExchangeBeforeLoad(store));
                }
                self.open = if ordering.acquires() { None } else { self.open.or(Some((at, address))) };
            }
            Step::Store(ordering) => {
                self.published(ordering)?;
                if !ordering.releases() {
                    if let Some(load) = open_elsewhere {
                        return Err(Reason::LoadBeforeStore(load));
                    }
                    if let Some((store, _)) = self.stored.filter(|(_, other)| is_elsewhere(*other)) {
                        return Err(Reason::StoreAfterStore(store));
                    }
                }
                // A later load of the address may find this store, and so be no access at all.
                if let Some((_, other)) = &mut self.open
                    && *other == address
                {
                    *other = None;
                }
                self.pending = self.pending.or(Some(at));
                self.stored = match self.stored {
                    None => Some((at, address)),
                    Some((store, other)) => Some((store, other.filter(|_| other == address))),
                };
                if ordering == Ordering::SeqCst {
                    self.exchanged = self.exchanged.or(Some(at));
                }
            }
            Step::ReadModifyWrite(ordering) => {
                if let Some(load) = open_elsewhere {
                    return Err(Reason::LoadBeforeLoad(load));
                }
                self.drained()?;
                self.published(ordering)?;
                // What it has stored a later load may find, too.
                self.open = (!ordering.acquires()).then_some((at, None));
            }
        }
        Ok(())
    }
}

impl Monitor {
    /// Nothing may be in the buffer at a locked instruction that the source has not as a fence.
    fn drained(&self) -> Result<(), Reason> {
        self.pending.map_or(Ok(()), |store| Err(Reason::NoFence(store)))
    }

    /// Accesses without atomics stay before what releases; nothing else may be seen before them.
    fn published(&mut self, ordering: Ordering) -> Result<(), Reason> {
        match self.plain {
            Some(plain) if !ordering.releases() => return Err(Reason::PlainBeforeStore(plain)),
            _ => self.plain = None,
        }
        Ok(())
    }
}

impl Step {
    /// The step that an access of the source is where its instruction only loads, and where it
    /// changes memory; on memory of the thread's own, a locked instruction is neither.
    pub(super) fn of(access: SourceAccess, does_load: bool, is_private: bool) -> Self {
        match access {
            SourceAccess::Load(Ordering::Plain) | SourceAccess::Store(Ordering::Plain) => Self::Plain,
            SourceAccess::Load(ordering) => Self::Load(ordering),
            SourceAccess::Store(ordering) => Self::Store(ordering),
            SourceAccess::ReadModifyWrite(_) if is_private => Self::Private,
            SourceAccess::ReadModifyWrite(_) if does_load => Self::Nothing,
            SourceAccess::ReadModifyWrite(ordering) => Self::ReadModifyWrite(ordering),
            SourceAccess::CompareExchange(_, failure) if does_load => Self::Load(failure),
            SourceAccess::CompareExchange(success, _) => Self::ReadModifyWrite(success),
            SourceAccess::Fence(_) => Self::Fence,
        }
    }
}
