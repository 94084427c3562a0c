//! Checks that evidence is about the input at hand, and then the evidence.

use super::failure::reject;
use super::{CheckFailure, check_net_certificate, check_net_run, check_robust_certificate, check_witness};
use palisade_evidence::{Evidence, InputFile, NetSubject, ProgramSubject, ThreadSubject, sha256};
use palisade_model::net::Problem;
use palisade_model::program::Program;

/// Checks evidence about a program, which has the copies and the domain that the evidence states.
pub fn check_program_evidence(program: &Program, evidence: &Evidence) -> Result<(), CheckFailure> {
    match evidence {
        Evidence::Robust(subject, certificate) => {
            check_program(program, subject)?;
            check_robust_certificate(program, certificate)
        }
        Evidence::NotRobust(subject, witness) => {
            check_program(program, subject)?;
            check_witness(program, witness)
        }
        Evidence::Uncoverable(..) | Evidence::Coverable(..) => reject!(Form, "the evidence is about a net"),
    }
}

/// Checks evidence about a net that was read, with its question, from files with these contents.
pub fn check_net_evidence(
    problem: &Problem,
    net_bytes: &[u8],
    query_bytes: Option<&[u8]>,
    evidence: &Evidence,
) -> Result<(), CheckFailure> {
    match evidence {
        Evidence::Uncoverable(subject, certificate) => {
            check_net(problem, net_bytes, query_bytes, subject)?;
            check_net_certificate(problem, certificate)
        }
        Evidence::Coverable(subject, run) => {
            check_net(problem, net_bytes, query_bytes, subject)?;
            check_net_run(problem, run)
        }
        Evidence::Robust(..) | Evidence::NotRobust(..) => reject!(Form, "the evidence is about a program"),
    }
}

/// Checks that content has the hash that the evidence states for it.
pub fn check_content(input: &InputFile, content: &[u8]) -> Result<(), CheckFailure> {
    let actual = sha256(content);
    if actual != input.sha256 {
        reject!(Form, "the evidence is about an input `{}` with SHA-256 {}, not {actual}", input.path, input.sha256);
    }
    Ok(())
}

/// Checks that the evidence states the program's own text, names, copies and domain.
fn check_program(program: &Program, subject: &ProgramSubject) -> Result<(), CheckFailure> {
    check_content(&subject.input, program.source.text.as_bytes())?;
    let actual = ProgramSubject::of(program, &subject.input.format, &[]);
    if actual.addresses != subject.addresses {
        reject!(Form, "the evidence names other addresses than the program");
    }
    let (actual_domain, stated_domain) = (actual.domain, subject.domain);
    if actual_domain != stated_domain {
        reject!(Form, "the evidence is about the domain {stated_domain:?}, the program has {actual_domain:?}");
    }
    if actual.threads.len() != subject.threads.len() {
        reject!(
            Form,
            "the evidence is about {} threads, the program has {}",
            subject.threads.len(),
            actual.threads.len()
        );
    }
    for (own, stated) in actual.threads.iter().zip(&subject.threads) {
        if own.copies != stated.copies {
            let name = &own.name;
            reject!(Form, "the evidence is about {} copies of thread `{name}`, not {}", stated.copies, own.copies);
        }
        let meaning = |thread: &ThreadSubject| {
            let thread = thread.clone();
            (thread.name, thread.labels, thread.registers, thread.instructions)
        };
        if meaning(own) != meaning(stated) {
            reject!(Form, "the evidence says something else about thread `{}` than the program", own.name);
        }
    }
    Ok(())
}

/// Checks that the evidence states the files' hashes and the net's names.
fn check_net(
    problem: &Problem,
    net_bytes: &[u8],
    query_bytes: Option<&[u8]>,
    subject: &NetSubject,
) -> Result<(), CheckFailure> {
    check_content(&subject.input, net_bytes)?;
    match (&subject.query, query_bytes) {
        (Some(query), Some(bytes)) => check_content(query, bytes)?,
        (None, None) => {}
        _ => reject!(Form, "the question is in a file of its own in one of evidence and input only"),
    }
    let net = &problem.net;
    if (subject.place_count, subject.transition_count) != (net.places.len(), net.transitions.len()) {
        reject!(Form, "the evidence is about another number of places or transitions");
    }
    for (id, name) in &subject.places {
        if net.places.get(id.index()).is_none_or(|place| place.name != *name) {
            reject!(Form, "place {id} of the net is not named `{name}`");
        }
    }
    for (id, name) in &subject.transitions {
        if net.transitions.get(id.index()).is_none_or(|transition| transition.name != *name) {
            reject!(Form, "transition {id} of the net is not named `{name}`");
        }
    }
    Ok(())
}
