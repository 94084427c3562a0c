//! Listings of machine code as data: what was read, and what stands at each instruction.
//!
//! The reader of machine code writes a listing for people, and says there what it has read: files
//! with their digests, builds, what was narrowed or accepted; and for each instruction its address,
//! what the source does there where that was read, and its place in the sources. This is the one
//! reader of these lines. What follows from them everyone judges for himself.

use super::{Instruction, Ordering, Program, Thread};
use crate::text::{SourceText, Span};

/// A file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadFile<'a> {
    /// `roles`, `image`, `snapshot` or `read`.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its digest, in hexadecimal digits.
    pub sha256: &'a str,
}

/// Blocks of one size that roles take from the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapBlocks {
    /// The bytes that such a block has room for.
    pub bytes: u64,
    /// How many new ones each copy may take, where it could take more.
    pub most: Option<u64>,
}

impl HeapBlocks {
    /// Reads `16`, or `16 most 2`.
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let bytes = words.next()?.parse().ok()?;
        match (words.next(), words.next()) {
            (None, _) => Some(Self { bytes, most: None }),
            (Some("most"), Some(most)) => Some(Self { bytes, most: Some(most.parse().ok()?) }),
            _ => None,
        }
    }
}

/// What a listing says of the whole program, in front of the first role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading<'a> {
    /// The files that were read.
    pub files: Vec<ReadFile<'a>>,
    /// The compilers, with their options.
    pub builds: Vec<&'a str>,
    /// Cells that are computed in fewer bits, with these.
    pub narrowed: Vec<(Vec<&'a str>, u8)>,
    /// The places of loads that may find any value that their cells may hold.
    pub hints: Vec<&'a str>,
    /// The places that ask how many sleepers were woken, where any number may come out.
    pub guesses: Vec<&'a str>,
    /// The places of accesses that the processor makes at once, taken as several in any order, as
    /// other code stores to less.
    pub parts: Vec<&'a str>,
    /// The places of accesses of 16 bytes, or across two words of 8, taken as several in any order.
    pub halves: Vec<&'a str>,
    /// The sizes of blocks that roles take from the heap.
    pub heap: Vec<HeapBlocks>,
    /// Whether copies may access what lies on the stacks of others.
    pub shares_stacks: bool,
    /// Whether copies may ask what time it is: the clock stands still.
    pub clock_is_still: bool,
    /// Whether copies lock, wait or wake by functions of POSIX, of which each is one step.
    pub has_posix_locks: bool,
    /// Parameters of roles' functions that the roles do not give, which are 0: `arg of worker`.
    pub unset: Vec<&'a str>,
    /// The delays that are accepted: the place of the store, and that of the load.
    pub accepted: Vec<(&'a str, &'a str)>,
    /// Whether orderings were read in the sources of a build without optimisation.
    pub is_in_source_order: bool,
    /// Whether the program has the orderings of its sources, which were read in such a build.
    pub is_by_language: bool,
    /// Of such a program: the places of accesses that count as relaxed, as their orderings are not
    /// known, and why.
    pub relaxed: Vec<(&'a str, &'a str)>,
    /// Whether some data is accessed without atomics.
    pub has_plain_data: bool,
    /// The first place of an access of which no ordering was read, and why.
    pub unknown: Option<(&'a str, &'a str)>,
}

impl<'a> Heading<'a> {
    /// The heading of a listing; nothing for other texts.
    pub fn of(source: &'a SourceText) -> Option<Self> {
        if !source.is_listing {
            return None;
        }
        let mut heading = Self::default();
        for line in source.text.lines().take_while(|line| !line.is_empty()) {
            let Some((kind, rest)) = line.split_once(' ') else { continue };
            match kind {
                "build" => heading.builds.push(rest),
                "narrow" => heading.narrowed.extend(narrowed(rest)),
                "hint" => heading.hints.push(rest),
                "guess" => heading.guesses.push(rest),
                "parts" => heading.parts.push(rest),
                "halves" => heading.halves.push(rest),
                "heap" => heading.heap.extend(HeapBlocks::read(rest)),
                "stacks" => heading.shares_stacks = true,
                "clock" => heading.clock_is_still = true,
                "posix" => heading.has_posix_locks = true,
                "unset" => heading.unset.push(rest),
                "accept" => heading.accepted.extend(rest.split_once(" past ")),
                "orderings" => heading.is_in_source_order = true,
                "language" => heading.is_by_language = true,
                "relaxed" => heading.relaxed.extend(rest.split_once(' ')),
                "plain" => heading.has_plain_data |= rest.starts_with("data "),
                "unknown" => heading.unknown = heading.unknown.or_else(|| rest.split_once(' ')),
                _ => heading.files.extend(file(kind, rest)),
            }
        }
        Some(heading)
    }
}

