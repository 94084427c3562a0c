//! What the instructions of a program are to the axioms, and which of what could be known of an
//! attack can matter.

use super::views::{Access, Facts, Location, View};
use palisade_evidence::Forgotten;
use palisade_model::program::{
    Copies, Instruction, InstructionId, LabelId, Operation, Ordering, Program, Thread, ThreadId, Value,
};
use palisade_semantics::graphs::{self, Axioms, EventKind};
use rustc_hash::FxHashMap;

/// What an instruction is to the axioms: nothing, where it is no event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mode {
    /// When it writes.
    pub(super) storing: Option<(EventKind, Ordering)>,
    /// When it does not.
    pub(super) loading: Option<(EventKind, Ordering)>,
    /// Whether what it does depends on the value that it reads, beyond registers and the value it
    /// writes: it waits, or compares.
    pub(super) compares: bool,
}

impl Mode {
    /// The access that it makes; nothing for a fence.
    pub(super) fn access(self, stores: bool) -> Option<Access> {
        let (kind, ordering) = if stores { self.storing } else { self.loading }?;
        (kind != EventKind::Fence).then(|| Access { reads: kind.reads(), writes: kind.writes(), ordering })
    }

    fn all(self) -> impl Iterator<Item = (EventKind, Ordering)> {
        [self.storing, self.loading].into_iter().flatten()
    }
}

/// What some part of a program may still do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Future {
    /// It accesses memory.
    accesses: bool,
    /// It passes an acquire fence.
    acquires: bool,
    /// It makes an atomic write that does not release.
    publishes: bool,
}

/// What is done to an address in the whole program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// How many copies may access it, 2 for more.
    copies: u8,
    /// Whether some atomic access may be the last event: it reads, or writes.
    pub(super) has_atomics: bool,
    /// Whether some access of it is plain.
    pub(super) has_plain: bool,
    /// Whether an access waits or compares.
    pub(super) compares: bool,
    /// Whether some access is an update.
    updates: bool,
    /// Whether some access writes.
    pub(super) writes: bool,
    /// Whether somebody may learn from what is written to it.
    learns: bool,
}

impl Use {
    /// Whether w' may be taken to be the last write of the address: nobody waits, compares or
    /// updates. Then each stale event could as well read what the last write has overwritten, or
    /// come right before that one, in the graph of what leads to it.
    pub(super) fn ends_with_the_guess(self) -> bool {
        !self.compares && !self.updates
    }

    /// Whether several copies access it.
    pub(super) fn is_shared(self) -> bool {
        self.copies > 1
    }

    fn add(&mut self, other: Self) {
        self.copies = self.copies.saturating_add(other.copies).min(2);
        self.has_atomics |= other.has_atomics;
        self.has_plain |= other.has_plain;
        self.compares |= other.compares;
        self.updates |= other.updates;
        self.writes |= other.writes;
        self.learns |= other.learns;
    }

    /// The same, by so many copies.
    fn by(self, copies: Copies) -> Self {
        let count = match copies {
            Copies::Exactly(count) => u8::try_from(count.min(2)).expect("at most 2"),
            Copies::Any => 2,
        };
        Self { copies: self.copies.min(1) * count, ..self }
    }
}

/// The instructions of a program [by its language](graphs::by_language) as the axioms see them.
#[derive(Clone, Debug)]
pub(super) struct Modes {
    pub(super) axioms: Axioms,
    /// By thread and instruction.
    modes: Vec<Vec<Mode>>,
    /// By thread and label.
    futures: Vec<Vec<Future>>,
    /// By address, where constants name it.
    uses: FxHashMap<Value, Use>,
    /// What accesses with computed addresses do, which may be to any address.
    anywhere: Use,
    /// The facts that are kept.
    pub(super) tracked: Facts,
}

impl Modes {
    pub(super) fn of(program: &Program, axioms: Axioms) -> Self {
        let mode = |instruction: &Instruction| {
            let operation = instruction.operation();
            let storing = graphs::access(axioms, instruction, true);
            let loading = graphs::access(axioms, instruction, false);
            let compares = match operation {
                Some(Operation::Load { until, .. }) => until.is_some(),
                Some(Operation::Update { expected, until, .. }) => expected.is_some() || until.is_some(),
                _ => false,
            };
            Mode { storing, loading, compares }
        };
        let modes: Vec<Vec<Mode>> =
            program.threads.iter().map(|thread| thread.instructions.iter().map(mode).collect()).collect();
        let futures: Vec<Vec<Future>> =
            program.threads.iter().zip(&modes).map(|(thread, modes)| futures(thread, modes)).collect();
        let is_seq_cst = |is_fence: bool| {
            let left_out = program.threads.iter().map(Thread::is_left_out);
            modes.iter().zip(left_out).filter(|(_, is_left_out)| !is_left_out).flat_map(|(own, _)| own).any(|mode| {
                let mut all = mode.all();
                all.any(|(kind, ordering)| ordering == Ordering::SeqCst && (kind == EventKind::Fence) == is_fence)
            })
        };
        let mut tracked = Facts::KNOWS;
        if is_seq_cst(false) {
            tracked = Facts(u8::MAX);
        } else if is_seq_cst(true) {
            tracked = tracked.and(Facts::REACHES[1]).and(Facts::FENCED[1]);
        }
        let mut all = Self { axioms, modes, futures, uses: FxHashMap::default(), anywhere: Use::default(), tracked };
        all.note_uses(program);
        all
    }

