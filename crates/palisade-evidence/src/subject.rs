//! What evidence is about: the input, and every option that bears on its meaning.

use crate::{Complement, NetCertificate, NetRun, ReachCertificate};
use palisade_model::net::{Net, PlaceId, Problem, TransitionId};
use palisade_model::program::{
    AcceptedDelay, AddressName, Copies, Domain, DomainOrigin, Program, Thread, ThreadId, Value,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The SHA-256 of some bytes, as 64 lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digits = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    Sha256::digest(bytes).iter().flat_map(digits).map(char::from).collect()
}

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The path it was read from, `<stdin>` for standard input. Only a hint at where to look: the
    /// hash decides.
    pub path: String,
    /// The format it was read in, by the name the command line has for it.
    pub format: String,
    /// The SHA-256 of its content: of a program's text (without a byte-order mark), of a net file's
    /// bytes.
    pub sha256: String,
}

/// The program that evidence is about, as it was meant: with the options' changes made.
///
/// Threads, labels, registers and instructions are meant by their positions here, from 0. Names and
/// texts are given so that people can read the evidence; the checker holds them to the program.
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
    /// The delays that are accepted: robustness is shown but for these.
    pub accepted: Vec<AcceptedDelay>,
}

/// A thread that evidence is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSubject {
    /// Its name.
    pub name: String,
    /// How many copies run.
    pub copies: Copies,
    /// Where that number comes from.
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
/// Places and transitions are meant by their positions in the net as read, from 0; names are given
/// for those that the evidence mentions, and the checker holds them to the net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetSubject {
    /// The net's file.
    pub input: InputFile,
    /// The file with the question, when it is not in the net's.
    pub query: Option<InputFile>,
    /// The id of the property that is meant, when that file has several.
    pub property: Option<String>,
    /// Bounds of the places that inhibitor arcs test, ascending. The evidence is about the net in
    /// which their complements, which follow its own places, take the part of these arcs.
    pub complements: Vec<Complement>,
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
    /// The subject for a program that was read from `program.source` in the format named `format`,
    /// with the copies of the threads in `changed` set by options.
    pub fn of(program: &Program, format: &str, changed: &[ThreadId]) -> Self {
        let thread = |(id, thread): (ThreadId, &Thread)| ThreadSubject {
            name: thread.name.clone(),
            copies: thread.copies,
            origin: if changed.contains(&id) { CopiesOrigin::Option } else { CopiesOrigin::File },
            labels: thread.labels.iter().map(|label| label.name.to_string()).collect(),
            registers: thread.registers.iter().map(|register| register.name.clone()).collect(),
            instructions: thread
                .instructions
                .iter()
                .map(|instruction| program.source.slice(instruction.span).to_owned())
                .collect(),
        };
        let address =
            |name: &AddressName| AddressSubject { name: name.name.clone(), address: name.address, length: name.length };
        Self {
            input: InputFile {
                path: program.source.name.clone(),
                format: format.to_owned(),
                sha256: sha256(program.source.text.as_bytes()),
            },
            threads: program.thread_ids().map(thread).collect(),
            addresses: program.addresses.iter().map(address).collect(),
            domain: program.domain,
            accepted: program.accepted.clone(),
        }
    }

    /// Makes the changes to a program, as its text says it, that options made to the one meant
    /// here.
    pub fn apply_options(&self, program: &mut Program) {
        for (thread, stated) in program.threads.iter_mut().zip(&self.threads) {
            if stated.origin == CopiesOrigin::Option {
                thread.copies = stated.copies;
            }
        }
        if self.domain.is_none_or(|domain| domain.origin == DomainOrigin::Option) {
            program.domain = self.domain;
        }
        // Evidence may accept less than the text does.
        program.accepted.retain(|delay| self.accepted.contains(delay));
    }
}

impl NetSubject {
    /// The subject for a problem read from files, with names for nothing yet.
    pub fn of(problem: &Problem, input: InputFile, query: Option<InputFile>, property: Option<String>) -> Self {
        Self {
            input,
            query,
            property,
            complements: Vec::new(),
            place_count: problem.net.places.len(),
            transition_count: problem.net.transitions.len(),
            places: Vec::new(),
            transitions: Vec::new(),
        }
    }

    /// With the bounds of the places that inhibitor arcs test.
    #[must_use]
    pub fn with_complements(self, complements: &[Complement]) -> Self {
        Self { complements: complements.to_vec(), ..self }
    }

    /// With the names of the places that a certificate mentions.
    #[must_use]
    pub fn naming_places_of(mut self, problem: &Problem, certificate: &NetCertificate) -> Self {
        let places = certificate.places();
        self.places = names(places, |place: PlaceId| problem.net.places[place.index()].name.to_string());
        self
    }

    /// With the names of the places that a certificate of unreachability mentions.
    #[must_use]
    pub fn naming_places_of_net(mut self, net: &Net, certificate: &ReachCertificate) -> Self {
        let places = certificate.places(net.places.len());
        self.places = names(places, |place: PlaceId| net.places[place.index()].name.to_string());
        self
    }

    /// With the names of the transitions that a run fires and the places where it chooses tokens.
    #[must_use]
    pub fn naming_steps_of(mut self, problem: &Problem, run: &NetRun) -> Self {
        let places = run.initial_choice.iter().map(|(place, _)| *place).collect();
        let transitions = run.transitions().into_iter().collect();
        self.places = names(places, |place: PlaceId| problem.net.places[place.index()].name.to_string());
        self.transitions = names(transitions, |id: TransitionId| problem.net.transitions[id.index()].name.to_string());
        self
    }
}

/// Ids with their names, ascending.
fn names<T: Copy>(ids: BTreeSet<T>, name: impl Fn(T) -> String) -> Vec<(T, String)> {
    ids.into_iter().map(|id| (id, name(id))).collect()
}
