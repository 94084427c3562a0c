//! Counters modulo few values: one answer for all domains of counters that are multiples of these, and for integers.
//!
//! The program that knows its counters modulo m ([`modulo`]) does whatever the program does. Where it is robust, so is the program, with these
//! counters and with wider ones; where it is not, nothing is known. Values that are no counters must not be
//! touched by the narrower domain: that is left to the reader of the certificate, which has to accept it before it counts.

use super::certificate::certificate;
use super::check::{
    Abstraction, Check, CheckOptions, Far, Modulo, Observer, Stopping, Turns, Values, concluded, proved_within,
};
use super::far::{Horizon, horizons};
use palisade_evidence::RobustCertificate;
use palisade_model::program::{Copies, Counters, Program, Thread, Tickets, Value, modulo, saturated};
use palisade_verify::check_robust_certificate;

/// Few values: searches with these are short.
const FEW: [Value; 4] = [2, 4, 8, 16];

/// Residues say more than tickets, which are tried before more values than this.
const SOME: Value = 64;

/// The nodes of a search with few values.
const SHORT: u64 = 1 << 13;

/// The nodes of a search with as many values as there are copies.
const LONG: u64 = 1 << 17;

/// The nodes of a search in which far counters are not told apart.
const SOME_NODES: u64 = 1 << 15;

/// More values than this are not tried.
const MOST: u64 = 1 << 12;

/// The check of a program that is robust without all values of its counters, if such a proof is found.
pub(crate) fn abstracted<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Option<Check<'p>> {
    if !options.counters || options.nets || options.one_query {
        return None;
    }
    let sizes = if Counters::of(program).is_empty() { Vec::new() } else { sizes(program) };
    let (few, many): (Vec<_>, Vec<_>) = sizes.into_iter().partition(|(size, _)| *size <= SOME);
    let modulo = |sizes: Vec<_>| sizes.into_iter().find_map(|size| with(program, options, observer, size));
    modulo(few)
        .or_else(|| in_turns(program, options, observer))
        .or_else(|| stopping(program, options, observer))
        .or_else(|| horizons(program).into_iter().find_map(|horizon| up_to(program, options, observer, horizon)))
        .or_else(|| modulo(many))
}

/// How many values to try, with the nodes of the search.
fn sizes(program: &Program) -> Vec<(Value, u64)> {
    let mut sizes: Vec<(Value, u64)> = FEW.iter().map(|size| (*size, SHORT)).collect();
    let copies = |thread: &Thread| match thread.copies {
        Copies::Exactly(count) => Some(count),
        Copies::Any => None,
    };
    let total = program.threads.iter().map(copies).try_fold(0_u64, |sum, own| sum.checked_add(own?));
    // Each copy can be at a value of its own.
    if let Some(total) = total.filter(|total| *total < MOST) {
        let enough = (total + 1).next_power_of_two();
        let enough = Value::try_from(enough).expect("few copies");
        sizes.retain(|(size, _)| *size < enough);
        sizes.push((enough, LONG));
    }
    sizes
}

/// The check of a program that is robust modulo so many values, by a search with so many nodes.
fn with<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
    (size, nodes): (Value, u64),
) -> Option<Check<'p>> {
    let low = if program.domain.is_some_and(|domain| domain.low < 0) { -size / 2 } else { 0 };
    let high = low + size - 1;
    let size = u128::from(size.unsigned_abs());
    let is_multiple = program
        .domain
        .is_none_or(|own| own.wrap && own.contains(low) && own.contains(high) && own.size().is_multiple_of(size));
    if !is_multiple {
        return None;
    }
    let narrow = modulo(program, low, high)?;
    let proved = proved_within(&narrow, options, nodes, Values::Own)?;
    let certificate = RobustCertificate { modulo: Some((low, high)), ..certificate(&narrow, &proved)? };
    check_robust_certificate(program, &certificate).ok()?;
    let abstraction = Abstraction::Modulo(Modulo { low, high, certificate });
    Some(concluded(program, options, observer, (abstraction, proved)))
}

/// The check of a program that is robust without its tickets, by a search with few nodes.
fn in_turns<'p>(program: &'p Program, options: &CheckOptions, observer: &dyn Observer) -> Option<Check<'p>> {
    let tickets = Tickets::of(program)?;
    let pairs = tickets.pairs.clone();
    let erased = tickets.erased.clone();
    let proved = proved_within(&erased, options, LONG, Values::WithoutTickets(tickets.into()))?;
    let written = certificate(&erased, &proved)?;
    let named = pairs.iter().map(|pair| (pair.dispenser, pair.served)).collect();
    let certificate = RobustCertificate { tickets: named, ..written };
    check_robust_certificate(program, &certificate).ok()?;
    let abstraction = Abstraction::Turns(Turns { pairs, certificate });
    Some(concluded(program, options, observer, (abstraction, proved)))
}

/// The check of a program that is robust where its counters stop at an end, by a search with few nodes.
fn stopping<'p>(program: &'p Program, options: &CheckOptions, observer: &dyn Observer) -> Option<Check<'p>> {
    let saturated = saturated(program)?;
    let proved = proved_within(&saturated.program, options, LONG, Values::Own)?;
    let written = certificate(&saturated.program, &proved)?;
    let certificate = RobustCertificate { ends: saturated.ends.clone(), ..written };
    check_robust_certificate(program, &certificate).ok()?;
    let abstraction = Abstraction::Stopping(Stopping { ends: saturated.ends, certificate });
    Some(concluded(program, options, observer, (abstraction, proved)))
}

/// The check of a program that is robust although counters beyond a horizon are not told apart, by a search with few nodes.
fn up_to<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
    horizon: Horizon,
) -> Option<Check<'p>> {
    let proved = proved_within(&horizon.loosened, options, SOME_NODES, Values::Counted(horizon.counting))?;
    let certificate = RobustCertificate { far: horizon.behind.clone(), ..certificate(&horizon.loosened, &proved)? };
    check_robust_certificate(program, &certificate).ok()?;
    let abstraction = Abstraction::Far(Far { behind: horizon.behind, certificate });
    Some(concluded(program, options, observer, (abstraction, proved)))
}