    fn note_uses(&mut self, program: &Program) {
        for (id, thread) in program.thread_ids().filter(|(_, thread)| !thread.is_left_out()) {
            let mut own: FxHashMap<Option<Value>, Use> = FxHashMap::default();
            for (number, instruction) in thread.instruction_ids() {
                let Some(address) = instruction.action.address() else { continue };
                let address = if address.is_constant() { address.evaluate_address(&[]).ok() } else { None };
                let mode = self.mode(id, number);
                let later = self.futures[id.index()][instruction.target.index()];
                let is_plain = |(_, ordering): (EventKind, Ordering)| ordering == Ordering::Plain;
                let learns = |(kind, ordering): (EventKind, Ordering)| {
                    kind.reads() && ordering != Ordering::Plain && (ordering.acquires() || later.acquires)
                };
                let writes = mode.all().any(|(kind, _)| kind.writes());
                own.entry(address).or_default().add(Use {
                    copies: 1,
                    has_atomics: !mode.all().all(is_plain),
                    has_plain: mode.all().any(is_plain),
                    compares: mode.compares,
                    updates: mode.all().any(|(kind, _)| kind == EventKind::Update),
                    writes,
                    learns: mode.all().any(learns),
                });
            }
            #[expect(clippy::iter_over_hash_type, reason = "each address is noted by itself")]
            for (address, used) in own {
                let used = used.by(thread.copies);
                address.map_or(&mut self.anywhere, |address| self.uses.entry(address).or_default()).add(used);
            }
        }
    }

    pub(super) fn mode(&self, thread: ThreadId, instruction: InstructionId) -> Mode {
        self.modes[thread.index()][instruction.index()]
    }

    /// What is done to an address.
    pub(super) fn used(&self, address: Value) -> Use {
        let mut used = self.uses.get(&address).copied().unwrap_or_default();
        used.add(self.anywhere);
        used
    }

    /// Forgets what cannot matter of what a thread at a label knows.
    pub(super) fn trim_view(&self, thread: ThreadId, label: LabelId, view: &mut View) {
        let future = self.futures[thread.index()].get(label.index()).copied().unwrap_or_default();
        if !future.acquires {
            view.acquirable = view.current;
        }
        if !future.publishes {
            view.released = Facts::NONE;
        }
        if !future.accesses {
            *view = View { joined: view.joined, ..View::default() };
        }
    }

    /// Forgets what cannot matter of what is known at an address.
    pub(super) fn trim_location(&self, address: Value, location: &mut Location) {
        // An address that no constant names is left alone, so that those which are not can be
        // listed.
        if self.uses.contains_key(&address) && !self.used(address).learns {
            location.message = Facts::NONE;
        }
    }
}

impl Modes {
    /// Where [`trim_view`](Self::trim_view) forgets something, for the checker.
    pub(super) fn forgotten(&self) -> Vec<Forgotten> {
        let all = self.futures.iter().enumerate().flat_map(|(thread, futures)| {
            futures.iter().enumerate().map(move |(label, future)| Forgotten {
                thread: ThreadId::from_index(thread),
                label: LabelId::from_index(label),
                acquirable: !future.acquires,
                released: !future.publishes,
                everything: !future.accesses,
            })
        });
        all.filter(|it| it.acquirable || it.released || it.everything).collect()
    }

    /// The addresses of which nobody learns what is written there, among those that constants name,
    /// ascending.
    pub(super) fn unheard(&self) -> Vec<Value> {
        let mut addresses: Vec<Value> =
            self.uses.keys().copied().filter(|address| !self.used(*address).learns).collect();
        addresses.sort_unstable();
        addresses
    }
}

/// What a thread may do from each label on.
fn futures(thread: &Thread, modes: &[Mode]) -> Vec<Future> {
    let mut futures = vec![Future::default(); thread.labels.len()];
    let to_label = thread.instructions_by_target();
    let mut open: Vec<InstructionId> = thread.instruction_ids().map(|(id, _)| id).collect();
    while let Some(id) = open.pop() {
        let instruction = thread.instruction(id);
        let mut future = futures[instruction.target.index()];
        for (kind, ordering) in modes[id.index()].all() {
            if kind == EventKind::Fence {
                future.acquires |= ordering.acquires();
            } else {
                future.accesses = true;
                future.publishes |= kind.writes() && ordering != Ordering::Plain && !ordering.releases();
            }
        }
        let known = &mut futures[instruction.source.index()];
        let joined = Future {
            accesses: known.accesses || future.accesses,
            acquires: known.acquires || future.acquires,
            publishes: known.publishes || future.publishes,
        };
        if *known != joined {
            *known = joined;
            open.extend(&to_label[instruction.source.index()]);
        }
    }
    futures
}
