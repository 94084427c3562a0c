//! `palisade/net/1`: the net of one attack.

use super::{AttackPlace, CopiesWord, DomainDocument, FileHeader};
use crate::net::counters;
use palisade_engine::robustness::Attack;
use palisade_model::net::Net;
use palisade_model::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `palisade net` wrote.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NetDocument<'a> {
    /// What the document is.
    #[serde(flatten)]
    pub header: FileHeader<'a>,
    /// The program's name.
    pub program: &'a str,
    /// The attack.
    pub attack: NumberedAttack<'a>,
    /// The copies of each thread. Those in the same local state are counted, not told apart.
    pub threads: BTreeMap<&'a str, CopiesWord>,
    /// The domain of values.
    pub domain: DomainDocument,
    /// The addresses of each class of counters; all values of these are places of their own, as in
    /// a program without counters.
    pub counters: Vec<Vec<String>>,
    /// The limit that kept the net from being built to the end; then there is no net.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How large the net is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<NetSize>,
    /// The net's format, by the extension of its files.
    pub format: &'static str,
    /// The net in this format; left out where it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
    /// The format of the question where it has a text of its own, by the extension of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_format: Option<&'static str>,
    /// The question's text, where it has one of its own; left out where it was written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<&'a str>,
    /// The files that were written.
    pub written: Vec<String>,
    /// What the format could not say.
    pub notes: &'a [String],
}

/// An attack by its number and its place.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NumberedAttack<'a> {
    /// Its number, from 1.
    pub id: usize,
    /// Where it is.
    #[serde(flatten)]
    pub place: AttackPlace<'a>,
}

/// How large a net is.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NetSize {
    /// Places.
    pub places: usize,
    /// Transitions.
    pub transitions: usize,
    /// Sets of places that hold one token together.
    pub units: usize,
}

impl From<&Net> for NetSize {
    fn from(net: &Net) -> Self {
        Self { places: net.places.len(), transitions: net.transitions.len(), units: net.units.len() }
    }
}

impl<'a> NetDocument<'a> {
    /// The document of the net of a program's attack, with nothing said of the net yet.
    pub fn new(file: &'a str, program: &'a Program, (id, attack): (usize, Attack), format: &'static str) -> Self {
        Self {
            header: FileHeader::new("palisade/net/1", file),
            program: &program.name,
            attack: NumberedAttack { id, place: AttackPlace::new(program, attack) },
            threads: program
                .threads
                .iter()
                .filter(|thread| !thread.is_task())
                .map(|thread| (thread.name.as_str(), thread.copies.into()))
                .collect(),
            domain: DomainDocument::new(program),
            counters: counters(program),
            reason: None,
            size: None,
            format,
            text: None,
            query_format: None,
            query: None,
            written: Vec::new(),
            notes: &[],
        }
    }
}
