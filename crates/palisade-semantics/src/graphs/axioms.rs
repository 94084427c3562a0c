//! The axioms: which graphs a language admits, and which of them race \[RC11\].
//!
//! C11 here is RC11 with the release sequences of C++20, in which only updates continue a sequence:
//!
//! * `rs = [W];(rf;[U])*`, and synchronises-with is `sw = ([W⊒rel] ∪
//!   [F⊒rel];po;[W⊒rlx]);rs;rf;([R⊒acq] ∪ [R⊒rlx];po;[F⊒acq])`, so that happens-before is
//!   `hb = (po ∪ sw)⁺`;
//! * *coherence*: `hb` and `hb;eco` are irreflexive, where `eco = (rf ∪ mo ∪ fr)⁺`;
//! * *atomicity*: an update directly follows the write that it reads from;
//! * *no thin air*: `po ∪ rf` has no cycle;
//! * *SC*: `psc = psc_F ∪ psc_base` has no cycle, with `psc_F = [Fsc];(hb ∪ hb;eco;hb);[Fsc]`,
//!   `psc_base = ([Esc] ∪ [Fsc];hb?);scb;([Esc] ∪ hb?;[Fsc])` and
//!   `scb = po ∪ po≠loc;hb;po≠loc ∪ hb|loc ∪ mo ∪ fr`.
//!
//! *Release/acquire* \[RA19\] is the same for a program in which every atomic access acquires and
//! releases, and whose sequentially consistent fences are updates of one address of their own
//! ([`Axioms::access`]).

use super::graph::{EventKind, Graph, GraphEvent};
use super::relation::Relation;
use palisade_model::program::{Ordering, Value};

/// Which graphs are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axioms {
    /// RC11 with the release sequences of C++20.
    C11,
    /// C11 in which sequentially consistent accesses give fewer guarantees:
    /// `scb = po ∪ mo ∪ fr ∪ [Wsc];rf;[R⊒acq]`. It admits all that RC11 and C++20 admit, which
    /// differ from each other in what orders sequentially consistent accesses.
    WeakC11,
    /// Release/acquire.
    Ra,
}

/// The address of the updates that fences are under release/acquire.
pub const FENCE_ADDRESS: Value = Value::MIN;

impl Axioms {
    /// Those that programs are asked about.
    pub const LANGUAGES: [Self; 2] = [Self::C11, Self::Ra];

    /// The word for it, as on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::C11 => "c11",
            Self::WeakC11 => "weak-c11",
            Self::Ra => "ra",
        }
    }

    /// Its name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::C11 => "C11",
            Self::WeakC11 => "weakened C11",
            Self::Ra => "release/acquire",
        }
    }

    /// What an access or a fence is to the axioms, as kind and ordering; nothing where it is no
    /// event.
    pub fn access(self, kind: EventKind, ordering: Ordering) -> Option<(EventKind, Ordering)> {
        match (self, kind) {
            (Self::C11 | Self::WeakC11, _) => Some((kind, ordering)),
            // Plain data synchronises nothing, and may race.
            (Self::Ra, _) if ordering == Ordering::Plain => Some((kind, ordering)),
            (Self::Ra, EventKind::Read) => Some((kind, Ordering::Acquire)),
            (Self::Ra, EventKind::Write) => Some((kind, Ordering::Release)),
            (Self::Ra, EventKind::Update) => Some((kind, Ordering::AcqRel)),
            (Self::Ra, EventKind::Fence) => {
                (ordering == Ordering::SeqCst).then_some((EventKind::Update, Ordering::AcqRel))
            }
        }
    }
}

/// The relations of a graph.
#[derive(Clone, Debug)]
pub struct Relations {
    /// Program order.
    pub po: Relation,
    /// Reads-from.
    pub rf: Relation,
    /// Modification order.
    pub mo: Relation,
    /// From-reads.
    pub fr: Relation,
    /// Extended coherence order.
    pub eco: Relation,
    /// Happens-before.
    pub hb: Relation,
}

impl Relations {
    /// The relations of a graph.
    pub fn of(graph: &Graph) -> Self {
        let (po, rf) = (graph.program_order(), graph.reads_from());
        let (mo, fr) = (graph.modification_order(), graph.from_reads());
        let eco = (rf.clone() | &mo | &fr).plus();
        let hb = (po.clone() | &synchronises_with(graph, &po, &rf)).plus();
        Self { po, rf, mo, fr, eco, hb }
    }
}

