//! Orderings of atomic accesses, read in the sources of a build without optimisation.
//!
//! In such a build each access that a method of an atomic makes stands in a function of the
//! language's library. Its caller outside of the libraries is the call in the source, where the
//! constants for the orderings are read. Loads and stores in Rust that no atomic makes – of data
//! without atomics, volatile ones, those of assembly – are *plain*. What is not certain – a
//! parameter in the place of an ordering, a source that is not at hand, code that comes compiled –
//! has a reason in the place of an ordering.

mod calls;
mod stated;

pub(crate) use calls::{Calls, parsed};
pub(crate) use stated::state;

use crate::image::{Frame, Lines};
use crate::lift::{Lifted, LiftedRole, Place};
use crate::sha256;
use palisade_model::program::{Action, Operation, Ordering};
use palisade_model::text::Position;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Write};
use std::path::Path;

/// An ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOrdering {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl AtomicOrdering {
    const ALL: [(&str, Self); 5] = [
        ("Relaxed", Self::Relaxed),
        ("Acquire", Self::Acquire),
        ("Release", Self::Release),
        ("AcqRel", Self::AcqRel),
        ("SeqCst", Self::SeqCst),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, ordering)| *ordering)
    }

    /// The same by its name in programs; nothing for plain data.
    pub(crate) fn of(ordering: Ordering) -> Option<Self> {
        Some(match ordering {
            Ordering::Plain => return None,
            Ordering::Relaxed => Self::Relaxed,
            Ordering::Acquire => Self::Acquire,
            Ordering::Release => Self::Release,
            Ordering::AcqRel => Self::AcqRel,
            Ordering::SeqCst => Self::SeqCst,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, ordering)| *ordering == self).expect("all are listed").0
    }
}

/// What the source says of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Load(AtomicOrdering),
    Store(AtomicOrdering),
    ReadModifyWrite(AtomicOrdering),
    CompareExchange {
        success: AtomicOrdering,
        /// That of the load which a declined exchange is.
        failure: AtomicOrdering,
    },
    Fence(AtomicOrdering),
    /// No atomic makes it.
    PlainLoad,
    PlainStore,
}

impl Said {
    /// A load or store that no atomic makes; other instructions are those of atomics alone.
    fn plain(action: &Action) -> Result<Self, String> {
        match action {
            Action::Load { .. } => Ok(Self::PlainLoad),
            Action::Store { .. } => Ok(Self::PlainStore),
            _ => Err("it is no access by a method of an atomic".to_owned()),
        }
    }

    /// What an operation of a program is.
    fn of(operation: &Operation) -> Self {
        let atomic = |ordering: &Ordering| AtomicOrdering::of(*ordering);
        match operation {
            Operation::Load { ordering, .. } => atomic(ordering).map_or(Self::PlainLoad, Self::Load),
            Operation::Store { ordering, .. } => atomic(ordering).map_or(Self::PlainStore, Self::Store),
            Operation::Update { expected, success, failure, .. } => {
                let [success, failure] = [success, failure].map(|own| atomic(own).expect("updates are atomic"));
                match expected {
                    Some(_) => Self::CompareExchange { success, failure },
                    None => Self::ReadModifyWrite(success),
                }
            }
            Operation::Fence { ordering } => Self::Fence(atomic(ordering).expect("fences are atomic")),
        }
    }

    /// Whether another reading of the same kind of access has another ordering.
    fn contradicts(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other) && self != other
    }

    fn is_plain(self) -> bool {
        matches!(self, Self::PlainLoad | Self::PlainStore)
    }
}

/// The word of the listing.
impl Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(ordering) => write!(f, "load:{}", ordering.name()),
            Self::Store(ordering) => write!(f, "store:{}", ordering.name()),
            Self::ReadModifyWrite(ordering) => write!(f, "rmw:{}", ordering.name()),
            Self::CompareExchange { success, failure } => write!(f, "cas:{}/{}", success.name(), failure.name()),
            Self::Fence(ordering) => write!(f, "fence:{}", ordering.name()),
            Self::PlainLoad => write!(f, "load:plain"),
            Self::PlainStore => write!(f, "store:plain"),
        }
    }
}

