//! Checks that evidence is about the input at hand, and then the evidence.

use super::content::check_content;
use super::{
    CheckFailure, PropertyFacts, RepairFacts, check_concurrency_certificate, check_concurrency_witness, check_free,
    check_graph_witness, check_net_certificate, check_net_run, check_posted_property, check_property,
    check_property_witness, check_pso_certificate, check_pso_witness, check_race, check_race_free, check_reaching_run,
    check_repair, check_robust_certificate, check_stale_certificate, check_stuck, check_task_certificate,
    check_task_witness, check_unbounded, check_unreachable, check_witness, without_inhibitors,
};
use palisade_evidence::{About, Evidence, InputFile, NetSubject, ProgramSubject, ThreadSubject};
use palisade_invariants::reject;
use palisade_invariants::threads_that_say;
use palisade_model::net::{Formula, Net, PlaceId, Problem, Property, Query, QueryFormat, TransitionId, WhichQuestion};
use palisade_model::program::{Copies, Domain, Program};
use palisade_semantics::Question;
use std::collections::BTreeSet;

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
        Evidence::ConcurrencyRobust(subject, certificate) => {
            check_any_program(program, subject)?;
            check_concurrency_certificate(program, certificate)
        }
        Evidence::NotConcurrencyRobust(subject, witness) => {
            check_any_program(program, subject)?;
            check_concurrency_witness(program, witness)
        }
        Evidence::Repair(..) => check_repair_evidence(program, None, evidence, &[]).map(drop),
        Evidence::Property(..) | Evidence::PropertyWitness(..) => {
            check_property_evidence(program, None, evidence).map(drop)
        }
        Evidence::RaceFree(subject, closed) => {
            check_program(program, subject)?;
            check_race_free(program, closed)
        }
        Evidence::Race(subject, witness) => {
            check_program(program, subject)?;
            check_race(program, witness)
        }
        Evidence::TsoRobust(subject, certificate) => {
            check_event_driven(program, subject)?;
            check_task_certificate(program, certificate)
        }
        Evidence::NotTsoRobust(subject, witness) => {
            check_event_driven(program, subject)?;
            check_task_witness(program, witness).map(drop)
        }
        Evidence::PsoRobust(subject, certificate) => {
            check_program(program, subject)?;
            check_pso_certificate(program, certificate)
        }
        Evidence::NotPsoRobust(subject, witness) => {
            check_program(program, subject)?;
            check_pso_witness(program, witness)
        }
        Evidence::LanguageRobust(subject, certificate) => {
            check_program(program, subject)?;
            check_stale_certificate(program, certificate)
        }
        Evidence::NotLanguageRobust(subject, witness) => {
            check_program(program, subject)?;
            check_graph_witness(program, witness)
        }
        Evidence::Free(subject, certificate) => {
            check_program(program, subject)?;
            check_free(program, certificate)
        }
        Evidence::Stuck(subject, witness) => {
            check_program(program, subject)?;
            check_stuck(program, witness)
        }
        Evidence::Uncoverable(subject, _)
        | Evidence::Coverable(subject, _)
        | Evidence::Unreachable(subject, _)
        | Evidence::Reachable(subject, _)
        | Evidence::Unbounded(subject, _) => {
            reject!(Subject, "the evidence is about the net `{}`", subject.input.path)
        }
    }
}

/// Checks evidence about the repair of a program, which has the copies and the domain that the
/// evidence states. For each valid set that names a repaired text, `repaired` has the program read
/// from it. `question` is the one that the program's file asks.
pub fn check_repair_evidence(
    program: &Program,
    question: Option<&Question>,
    evidence: &Evidence,
    repaired: &[Option<Program>],
) -> Result<RepairFacts, CheckFailure> {
    let Evidence::Repair(subject, repair) = evidence else { reject!(Form, "the evidence is not about a repair") };
    check_any_program(program, subject)?;
    check_repair(program, question, repair, repaired)
}

