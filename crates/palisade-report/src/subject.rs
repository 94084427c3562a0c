//! What a verdict is about, in words: copies, domain and wrapping of a program; the question of a
//! net.

use super::claim::Claim;
use palisade_evidence::{CopiesOrigin, NetSubject, ProgramSubject, ThreadSubject};
use palisade_model::net;
use palisade_model::program::{AcceptedDelay, Copies, Domain, DomainOrigin, Program, SourceText, ThreadId};
use std::path::Path;
use std::sync::Arc;

/// What evidence is about, with the files where it was found.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A program.
    Program {
        /// What the evidence says of it.
        stated: ProgramSubject,
        /// The path it was read from.
        path: String,
        /// The text: of machine code the listing, whose heading says what the code was read with.
        source: Arc<SourceText>,
    },
    /// A net with its question.
    Net {
        /// What the evidence says of them.
        stated: NetSubject,
        /// The path the net was read from.
        path: String,
        /// The path the question was read from, when it is not in the net's file.
        query: Option<String>,
    },
}

impl Subject {
    /// The path of the program or the net.
    pub fn path(&self) -> &str {
        match self {
            Self::Program { path, .. } | Self::Net { path, .. } => path,
        }
    }

    /// All that tells it from other subjects in the same file:
    /// `t1 × 2, t2 × 0 (option); domain 0..7`, or `question in mutex.prop`.
    pub fn words(&self) -> String {
        match self {
            Self::Program { stated, path, source } => {
                let threads = stated.threads.iter().map(|thread| {
                    let ThreadSubject { name, copies, origin, .. } = thread;
                    (name.as_str(), *copies, *origin == CopiesOrigin::Option)
                });
                let told = palisade_syntax::Format::of_path(Path::new(path)).map(palisade_syntax::Format::name);
                copies_and_domain(threads, stated.domain)
                    + &exceptions(source, &stated.accepted)
                    + &reading(told, &stated.input.format)
            }
            Self::Net { stated, path, query } => {
                let question = match query {
                    Some(query) => format!("question in {query}"),
                    None => "question in the net's file".to_owned(),
                };
                let property = stated.property.as_ref().map(|property| format!(", property {property}"));
                let told = net::Format::of_name(path).map(net::Format::extension);
                question + &property.unwrap_or_default() + &reading(told, &stated.input.format)
            }
        }
    }
}

/// The copies and the domain of a program, where the options changed the copies of some threads.
pub fn program_words(program: &Program, changed: &[ThreadId]) -> String {
    let threads = program
        .thread_ids()
        .filter(|(_, thread)| !thread.is_task())
        .map(|(id, thread)| (thread.name.as_str(), thread.copies, changed.contains(&id)));
    copies_and_domain(threads, program.domain) + &exceptions(&program.source, &program.accepted)
}

/// With what machine code was read, and which delays are accepted.
fn exceptions(source: &SourceText, accepted: &[AcceptedDelay]) -> String {
    let with = Claim::about(source, accepted).map_or_else(String::new, |claim| claim.with());
    let delays: Vec<String> = accepted.iter().map(|delay| format!("{} past {}", delay.store, delay.load)).collect();
    match delays.as_slice() {
        [] => with,
        [delay] => format!("{with}; but for the accepted delay of {delay}"),
        delays => format!("{with}; but for the accepted delays of {}", delays.join(", ")),
    }
}

/// The copies of threads, each with whether an option said so, and the domain.
fn copies_and_domain<'a>(threads: impl Iterator<Item = (&'a str, Copies, bool)>, domain: Option<Domain>) -> String {
    let option = |by_option| if by_option { " (option)" } else { "" };
    let threads: Vec<String> =
        threads.map(|(name, copies, by_option)| format!("{name} × {copies}{}", option(by_option))).collect();
    let domain = domain.map_or("no domain".to_owned(), |domain| {
        let wrap = if domain.wrap { ", arithmetic wraps" } else { "" };
        format!("domain {}..{}{wrap}{}", domain.low, domain.high, option(domain.origin == DomainOrigin::Option))
    });
    format!("{}; {domain}", threads.join(", "))
}

/// How the file was read, where its name says otherwise.
fn reading(told: Option<&str>, format: &str) -> String {
    if told == Some(format) { String::new() } else { format!("; read as {format}") }
}