/// The word where nothing is known.
const UNKNOWN: &str = "?";

/// The orderings of all roles.
pub(crate) struct Orderings {
    /// For each role, the words of places with accesses.
    words: Vec<BTreeMap<usize, String>>,
    /// Lines about it for the listing's heading.
    pub(crate) heading: String,
}

impl Orderings {
    /// Reads the orderings of all accesses.
    pub(crate) fn of(
        lifted: &Lifted,
        lines: &Lines<'_>,
        open: &mut dyn FnMut(&str) -> Option<(String, String)>,
    ) -> Self {
        let mut sources = Sources { open, read: BTreeMap::new() };
        let mut found: Vec<BTreeMap<usize, Found>> = Vec::new();
        for role in &lifted.roles {
            let mut of_role = BTreeMap::new();
            for (place, action) in accesses(role) {
                of_role.insert(place, Found::of(role, place, action, lines, &mut sources));
            }
            found.push(of_role);
        }
        hold_to_arms(&mut found);
        let mut heading = sources.heading();
        heading.push_str("orderings read in the sources of a build without optimisation\n");
        let is_plain = |found: &&Found| found.said.as_ref().is_ok_and(|said| said.is_plain());
        let plain: BTreeSet<&str> =
            found.iter().flat_map(BTreeMap::values).filter(is_plain).map(|found| found.place.as_str()).collect();
        if !plain.is_empty() {
            let _ = writeln!(heading, "plain data is accessed at {} places", plain.len());
        }
        let mut unknown: BTreeSet<String> = compiled(lifted, lines);
        for found in found.iter().flat_map(BTreeMap::values) {
            if let Err(reason) = &found.said {
                unknown.insert(format!("unknown {} {reason}\n", found.place));
            }
        }
        heading.extend(unknown);
        let word = |found: &Found| found.said.as_ref().map_or(UNKNOWN.to_owned(), Said::to_string);
        let words =
            found.iter().map(|role| role.iter().map(|(place, found)| (*place, word(found))).collect()).collect();
        Self { words, heading }
    }

    /// The word of a place; nothing where it accesses nothing that is shared.
    pub(crate) fn word(&self, role: usize, place: usize) -> Option<&str> {
        self.words[role].get(&place).map(String::as_str)
    }
}

/// The accesses of a role, by the numbers of their places.
fn accesses(role: &LiftedRole) -> impl Iterator<Item = (usize, &Action)> {
    let is_access =
        |action: &Action| action.address().is_some() || matches!(action, Action::Fence | Action::StoreFence);
    let all = role.thread.instructions.iter().filter(move |own| is_access(&own.action));
    all.map(|own| (own.span.start, &own.action))
}

/// What was found out about an access.
struct Found {
    /// Where it is, for people.
    place: String,
    /// Where the library makes it: the branch of a match over orderings.
    arm: Option<String>,
    said: Result<Said, String>,
}

impl Found {
    fn of(role: &LiftedRole, place: usize, action: &Action, lines: &Lines<'_>, sources: &mut Sources<'_>) -> Self {
        let (place, _) = &role.places[place];
        let here = lines.frames(place.address);
        let frames = chain(role, *place, &here, lines);
        let own = frames.iter().position(|frame| !frame.is_of_the_language());
        let Some(own) = own else {
            let shown = here.first().map_or_else(|| format!("{:#x}", place.address), shown);
            return Self { place: shown, arm: None, said: Err("its call in a source cannot be found".to_owned()) };
        };
        let caller = &frames[own];
        let is_in_library = here.last().is_some_and(Frame::is_of_the_language);
        let is_called_here = own.checked_sub(1).is_some_and(|inner| is_atomics(&frames[inner]));
        let said = match frames[..own].iter().any(is_atomics) {
            true if is_called_here && is_in_library => sources.said(caller, action),
            true if is_called_here => Err("the access stands in its caller, as in builds with optimisation".to_owned()),
            true => Err("the language's library makes it, with an ordering that is not read".to_owned()),
            false if Path::new(&caller.file).extension().is_some_and(|end| end == "rs") => Said::plain(action),
            false => Err("it is no access by a method of an atomic, and its source is not Rust".to_owned()),
        };
        let arm = here.first().filter(|frame| frame.line > 0 && is_atomics(frame)).map(shown);
        Self { place: shown(caller), arm, said }
    }
}