/// Checks evidence about properties of a program, which has the copies and the domain that the
/// evidence states. `question` is the one that the program's file asks about final states. For a
/// proof, what it shows.
///
/// Evidence about events and tasks states the threads that say them. A computation of these, in
/// which posts drain, is one of plain posts, too.
pub fn check_property_evidence(
    program: &Program,
    question: Option<&Question>,
    evidence: &Evidence,
) -> Result<Option<PropertyFacts>, CheckFailure> {
    match evidence {
        Evidence::Property(subject, property) if program.is_event_driven() => {
            let threads = threads_that_say(program, property.model)?;
            check_any_program(&threads, subject)?;
            check_posted_property(program, &threads, property).map(Some)
        }
        Evidence::PropertyWitness(subject, witness) if program.is_event_driven() => {
            let threads = threads_that_say(program, witness.model)?;
            check_any_program(&threads, subject)?;
            check_property_witness(&threads, None, witness)?;
            Ok(None)
        }
        Evidence::Property(subject, property) => {
            check_program(program, subject)?;
            check_property(program, question, property).map(Some)
        }
        Evidence::PropertyWitness(subject, witness) => {
            check_program(program, subject)?;
            check_property_witness(program, question, witness)?;
            Ok(None)
        }
        _ => reject!(Form, "the evidence is not about properties"),
    }
}

/// Checks evidence about a net that was read, with its question, from files with these contents.
pub fn check_net_evidence(
    problem: &Problem,
    net_bytes: &[u8],
    query_bytes: Option<&[u8]>,
    evidence: &Evidence,
) -> Result<(), CheckFailure> {
    if let About::Program(subject) = evidence.about() {
        reject!(Subject, "the evidence is about the program `{}`", subject.input.path)
    }
    let About::Net(subject) = evidence.about() else { unreachable!("it is about a net") };
    let problem =
        &Problem { net: without_inhibitors(&problem.net, &subject.complements)?, query: problem.query.clone() };
    match evidence {
        Evidence::Uncoverable(subject, certificate) => {
            check_net(problem, net_bytes, query_bytes, subject)?;
            check_names(problem, subject, &certificate.places(), &BTreeSet::new())?;
            check_net_certificate(problem, certificate)
        }
        Evidence::Coverable(subject, run) => {
            check_net(problem, net_bytes, query_bytes, subject)?;
            let places = run.initial_choice.iter().map(|(place, _)| *place).collect();
            let transitions = run.transitions().into_iter().collect();
            check_names(problem, subject, &places, &transitions)?;
            check_net_run(problem, run)
        }
        Evidence::Unreachable(subject, _) | Evidence::Reachable(subject, _) | Evidence::Unbounded(subject, _) => {
            reject!(Subject, "the evidence answers a question of reachability: `{}`", subject.input.path)
        }
        _ => reject!(Form, "the evidence is not about a net"),
    }
}

/// Checks evidence on a question of reachability about a net, both read from files with these
/// contents.
pub fn check_reach_evidence(
    net: &Net,
    goal: &Formula,
    net_bytes: &[u8],
    query_bytes: Option<&[u8]>,
    evidence: &Evidence,
) -> Result<(), CheckFailure> {
    let About::Net(subject) = evidence.about() else {
        reject!(Form, "the evidence answers no question of reachability about a net")
    };
    let net = &without_inhibitors(net, &subject.complements)?;
    let problem = Problem { net: net.clone(), query: Query::default() };
    match evidence {
        Evidence::Unreachable(subject, certificate) => {
            check_net(&problem, net_bytes, query_bytes, subject)?;
            check_names(&problem, subject, &certificate.places(net.places.len()), &BTreeSet::new())?;
            check_unreachable(net, goal, certificate)
        }
        Evidence::Reachable(subject, run) | Evidence::Unbounded(subject, run) => {
            check_net(&problem, net_bytes, query_bytes, subject)?;
            let places = run.initial_choice.iter().map(|(place, _)| *place).collect();
            let transitions = run.transitions().into_iter().collect();
            check_names(&problem, subject, &places, &transitions)?;
            if matches!(evidence, Evidence::Unbounded(..)) {
                check_unbounded(net, goal, run)
            } else {
                check_reaching_run(net, goal, run)
            }
        }
        _ => reject!(Form, "the evidence answers no question of reachability about a net"),
    }
}

/// Checks what [`check_any_program`] checks, and that the program has threads alone: what most
/// evidence says of events and tasks is unknown.
fn check_program(program: &Program, subject: &ProgramSubject) -> Result<(), CheckFailure> {
    if program.is_event_driven() {
        reject!(Form, "evidence of this kind is about threads alone, and the program has events or tasks");
    }
    check_any_program(program, subject)
}

/// Checks what [`check_any_program`] checks, and that the program has events or tasks.
fn check_event_driven(program: &Program, subject: &ProgramSubject) -> Result<(), CheckFailure> {
    if !program.is_event_driven() {
        reject!(Form, "evidence of this kind is about events and tasks, and the program has threads alone");
    }
    check_any_program(program, subject)
}

