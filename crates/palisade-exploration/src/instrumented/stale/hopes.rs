//! Configurations from which no attack can succeed any more, as all threads will know before they
//! could take the last step.
//!
//! Who knows cannot take it, and never ceases to know. An address is *kept* if each write of it
//! releases or is an update. Its message goes on to know once it does, unless a thread that does
//! not know yet overwrites it. So let K be a set of kept addresses whose messages know, and let no
//! thread that does not know come to a plain write of one of them by its control flow without an
//! acquiring access of K, or an access of the attacked address, in between. Then the messages of K
//! know for good, and whoever acquires from them knows. If no thread that does not know comes to an
//! access that could be the last step in this way either, none will be. Control flow is followed
//! without values.

use super::modes::Modes;
use super::views::Access;
use palisade_evidence::StaleGoal;
use palisade_model::program::{Action, Instruction, InstructionId, LabelId, Ordering, Program, ThreadId, Value};
use palisade_semantics::graphs::FENCE_ADDRESS;
use rustc_hash::FxHashMap;

/// No more addresses than these are looked at, one bit for each.
const MOST_KEPT: usize = 32;

/// A set of kept addresses.
type KeptSet = u32;

/// What an instruction is to an attack.
#[derive(Clone, Debug)]
enum Event {
    /// Nothing.
    Local,
    /// A fence.
    Fence,
    /// One of these accesses, of an address that a constant names, or of some address.
    Access(Option<Value>, Vec<Access>),
}

/// An edge of a thread's control flow.
#[derive(Clone, Debug)]
struct Edge {
    source: LabelId,
    target: LabelId,
    event: Event,
}

/// What is sought, as far as control flow tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Aim {
    address: Value,
    goal: StaleGoal,
}

/// What a thread that does not know may come to before it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outlook {
    /// An access that may be the last step.
    succeeds: bool,
    /// The addresses that it may overwrite.
    overwrites: KeptSet,
}

impl Outlook {
    fn add(&mut self, other: Self) {
        self.succeeds |= other.succeeds;
        self.overwrites |= other.overwrites;
    }
}

/// The outlooks of threads by label: of those to which no path leads yet, and of others.
type Outlooks = Vec<Vec<[Outlook; 2]>>;

/// What control flow tells of attacks.
#[derive(Clone, Debug)]
pub(super) struct Hopes {
    edges: Vec<Vec<Edge>>,
    labels: Vec<usize>,
    /// The kept addresses.
    kept: Vec<Value>,
    /// What was asked, by number, with its answer.
    known: Vec<(Aim, KeptSet, Outlooks)>,
    numbers: FxHashMap<(Aim, KeptSet), u32>,
    /// What is asked first of each attack.
    of_attack: FxHashMap<u32, u32>,
}

/// A thread that does not know: where it stands, and whether a path leads to it.
pub(super) type Unknowing = (ThreadId, LabelId, bool);

impl Hopes {
    pub(super) fn of(program: &Program, modes: &Modes) -> Self {
        let edges: Vec<Vec<Edge>> = program
            .thread_ids()
            .map(|(id, thread)| {
                let edge = |(number, own): (InstructionId, &Instruction)| {
                    let mode = modes.mode(id, number);
                    let address = match &own.action {
                        Action::Fence => Some(FENCE_ADDRESS),
                        action => {
                            action.address().filter(|it| it.is_constant()).and_then(|it| it.evaluate_address(&[]).ok())
                        }
                    };
                    // What an update without a condition would be that does not store is no event.
                    let always = matches!(own.action, Action::Rmw { .. });
                    let kinds = [true, false].into_iter().filter(|stores| *stores || !always);
                    let accesses: Vec<Access> = kinds.filter_map(|stores| mode.access(stores)).collect();
                    let event = match &own.action {
                        _ if !accesses.is_empty() => Event::Access(address, accesses),
                        Action::Fence => Event::Fence,
                        _ => Event::Local,
                    };
                    Edge { source: own.source, target: own.target, event }
                };
                if thread.is_left_out() { Vec::new() } else { thread.instruction_ids().map(edge).collect() }
            })
            .collect();
        let labels = program.threads.iter().map(|thread| thread.labels.len()).collect();
        let kept = kept(&edges);
        let (numbers, of_attack) = (FxHashMap::default(), FxHashMap::default());
        Self { edges, labels, kept, known: Vec::new(), numbers, of_attack }
    }