/// Synchronises-with.
fn synchronises_with(graph: &Graph, po: &Relation, rf: &Relation) -> Relation {
    let events = graph.events();
    let size = events.len();
    let is_atomic = |event: &GraphEvent| !event.is_fence() && event.ordering != Ordering::Plain;
    let writes = |event: usize| events[event].kind.writes();
    let reads = |event: usize| events[event].kind.reads();
    let releases = |event: usize| events[event].ordering.releases();
    let acquires = |event: usize| events[event].ordering.acquires();
    let is_fence = |event: usize| events[event].is_fence();
    // What reads from a write and is read is an update, so chains of reads-from are those of
    // release sequences.
    let read_from_sequence = rf.plus();
    let released = Relation::identity(size, |event| writes(event) && releases(event))
        | &po.between(|from| is_fence(from) && releases(from), |to| writes(to) && is_atomic(&events[to]));
    let acquired = Relation::identity(size, |event| reads(event) && acquires(event))
        | &po.between(|from| reads(from) && is_atomic(&events[from]), |to| is_fence(to) && acquires(to));
    released.then(&read_from_sequence).then(&acquired)
}

/// Whether a graph has all that its axioms ask for.
pub fn is_consistent(graph: &Graph, axioms: Axioms) -> bool {
    let relations = Relations::of(graph);
    let Relations { po, rf, eco, hb, .. } = &relations;
    graph.is_atomic()
        && hb.is_irreflexive()
        && !hb.meets_backwards(eco)
        && (po.clone() | rf).is_acyclic()
        && partial_sc(graph, &relations, axioms).is_acyclic()
}

/// The partial order of sequentially consistent events, `psc`.
pub fn partial_sc(graph: &Graph, relations: &Relations, axioms: Axioms) -> Relation {
    let Relations { po, rf, mo, fr, eco, hb } = relations;
    let events = graph.events();
    let size = events.len();
    let is_sc = |event: usize| events[event].is_seq_cst();
    let is_sc_fence = |event: usize| is_sc(event) && events[event].is_fence();
    if !(0..size).any(is_sc) {
        return Relation::empty(size);
    }
    let order = match axioms {
        Axioms::WeakC11 => {
            let is_sc_write = |event: usize| is_sc(event) && events[event].kind.writes();
            let acquires = |event: usize| events[event].ordering.acquires();
            po.clone() | mo | fr | &rf.between(is_sc_write, acquires)
        }
        Axioms::C11 | Axioms::Ra => {
            let address = |event: usize| (!events[event].is_fence()).then_some(events[event].address);
            let is_same = |from: usize, to: usize| address(from).is_some() && address(from) == address(to);
            let elsewhere = po.only(|from, to| !is_same(from, to));
            po.clone() | &elsewhere.then(hb).then(&elsewhere) | &hb.only(is_same) | mo | fr
        }
    };
    let (sc, sc_fences) = (Relation::identity(size, is_sc), Relation::identity(size, is_sc_fence));
    let starts = sc.clone() | &sc_fences.then(&hb.optional());
    let ends = sc | &hb.optional().then(&sc_fences);
    let from_fences = sc_fences.then(hb);
    let fences = (from_fences.clone() | &from_fences.then(eco).then(hb)).between(is_sc_fence, is_sc_fence);
    starts.then(&order).then(&ends) | &fences
}

/// Two accesses that race: of one address, one of them a write and one plain, and not ordered by
/// happens-before. The earlier event comes first.
pub fn race(graph: &Graph) -> Option<(usize, usize)> {
    let events = graph.events();
    let conflict = |one: &GraphEvent, other: &GraphEvent| {
        one.address == other.address
            && one.position != other.position
            && (one.kind.writes() || other.kind.writes())
            && (one.ordering == Ordering::Plain || other.ordering == Ordering::Plain)
    };
    let accesses = |event: &usize| !events[*event].is_fence() && events[*event].position.is_some();
    let pairs = (0..events.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let mut conflicts = pairs
        .filter(|(one, other)| accesses(one) && accesses(other) && conflict(&events[*one], &events[*other]))
        .peekable();
    conflicts.peek()?;
    let hb = Relations::of(graph).hb;
    conflicts.find(|(one, other)| !hb.contains(*one, *other) && !hb.contains(*other, *one))
}
