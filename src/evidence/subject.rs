//! What evidence is about: the input, and every option that bears on its meaning.

use crate::net::{PlaceId, Problem, TransitionId};
use crate::program::{AddressName, Copies, Domain, Program, Thread, ThreadId, Value};
use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes, as 64 lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The path it was read from, `<stdin>` for standard input. Only a hint at where to look: the hash decides.
    pub path: String,
    /// The format it was read in, by the name the command line has for it.
    pub format: String,
    /// The SHA-256 of its content: of a program's text (without a byte-order mark), of a net file's bytes.
    pub sha256: String,
}

/// The program that evidence is about, as it was meant: with the options' changes made.
///
/// Threads, labels, registers and instructions are meant by their positions here, from 0. Names and texts are given so
/// that people can read the evidence; the checker holds them to the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSubject {
    /// The program's text.
    pub input: InputFile,
    /// The threads, in order of the text.
    pub threads: Vec<ThreadSubject>,
    /// Address names, in order of appearance.
    pub addresses: Vec<AddressSubject>,
    /// The domain of values, with where it came from.
    pub domain: Option<Domain>,
}

/// A thread that evidence is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSubject {
    /// Its name.
    pub name: String,
    /// How many copies run.
    pub copies: Copies,
    /// Who says so.
    pub origin: CopiesOrigin,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// The names of its registers.
    pub registers: Vec<String>,
    /// Its instructions, as they stand in the text.
    pub instructions: Vec<String>,
}

/// Where the number of copies of a thread comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiesOrigin {
    /// The program text.
    File,
    /// An option on the command line.
    Option,
}

/// An address name that evidence is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressSubject {
    /// The name.
    pub name: String,
    /// The (first) address.
    pub address: Value,
    /// The number of consecutive addresses.
    pub length: u32,
}

/// The net and the question that evidence is about.
///
/// Places and transitions are meant by their positions in the net as read, from 0; names are given for those that the
/// evidence mentions, and the checker holds them to the net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetSubject {
    /// The net's file.
    pub input: InputFile,
    /// The file with the question, when it is not in the net's.
    pub query: Option<InputFile>,
    /// The number of all places.
    pub place_count: usize,
    /// The number of all transitions.
    pub transition_count: usize,
    /// The names of the places that the evidence mentions, ascending.
    pub places: Vec<(PlaceId, String)>,
    /// The names of the transitions that the evidence mentions, ascending.
    pub transitions: Vec<(TransitionId, String)>,
}

impl ProgramSubject {
    /// The subject for a program that was read from `program.source` in the format named `format`, with the copies of
    /// the threads in `changed` set by options.
    pub fn of(program: &Program, format: &str, changed: &[ThreadId]) -> Self {
        let thread = |(id, thread): (ThreadId, &Thread)| ThreadSubject {
            name: thread.name.clone(),
            copies: thread.copies,
            origin: if changed.contains(&id) { CopiesOrigin::Option } else { CopiesOrigin::File },
            labels: thread.labels.iter().map(|label| label.name.clone()).collect(),
            registers: thread.registers.iter().map(|register| register.name.clone()).collect(),
            instructions: thread
                .instructions
                .iter()
                .map(|instruction| program.source.slice(instruction.span).to_owned())
                .collect(),
        };
        let address = |name: &AddressName| AddressSubject {
            name: name.name.clone(),
            address: name.address,
            length: name.length,
        };
        Self {
            input: InputFile {
                path: program.source.name.clone(),
                format: format.to_owned(),
                sha256: sha256(program.source.text.as_bytes()),
            },
            threads: program.thread_ids().map(thread).collect(),
            addresses: program.addresses.iter().map(address).collect(),
            domain: program.domain,
        }
    }
}

impl NetSubject {
    /// The subject for a problem read from files, without names; [`naming`](Self::naming) adds them.
    pub fn of(problem: &Problem, input: InputFile, query: Option<InputFile>) -> Self {
        Self {
            input,
            query,
            place_count: problem.net.places.len(),
            transition_count: problem.net.transitions.len(),
            places: Vec::new(),
            transitions: Vec::new(),
        }
    }

    /// With the names of these places and transitions of the net.
    #[must_use]
    pub fn naming(
        mut self,
        problem: &Problem,
        mut places: Vec<PlaceId>,
        mut transitions: Vec<TransitionId>,
    ) -> Self {
        places.sort_unstable();
        places.dedup();
        transitions.sort_unstable();
        transitions.dedup();
        let place = |id: PlaceId| (id, problem.net.places[id.index()].name.clone());
        let transition = |id: TransitionId| (id, problem.net.transitions[id.index()].name.clone());
        self.places = places.into_iter().map(place).collect();
        self.transitions = transitions.into_iter().map(transition).collect();
        self
    }
}