/// Checks that the evidence states the program's own text, names, copies and domain, and is about
/// some thread.
fn check_any_program(program: &Program, subject: &ProgramSubject) -> Result<(), CheckFailure> {
    check_content(&subject.input, &program.source.name, program.source.text.as_bytes())?;
    let actual = ProgramSubject::of(program, &subject.input.format, &[]);
    if actual.addresses != subject.addresses {
        reject!(Subject, "the evidence names other addresses than the program");
    }
    if actual.domain != subject.domain {
        let (stated, actual) = (in_words(subject.domain), in_words(actual.domain));
        reject!(Subject, "the evidence is about {stated}, the program has {actual}");
    }
    if actual.accepted != subject.accepted {
        reject!(Subject, "the evidence accepts other delays than the program");
    }
    if actual.threads.len() != subject.threads.len() {
        let (stated, actual) = (subject.threads.len(), actual.threads.len());
        reject!(Subject, "the evidence is about {stated} threads, the program has {actual}");
    }
    for (own, stated) in actual.threads.iter().zip(&subject.threads) {
        if own.copies != stated.copies {
            let name = &own.name;
            reject!(Subject, "the evidence is about {} copies of thread `{name}`, not {}", stated.copies, own.copies);
        }
        let meaning = |thread: &ThreadSubject| {
            let thread = thread.clone();
            (thread.name, thread.labels, thread.registers, thread.instructions)
        };
        if meaning(own) != meaning(stated) {
            reject!(Subject, "the evidence says something else about thread `{}` than the program", own.name);
        }
    }
    if subject.threads.iter().all(|thread| thread.copies == Copies::Exactly(0)) {
        reject!(Form, "no thread has copies, so the evidence is about nothing");
    }
    Ok(())
}

/// A domain in words.
fn in_words(domain: Option<Domain>) -> String {
    match domain {
        None => "no domain".to_owned(),
        Some(Domain { low, high, wrap, .. }) => {
            format!("the domain {low}..{high} {} wrapping", if wrap { "with" } else { "without" })
        }
    }
}

/// Checks that the evidence states the files' hashes, a question that these files can ask, and the
/// net's size.
fn check_net(
    problem: &Problem,
    net_bytes: &[u8],
    query_bytes: Option<&[u8]>,
    subject: &NetSubject,
) -> Result<(), CheckFailure> {
    check_content(&subject.input, &subject.input.path, net_bytes)?;
    match (&subject.query, query_bytes) {
        (Some(query), Some(bytes)) => check_content(query, &query.path, bytes)?,
        (None, None) => {}
        (Some(query), None) => reject!(Subject, "the evidence is about the question in `{}`", query.path),
        (None, Some(_)) => reject!(Subject, "the evidence is about the question in the net's file"),
    }
    let has_properties = |query: &InputFile| query.format == QueryFormat::MccXml.extension();
    let is_built_in = |property: &String| Property::is_built_in(WhichQuestion::of(property).0);
    let has_its_name = match &subject.query {
        Some(query) => has_properties(query),
        None => subject.property.as_ref().is_some_and(is_built_in),
    };
    if subject.property.is_some() && !has_its_name {
        reject!(Form, "the evidence names a property, and the question has none");
    }
    let net = &problem.net;
    if (subject.place_count, subject.transition_count) != (net.places.len(), net.transitions.len()) {
        reject!(
            Subject,
            "the evidence is about {} places and {} transitions, the net has {} and {}",
            subject.place_count,
            subject.transition_count,
            net.places.len(),
            net.transitions.len()
        );
    }
    Ok(())
}

/// Checks that the evidence names the places and transitions that it mentions as the net does, and
/// no others.
fn check_names(
    problem: &Problem,
    subject: &NetSubject,
    places: &BTreeSet<PlaceId>,
    transitions: &BTreeSet<TransitionId>,
) -> Result<(), CheckFailure> {
    if !subject.places.iter().map(|(id, _)| id).eq(places) {
        reject!(Form, "the places named are not those that the evidence mentions, ascending");
    }
    if !subject.transitions.iter().map(|(id, _)| id).eq(transitions) {
        reject!(Form, "the transitions named are not those that the evidence mentions, ascending");
    }
    for (id, name) in &subject.places {
        if problem.net.places.get(id.index()).is_none_or(|place| place.name != *name) {
            reject!(Subject, "place {id} of the net is not named `{name}`");
        }
    }
    for (id, name) in &subject.transitions {
        if problem.net.transitions.get(id.index()).is_none_or(|transition| transition.name != *name) {
            reject!(Subject, "transition {id} of the net is not named `{name}`");
        }
    }
    Ok(())
}