impl Program {
    /// Whether a role of a listing begins again where it has returned.
    pub fn role_repeats(&self, role: &Thread) -> bool {
        let rest = self.source.text.get(role.span.start..).unwrap_or_default();
        rest.lines().next().is_some_and(|line| line.contains(", each again and again"))
    }
}

fn file<'a>(kind: &'a str, rest: &'a str) -> Option<ReadFile<'a>> {
    let (name, digest) = rest.rsplit_once(" (SHA-256 ")?;
    Some(ReadFile { kind, name, sha256: digest.strip_suffix(')')? })
}

fn narrowed(rest: &str) -> Option<(Vec<&str>, u8)> {
    let (names, bits) = rest.rsplit_once(" to ")?;
    Some((names.split(", ").collect(), bits.parse().ok()?))
}

/// What the source does at an instruction, as the listing has it in front of the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceAccess {
    /// A load.
    Load(Ordering),
    /// A store.
    Store(Ordering),
    /// A read-modify-write.
    ReadModifyWrite(Ordering),
    /// A compare-and-exchange, with its orderings when it succeeds and when it fails.
    CompareExchange(Ordering, Ordering),
    /// A fence.
    Fence(Ordering),
}

impl SourceAccess {
    /// Reads a word such as `load:Acquire`, `store:plain` or `cas:AcqRel/Relaxed`. Plain are loads
    /// and stores alone.
    pub fn read(word: &str) -> Option<Self> {
        let (kind, orderings) = word.split_once(':')?;
        if let ("cas", Some((success, failure))) = (kind, orderings.split_once('/')) {
            return Some(Self::CompareExchange(atomic(success)?, atomic(failure)?));
        }
        Some(match (kind, orderings) {
            ("load", "plain") => Self::Load(Ordering::Plain),
            ("store", "plain") => Self::Store(Ordering::Plain),
            ("load", ordering) => Self::Load(atomic(ordering)?),
            ("store", ordering) => Self::Store(atomic(ordering)?),
            ("rmw", ordering) => Self::ReadModifyWrite(atomic(ordering)?),
            ("fence", ordering) => Self::Fence(atomic(ordering)?),
            _ => return None,
        })
    }

    /// Its orderings.
    pub fn orderings(self) -> impl Iterator<Item = Ordering> {
        let (first, second) = match self {
            Self::Load(own) | Self::Store(own) | Self::ReadModifyWrite(own) | Self::Fence(own) => (own, None),
            Self::CompareExchange(success, failure) => (success, Some(failure)),
        };
        std::iter::once(first).chain(second)
    }

    /// Whether no atomic makes it.
    pub fn is_plain(self) -> bool {
        self.orderings().next() == Some(Ordering::Plain)
    }
}

/// The ordering of an atomic access, by its name in Rust.
fn atomic(name: &str) -> Option<Ordering> {
    Some(match name {
        "Relaxed" => Ordering::Relaxed,
        "Acquire" => Ordering::Acquire,
        "Release" => Ordering::Release,
        "AcqRel" => Ordering::AcqRel,
        "SeqCst" => Ordering::SeqCst,
        _ => return None,
    })
}

/// What is wrong with memory where a role fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFault {
    /// A block is accessed that was freed.
    UseAfterFree,
    /// A block is freed that was freed before.
    DoubleFree,
    /// What nothing has been written to is computed with.
    Uninitialised,
    /// What is freed is no beginning of a block.
    NoBlock,
    /// A block is freed as one of another size.
    OtherSize,
}

impl MemoryFault {
    /// All of them.
    const ALL: [Self; 5] = [Self::UseAfterFree, Self::DoubleFree, Self::Uninitialised, Self::NoBlock, Self::OtherSize];

