//! What documents say a verdict on machine code is about.

use crate::claim::{Claim, Compilations};
use palisade_model::program::{HeapBlocks, Program};
use serde::Serialize;

/// What a verdict on machine code is about. Another build is another question.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClaimDocument<'a> {
    /// The claim: `for this machine code`.
    pub statement: &'static str,
    /// Whether the verdict holds of every compilation of the sources; missing where that was not
    /// asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<CompilationsDocument<'a>>,
    /// The files that were read.
    pub files: Vec<ReadFileDocument<'a>>,
    /// The compilers that made the code with their options, as its debug information has them.
    pub builds: Vec<&'a str>,
    /// The counters that are computed in fewer bits than the code has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<NarrowedDocument<'a>>,
    /// Loads that may find any value that their cells may hold: what the code does, it does in some
    /// interleaving in which they do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<&'a str>,
    /// Accesses of 16 bytes, or across two words of 8, that are taken as several, in any order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub halves: Vec<&'a str>,
    /// The blocks that roles take from the heap, by their sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heap: Vec<HeapBlocksDocument>,
    /// Whether copies may access what lies on the stacks of others; missing where they may not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shares_stacks: bool,
    /// Whether copies may ask what time it is, of a clock that stands still; missing where they do
    /// not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_is_still: bool,
    /// Whether copies lock, wait or wake by functions of POSIX, each of which is one step here;
    /// missing where they do not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_posix_locks: bool,
    /// Parameters of roles' functions that the roles do not give, which are 0: `arg of worker`;
    /// missing where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<&'a str>,
    /// The delays that are accepted: an execution that no interleaving explains has one of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedDocument<'a>>,
}

/// Blocks of one size that roles take from the heap.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HeapBlocksDocument {
    /// The bytes that such a block has room for.
    pub bytes: u64,
    /// How many new ones each copy takes at most; missing where it could not take more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
}

/// Whether a verdict holds of every compilation of the sources.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CompilationsDocument<'a> {
    /// Whether it does; null where that is not known.
    pub every_compilation: Option<bool>,
    /// The place in the sources that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<&'a str>,
    /// What it is that is in the way, or why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

impl<'a> From<&'a Compilations> for CompilationsDocument<'a> {
    fn from(compilations: &'a Compilations) -> Self {
        match compilations {
            Compilations::Every => Self { every_compilation: Some(true), place: None, reason: None },
            Compilations::NotEvery { place, reason } => {
                Self { every_compilation: Some(false), place: place.as_deref(), reason: Some(reason) }
            }
            Compilations::Unknown(reason) => Self { every_compilation: None, place: None, reason: Some(reason) },
        }
    }
}

/// A delay that is accepted.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcceptedDocument<'a> {
    /// The place of the stores.
    pub store: &'a str,
    /// The place of the loads of the same thread.
    pub load: &'a str,
}

/// A file that was read.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReadFileDocument<'a> {
    /// `roles`, `image` or `snapshot`.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its SHA-256.
    pub sha256: &'a str,
}

/// Counters that are computed in fewer bits than the code has.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NarrowedDocument<'a> {
    /// The cells.
    pub cells: Vec<&'a str>,
    /// The bits.
    pub bits: u8,
}

impl<'a> ClaimDocument<'a> {
    /// The claim about a program; nothing about programs that are texts themselves.
    pub fn of(program: &'a Program) -> Option<Self> {
        Claim::of(program).map(Self::from)
    }
}

impl<'a> From<Claim<'a>> for ClaimDocument<'a> {
    fn from(claim: Claim<'a>) -> Self {
        let Claim {
            statement,
            files,
            builds,
            narrowed,
            hints,
            halves,
            heap,
            shares_stacks,
            clock_is_still,
            has_posix_locks,
            unset,
            accepted,
        } = claim;
        let file = |file: palisade_model::program::ReadFile<'a>| ReadFileDocument {
            kind: file.kind,
            name: file.name,
            sha256: file.sha256,
        };
        Self {
            statement,
            source: None,
            files: files.into_iter().map(file).collect(),
            builds,
            narrowed: narrowed.into_iter().map(|(cells, bits)| NarrowedDocument { cells, bits }).collect(),
            hints,
            halves,
            heap: heap.into_iter().map(|HeapBlocks { bytes, most }| HeapBlocksDocument { bytes, most }).collect(),
            shares_stacks,
            clock_is_still,
            has_posix_locks,
            unset,
            accepted: accepted.into_iter().map(|(store, load)| AcceptedDocument { store, load }).collect(),
        }
    }
}
