//! The faults of robustness against C11 and release/acquire, rule by rule.

use super::Fault;

/// Random programs against the brute-force oracle and `verify`, inside the engine.
const RANDOM: &str = "robustness::stale::tests::random_programs_have_the_verdict_of_the_oracle";

/// What threads and addresses know, in the search.
const VIEWS: &str = "crates/palisade-exploration/src/instrumented/stale/views.rs";

/// The same, in the checker.
const KNOWLEDGE: &str = "crates/palisade-invariants/src/program/stale/knowledge.rs";

/// The steps of the search.
const STEPS: &str = "crates/palisade-exploration/src/instrumented/stale/steps.rs";
const LOCALS: &str = "crates/palisade-exploration/src/instrumented/system/local.rs";

/// The axioms.
const AXIOMS: &str = "crates/palisade-semantics/src/graphs/axioms.rs";

const fn fault(what: &'static str, file: &'static str, old: &'static str, new: &'static str) -> Fault {
    Fault { what, file, old, new, caught_by: RANDOM }
}

/// Faults of robustness against C11 and release/acquire.
pub(super) const FAULTS: &[Fault] = &[
    fault(
        "C11: an acquiring read does not learn the message",
        VIEWS,
        "if access.acquires() {\n            self.current.add(message);",
        "if access.acquires() && !PLANTED {\n            self.current.add(message);",
    ),
    fault(
        "C11: a relaxed read learns nothing for an acquire fence",
        VIEWS,
        "if reads && ordering != Ordering::Plain {",
        "if reads && ordering != Ordering::Plain && !PLANTED {",
    ),
    fault(
        "C11: an access of the overwritten address does not know",
        VIEWS,
        "if overwrites {\n            learned.add(",
        "if overwrites && !PLANTED {\n            learned.add(",
    ),
    fault(
        "C11: a relaxed write releases what is known now",
        VIEWS,
        "_ => self.released,",
        "_ => if PLANTED { self.current } else { self.released },",
    ),
    fault(
        "C11: an update ends a release sequence",
        VIEWS,
        "location.message = if reads { own.and(message) } else { own };",
        "location.message = if reads && !PLANTED { own.and(message) } else { own };",
    ),
    fault(
        "C11: an acquire fence acquires nothing",
        VIEWS,
        "if ordering.acquires() {\n            self.current = self.acquirable;",
        "if ordering.acquires() && !PLANTED {\n            self.current = self.acquirable;",
    ),
    fault(
        "C11: a release fence releases nothing",
        VIEWS,
        "if ordering.releases() {\n            self.released = self.current;",
        "if ordering.releases() && !PLANTED {\n            self.released = self.current;",
    ),
    fault(
        "C11: a sequentially consistent fence is not reached",
        VIEWS,
        "if ordering == Ordering::SeqCst {\n            for family",
        "if ordering == Ordering::SeqCst && !PLANTED {\n            for family",
    ),
    fault(
        "C11: what is behind a reached fence is not marked",
        VIEWS,
        "if is_fenced || (writes && behind.is_some()) {",
        "if (is_fenced && !PLANTED) || (writes && behind.is_some()) {",
    ),
    fault(
        "C11: a read joins behind a read",
        VIEWS,
        "self.level == Some(Level::Store) }",
        "if PLANTED { self.level.is_some() } else { self.level == Some(Level::Store) } }",
    ),
    fault(
        "C11: a write does not join behind a read",
        VIEWS,
        "if access.writes { self.level.is_some() }",
        "if access.writes && !PLANTED { self.level.is_some() }",
    ),
    fault(
        "C11: a thread that knows may read what is stale",
        VIEWS,
        "&& !self.current.has(Facts::KNOWS)\n            && !self.current.is_fenced",
        "&& (PLANTED || !self.current.has(Facts::KNOWS))\n            && !self.current.is_fenced",
    ),
    fault(
        "C11: a write comes between an update and what it has read",
        STEPS,
        "!(writes && is_update)",
        "!(writes && is_update && !PLANTED)",
    ),
    fault(
        "C11: what waits reads any stale value",
        LOCALS,
        "holds.map(|holds| !holds).map_err(fault)",
        "holds.map(|holds| !holds && !PLANTED).map_err(fault)",
    ),
    fault(
        "C11: no races are sought",
        STEPS,
        "if used.has_plain && used.writes {",
        "if !PLANTED && used.has_plain && used.writes {",
    ),
    fault(
        "checker: a release write leaves what was released before",
        KNOWLEDGE,
        "Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => self.now,",
        "Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => if PLANTED { self.released } else { self.now },",
    ),
    fault(
        "checker: an acquiring read learns nothing",
        KNOWLEDGE,
        "if event.acquires() {\n            self.now.join(message);",
        "if event.acquires() && !PLANTED {\n            self.now.join(message);",
    ),
    fault(
        "checker: an access of the overwritten address does not know",
        KNOWLEDGE,
        "let mut gained = Past { later: is_later,",
        "let mut gained = Past { later: is_later && !PLANTED,",
    ),
    fault(
        "axioms: coherence is not asked for",
        AXIOMS,
        "&& !hb.meets_backwards(eco)",
        "&& (PLANTED || !hb.meets_backwards(eco))",
    ),
    fault(
        "axioms: fences are not in the order of sequentially consistent events",
        AXIOMS,
        "starts.then(&order).then(&ends) | &fences",
        "if PLANTED { Relation::empty(size) } else { starts.then(&order).then(&ends) | &fences }",
    ),
];