    /// What people call it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::UseAfterFree => "use after free",
            Self::DoubleFree => "double free",
            Self::Uninitialised => "read of uninitialised memory",
            Self::NoBlock => "free of no block",
            Self::OtherSize => "free with another size",
        }
    }

    /// How a line of a listing begins behind its address.
    pub fn listed(self) -> String {
        format!("! {}", self.words())
    }

    /// Reads such a line.
    fn read(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once("  ! ")?;
        Self::ALL.into_iter().find(|fault| rest.starts_with(fault.words()))
    }
}

/// What a listing has at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// What the source does there, where that was read.
    pub access: Option<SourceAccess>,
    /// Whether its ordering is not known, and counts as relaxed.
    pub is_assumed: bool,
    /// The place in the sources.
    pub place: &'a str,
    /// What is wrong with memory where the role fails here.
    pub fault: Option<MemoryFault>,
}

impl<'a> Listed<'a> {
    /// What stands under a span; nothing where that is no line of an instruction.
    fn at(source: &'a SourceText, span: Span) -> Option<Self> {
        let line = source.slice(span);
        u64::from_str_radix(line.split_whitespace().next()?, 16).ok()?;
        let mut words = line.split_whitespace().rev();
        let place = words.next()?;
        let word = words.next().unwrap_or_default();
        let known = word.strip_suffix('?').filter(|known| !known.is_empty());
        let is_assumed = known.and_then(SourceAccess::read).is_some();
        Some(Self { access: SourceAccess::read(word), is_assumed, place, fault: MemoryFault::read(line) })
    }
}

impl Program {
    /// What the listing has at an instruction; nothing for programs that are no listings.
    pub fn listed(&self, instruction: &Instruction) -> Option<Listed<'_>> {
        if self.source.is_listing { Listed::at(&self.source, instruction.span) } else { None }
    }

    /// Whether the ordering of an access is not known, and counts as relaxed.
    pub fn is_assumed(&self, instruction: &Instruction) -> bool {
        self.listed(instruction).is_some_and(|listed| listed.is_assumed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_once() {
        let text = "roles a b.toml (SHA-256 12)\nimage ring (SHA-256 34)\nbuild GNU C17 -O2\nnarrow head, tail to 2\n\
                    accept a.rs:1:2 past a.rs:3:4\nparts a.rs:5:6\nhalves a.rs:7:8\norderings read in the sources of a build without optimisation\n\
                    plain data is accessed at 2 places\nunknown a.rs:7:1 no call was found\n\nrole worker: copies: 1, each once\n\
                    401a0c  mov eax, [rdi]    load:Acquire  a.rs:3:4\n401a10  mov [rdi], eax    a.rs:5:1\n";
        let source = SourceText::listing("a b.toml", text, []);
        let heading = Heading::of(&source).expect("it is a listing");
        assert_eq!(heading.files[0], ReadFile { kind: "roles", name: "a b.toml", sha256: "12" });
        assert_eq!(heading.narrowed, [(vec!["head", "tail"], 2)]);
        assert_eq!((heading.parts, heading.halves), (vec!["a.rs:5:6"], vec!["a.rs:7:8"]));
        assert_eq!(heading.accepted, [("a.rs:1:2", "a.rs:3:4")]);
        assert!(heading.is_in_source_order && heading.has_plain_data);
        assert_eq!(heading.unknown, Some(("a.rs:7:1", "no call was found")));
        let at = |word: &str, end: &str| {
            let start = text.find(word).expect("it is there");
            Listed::at(&source, Span { start, end: start + text[start..].find(end).expect("it ends") })
        };
        let access = Some(SourceAccess::Load(Ordering::Acquire));
        assert_eq!(at("401a0c", "\n"), Some(Listed { access, is_assumed: false, place: "a.rs:3:4", fault: None }));
        assert_eq!(
            at("401a10", "\n"),
            Some(Listed { access: None, is_assumed: false, place: "a.rs:5:1", fault: None })
        );
        assert_eq!(at("role", "\n"), None);
        assert_eq!(SourceAccess::read("rmw:plain"), None);
        assert_eq!(Heading::of(&SourceText::new("a.pal", text)), None);
    }
}