/// Whether a function stands in the library's source of atomics.
fn is_atomics(frame: &Frame) -> bool {
    frame.file.ends_with("/core/src/sync/atomic.rs")
}

/// All functions that an instruction belongs to, the innermost first.
fn chain(role: &LiftedRole, place: Place, here: &[Frame], lines: &Lines<'_>) -> Vec<Frame> {
    let mut frames = here.to_vec();
    for context in role.contexts.chain(place.context).filter(|context| context.parent.is_some()) {
        frames.extend(lines.frames(context.call));
    }
    frames
}

fn shown(frame: &Frame) -> String {
    format!("{}:{}:{}", frame.file_name(), frame.line, frame.column)
}

/// The library has one instruction for each ordering of each method: two orderings that were read
/// for the same one contradict each other.
fn hold_to_arms(found: &mut [BTreeMap<usize, Found>]) {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for found in found.iter().flat_map(BTreeMap::values) {
        if let (Some(arm), Ok(said)) = (&found.arm, &found.said) {
            known.entry(arm.clone()).or_default().insert(said.to_string());
        }
    }
    for found in found.iter_mut().flat_map(BTreeMap::values_mut) {
        if found.arm.as_ref().and_then(|arm| known.get(arm)).is_some_and(|words| words.len() > 1) {
            found.said =
                Err("the source and the library's instruction for an ordering contradict each other".to_owned());
        }
    }
}

/// Lines about code of the roles that comes compiled, and so with optimisation.
fn compiled(lifted: &Lifted, lines: &Lines<'_>) -> BTreeSet<String> {
    let (mut reasons, mut known) = (BTreeSet::new(), BTreeMap::new());
    for role in &lifted.roles {
        for (place, _) in &role.places {
            let is_own = *known.entry(place.address).or_insert_with(|| lines.is_of_this_build(place.address));
            if !is_own {
                let here = lines.frames(place.address);
                let frames = chain(role, *place, &here, lines);
                let own = frames.iter().find(|frame| !frame.is_of_the_language()).or(frames.first());
                let shown = own.map_or_else(|| format!("{:#x}", place.address), shown);
                reasons.insert(format!("unknown {shown} it calls code that comes compiled with optimisation\n"));
            }
        }
    }
    reasons
}

/// The digest of a source that was opened, and its calls or why they cannot be read.
type Opened = (String, Result<Calls, String>);

/// The sources that were opened.
struct Sources<'o> {
    open: &'o mut dyn FnMut(&str) -> Option<(String, String)>,
    /// By path; nothing where the source is not at hand.
    read: BTreeMap<String, Option<Opened>>,
}

impl Sources<'_> {
    fn said(&mut self, caller: &Frame, action: &Action) -> Result<Said, String> {
        let open = &mut self.open;
        let read = self.read.entry(caller.file.clone()).or_insert_with(|| {
            let (_, text) = open(&caller.file)?;
            Some((sha256(text.as_bytes()), Calls::read(&text)))
        });
        let Some((_, calls)) = read else { return Err("its source is not at hand".to_owned()) };
        let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let place = Position { line: number(caller.line), column: number(caller.column) };
        calls.as_ref().map_err(String::clone)?.said(place, action)
    }

    fn heading(&self) -> String {
        let mut heading = String::new();
        for (path, read) in &self.read {
            if let Some((digest, _)) = read {
                let _ = writeln!(heading, "read {path} (SHA-256 {digest})");
            }
        }
        heading
    }
}