    /// Whether an attack with this number cannot succeed where these threads do not know, and all
    /// others do. `attack` gives its address and goal, and says which addresses have messages that
    /// know.
    pub(super) fn is_hopeless<K: Fn(&Value) -> bool>(
        &mut self,
        number: u32,
        attack: impl FnOnce() -> (Value, StaleGoal, K),
        unknowing: &[Unknowing],
    ) -> bool {
        let mut asked = match self.of_attack.get(&number) {
            Some(asked) => *asked,
            None => {
                let (address, goal, knows) = attack();
                let bits = self.kept.iter().enumerate().filter(|(_, address)| knows(address));
                let set = bits.fold(0, |set, (bit, _)| set | 1 << bit);
                let goal = match goal {
                    StaleGoal::Stale { is_update, .. } => StaleGoal::Stale { old: None, is_update },
                    race @ StaleGoal::Race { .. } => race,
                };
                let asked = self.number(Aim { address, goal }, set);
                self.of_attack.insert(number, asked);
                asked
            }
        };
        loop {
            let (aim, set, outlooks) = &self.known[asked as usize];
            let mut all = Outlook::default();
            for (thread, label, joined) in unknowing {
                all.add(outlooks[thread.index()][label.index()][usize::from(*joined)]);
            }
            let (aim, left) = (*aim, *set & !all.overwrites);
            if left == *set {
                return !all.succeeds;
            }
            asked = self.number(aim, left);
        }
    }

    fn number(&mut self, aim: Aim, set: KeptSet) -> u32 {
        if let Some(number) = self.numbers.get(&(aim, set)) {
            return *number;
        }
        let number = u32::try_from(self.known.len()).expect("few addresses are attacked");
        let outlooks = self.outlooks(aim, set);
        self.known.push((aim, set, outlooks));
        self.numbers.insert((aim, set), number);
        number
    }

    fn outlooks(&self, aim: Aim, set: KeptSet) -> Outlooks {
        let outlooks = self.edges.iter().zip(&self.labels).map(|(edges, labels)| {
            let mut own = vec![[Outlook::default(); 2]; *labels];
            let mut has_changed = true;
            while std::mem::take(&mut has_changed) {
                for edge in edges.iter().rev() {
                    for joined in [false, true] {
                        let found = self.before(edge, joined, (aim, set), &own[edge.target.index()]);
                        let known = &mut own[edge.source.index()][usize::from(joined)];
                        let before = *known;
                        known.add(found);
                        has_changed |= *known != before;
                    }
                }
            }
            own
        });
        outlooks.collect()
    }

    /// What a thread that does not know comes to by an edge, and behind it.
    fn before(&self, edge: &Edge, joined: bool, (aim, set): (Aim, KeptSet), behind: &[Outlook; 2]) -> Outlook {
        let (address, accesses) = match &edge.event {
            Event::Local => return behind[usize::from(joined)],
            // Threads to which no path leads take no fences.
            Event::Fence if !joined => return Outlook::default(),
            Event::Fence => return behind[1],
            Event::Access(address, accesses) => (*address, accesses),
        };
        let bit = address.map_or(KeptSet::MAX, |address| self.bit(address));
        let is_aimed_at = address.is_none_or(|address| address == aim.address);
        let mut outlook = Outlook::default();
        for access in accesses {
            if access.writes && !access.reads {
                outlook.overwrites |= bit;
            }
            let knows = address.is_some() && access.acquires() && set & bit != 0;
            match aim.goal {
                // The last event reads what was overwritten, and learns nothing from the message.
                StaleGoal::Stale { is_update, .. } => {
                    let may_be_last = access.ordering != Ordering::Plain && !(access.writes && is_update);
                    outlook.succeeds |= is_aimed_at && joined && may_be_last;
                    if knows || address == Some(aim.address) {
                        continue;
                    }
                }
                StaleGoal::Race { .. } if knows => continue,
                StaleGoal::Race { writes, is_plain } => {
                    let is_either_plain = is_plain || access.ordering == Ordering::Plain;
                    outlook.succeeds |= is_aimed_at && (writes || access.writes) && is_either_plain;
                }
            }
            outlook.add(behind[1]);
        }
        outlook
    }

    fn bit(&self, address: Value) -> KeptSet {
        self.kept.iter().position(|kept| *kept == address).map_or(0, |bit| 1 << bit)
    }
}

/// The addresses that are kept.
fn kept(edges: &[Vec<Edge>]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    let mut lost: Vec<Option<Value>> = Vec::new();
    for edge in edges.iter().flatten() {
        let Event::Access(address, accesses) = &edge.event else { continue };
        all.extend(address);
        if accesses.iter().any(|access| access.writes && !access.reads && !access.ordering.releases()) {
            lost.push(*address);
        }
    }
    // Computed addresses may be any, but for that of fences.
    let is_kept =
        |address: &Value| !lost.contains(&Some(*address)) && (*address == FENCE_ADDRESS || !lost.contains(&None));
    all.sort_unstable();
    all.dedup();
    all.retain(is_kept);
    all.truncate(MOST_KEPT);
    all
}
